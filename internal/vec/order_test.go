package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Top is the begin of Order, for few and many, with ties and numbers that are none.
func TestTop(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := []float64{0, 1, 2, 3, math.NaN(), math.Inf(1), math.Inf(-1)}
	for count := range 200 {
		x := make([]float64, count)
		for i := range x {
			x[i] = values[rng.IntN(len(values))]
		}
		at := func(i int) float64 { return x[i] }
		all := Order(count, at)
		for i := range all[:max(0, count-1)] {
			a, b := x[all[i]], x[all[i+1]]
			if a < b || math.IsNaN(a) && !math.IsNaN(b) || (a == b || math.IsNaN(a)) && all[i] > all[i+1] {
				t.Fatalf("%v: %v", x, all)
			}
		}
		for _, n := range []int{-1, 0, 1, 2, count / 20, count, count + 3} {
			if got := Top(count, n, at); !slices.Equal(got, all[:max(0, min(n, count))]) {
				t.Fatalf("the first %d of %v: %v, want %v", n, x, got, all)
			}
		}
	}
}
