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
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

// zipf draws documents from topics over words of very different frequency.
func zipf(t testing.TB, docs, words, topics, length int) *cooc.Moments {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(words)))
	b := mat.NewDense(words, topics, nil)
	for k := range topics {
		col := make([]float64, words)
		sum := 0.0
		for i := range col {
			col[i] = math.Exp(1.5*rng.NormFloat64()) / float64(i+10)
			sum += col[i]
		}
		for i, v := range col {
			b.Set(i, k, v/sum)
		}
	}
	lengths := make([]int, docs)
	for m := range lengths {
		lengths[m] = length/2 + rng.IntN(length)
	}
	c, _, err := corpus.Generator{Topics: b, Prior: corpus.SymmetricDirichlet(topics, 5/float64(topics)), Lengths: lengths, Seed: 4}.Generate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := cooc.NewMoments(c, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// counting counts what is asked of a matrix.
type counting struct {
	cooc.Matrix
	products, blocks int
}

func (c *counting) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	_, p := x.Dims()
	c.products += p
	c.blocks++
	return c.Matrix.MulTo(ctx, dst, x, workers)
}

// work adds up the operations that were really done: the products with C and with
// iterates, as they were counted, and for each the algebra that goes with it.
func work(c *counting, nnz int, r rectify.Rectifier, res *rectify.Result, k int) float64 {
	n, K := float64(c.Dim()), float64(k)
	p := float64(min(c.Dim(), (k+17)/8*8)) // vectors of a warm-started block
	entries := 0.0
	for _, e := range res.Nonzeros {
		entries += float64(e) / float64(len(res.Nonzeros))
	}
	first := float64(c.products)
	iterates := float64(res.Products) - first
	ops := 4*float64(nnz)*first + iterates*(4*n*K+2*entries)
	// Each vector of the first eigenproblem is made orthogonal, twice, to those
	// before it, half of them in the mean: four operations a number and vector.
	basis := float64(2*k + 50)
	if _, ok := r.(rectify.LR); ok {
		basis = first
	}
	ops += 4 * n * basis * first
	// A warm-started step makes p vectors orthonormal by their Gram matrix, one in
	// each iteration finds Ritz vectors; and iterates are compared.
	ops += iterates/p*3*n*p*p + float64(res.Iterations)*(3*n*p*p+10*n*K*K)
	switch {
	case res.LookedUp > 0 && res.LookedUp < c.Dim(): // whole rows
		ops += float64(res.Iterations+1) * 2 * n * float64(res.LookedUp) * K
	default: // each pair of words once
		ops += float64(res.Iterations) * n * n * K
	}
	return ops
}

// The estimates of products and operations are within a factor of 2 of what is
// done.
func TestCostAgainstWork(t *testing.T) {
	if testutil.Race {
		t.Skip("nothing here is concurrent that other tests do not try")
	}
	check := func(t *testing.T, m *cooc.Moments, k int, methods ...rectify.Rectifier) {
		size := rectify.Size{Words: m.Dim(), Docs: m.Docs(), NNZ: int64(m.NNZ())}
		for _, r := range methods {
			cost := r.(interface {
				Cost(rectify.Size, int) rectify.Cost
			}).Cost(size, k)
			c := &counting{Matrix: m}
			res, err := r.Rectify(ctx, c, k, rectify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			done := work(c, m.NNZ(), r, res, k)
			flops, products, blocks := cost.Flops/done, cost.Products/float64(c.products), cost.Passes/float64(c.blocks)
			t.Logf("N = %d, K = %d, %v: %.3g operations of %.3g expected: %.2f; products: %.2f, passes: %.2f", m.Dim(), k, r, done, cost.Flops, flops, products, blocks)
			for _, x := range []struct {
				name  string
				ratio float64
			}{{"operations", flops}, {"products", products}} {
				if !(x.ratio >= 0.5 && x.ratio <= 2) {
					t.Errorf("%v, N = %d, K = %d: the estimate is %.2f times the %s done; %+v", r, m.Dim(), k, x.ratio, x.name, cost)
				}
			}
			if _, ok := r.(rectify.LR); ok && (blocks != 1 || products != 1) {
				t.Errorf("%v: %d passes with %d vectors, expected %g and %g", r, c.blocks, c.products, cost.Passes, cost.Products)
			}
		}
	}
	for _, x := range []struct{ docs, words, topics, k int }{{600, 400, 8, 10}, {1500, 1200, 12, 20}, {1000, 2000, 20, 30}} {
		if testing.Short() && x.words > 400 {
			continue
		}
		t.Run(fmt.Sprintf("synthetic/N=%d/K=%d", x.words, x.k), func(t *testing.T) {
			check(t, zipf(t, x.docs, x.words, x.topics, 80), x.k,
				rectify.AP{Iterations: 5}, rectify.ENN{Iterations: 6}, rectify.ENN{Iterations: 6, Rows: x.words / 5}, rectify.LR{ENN: rectify.ENN{Iterations: 6}}, rectify.TruncatedEig{})
		})
	}
	for _, name := range []string{"nips17", "kos"} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("fits of a second each")
			}
			c := golden.Curated(t, testutil.Data(t, name, "docword."+name+".txt.gz"), testutil.Data(t, name, "vocab."+name+".txt"), testutil.Data(t, "stopwords.en.txt"), 1500)
			m, err := cooc.NewMoments(c, cooc.Options{})
			if err != nil {
				t.Fatal(err)
			}
			check(t, m, 25, rectify.AP{}, rectify.ENN{}, rectify.LR{})
		})
	}
}

// Peak is the most that any collector can leave that comes when it should: against
// one that comes at every moment there is, byte by byte.
func TestPeakSlowly(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 15))
	for range 300 {
		given := int64(rng.IntN(30))
		var steps []rectify.Step
		use := int64(0)
		for range 1 + rng.IntN(4) {
			next := int64(rng.IntN(40))
			s := rectify.Step{InUse: next, Allocated: max(0, next-use) + int64(rng.IntN(60)), Collected: rng.IntN(4) == 0}
			steps = append(steps, s)
			use = next
		}
		// u[i] is in use after i of the moments, m[i] allocated.
		const fine = 400
		var u, m []float64
		last, all := 0.0, 0.0
		want := 0.0
		flush := func() { // of what was there since the last collection
			for i := range u {
				want = max(want, u[i], min(float64(given)+2*u[i], u[i]+m[len(m)-1]-m[i]))
			}
		}
		u, m = []float64{0}, []float64{0}
		for _, s := range steps {
			for i := 1; i <= fine; i++ {
				f := float64(i) / fine
				u, m = append(u, last+f*(float64(s.InUse)-last)), append(m, all+f*float64(s.Allocated))
			}
			last, all = float64(s.InUse), all+float64(s.Allocated)
			if s.Collected {
				flush()
				u, m = []float64{last}, []float64{all}
			}
		}
		flush()
		// The moments are up to a 400th of 100 bytes apart.
		if got := float64(rectify.Peak(given, steps)); math.Abs(got-want) > 1.5 {
			t.Fatalf("given %d, %+v: %g, want %g", given, steps, got, want)
		}
	}
	if rectify.Peak(5, nil) != 0 {
		t.Error("nothing takes something")
	}
}

// What is known of a fit before takes the place of the rule; more documents let
// less be lifted, more topics more; and unknown sizes are those that Auto assumes.
func TestEntries(t *testing.T) {
	s := rectify.Size{Words: 2000, Docs: 3000, NNZ: 200_000}
	if got := (rectify.Size{Words: 2000}).Entries(50); got != 400_000 {
		t.Errorf("of nothing known: %d", got)
	}
	e := s.Entries(50)
	more := s
	more.NNZ *= 2
	sets := s
	sets.Sets = true
	known := s
	known.Lifted = 12345
	if !(s.Entries(100) > e && more.Entries(50) < e && sets.Entries(50) > e && known.Entries(50) == 12345) {
		t.Errorf("%d; for 100 topics %d, of more %d, of sets %d, known %d", e, s.Entries(100), more.Entries(50), sets.Entries(50), known.Entries(50))
	}
	// Half of all, and a little, is the most.
	sets.NNZ = 10_000
	if got := sets.Entries(100); got > 2_080_000 {
		t.Errorf("%d entries of 4,000,000", got)
	}
	for _, r := range []rectify.AP{{}, {Dense: true}} {
		c := r.Cost(rectify.Size{Words: 1 << 40, Docs: 1, NNZ: 1}, 50)
		if c.Bytes < 1<<50 || c.InUse < 1<<50 {
			t.Errorf("%v of 2⁴⁰ words: %+v", r, c)
		}
	}
}

// The memory of a method whose entries are known grows with all sizes, and what is
// kept is part of it.
func TestCostMemory(t *testing.T) {
	s := rectify.Size{Words: 3000, Docs: 4000, NNZ: 300_000, Lifted: 500_000, Workers: 2}
	for _, r := range append(methods(3), rectify.AP{}, rectify.AP{Dense: true}, rectify.ENN{}, rectify.ENN{Sparse: true}, rectify.LR{}, rectify.Auto{}, rectify.TruncatedEig{}) {
		cost := func(s rectify.Size, k int) rectify.Cost {
			return r.(interface {
				Cost(rectify.Size, int) rectify.Cost
			}).Cost(s, k)
		}
		c := cost(s, 30)
		all := int64(0)
		for _, x := range c.Steps {
			all += x.Allocated
		}
		if !(c.Kept > 0 && c.Kept <= c.InUse && c.InUse <= c.Bytes && c.Bytes <= 2*c.InUse && c.Bytes <= all) || c.Bytes != rectify.Peak(0, c.Steps) {
			t.Errorf("%v: %+v", r, c)
		}
		wide, deep := s, s
		wide.Words *= 2
		deep.Docs *= 100
		for name, x := range map[string]rectify.Cost{"words": cost(wide, 30), "topics": cost(s, 60)} {
			if x.Bytes <= c.Bytes && !(name == "topics" && strings.HasPrefix(r.String(), "Dykstra")) {
				t.Errorf("%v: %d bytes, of more %s %d", r, c.Bytes, name, x.Bytes)
			}
		}
		if x := cost(deep, 30); x.Bytes < c.Bytes {
			t.Errorf("%v: %d bytes, of more documents %d", r, c.Bytes, x.Bytes)
		}
	}
	many := s
	many.Workers = 64
	if a, b := (rectify.AP{}).Cost(s, 30), (rectify.AP{}).Cost(many, 30); b.InUse < a.InUse+int64(run.Workers(64, 3000)-s.Workers)*384*3000 {
		t.Errorf("64 workers need %d bytes, 2 %d", b.InUse, a.InUse)
	}
	if i := slices.IndexFunc((rectify.LR{}).Cost(rectify.Size{Words: 30000, Docs: 10000, NNZ: 1e6}, 50).Steps, func(s rectify.Step) bool { return s.Collected }); i < 0 {
		t.Error("LR collects its Krylov space, and the steps do not say so")
	}
}
