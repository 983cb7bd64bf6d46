package arith

import (
	"math"
	"math/rand/v2"
	"testing"
)

// ulps returns how many ulps of want lie between the two.
func ulps(got, want float64) float64 {
	if got == want || math.IsNaN(got) && math.IsNaN(want) {
		return 0
	}
	return math.Abs(got-want) / (math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want))
}

// The functions are those of math, to the ulps that they promise and one of math.
func TestMath(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		x := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(8))-5)
		y := math.Ldexp(rng.Float64(), rng.IntN(2000)-1000) * float64(1+rng.IntN(2))
		near := 1 + x/100
		for name, c := range map[string][2]float64{
			"exp": {Exp(x), math.Exp(x)}, "expm1": {Expm1(x), math.Expm1(x)}, "log": {Log(y), math.Log(y)},
			"log near 1": {Log(near), math.Log(near)}, "log2": {Log2(y), math.Log2(y)},
		} {
			if d := ulps(c[0], c[1]); d > 4 && !(math.Abs(x) > 700 && c[1] < 1e-300) {
				t.Fatalf("%s of %v, %v or %v is %v, want %v: %v ulps", name, x, y, near, c[0], c[1], d)
			}
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), -1, 1, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1e-300, -745, -746, 709.7, 710} {
		if got, want := Exp(x), math.Exp(x); ulps(got, want) > 1 {
			t.Errorf("exp(%v) = %v, want %v", x, got, want)
		}
		if got, want := Log(x), math.Log(x); ulps(got, want) > 1 {
			t.Errorf("log(%v) = %v, want %v", x, got, want)
		}
	}
	for e := -1000; e < 1000; e++ {
		if got := Log2(math.Ldexp(1, e)); got != float64(e) {
			t.Fatalf("log2(2^%d) = %v", e, got)
		}
	}
}
