package infer

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
)

// Proportions under a logistic-normal prior are near their mean under the posterior distribution,
// here by a sum over a grid of logits.
func TestLogitsPosterior(t *testing.T) {
	b := mat.NewDense(4, 2, []float64{0.7, 0.05, 0.1, 0.15, 0.1, 0.2, 0.1, 0.6})
	cov := mat.NewSymDense(2, []float64{1.5, -0.4, -0.4, 0.8})
	prior := &recovery.LogisticNormal{Mean: []float64{0.3, -0.2}, Covariance: cov, Information: 0.8}
	p, err := MAP{}.Prepare(context.Background(), Topics{B: b, Logits: prior}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := cov.At(0, 0) + cov.At(1, 1) - 2*cov.At(0, 1) // of η_0 − η_1
	for _, counts := range [][]int32{{3, 1, 0, 0}, {0, 1, 2, 9}, {10, 5, 5, 10}, {40, 3, 0, 0}} {
		sum, mean := 0.0, 0.0
		for x := -12.0; x < 12; x += 0.01 {
			theta := 1 / (1 + math.Exp(-x))
			f := -(x - 0.5) * (x - 0.5) / (2 * v)
			for i, n := range counts {
				f += float64(n) * math.Log(theta*b.At(i, 0)+(1-theta)*b.At(i, 1))
			}
			f = math.Exp(f)
			sum += f
			mean += f * theta
		}
		mean /= sum
		dst := make([]float64, 2)
		d, err := p.InferTo(dst, []int32{0, 1, 2, 3}, counts)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(dst[0]-mean) > 0.06 || math.Abs(dst[0]+dst[1]-1) > 1e-12 || d.Status != Converged {
			t.Errorf("%v: %.4f, %v after %d steps; want %.4f", counts, dst, d.Status, d.Iterations, mean)
		}
	}
	dst, words, counts := make([]float64, 2), []int32{0, 3}, []int32{2, 5}
	if n := testing.AllocsPerRun(20, func() { p.InferTo(dst, words, counts) }); n > 0 && !testutil.Race { // that detector empties pools at random
		t.Errorf("%v allocations", n)
	}
	for steps := 1; steps < 6; steps++ {
		p, err := MAP{Steps: steps, Tol: 1e-12}.Prepare(context.Background(), Topics{B: b, Logits: prior}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d, err := p.InferTo(dst, words, counts); err != nil || d.Iterations != steps || d.Status != IterationLimit {
			t.Errorf("%d steps: %d, %v, %v", steps, d.Iterations, d.Status, err)
		}
	}
	prior.Information = 2
	if _, err := (MAP{}).Prepare(context.Background(), Topics{B: b, Logits: prior}, Options{}); err == nil {
		t.Error("no error for a prior with the information 2")
	}
}

// Short documents of many topics get to rest under a wide prior. They go round in circles if what little
// information some topics have is left out of a step's system.
func TestLogitsConverge(t *testing.T) {
	testutil.NotWithRace(t)
	const docs, k, variance = 200, 100, 20
	planted := testutil.NewPlanted(400, k, 0.9, 3)
	for _, families := range []int{k, 50} {
		prior := &recovery.LogisticNormal{Mean: make([]float64, families), Covariance: mat.NewSymDense(families, nil), Information: 0.5}
		for i := range families {
			prior.Mean[i] = float64(i%5) - 2
			prior.Covariance.SetSym(i, i, variance)
			for j := range i {
				if (i+j)%3 == 0 {
					prior.Covariance.SetSym(i, j, 0.3*variance)
				}
			}
		}
		tp := Topics{B: planted.B, Logits: prior}
		if families < k {
			tp.Alpha = slices.Repeat([]float64{0.02}, k)
			for i := range k {
				prior.Families = append(prior.Families, i%families)
			}
		}
		p := prepare(t, MAP{Steps: 400}, tp)
		limit, dst := 0, make([]float64, k)
		for _, all := range planted.Documents(slices.Repeat([]int{30}, docs), 4) {
			var words, counts []int32
			for w := range planted.N {
				if n := all[w]; n > 0 {
					words, counts = append(words, int32(w)), append(counts, int32(n))
				}
			}
			d, err := p.InferTo(dst, words, counts)
			if err != nil {
				t.Fatal(err)
			}
			if d.Status != Converged {
				limit++
			}
		}
		if 100*limit > docs {
			t.Errorf("%d families: %d of %d documents do not get to rest", families, limit, docs)
		}
	}
}
