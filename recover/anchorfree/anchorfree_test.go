package anchorfree

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/synth"
	"github.com/jsmf-go/spectral/internal/testutil"
)

var learners = []Learner{LP{}, PDS{}}

func learn(t testing.TB, l Learner, c cooc.Matrix, k int, opt Options) *Result {
	t.Helper()
	r, err := l.Learn(ctx, c, k, opt)
	if err != nil {
		t.Fatalf("%v: %v", l, err)
	}
	return r
}

// invariants are those of any result.
func invariants(t *testing.T, l Learner, r *Result) {
	t.Helper()
	n, k := r.B.Dims()
	share := make([]float64, k)
	for j := range k {
		s := 0.0
		for i := range n {
			if v := r.B.At(i, j); !(v >= 0) {
				t.Errorf("%v: B[%d, %d] = %g", l, i, j, v)
			} else {
				s += v
			}
		}
		if math.Abs(s-1) > 1e-12 {
			t.Errorf("%v: topic %d sums to %g", l, j, s)
		}
		for m := range k {
			share[j] += r.A.At(j, m)
			if r.A.At(j, m) != r.A.At(m, j) {
				t.Errorf("%v: A is not symmetric at [%d, %d]", l, j, m)
			}
		}
		if j > 0 && share[j] > share[j-1]+1e-12*share[0] {
			t.Errorf("%v: the share of topic %d, %g, follows %g", l, j, share[j], share[j-1])
		}
	}
	for i := range n {
		s := 0.0
		for j := range k {
			v := r.WordTopics.At(i, j)
			s += v
			if !(v >= 0) {
				t.Errorf("%v: WordTopics[%d, %d] = %g", l, i, j, v)
			}
		}
		if want := r.Marginals[i] > 0; want && math.Abs(s-1) > 1e-12 || !want && s != 0 {
			t.Errorf("%v: the topics of word %d sum to %g", l, i, s)
		}
	}
	// det A = det M⁻¹ΛM⁻ᵀ.
	det, _ := mat.LogDet(r.A)
	want := -2 * r.LogDet
	for _, v := range r.Eigenvalues {
		want += math.Log(v)
	}
	if math.Abs(det-want) > 1e-8*(1+math.Abs(want)) {
		t.Errorf("%v: ln|det A| = %g, want %g", l, det, want)
	}
}

// Topics that are sufficiently scattered but have no anchor words come back. LP
// finds a vertex, exact up to the rounding of the eigenvectors; PDS stops at
// its tolerance of 1e-7.
func TestExact(t *testing.T) {
	for _, k := range []int{1, 2, 3, 5, 8, 12} {
		if k > 8 && testing.Short() || k > 3 && testutil.Race {
			continue
		}
		n := 60 * max(k, 3)
		for seed := range uint64(4) {
			b, a := synth.Scattered(n, k, 0, seed)
			for i := range n { // no anchors by chance
				row, nz := b.RawRowView(i), 0
				for _, v := range row {
					if v > 0 {
						nz++
					}
				}
				if nz == 1 && k > 2 {
					clear(row)
				}
			}
			for j := range k {
				s := mat.Sum(b.ColView(j))
				for i := range n {
					b.Set(i, j, b.At(i, j)/s)
				}
			}
			d := dense(t, synth.Cooccurrence(b, a))
			for i, l := range learners {
				r := learn(t, l, d, k, Options{})
				invariants(t, l, r)
				if r.Limited {
					t.Errorf("%v, K = %d, seed %d: not converged after %d", l, k, seed, r.Iterations)
				}
				errB, errA, err := synth.Errors(b, a, r.B, r.A)
				tol := []float64{1e-18, 1e-10}[i]
				if err != nil || errB > tol || errA > tol*1e3 {
					t.Errorf("%v, K = %d, seed %d: squared errors %g and %g, %v", l, k, seed, errB, errA, err)
				}
				if neg := []float64{1e-9, 1e-5}[i]; r.Negative > neg {
					t.Errorf("%v, K = %d, seed %d: %g of a topic was negative", l, k, seed, r.Negative)
				}
			}
		}
	}
}

// Separable topics, with correlations, too.
func TestSeparable(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	p := testutil.NewPlanted(200, 8, 0.5, 11)
	for i, l := range learners {
		r := learn(t, l, dense(t, p.C), 8, Options{})
		errB, errA, err := synth.Errors(p.B, p.A, r.B, r.A)
		if tol := []float64{1e-16, 1e-9}[i]; err != nil || errB > tol || errA > tol {
			t.Errorf("%v: squared errors %g and %g, %v", l, errB, errA, err)
		}
		var diff mat.Dense
		for j := range 8 { // p(topic | word) of the best match
			best := math.Inf(1)
			for m := range 8 {
				diff.Reset()
				diff.Sub(r.WordTopics.Slice(0, 200, j, j+1), p.WordTopics().Slice(0, 200, m, m+1))
				best = min(best, mat.Norm(&diff, math.Inf(1)))
			}
			if tol := []float64{1e-7, 1e-2}[i]; best > tol {
				t.Errorf("%v: p(topic %d | word) is off by %g", l, j, best)
			}
		}
	}
}

// Without an exact model too the constraints hold, LP's columns are each the
// best given the others, and PDS gets about as far.
func TestNoisy(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	p := testutil.NewPlanted(120, 5, 0.3, 21)
	lengths := make([]int, 800)
	for i := range lengths {
		lengths[i] = 30 + i%50
	}
	c := mat.NewDense(120, 120, nil)
	for _, d := range p.Documents(lengths, 22) {
		for i, x := range d {
			for j, y := range d {
				c.Set(i, j, c.At(i, j)+float64(x)*float64(y))
			}
		}
	}
	c.Scale(1/mat.Sum(c), c)
	m := dense(t, c)
	byLP, byPDS := learn(t, LP{}, m, 5, Options{}), learn(t, PDS{}, m, 5, Options{})
	for _, r := range []*Result{byLP, byPDS} {
		invariants(t, LP{}, r)
		if r.Limited || math.Abs(mat.Sum(r.A)-1) > 0.05 {
			t.Errorf("limited: %v, ΣA = %g", r.Limited, mat.Sum(r.A))
		}
	}
	if byLP.Clipped > 0 && byLP.Negative > 1e-9 || byPDS.Negative > 1e-5 {
		t.Errorf("negative: %g and %g", byLP.Negative, byPDS.Negative)
	}
	// Both are local optima, seldom different ones.
	if math.Abs(byPDS.LogDet-byLP.LogDet) > 0.05 {
		t.Errorf("ln|det M| is %g by LP and %g by PDS", byLP.LogDet, byPDS.LogDet)
	}
}

// What must not matter: the order of the words, the scale of C, its form, the
// number of workers.
func TestEquivariance(t *testing.T) {
	const n, k = 150, 5
	b, a := synth.Scattered(n, k, 0, 5)
	c := synth.Cooccurrence(b, a)
	perm := rand.New(rand.NewPCG(1, 2)).Perm(n)
	permuted, scaled := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i, x := range perm {
		for j, y := range perm {
			permuted.Set(i, j, c.At(x, y))
		}
	}
	scaled.Scale(7, c)
	sym := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			sym.SetSym(i, j, a.At(i, j))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sym) {
		t.Fatal("A is not positive definite")
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	var y mat.Dense
	y.Mul(b, &lower)
	low, err := cooc.NewLowRankSparse(&y, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range learners {
		tol := []float64{1e-9, 1e-5}[i]
		r := learn(t, l, dense(t, c), k, Options{Workers: 1})
		near := func(what string, got *Result, word func(i int) int, scale float64) {
			t.Helper()
			for i := range n {
				for j := range k {
					if d := got.B.At(i, j) - r.B.At(word(i), j); !(math.Abs(d) <= tol) {
						t.Fatalf("%v, %s: B[%d, %d] is off by %g", l, what, i, j, d)
					}
				}
			}
			for i := range k {
				for j := range k {
					if d := got.A.At(i, j)/scale - r.A.At(i, j); !(math.Abs(d) <= 1e3*tol) {
						t.Fatalf("%v, %s: A[%d, %d] is off by %g", l, what, i, j, d)
					}
				}
			}
		}
		same := func(i int) int { return i }
		near("permuted", learn(t, l, dense(t, permuted), k, Options{}), func(i int) int { return perm[i] }, 1)
		near("scaled", learn(t, l, dense(t, scaled), k, Options{}), same, 7)
		near("YYᵀ", learn(t, l, low, k, Options{}), same, 1)
		for _, w := range []int{3, 2, 0} {
			if testutil.Race && w != 3 {
				continue
			}
			g := learn(t, l, dense(t, c), k, Options{Workers: w})
			if !mat.Equal(g.B, r.B) || !mat.Equal(g.A, r.A) || !mat.Equal(g.WordTopics, r.WordTopics) || g.Pivots != r.Pivots {
				t.Errorf("%v: %d workers give other bits", l, w)
			}
		}
	}
}

// Words that never occur are in no topic; one that C knows but the K
// eigenvectors do not gets the shares of the topics.
func TestEmptyWords(t *testing.T) {
	const n, k = 80, 3
	b, a := synth.Scattered(n, k, 2, 8)
	for _, i := range []int{10, 33} {
		clear(b.RawRowView(i))
	}
	for j := range k {
		s := mat.Sum(b.ColView(j))
		for i := range n {
			b.Set(i, j, b.At(i, j)/s)
		}
	}
	c := synth.Cooccurrence(b, a)
	c.Set(33, 33, 1e-9) // far below the K-th eigenvalue
	for _, l := range learners {
		r := learn(t, l, dense(t, c), k, Options{})
		invariants(t, l, r)
		if r.Empty < 2 {
			t.Errorf("%v: %d words are empty, want at least 2", l, r.Empty)
		}
		total := mat.Sum(r.A)
		for j := range k {
			if r.B.At(10, j) != 0 || r.B.At(33, j) != 0 || r.WordTopics.At(10, j) != 0 {
				t.Errorf("%v: an empty word is in topic %d", l, j)
			}
			share := 0.0
			for m := range k {
				share += r.A.At(j, m) / total
			}
			if math.Abs(r.WordTopics.At(33, j)-share) > 1e-12 {
				t.Errorf("%v: p(topic %d | word 33) = %g, want the share %g", l, j, r.WordTopics.At(33, j), share)
			}
		}
	}
}

func TestLimited(t *testing.T) {
	b, a := synth.Scattered(200, 6, 0, 2)
	c := dense(t, synth.Cooccurrence(b, a))
	for _, l := range []Learner{LP{MaxSweeps: 1}, PDS{MaxIterations: 3}} {
		r := learn(t, l, c, 6, Options{})
		invariants(t, l, r)
		if !r.Limited {
			t.Errorf("%v: converged", l)
		}
	}
}

func TestProgress(t *testing.T) {
	b, a := synth.Scattered(100, 4, 0, 2)
	c := dense(t, synth.Cooccurrence(b, a))
	for _, l := range learners {
		last := 0
		learn(t, l, c, 4, Options{Progress: func(done, total int, v float64) {
			if done <= last || done > total || math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%v: %d of %d, value %g, after %d", l, done, total, v, last)
			}
			last = done
		}})
		if last < 2 {
			t.Errorf("%v: %d reports", l, last)
		}
	}
}

// bad is a matrix that multiplies to NaN.
type bad struct{ *cooc.Dense }

func (bad) MulTo(_ context.Context, dst, _ *mat.Dense, _ int) error {
	dst.Set(1, 0, math.NaN())
	return nil
}

func TestErrors(t *testing.T) {
	b, a := synth.Scattered(30, 3, 0, 6)
	c := dense(t, synth.Cooccurrence(b, a))
	neg := mat.DenseCopyOf(c.Matrix())
	neg.Scale(-1, neg)
	for _, l := range learners {
		for _, k := range []int{-1, 0, 31} {
			if _, err := l.Learn(ctx, c, k, Options{}); err == nil || !strings.Contains(err.Error(), "is not in [1, 30]") {
				t.Errorf("%v: K = %d: %v", l, k, err)
			}
		}
		small := mat.DenseCopyOf(c.Matrix())
		small.Scale(1e-308, small)
		if _, err := l.Learn(ctx, dense(t, small), 3, Options{}); err == nil || !strings.Contains(err.Error(), "too small to normalise") {
			t.Errorf("%v: denormal entries: %v", l, err)
		}
		var rank *RankError
		if _, err := l.Learn(ctx, c, 5, Options{}); !errors.As(err, &rank) || rank.Rank != 3 || rank.K != 5 {
			t.Errorf("%v: 5 topics of rank 3: %v", l, err)
		}
		if _, err := l.Learn(ctx, dense(t, neg), 2, Options{}); !errors.As(err, &rank) || rank.Rank != 0 {
			t.Errorf("%v: negative definite: %v", l, err)
		}
		if _, err := l.Learn(ctx, dense(t, mat.NewDense(4, 4, nil)), 2, Options{}); !errors.As(err, &rank) || rank.Rank != 0 {
			t.Errorf("%v: zero: %v", l, err)
		}
		one := mat.NewDense(4, 4, nil)
		for i := range 16 {
			one.Set(i/4, i%4, 1./16)
		}
		if _, err := l.Learn(ctx, dense(t, one), 2, Options{}); err == nil || !strings.Contains(err.Error(), "ask for one topic") {
			t.Errorf("%v: rank 1: %v", l, err)
		}
		if _, err := l.Learn(ctx, bad{c}, 3, Options{}); err == nil || !strings.Contains(err.Error(), "not finite") {
			t.Errorf("%v: NaN: %v", l, err)
		}
		done, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := l.Learn(done, c, 3, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: cancelled: %v", l, err)
		}
		// While it works.
		stopped, stop := context.WithCancel(ctx)
		_, err := l.Learn(stopped, c, 3, Options{Progress: func(done, _ int, _ float64) { stop() }})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v: cancelled in the middle: %v", l, err)
		}
		stop()
	}
	inf, nan := math.Inf(1), math.NaN()
	for _, l := range []Learner{
		LP{MaxSweeps: -1}, LP{Tol: -1}, LP{Tol: nan}, LP{Tol: inf},
		PDS{MaxIterations: -1}, PDS{Tol: -1}, PDS{Tol: nan}, PDS{Tol: inf},
	} {
		if _, err := l.Learn(ctx, c, 3, Options{}); err == nil || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%+v: %v", l, err)
		}
	}
}
