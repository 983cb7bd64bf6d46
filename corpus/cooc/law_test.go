package cooc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
)

func factored(t testing.TB, y *mat.Dense, r float64) *cooc.LowRankSparse {
	t.Helper()
	m, err := cooc.NewLowRankSparse(y, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// lowRankRows are what LowRankSparse.LAW returns.
type lowRankRows interface {
	cooc.Rows
	Clipped() int
}

func newLAW(t testing.TB, y *mat.Dense, r float64) lowRankRows {
	t.Helper()
	l, err := factored(t, y, r).LAW(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	return l.(lowRankRows)
}

func explicitly(t testing.TB, a mat.Matrix) *cooc.Dense {
	t.Helper()
	d, err := cooc.NewDense(a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// explicit returns YYᵀ + r.
func explicit(y *mat.Dense, r float64) *mat.Dense {
	var c mat.Dense
	c.Mul(y, y.T())
	c.Apply(func(_, _ int, v float64) float64 { return v + r }, &c)
	return &c
}

// inner returns the inner products of all rows.
func inner(r cooc.Rows) *mat.Dense {
	n, d := r.Dims()
	x := mat.NewDense(n, d, nil)
	for i := range n {
		r.RowTo(x.RawRowView(i), i)
	}
	var g mat.Dense
	g.Mul(x, x.T())
	return &g
}

func sameDense(t *testing.T, name string, got, want mat.Matrix, tol float64) {
	t.Helper()
	n, k := want.Dims()
	if a, b := got.Dims(); a != n || b != k {
		t.Fatalf("%s is %d×%d, want %d×%d", name, a, b, n, k)
	}
	for i := range n {
		for j := range k {
			if !(math.Abs(got.At(i, j)-want.At(i, j)) <= tol) {
				t.Fatalf("%s: entry (%d, %d) is %.17g, want %.17g (tolerance %g)", name, i, j, got.At(i, j), want.At(i, j), tol)
			}
		}
	}
}

// Where YYᵀ + r ≥ 0 the rows have all inner products of C̄, and anchors, B and A
// are those of the explicit matrix: 1e-9 is asked, 1e-11 is what is reached.
func TestLAWIsTheGenericPath(t *testing.T) {
	for _, k := range []int{1, 2, 7, 20} {
		for _, r := range []float64{0, 1e-6} {
			t.Run(fmt.Sprintf("K=%d, r=%g", k, r), func(t *testing.T) {
				p := testutil.NewPlanted(240, max(k, 2), 0.6, uint64(k))
				y := p.Y()
				if k == 1 {
					y = mat.DenseCopyOf(y.Slice(0, p.N, 0, 1))
					y.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) + 1e-4 }, y)
				}
				c := explicit(y, r)
				generic, err := cooc.NewRows(explicitly(t, c))
				if err != nil {
					t.Fatal(err)
				}
				law := newLAW(t, y, r)
				dims := k
				if r > 0 {
					dims++
				}
				if n, d := law.Dims(); n != p.N || d != dims {
					t.Errorf("%d×%d, want %d×%d", n, d, p.N, dims)
				}
				want := inner(generic)
				sameDense(t, "inner products", inner(law), want, 1e-13)
				norms, err := law.Norms2(ctx, 0)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range norms {
					near(t, "norm", v, want.At(i, i), 1e-13)
					near(t, "marginal", law.Marginals()[i], generic.Marginals()[i], 1e-13)
				}
				idx := []int{p.N - 1, 3, 17, 0}
				a, b := mat.NewDense(4, 4, nil), mat.NewDense(4, 4, nil)
				law.BlockTo(a, idx)
				generic.BlockTo(b, idx)
				sameDense(t, "block", a, b, 1e-15)

				ga, err := anchor.QR{}.Find(ctx, generic, dims, anchor.Options{})
				if err != nil {
					t.Fatal(err)
				}
				la, err := anchor.QR{}.Find(ctx, law, dims, anchor.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(la.Anchors, ga.Anchors) {
					t.Fatalf("anchors %v, want %v", la.Anchors, ga.Anchors)
				}
				for i, v := range ga.Norms {
					near(t, "anchor norm", la.Norms[i], v, 1e-11)
				}
				lr, err := recovery.SCLS{}.Recover(ctx, law, la.Anchors, recovery.Options{})
				if err != nil {
					t.Fatal(err)
				}
				gr, err := recovery.SCLS{}.Recover(ctx, generic, ga.Anchors, recovery.Options{})
				if err != nil {
					t.Fatal(err)
				}
				sameDense(t, "B", lr.B, gr.B, 1e-9*mat.Max(gr.B))
				sameDense(t, "A", lr.A, gr.A, 1e-9*mat.Max(gr.A))
				if rows, n := law.Repaired(), law.Clipped(); n != 0 || len(rows) != 0 {
					t.Errorf("%d entries clipped in %v", n, rows)
				}
			})
		}
	}
}

// clippedNaive computes the rows from their definition, with explicit matrices: E in
// the rows and columns idx, projected on the columns of Y.
func clippedNaive(y *mat.Dense, r float64, idx []int) (gram *mat.Dense, d []float64, c *mat.Dense, clipped int) {
	n, k := y.Dims()
	basis := y
	if r > 0 {
		basis = mat.NewDense(n, k+1, nil)
		for i := range n {
			basis.SetRow(i, append(slices.Clone(y.RawRowView(i)), math.Sqrt(r)))
		}
	}
	c = explicit(y, r)
	e := mat.NewDense(n, n, nil)
	in := make([]bool, n)
	for _, i := range idx {
		in[i] = true
	}
	for i := range n {
		for j := range n {
			if (in[i] || in[j]) && c.At(i, j) < 0 {
				e.Set(i, j, -c.At(i, j))
				clipped++
			}
		}
	}
	var svd mat.SVD
	svd.Factorize(basis, mat.SVDThin)
	var u, q mat.Dense
	svd.UTo(&u)
	rank := 0
	for _, s := range svd.Values(nil) {
		if s > 1e-12*svd.Values(nil)[0] {
			rank++
		}
	}
	q.CloneFrom(u.Slice(0, n, 0, rank))
	var sum, x mat.Dense
	sum.Add(c, e)
	x.Mul(&sum, &q)
	d = make([]float64, n)
	for i := range n {
		for j := range n {
			d[i] += sum.At(i, j)
		}
		for j := range rank {
			x.Set(i, j, x.At(i, j)/d[i])
		}
	}
	gram = new(mat.Dense)
	gram.Mul(&x, x.T())
	return gram, d, &sum, clipped
}

// negativeRows makes a factor of which some rows of YYᵀ sum to less than zero, and
// some to much less than their length.
func negativeRows(rng *rand.Rand, n, k int) *mat.Dense {
	y := mat.NewDense(n, k, nil)
	for i := range n {
		row := y.RawRowView(i)
		for j := range row {
			row[j] = 0.02 * rng.NormFloat64() / math.Sqrt(float64(n))
		}
		row[0] += rng.Float64() / float64(n) * 20
		row[1] += float64(1-2*(i%2)) * 0.4 / math.Sqrt(float64(n))
		if i%9 == 4 {
			row[0] = -0.001 * rng.Float64()
		}
		if i%9 == 7 {
			row[0] = 0.03 / float64(n) * (1 + rng.Float64())
		}
	}
	return y
}

// Against the definition: rows that are wrong by themselves,
// then the anchors' too, in more than one wave and more than one chunk.
func TestLAWRepairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	for _, c := range []struct {
		n, k, anchors int
		r             float64
	}{{60, 4, 4, 0}, {60, 4, 4, 1e-9}, {1300, 3, 600, 0}} {
		if testutil.Race && c.n > 1000 {
			continue // explicit matrices
		}
		t.Run(fmt.Sprintf("N=%d, r=%g", c.n, c.r), func(t *testing.T) {
			y := negativeRows(rng, c.n, c.k)
			p := explicit(y, c.r)
			var bad []int
			negative := 0
			for i := range c.n {
				sum, q := 0.0, 0.0
				for _, v := range p.RawRowView(i) {
					sum += v
					q += v * v
				}
				if math.Sqrt(q) > sum*(1+1e-9) {
					bad = append(bad, i)
				}
				if sum < 0 {
					negative++
				}
			}
			law := newLAW(t, y, c.r)
			rows, clipped := law.Repaired(), law.Clipped()
			if !slices.Equal(rows, bad) || negative == 0 || len(bad) == negative && c.k == 4 {
				t.Fatalf("%d rows clipped, want %d, of which %d negative", len(rows), len(bad), negative)
			}
			check := func(law lowRankRows, idx []int, clipped int) {
				t.Helper()
				gram, d, sum, want := clippedNaive(y, c.r, idx)
				if clipped != want {
					t.Errorf("%d entries clipped, want %d", clipped, want)
				}
				// d is divided by: relative to it, except what cancels.
				for i, v := range law.Marginals() {
					near(t, "d", v, d[i], 1e-13)
				}
				sameDense(t, "inner products", inner(law), gram, 1e-9)
				some := []int{idx[0], (idx[0] + 1) % c.n, idx[len(idx)-1], 5}
				b := mat.NewDense(4, 4, nil)
				law.BlockTo(b, some)
				for a, i := range some {
					for o, j := range some {
						near(t, "block", b.At(a, o), sum.At(i, j), 1e-15)
					}
				}
				for i, v := range law.Marginals() {
					if v <= 0 {
						t.Errorf("row %d sums to %g", i, v)
					}
				}
			}
			check(law, bad, clipped)
			anchors := rng.Perm(c.n)[:c.anchors]
			before := slices.Clone(law.Marginals())
			with, err := law.WithAnchors(ctx, anchors, 0)
			if err != nil {
				t.Fatal(err)
			}
			all := slices.Concat(bad, anchors)
			slices.Sort(all)
			all = slices.Compact(all)
			rows, clipped = with.Repaired(), with.(lowRankRows).Clipped()
			if !slices.Equal(rows, all) {
				t.Errorf("rows %v clipped, want %v", rows, all)
			}
			check(with.(lowRankRows), all, clipped)
			sameBits(t, "the receiver", before, law.Marginals())
		})
	}
}

// Recovery passes its anchors to the rows, and uses the sums that change by that.
func TestRecoveryRepairsAnchors(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	p := testutil.NewPlanted(120, 5, 0.3, 9)
	y := p.Y()
	for i := range p.N {
		for j, v := range y.RawRowView(i) {
			y.Set(i, j, v+2e-3*rng.NormFloat64()*v)
		}
	}
	// Two anchors that would meet less often than never.
	a, w := y.RawRowView(p.Anchors[0]), y.RawRowView(p.Anchors[2])
	aw, aa := 0.0, 0.0
	for j, v := range a {
		aw, aa = aw+v*w[j], aa+v*v
	}
	for j, v := range a {
		w[j] -= 1.1 * aw / aa * v
	}
	law := newLAW(t, y, 0)
	res, err := recovery.SCLS{}.Recover(ctx, law, p.Anchors, recovery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	with, err := law.WithAnchors(ctx, p.Anchors, 0)
	if err != nil {
		t.Fatal(err)
	}
	if with.(lowRankRows).Clipped() == 0 {
		t.Fatal("nothing was to be clipped")
	}
	sameBits(t, "marginals", res.Marginals, with.Marginals())
	again, err := recovery.SCLS{}.Recover(ctx, with, p.Anchors, recovery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sameBits(t, "B", res.B.RawMatrix().Data, again.B.RawMatrix().Data)
	sameBits(t, "A", res.A.RawMatrix().Data, again.A.RawMatrix().Data)
	for i := range 5 {
		for j := range 5 {
			if res.A.At(i, j) < 0 {
				t.Errorf("A[%d,%d] = %g", i, j, res.A.At(i, j))
			}
		}
	}
}

// A Y of deficient rank, with empty rows, wide, or of one row.
func TestLAWShapes(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 1))
	y := mat.NewDense(50, 6, nil)
	for i := range 48 { // two empty rows
		for j := range 3 {
			v := rng.Float64()
			y.Set(i, j, v)
			y.Set(i, 5-j, v) // each twice
		}
	}
	law := newLAW(t, y, 0)
	if n, d := law.Dims(); n != 50 || d != 3 {
		t.Errorf("%d×%d, want 50×3", n, d)
	}
	generic, err := cooc.NewRows(explicitly(t, explicit(y, 0)))
	if err != nil {
		t.Fatal(err)
	}
	sameDense(t, "inner products", inner(law), inner(generic), 1e-13)
	if m := law.Marginals(); m[48] != 0 || m[49] != 0 || m[0] <= 0 {
		t.Errorf("marginals of empty rows %v", m[48:])
	}
	if rows := law.Repaired(); len(rows) != 0 {
		t.Errorf("%v clipped", rows)
	}
	wide := mat.NewDense(3, 5, nil)
	wide.Apply(func(_, _ int, _ float64) float64 { return rng.Float64() }, wide)
	law = newLAW(t, wide, 0)
	generic, err = cooc.NewRows(explicitly(t, explicit(wide, 0)))
	if err != nil {
		t.Fatal(err)
	}
	sameDense(t, "inner products", inner(law), inner(generic), 1e-12)
	one := newLAW(t, mat.NewDense(1, 1, []float64{-3}), 0)
	if n, d := one.Dims(); n != 1 || d != 1 || one.Marginals()[0] != 9 {
		t.Errorf("%d×%d, %v", n, d, one.Marginals())
	}
}

// With an E or r < 0 there are explicit rows only.
func TestLAWNeedsLowRank(t *testing.T) {
	y := mat.NewDense(4, 2, []float64{1, 0, 1, 1, 0, 1, 2, 1})
	e, err := cooc.NewSparse(4, []int{0, 1, 1, 1, 1}, []int32{0}, []float64{2})
	if err != nil {
		t.Fatal(err)
	}
	withE, err := cooc.NewLowRankSparse(y, 0, e)
	if err != nil {
		t.Fatal(err)
	}
	onlyE, err := cooc.NewLowRankSparse(nil, 0, e)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*cooc.LowRankSparse{withE, onlyE, factored(t, y, -0.01)} {
		r, err := cooc.NewRows(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, d := r.Dims(); d != 4 {
			t.Errorf("rows in %d dimensions", d)
		}
		if _, err := m.LAW(ctx, 0); err == nil || !strings.HasPrefix(err.Error(), "cooc: ") {
			t.Errorf("LAW: %v", err)
		}
	}
}

func TestLAWBadInput(t *testing.T) {
	if _, err := factored(t, mat.NewDense(3, 2, nil), 0).LAW(ctx, 0); err == nil || !strings.Contains(err.Error(), "Y is zero") {
		t.Errorf("zero Y: %v", err)
	}
	big := mat.NewDense(2, 1, []float64{1e200, 1e200})
	if _, err := cooc.NewRows(factored(t, big, 0)); !errors.Is(err, cooc.ErrNotFinite) {
		t.Errorf("overflow: %v", err)
	}
	law := newLAW(t, negativeRows(rand.New(rand.NewPCG(1, 2)), 40, 3), 0)
	for _, a := range [][]int{{-1}, {40}} {
		if _, err := law.WithAnchors(ctx, a, 0); err == nil || !strings.Contains(err.Error(), "not in [0, 40)") {
			t.Errorf("anchors %v: %v", a, err)
		}
	}
	if err := law.MulTo(ctx, mat.NewDense(40, 2, nil), mat.NewDense(4, 2, nil), 0); err == nil {
		t.Error("a product of the wrong shape went through")
	}
	c, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := law.WithAnchors(c, []int{0}, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := factored(t, negativeRows(rand.New(rand.NewPCG(1, 2)), 40, 3), 0).LAW(c, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestLAWSameBitsForAnyWorkers(t *testing.T) {
	y := negativeRows(rand.New(rand.NewPCG(15, 1)), 2500, 5)
	var first []float64
	for _, w := range []int{1, 2, 3, 8} {
		if testutil.Race && w != 3 {
			continue // results are compared without it
		}
		t.Run(fmt.Sprint(w, " workers"), func(t *testing.T) {
			law, err := factored(t, y, 0).LAW(ctx, w)
			if err != nil {
				t.Fatal(err)
			}
			with, err := law.WithAnchors(ctx, []int{3, 1000, 2400}, w)
			if err != nil {
				t.Fatal(err)
			}
			n, d := with.Dims()
			x, dst := mat.NewDense(d, 3, nil), mat.NewDense(n, 3, nil)
			x.Apply(func(i, j int, _ float64) float64 { return float64(i - j) }, x)
			if err := with.MulTo(ctx, dst, x, w); err != nil {
				t.Fatal(err)
			}
			norms, err := with.Norms2(ctx, w)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Concat(with.Marginals(), norms, dst.RawMatrix().Data)
			if first == nil {
				first = got
			}
			sameBits(t, "marginals, norms and products", got, first)
		})
	}
}

// A row that had to be repaired is no anchor.
func TestMendedRowsAreNoAnchors(t *testing.T) {
	law := newLAW(t, negativeRows(rand.New(rand.NewPCG(12, 1)), 60, 4), 0)
	repaired := law.Repaired()
	if len(repaired) == 0 {
		t.Fatal("no row was repaired")
	}
	for _, f := range []anchor.Finder{anchor.QR{}, anchor.Projected{}, anchor.SPA{}} {
		res, err := f.Find(ctx, law, 4, anchor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range res.Anchors {
			if slices.Contains(repaired, s) {
				t.Errorf("%v: the repaired row %d is an anchor", f, s)
			}
		}
		if res.Candidates != 60-len(repaired) {
			t.Errorf("%v: %d candidates; want %d", f, res.Candidates, 60-len(repaired))
		}
	}
}
