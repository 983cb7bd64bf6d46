package anchorfree

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/synth"
	"github.com/jsmf-go/spectral/internal/testutil"
)

var ctx = context.Background()

// scattered is the problem of a synthetic model.
func scattered(t testing.TB, n, k, anchors int, seed uint64) *problem {
	t.Helper()
	p, err := newProblem(ctx, dense(t, synth.Cooccurrence(synth.Scattered(n, k, anchors, seed))), k, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func dense(t testing.TB, c mat.Matrix) *cooc.Dense {
	t.Helper()
	d, err := cooc.NewDense(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// noisy is the problem of a matrix with full rank: the sum of a low-rank one and
// a small one, both non-negative.
func noisy(t testing.TB, n, k int, seed uint64) *problem {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 9))
	c := synth.Cooccurrence(synth.Scattered(n, k, 0, seed))
	level := 0.3 * mat.Sum(c) / float64(n*n)
	for i := range n {
		for j := range i + 1 {
			v := c.At(i, j) + level*rng.Float64()
			c.Set(i, j, v)
			c.Set(j, i, v)
		}
	}
	p, err := newProblem(ctx, dense(t, c), k, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func programsOf(t testing.TB, p *problem) *programs {
	t.Helper()
	s, err := newPrograms(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// byGonum solves the program in its dual, min t s.t. Uᵀy − t·s = −a, y ≥ 0.
func byGonum(p *problem, a []float64) (float64, error) {
	var words []int // gonum refuses columns of zeros
	for i, v := range p.norms {
		if v > 0 {
			words = append(words, i)
		}
	}
	n, k := len(words), p.k
	A := mat.NewDense(k, n+2, nil)
	c, b := make([]float64, n+2), make([]float64, k)
	for l, i := range words {
		for j, v := range linalg.Row(p.u, i) {
			A.Set(j, l, v/p.norms[i])
		}
	}
	for j := range k {
		A.Set(j, n, -p.s[j])
		A.Set(j, n+1, p.s[j])
		b[j] = -a[j]
	}
	c[n], c[n+1] = 1, -1
	v, _, err := lp.Simplex(c, A, b, 1e-10, nil)
	return v, err
}

// byVertices tries every set of K−1 constraints.
func byVertices(p *problem, a []float64) float64 {
	n, k := p.n, p.k
	best := math.Inf(-1)
	idx := make([]int, 0, k)
	t, rhs := mat.NewDense(k, k, nil), mat.NewVecDense(k, nil)
	rhs.SetVec(0, 1)
	var visit func(from int)
	visit = func(from int) {
		if len(idx) < k-1 {
			for i := from; i < n; i++ {
				idx = append(idx, i)
				visit(i + 1)
				idx = idx[:len(idx)-1]
			}
			return
		}
		t.SetRow(0, p.s)
		for r, i := range idx {
			t.SetRow(r+1, linalg.Row(p.u, i))
		}
		var x mat.VecDense
		if x.SolveVec(t, rhs) != nil {
			return
		}
		for i := range n {
			v := 0.0
			for j, w := range linalg.Row(p.u, i) {
				v += w * x.AtVec(j)
			}
			if v < -1e-9 {
				return
			}
		}
		v := 0.0
		for j, w := range a {
			v += w * x.AtVec(j)
		}
		best = max(best, v)
	}
	visit(0)
	return best
}

// The optimum is that of trying all vertices, the point attains it and satisfies
// every constraint, whatever basis it began with.
func TestSimplexVertices(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for trial := range 40 {
		if trial > 12 && (testing.Short() || testutil.Race) {
			break
		}
		k := 2 + trial%3
		var p *problem
		if trial%2 == 0 {
			p = noisy(t, 16, k, uint64(trial))
		} else {
			p = scattered(t, 16, k, trial%5, uint64(trial)) // many constraints in a vertex
		}
		s := programsOf(t, p)
		for range 5 {
			a := make([]float64, k)
			for j := range a {
				a[j] = rng.NormFloat64()
			}
			if err := s.solve(ctx, 0, a, new([2][]int), 1); err != nil {
				t.Fatalf("trial %d: %v", trial, err)
			}
			for i, x := range [][]float64{s.largest.X, s.least.X} {
				checkPoint(t, p, x)
				signed := make([]float64, k)
				for j, v := range a {
					signed[j] = float64(1-2*i) * v
				}
				got, want := dotSlices(signed, x), byVertices(p, signed)
				// Rounding of a k×k solve.
				if !(math.Abs(got-want) <= 1e-8*(1+math.Abs(want))) {
					t.Errorf("trial %d: optimum %g, vertices give %g", trial, got, want)
				}
			}
		}
	}
}

// Objectives that hardly tell one point from another, or only few: every
// multiplier but some is zero, and rounding must not keep the method going.
func TestSimplexDegenerate(t *testing.T) {
	for _, k := range []int{2, 5, 12} {
		for _, p := range []*problem{noisy(t, 200, k, 3), scattered(t, 200, k, 0, 3), scattered(t, 200, k, k, 3)} {
			s := programsOf(t, p)
			for word := range 3 {
				// s is the same everywhere, a row is often least on a whole facet.
				for i, a := range [][]float64{p.s, linalg.Row(p.u, word)} {
					if err := s.solve(ctx, 0, a, new([2][]int), 1); err != nil {
						t.Fatalf("K = %d, objective %d: %v", k, i, err)
					}
					for _, x := range [][]float64{s.largest.X, s.least.X} {
						checkPoint(t, p, x)
						if v := dotSlices(a, x); i == 0 && math.Abs(v-1) > 1e-12 {
							t.Errorf("K = %d: sᵀx = %g", k, v)
						}
					}
					if least, most := dotSlices(a, s.least.X), dotSlices(a, s.largest.X); least > most+1e-12 {
						t.Errorf("K = %d, objective %d: the least value is %g, the largest %g", k, i, least, most)
					}
				}
			}
		}
	}
}

func dotSlices(a, b []float64) (s float64) {
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

func checkPoint(t *testing.T, p *problem, x []float64) {
	t.Helper()
	if s := dotSlices(p.s, x); math.Abs(s-1) > 1e-12 {
		t.Errorf("the probabilities sum to %g", s)
	}
	for i := range p.n {
		if v := dotSlices(linalg.Row(p.u, i), x); v < -1e-9*p.norms[i]*math.Sqrt(dotSlices(x, x)) {
			t.Errorf("word %d has the probability %g", i, v)
		}
	}
}

// On problems of some size gonum's simplex method is the judge, where it comes to an
// end.
func TestSimplexGonum(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: gonum's simplex method is slow")
	}
	rng := rand.New(rand.NewPCG(7, 8))
	judged := 0
	for trial := range 12 {
		k := []int{5, 8, 12}[trial%3]
		var p *problem
		if trial%2 == 0 {
			p = noisy(t, 150, k, uint64(trial))
		} else {
			p = scattered(t, 150, k, 0, uint64(trial))
		}
		s := programsOf(t, p)
		a := make([]float64, k)
		for range 3 {
			for j := range a {
				a[j] = rng.NormFloat64()
			}
			if err := s.solve(ctx, 0, a, new([2][]int), 1); err != nil {
				t.Fatalf("trial %d: %v", trial, err)
			}
			checkPoint(t, p, s.largest.X)
			want, err := byGonum(p, a)
			if err != nil {
				t.Logf("trial %d, K = %d: gonum: %v", trial, k, err)
				continue
			}
			judged++
			if got := dotSlices(a, s.largest.X); !(math.Abs(got-want) <= 1e-7*(1+math.Abs(want))) {
				t.Errorf("trial %d, K = %d: optimum %.12g, gonum finds %.12g", trial, k, got, want)
			}
		}
	}
	if judged < 12 {
		t.Errorf("gonum solved only %d of 36 programs: nothing was compared", judged)
	}
}

// The words named cannot do with any vector: that is checked by all vertices of
// the others.
func TestSimplexInfeasible(t *testing.T) {
	// Rank 2: u_i = (1, t_i) except for the signs of word 4. Distributions in the
	// span need 1 + t_i·x ≥ 0 for four words and −(1 + 0·x) ≥ 0 for word 4.
	y := mat.NewDense(5, 2, []float64{1, 1, 1, -1, 1, 0.5, 1, -0.5, -1, 0})
	var c mat.Dense
	c.Mul(y, y.T())
	for _, l := range []Learner{LP{}, PDS{}} {
		_, err := l.Learn(ctx, dense(t, &c), 2, Options{})
		var inf *InfeasibleError
		if !errors.As(err, &inf) {
			t.Fatalf("%v: error %v, want an *InfeasibleError", l, err)
		}
		if inf.Topic != 0 || inf.Word < 0 || inf.Word >= 5 || len(inf.Others) != 1 {
			t.Errorf("%v: %+v", l, inf)
		}
	}
}

// The choice of a first basis, K passes over U, ends with ctx.
func TestIndependentCancel(t *testing.T) {
	p := noisy(t, 40, 6, 1)
	if _, err := newPrograms(testutil.EndingAfter(3), p); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the error of ctx, which ended in the third pass", err)
	}
}
