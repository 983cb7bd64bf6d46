package recovery_test

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

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/scls"
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

func solve(t testing.TB, s recovery.SCLS, r cooc.Rows, anchors []int) *recovery.Result {
	t.Helper()
	res, err := s.Recover(ctx, r, anchors, recovery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func near(t testing.TB, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.17g, want %.17g (differ by %.2g, tolerance %.2g)", name, got, want, math.Abs(got-want), tol)
	}
}

// From C without noise the planted anchors, B and A come back to 1e-8 of their
// largest entries, rectified or not, in any form.
func TestPlanted(t *testing.T) {
	testutil.NotWithRace(t)
	for _, k := range []int{2, 5, 20} {
		for _, correlation := range []float64{0, 0.9} {
			m := testutil.NewPlanted(150, k, correlation, uint64(100+k))
			low, err := cooc.NewLowRankSparse(m.Y(), 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			for form, c := range map[string]cooc.Matrix{"dense": dense(t, m.C), "factor": low} {
				for _, rect := range []rectify.Rectifier{rectify.AP{}, rectify.DC{Halvings: 3}, rectify.None{}} {
					name := fmt.Sprintf("K=%d/correlation=%g/%s/%v", k, correlation, form, rect)
					rr, err := rect.Rectify(ctx, c, k, rectify.Options{})
					if err != nil {
						t.Errorf("%s: %v", name, err)
						continue
					}
					r := rowsOf(t, rr.C)
					a, err := anchor.QR{}.Find(ctx, r, k, anchor.Options{})
					if err != nil {
						t.Errorf("%s: %v", name, err)
						continue
					}
					res := solve(t, recovery.SCLS{}, r, a.Anchors)
					errB, errA, err := m.Errors(a.Anchors, res.B, res.A)
					if err != nil || errB > 1e-8 || errA > 1e-8 {
						t.Errorf("%s: B is off by %.2g, A by %.2g, %v", name, errB, errA, err)
					}
					topics, _ := m.Topics(a.Anchors)
					want := m.WordTopics()
					for n := range m.N {
						for j, p := range topics {
							near(t, name+": B̆", res.WordTopics.At(n, j), want.At(n, p), 1e-8)
						}
						// Zero up to the square root of the rounding of squares.
						near(t, name+": residual", res.Residuals[n], 0, 1e-7)
					}
					invariants(t, res, r, a.Anchors, true)
				}
			}
		}
	}
}

// invariants checks what holds of every result, residuals against explicit
// differences of rows. They are square roots of differences of squares: 1e-7 of
// the row's length.
func invariants(t *testing.T, res *recovery.Result, r cooc.Rows, anchors []int, nonNegative bool) {
	t.Helper()
	n, d := r.Dims()
	k := len(anchors)
	c := r.Marginals()
	s := mat.NewDense(k, d, nil)
	for t, w := range anchors {
		r.RowTo(s.RawRowView(t), w)
	}
	row := make([]float64, d)
	objective, solved := 0.0, 0
	colSums := make([]float64, k)
	for i := range n {
		r.RowTo(row, i)
		length := math.Sqrt(dot(row, row))
		sum := 0.0
		for j, v := range res.WordTopics.RawRowView(i) {
			if v < 0 || res.B.At(i, j) < 0 {
				t.Errorf("word %d, topic %d: B̆ = %g, B = %g", i, j, v, res.B.At(i, j))
			}
			sum += v
			colSums[j] += res.B.At(i, j)
			for l, x := range s.RawRowView(j) {
				row[l] -= v * x
			}
		}
		topic := slices.Index(anchors, i)
		switch {
		case c[i] == 0:
			if sum != 0 || res.Residuals[i] != 0 {
				t.Errorf("word %d never occurs, but p(topic | word) sums to %g, residual %g", i, sum, res.Residuals[i])
			}
			continue
		case topic >= 0:
			if res.WordTopics.At(i, topic) != 1 || sum != 1 || res.Residuals[i] != 0 {
				t.Errorf("anchor %d of topic %d has %v", i, topic, res.WordTopics.RawRowView(i))
			}
			continue
		}
		solved++
		near(t, "sum of B̆", sum, 1, 1e-12)
		near(t, fmt.Sprintf("residual of word %d", i), res.Residuals[i], math.Sqrt(dot(row, row)), 1e-7*length)
		objective += 0.5 * dot(row, row)
	}
	for j, v := range colSums {
		near(t, fmt.Sprintf("sum of column %d of B", j), v, 1, 1e-12)
	}
	near(t, "objective", res.Objective, objective/float64(n), 1e-15+1e-12*res.Objective)
	if res.Words != solved {
		t.Errorf("%d words were solved for, want %d", res.Words, solved)
	}
	for i := range k {
		for j := range k {
			a := res.A.At(i, j)
			if a != res.A.At(j, i) {
				t.Errorf("A[%d,%d] = %g, A[%d,%d] = %g", i, j, a, j, i, res.A.At(j, i))
			}
			// YYᵀ + r + E is zero to rounding where E lifts it there.
			if nonNegative && a < -1e-13*mat.Max(res.A) {
				t.Errorf("A[%d,%d] = %g", i, j, a)
			}
		}
	}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// spoiled is a planted model with noise, and empty rows at the end.
func spoiled(t testing.TB, n, k, empty int) (*testutil.Planted, *mat.Dense) {
	m := testutil.NewPlanted(n, k, 0.5, 21)
	rng := rand.New(rand.NewPCG(2, 1))
	a := mat.NewDense(n+empty, n+empty, nil)
	for i := range n {
		for j := range i + 1 {
			v := m.C.At(i, j) * (1 + 0.2*rng.Float64())
			a.Set(i, j, v)
			a.Set(j, i, v)
		}
	}
	return m, a
}

func solvers() []recovery.SCLS {
	return []recovery.SCLS{{}, recovery.SCLS{Solver: scls.ADMM{}}, recovery.SCLS{Solver: scls.ExpGrad{}}}
}

func TestInvariants(t *testing.T) {
	m, a := spoiled(t, 90, 7, 3)
	r := rowsOf(t, dense(t, a))
	for _, s := range solvers() {
		res := solve(t, s, r, m.Anchors)
		invariants(t, res, r, m.Anchors, true)
		if res.MeanIterations <= 0 || float64(res.MaxIterations) < res.MeanIterations {
			t.Errorf("%v: %g iterations in the mean, %d at most", s, res.MeanIterations, res.MaxIterations)
		}
		if res.Limited+res.Stalled > res.Words || !(res.MaxGap >= 0) {
			t.Errorf("%v: %d + %d of %d, gap %g", s, res.Limited, res.Stalled, res.Words, res.MaxGap)
		}
	}
	exact := solve(t, recovery.SCLS{}, r, m.Anchors)
	if exact.MaxGap > 1e-10 || exact.Limited != 0 {
		t.Errorf("ActiveSet: gap %g, %d limited", exact.MaxGap, exact.Limited)
	}
	// No solver beats the exact one by more than rounding; the defaults of the
	// others come within 1e-4 of it.
	for _, s := range solvers()[1:] {
		res := solve(t, s, r, m.Anchors)
		if res.Objective < exact.Objective*(1-1e-12) || res.Objective > exact.Objective*(1+1e-4) {
			t.Errorf("%v: objective %.12g, the exact one %.12g", s, res.Objective, exact.Objective)
		}
	}
	// All words anchors: nothing to solve.
	small := testutil.NewPlanted(3, 3, 0.2, 4)
	res := solve(t, recovery.SCLS{}, rowsOf(t, dense(t, small.C)), small.Anchors)
	if errB, errA, err := small.Errors(small.Anchors, res.B, res.A); res.Words != 0 || res.Objective != 0 || errB > 1e-12 || errA > 1e-12 || err != nil {
		t.Errorf("N = K: %+v", res)
	}
}

// A cap on the iterations is a status, not an error.
func TestLimited(t *testing.T) {
	m, a := spoiled(t, 90, 7, 0)
	res := solve(t, recovery.SCLS{Solver: scls.ExpGrad{MaxIterations: 2}}, rowsOf(t, dense(t, a)), m.Anchors)
	if res.Limited == 0 || res.MaxIterations > 2 || !(res.MaxGap > 0) {
		t.Errorf("%d of %d limited after %d iterations, gap %g", res.Limited, res.Words, res.MaxIterations, res.MaxGap)
	}
}

func TestEquivariance(t *testing.T) {
	m, a := spoiled(t, 80, 6, 2)
	n := 82
	order := rand.New(rand.NewPCG(3, 1)).Perm(n) // new number → old
	at := make([]int, n)
	p := mat.NewDense(n, n, nil)
	for i, oi := range order {
		at[oi] = i
		for j, oj := range order {
			p.Set(i, j, a.At(oi, oj))
		}
	}
	// The anchors in another order, too.
	topics := []int{3, 0, 5, 1, 2, 4}
	moved := make([]int, 6)
	for j, k := range topics {
		moved[j] = at[m.Anchors[k]]
	}
	want := solve(t, recovery.SCLS{}, rowsOf(t, dense(t, a)), m.Anchors)
	got := solve(t, recovery.SCLS{}, rowsOf(t, dense(t, p)), moved)
	for i, o := range order {
		for j, k := range topics {
			near(t, "B̆", got.WordTopics.At(i, j), want.WordTopics.At(o, k), 1e-10)
			near(t, "B", got.B.At(i, j), want.B.At(o, k), 1e-10)
		}
		near(t, "residual", got.Residuals[i], want.Residuals[o], 1e-8)
	}
	for j, k := range topics {
		for l, q := range topics {
			near(t, "A", got.A.At(j, l), want.A.At(k, q), 1e-10)
		}
	}
	near(t, "objective", got.Objective, want.Objective, 1e-12*want.Objective)
}

func TestBad(t *testing.T) {
	_, a := spoiled(t, 20, 3, 1)
	r := rowsOf(t, dense(t, a))
	for _, c := range []struct {
		anchors []int
		want    recovery.AnchorError
	}{
		{[]int{0, 21}, recovery.AnchorError{Topic: 1, Word: 21}},
		{[]int{-1, 2}, recovery.AnchorError{Topic: 0, Word: -1}},
		{[]int{4, 5, 4}, recovery.AnchorError{Topic: 2, Word: 4}},
		{[]int{4, 20}, recovery.AnchorError{Topic: 1, Word: 20}}, // an empty row
	} {
		_, err := recovery.SCLS{}.Recover(ctx, r, c.anchors, recovery.Options{})
		var e *recovery.AnchorError
		if !errors.As(err, &e) || e.Topic != c.want.Topic || e.Word != c.want.Word || e.Reason == "" {
			t.Errorf("anchors %v: %v", c.anchors, err)
			continue
		}
		for _, s := range []string{fmt.Sprintf("topic %d", e.Topic), fmt.Sprintf("word %d", e.Word)} {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%q does not name %s", err, s)
			}
		}
		if strings.Count(err.Error(), "recovery: ") != 1 {
			t.Errorf("%q names the package more than once", err)
		}
	}
	for _, anchors := range [][]int{nil, make([]int, 22)} {
		if _, err := (recovery.SCLS{}).Recover(ctx, r, anchors, recovery.Options{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d anchors for 21 words", len(anchors))) {
			t.Errorf("%d anchors: %v", len(anchors), err)
		}
	}
	bad := recovery.SCLS{Solver: scls.ExpGrad{MaxIterations: -1}}
	if err := bad.Validate(); err == nil || !strings.HasPrefix(err.Error(), "recovery: ") {
		t.Errorf("Validate: %v", err)
	}
	if _, err := bad.Recover(ctx, r, []int{0, 1}, recovery.Options{}); err == nil || strings.Count(err.Error(), "recovery: ") != 1 {
		t.Errorf("bad setting: %v", err)
	}
	if err := (recovery.SCLS{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
	if (recovery.SCLS{}).String() != (scls.ActiveSet{}).String() {
		t.Errorf("the zero value calls itself %q", recovery.SCLS{})
	}
}

func TestProgressAndCancel(t *testing.T) {
	m, err := cooc.NewMoments(ctx, golden.Corpus(t, "synth"), cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := rowsOf(t, m)
	a, err := anchor.QR{}.Find(ctx, r, 8, anchor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (recovery.SCLS{}).Recover(cancelled, r, a.Anchors, recovery.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	for _, s := range solvers() {
		for _, w := range []int{1, 3} {
			last := 0
			res, err := s.Recover(ctx, r, a.Anchors, recovery.Options{Workers: w, Progress: func(done, total int) {
				if done <= last || done > total || total != 592 {
					t.Errorf("%v: %d of %d after %d", s, done, total, last)
				}
				last = done
			}})
			if err != nil || last != 592 || res.Words != 592 {
				t.Errorf("%v: %d of 592 words, %v", s, last, err)
			}
			c, cancel := context.WithCancel(ctx)
			calls := 0
			res, err = s.Recover(c, r, a.Anchors, recovery.Options{Workers: w, Progress: func(int, int) {
				calls++
				cancel()
			}})
			cancel()
			if !errors.Is(err, context.Canceled) || res != nil || strings.Count(err.Error(), "recovery: ") != 1 {
				t.Errorf("%v, %d workers: %v", s, w, err)
			}
			// The chunks in flight end; no more begin.
			if calls > w {
				t.Errorf("%v, %d workers: %d chunks ended", s, w, calls)
			}
		}
	}
}

func TestConcurrent(t *testing.T) {
	m, a := spoiled(t, 60, 5, 1)
	r := rowsOf(t, dense(t, a))
	s := recovery.SCLS{}
	res := make([]*recovery.Result, 4)
	var wg sync.WaitGroup
	for g := range res {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var err error
			if res[g], err = s.Recover(ctx, r, m.Anchors, recovery.Options{Workers: 2}); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	for _, x := range res {
		if x == nil || !mat.Equal(x.B, res[0].B) {
			t.Error("concurrent fits differ")
		}
	}
}

func matrix(rows [][]float64) *mat.Dense {
	a := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		a.SetRow(i, r)
	}
	return a
}

// meanObjective is the mean of ½‖c̄_n − Σ_k B̆_kn c̄_{s_k}‖² for B̆ N×K.
func meanObjective(r cooc.Rows, anchors []int, breve mat.Matrix) float64 {
	n, d := r.Dims()
	row, s, sum := make([]float64, d), make([]float64, d), 0.0
	for i := range n {
		if slices.Contains(anchors, i) {
			continue
		}
		r.RowTo(row, i)
		for k, w := range anchors {
			r.RowTo(s, w)
			for l, v := range s {
				row[l] -= breve.At(i, k) * v
			}
		}
		sum += 0.5 * dot(row, row)
	}
	return sum / float64(n)
}

// On the reference's own rectified matrix and anchors: ActiveSet to 1e-8, the
// others no worse than the reference's stopped iterations.
func TestGoldenTiny(t *testing.T) {
	g := golden.ReadTiny(t)
	for name, full := range map[string]golden.Full{"Baseline": g.FullBase, "AP15": g.FullAP15, "AP150": g.FullAP150} {
		r := rowsOf(t, dense(t, matrix(full.CRect)))
		for _, c := range []struct {
			s    recovery.SCLS
			want golden.Solved
		}{{recovery.SCLS{}, full.ActiveSet}, {recovery.SCLS{Solver: scls.ADMM{}}, full.ADMM}, {recovery.SCLS{Solver: scls.ExpGrad{}}, full.ExpGrad}} {
			res := solve(t, c.s, r, full.S0)
			at := fmt.Sprintf("%s/%v: ", name, c.s)
			invariants(t, res, r, full.S0, true)
			ref := meanObjective(r, full.S0, matrix(c.want.Btilde).T())
			if res.Objective > ref*(1+1e-8) {
				t.Errorf("%sobjective %.12g, the reference's %.12g", at, res.Objective, ref)
			}
			if c.s.Solver != nil {
				continue
			}
			near(t, at+"objective", res.Objective, ref, 1e-8*ref)
			if res.MaxGap > 1e-10 {
				t.Errorf("%sgap %g", at, res.MaxGap)
			}
			for k := range g.K {
				for n := range g.N {
					near(t, at+"B̆", res.WordTopics.At(n, k), c.want.Btilde[k][n], 1e-8)
					near(t, at+"B", res.B.At(n, k), c.want.B[n][k], 1e-8)
				}
				for l := range g.K {
					near(t, at+"A", res.A.At(k, l), c.want.A[k][l], 1e-8)
				}
			}
		}
	}
}

// From the corpus on. The rectified matrices agree to 1e-10 with tight
// eigenpairs, what follows to 1e-8.
func TestGoldenSynth(t *testing.T) {
	testutil.NotWithRace(t)
	m, err := cooc.NewMoments(ctx, golden.Corpus(t, "synth"), cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range golden.Rows(t, "synth") {
		var c cooc.Matrix = m
		switch g.Rectifier {
		case "Baseline":
		case "AP15":
			if testutil.Race && g.K > 10 {
				continue
			}
			rr, err := rectify.AP{EigenTol: 1e-12}.Rectify(ctx, m, g.K, rectify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c = rr.C
		default:
			continue
		}
		if g.K > 10 && (testing.Short() || testutil.Race) {
			continue
		}
		r := rowsOf(t, c)
		for _, want := range g.Opt {
			if g.K > 25 && want.Optimizer != "activeSet" {
				continue // the chain of package jsmf has them
			}
			s := map[string]recovery.SCLS{"activeSet": {}, "admmDR": recovery.SCLS{Solver: scls.ADMM{}}, "expGrad": recovery.SCLS{Solver: scls.ExpGrad{}}}[want.Optimizer]
			res := solve(t, s, r, g.S0)
			at := fmt.Sprintf("%s/K=%d/%v: ", g.Rectifier, g.K, s)
			if res.Objective > want.ObjMean*(1+1e-8) {
				t.Errorf("%sobjective %.12g, the reference's %.12g", at, res.Objective, want.ObjMean)
			}
			if want.Optimizer != "activeSet" {
				continue
			}
			near(t, at+"objective", res.Objective, want.ObjMean, 1e-8*want.ObjMean)
			if res.MaxGap > 1e-10 {
				t.Errorf("%sgap %g", at, res.MaxGap)
			}
			fro := func(a mat.Matrix) float64 { return mat.Norm(a, 2) }
			near(t, at+"‖B‖", fro(res.B), want.BFro, 1e-8*want.BFro)
			near(t, at+"‖B̆‖", fro(res.WordTopics), want.BtildeFro, 1e-8*want.BtildeFro)
			near(t, at+"‖A‖", fro(res.A), want.AFro, 1e-8*want.AFro)
			near(t, at+"ΣA", mat.Sum(res.A), want.ASum, 1e-8*math.Abs(want.ASum))
			for n, row := range want.BRowsFirst3 {
				for k, v := range row {
					near(t, at+"B", res.B.At(n, k), v, 1e-8)
				}
			}
			for n, col := range want.BtildeFirst3 {
				for k, v := range col {
					near(t, at+"B̆", res.WordTopics.At(n, k), v, 1e-8)
				}
			}
			for k := range g.K {
				near(t, at+"‖b_k‖", fro(res.B.ColView(k)), want.BColnorms[k], 1e-8)
				near(t, at+"B_S", res.B.At(g.S0[k], k), want.BSDiag[k], 1e-8)
				near(t, at+"A_kk", res.A.At(k, k), want.ADiag[k], 1e-8*want.AFro)
				near(t, at+"A_0k", res.A.At(0, k), want.ARow1[k], 1e-8*want.AFro)
			}
		}
	}
}

// A matrix whose entries are too small, or too large, to be squared or divided by the
// sums of their rows is refused by every method, in the same words.
func TestTooSmall(t *testing.T) {
	p := testutil.NewPlanted(30, 3, 0.1, 1)
	var c mat.Dense
	c.Product(p.B, p.A, p.B.T())
	for _, scale := range []float64{1e300, 1e200, 1e-150, 1e-200, 1e-308, 1e-312, 1e-320} {
		var small mat.Dense
		small.Scale(scale, &c)
		d, err := cooc.NewDense(&small)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := cooc.NewRows(d)
		if err != nil { // refused before
			continue
		}
		want := "too small to normalise"
		if scale > 1 {
			want = "too large to normalise"
		}
		for _, r := range append(methods(), recovery.SCLS{}) {
			if _, err := r.Recover(context.Background(), rows, p.Anchors, recovery.Options{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, entries of %g: %v", r, scale, err)
			}
		}
	}
}
