package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
	"gonum.org/v1/gonum/mat"
)

// TestSimilarOrder: things that are similar in blocks are put in blocks, however they
// are numbered.
func TestSimilarOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 20 {
		n := 24
		block := rng.Perm(n)
		noise := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range i {
				v := 0.1 * rng.Float64()
				noise.Set(i, j, v)
				noise.Set(j, i, v)
			}
		}
		got := similarOrder(n, func(i, j int) float64 {
			if i >= j {
				t.Fatal("asked for the lower triangle")
			}
			if block[i]/6 == block[j]/6 {
				return 0.5 + noise.At(i, j)
			}
			return noise.At(i, j)
		})
		sorted := slices.Clone(got)
		slices.Sort(sorted)
		for i, v := range sorted {
			if v != i {
				t.Fatalf("%v is no order of %d", got, n)
			}
		}
		changes := 0
		for i := 1; i < n; i++ {
			if block[got[i]]/6 != block[got[i-1]]/6 {
				changes++
			}
		}
		if changes != 3 {
			t.Errorf("%d changes of block, want 3", changes)
		}
	}
	if got := similarOrder(3, func(int, int) float64 { return math.NaN() }); len(got) != 3 {
		t.Errorf("without similarities: %v", got)
	}
	if got := similarOrder(0, nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestSpread(t *testing.T) {
	testutil.NotWithRace(t)
	rng := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{1, 2, 7, 40, 150} {
		boxes, start := make([]box, n), make([]int, n)
		for i := range boxes {
			r := 8 + 4*rng.Float64()
			boxes[i] = box{r, r + 10*rng.Float64(), r + 8}
			start[i] = i
		}
		var links []link
		for range n {
			if i, j := rng.IntN(n), rng.IntN(n); i != j {
				links = append(links, link{i, j, rng.Float64()})
			}
		}
		x, y := spread(n, links, start, boxes)
		for i, a := range boxes {
			if x[i]-a.halfWidth < -1e-9 || x[i]+a.halfWidth > networkWidth+1e-9 || y[i]-a.radius < -1e-9 || y[i]+a.below > networkHeight+1e-9 {
				t.Errorf("n=%d: node %d is at %v, %v", n, i, x[i], y[i])
			}
			for j, b := range boxes[:i] {
				if math.Abs(x[i]-x[j]) < a.halfWidth+b.halfWidth && y[i]-a.radius < y[j]+b.below && y[j]-b.radius < y[i]+a.below {
					t.Errorf("n=%d: nodes %d and %d overlap", n, i, j)
				}
			}
		}
		x2, y2 := spread(n, links, start, boxes)
		if !slices.Equal(x, x2) || !slices.Equal(y, y2) {
			t.Errorf("n=%d: another picture the second time", n)
		}
	}
	// Linked ones are nearer than others.
	boxes := slices.Repeat([]box{{5, 5, 5}}, 20)
	var links []link
	for i := 1; i < 20; i++ {
		if i != 10 {
			links = append(links, link{i - 1, i, 1})
		}
	}
	x, y := spread(20, links, []int{0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16, 7, 17, 8, 18, 9, 19}, boxes)
	far := func(i, j int) float64 { return math.Hypot(x[i]-x[j], y[i]-y[j]) }
	linked, all := 0.0, 0.0
	for _, e := range links {
		linked += far(e.k, e.l) / float64(len(links))
	}
	for i := range 20 {
		for j := range i {
			all += far(i, j) / 190
		}
	}
	if linked > all/2 {
		t.Errorf("linked nodes are %v apart, all %v", linked, all)
	}
}
