package cooc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/internal/vec"
)

// The implicit form against the definition, with empty and one-token documents
// and words that never occur, for every rule of length. Sums of a few hundred
// terms: 1e-13.
func TestMomentsDefinition(t *testing.T) {
	testutil.NotWithRace(t)
	const words, never = 40, 3
	docs := randomDocs(rand.New(rand.NewPCG(1, 1)), 300, words, never)
	docs = append(docs, map[int]int{}, map[int]int{3: 1}, map[int]int{3: 2}, map[int]int{0: 1, 1: 1}, map[int]int{2: 4}, map[int]int{5: 5})
	c := countsCorpus(t, words, docs)
	for _, least := range []int{0, 1, 2, 5, 30} {
		t.Run(fmt.Sprintf("least=%d", least), func(t *testing.T) {
			m := newMoments(t, c, cooc.Options{MinTokens: least})
			rule := least
			if least == 0 {
				rule = 5
			}
			used := 0
			for d := range c.NumDocs() {
				if c.DocLen(d) >= int64(max(rule, 2)) {
					used++
				}
			}
			if m.Info().Documents != used {
				t.Errorf("%d documents entered, want %d", m.Info().Documents, used)
			}
			want, err := cooc.NewDense(naive(words, docs, rule))
			if err != nil {
				t.Fatal(err)
			}
			sameMatrix(t, m, want, 1e-13)
			d := golden.Dense(t, m)
			sameMatrix(t, d, want, 1e-13)
			near(t, "sum", vec.Sum(m.Marginals()), 1, 1e-13)
			for i := range words {
				for j := range words {
					switch {
					case d.At(i, j) < 0:
						t.Errorf("C[%d,%d] = %g", i, j, d.At(i, j))
					case d.At(i, j) != d.At(j, i):
						t.Errorf("C[%d,%d] is not C[%d,%d]", i, j, j, i)
					case (d.At(i, j) == 0) != (want.At(i, j) == 0):
						t.Errorf("C[%d,%d] = %g, want exactly %g", i, j, d.At(i, j), want.At(i, j))
					}
				}
			}
			for i := words - never; i < words; i++ {
				if m.Marginals()[i] != 0 || m.Info().DocFrequencies[i] != 0 {
					t.Errorf("word %d never occurs, but c = %g", i, m.Marginals()[i])
				}
			}
		})
	}
}

func TestMomentsBad(t *testing.T) {
	short := countsCorpus(t, 3, []map[int]int{{}, {0: 1}, {1: 1, 2: 3}})
	if _, err := cooc.NewMoments(ctx, short, cooc.Options{}); !errors.Is(err, cooc.ErrNoDocuments) {
		t.Errorf("documents of at most 4 tokens: %v", err)
	} else if want := "3 documents, at least 5 tokens"; !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
	if m := newMoments(t, short, cooc.Options{MinTokens: 2}); m.Info().Documents != 1 {
		t.Errorf("%d documents of at least 2 tokens", m.Info().Documents)
	}
	if _, err := cooc.NewMoments(ctx, countsCorpus(t, 3, []map[int]int{{0: 1}}), cooc.Options{MinTokens: 1}); !errors.Is(err, cooc.ErrNoDocuments) {
		t.Errorf("a document of one token has no pair: %v", err)
	}
	if _, err := cooc.NewMoments(ctx, short, cooc.Options{MinTokens: -1}); err == nil || !strings.Contains(err.Error(), "-1") {
		t.Errorf("MinTokens −1: %v", err)
	}
}

// The largest counts a corpus may hold neither overflow nor lose the sum.
func TestMomentsHugeCounts(t *testing.T) {
	m := newMoments(t, countsCorpus(t, 3, []map[int]int{{0: math.MaxInt32, 1: math.MaxInt32}, {1: math.MaxInt32, 2: 1}}), cooc.Options{})
	near(t, "sum", vec.Sum(m.Marginals()), 1, 1e-13)
	row := make([]float64, 3)
	m.RowTo(row, 0)
	near(t, "C_00", row[0], 0.125, 1e-9) // half a document, a quarter of its pairs
	near(t, "C_01", row[1], 0.125, 1e-9)
}

// Renaming words permutes rows and columns; the order of documents is nothing.
func TestMomentsEquivariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const words = 50
	docs := randomDocs(rng, 200, words, 2)
	m := newMoments(t, countsCorpus(t, words, docs), cooc.Options{})
	at := rng.Perm(words)
	moved := make([]map[int]int, len(docs))
	for to, from := range rng.Perm(len(docs)) {
		moved[to] = map[int]int{}
		for w, x := range docs[from] {
			moved[to][at[w]] = x
		}
	}
	p := newMoments(t, countsCorpus(t, words, moved), cooc.Options{})
	back := mat.NewDense(words, words, nil)
	row := make([]float64, words)
	for i := range words {
		p.RowTo(row, at[i])
		for j := range words {
			back.Set(i, j, row[at[j]])
		}
		near(t, "marginal", p.Marginals()[at[i]], m.Marginals()[i], 1e-15)
	}
	want, err := cooc.NewDense(back)
	if err != nil {
		t.Fatal(err)
	}
	sameMatrix(t, m, want, 1e-13)
}

func lowRank(t testing.TB, rng *rand.Rand, n, k int, r float64) *cooc.LowRankSparse {
	t.Helper()
	l, err := cooc.NewLowRankSparse(normal(rng, n, k), r, randomSparse(t, rng, n))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The three forms of one matrix, to 1e-12: Yᵀe and YᵀY are sums over all rows
// of terms of both signs.
func TestLowRankSparse(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, c := range []struct {
		n, k int
		r    float64
	}{{1, 1, 0.5}, {5, 2, 0}, {70, 9, -0.3}, {130, 60, 0.1}, {40, 40, 2}} {
		l := lowRank(t, rng, c.n, c.k, c.r)
		a := mat.NewDense(c.n, c.n, nil)
		a.Mul(l.Y(), l.Y().T())
		for i := range c.n {
			for j := range c.n {
				a.Set(i, j, a.At(i, j)+c.r)
			}
			cols, vals := l.E().Row(i)
			for k, j := range cols {
				a.Set(i, int(j), a.At(i, int(j))+vals[k])
			}
		}
		want, err := cooc.NewDense(a)
		if err != nil {
			t.Fatal(err)
		}
		sameMatrix(t, l, want, 1e-12)
		d := golden.Dense(t, l)
		sameMatrix(t, d, want, 1e-12)
		if l.Rank() != c.k || l.Shift() != c.r || l.Dim() != c.n {
			t.Errorf("N, K, r = %d, %d, %g", l.Dim(), l.Rank(), l.Shift())
		}
	}
	// Without Y, and without E.
	e := randomSparse(t, rng, 30)
	l, err := cooc.NewLowRankSparse(nil, 0, e)
	if err != nil {
		t.Fatal(err)
	}
	if l.Y() != nil || l.Rank() != 0 || l.E() != e {
		t.Error("E alone: Y is not nil or E another")
	}
	a := mat.NewDense(30, 30, nil)
	for i := range 30 {
		cols, vals := e.Row(i)
		for k, j := range cols {
			a.Set(i, int(j), vals[k])
		}
	}
	want, err := cooc.NewDense(a)
	if err != nil {
		t.Fatal(err)
	}
	sameMatrix(t, l, want, 1e-13)
	y := normal(rng, 30, 4)
	if l, err = cooc.NewLowRankSparse(y, 0, nil); err != nil {
		t.Fatal(err)
	}
	a.Mul(y, y.T())
	if want, err = cooc.NewDense(a); err != nil {
		t.Fatal(err)
	}
	y.Set(0, 0, math.NaN()) // the caller's own again
	sameMatrix(t, l, want, 1e-12)
}

// A corpus in all its forms; the low-rank one by all eigenpairs.
func TestFormsOfACorpus(t *testing.T) {
	const words = 60
	m := newMoments(t, countsCorpus(t, words, randomDocs(rand.New(rand.NewPCG(4, 4)), 400, words, 2)), cooc.Options{})
	d := golden.Dense(t, m)
	// C = (C + s·I) − s·I, with the first positive definite.
	s := 0.0
	for i := range words {
		s = max(s, 2*m.Marginals()[i])
	}
	sym := d.Matrix()
	ptr, cols, vals := []int{0}, []int32{}, []float64{}
	for i := range words {
		sym.SetSym(i, i, sym.At(i, i)+s)
		cols, vals = append(cols, int32(i)), append(vals, -s)
		ptr = append(ptr, len(cols))
	}
	var chol mat.Cholesky
	if !chol.Factorize(sym) {
		t.Fatal("not positive definite")
	}
	var lt mat.TriDense
	chol.LTo(&lt)
	e, err := cooc.NewSparse(words, ptr, cols, vals)
	if err != nil {
		t.Fatal(err)
	}
	l, err := cooc.NewLowRankSparse(mat.DenseCopyOf(&lt), 0, e)
	if err != nil {
		t.Fatal(err)
	}
	sameMatrix(t, d, m, 1e-13)
	// Here E takes away what is a hundred times larger than C: 1e-11.
	sameMatrix(t, l, d, 1e-11)
}

func TestSubmatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	const words = 60
	m := newMoments(t, countsCorpus(t, words, randomDocs(rng, 300, words, 5)), cooc.Options{})
	d := golden.Dense(t, m)
	idx := []int{0, 3, 4, 10, 11, 12, 30, 47, 58}
	for _, c := range []cooc.Matrix{m, d, lowRank(t, rng, words, 5, 0.1)} {
		got, err := cooc.Submatrix(c, idx)
		if err != nil {
			t.Fatal(err)
		}
		full, a := make([]float64, words), mat.NewDense(len(idx), len(idx), nil)
		for t, i := range idx {
			c.RowTo(full, i)
			for s, j := range idx {
				a.Set(t, s, full[j])
			}
		}
		want, err := cooc.NewDense(a)
		if err != nil {
			t.Fatal(err)
		}
		sameMatrix(t, got, want, 1e-12)
	}
	if _, err := cooc.Submatrix(foreign{m}, idx); err == nil || !strings.Contains(err.Error(), "another package") {
		t.Errorf("submatrix of a matrix of another package: %v", err)
	}
	for _, bad := range [][]int{nil, {-1}, {words}, {3, 2}, {3, 3}} {
		if _, err := cooc.Submatrix(m, bad); err == nil {
			t.Errorf("rows %v were taken", bad)
		}
	}
}

// foreign hides the form of a matrix.
type foreign struct{ m cooc.Matrix }

func (f foreign) Dim() int { return f.m.Dim() }
func (f foreign) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	return f.m.MulTo(ctx, dst, x, workers)
}
func (f foreign) Marginals() []float64       { return f.m.Marginals() }
func (f foreign) Info() corpus.Info          { return f.m.Info() }
func (f foreign) RowTo(dst []float64, i int) { f.m.RowTo(dst, i) }
func (f foreign) RowNorms2(ctx context.Context, workers int) ([]float64, error) {
	return f.m.RowNorms2(ctx, workers)
}

// One worker and many give the same bits, on matrices of several chunks.
func TestWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const words = 400
	docs := randomDocs(rng, 1200, words, 0)
	c := countsCorpus(t, words, docs)
	e := randomSparse(t, rng, words)
	y := normal(rng, words, 20)
	x := map[int]*mat.Dense{1: normal(rng, words, 1), 33: normal(rng, words, 33)}
	type bits struct{ norms, one, block, rows, inner []float64 }
	run := func(make func() cooc.Matrix, workers int) (b bits) {
		m := make()
		q, err := m.RowNorms2(ctx, workers)
		if err != nil {
			t.Fatal(err)
		}
		b.norms = q
		for p, x := range x {
			dst := mat.NewDense(words, p, nil)
			if err := m.MulTo(ctx, dst, x, workers); err != nil {
				t.Fatal(err)
			}
			if p == 1 {
				b.one = dst.RawMatrix().Data
			} else {
				b.block = dst.RawMatrix().Data
			}
		}
		if mm, ok := m.(*cooc.Moments); ok {
			v, err := e.Inner(ctx, mm, workers)
			if err != nil {
				t.Fatal(err)
			}
			b.inner = []float64{v}
			r, err := cooc.NewRows(m)
			if err != nil {
				t.Fatal(err)
			}
			dst := mat.NewDense(words, 1, nil)
			if err := r.MulTo(ctx, dst, x[1], workers); err != nil {
				t.Fatal(err)
			}
			b.rows = dst.RawMatrix().Data
		}
		return b
	}
	for name, make := range map[string]func() cooc.Matrix{
		"moments": func() cooc.Matrix { return newMoments(t, c, cooc.Options{}) },
		"dense": func() cooc.Matrix {
			d := golden.Dense(t, newMoments(t, c, cooc.Options{}))
			return d
		},
		"lowrank": func() cooc.Matrix {
			l, err := cooc.NewLowRankSparse(y, 0.01, e)
			if err != nil {
				t.Fatal(err)
			}
			return l
		},
	} {
		want := run(make, 1)
		for _, w := range []int{0, 2, 3, 8} {
			got := run(make, w)
			at := fmt.Sprintf("%s, %d workers: ", name, w)
			sameBits(t, at+"norms", got.norms, want.norms)
			sameBits(t, at+"product with a vector", got.one, want.one)
			sameBits(t, at+"product with a block", got.block, want.block)
			sameBits(t, at+"normalised product", got.rows, want.rows)
			sameBits(t, at+"inner product", got.inner, want.inner)
		}
	}
}

func TestInner(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, words := range []int{5, 80, 333} {
		t.Run(fmt.Sprint(words, " words"), func(t *testing.T) {
			c := countsCorpus(t, words, randomDocs(rng, 200, words, 1))
			m := newMoments(t, c, cooc.Options{})
			e := randomSparse(t, rng, words)
			d := golden.Dense(t, m)
			want, size := 0.0, 0.0
			for i := range words {
				cols, vals := e.Row(i)
				for k, j := range cols {
					want += vals[k] * d.At(i, int(j))
					size += math.Abs(vals[k] * d.At(i, int(j)))
				}
			}
			got, err := e.Inner(ctx, m, 0)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "⟨E, C⟩", got, want, 1e-13*size)
			// The norms it leaves behind are those of a pass of their own.
			left, err := m.RowNorms2(ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			own, err := newMoments(t, c, cooc.Options{}).RowNorms2(ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			sameBits(t, "row norms", left, own)
			// With these at hand it looks at the entries of E alone, to the same bits.
			for _, workers := range []int{1, 3} {
				again, err := e.Inner(ctx, m, workers)
				if err != nil {
					t.Fatal(err)
				}
				sameBits(t, "⟨E, C⟩ once more", []float64{again}, []float64{got})
			}
		})
	}
	m := newMoments(t, countsCorpus(t, 4, []map[int]int{{0: 3, 1: 3}}), cooc.Options{})
	if _, err := randomSparse(t, rng, 5).Inner(ctx, m, 0); err == nil {
		t.Error("E of another size was taken")
	}
}

func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	const words, never = 80, 4
	m := newMoments(t, countsCorpus(t, words, randomDocs(rng, 500, words, never)), cooc.Options{})
	r, err := cooc.NewRows(m)
	if err != nil {
		t.Fatal(err)
	}
	if n, d := r.Dims(); n != words || d != words {
		t.Fatalf("%d×%d", n, d)
	}
	sameBits(t, "marginals", r.Marginals(), m.Marginals())
	norms, err := r.Norms2(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	a := mat.NewDense(words, words, nil)
	for i := range words {
		row := a.RawRowView(i)
		r.RowTo(row, i)
		sum, q := 0.0, 0.0
		for _, v := range row {
			sum += v
			q += v * v
		}
		want := 1.0
		if m.Marginals()[i] == 0 {
			want = 0
		}
		near(t, fmt.Sprintf("sum of row %d", i), sum, want, 1e-13)
		near(t, fmt.Sprintf("norm of row %d", i), norms[i], q, 1e-13)
	}
	x, got, want := normal(rng, words, 7), mat.NewDense(words, 7, nil), mat.NewDense(words, 7, nil)
	if err := r.MulTo(ctx, got, x, 0); err != nil {
		t.Fatal(err)
	}
	want.Mul(a, x)
	if !mat.EqualApprox(got, want, 1e-13) {
		t.Error("product of the normalised rows")
	}
	idx := []int{7, 3, 77, 0}
	b, full := mat.NewDense(4, 4, nil), make([]float64, words)
	r.BlockTo(b, idx)
	for s, i := range idx {
		m.RowTo(full, i)
		for u, j := range idx {
			if b.At(s, u) != full[j] {
				t.Errorf("block (%d, %d) = %g, want C[%d,%d] = %g", s, u, b.At(s, u), i, j, full[j])
			}
		}
	}
}

func dense(t testing.TB, rows ...[]float64) *cooc.Dense {
	t.Helper()
	a := mat.NewDense(len(rows), len(rows), nil)
	for i, r := range rows {
		a.SetRow(i, r)
	}
	d, err := cooc.NewDense(a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRowsBad(t *testing.T) {
	_, err := cooc.NewRows(dense(t, []float64{1, 0, 0}, []float64{0, 0.5, -0.7}, []float64{0, -0.7, 1}))
	if err == nil || !strings.Contains(err.Error(), "row 1 sums to -0.2,") {
		t.Errorf("negative marginal: %v", err)
	}
	// A row that an iteration left slightly below zero is empty.
	r, err := cooc.NewRows(dense(t, []float64{1, 0, 0}, []float64{0, -4e-9, 0}, []float64{0, 0, 1}))
	if err != nil || !slices.Equal(r.Marginals(), []float64{1, 0, 1}) {
		t.Errorf("a row that sums to -4e-9: %v, want it empty", err)
	}
	_, err = cooc.NewRows(dense(t, []float64{math.MaxFloat64, math.MaxFloat64}, []float64{math.MaxFloat64, 0}))
	if !errors.Is(err, cooc.ErrNotFinite) || !strings.Contains(err.Error(), "row 0") {
		t.Errorf("overflowing marginal: %v", err)
	}
	// A row that cancels up to rounding is empty, whichever sign it has.
	for _, tiny := range []float64{1e-18, -1e-18} {
		r, err := cooc.NewRows(dense(t, []float64{0.5, 0}, []float64{0, tiny}))
		if err != nil {
			t.Fatal(err)
		}
		norms, err := r.Norms2(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		if r.Marginals()[1] != 0 || norms[1] != 0 || norms[0] != 1 {
			t.Errorf("rounding %g: marginals %v, norms %v", tiny, r.Marginals(), norms)
		}
	}
}

// Matrices of which the squared norms underflow are refused, and say what to do.
func TestRowsTooSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 1))
	m := newMoments(t, countsCorpus(t, 20, randomDocs(rng, 60, 20, 0)), cooc.Options{})
	y := normal(rng, 20, 3)
	for i, v := range y.RawMatrix().Data {
		y.RawMatrix().Data[i] = math.Abs(v)
	}
	for _, scale := range []float64{1e-120, 1e-145, 1e-160, 1e-300, 1e-320, 0} {
		a, half := mat.NewDense(20, 20, nil), mat.NewDense(20, 3, nil)
		a.Apply(func(i, j int, v float64) float64 { return v * scale }, golden.Dense(t, m).Matrix())
		half.Scale(math.Sqrt(scale), y)
		d, err := cooc.NewDense(a)
		if err != nil {
			t.Fatal(err)
		}
		low, err := cooc.NewLowRankSparse(half, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, explicit := cooc.NewRows(d)
		_, law := low.LAW(ctx, 0)
		for name, err := range map[string]error{"explicit": explicit, "LAW": law} {
			want := "too small to normalise: divide it by its sum"
			if scale == 0 && name == "LAW" {
				want = "Y is zero"
			} else if scale == 0 {
				want = "every row of the matrix sums to zero"
			}
			switch {
			case scale > 1e-140 && err != nil:
				t.Errorf("%s, %g: %v", name, scale, err)
			case scale < 1e-140 && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%s, %g: %v", name, scale, err)
			}
		}
	}
}

// A type that embeds a form is another form: nothing of its own is passed over.
func TestEmbeddedForm(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 1))
	m := newMoments(t, countsCorpus(t, 20, randomDocs(rng, 60, 20, 0)), cooc.Options{})
	c := tilted{m}
	if err := cooc.Check(ctx, c, 1); !errors.Is(err, cooc.ErrNotSymmetric) && (err == nil || !strings.Contains(err.Error(), "marginal")) {
		t.Errorf("a product that is not that of the form: %v", err)
	}
	with, err := cooc.WithInfo(c, corpus.Info{Form: "tilted"})
	if err != nil {
		t.Fatal(err)
	}
	x, a, b := normal(rng, 20, 2), mat.NewDense(20, 2, nil), mat.NewDense(20, 2, nil)
	if err := errors.Join(with.MulTo(ctx, a, x, 1), m.MulTo(ctx, b, x, 1)); err != nil {
		t.Fatal(err)
	}
	if a.At(0, 0) == b.At(0, 0) || with.Info().Form != "tilted" {
		t.Errorf("WithInfo has lost the form's own product, or the Info: %q", with.Info().Form)
	}
}

type tilted struct{ *cooc.Moments }

func (c tilted) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	err := c.Moments.MulTo(ctx, dst, x, workers)
	dst.Set(0, 0, dst.At(0, 0)+1)
	return err
}

func TestNewDenseBad(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		a    mat.Matrix
		kind error
		want string
	}{
		{"NaN", mat.NewDense(2, 2, []float64{1, 2, nan, 1}), cooc.ErrNotFinite, "entry (1, 0) of the matrix is NaN"},
		{"Inf", mat.NewDense(2, 2, []float64{1, inf, 2, 1}), cooc.ErrNotFinite, "entry (0, 1) of the matrix is +Inf"},
		{"asymmetric", mat.NewDense(3, 3, []float64{1, 2, 3, 2, 1, 4, 3, 4.5, 1}), cooc.ErrNotSymmetric, "entry (2, 1) is 4.5, entry (1, 2) is 4"},
	} {
		_, err := cooc.NewDense(c.a)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	for _, a := range []mat.Matrix{mat.NewDense(2, 3, nil), new(mat.Dense)} {
		if _, err := cooc.NewDense(a); err == nil {
			t.Errorf("%v was taken", a)
		}
	}
	// Mirrored entries that differ by rounding become their mean.
	d, err := cooc.NewDense(mat.NewDense(2, 2, []float64{1, 2, 2 + 1e-12, 1}))
	if err != nil {
		t.Fatal(err)
	}
	if d.At(0, 1) != d.At(1, 0) || math.Abs(d.At(0, 1)-2-0.5e-12) > 1e-15 {
		t.Errorf("mean %v of 2 and 2+1e-12", d.At(0, 1))
	}
}

func TestNewLowRankSparseBad(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	y := normal(rng, 4, 2)
	bad := mat.DenseCopyOf(y)
	bad.Set(2, 1, math.Inf(-1))
	for _, c := range []struct {
		name string
		y    *mat.Dense
		r    float64
		e    *cooc.Sparse
		want string
	}{
		{"nothing", nil, 0, nil, "neither Y nor E"},
		{"sizes", y, 0, randomSparse(t, rng, 5), "Y has 4 rows, E 5"},
		{"Y", bad, 0, nil, "entry (2, 1) of Y is -Inf"},
		{"r", y, math.NaN(), nil, "r is NaN"},
		{"no rows", new(mat.Dense), 0, nil, "without rows"},
	} {
		if _, err := cooc.NewLowRankSparse(c.y, c.r, c.e); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// naiveAsymmetry is the first stored entry by rows without an equal one
// opposite, by looking at all pairs.
func naiveAsymmetry(n int, stored []bool, vals []float64) (i, j int, bad bool) {
	for i := range n {
		for j := range n {
			if stored[i*n+j] && (!stored[j*n+i] || vals[i*n+j] != vals[j*n+i]) {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

func checkNewSparse(t *testing.T, n int, stored []bool, vals []float64) {
	t.Helper()
	ptr, cols, vs := []int{0}, []int32{}, []float64{}
	for i := range n {
		for j := range n {
			if stored[i*n+j] {
				cols, vs = append(cols, int32(j)), append(vs, vals[i*n+j])
			}
		}
		ptr = append(ptr, len(cols))
	}
	s, err := cooc.NewSparse(n, ptr, cols, vs)
	i, j, bad := naiveAsymmetry(n, stored, vals)
	switch {
	case bad && !errors.Is(err, cooc.ErrNotSymmetric):
		t.Fatalf("n = %d, %v, %v: (%d, %d) has no mirror, but the error is %v", n, stored, vals, i, j, err)
	case bad:
		want := fmt.Sprintf("entry (%d, %d) is %g, entry (%d, %d) is %g", i, j, vals[i*n+j], j, i, vals[j*n+i])
		if !stored[j*n+i] {
			want = fmt.Sprintf("entry (%d, %d)", i, j)
		}
		if !strings.Contains(err.Error(), want) {
			t.Fatalf("n = %d, %v, %v: want %s, got %v", n, stored, vals, want, err)
		}
	case err != nil:
		t.Fatalf("n = %d, %v, %v: %v", n, stored, vals, err)
	case s.Dim() != n || s.NNZ() != len(cols):
		t.Fatalf("N = %d, %d nonzeros", s.Dim(), s.NNZ())
	}
}

func fuzzSparse(data []byte) (n int, stored []bool, vals []float64) {
	if len(data) == 0 {
		return 0, nil, nil
	}
	n = int(data[0] % 8)
	stored, vals = make([]bool, n*n), make([]float64, n*n)
	for k, b := range data[1:] {
		if k >= n*n {
			break
		}
		stored[k], vals[k] = b&1 == 1, float64(b>>1%3)
	}
	return n, stored, vals
}

// 20,000 random matrices that are symmetric, or nearly so.
func TestNewSparseSymmetry(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	for range 20000 {
		n := 1 + rng.IntN(7)
		stored, vals := make([]bool, n*n), make([]float64, n*n)
		for i := range n {
			for j := range i + 1 {
				s, v := rng.IntN(2) == 0, float64(rng.IntN(3))
				stored[i*n+j], stored[j*n+i], vals[i*n+j], vals[j*n+i] = s, s, v, v
			}
		}
		for range rng.IntN(3) {
			k := rng.IntN(n * n)
			if rng.IntN(2) == 0 {
				stored[k] = !stored[k]
			} else {
				vals[k] = float64(rng.IntN(3))
			}
		}
		checkNewSparse(t, n, stored, vals)
	}
}

func FuzzNewSparse(f *testing.F) {
	f.Add([]byte{3, 1, 3, 0, 3, 1, 5, 0, 5, 1})
	f.Add([]byte{2, 1, 1, 0, 1})
	f.Add([]byte{7})
	f.Fuzz(func(t *testing.T, data []byte) {
		n, stored, vals := fuzzSparse(data)
		if n > 0 {
			checkNewSparse(t, n, stored, vals)
		}
	})
}

func TestNewSparseBad(t *testing.T) {
	one := []float64{1}
	for _, c := range []struct {
		name string
		n    int
		ptr  []int
		cols []int32
		vals []float64
		want string
	}{
		{"negative n", -1, nil, nil, nil, "-1 rows"},
		{"row starts missing", 2, []int{0, 1}, []int32{0}, one, "2 row starts"},
		{"begins late", 1, []int{1, 1}, []int32{0}, one, "1 rows"},
		{"ends early", 1, []int{0, 0}, []int32{0}, one, "1 columns"},
		{"values missing", 1, []int{0, 1}, []int32{0}, nil, "0 values"},
		{"descending starts", 2, []int{0, 2, 1}, []int32{0}, one, "row 0 starts at 0 and ends at 2"},
		{"back to front", 3, []int{0, 1, 0, 1}, []int32{0}, one, "row 1 starts at 1 and ends at 0"},
		{"column too large", 1, []int{0, 1}, []int32{1}, one, "column 1"},
		{"column negative", 1, []int{0, 1}, []int32{-1}, one, "column -1"},
		{"columns descending", 2, []int{0, 2, 2}, []int32{1, 0}, []float64{1, 1}, "column 0 after 1"},
		{"column twice", 2, []int{0, 2, 2}, []int32{1, 1}, []float64{1, 1}, "column 1 after 1"},
		{"NaN", 1, []int{0, 1}, []int32{0}, []float64{math.NaN()}, "(0, 0)"},
		{"lone last entry", 2, []int{0, 0, 1}, []int32{0}, one, "(1, 0)"},
		{"lone zero", 2, []int{0, 0, 1}, []int32{0}, []float64{0}, "(1, 0)"},
	} {
		if _, err := cooc.NewSparse(c.n, c.ptr, c.cols, c.vals); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if s, err := cooc.NewSparse(0, []int{0}, nil, nil); err != nil || s.NNZ() != 0 {
		t.Errorf("no rows: %v", err)
	}
}

func TestCountPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 13))
	const words = 120
	docs := randomDocs(rng, 400, words, 3)
	c := countsCorpus(t, words, docs)
	for _, chosen := range [][]int{nil, {5}, {7, 3, 7, 110, 0, 119, 3}, rng.Perm(words)} {
		t.Run(fmt.Sprint(len(chosen), " chosen"), func(t *testing.T) {
			p := countPairs(t, c, chosen)
			if p.Docs() != len(docs) {
				t.Errorf("%d documents", p.Docs())
			}
			for w := -1; w <= words; w++ {
				if p.Has(w) != slices.Contains(chosen, w) {
					t.Errorf("Has(%d) = %v", w, p.Has(w))
				}
			}
			for _, i := range chosen {
				d1 := 0
				for _, d := range docs {
					if d[i] > 0 {
						d1++
					}
				}
				if p.D1(i) != d1 {
					t.Errorf("D1[%d] = %d, want %d", i, p.D1(i), d1)
				}
				for _, j := range chosen {
					d2 := 0
					for _, d := range docs {
						if i != j && d[i] > 0 && d[j] > 0 || i == j && d[i] >= 2 {
							d2++
						}
					}
					if p.At(i, j) != d2 {
						t.Errorf("D2[%d,%d] = %d, want %d", i, j, p.At(i, j), d2)
					}
				}
			}
		})
	}
	for _, w := range []int{-1, words} {
		if _, err := cooc.CountPairs(ctx, c, []int{0, w}); err == nil || !strings.Contains(err.Error(), fmt.Sprint(w)) {
			t.Errorf("word %d: %v", w, err)
		}
	}
	many := countsCorpus(t, 40000, []map[int]int{{0: 1}})
	if _, err := cooc.CountPairs(ctx, many, all(40000)); err == nil || !strings.Contains(err.Error(), "40000") {
		t.Errorf("a table of 40000 words: %v", err)
	}
	p := countPairs(t, many, all(3000))
	if p.At(0, 0) != 0 || p.D1(0) != 1 || p.At(2999, 2998) != 0 {
		t.Error("a document of one word")
	}
}

func TestMulShapes(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 14))
	m := newMoments(t, countsCorpus(t, 6, []map[int]int{{0: 3, 1: 3}, {2: 4, 5: 1}}), cooc.Options{})
	d := golden.Dense(t, m)
	for _, c := range []cooc.Matrix{m, d, lowRank(t, rng, 6, 2, 0)} {
		for _, s := range [][4]int{{6, 2, 5, 2}, {5, 2, 6, 2}, {6, 2, 6, 3}} {
			if err := c.MulTo(ctx, mat.NewDense(s[0], s[1], nil), mat.NewDense(s[2], s[3], nil), 0); err == nil {
				t.Errorf("%T: %d×%d into %d×%d was taken", c, s[2], s[3], s[0], s[1])
			}
		}
	}
}

// Work ends when the context does: at once if before, and with at most one
// more look at the context by each worker after it (Chunks asks before every
// chunk; each call of it asks once more at its end).
func TestCancel(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 15))
	const words = 200
	c := countsCorpus(t, words, randomDocs(rng, 900, words, 0))
	e := randomSparse(t, rng, words)
	y := normal(rng, words, 30)
	x, dst := normal(rng, words, 64), mat.NewDense(words, 64, nil)
	moments := func() *cooc.Moments { return newMoments(t, c, cooc.Options{}) }
	low := func() *cooc.LowRankSparse {
		l, err := cooc.NewLowRankSparse(y, 0.1, e)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	d := golden.Dense(t, moments())
	for name, f := range map[string]func(ctx context.Context, workers int) error{
		"moments product": func(ctx context.Context, w int) error { return moments().MulTo(ctx, dst, x, w) },
		"moments norms":   func(ctx context.Context, w int) error { _, err := moments().RowNorms2(ctx, w); return err },
		"moments inner":   func(ctx context.Context, w int) error { _, err := e.Inner(ctx, moments(), w); return err },
		"dense product":   func(ctx context.Context, w int) error { return d.MulTo(ctx, dst, x, w) },
		"low-rank product": func(ctx context.Context, w int) error {
			return low().MulTo(ctx, dst, x, w)
		},
		"low-rank norms": func(ctx context.Context, w int) error { _, err := low().RowNorms2(ctx, w); return err },
		"pairs":          func(ctx context.Context, w int) error { _, err := cooc.CountPairs(ctx, c, all(20)); return err },
		"rows": func(ctx context.Context, w int) error {
			r, err := cooc.NewRows(d)
			if err != nil {
				t.Fatal(err)
			}
			return r.MulTo(ctx, dst, x, w)
		},
	} {
		free := newCountdown(1 << 60)
		if err := f(free, 1); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		total := int(free.looks.Load())
		for _, workers := range []int{1, 3} {
			for _, limit := range []int{0, 1, 2, total / 2, total - 1} {
				if limit < 0 || limit >= total {
					continue
				}
				c := newCountdown(limit)
				if err := f(c, workers); !errors.Is(err, context.Canceled) {
					t.Errorf("%s, %d workers, cancelled after %d of %d chunks: %v", name, workers, limit, total, err)
				}
				if late := c.late(); late > int64(2*workers+1) {
					t.Errorf("%s, %d workers: %d looks at the context after its end", name, workers, late)
				}
			}
		}
	}
	// What was cancelled can be asked for again.
	m := moments()
	if _, err := m.RowNorms2(newCountdown(3), 1); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	got, err := m.RowNorms2(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	want, err := moments().RowNorms2(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	sameBits(t, "norms after a cancelled pass", got, want)
}

// The forms are used from many goroutines at once; the race detector watches.
func TestConcurrent(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 16))
	const words = 150
	m := newMoments(t, countsCorpus(t, words, randomDocs(rng, 300, words, 0)), cooc.Options{})
	e := randomSparse(t, rng, words)
	x := normal(rng, words, 3)
	for _, c := range []cooc.Matrix{m, lowRank(t, rng, words, 4, 0.1)} {
		norms, products := make([][]float64, 8), make([][]float64, 8)
		var wg sync.WaitGroup
		for g := range norms {
			wg.Add(1)
			go func() {
				defer wg.Done()
				if mm, ok := c.(*cooc.Moments); ok && g%2 == 0 {
					if _, err := e.Inner(ctx, mm, 2); err != nil {
						t.Error(err)
					}
				}
				var err error
				if norms[g], err = c.RowNorms2(ctx, 2); err != nil {
					t.Error(err)
				}
				dst := mat.NewDense(words, 3, nil)
				if err := c.MulTo(ctx, dst, x, 2); err != nil {
					t.Error(err)
				}
				products[g] = dst.RawMatrix().Data
			}()
		}
		wg.Wait()
		for g := range norms {
			sameBits(t, "norms", norms[g], norms[0])
			sameBits(t, "product", products[g], products[0])
		}
	}
}

// Words dealt out at random meet as often as by chance, also where few documents are long; those planted in the same
// documents meet more often.
func TestAssociation(t *testing.T) {
	testutil.NotWithRace(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for _, same := range []bool{true, false} {
		var b corpus.Builder
		for d := range 4000 {
			n := make(map[string]int)
			length := 20
			if !same {
				length = 1 + int(20*math.Exp(0.8*rng.NormFloat64()))
			}
			for tokens := 0; tokens < length || same && len(n) < length; tokens++ {
				n[fmt.Sprint(int(math.Exp(rng.Float64()*math.Log(1000))))]++
			}
			if d%50 == 0 && !same {
				n["red"], n["green"] = 1, 1
			}
			if err := b.AddCounts("", "", n); err != nil {
				t.Fatal(err)
			}
		}
		c, err := b.Corpus()
		if err != nil {
			t.Fatal(err)
		}
		p, err := cooc.CountPairs(ctx, c, all(c.NumWords()))
		if err != nil {
			t.Fatal(err)
		}
		docs := float64(c.NumDocs())
		var pairs, mean, far, plain float64
		for i := range c.NumWords() {
			for j := range i {
				if c.Word(i) == "green" && c.Word(j) == "red" || c.Word(j) == "green" && c.Word(i) == "red" {
					if times, deviations := p.Association(i, j); times < 20 || deviations < 20 {
						t.Errorf("planted: %.1f times as often, by %.1f deviations", times, deviations)
					}
					continue
				}
				x, y := float64(p.D1(i))/docs, float64(p.D1(j))/docs
				times, deviations := p.Association(i, j)
				if same {
					ratio := float64(p.At(i, j)) / (docs * x * y)
					z := docs * x * y * (ratio - 1) / math.Sqrt(docs*x*y*(1-x)*(1-y))
					if math.Abs(times-ratio) > 1e-4*ratio || math.Abs(deviations-z) > 0.05 { // 1/n is added up in float32
						t.Fatalf("documents of equally many words: %g times, %g deviations, want %g and %g", times, deviations, ratio, z)
					}
				}
				if p.D1(i) > 50 && p.D1(j) > 50 && p.D1(i) < 1000 && p.D1(j) < 1000 {
					pairs, mean, plain = pairs+1, mean+times, plain+float64(p.At(i, j))/(docs*x*y)
					if deviations > 4 {
						far++
					}
				}
			}
		}
		mean, plain = mean/pairs, plain/pairs
		t.Logf("same length %v: pairs meet %.2f times as often as by chance, %.2f without lengths; %.4f by 4 deviations more", same, mean, plain, far/pairs)
		if math.Abs(mean-1) > 0.1 || far > 0.003*pairs {
			t.Errorf("same length %v: pairs meet %.2f times as often as by chance, %.4f by 4 deviations more", same, mean, far/pairs)
		}
	}
}
