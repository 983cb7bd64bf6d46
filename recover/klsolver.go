package recovery

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/simplex"
	"github.com/jsmf-go/spectral/recover/scls"
)

// The constants of the line search are those of scls.ExpGrad, except the first step: 1 is
// about the step of expectation maximisation, y∘(−∇) ≈ y∘exp(−1 − ∇).
const (
	klArmijo    = 1e-4
	klCurvature = 0.9
	klTrials    = 60
	klFirstStep = 1
	klFloor     = 1e-20
)

// klWord is the state of the work on one word.
type klWord struct {
	v          []float64 // c̄_n
	y, grad    []float64 // the point and the gradient there
	next       []float64 // the trial point
	low, slope float64   // min ∇ and φ′(0)
	eta        float64   // the step on trial
	lo, hi     float64   // the bracket
	trials     int
	last       bool // the trial is taken whatever comes
	iterations int
	gap        float64
	divergence float64
	status     scls.Status
	done       bool
}

// klSolver solves a block of words in lockstep: all trial points of a sweep are
// multiplied by the anchors' rows at once.
type klSolver struct {
	set   KL
	u     blas64.General // K×N
	words []klWord
	at    []int          // the words on trial, in the order of the rows below
	y     blas64.General // klBlock×K: trial points
	mix   blas64.General // klBlock×N: their mixtures, then v/mixture
	grad  blas64.General // klBlock×K
}

func newKLSolver(s KL, u blas64.General) *klSolver {
	k, n := u.Rows, u.Cols
	x := &klSolver{set: s, u: u, words: make([]klWord, klBlock), at: make([]int, 0, klBlock),
		y: linalg.NewGeneral(klBlock, k), mix: linalg.NewGeneral(klBlock, n), grad: linalg.NewGeneral(klBlock, k)}
	v, b := linalg.NewGeneral(klBlock, n), linalg.NewGeneral(3*klBlock, k)
	for i := range x.words {
		x.words[i] = klWord{v: linalg.Row(v, i), y: linalg.Row(b, 3*i), grad: linalg.Row(b, 3*i+1), next: linalg.Row(b, 3*i+2)}
	}
	return x
}

// row returns where the row of word i of the block goes.
func (x *klSolver) row(i int) []float64 { return x.words[i].v }

// solve solves for the first m words.
func (x *klSolver) solve(ctx context.Context, m int) error {
	k := x.u.Rows
	for i := range m {
		w := &x.words[i]
		*w = klWord{v: w.v, y: w.y, grad: w.grad, next: w.next}
		for t := range w.next {
			w.next[t] = 1 / float64(k)
		}
	}
	for begun := false; ; begun = true {
		x.at = x.at[:0]
		for i := range m {
			if w := &x.words[i]; !w.done {
				copy(linalg.Row(x.y, len(x.at)), w.next)
				x.at = append(x.at, i)
			}
		}
		if len(x.at) == 0 {
			return nil
		}
		if err := x.evaluate(ctx); err != nil {
			return err
		}
		for r, i := range x.at {
			w := &x.words[i]
			grad := linalg.Row(x.grad, r)
			if begun {
				if !w.judge(grad) {
					continue // another trial
				}
				if w.done { // stalled: y stays as it was
					w.finish(x.u)
					continue
				}
				w.iterations++
			}
			copy(w.y, w.next)
			copy(w.grad, grad)
			w.begin(x.set)
			if w.done {
				w.finish(x.u)
			}
		}
	}
}

// evaluate computes the gradients −Σ_j u_kj v_j/(yᵀu)_j at the trial points.
func (x *klSolver) evaluate(ctx context.Context) error {
	m := len(x.at)
	y, mix, grad := x.y, x.mix, x.grad
	y.Rows, mix.Rows, grad.Rows = m, m, m
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, y, x.u, 0, mix, 1); err != nil {
		return err
	}
	for r, i := range x.at {
		row := linalg.Row(mix, r)
		for j, v := range x.words[i].v {
			if v > 0 { // some anchor reaches j, and every y_k > 0
				row[j] = v / row[j]
			} else {
				row[j] = 0
			}
		}
	}
	return linalg.Gemm(ctx, blas.NoTrans, blas.Trans, -1, mix, x.u, 0, grad, 1)
}

// begin starts a sweep from y with its gradient, or ends the work.
func (w *klWord) begin(set KL) {
	w.low = math.Inf(1)
	for _, g := range w.grad {
		w.low = min(w.low, g)
	}
	w.gap = 0
	for t, v := range w.y {
		w.gap += v * (w.grad[t] - w.low)
	}
	switch {
	case w.gap < set.Tol:
		w.done = true
		return
	case w.iterations == set.MaxIterations:
		w.status, w.done = scls.IterationLimit, true
		return
	}
	w.slope = -simplex.Covariance(w.y, w.grad, w.grad)
	if !(w.slope < 0) {
		w.status, w.done = scls.Stalled, true
		return
	}
	if w.eta == 0 {
		w.eta = klFirstStep
	} else {
		w.eta *= 2
	}
	w.lo, w.hi, w.trials, w.last = 0, math.Inf(1), 0, false
	w.try()
}

// try sets next = y∘exp(−η∇)/Σ.
func (w *klWord) try() {
	sum := 0.0
	for t, v := range w.y {
		v = max(v*math.Exp(-w.eta*(w.grad[t]-w.low)), klFloor)
		w.next[t] = v
		sum += v
	}
	for t := range w.next {
		w.next[t] /= sum
	}
}

// judge decides on the trial point by its gradient. It returns true if the point is taken,
// or if no step is possible and the word is done; otherwise it sets up the next trial. The
// step is to satisfy the strong Wolfe conditions along the curve, with φ′(η) =
// −cov(∇(0), ∇(η)) under the weights y(η). The change of the divergence would take N
// logarithms; ∇(η)ᵀ(y(η) − y(0)), which by convexity is no less, takes its place.
func (w *klWord) judge(grad []float64) bool {
	if w.last {
		return true
	}
	w.trials++
	mean, change := 0.0, 0.0
	for t, v := range w.y {
		mean += v * grad[t]
	}
	for t, v := range w.next { // centred, to keep out the rounding of Σ(y(η) − y(0)) = 0
		change += (v - w.y[t]) * (grad[t] - mean)
	}
	d := -simplex.Covariance(w.next, w.grad, grad)
	switch {
	case !(change <= klArmijo*w.eta*w.slope):
		w.hi = w.eta
	case d < klCurvature*w.slope: // still falling steeply
		w.lo = w.eta
	case d > -klCurvature*w.slope: // rising steeply
		w.hi = w.eta
	default:
		return true
	}
	switch {
	case w.trials == klTrials && w.lo == 0:
		w.status, w.done = scls.Stalled, true
		return true
	case w.trials == klTrials:
		w.eta, w.last = w.lo, true
	case math.IsInf(w.hi, 1):
		w.eta *= 2
	default:
		w.eta = (w.lo + w.hi) / 2
	}
	w.try()
	return false
}

// finish computes the divergence.
func (w *klWord) finish(u blas64.General) {
	mix := make([]float64, u.Cols)
	for t, y := range w.y {
		for j, v := range linalg.Row(u, t) {
			mix[j] += y * v
		}
	}
	w.divergence = 0
	for j, v := range w.v {
		if v > 0 {
			w.divergence += v * math.Log(v/mix[j])
		}
	}
}
