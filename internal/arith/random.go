package arith

import (
	"math"
	"math/rand/v2"
)

// Normal draws from N(0, 1), in the precision of float32: the last bits of math/rand's numbers
// differ by platform.
func Normal(rng *rand.Rand) float64 { return float64(float32(rng.NormFloat64())) }

// Gamma draws from the gamma distribution of a shape of at least 1 and scale 1 (Marsaglia and
// Tsang, A simple method for generating gamma variables, 2000).
func Gamma(shape float64, rng *rand.Rand) float64 {
	d := shape - 1.0/3
	c := 1 / (3 * math.Sqrt(d))
	for {
		x := Normal(rng)
		v := 1 + float64(x*c)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		u, x2 := float64(rng.Float64()), float64(x*x)
		if u < 1-float64(0.0331*x2*x2) || Log(u) < float64(0.5*x2)+float64(d*(1-v+Log(v))) {
			return d * v
		}
	}
}
