package infer

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/recover"
)

// The mean of many draws is the mean of the posterior distribution: for Dirichlet draws exactly what MAP
// finds, for logits what its points stand for, which is near. Draws of other seeds differ, those of one do not.
func TestDraw(t *testing.T) {
	p := newPlanted(60, 4, 3, 40, 2)
	cov := mat.NewSymDense(4, nil)
	for k := range 4 {
		cov.SetSym(k, k, 1)
	}
	correlated := p.Topics
	correlated.Logits = &recovery.LogisticNormal{Mean: make([]float64, 4), Covariance: cov, Information: 0.5}
	const draws = 2000
	for name, tp := range map[string]Topics{"Dirichlet": p.Topics, "logits": correlated} {
		want, err := prepare(t, MAP{}, tp).Infer(ctx, p.docs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var mean, square mat.Dense
		mean.CloneFrom(mat.NewDense(3, 4, nil))
		square.CloneFrom(&mean)
		for seed := range draws {
			got, err := prepare(t, Draw{Seed: uint64(seed)}, tp).Infer(ctx, p.docs, Options{})
			if err != nil {
				t.Fatal(err)
			}
			mean.Add(&mean, got.W)
			got.W.MulElem(got.W, got.W)
			square.Add(&square, got.W)
		}
		for d := range 3 {
			for k := range 4 {
				m := mean.At(d, k) / draws
				sd := math.Sqrt(square.At(d, k)/draws - m*m)
				// Five standard errors, and for logits what eight pairs of points are off.
				tol := 5 * sd / math.Sqrt(draws)
				if name == "logits" {
					tol += 0.05
				}
				if !(sd > 0) || math.Abs(m-want.W.At(d, k)) > tol {
					t.Errorf("%s: document %d, topic %d: mean %v ± %v, want %v", name, d, k, m, sd, want.W.At(d, k))
				}
			}
		}
	}
}
