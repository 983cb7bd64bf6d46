package lp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
)

var ctx = context.Background()

// byVertices tries every vertex of a problem: p of its bounds as equations. ok is
// false where the set is empty.
func byVertices(pr *Problem, c []float64) (best float64, ok bool) {
	p, q := pr.G.Cols, pr.G.Rows
	row := func(v int) []float64 {
		if v >= p {
			return linalg.Row(pr.G, v-p)
		}
		e := make([]float64, p)
		e[v] = 1
		return e
	}
	bounds := func(v int) (lo, hi float64) {
		switch {
		case v >= p:
			return pr.RowLo[v-p], pr.RowHi[v-p]
		case pr.Lo == nil:
			return math.Inf(-1), math.Inf(1)
		}
		return pr.Lo[v], pr.Hi[v]
	}
	best = math.Inf(-1)
	t, rhs := mat.NewDense(p, p, nil), mat.NewVecDense(p, nil)
	var visit func(from, depth int)
	visit = func(from, depth int) {
		if depth == p {
			var x mat.VecDense
			if x.SolveVec(t, rhs) != nil {
				return
			}
			for v := range p + q {
				lo, hi := bounds(v)
				if y := blas64.Dot(vector(row(v)), vector(x.RawVector().Data)); y < lo-1e-9 || y > hi+1e-9 {
					return
				}
			}
			best, ok = max(best, blas64.Dot(vector(c), vector(x.RawVector().Data))), true
			return
		}
		for v := from; v < p+q; v++ {
			t.SetRow(depth, row(v))
			lo, hi := bounds(v)
			for _, b := range []float64{lo, hi} {
				if math.IsInf(b, 0) {
					continue
				}
				rhs.SetVec(depth, b)
				visit(v+1, depth+1)
				if lo == hi {
					break
				}
				t.SetRow(depth, row(v))
			}
		}
	}
	visit(0, 0)
	return best, ok
}

// check sees that X is feasible, and that the multipliers prove it the best.
func check(t *testing.T, s *Solver, c []float64) {
	t.Helper()
	sum := slices.Clone(c)
	for v, d := range s.D {
		lo, hi := s.bounds(v)
		x := 0.0
		if v < s.p {
			x = s.X[v]
			sum[v] -= d
		} else {
			g := linalg.Row(s.G, v-s.p)
			x = blas64.Dot(vector(g), vector(s.X))
			blas64.Axpy(-d, vector(g), vector(sum))
		}
		if x < lo-1e-9 || x > hi+1e-9 {
			t.Errorf("variable %d is %g, not in [%g, %g]", v, x, lo, hi)
		}
		if d > 1e-9 && x < hi-1e-9 || d < -1e-9 && x > lo+1e-9 {
			t.Errorf("variable %d = %g in [%g, %g] has the multiplier %g", v, x, lo, hi, d)
		}
	}
	if r := blas64.Nrm2(vector(sum)); r > 1e-9 {
		t.Errorf("the multipliers miss the objective by %g", r)
	}
}

// problems are small ones: with entries of any size or of −1, 0 and 1, where ties
// are the rule, with and without rows that are equations.
func random(rng *rand.Rand, p, q int, integers bool) (*Problem, []float64) {
	number := func() float64 {
		if integers {
			return float64(rng.IntN(3) - 1)
		}
		return rng.NormFloat64()
	}
	pr := &Problem{G: linalg.NewGeneral(q, p), Lo: make([]float64, p), Hi: make([]float64, p), RowLo: make([]float64, q), RowHi: make([]float64, q)}
	c := make([]float64, p)
	for i := range pr.G.Data {
		pr.G.Data[i] = number()
	}
	for j := range p {
		c[j], pr.Lo[j] = number(), number()
		pr.Hi[j] = pr.Lo[j] + 1 + float64(rng.IntN(2))
	}
	for r := range q {
		pr.RowLo[r] = number() - 1
		pr.RowHi[r] = pr.RowLo[r] + float64(rng.IntN(3))
	}
	return pr, c
}

// The optimum is that of trying all vertices, also from the basis of another
// objective, and a program without a solution is told as such.
func TestSolve(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	solved, empty := 0, 0
	for trial := range 400 {
		p, q := 1+trial%4, 1+trial%5
		pr, c := random(rng, p, q, trial%2 == 0)
		s := New(pr, nil, nil)
		for range 3 {
			want, ok := byVertices(pr, c)
			err := s.Solve(ctx, c)
			var inf *InfeasibleError
			switch {
			case ok && err == nil:
				solved++
				check(t, s, c)
				if got := blas64.Dot(vector(c), vector(s.X)); !(math.Abs(got-want) <= 1e-9) {
					t.Errorf("trial %d: optimum %g, vertices give %g", trial, got, want)
				}
			case !ok && errors.As(err, &inf):
				empty++
			default:
				t.Errorf("trial %d: a solution: %v, error %v", trial, ok, err)
			}
			for j := range c {
				c[j] = rng.NormFloat64()
			}
		}
	}
	if solved < 300 || empty < 100 {
		t.Errorf("%d programs solved, %d infeasible: not much was tested", solved, empty)
	}
}

// Free variables are in the first basis; most constraints hold with equality in
// one point.
func TestSolveFree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for trial := range 100 {
		p, q := 2+trial%3, 8
		pr, c := random(rng, p, q, trial%2 == 0)
		pr.Lo, pr.Hi = nil, nil
		cols := make([]int, p)
		for j := range p {
			cols[j] = j
			clear(linalg.Row(pr.G, j))
			linalg.Row(pr.G, j)[j] = 1 // a box, so that there is a basis
		}
		for r := range q {
			pr.RowLo[r], pr.RowHi[r] = 0, 1
		}
		s := New(pr, cols, cols)
		if err := s.Solve(ctx, c); err != nil { // 0 is a solution
			t.Fatalf("trial %d: %v", trial, err)
		}
		check(t, s, c)
		want, _ := byVertices(pr, c)
		if got := blas64.Dot(vector(c), vector(s.X)); !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("trial %d: optimum %g, vertices give %g", trial, got, want)
		}
	}
}

// assignment is the linear program of an n×n assignment: highly degenerate.
func assignment(rng *rand.Rand, n int) (*Problem, []float64) {
	pr := &Problem{G: linalg.NewGeneral(2*n, n*n), Lo: make([]float64, n*n), Hi: make([]float64, n*n), RowLo: make([]float64, 2*n), RowHi: make([]float64, 2*n)}
	c := make([]float64, n*n)
	u := 1 / math.Sqrt(float64(n))
	for i := range n {
		for j := range n {
			linalg.Row(pr.G, i)[i*n+j], linalg.Row(pr.G, n+j)[i*n+j] = u, u
			c[i*n+j], pr.Hi[i*n+j] = float64(rng.IntN(3)), 1
		}
	}
	for r := range 2 * n {
		pr.RowLo[r], pr.RowHi[r] = u, u
	}
	return pr, c
}

// Degenerate programs end, and at a proven optimum.
func TestSolveDegenerate(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for trial := range 30 {
		pr, c := assignment(rng, 2+trial%9)
		s := New(pr, nil, nil)
		if err := s.Solve(ctx, c); err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
		check(t, s, c)
	}
}

// The limit and a cancelled context are errors.
func TestSolveStops(t *testing.T) {
	pr, c := assignment(rand.New(rand.NewPCG(7, 8)), 8)
	s := New(pr, nil, nil)
	s.Limit = 3
	var limit *LimitError
	if err := s.Solve(ctx, c); !errors.As(err, &limit) || limit.Pivots != 3 {
		t.Errorf("limit of three steps: %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := New(pr, nil, nil).Solve(done, c); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %v", err)
	}
	if err := New(pr, []int{0}, nil).Solve(ctx, c); err == nil {
		t.Error("a basis of a row and no column")
	}
}
