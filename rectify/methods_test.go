package rectify_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/rectify"
)

// What every method must do.

func methods(iterations int) []rectify.Rectifier {
	return []rectify.Rectifier{
		rectify.DR{Iterations: iterations},
		rectify.DC{Halvings: iterations},
		rectify.PALM{Iterations: iterations},
	}
}

// PALM works on chunks of 512 rows, more than the suite of package jsmf has.
func TestPALMSameBitsForAnyWorkers(t *testing.T) {
	synth := moments(t, "synth")
	var first []float64
	for _, w := range []int{1, 2, 8} {
		res, err := rectify.PALM{Iterations: 2}.Rectify(ctx, synth, 12, rectify.Options{Workers: w})
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Concat(res.Changes, res.Eigenvalues, res.Objectives, res.C.Marginals())
		if first == nil {
			first = got
		} else if !slices.Equal(first, got) {
			t.Errorf("%d workers give other bits than one, want the same", w)
		}
	}
}

// A model without noise is left alone by DR and DC.
func TestMethodsKeepAModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	in := newDense(t, exactModel(rng, 60, 4, false))
	for _, r := range methods(10)[:2] {
		res, err := r.Rectify(ctx, in, 4, rectify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(t, res.C, in); d > 1e-12 {
			t.Errorf("%v: moved by %g", r, d)
		}
	}
}

func TestMethodsPermutationEquivariance(t *testing.T) {
	testutil.NotWithRace(t)
	rng := rand.New(rand.NewPCG(62, 1))
	const n, k = 100, 6
	c := noisy(rng, n, k)
	perm := rng.Perm(n)
	p := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range n {
			p.SetSym(i, j, c.At(perm[i], perm[j]))
		}
	}
	for _, r := range []rectify.Rectifier{
		rectify.DR{EigenTol: 1e-12},
		rectify.PALM{EigenTol: 1e-12},
	} {
		a, err := r.Rectify(ctx, newDense(t, c), k, rectify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Rectify(ctx, newDense(t, p), k, rectify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x, y := make([]float64, n), make([]float64, n)
		worst := 0.0
		for i := range n {
			b.C.RowTo(x, i)
			a.C.RowTo(y, perm[i])
			for j := range n {
				worst = max(worst, math.Abs(x[j]-y[perm[j]]))
			}
		}
		if worst > 1e-12 {
			t.Errorf("%v: entries differ by %g", r, worst)
		}
	}
}

func TestMethodsTolerance(t *testing.T) {
	m := moments(t, "tiny")
	all, err := rectify.DR{Iterations: 40}.Rectify(ctx, m, 4, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := rectify.DR{Iterations: 40, Tol: all.Changes[9]}.Rectify(ctx, m, 4, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != rectify.Converged || res.Iterations != 10 || !slices.Equal(res.Changes, all.Changes[:10]) {
		t.Errorf("DR stopped after %d iterations, %v", res.Iterations, res.Status)
	}
	if all.Status != rectify.IterationLimit || all.Iterations != 40 {
		t.Errorf("DR: %v after %d iterations", all.Status, all.Iterations)
	}
}

// The method decides which rows anchors are found in, and not whether E happens to be
// empty, as it is up to rounding for an exact model.
func TestRowsAreTheMethods(t *testing.T) {
	const n, k = 60, 4
	c := newDense(t, exactModel(rand.New(rand.NewPCG(61, 1)), n, k, false))
	all := append(methods(3), rectify.AP{}, rectify.AP{Iterations: 1}, rectify.None{}, rectify.Auto{}, rectify.ENN{}, rectify.LR{}, rectify.TruncatedEig{})
	for _, r := range all {
		res, err := r.Rectify(ctx, c, k, rectify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := res.Rows(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := n
		switch r.(type) {
		case rectify.ENN, rectify.LR, rectify.PALM, rectify.TruncatedEig:
			want = k
		}
		if _, d := rows.Dims(); d != want {
			t.Errorf("%v: rows of %d numbers, want %d", r, d, want)
		}
	}
}

// The smallest matrices and all numbers of topics.
func TestMethodsSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 1))
	for _, n := range []int{1, 2, 5} {
		c := newDense(t, noisy(rng, n, 2))
		for k := 1; k <= n; k++ {
			for _, r := range methods(4) {
				if _, ok := r.(rectify.DC); ok && k >= n/2 {
					continue
				}
				res, err := r.Rectify(ctx, c, k, rectify.Options{})
				if err != nil {
					t.Errorf("%v, N=%d, K=%d: %v", r, n, k, err)
					continue
				}
				for _, v := range res.C.Marginals() {
					if math.IsNaN(v) {
						t.Errorf("%v, N=%d, K=%d: NaN", r, n, k)
					}
				}
				if _, ok := r.(rectify.PALM); !ok {
					near(t, fmt.Sprint(r, " sum"), vec.Sum(res.C.Marginals()), 1, 1e-13)
				}
			}
		}
	}
}

// corrupt is a Matrix with a row that is not finite.
type corrupt struct {
	cooc.Matrix
	i int
	v float64
}

func (s corrupt) RowTo(dst []float64, i int) {
	s.Matrix.RowTo(dst, i)
	if i == s.i {
		dst[3] = s.v
	}
}

func TestMethodsBadInput(t *testing.T) {
	m := moments(t, "tiny")
	zero := newDense(t, mat.NewSymDense(25, nil))
	negative := mat.NewSymDense(25, nil)
	for i := range 25 {
		negative.SetSym(i, i, -1)
	}
	type wrong struct {
		r    rectify.Rectifier
		c    cooc.Matrix
		k    int
		want string
	}
	all := []wrong{
		{rectify.DR{Iterations: -1}, m, 4, "DR: -1 iterations"},
		{rectify.DR{Tol: math.NaN()}, m, 4, "DR: tolerances NaN"},
		{rectify.DR{EigenTol: 0.2}, m, 4, "and 0.2;"},
		{rectify.DC{Halvings: -1}, m, 4, "DC: -1 halvings"},
		{rectify.DC{EigenTol: -1}, m, 4, "and -1;"},
		{rectify.PALM{Iterations: -1}, m, 4, "PALM: -1 iterations"},
		{rectify.PALM{Coupling: -1}, m, 4, "coupling of -1"},
		{rectify.PALM{Tol: math.Inf(1)}, m, 4, "tolerances +Inf"},
		{rectify.PALM{}, newDense(t, negative), 4, "none of the 4 largest eigenvalues is positive"},
		{rectify.DC{}, corrupt{m, 7, math.NaN()}, 4, "entry (7, 3) of the matrix is NaN"},
		{rectify.DC{}, zero, 4, "the result sums to 0"},
	}
	for _, r := range methods(3) {
		all = append(all, wrong{r, m, 0, "K = 0 is not in [1, 25]"}, wrong{r, m, 26, "K = 26 is not in [1, 25]"})
		all = append(all, wrong{r, bad{m, math.NaN()}, 4, "not finite"}, wrong{r, bad{m, math.Inf(1)}, 4, "not finite"})
	}
	for _, c := range all {
		_, err := c.r.Rectify(ctx, c.c, c.k, rectify.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "rectify: ") {
			t.Errorf("%v, K=%d: %v, want %q", c.r, c.k, err, c.want)
		}
	}
}

func TestMethodsString(t *testing.T) {
	for want, r := range map[string]rectify.Rectifier{
		"DR(iterations=15, eigentol=1e-05)":                     rectify.DR{},
		"DC(halvings=30, seed=5, eigentol=1e-06)":               rectify.DC{Seed: 5},
		"PALM(iterations=100, eigentol=1e-08, coupling=0.0001)": rectify.PALM{},
	} {
		if got := r.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A matrix without rows at hand is refused by those that need rows, and works
// elsewhere.
func TestMethodsWithoutRows(t *testing.T) {
	c := &counting{Operator: fromEncoded(t, golden.Corpus(t, "tiny"))}
	for _, r := range methods(3) {
		t.Run(r.String(), func(t *testing.T) {
			res, err := r.Rectify(ctx, c, 4, rectify.Options{})
			if res != nil || err == nil || !strings.Contains(err.Error(), "the matrix (encoded) only multiplies, and the method needs its rows") || c.products != 0 {
				t.Errorf("%v after %d products", err, c.products)
			}
		})
	}
}

// fromEncoded counts documents encoded in memory.
func fromEncoded(t testing.TB, docs *corpus.Corpus) cooc.Operator {
	t.Helper()
	e, err := corpus.Encode(ctx, docs.Source())
	if err != nil {
		t.Fatal(err)
	}
	c, err := cooc.FromEncoded(ctx, e, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// counting counts the products with a matrix.
type counting struct {
	cooc.Operator
	products int
}

func (c *counting) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	c.products++
	return c.Operator.MulTo(ctx, dst, x, workers)
}
