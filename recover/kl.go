package recovery

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/simplex"
	"github.com/jsmf-go/spectral/recover/scls"
)

// KL finds each word's p(topic | word) as the y of the simplex that
// minimises the Kullback–Leibler divergence
//
//	D(c̄_n ‖ Σ_k y_k c̄_{s_k})
//
// of its row from the mixture of the anchors' rows, by exponentiated gradient
// from y = 1/K with a line search (RecoverKL of arora-2013, Algorithms 3 and 5,
// Appendix D.2). The mixture has the maximum likelihood for the co-occurrence
// counts.
//
// The rows must be explicit: the low-rank rows of ENN, LR, PALM and TruncatedEig
// ([cooc.LowRankSparse.LAW]) only have the same inner products, which is enough for L2 and
// [SCLS]. Negative entries that sum to at most 1e-6 in a row are set to 0; more is an error.
//
// Words that no anchor co-occurs with make the divergence infinite for every y. They are
// left out, which does not move the minimum over the others; Result.Unreached is their
// share of the rows. Rectification leaves none; C straight from documents has many.
//
// Entries of y approach 0 but never reach it: solutions are dense, and convergence is slow
// compared with [scls.ActiveSet]. A sweep costs 4·N·K operations a word; that of L2, 2·K².
// Memory: 48·N·K bytes, and 512·N for each goroutine.
//
// The zero value is ready for use. Algorithm 3 to the letter, with A = B†CB†ᵀ, is
// KL{Finish: Finish{Correlations: PseudoInverse}}.
type KL struct {
	// Tol is the duality gap Σy_k(∇_k − min ∇) at which a word is done, in nats: no
	// divergence is farther above its minimum. 0 means 1e-6.
	Tol float64
	// MaxIterations bounds the sweeps for a word; 0 means 500. Words that hit it are counted
	// in Result.Limited.
	MaxIterations int
	// Finish says how A is computed and how the model is changed afterwards.
	Finish Finish
}

func (s KL) fill() KL {
	s.Tol, s.MaxIterations = cmp.Or(s.Tol, 1e-6), cmp.Or(s.MaxIterations, 500)
	return s
}

func (s KL) String() string {
	f := s.fill()
	return fmt.Sprintf("RecoverKL(tol=%g, max=%d)", f.Tol, f.MaxIterations) + s.Finish.suffix()
}

// Validate reports settings out of range.
func (s KL) Validate() error {
	if !(s.Tol >= 0) || math.IsInf(s.Tol, 1) || s.MaxIterations < 0 {
		return fmt.Errorf("recovery: KL: %d iterations to a gap of %g; want 0 for the defaults, or more", s.MaxIterations, s.Tol)
	}
	return s.Finish.Validate()
}

// klBlock is how many words a goroutine solves at a time: their sweeps share
// products with the anchors' rows.
const klBlock = 32

// negativeMass is up to where the negative part of a row counts as rounding.
const negativeMass = 1e-6

// Recover implements Recoverer. Errors: rows in another space than that of the
// words, or with negative entries; those of [SCLS].
func (s KL) Recover(ctx context.Context, rows cooc.Rows, anchors []int, opt Options) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if n, d := rows.Dims(); !rows.Explicit() {
		return nil, fmt.Errorf("recovery: KL needs the rows of C̄ themselves, with their %d entries, but was given rows in %d dimensions (%T) that have the same inner products only; use L2, SCLS, or a rectifier that keeps the matrix, such as AP", n, d, rows)
	}
	s = s.fill()
	if err := noPoints("KL", opt); err != nil {
		return nil, err
	}
	p, err := begin(ctx, rows, anchors, opt)
	if err != nil {
		return nil, err
	}
	u, err := p.anchorRows(ctx)
	if err != nil {
		return nil, err
	}
	ut := linalg.NewGeneral(p.k, p.n) // the anchors' rows as rows
	reached := make([]bool, p.n)
	for t, w := range p.anchors {
		row := linalg.Row(ut, t)
		for j := range row {
			row[j] = u.At(j, t)
		}
		if err := clipRow(row, w); err != nil {
			return nil, fmt.Errorf("recovery: %w", err)
		}
		for j, v := range row {
			reached[j] = reached[j] || v > 0
		}
	}
	u = nil
	free := p.free()
	res := p.result(len(free))
	if len(free) > 0 {
		if err := s.solve(ctx, p, res, ut, reached, opt); err != nil {
			return nil, fmt.Errorf("recovery: %w", err)
		}
		if err := p.residuals(ctx, res, free); err != nil {
			return nil, err
		}
	}
	return p.finish(ctx, res, s.Finish)
}

// solve finds B̆ of all words except the anchors. ut holds the anchors' rows, reached the
// words that any anchor co-occurs with.
func (s KL) solve(ctx context.Context, p *problem, res *Result, ut blas64.General, reached []bool, opt Options) error {
	free := p.free()
	iterations, gaps, status := make([]int, len(free)), make([]float64, len(free)), make([]scls.Status, len(free))
	divergence, unreached := make([]float64, len(free)), make([]float64, len(free))
	opt.Workers = parallel.Workers(opt.Workers, parallel.Count(len(free), klBlock))
	solvers := make([]*klSolver, opt.Workers)
	err := parallel.Progress(ctx, len(free), klBlock, opt.Workers, opt.Progress, func(worker, lo, hi int) error {
		k := solvers[worker]
		if k == nil {
			k = newKLSolver(s, ut)
			solvers[worker] = k
		}
		for i := lo; i < hi; i++ {
			row := k.row(i - lo)
			p.rows.RowTo(row, free[i])
			if err := clipRow(row, free[i]); err != nil {
				return err
			}
			for j, v := range row {
				if v > 0 && !reached[j] {
					unreached[i] += v
					row[j] = 0
				}
			}
		}
		if err := k.solve(ctx, hi-lo); err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			w := &k.words[i-lo]
			res.WordTopics.SetRow(free[i], w.y)
			iterations[i], gaps[i], status[i], divergence[i] = w.iterations, w.gap, w.status, w.divergence
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range free {
		res.Divergence += divergence[i] / float64(p.n)
		res.Unreached += unreached[i] / float64(len(free))
	}
	res.count(iterations, gaps, status)
	return nil
}

// clipRow sets negative entries of the row of word w to 0 if they are rounding.
func clipRow(row []float64, w int) error {
	sum := 0.0
	for j, v := range row {
		if v < 0 {
			sum += v
			row[j] = 0
		}
	}
	if !(sum >= -negativeMass) {
		return fmt.Errorf("the negative entries of the row of word %d sum to %.9g; KL needs rows of probabilities, as rectify.AP leaves them", w, sum)
	}
	return nil
}

// residuals sets the residuals of the words in free from their B̆.
func (p *problem) residuals(ctx context.Context, res *Result, free []int) error {
	f, g, err := p.products(ctx)
	if err != nil {
		return err
	}
	yg := mat.NewDense(p.n, p.k, nil)
	gd := mat.DenseCopyOf(g)
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, res.WordTopics.RawMatrix(), gd.RawMatrix(), 0, yg.RawMatrix(), p.workers); err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	for _, w := range free {
		half := 0.0
		fw, gw := f.RawRowView(w), yg.RawRowView(w)
		for t, v := range res.WordTopics.RawRowView(w) {
			half += v * (0.5*gw[t] - fw[t])
		}
		p.residual(res, w, half)
	}
	return nil
}

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
