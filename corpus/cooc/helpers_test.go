package cooc_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
)

var ctx = context.Background()

// countsCorpus makes a corpus of counts by document.
func countsCorpus(t testing.TB, words int, docs []map[int]int) *corpus.Corpus {
	t.Helper()
	ptr, ind, data := []int{0}, []int{}, []float64{}
	for _, d := range docs {
		for w := range words {
			if d[w] > 0 {
				ind, data = append(ind, w), append(data, float64(d[w]))
			}
		}
		ptr = append(ptr, len(ind))
	}
	c, err := corpus.FromCSR(sparse.NewCSR(len(docs), words, ptr, ind, data), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// randomDocs draws documents of 0 to 60 tokens with word frequencies that fall
// as 1/rank. The last `never` words occur in none.
func randomDocs(rng *rand.Rand, docs, words, never int) []map[int]int {
	out := make([]map[int]int, docs)
	for m := range out {
		out[m] = map[int]int{}
		for range rng.IntN(61) {
			w := int(math.Pow(float64(words-never), rng.Float64())) - 1
			out[m][w]++
		}
	}
	return out
}

func newMoments(t testing.TB, c *corpus.Corpus, opts cooc.Options) *cooc.Moments {
	t.Helper()
	m, err := cooc.NewMoments(ctx, c, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// naive is C from its definition: one loop over documents and pairs.
func naive(words int, docs []map[int]int, least int) *mat.Dense {
	c := mat.NewDense(words, words, nil)
	used := 0.0
	for _, d := range docs {
		n := 0
		for _, x := range d {
			n += x
		}
		if n < max(least, 2) {
			continue
		}
		used++
		for i := range words {
			for j := range words {
				v := float64(d[i]) * float64(d[j])
				if i == j {
					v = float64(d[i]) * float64(d[i]-1)
				}
				c.Set(i, j, c.At(i, j)+v/(float64(n)*float64(n-1)))
			}
		}
	}
	c.Scale(1/used, c)
	return c
}

func normal(rng *rand.Rand, r, c int) *mat.Dense {
	a := mat.NewDense(r, c, nil)
	for i := range r {
		for j := range c {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	return a
}

// randomSparse makes a symmetric matrix of about 3 entries a row.
func randomSparse(t testing.TB, rng *rand.Rand, n int) *cooc.Sparse {
	t.Helper()
	rows := make([]map[int]float64, n)
	for i := range rows {
		rows[i] = map[int]float64{}
	}
	for range 3 * n / 2 {
		i, j, v := rng.IntN(n), rng.IntN(n), rng.NormFloat64()
		rows[i][j], rows[j][i] = v, v
	}
	ptr, cols, vals := []int{0}, []int32{}, []float64{}
	for _, r := range rows {
		for j := range n {
			if v, ok := r[j]; ok {
				cols, vals = append(cols, int32(j)), append(vals, v)
			}
		}
		ptr = append(ptr, len(cols))
	}
	s, err := cooc.NewSparse(n, ptr, cols, vals)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// near fails where two numbers differ by more than tol.
func near(t testing.TB, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.17g, want %.17g (differ by %.2g, tolerance %.2g)", name, got, want, math.Abs(got-want), tol)
	}
}

// sameMatrix asks for two forms of one matrix to agree: rows, sums, products
// to tol relative to the largest of each kind of number, squared norms to 4·tol.
// entries multiplies an operator by the identity.
func entries(t *testing.T, c cooc.Operator) *cooc.Dense {
	t.Helper()
	n := c.Dim()
	one, all := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		one.Set(i, i, 1)
	}
	if err := c.MulTo(ctx, all, one, 0); err != nil {
		t.Fatal(err)
	}
	d, err := cooc.NewDense(all)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func sameMatrix(t *testing.T, a, b cooc.Matrix, tol float64) {
	t.Helper()
	n := b.Dim()
	if a.Dim() != n {
		t.Fatalf("dimensions %d and %d", a.Dim(), n)
	}
	cmp := func(what string, x, y []float64, tol float64) {
		t.Helper()
		if len(x) != len(y) {
			t.Fatalf("%s: %d and %d numbers", what, len(x), len(y))
		}
		largest := 0.0
		for _, v := range y {
			largest = max(largest, math.Abs(v))
		}
		for i := range x {
			if !(math.Abs(x[i]-y[i]) <= tol*largest) {
				t.Fatalf("%s: number %d is %.17g, want %.17g (largest %g, tolerance %g)", what, i, x[i], y[i], largest, tol)
			}
		}
	}
	cmp("marginals", a.Marginals(), b.Marginals(), tol)
	qa, err := a.RowNorms2(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	qb, err := b.RowNorms2(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmp("row norms", qa, qb, 4*tol)
	ra, rb := make([]float64, n), make([]float64, n)
	var alla, allb []float64
	for i := range n {
		a.RowTo(ra, i)
		b.RowTo(rb, i)
		alla, allb = append(alla, ra...), append(allb, rb...)
	}
	cmp("rows", alla, allb, tol)
	rng := rand.New(rand.NewPCG(5, 5))
	for _, p := range []int{1, 3, 17, 64} {
		x, da, db := normal(rng, n, p), normal(rng, n, p), mat.NewDense(n, p, nil)
		if err := a.MulTo(ctx, da, x, 0); err != nil {
			t.Fatal(err)
		}
		if err := b.MulTo(ctx, db, x, 0); err != nil {
			t.Fatal(err)
		}
		cmp("product", da.RawMatrix().Data, db.RawMatrix().Data, tol)
	}
	// A block that is a view into a larger one.
	x := normal(rng, n+2, 9)
	xs, out := x.Slice(1, n+1, 2, 7).(*mat.Dense), mat.NewDense(n+2, 9, nil)
	os := out.Slice(1, n+1, 2, 7).(*mat.Dense)
	db := mat.NewDense(n, 5, nil)
	if err := a.MulTo(ctx, os, xs, 0); err != nil {
		t.Fatal(err)
	}
	if err := b.MulTo(ctx, db, mat.DenseCopyOf(xs), 0); err != nil {
		t.Fatal(err)
	}
	cmp("product of views", mat.DenseCopyOf(os).RawMatrix().Data, db.RawMatrix().Data, tol)
	for j := range 9 {
		if out.At(0, j) != 0 || out.At(n+1, j) != 0 || (j < 2 || j > 6) && out.At(1, j) != 0 {
			t.Fatal("a product was written outside its view")
		}
	}
}

func sameBits(t testing.TB, what string, a, b []float64) {
	t.Helper()
	if !slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }) {
		t.Errorf("%s differs in bits", what)
	}
}

// countdown is a context that ends when it has been looked at so often, and
// counts the looks after that: one for each chunk that still asks.
type countdown struct {
	context.Context
	looks, limit atomic.Int64
}

func newCountdown(limit int) *countdown {
	c := &countdown{Context: context.Background()}
	c.limit.Store(int64(limit))
	return c
}

func (c *countdown) Err() error {
	if c.looks.Add(1) > c.limit.Load() {
		return context.Canceled
	}
	return nil
}

func (c *countdown) late() int64 { return c.looks.Load() - c.limit.Load() }
