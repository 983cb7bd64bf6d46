package priors

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestFit(t *testing.T) {
	const draws = 60000
	rng := rand.New(rand.NewPCG(1, 2))
	// The logistic-normal one comes back from its log-ratios, up to a constant
	// in each row: centred by P = I − 1/K, mean Pμ and covariance PΣP.
	cov := mat.NewSymDense(3, []float64{1, 0.6, 0, 0.6, 2, 0.1, 0, 0.1, 0.5})
	mean := []float64{1, 0, -1}
	sample, err := LogisticNormal{Mean: mean, Covariance: cov}.Sampler(3)
	if err != nil {
		t.Fatal(err)
	}
	all := mat.NewDense(draws, 3, nil)
	for m := range draws {
		sample(all.RawRowView(m), rng)
	}
	fit, err := Fit(all, 1e-300)
	if err != nil {
		t.Fatal(err)
	}
	p := mat.NewDense(3, 3, nil)
	for i := range 3 {
		for j := range 3 {
			p.Set(i, j, -1.0/3)
		}
		p.Set(i, i, 2.0/3)
	}
	var want mat.Dense
	want.Product(p, cov, p)
	for i := range 3 {
		if d := fit.Mean[i] - mean[i]; math.Abs(d) > 5*math.Sqrt(want.At(i, i)/draws) {
			t.Errorf("mean %d is off by %.2g", i, d)
		}
		for j := range 3 {
			// A sample covariance has the variance (σᵢᵢσⱼⱼ + σᵢⱼ²)/n.
			sd := math.Sqrt((want.At(i, i)*want.At(j, j) + want.At(i, j)*want.At(i, j)) / draws)
			if d := fit.Covariance.At(i, j) - want.At(i, j); math.Abs(d) > 5*sd {
				t.Errorf("covariance %d,%d is off by %.2g", i, j, d)
			}
		}
	}
	// The fitted Σ is singular and serves as a prior all the same.
	if _, err := fit.Sampler(3); err != nil {
		t.Error(err)
	}
}

func TestBad(t *testing.T) {
	for want, p := range map[string]LogisticNormal{
		"covariance of 0 rows":                {},
		"has the eigenvalue -1":               {Covariance: mat.NewSymDense(2, []float64{1, 0, 0, -1})},
		"mean of topic 1 is +Inf":             {Mean: []float64{0, math.Inf(1)}, Covariance: mat.NewSymDense(2, nil)},
		"covariance of topics 0 and 1 is NaN": {Covariance: mat.NewSymDense(2, []float64{1, math.NaN(), 0, 1})},
	} {
		if _, err := p.Sampler(2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, c := range []struct {
		w     *mat.Dense
		floor float64
	}{
		{mat.NewDense(1, 2, []float64{1, 0}), 0},
		{mat.NewDense(2, 1, []float64{1, 1}), 0},
		{mat.NewDense(2, 2, []float64{1, 0, 0, 1}), 1},
		{mat.NewDense(2, 2, []float64{1, 0, 0, 1}), -0.1},
		{mat.NewDense(2, 2, []float64{1, 0, -1, 2}), 0},
		{mat.NewDense(2, 2, []float64{1, 0, math.NaN(), 1}), 0},
	} {
		if _, err := Fit(c.w, c.floor); err == nil {
			t.Errorf("%v, floor %g: no error", c.w.RawMatrix().Data, c.floor)
		}
	}
}
