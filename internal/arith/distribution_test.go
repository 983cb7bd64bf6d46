package arith

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestDistributions(t *testing.T) {
	near := func(name string, got, want, tol float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for x := -10.0; x < 10; x += 0.0371 {
		near("Φ", NormalCDF(x), distuv.UnitNormal.CDF(x), 1e-14)
	}
	if !math.IsNaN(NormalCDF(math.NaN())) || NormalCDF(math.Inf(1)) != 1 || NormalCDF(math.Inf(-1)) != 0 {
		t.Error("Φ of NaN or an infinity")
	}
	for x := 0.0; x < 1000; x = 1.1*x + 0.01 {
		near("atan", atan(x), math.Atan(x), 1e-15)
	}
	for _, level := range []float64{0.01, 0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999} {
		near("the normal quantile", NormalQuantile(level), distuv.UnitNormal.Quantile(level), 1e-12)
		for _, free := range []int{1, 2, 3, 4, 5, 6, 7, 10, 19, 50, 99, 100, 1000} {
			want := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(free)}.Quantile((1 + level) / 2)
			near("Student's quantile", StudentQuantile(level, free), want, 1e-9)
		}
	}
}

// Draws of Gamma have its mean and variance, which are the shape.
func TestGamma(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, shape := range []float64{1, 1.3, 4, 50} {
		const n = 40000
		sum, squares := 0.0, 0.0
		for range n {
			x := Gamma(shape, rng)
			sum += x
			squares += x * x
		}
		mean := sum / n
		if variance := squares/n - mean*mean; math.Abs(mean/shape-1) > 0.03 || math.Abs(variance/shape-1) > 0.06 {
			t.Errorf("shape %v: mean %v and variance %v", shape, mean, variance)
		}
	}
}
