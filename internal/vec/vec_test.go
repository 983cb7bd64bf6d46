package vec

import (
	"math"
	"testing"
)

// The order of a sum shows where terms of very different sizes cancel.
func TestOrder(t *testing.T) {
	x := []float64{1, 1e17, -1e17, 3}
	ones := []float64{1, 1, 1, 1, 7}
	if got := Sum(x); got != 3 {
		t.Errorf("sum %g", got)
	}
	if got := Dot(x, ones); got != 3 {
		t.Errorf("inner product %g", got)
	}
	Normalise(x)
	if x[0] != 1.0/3 || x[3] != 1 {
		t.Errorf("normalised: %v", x)
	}
}

func TestNorms(t *testing.T) {
	if Norm([]float64{3, 4}) != 5 || Norm(nil) != 0 || Distance([]float64{4, 6}, []float64{1, 2, 9}) != 5 {
		t.Error("norms are wrong")
	}
}

func TestFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if Finite(v) || NotFinite([]float64{1, v, v}) != 1 {
			t.Errorf("%g counts as finite", v)
		}
	}
	if !Finite(-math.MaxFloat64) || NotFinite([]float64{0, math.MaxFloat64}) != -1 || NotFinite(nil) != -1 {
		t.Error("finite numbers count as infinite")
	}
}

func TestPosterior(t *testing.T) {
	dst := []float64{7, 7, 7}
	if sum := Posterior(dst, []float64{0.5, 0.25, 1}, []float64{0.5, 1, 0}); sum != 0.5 || dst[0] != 0.5 || dst[1] != 0.5 || dst[2] != 0 {
		t.Error(sum, dst)
	}
	if sum := Posterior(dst, []float64{1, 0, 0}, []float64{0, 1, 1}); sum != 0 || dst[0] != 0 || dst[1] != 0 || dst[2] != 0 {
		t.Error(sum, dst)
	}
}
