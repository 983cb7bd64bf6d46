package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/scls"
)

func recoverBy(t testing.TB, s recovery.Recoverer, r cooc.Rows, anchors []int) *recovery.Result {
	t.Helper()
	res, err := s.Recover(ctx, r, anchors, recovery.Options{})
	if err != nil {
		t.Fatalf("%v: %v", s, err)
	}
	return res
}

// errorsL1 returns the mean over topics of ‖b_k − planted‖₁ and the largest
// error of A relative to its largest entry.
func errorsL1(t testing.TB, m *testutil.Planted, anchors []int, res *recovery.Result) (l1, errA float64) {
	t.Helper()
	topics, err := m.Topics(anchors)
	if err != nil {
		t.Fatal(err)
	}
	for j, k := range topics {
		for i := range m.N {
			l1 += math.Abs(res.B.At(i, j)-m.B.At(i, k)) / float64(m.K)
		}
	}
	_, errA, err = m.Errors(anchors, res.B, res.A)
	if err != nil {
		t.Fatal(err)
	}
	return l1, errA
}

// From C without noise: inversion gives the planted model to 1e-6 of its largest
// entries, exponentiated gradient of both divergences to ℓ₁ ≤ 2e-3 within 500
// sweeps, and A likewise by each method.
func TestPlantedMethods(t *testing.T) {
	for _, k := range []int{2, 5, 20} {
		if testutil.Race && k > 5 {
			continue
		}
		m := testutil.NewPlanted(150, k, 0.5, uint64(100+k))
		r := rowsOf(t, dense(t, m.C))
		a, err := anchor.QR{}.Find(ctx, r, k, anchor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []recovery.Inverse{{}, {Project: true}} {
			res := recoverBy(t, s, r, a.Anchors)
			errB, errA, err := m.Errors(a.Anchors, res.B, res.A)
			if err != nil || errB > 1e-6 || errA > 1e-6 {
				t.Errorf("K=%d/%v: B is off by %.2g, A by %.2g, %v", k, s, errB, errA, err)
			}
			exact := recoverBy(t, recovery.SCLS{}, r, a.Anchors)
			for i := range m.N {
				for j := range k {
					near(t, s.String()+": B̆", res.WordTopics.At(i, j), exact.WordTopics.At(i, j), 1e-6)
				}
			}
		}
		if k > 5 && testing.Short() {
			continue
		}
		for _, f := range []recovery.Finish{{}, {Correlations: recovery.PseudoInverse}, {Correlations: recovery.Multiplicative}} {
			exact := recoverBy(t, recovery.SCLS{Finish: f}, r, a.Anchors)
			if _, errA := errorsL1(t, m, a.Anchors, exact); errA > 1e-6 {
				t.Errorf("K=%d/%v: A is off by %.2g", k, exact, errA)
			}
			if k > 5 && f != (recovery.Finish{}) {
				continue // seconds, and nothing new
			}
			for _, s := range []recovery.Recoverer{recovery.SCLS{Solver: scls.ExpGrad{Tol: 1e-10, MaxIterations: 500}, Finish: f}, recovery.KL{Tol: 1e-8, MaxIterations: 500, Finish: f}} {
				res := recoverBy(t, s, r, a.Anchors)
				l1, errA := errorsL1(t, m, a.Anchors, res)
				t.Logf("K=%d/%v: ℓ₁ %.2g, A %.2g, %.0f sweeps, %d limited, %d stalled", k, s, l1, errA, res.MeanIterations, res.Limited, res.Stalled)
				if l1 > 2e-3 || errA > 2e-2 {
					t.Errorf("K=%d/%v: ℓ₁ is %.2g, A is off by %.2g", k, s, l1, errA)
				}
				invariants(t, res, r, a.Anchors, f.Correlations != recovery.PseudoInverse)
			}
		}
	}
}

// klGap returns the divergence and the gap of a word's mixture, from their
// definitions; words that no anchor reaches are left out.
func klGap(r cooc.Rows, anchors []int, word int, y []float64) (divergence, gap float64) {
	n, _ := r.Dims()
	v, s := make([]float64, n), mat.NewDense(len(anchors), n, nil)
	r.RowTo(v, word)
	for t, w := range anchors {
		r.RowTo(s.RawRowView(t), w)
	}
	grad := make([]float64, len(y))
	for j, p := range v {
		q := 0.0
		for t, x := range y {
			q += x * s.At(t, j)
		}
		if p > 0 && q > 0 {
			divergence += p * math.Log(p/q)
			for t := range y {
				grad[t] -= p * s.At(t, j) / q
			}
		}
	}
	low := slices.Min(grad)
	for t, x := range y {
		gap += x * (grad[t] - low)
	}
	return divergence, gap
}

// On rows with noise: the gap and the divergence are what their definitions say,
// the gap is below the tolerance, no other point tried has a divergence smaller
// by more than it, and expectation maximisation, which is another way to the same
// minimum, comes to it.
func TestKLOptimal(t *testing.T) {
	testutil.NotWithRace(t)
	m, a := spoiled(t, 70, 6, 2)
	anchors := slices.Clone(m.Anchors)
	// A word that no anchor meets.
	lone := 0
	for slices.Contains(anchors, lone) {
		lone++
	}
	for _, s := range anchors {
		a.Set(s, lone, 0)
		a.Set(lone, s, 0)
	}
	r := rowsOf(t, dense(t, a))
	res := recoverBy(t, recovery.KL{Tol: 1e-9, MaxIterations: 20000}, r, anchors)
	if res.Limited > 0 || res.Stalled > 0 || !(res.MaxGap < 1e-9) || res.Words != 70-6 {
		t.Errorf("%d words, %d limited, %d stalled, gap %.2g", res.Words, res.Limited, res.Stalled, res.MaxGap)
	}
	if !(res.Unreached > 0 && res.Unreached < 0.2) {
		t.Errorf("unreached %g", res.Unreached)
	}
	invariants(t, res, r, anchors, true)
	rng := rand.New(rand.NewPCG(1, 1))
	sum := 0.0
	for i := range 70 {
		if slices.Contains(anchors, i) {
			continue
		}
		y := res.WordTopics.RawRowView(i)
		d, gap := klGap(r, anchors, i, y)
		sum += d
		if gap > 1.1e-9 {
			t.Errorf("word %d: gap %.3g", i, gap)
		}
		other := make([]float64, len(y))
		for range 20 {
			total := 0.0
			for j := range other {
				other[j] = y[j] * math.Exp(0.3*rng.NormFloat64())
				if rng.IntN(3) == 0 {
					other[j] += 0.02 * rng.ExpFloat64()
				}
				total += other[j]
			}
			for j := range other {
				other[j] /= total
			}
			if o, _ := klGap(r, anchors, i, other); o < d-1e-9-1e-13 {
				t.Errorf("word %d: divergence %.12g, another point has %.12g", i, d, o)
			}
		}
	}
	near(t, "mean divergence", res.Divergence, sum/72, 1e-12)

	// Expectation maximisation on one word.
	em := slices.Repeat([]float64{1.0 / 6}, 6)
	word := lone + 1
	for slices.Contains(anchors, word) {
		word++
	}
	n, _ := r.Dims()
	v, s := make([]float64, n), mat.NewDense(6, n, nil)
	r.RowTo(v, word)
	for k, w := range anchors {
		r.RowTo(s.RawRowView(k), w)
	}
	for range 20000 {
		next, total := make([]float64, 6), 0.0
		for j, p := range v {
			q := 0.0
			for k, x := range em {
				q += x * s.At(k, j)
			}
			if q > 0 {
				for k, x := range em {
					next[k] += p * x * s.At(k, j) / q
				}
			}
		}
		for _, x := range next {
			total += x
		}
		for k := range em {
			em[k] = next[k] / total
		}
	}
	d, _ := klGap(r, anchors, word, res.WordTopics.RawRowView(word))
	e, _ := klGap(r, anchors, word, em)
	near(t, "divergence by EM", e, d, 1e-9)
}

func methods() []recovery.Recoverer {
	return []recovery.Recoverer{
		recovery.L2(), recovery.KL{}, recovery.Inverse{Project: true},
		recovery.SCLS{Finish: recovery.Finish{Correlations: recovery.Multiplicative, Smooth: 1e-5}},
	}
}

// Other numbers of the words and topics give the same, and so does any number
// of workers, bit for bit. Tolerances: KL is solved to a gap of 1e-6, its
// solutions from sums in another order may end a sweep apart.
func TestMethodsEquivariant(t *testing.T) {
	m, a := spoiled(t, 80, 6, 2)
	n := 82
	order := rand.New(rand.NewPCG(3, 1)).Perm(n)
	at := make([]int, n)
	p := mat.NewDense(n, n, nil)
	for i, oi := range order {
		at[oi] = i
		for j, oj := range order {
			p.Set(i, j, a.At(oi, oj))
		}
	}
	topics := []int{3, 0, 5, 1, 2, 4}
	moved := make([]int, 6)
	for j, k := range topics {
		moved[j] = at[m.Anchors[k]]
	}
	r, rp := rowsOf(t, dense(t, a)), rowsOf(t, dense(t, p))
	for _, s := range methods() {
		want := recoverBy(t, s, r, m.Anchors)
		got := recoverBy(t, s, rp, moved)
		for i, o := range order {
			for j, k := range topics {
				near(t, s.String()+": B̆", got.WordTopics.At(i, j), want.WordTopics.At(o, k), 1e-7)
				near(t, s.String()+": B", got.B.At(i, j), want.B.At(o, k), 1e-7)
			}
		}
		for j, k := range topics {
			for l, q := range topics {
				near(t, s.String()+": A", got.A.At(j, l), want.A.At(k, q), 1e-7)
			}
		}
		// Words of no probability are in no topic.
		for _, i := range []int{80, 81} {
			for j := range 6 {
				if want.B.At(i, j) != 0 || want.WordTopics.At(i, j) != 0 {
					t.Errorf("%v: word %d never occurs and has %v", s, i, want.B.RawRowView(i))
				}
			}
		}
	}
	// Cancelled on the way: no more than the chunks in flight end.
	c, cancel := context.WithCancel(ctx)
	calls := 0
	_, err := recovery.KL{}.Recover(c, r, m.Anchors, recovery.Options{Workers: 2, Progress: func(int, int) { calls++; cancel() }})
	cancel()
	if !errors.Is(err, context.Canceled) || calls > 2 {
		t.Errorf("%d chunks, %v", calls, err)
	}
}

func TestMethodsRefuse(t *testing.T) {
	m := testutil.NewPlanted(40, 4, 0.3, 5)
	r := rowsOf(t, dense(t, m.C))
	low, err := cooc.NewLowRankSparse(m.Y(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	law, err := low.LAW(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(name string, s recovery.Recoverer, r cooc.Rows, anchors []int, want ...string) error {
		t.Helper()
		res, err := s.Recover(ctx, r, anchors, recovery.Options{})
		if err == nil || res != nil || strings.Count(err.Error(), "recovery: ") != 1 {
			t.Errorf("%s: %v", name, err)
			return err
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", name, err, w)
			}
		}
		return err
	}
	refused("KL of low-rank rows", recovery.KL{}, law, m.Anchors, "L2", "AP")

	// A second word of a topic as another's anchor: two proportional rows.
	twin := mat.DenseCopyOf(m.B)
	i, j := m.Anchors[0], m.Anchors[1]
	for k := range 4 {
		twin.Set(j, k, 0)
	}
	twin.Set(j, 0, m.B.At(i, 0)/3)
	var c mat.Dense
	c.Product(twin, m.A, twin.T())
	rt := rowsOf(t, dense(t, &c))
	refused("singular", recovery.Inverse{}, rt, m.Anchors, "C_SS", "is singular")
	// Two anchors that are alike: exponentiated gradient gives both as much, and
	// the two topics are the same.
	refused("pinv of dependent topics", recovery.L2(), sameTopics(t), []int{0, 1}, "BᵀB", "ask for fewer")

	// Noise makes the inverse negative; projected it is a model. More noise, and
	// no probabilities of anchors come out at all.
	mn, noisy := spoiled(t, 40, 4, 0)
	rn := rowsOf(t, dense(t, noisy))
	refused("negative B", recovery.Inverse{}, rn, mn.Anchors, "p(word | topic) of word ", " of topic ", " is -", "Project")
	invariantsOfB(t, recoverBy(t, recovery.Inverse{Project: true}, rn, mn.Anchors))
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range 40 {
		for j := range i {
			v := noisy.At(i, j) * math.Exp(rng.NormFloat64())
			noisy.Set(i, j, v)
			noisy.Set(j, i, v)
		}
	}
	rn = rowsOf(t, dense(t, noisy))
	a, err := anchor.QR{}.Find(ctx, rn, 4, anchor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	refused("negative z", recovery.Inverse{Project: true}, rn, a.Anchors, "p(anchor | topic) of word ", " of topic ", " is -", "rectify")

	// Anchors that meet neither themselves nor each other, as rare ones in
	// documents do.
	zero := mat.DenseCopyOf(m.C)
	for _, v := range m.Anchors {
		for _, w := range m.Anchors {
			zero.Set(v, w, 0)
		}
	}
	refused("C_SS = 0", recovery.Inverse{}, rowsOf(t, dense(t, zero)), m.Anchors, "C_SS", "is singular; ", "rectify")

	// Rows with negative entries.
	minus := mat.DenseCopyOf(m.C)
	minus.Set(2, 3, -minus.At(2, 3))
	minus.Set(3, 2, minus.At(2, 3))
	refused("KL of negative rows", recovery.KL{}, rowsOf(t, dense(t, minus)), m.Anchors, "word 2", "negative", "AP")

	for _, s := range []recovery.Recoverer{
		recovery.KL{Tol: -1}, recovery.KL{Tol: math.NaN()}, recovery.KL{MaxIterations: -1},
		recovery.Inverse{Smooth: 1},
		recovery.SCLS{Finish: recovery.Finish{Smooth: -1}}, recovery.SCLS{Finish: recovery.Finish{Correlations: 3}},
	} {
		err := s.(interface{ Validate() error }).Validate()
		if err == nil || !strings.HasPrefix(err.Error(), "recovery: ") {
			t.Errorf("%v: Validate: %v", s, err)
		}
		refused(s.String(), s, r, m.Anchors)
	}
	for _, s := range methods() {
		if err := s.(interface{ Validate() error }).Validate(); err != nil {
			t.Errorf("%v: %v", s, err)
		}
		for _, bad := range [][]int{{0, 0}, {40}, nil} {
			refused(s.String(), s, r, bad)
		}
	}
}

// sameTopics returns rows that are all alike.
func sameTopics(t *testing.T) cooc.Rows {
	c := mat.NewDense(6, 6, nil)
	for i := range 6 {
		for j := range 6 {
			c.Set(i, j, 1.0/36)
		}
	}
	// The anchors are next to nothing: their unit vectors tell topics apart.
	for i := range 2 {
		for j := range 6 {
			c.Set(i, j, 1e-12)
			c.Set(j, i, 1e-12)
		}
	}
	return rowsOf(t, dense(t, c))
}

func invariantsOfB(t *testing.T, res *recovery.Result) {
	t.Helper()
	n, k := res.B.Dims()
	for j := range k {
		sum := 0.0
		for i := range n {
			if v := res.B.At(i, j); !(v >= 0) {
				t.Errorf("B[%d,%d] = %g", i, j, v)
			}
			sum += res.B.At(i, j)
		}
		near(t, "column of B", sum, 1, 1e-12)
	}
	for i := range n {
		sum := 0.0
		for j := range k {
			sum += res.WordTopics.At(i, j)
		}
		if sum != 0 {
			near(t, "row of B̆", sum, 1, 1e-12)
		}
	}
}

// Low-rank rows know C, so that A comes out as from C itself.
func TestFinishOfLowRank(t *testing.T) {
	m := testutil.NewPlanted(60, 5, 0.3, 8)
	low, err := cooc.NewLowRankSparse(m.Y(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []recovery.Recoverer{
		recovery.SCLS{Finish: recovery.Finish{Correlations: recovery.PseudoInverse}},
		recovery.SCLS{Finish: recovery.Finish{Correlations: recovery.Multiplicative}}, recovery.Inverse{},
	} {
		res := recoverBy(t, s, rowsOf(t, low), m.Anchors)
		if errB, errA, err := m.Errors(m.Anchors, res.B, res.A); errB > 1e-6 || errA > 1e-6 || err != nil {
			t.Errorf("%v: B is off by %.2g, A by %.2g, %v", s, errB, errA, err)
		}
	}
}

// A in three forms and α, on tiny. The reference starts the
// multiplicative updates from the diagonal A and ends them after 100 or at a
// change below 1e-4, so that its A is met to rounding. Its α comes from A before
// that is divided by its sum, by a line search on a grid of some 1e-3: α is
// compared to 1 % where the sum is within 2 % of 1.
func TestGoldenTinyFinish(t *testing.T) {
	g := golden.ReadTiny(t)
	for name, full := range map[string]golden.Full{"Baseline": g.FullBase, "AP15": g.FullAP15, "AP150": g.FullAP150, "DR15": g.FullDR15} {
		r := rowsOf(t, dense(t, matrix(full.CRect)))
		want := full.ActiveSet
		for c, ref := range map[recovery.Correlations][][]float64{recovery.Diagonal: want.A, recovery.PseudoInverse: want.APinv, recovery.Multiplicative: want.AOptimize} {
			res := recoverBy(t, recovery.SCLS{Finish: recovery.Finish{Correlations: c}}, r, full.S0)
			for k := range g.K {
				for l := range g.K {
					near(t, fmt.Sprintf("%s/%v: A[%d,%d]", name, c, k, l), res.A.At(k, l), ref[k][l], 1e-9)
				}
			}
			if c == recovery.Multiplicative && (res.Updates < 2 || (len(res.Warnings) > 0) != !(res.Change < 1e-4)) {
				t.Errorf("%s: %d updates, the last changed A by %g; %q", name, res.Updates, res.Change, res.Warnings)
			}
		}
		a := matrix(want.A)
		if math.Abs(mat.Sum(a)-1) >= 0.02 {
			continue
		}
		alpha, err := recovery.FitAlpha(a)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range alpha {
			near(t, fmt.Sprintf("%s: α_%d", name, k), v, want.AlphaLineSearch[k], 0.01*want.AlphaLineSearch[k])
		}
		near(t, name+": loss", alphaLoss(a, floats.Sum(alpha))/2, want.AlphaLoss, 1e-4*want.AlphaLoss)
	}
}

func TestSmoothAnchors(t *testing.T) {
	m, a := spoiled(t, 50, 4, 1)
	r := rowsOf(t, dense(t, a))
	plain := recoverBy(t, recovery.SCLS{}, r, m.Anchors)
	smooth := recoverBy(t, recovery.SCLS{Finish: recovery.Finish{Smooth: 1e-3}}, r, m.Anchors)
	if !mat.Equal(plain.A, smooth.A) || !mat.Equal(plain.WordTopics, smooth.WordTopics) {
		t.Error("A or B̆ changed")
	}
	for k := range 4 {
		sum := 0.0
		for i := range 51 {
			want := plain.B.At(i, k)
			if slices.Contains(m.Anchors, i) && want == 0 {
				want = 1e-3
			}
			near(t, "B", smooth.B.At(i, k), want/(1+3e-3), 1e-15)
			sum += smooth.B.At(i, k)
		}
		near(t, "column", sum, 1, 1e-12)
	}
	inv := recoverBy(t, recovery.Inverse{Project: true, Smooth: 1e-3}, r, m.Anchors)
	invariantsOfB(t, inv)
	if inv.B.At(m.Anchors[0], 1) < 9e-4 {
		t.Error("Inverse does not smooth")
	}
}

func TestMethodNames(t *testing.T) {
	for want, s := range map[string]recovery.Recoverer{
		"RecoverKL(tol=1e-06, max=500)":                               recovery.KL{},
		"ExpGrad(line search, tol=1e-07, max=1000), A pseudo-inverse": recovery.L2(),
		"Inverse": recovery.Inverse{},
		"Inverse(projected), anchors smoothed by 1e-05":                         recovery.Inverse{Project: true, Smooth: 1e-5},
		(scls.ActiveSet{}).String() + ", A multiplicative(max=100, tol=0.0001)": recovery.SCLS{Finish: recovery.Finish{Correlations: recovery.Multiplicative}},
	} {
		if s.String() != want {
			t.Errorf("%q, want %q", s, want)
		}
	}
}
