package scls

import (
	"context"
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

// One at a time is the same as in a block, to the bit, from a cold start and
// from a warm one, also where G is singular.
func TestWorkspaceEqualsSolve(t *testing.T) {
	for _, c := range []struct{ k, rank int }{{1, 1}, {7, 9}, {30, 40}, {12, 5}} {
		g, f := singleProblems(c.k, 40, c.rank, uint64(c.k))
		y := mat.NewDense(40, c.k, nil)
		p, err := ActiveSet{}.Prepare(g)
		if err != nil {
			t.Fatal(err)
		}
		w := p.NewWorkspace()
		for _, warm := range []bool{false, true} {
			got := mat.DenseCopyOf(y)
			res, err := ActiveSet{}.Solve(context.Background(), g, f, y, Options{Warm: warm, Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 40 {
				o, err := w.Solve(got.RawRowView(i), f.RawRowView(i), warm)
				if err != nil {
					t.Fatal(err)
				}
				if want := (Outcome{res.Objective[i], res.KKTGap[i], res.Iterations[i], res.Status[i]}); o != want {
					t.Fatalf("K=%d, problem %d: %+v, want %+v", c.k, i, o, want)
				}
			}
			if !mat.Equal(got, y) {
				t.Fatalf("K=%d, warm %v: the solutions differ", c.k, warm)
			}
		}
	}
}

func TestWorkspaceAllocatesNothing(t *testing.T) {
	if testutil.Race {
		t.Skip("the race detector allocates")
	}
	g, f := singleProblems(25, 10, 30, 1)
	p, err := ActiveSet{}.Prepare(g)
	if err != nil {
		t.Fatal(err)
	}
	w, y := p.NewWorkspace(), make([]float64, 25)
	i := 0
	if n := testing.AllocsPerRun(50, func() {
		w.Solve(y, f.RawRowView(i%10), i%2 == 1)
		i++
	}); n != 0 {
		t.Errorf("%v allocations a problem", n)
	}
}

func TestWorkspaceBadInput(t *testing.T) {
	g, _ := singleProblems(3, 1, 5, 1)
	if _, err := (ActiveSet{MaxIterations: -1}).Prepare(g); err == nil {
		t.Error("a negative limit is accepted")
	}
	if _, err := (ActiveSet{}).Prepare(mat.NewSymDense(2, []float64{1, 3, 3, 1})); err == nil {
		t.Error("an indefinite G is accepted")
	}
	p, err := ActiveSet{}.Prepare(g)
	if err != nil {
		t.Fatal(err)
	}
	w := p.NewWorkspace()
	good := []float64{1, 0, 0}
	for _, c := range []struct {
		y, f []float64
		want string
	}{
		{good, []float64{1, 2}, "f is 1×2"},
		{[]float64{1}, good, "y is 1×1"},
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
