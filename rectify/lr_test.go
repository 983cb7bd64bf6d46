package rectify_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/rectify"
)

// productsOnly has no rows, as documents on disk have none.
type productsOnly struct{ cooc.Operator }

// sizes are the numbers of topics to try: under the race detector one will do.
func sizes() []int {
	if testutil.Race {
		return []int{5}
	}
	return []int{5, 15}
}

func lr(t *testing.T, l rectify.LR, c cooc.Operator, k, workers int) *rectify.Result {
	t.Helper()
	res, err := l.Rectify(ctx, productsOnly{c}, k, rectify.Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func anchorsOf(t *testing.T, r *rectify.Result, k int) []int {
	t.Helper()
	rows, err := r.Rows(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	res, err := anchor.QR{}.Find(ctx, rows, k, anchor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Anchors
}

// relativeDistance returns ‖A − B‖_F/‖B‖_F.
func relativeDistance(t *testing.T, a, b cooc.Matrix) float64 {
	t.Helper()
	n := b.Dim()
	x, y := make([]float64, n), make([]float64, n)
	d, s := 0.0, 0.0
	for i := range n {
		a.RowTo(x, i)
		b.RowTo(y, i)
		for j := range x {
			d += (x[j] - y[j]) * (x[j] - y[j])
			s += y[j] * y[j]
		}
	}
	return math.Sqrt(d / s)
}

// More passes bring LR to ENN from exact eigenpairs. What remains is the
// tolerance of the eigenpairs inside ENN: 1e-5 of the least eigenvalue kept.
func TestLRTendsToENN(t *testing.T) {
	testutil.NotWithRace(t)
	m := moments(t, "synth")
	for _, k := range sizes() {
		// A fixed number of iterations: LR makes at least ten whatever its Tol.
		enn := rectify.ENN{Iterations: 12, Tol: 1e-300}
		want, err := rectify.ENN{Iterations: 12}.Rectify(ctx, m, k, rectify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		before := math.Inf(1)
		for _, passes := range []int{2, 4, 6, 7} {
			res := lr(t, rectify.LR{Passes: passes, Seed: 3, ENN: enn}, m, k, 0)
			d := relativeDistance(t, res.C, want.C)
			t.Logf("K=%d: %d passes: residual %.1e, distance %.1e", k, passes, res.StartResidual, d)
			if res.Passes != passes || res.Clipped != 0 {
				t.Errorf("%d passes and %d clipped, want %d and 0", res.Passes, res.Clipped, passes)
			}
			if d > 0.5*before && d > 2e-5 {
				t.Errorf("K=%d: %d passes leave %g, fewer %g", k, passes, d, before)
			}
			before = d
		}
		if before > 2e-5 {
			t.Errorf("K=%d: distance to ENN is %g", k, before)
		}
	}
}

// Over ten seeds the default passes give the same anchors, even with p = 2K, and eigenvalues whose
// standard deviation is far below 0.1 % of their mean.
func TestLRSpreadOverSeeds(t *testing.T) {
	testutil.NotWithRace(t)
	m := moments(t, "synth")
	for _, k := range sizes() {
		var first *rectify.Result
		var anchors []int
		sum, sq := make([]float64, k), make([]float64, k)
		const seeds = 10
		for seed := range uint64(seeds) {
			res := lr(t, rectify.LR{Seed: seed, Oversample: k}, m, k, 0)
			if first == nil {
				first, anchors = res, anchorsOf(t, res, k)
			}
			if a := anchorsOf(t, res, k); !slices.Equal(a, anchors) {
				t.Errorf("K=%d, seed %d: anchors %v, want %v", k, seed, a, anchors)
			}
			for i, v := range res.Eigenvalues {
				d := v/first.Eigenvalues[i] - 1
				sum[i], sq[i] = sum[i]+d/seeds, sq[i]+d*d/seeds
			}
		}
		for i := range k {
			if sd := math.Sqrt(max(sq[i]-sum[i]*sum[i], 0)); sd > 1e-4 {
				t.Errorf("K=%d: the standard deviation of eigenvalue %d is %g of its mean", k, i, sd)
			}
		}
	}
}

func TestLRSeed(t *testing.T) {
	testutil.NotWithRace(t)
	m := moments(t, "synth")
	if a, b := lr(t, rectify.LR{Seed: 5}, m, 10, 0), lr(t, rectify.LR{Seed: 6}, m, 10, 0); slices.Equal(a.Eigenvalues, b.Eigenvalues) {
		t.Error("seeds 5 and 6 give the same eigenvalues, want others")
	}
}

// A matrix that is what the model says comes back as it is, and two passes
// are all that are needed to know it: the space is exhausted.
func TestLRExact(t *testing.T) {
	p := testutil.NewPlanted(300, 8, 0.5, 11)
	c, err := cooc.NewDense(p.C)
	if err != nil {
		t.Fatal(err)
	}
	res := lr(t, rectify.LR{}, c, 8, 0)
	if d := relativeDistance(t, res.C, c); d > 1e-10 || res.Passes != 2 || res.Clipped != 0 {
		t.Errorf("distance %g after %d passes, %d clipped", d, res.Passes, res.Clipped)
	}
	// It has no more than 8 positive eigenvalues; what is asked for beyond
	// these is rounding of either sign and changes nothing.
	res = lr(t, rectify.LR{ENN: rectify.ENN{Iterations: 1}}, c, 12, 0)
	if d := relativeDistance(t, res.C, c); d > 1e-10 {
		t.Errorf("K = 12: distance %g", d)
	}
}

// Pairs that are not positive are left out and counted.
func TestLRClipped(t *testing.T) {
	const n, k = 60, 6
	rng := rand.New(rand.NewPCG(8, 1))
	// −I/2 + three positive directions.
	a := mat.NewSymDense(n, nil)
	for range 3 {
		v := mat.NewVecDense(n, nil)
		for i := range n {
			v.SetVec(i, rng.Float64())
		}
		a.SymRankOne(a, 1, v)
	}
	for i := range n {
		a.SetSym(i, i, a.At(i, i)-0.5)
	}
	c, err := cooc.NewDense(a)
	if err != nil {
		t.Fatal(err)
	}
	res := lr(t, rectify.LR{ENN: rectify.ENN{Iterations: 1}}, c, k, 0)
	if res.Clipped != 3 {
		t.Errorf("%d pairs clipped, want 3", res.Clipped)
	}
	neg := mat.NewSymDense(n, nil)
	for i := range n {
		neg.SetSym(i, i, -1)
	}
	if c, err = cooc.NewDense(neg); err != nil {
		t.Fatal(err)
	}
	if _, err := (rectify.LR{}).Rectify(ctx, c, k, rectify.Options{}); err == nil {
		t.Error("no error where no eigenvalue is positive")
	}
}

// Documents that are decoded for each product give what documents in memory give: the
// matrix to the rounding of other sums, the anchors exactly; end to end too.
func TestLRFromEncoded(t *testing.T) {
	testutil.NotWithRace(t)
	c := golden.Corpus(t, "synth")
	m, err := cooc.NewMoments(ctx, c, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &counting{Operator: fromEncoded(t, c)}
	if si, mi := s.Info(), m.Info(); si.Documents != mi.Documents || si.Nonzeros != mi.Nonzeros {
		t.Fatalf("%d documents with %d counts, want %d with %d", si.Documents, si.Nonzeros, mi.Documents, mi.Nonzeros)
	}
	for _, k := range sizes() {
		want := lr(t, rectify.LR{Seed: 1}, m, k, 0)
		before := s.products
		got := lr(t, rectify.LR{Seed: 1}, s, k, 0)
		if n := s.products - before; n != 8 || got.Passes != n {
			t.Errorf("K=%d: %d passes were made, %d reported, want %d", k, n, got.Passes, 8)
		}
		if d := relativeDistance(t, got.C, want.C); d > 1e-8 {
			t.Errorf("K=%d: distance %g", k, d)
		}
		if a, b := anchorsOf(t, got, k), anchorsOf(t, want, k); !slices.Equal(a, b) {
			t.Errorf("K=%d: anchors %v, want %v", k, a, b)
		}
	}
	p := jsmf.Published(10).Rectify(rectify.LR{Seed: 1})
	got, err := p.Fit(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	want, err := p.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Anchors(), want.Anchors()) {
		t.Errorf("anchors %v, want %v", got.Anchors(), want.Anchors())
	}
	var d mat.Dense
	d.Sub(mat.DenseCopyOf(got.Topics()), mat.DenseCopyOf(want.Topics()))
	if e := mat.Norm(&d, math.Inf(1)); e > 1e-8 {
		t.Errorf("topics differ by %g", e)
	}
}

func TestLRBadInput(t *testing.T) {
	m := moments(t, "tiny")
	for _, l := range []rectify.LR{{Passes: -1}, {Oversample: -1}, {ENN: rectify.ENN{Iterations: -1}}} {
		if _, err := l.Rectify(ctx, m, 4, rectify.Options{}); err == nil || !strings.HasPrefix(err.Error(), "rectify: ") {
			t.Errorf("%v: %v", l, err)
		}
	}
	for _, k := range []int{0, m.Dim() + 1} {
		if _, err := (rectify.LR{}).Rectify(ctx, m, k, rectify.Options{}); err == nil {
			t.Errorf("no error for K = %d", k)
		}
	}
	boom := fmt.Errorf("a broken disk")
	if _, err := (rectify.LR{}).Rectify(ctx, broken{m, boom}, 4, rectify.Options{}); !errors.Is(err, boom) {
		t.Errorf("broken matrix: %v", err)
	}
	if s := (rectify.LR{Passes: 3, Oversample: 7, Seed: 9}).String(); !strings.HasPrefix(s, "LR(passes=3, p=K+7, seed=9, ENN(") {
		t.Error(s)
	}
}

type broken struct {
	cooc.Matrix
	err error
}

func (b broken) MulTo(context.Context, *mat.Dense, *mat.Dense, int) error { return b.err }

// On stop words nearly all of ‖C‖_F is common to all iterates, and a tolerance
// relative to it is met at once.
func TestLRMakesTenIterations(t *testing.T) {
	m := moments(t, "synth")
	for _, c := range []struct{ most, want int }{{0, 10}, {4, 4}} {
		res, err := rectify.LR{ENN: rectify.ENN{Tol: 1, Iterations: c.most}}.Rectify(ctx, m, 5, rectify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if res.Iterations != c.want {
			t.Errorf("%d iterations, want %d", res.Iterations, c.want)
		}
	}
}

// What LR worked with is freed when it returns: the collector is off, so that only LR's
// own collections free anything.
func TestLRFreesWhatItUsed(t *testing.T) {
	if testutil.Race {
		t.Skip("the race detector takes memory of its own")
	}
	const n = 400_000
	y := mat.NewDense(n, 2, nil)
	for i := range n {
		y.Set(i, i%2, 2/float64(n)/math.Sqrt2)
	}
	c, err := cooc.NewLowRankSparse(y, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	res, err := rectify.LR{Passes: 1, ENN: rectify.ENN{Iterations: 1, Rows: 10}}.Rectify(t.Context(), c, 2, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	left := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%.1f MB left", float64(left)/1e6)
	if most := int64(8 * n * 6); left > most { // Y, the marginals, and what they are made from
		t.Errorf("%d bytes are held or garbage after LR, want at most %d", left, most)
	}
	runtime.KeepAlive(res)
	runtime.KeepAlive(c)
}
