package assign

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Every assignment is tried, of square and of wide matrices, with and without
// ties.
func TestAssign(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 300 {
		n := 1 + trial%6
		m := n + trial/6%3
		gain := mat.NewDense(n, m, nil)
		for i := range n {
			for j := range m {
				gain.Set(i, j, rng.Float64()*2-0.5)
				if trial%3 == 0 { // many ties
					gain.Set(i, j, float64(rng.IntN(3)))
				}
			}
		}
		sum := func(col []int) (s float64) {
			for i, j := range col {
				s += gain.At(i, j)
			}
			return s
		}
		best := math.Inf(-1)
		var try func(col []int)
		try = func(col []int) {
			if len(col) == n {
				best = max(best, sum(col))
				return
			}
			for j := range m {
				if !slices.Contains(col, j) {
					try(append(col, j))
				}
			}
		}
		try(nil)
		col, err := Best(gain)
		if err != nil {
			t.Fatal(err)
		}
		if sorted := slices.Sorted(slices.Values(col)); len(col) != n || len(slices.Compact(sorted)) != n || sorted[0] < 0 || sorted[n-1] >= m {
			t.Fatalf("%v gives %d rows no different columns of %d", col, n, m)
		}
		// Sums of at most six numbers below 2 in different orders.
		if got := sum(col); !(got >= best-1e-12) {
			t.Fatalf("sum %g with %v, want %g of\n%v", got, col, best, mat.Formatted(gain))
		}
	}
}

// A hidden permutation of some size is found.
func TestAssignPermutation(t *testing.T) {
	const n = 150
	rng := rand.New(rand.NewPCG(3, 4))
	want := rng.Perm(n)
	gain := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			gain.Set(i, j, 0.9*rng.Float64())
		}
		gain.Set(i, want[i], 1)
	}
	got, err := Best(gain)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestAssignBad(t *testing.T) {
	for _, g := range []mat.Matrix{nil, &mat.Dense{}} {
		if _, err := Best(g); err == nil || !strings.Contains(err.Error(), "0×0") {
			t.Errorf("%v: error %v", g, err)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		g := mat.NewDense(2, 2, []float64{1, 2, v, 3})
		if _, err := Best(g); err == nil || !strings.Contains(err.Error(), "[1, 0]") {
			t.Errorf("%g: error %v, want one at [1, 0]", v, err)
		}
	}
}

// Of more rows than columns some are left, and the rest is the best choice.
func TestAssignTall(t *testing.T) {
	got, err := Best(mat.NewDense(3, 2, []float64{1, 0, 5, 2, 4, 3}))
	if err != nil || !slices.Equal(got, []int{-1, 0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
}
