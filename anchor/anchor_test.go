package anchor_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

var ctx = context.Background()

func rowsOf(t testing.TB, c cooc.Matrix) cooc.Rows {
	t.Helper()
	r, err := cooc.NewRows(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func dense(t testing.TB, a mat.Matrix) *cooc.Dense {
	t.Helper()
	d, err := cooc.NewDense(a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func find(t testing.TB, q anchor.QR, r cooc.Rows, k int, opt anchor.Options) *anchor.Result {
	t.Helper()
	res, err := q.Find(ctx, r, k, opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// points is a Rows of given points; their marginals are 1 and C is not known.
type points struct{ a *mat.Dense }

func (p points) Dims() (int, int)    { return p.a.Dims() }
func (p points) Explicit() bool      { return false }
func (p points) Matrix() cooc.Matrix { panic("not needed") }
func (p points) Repaired() []int     { return nil }

func (p points) WithAnchors(context.Context, []int, int) (cooc.Rows, error) {
	return p, nil
}
func (p points) Norms2(ctx context.Context, _ int) ([]float64, error) {
	n, _ := p.a.Dims()
	q := make([]float64, n)
	for i := range q {
		for _, v := range p.a.RawRowView(i) {
			q[i] += v * v
		}
	}
	return q, ctx.Err()
}
func (p points) RowTo(dst []float64, i int) { copy(dst, p.a.RawRowView(i)) }
func (p points) MulTo(ctx context.Context, dst, x *mat.Dense, _ int) error {
	dst.Mul(p.a, x)
	return ctx.Err()
}
func (p points) Marginals() []float64      { panic("not needed") }
func (p points) BlockTo(*mat.Dense, []int) { panic("not needed") }

// The anchors of a separable model are the planted ones, whatever the form
// and however strongly the topics are correlated.
func TestPlanted(t *testing.T) {
	testutil.NotWithRace(t)
	for _, k := range []int{2, 3, 10, 40} {
		for _, correlation := range []float64{0, 0.9} {
			m := testutil.NewPlanted(4*k+30, k, correlation, uint64(k))
			low, err := cooc.NewLowRankSparse(m.Y(), 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			var first *anchor.Result
			for _, c := range []cooc.Matrix{dense(t, m.C), low} {
				r := find(t, anchor.QR{}, rowsOf(t, c), k, anchor.Options{})
				if _, err := m.Topics(r.Anchors); err != nil {
					t.Errorf("K = %d, correlation %g: %v", k, correlation, err)
				}
				if r.Candidates != m.N {
					t.Errorf("%d candidates of %d words", r.Candidates, m.N)
				}
				if first == nil {
					first = r
				} else if !slices.Equal(r.Anchors, first.Anchors) {
					t.Errorf("K = %d: the dense form gives %v, the factor %v", k, first.Anchors, r.Anchors)
				}
			}
		}
	}
}

// pivotedQR is modified Gram–Schmidt on explicit rows: the residuals of all
// rows are kept, and the longest is the next anchor.
func pivotedQR(a *mat.Dense, k int) (anchors []int, norms []float64) {
	res := mat.DenseCopyOf(a)
	n, _ := a.Dims()
	for range k {
		best, s := -1.0, 0
		for i := range n {
			if v := mat.Norm(res.RowView(i), 2); v > best {
				best, s = v, i
			}
		}
		anchors, norms = append(anchors, s), append(norms, best)
		q := mat.VecDenseCopyOf(res.RowView(s))
		q.ScaleVec(1/best, q)
		for range 2 {
			for i := range n {
				row := res.RowView(i).(*mat.VecDense)
				row.AddScaledVec(row, -mat.Dot(row, q), q)
			}
		}
	}
	return anchors, norms
}

// Against explicit residuals. The norms come from re-orthogonalised rows and
// agree to 1e-13 of the first. Random points leave no near-ties.
func TestAgainstExplicit(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n, d := 20+rng.IntN(80), 5+rng.IntN(40)
		a := mat.NewDense(n, d, nil)
		for i := range n {
			for j := range d {
				a.Set(i, j, rng.ExpFloat64())
			}
		}
		k := min(n, d)
		want, norms := pivotedQR(a, k)
		r := find(t, anchor.QR{}, points{a}, k, anchor.Options{})
		if !slices.Equal(r.Anchors, want) {
			t.Fatalf("seed %d: anchors %v, want %v", seed, r.Anchors, want)
		}
		for i, v := range r.Norms {
			if math.Abs(v-norms[i]) > 1e-13*norms[0] {
				t.Errorf("seed %d: r_%d = %.17g, want %.17g", seed, i+1, v, norms[i])
			}
			if i > 0 && v > r.Norms[i-1]*(1+1e-9) {
				t.Errorf("seed %d: r_%d = %g is more than r_%d = %g", seed, i+1, v, i, r.Norms[i-1])
			}
		}
	}
}

func synth(t testing.TB) cooc.Rows {
	t.Helper()
	m, err := cooc.NewMoments(ctx, golden.Corpus(t, "synth"), cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rowsOf(t, m)
}

// The anchors and norms for K topics are the first K of those for more, to the
// bit; on any number of workers.
func TestNestedAndWorkers(t *testing.T) {
	r := synth(t)
	all := find(t, anchor.QR{}, r, 30, anchor.Options{Workers: 1})
	ks, workers := []int{1, 2, 5, 29}, []int{0, 1, 2, 3, 8}
	if testutil.Race {
		ks, workers = ks[2:3], workers[4:]
	}
	for _, k := range ks {
		for _, w := range workers {
			part := find(t, anchor.QR{}, r, k, anchor.Options{Workers: w})
			if !slices.Equal(part.Anchors, all.Anchors[:k]) || !slices.Equal(part.Norms, all.Norms[:k]) {
				t.Errorf("K = %d, %d workers: %v, want %v", k, w, part.Anchors, all.Anchors[:k])
			}
		}
	}
}

func TestEquivariance(t *testing.T) {
	m := testutil.NewPlanted(80, 8, 0.5, 11)
	rng := rand.New(rand.NewPCG(1, 1))
	a := mat.NewDense(80, 80, nil) // noise, so that the rank is full
	for i := range 80 {
		for j := range i + 1 {
			v := m.C.At(i, j) * (1 + 0.3*rng.Float64())
			a.Set(i, j, v)
			a.Set(j, i, v)
		}
	}
	want := find(t, anchor.QR{}, rowsOf(t, dense(t, a)), 20, anchor.Options{})
	order := rng.Perm(80) // new number → old
	p := mat.NewDense(80, 80, nil)
	for i, oi := range order {
		for j, oj := range order {
			p.Set(i, j, a.At(oi, oj))
		}
	}
	got := find(t, anchor.QR{}, rowsOf(t, dense(t, p)), 20, anchor.Options{})
	for k, w := range got.Anchors {
		if order[w] != want.Anchors[k] {
			t.Fatalf("anchor %d is word %d, after renaming %d", k, want.Anchors[k], order[w])
		}
		if math.Abs(got.Norms[k]-want.Norms[k]) > 1e-13*want.Norms[0] {
			t.Errorf("r_%d = %g, after renaming %g", k+1, want.Norms[k], got.Norms[k])
		}
	}
}

// Equal rows, to the bit or to rounding: the lowest number is taken, and its
// twins no more.
func TestTies(t *testing.T) {
	base := [][]float64{{0.2, 0.3, 0.5, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}, {0.3, 0.3, 0.2, 0.2}, {0, 0.9, 0.1, 0}}
	twins := []int{0, 3, 4, 1, 2, 2, 1, 4, 0, 2} // which row each word has
	for _, wobble := range []float64{0, 1e-14} {
		a := mat.NewDense(len(twins), 4, nil)
		for i, b := range twins {
			for j, v := range base[b] {
				// The later of the twins are longer by rounding.
				a.Set(i, j, v*(1+wobble*float64(i)))
			}
		}
		r := find(t, anchor.QR{}, points{a}, 3, anchor.Options{})
		if want := []int{3, 4, 2}; !slices.Equal(r.Anchors, want) {
			t.Errorf("wobble %g: anchors %v, want %v", wobble, r.Anchors, want)
		}
	}
	// A difference above 1e-9 of the square is none.
	a := mat.NewDense(2, 2, []float64{1, 0, 1 + 1e-8, 0})
	if r := find(t, anchor.QR{}, points{a}, 1, anchor.Options{}); r.Anchors[0] != 1 {
		t.Error("a row longer by 1e-8 was not preferred")
	}
}

// Late pivots are what is left of long rows; there the rounding of the squared
// norms must not decide between twins.
func TestLateTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const eps = 1e-5 // of the first norm; its square is 1e-10
	for range 200 {
		// Three far corners, and twins a little out of their span.
		corner := mat.NewDense(3, 6, nil)
		for i := range 3 {
			for j := range 5 {
				corner.Set(i, j, rng.Float64())
			}
		}
		a := mat.NewDense(8, 6, nil)
		for i := range 3 {
			a.SetRow(5+i, corner.RawRowView(i))
		}
		mix := make([]float64, 6)
		for i, w := range []float64{0.3, 0.3, 0.4} {
			for j, v := range corner.RawRowView(i) {
				mix[j] += w * v
			}
		}
		mix[5] = eps
		for i := range 5 {
			for j, v := range mix {
				a.Set(i, j, v*(1+4e-16*float64(rng.IntN(3)-1)))
			}
		}
		r := find(t, anchor.QR{}, points{a}, 4, anchor.Options{})
		if r.Anchors[3] != 0 {
			t.Fatalf("anchors %v: of the twins 0…4 the first is to be taken", r.Anchors)
		}
		if math.Abs(r.Norms[3]-eps) > 1e-9*eps {
			t.Fatalf("r_4 = %g, want %g", r.Norms[3], eps)
		}
	}
}

func TestCandidates(t *testing.T) {
	m := testutil.NewPlanted(60, 6, 0.3, 5)
	r := rowsOf(t, dense(t, m.C))
	df := make([]int, 60)
	for i := range df {
		df[i] = 100
	}
	all := find(t, anchor.QR{}, r, 6, anchor.Options{})
	rare := all.Anchors[2]
	df[rare] = 6
	for _, q := range []anchor.QR{{MinDocs: 7}, {MinDocFraction: 0.07}, {MinDocs: 7, MinDocFraction: 0.01}, {MinDocs: 1, MinDocFraction: 0.07}} {
		res := find(t, q, r, 5, anchor.Options{DocFrequencies: df, Docs: 100})
		if slices.Contains(res.Anchors, rare) || res.Candidates != 59 {
			t.Errorf("%v: anchors %v of %d candidates, with word %d in 6 documents", q, res.Anchors, res.Candidates, rare)
		}
		if !slices.Equal(res.Anchors[:2], all.Anchors[:2]) {
			t.Errorf("%v: anchors %v, without the bound %v", q, res.Anchors, all.Anchors)
		}
	}
	// Exactly at the bound is enough: 7 % of 100 are 7, though 0.07·100 > 7.
	df[rare] = 7
	for _, q := range []anchor.QR{{MinDocs: 7}, {MinDocFraction: 0.07}} {
		if res := find(t, q, r, 6, anchor.Options{DocFrequencies: df, Docs: 100}); !slices.Equal(res.Anchors, all.Anchors) {
			t.Errorf("%v: anchors %v, want %v", q, res.Anchors, all.Anchors)
		}
	}

	for i := range df {
		df[i] = i // only 56 … 59 are in 56 documents
	}
	opt := anchor.Options{DocFrequencies: df, Docs: 100}
	_, err := anchor.QR{MinDocs: 56}.Find(ctx, r, 6, opt)
	var ce *anchor.CandidateError
	if !errors.As(err, &ce) || *ce != (anchor.CandidateError{Candidates: 4, K: 6, MinDocs: 56}) {
		t.Errorf("4 candidates for 6 anchors: %v", err)
	}
	res := find(t, anchor.QR{MinDocs: 56, AllowFewer: true}, r, 6, opt)
	if len(res.Anchors) != 4 || len(res.Norms) != 4 || res.Candidates != 4 {
		t.Errorf("4 candidates for up to 6 anchors: %+v", res)
	}
	if _, err := (anchor.QR{MinDocs: 60, AllowFewer: true}).Find(ctx, r, 6, opt); !errors.As(err, &ce) || ce.Candidates != 0 {
		t.Errorf("no candidate: %v", err)
	}
}

// By default candidates are in 1.1·max(M, 2000)/K documents, or among the words that most have.
func TestUsualCandidates(t *testing.T) {
	testutil.NotWithRace(t)
	m := testutil.NewPlanted(300, 6, 0.3, 5)
	r := rowsOf(t, dense(t, m.C))
	df := make([]int, 300)
	for i := range df {
		df[i] = 10 * (i + 1)
	}
	level := make([]int, 300)
	for i := range level {
		level[i] = 7
	}
	for _, c := range []struct {
		name     string
		k        int
		opt      anchor.Options
		q        anchor.QR
		want     int
		excluded int
	}{
		{"M/K", 6, anchor.Options{DocFrequencies: df, Docs: 6000}, anchor.QR{}, 300 - 109, 108},                      // 1100 documents
		{"rounded up", 6, anchor.Options{DocFrequencies: df, Docs: 6001}, anchor.QR{}, 300 - 110, 109},               // 1100.2
		{"a small corpus", 2, anchor.Options{DocFrequencies: df, Docs: 1200}, anchor.QR{}, 191, 108},                 // 1100, of 2,000
		{"most documents", 6, anchor.Options{DocFrequencies: df, Docs: 1e6}, anchor.QR{}, 120, 179},                  // 10·12 words
		{"any", 6, anchor.Options{DocFrequencies: df, Docs: 6000}, anchor.QR{MinDocs: 1}, 300, -1},                   // by name
		{"any, unknown", 6, anchor.Options{}, anchor.QR{MinDocs: 1}, 300, -1},                                        // needs no frequencies
		{"frequencies unknown", 6, anchor.Options{Docs: 6000}, anchor.QR{}, 300, -1},                                 //
		{"documents unknown", 6, anchor.Options{DocFrequencies: df}, anchor.QR{}, 300, -1},                           //
		{"a fraction", 6, anchor.Options{DocFrequencies: df, Docs: 6000}, anchor.QR{MinDocFraction: 0.25}, 151, 148}, // 1500
		{"all in as many", 6, anchor.Options{DocFrequencies: level, Docs: 6000}, anchor.QR{}, 300, -1},
	} {
		res, err := c.q.Find(ctx, r, c.k, c.opt)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if res.Candidates != c.want || slices.Min(res.Anchors) <= c.excluded {
			t.Errorf("%s: %d candidates, want %d; anchors %v", c.name, res.Candidates, c.want, res.Anchors)
		}
	}
	// Other finders have the same candidates.
	opt := anchor.Options{DocFrequencies: df, Docs: 6000}
	for _, f := range []anchor.Finder{anchor.Projected{}, anchor.SPA{}, anchor.SNPA{}, anchor.XRAY{}, anchor.Hull{Dims: 5}, anchor.Hull{Dims: 5, All: true}} {
		res, err := f.Find(ctx, r, 6, opt)
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		if res.Candidates != 191 {
			t.Errorf("%v: %d candidates", f, res.Candidates)
		}
	}
}

func TestBad(t *testing.T) {
	m := testutil.NewPlanted(30, 3, 0, 6)
	r := rowsOf(t, dense(t, m.C))
	df := make([]int, 30)
	for _, c := range []struct {
		q    anchor.QR
		k    int
		opt  anchor.Options
		want string
	}{
		{anchor.QR{}, 0, anchor.Options{}, "K = 0 is not in [1, 30]"},
		{anchor.QR{}, 31, anchor.Options{}, "K = 31 is not in [1, 30]"},
		{anchor.QR{MinDocs: -1}, 3, anchor.Options{}, "MinDocs -1"},
		{anchor.QR{MinDocFraction: 1.5}, 3, anchor.Options{}, "MinDocFraction 1.5"},
		{anchor.QR{MinDocFraction: math.NaN()}, 3, anchor.Options{}, "MinDocFraction NaN"},
		{anchor.QR{RankTol: 1}, 3, anchor.Options{}, "RankTol 1"},
		{anchor.QR{RankTol: math.NaN()}, 3, anchor.Options{}, "RankTol NaN"},
		{anchor.QR{MinDocs: 2}, 3, anchor.Options{}, "document frequencies of 0 words are known, of 30"},
		{anchor.QR{MinDocs: 2}, 3, anchor.Options{DocFrequencies: df[:29]}, "document frequencies of 29 words"},
		{anchor.QR{MinDocFraction: 0.5}, 3, anchor.Options{DocFrequencies: df}, "their number is not known"},
	} {
		_, err := c.q.Find(ctx, r, c.k, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "anchor: ") != 1 {
			t.Errorf("%v, K = %d: %v, want %q", c.q, c.k, err, c.want)
		}
	}
	a := mat.NewDense(3, 3, []float64{1, 0, 0, 0, math.NaN(), 0, 0, 0, 1})
	if _, err := (anchor.QR{}).Find(ctx, points{a}, 2, anchor.Options{}); err == nil || !strings.Contains(err.Error(), "word 1") {
		t.Errorf("NaN: %v", err)
	}
}

// A planted rank is found, and said.
func TestRank(t *testing.T) {
	for _, correlation := range []float64{0, 0.9} {
		m := testutil.NewPlanted(70, 5, correlation, 7)
		low, err := cooc.NewLowRankSparse(m.Y(), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []cooc.Matrix{dense(t, m.C), low} {
			t.Run(fmt.Sprintf("correlation %g, %T", correlation, c), func(t *testing.T) {
				_, err := anchor.QR{}.Find(ctx, rowsOf(t, c), 10, anchor.Options{})
				var re *anchor.RankError
				if !errors.As(err, &re) || re.Rank != 5 || re.K != 10 {
					t.Fatalf("rank 5, K = 10: %v", err)
				}
				if !(re.Norm < 1e-7*re.First) || !(re.First > 0) {
					t.Errorf("norms in %+v", re)
				}
				if !strings.Contains(err.Error(), "rank 5") {
					t.Errorf("%q does not say the rank", err)
				}
				res := find(t, anchor.QR{AllowFewer: true}, rowsOf(t, c), 10, anchor.Options{})
				if _, err := m.Topics(res.Anchors); err != nil {
					t.Error(err)
				}
			})
		}
		// A tolerance of the caller's own counts fewer dimensions.
		full := find(t, anchor.QR{}, rowsOf(t, low), 5, anchor.Options{})
		tol := (full.Norms[3] + full.Norms[4]) / 2 / full.Norms[0]
		var re *anchor.RankError
		if _, err := (anchor.QR{RankTol: tol}).Find(ctx, rowsOf(t, low), 5, anchor.Options{}); !errors.As(err, &re) || re.Rank != 4 {
			t.Errorf("RankTol %g with norms %v: %v", tol, full.Norms, err)
		}
	}
}

// Words without a row are never anchors, whatever is asked.
func TestZeroRows(t *testing.T) {
	a := mat.NewDense(4, 4, nil)
	a.Set(1, 1, 0.5)
	a.Set(3, 3, 0.5)
	r := rowsOf(t, dense(t, a))
	res := find(t, anchor.QR{}, r, 2, anchor.Options{})
	if !slices.Equal(res.Anchors, []int{1, 3}) || res.Candidates != 2 {
		t.Errorf("%+v", res)
	}
	_, err := anchor.QR{}.Find(ctx, r, 3, anchor.Options{})
	var ce *anchor.CandidateError
	if !errors.As(err, &ce) || ce.Candidates != 2 || !strings.Contains(err.Error(), "only 2 words have a co-occurrence row") {
		t.Errorf("3 anchors of 2 rows: %v", err)
	}
	if res := find(t, anchor.QR{AllowFewer: true}, r, 4, anchor.Options{}); !slices.Equal(res.Anchors, []int{1, 3}) {
		t.Errorf("%+v", res)
	}
	if _, err := (anchor.QR{AllowFewer: true}).Find(ctx, points{mat.NewDense(3, 3, nil)}, 2, anchor.Options{}); !errors.As(err, &ce) {
		t.Errorf("no rows at all: %v", err)
	}
}

func TestString(t *testing.T) {
	for q, want := range map[anchor.QR]string{
		{}: "QR",
		{MinDocs: 3, MinDocFraction: 0.01, RankTol: 1e-6, AllowFewer: true}: "QR(min docs=3, min docs=1%, rank tol=1e-06, allow fewer)",
	} {
		if q.String() != want {
			t.Errorf("%q, want %q", q, want)
		}
	}
}

func TestProgressAndCancel(t *testing.T) {
	r := synth(t)
	var seen []string
	res := find(t, anchor.QR{}, r, 4, anchor.Options{Progress: func(done, total int, norm float64) {
		seen = append(seen, fmt.Sprintf("%d/%d %v", done, total, norm))
	}})
	for k, n := range res.Norms {
		if want := fmt.Sprintf("%d/4 %v", k+1, n); k >= len(seen) || seen[k] != want {
			t.Errorf("progress %v, want %s", seen, want)
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d calls", len(seen))
	}

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (anchor.QR{}).Find(cancelled, r, 4, anchor.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	// No anchor is chosen after the end of the context.
	for _, w := range []int{1, 4} {
		c, cancel := context.WithCancel(ctx)
		var calls atomic.Int64
		_, err := anchor.QR{}.Find(c, r, 20, anchor.Options{Workers: w, Progress: func(done, _ int, _ float64) {
			calls.Add(1)
			if done == 3 {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) || calls.Load() != 3 || strings.Count(err.Error(), "anchor: ") != 1 {
			t.Errorf("%d workers, cancelled after 3 anchors: %d were chosen, %v", w, calls.Load(), err)
		}
	}
}

func TestConcurrent(t *testing.T) {
	r := synth(t)
	var wg sync.WaitGroup
	res := make([]*anchor.Result, 4)
	for g := range res {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var err error
			if res[g], err = (anchor.QR{}).Find(ctx, r, 6, anchor.Options{Workers: 2}); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	for _, x := range res {
		if x != nil && !slices.Equal(x.Anchors, res[0].Anchors) {
			t.Errorf("%v and %v", x.Anchors, res[0].Anchors)
		}
	}
}

// The reference's anchors and |diag R|, to 1e-8 of the first as the rectified
// matrices agree; the pivot margins are 7e-5 and more.
func TestGoldenTiny(t *testing.T) {
	g := golden.ReadTiny(t)
	for name, full := range map[string]golden.Full{"Baseline": g.FullBase, "AP15": g.FullAP15, "AP150": g.FullAP150} {
		a := mat.NewDense(g.N, g.N, nil)
		for i, row := range full.CRect {
			a.SetRow(i, row)
		}
		res := find(t, anchor.QR{}, rowsOf(t, dense(t, a)), g.K, anchor.Options{})
		golden1(t, name, res, full.S0, full.DiagR, nil)
	}
}

// golden1 compares with the reference; words with nearly the same row may
// stand for each other where rows are given.
func golden1(t *testing.T, name string, res *anchor.Result, s0 []int, diagR []float64, r cooc.Rows) {
	t.Helper()
	swapped := 0
	for k, w := range res.Anchors {
		if w != s0[k] {
			swapped++
			if r == nil || !sameRow(r, w, s0[k]) {
				t.Errorf("%s: anchor %d is word %d, want %d (%v)", name, k, w, s0[k], s0)
			}
		}
		if math.Abs(res.Norms[k]-math.Abs(diagR[k])) > 1e-8*math.Abs(diagR[0]) {
			t.Errorf("%s: r_%d = %.15g, want %.15g", name, k+1, res.Norms[k], diagR[k])
		}
	}
	if len(res.Anchors) != len(s0) {
		t.Errorf("%s: %d anchors, want %d", name, len(res.Anchors), len(s0))
	}
	if swapped > 0 {
		t.Logf("%s: %d of %d anchors are twins of the reference's", name, swapped, len(s0))
	}
}

// sameRow reports whether two rows of C̄ agree to 1e-9 of their length.
func sameRow(r cooc.Rows, i, j int) bool {
	_, d := r.Dims()
	a, b := make([]float64, d), make([]float64, d)
	r.RowTo(a, i)
	r.RowTo(b, j)
	diff, size := 0.0, 0.0
	for k := range a {
		diff += (a[k] - b[k]) * (a[k] - b[k])
		size += a[k] * a[k]
	}
	return diff <= 1e-18*size
}

func TestGoldenCorpora(t *testing.T) {
	testutil.NotWithRace(t)
	for _, name := range []string{"synth", "kos1000"} {
		t.Run(name, func(t *testing.T) {
			m, err := cooc.NewMoments(ctx, golden.Corpus(t, name), cooc.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range golden.Rows(t, name) {
				var c cooc.Matrix = m
				switch g.Rectifier {
				case "Baseline":
				case "AP15":
					if g.K > 10 && testing.Short() {
						continue
					}
					res, err := rectify.AP{EigenTol: 1e-12}.Rectify(ctx, m, g.K, rectify.Options{})
					if err != nil {
						t.Fatal(err)
					}
					c = res.C
				default:
					continue
				}
				r := rowsOf(t, c)
				res := find(t, anchor.QR{}, r, g.K, anchor.Options{})
				tied := r
				if name == "synth" {
					tied = nil
				}
				golden1(t, fmt.Sprintf("%s/K=%d", g.Rectifier, g.K), res, g.S0, g.DiagR, tied)
			}
		})
	}
}

// The program published with arora-2013 counts the pairs of different words, divides
// each row by its sum and orthogonalises the rows one by one. cooc.OffDiagonal gives
// its anchors.
func TestOffDiagonal(t *testing.T) {
	testutil.NotWithRace(t)
	c, k := golden.Corpus(t, "kos1000"), 50
	n := c.NumWords()
	a := mat.NewDense(n, n, nil)
	for d := range c.NumDocs() {
		words, counts := c.Doc(d)
		l := float64(c.DocLen(d))
		for i, v := range words {
			for j, w := range words {
				if l >= 5 && v != w {
					a.Set(int(v), int(w), a.At(int(v), int(w))+float64(counts[i])*float64(counts[j])/(l*(l-1)))
				}
			}
		}
	}
	for i := range n {
		row := a.RawRowView(i)
		if s := floats.Sum(row); s > 0 {
			floats.Scale(1/s, row)
		}
	}
	want, norms := pivotedQR(a, k)
	got := make([][]int, 2)
	for i, w := range []cooc.Weighting{cooc.OffDiagonal, cooc.Unbiased} {
		m, err := cooc.NewMoments(ctx, c, cooc.Options{Weighting: w})
		if err != nil {
			t.Fatal(err)
		}
		res := find(t, anchor.QR{}, rowsOf(t, m), k, anchor.Options{})
		got[i] = res.Anchors
		for t1, v := range res.Norms {
			if i == 0 && math.Abs(v-norms[t1]) > 1e-8*norms[0] {
				t.Errorf("pivot %d is %.12g long, the program's %.12g", t1, v, norms[t1])
			}
		}
	}
	if !slices.Equal(got[0], want) {
		t.Errorf("anchors %v, the program's %v", got[0], want)
	}
	if slices.Equal(got[1], want) {
		t.Error("the diagonal changes no anchor")
	}
}

// Preferred rows are taken where they are nearly as far as the farthest, and not
// where they are not: by the definition, step by step on explicit rows.
func TestPrefer(t *testing.T) {
	const n, dim, k = 60, 12, 6
	rng := rand.New(rand.NewPCG(51, 52))
	rows := points{mat.NewDense(n, dim, nil)}
	for i := range n {
		for j := range dim {
			rows.a.Set(i, j, rng.NormFloat64())
		}
	}
	plain := find(t, anchor.QR{}, rows, k, anchor.Options{})
	for _, tol := range []float64{0, 0.05, 0.3, 0.9} {
		prefer := rng.Perm(n)[:n/3]
		got := find(t, anchor.QR{}, rows, k, anchor.Options{Prefer: prefer, PreferTol: tol})
		left := make([][]float64, n)
		for i := range left {
			left[i] = make([]float64, dim)
			rows.RowTo(left[i], i)
		}
		dot := func(a, b []float64) float64 {
			s := 0.0
			for j, v := range a {
				s += v * b[j]
			}
			return s
		}
		for step, w := range got.Anchors {
			far, liked := 0.0, 0.0
			for i, r := range left {
				far = max(far, math.Sqrt(dot(r, r)))
				if slices.Contains(prefer, i) {
					liked = max(liked, math.Sqrt(dot(r, r)))
				}
			}
			want := far
			if liked >= (1-tol)*far*(1-1e-9) {
				want = liked
			}
			if d := math.Sqrt(dot(left[w], left[w])); math.Abs(d-want) > 1e-9*far || math.Abs(got.Norms[step]-want) > 1e-9*far {
				t.Fatalf("tol %g, step %d: word %d at distance %g, norm %g; want %g of %g", tol, step, w, d, got.Norms[step], want, far)
			}
			q := slices.Clone(left[w])
			s := math.Sqrt(dot(q, q))
			for j := range q {
				q[j] /= s
			}
			for _, r := range left {
				h := dot(r, q)
				for j := range r {
					r[j] -= h * q[j]
				}
			}
		}
	}
	same := find(t, anchor.QR{}, rows, k, anchor.Options{Prefer: plain.Anchors})
	if !slices.Equal(same.Anchors, plain.Anchors) {
		t.Errorf("its own anchors preferred: %v, plain %v", same.Anchors, plain.Anchors)
	}
	for _, bad := range []anchor.Options{{Prefer: []int{n}}, {Prefer: []int{-1}}, {PreferTol: -0.1}, {PreferTol: 1}, {PreferTol: math.NaN()}} {
		if _, err := (anchor.QR{}).Find(ctx, rows, k, bad); err == nil {
			t.Errorf("%v, %g: taken", bad.Prefer, bad.PreferTol)
		}
	}
}

// Data of one topic are not advised to have one topic.
func TestAdvice(t *testing.T) {
	a := mat.NewDense(4, 3, slices.Repeat([]float64{0.2, 0.3, 0.5}, 4))
	for _, f := range []anchor.Finder{anchor.QR{}, anchor.SNPA{}, anchor.XRAY{}} {
		_, err := f.Find(ctx, points{a}, 2, anchor.Options{})
		if err == nil || strings.Contains(err.Error(), "at most 1") || !strings.Contains(err.Error(), "there are no two topics in this data") {
			t.Errorf("%v: %v", f, err)
		}
	}
	a.SetRow(1, []float64{0.5, 0.3, 0.2})
	if _, err := (anchor.QR{}).Find(ctx, points{a}, 3, anchor.Options{}); err == nil || !strings.Contains(err.Error(), "ask for at most 2 topics") {
		t.Errorf("two topics: %v", err)
	}
}

// SPA obeys Prefer, as QR does, and SNPA takes no notice.
func TestPreferSPA(t *testing.T) {
	a := randomPoints(rand.New(rand.NewPCG(4, 4)), 30, 6)
	want := mustFind(t, anchor.QR{}, points{a}, 4, anchor.Options{}).Anchors
	opt := anchor.Options{PreferTol: 0.99}
	for i := range 30 {
		if !slices.Contains(want, i) {
			opt.Prefer = append(opt.Prefer, i)
		}
	}
	preferred := mustFind(t, anchor.QR{}, points{a}, 4, opt).Anchors
	if slices.Contains(preferred, want[0]) {
		t.Fatalf("QR does not prefer: %v", preferred)
	}
	if got := mustFind(t, anchor.SPA{}, points{a}, 4, opt).Anchors; !slices.Equal(got, preferred) {
		t.Errorf("SPA finds %v, QR %v", got, preferred)
	}
	plain := mustFind(t, anchor.SNPA{}, points{a}, 4, anchor.Options{}).Anchors
	if got := mustFind(t, anchor.SNPA{}, points{a}, 4, opt).Anchors; !slices.Equal(got, plain) {
		t.Errorf("SNPA finds %v, without preference %v", got, plain)
	}
}
