package report

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestMajorize: the stress never rises, and points that can have their distances get them.
func TestMajorize(t *testing.T) {
	const n = 20
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func() [][2]float64 {
		at := make([][2]float64, n)
		for i := range at {
			at[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		}
		return at
	}
	truth, at := draw(), draw()
	planted := func(i, j int) float64 { return math.Hypot(truth[i][0]-truth[j][0], truth[i][1]-truth[j][1]) }
	for name, want := range map[string]func(i, j int) float64{"equal": func(i, j int) float64 { return 1 }, "planted": planted} {
		stress := func() float64 {
			s := 0.0
			for i := range at {
				for j := range i {
					d := math.Hypot(at[i][0]-at[j][0], at[i][1]-at[j][1]) - want(i, j)
					s += d * d
				}
			}
			return s
		}
		before := stress()
		for range 300 {
			majorize(at, want, 1)
			if now := stress(); now > before*(1+1e-12) {
				t.Fatalf("%s: the stress rises from %v to %v", name, before, now)
			} else {
				before = now
			}
		}
	}
	copy(at, truth) // moved a little, they come back
	for i := range at {
		at[i][0] += 0.1 * rng.NormFloat64()
	}
	majorize(at, planted, 2000)
	for i := range at {
		for j := range i {
			if d := math.Hypot(at[i][0]-at[j][0], at[i][1]-at[j][1]); math.Abs(d-planted(i, j)) > 1e-3 {
				t.Errorf("points %d and %d are %v apart, want %v", i, j, d, planted(i, j))
			}
		}
	}
	same := make([][2]float64, 3) // at one place: they stay, and nothing becomes NaN
	majorize(same, planted, 5)
	if same[0] != [2]float64{} {
		t.Errorf("points at one place go to %v", same)
	}
}
