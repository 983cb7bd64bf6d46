package recovery_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	recovery "github.com/jsmf-go/spectral/recover"
)

// Correlations of a prior are those of logits less their mean: a variance that all logits share does
// not change them, and two logits are opposite.
func TestLogisticNormalCorrelations(t *testing.T) {
	cov := mat.NewSymDense(3, []float64{2, 0.5, -0.3, 0.5, 1, 0.2, -0.3, 0.2, 1.5})
	center := mat.NewDense(3, 3, []float64{2, -1, -1, -1, 2, -1, -1, -1, 2})
	center.Scale(1.0/3, center)
	var want mat.Dense
	want.Product(center, cov, center)
	shifted := mat.NewSymDense(3, nil)
	for i := range 3 {
		for j := range 3 {
			shifted.SetSym(i, j, cov.At(i, j)+7)
		}
	}
	for _, c := range []*mat.SymDense{cov, shifted} {
		got := (&recovery.LogisticNormal{Mean: make([]float64, 3), Covariance: c}).Correlations()
		for i := range 3 {
			for j := range 3 {
				if w := want.At(i, j) / math.Sqrt(want.At(i, i)*want.At(j, j)); math.Abs(got.At(i, j)-w) > 1e-12 {
					t.Errorf("%d, %d: %v, want %v", i, j, got.At(i, j), w)
				}
			}
		}
	}
	two := (&recovery.LogisticNormal{Mean: make([]float64, 2), Covariance: mat.NewSymDense(2, []float64{2, 0.5, 0.5, 1})}).Correlations()
	if math.Abs(two.At(0, 1)+1) > 1e-12 {
		t.Errorf("of two logits: %v", two.At(0, 1))
	}
	if none := (&recovery.LogisticNormal{Mean: make([]float64, 1), Covariance: mat.NewSymDense(1, nil)}).Correlations(); none.At(0, 0) != 0 {
		t.Errorf("without variance: %v", none.At(0, 0))
	}
}
