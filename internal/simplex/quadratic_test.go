package simplex

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
)

func singleProblems(k, n, rank int, seed uint64) (*mat.SymDense, *mat.Dense) {
	rng := rand.New(rand.NewPCG(seed, 3))
	u := mat.NewDense(rank, k, nil)
	for i := range rank {
		for j := range k {
			u.Set(i, j, rng.Float64()*rng.Float64())
		}
	}
	g := mat.NewSymDense(k, nil)
	g.SymOuterK(1, u.T())
	f := mat.NewDense(n, k, nil)
	for i := range n {
		for j := range k {
			f.Set(i, j, rng.Float64())
		}
	}
	return g, f
}

// The minimum of each problem, from a cold start and from a warm one, also where
// G is singular: in the simplex, with the objective as reported, and with no gap.
func TestSolve(t *testing.T) {
	for _, c := range []struct{ k, rank int }{{1, 1}, {7, 9}, {30, 40}, {12, 5}} {
		g, f := singleProblems(c.k, 40, c.rank, uint64(c.k))
		m, err := Check(g)
		if err != nil {
			t.Fatal(err)
		}
		w, y, first := m.Quadratic(0, 0).Solver(), make([]float64, c.k), 0.0
		for i := range 40 {
			for _, warm := range []bool{false, true} {
				o, err := w.Solve(y, f.RawRowView(i), warm)
				if err != nil {
					t.Fatal(err)
				}
				inSimplex(t, y)
				v, u := mat.NewVecDense(c.k, y), mat.NewVecDense(c.k, f.RawRowView(i))
				scale := mat.Trace(g) + mat.Norm(u, math.Inf(1))
				if d := mat.Inner(v, g, v)/2 - mat.Dot(u, v) - o.Objective; o.Status != Converged || o.Gap > 1e-12*scale || math.Abs(d) > 1e-13*scale {
					t.Errorf("K=%d, problem %d, warm %v: %+v, objective off by %g", c.k, i, warm, o, d)
				}
				if !warm {
					first = o.Objective
				} else if math.Abs(o.Objective-first) > 1e-13*scale {
					t.Errorf("K=%d, problem %d: %g from a cold start, %g from a warm one", c.k, i, first, o.Objective)
				}
			}
		}
	}
}

func TestSolveAllocatesNothing(t *testing.T) {
	if testutil.Race {
		t.Skip("the race detector allocates")
	}
	g, f := singleProblems(25, 10, 30, 1)
	m, err := Check(g)
	if err != nil {
		t.Fatal(err)
	}
	w, y := m.Quadratic(0, 0).Solver(), make([]float64, 25)
	i := 0
	if n := testing.AllocsPerRun(50, func() {
		w.Solve(y, f.RawRowView(i%10), i%2 == 1)
		i++
	}); n != 0 {
		t.Errorf("%v allocations a problem", n)
	}
}

func TestSolveBadInput(t *testing.T) {
	g, _ := singleProblems(3, 1, 5, 1)
	if _, err := Check(mat.NewSymDense(2, []float64{1, 3, 3, 1})); err == nil {
		t.Error("an indefinite G is accepted")
	}
	m, err := Check(g)
	if err != nil {
		t.Fatal(err)
	}
	w := m.Quadratic(0, 0).Solver()
	good := []float64{1, 0, 0}
	for _, c := range []struct {
		y, f []float64
		want string
	}{
		{good, []float64{1, 2}, "f has 2 entries"},
		{[]float64{1}, good, "y 1, both"},
		{good, []float64{0, math.NaN(), 0}, "entry 1"},
		{good, []float64{0, math.Inf(1), 0}, "entry 1"},
		{[]float64{math.NaN(), 0, 0}, good, "no starting value"},
		{[]float64{1, 1, 0}, good, "must sum to 1"},
	} {
		if _, err := w.Solve(c.y, c.f, true); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("y %v, f %v: %v, want %q", c.y, c.f, err, c.want)
		}
	}
}
