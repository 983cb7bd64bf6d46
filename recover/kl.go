package recovery

import (
	"context"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/recover/scls"
)

// Defaults of RecoverKL.
const (
	DefaultKLTol        = 1e-6
	DefaultKLIterations = 500
)

// RecoverKL finds each word's p(topic | word) as the y of the simplex that
// minimises the Kullback–Leibler divergence
//
//	D(c̄_n ‖ Σ_k y_k c̄_{s_k})
//
// of its row from the mixture of the anchors' rows, by exponentiated gradient
// from y = 1/K with a line search (arora-2013, Algorithms 3 and 5, Appendix D.2).
// The mixture is the maximum-likelihood one for the co-occurrence counts.
//
// The rows themselves are needed, d = N: those in K dimensions that ENN, LR, PALM
// and TruncatedEig lead to (cooc.LAW) are refused, for they keep inner products
// only, with which RecoverL2 and SCLS make do. Rows must not be negative: sums of
// negative entries up to 1e-6 are set to 0, more is an error.
//
// Words that no anchor co-occurs with make the divergence infinite for every y.
// They are left out of it, which changes no minimum over the others;
// Result.Unreached tells how much of the rows that was. Rectification leaves
// none, C straight from documents has many.
//
// An entry of y approaches 0 but never gets there: solutions are dense, and
// convergence is slow beside that of scls.ActiveSet. A sweep costs 4·N·K
// operations a word where RecoverL2 has 2·K². Memory: 16·N·K bytes for the anchors'
// rows and 512·N for each goroutine, beside 32·N·K.
//
// The zero value has good defaults. Algorithm 3 to the letter, with A = B†CB†ᵀ, is
// RecoverKL{Finish: Finish{Correlations: PseudoInverse}}.
type RecoverKL struct {
	// Tol is the duality gap Σy_k(∇_k − min ∇) at which a word is done, in nats:
	// no divergence is farther above its minimum. 0 means DefaultKLTol.
	Tol float64

	// MaxIterations bounds the sweeps for a word; 0 means
	// DefaultKLIterations. Words that hit it are counted in Result.Limited.
	MaxIterations int

	// Finish says how A is computed and what is done in the end.
	Finish Finish
}

func (s RecoverKL) fill() RecoverKL {
	if s.Tol == 0 {
		s.Tol = DefaultKLTol
	}
	if s.MaxIterations == 0 {
		s.MaxIterations = DefaultKLIterations
	}
	return s
}

func (s RecoverKL) String() string {
	f := s.fill()
	return fmt.Sprintf("RecoverKL(tol=%g, max=%d)", f.Tol, f.MaxIterations) + s.Finish.suffix()
}

// Validate reports settings out of range.
func (s RecoverKL) Validate() error {
	if !(s.Tol >= 0) || math.IsInf(s.Tol, 1) || s.MaxIterations < 0 {
		return fmt.Errorf("recovery: RecoverKL: %d iterations to a gap of %g; want 0 for the defaults, or more", s.MaxIterations, s.Tol)
	}
	return s.Finish.Validate()
}

// klBlock is how many words a goroutine solves at a time: their sweeps share
// products with the anchors' rows.
const klBlock = 32

// negativeMass is up to where the negative part of a row counts as rounding.
const negativeMass = 1e-6

// Recover implements Recoverer. Errors: rows in another space than that of the
// words, or with negative entries; those of SCLS.
func (s RecoverKL) Recover(ctx context.Context, rows cooc.Rows, anchors []int, opt Options) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if n, d := rows.Dims(); !explicit(rows) {
		return nil, fmt.Errorf("recovery: RecoverKL needs the rows of C̄ themselves, with their %d entries, but was given rows in %d dimensions (%T) that have the same inner products only; use RecoverL2, SCLS, or a rectifier that keeps the matrix, such as AP", n, d, rows)
	}
	s = s.fill()
	if err := noPoints("RecoverKL", opt); err != nil {
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
			return nil, err
		}
		for j, v := range row {
			reached[j] = reached[j] || v > 0
		}
	}
	u = nil
	free := p.free()
	res := p.result(len(free))
	iterations, gaps, status := make([]int, len(free)), make([]float64, len(free)), make([]scls.Status, len(free))
	divergence, unreached := make([]float64, len(free)), make([]float64, len(free))
	opt.Workers = run.Workers(opt.Workers, run.Count(len(free), klBlock))
	solvers := make([]*klSolver, opt.Workers)
	var mu sync.Mutex
	done := 0
	err = run.Chunks(ctx, len(free), klBlock, opt.Workers, func(worker, _, lo, hi int) error {
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
			res.Breve.SetRow(free[i], w.y)
			iterations[i], gaps[i], status[i], divergence[i] = w.iterations, w.gap, w.status, w.divergence
		}
		if opt.Progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done += hi - lo
			opt.Progress(done, len(free))
		}
		return nil
	})
	if err != nil {
		return nil, wrap(err)
	}
	if len(free) > 0 {
		for i := range free {
			res.Divergence += divergence[i] / float64(p.n)
			res.Unreached += unreached[i] / float64(len(free))
		}
		res.count(iterations, gaps, status)
		if err := p.residuals(ctx, res, free); err != nil {
			return nil, err
		}
	}
	return p.finish(ctx, res, s.Finish)
}

// wrap names the package where an error does not yet.
func wrap(err error) error {
	if _, ok := err.(*NegativeError); ok {
		return err
	}
	return fmt.Errorf("recovery: %w", err)
}

// NegativeError says that a number that must be a probability is negative.
type NegativeError struct {
	What        string // in words
	Word, Topic int    // −1 where none is meant
	Value       float64
	Advice      string
}

func (e *NegativeError) Error() string {
	s := "recovery: " + e.What
	if e.Word >= 0 {
		s += fmt.Sprintf(" of word %d", e.Word)
	}
	if e.Topic >= 0 {
		s += fmt.Sprintf(" of topic %d", e.Topic)
	}
	return fmt.Sprintf("%s is %g; %s", s, e.Value, e.Advice)
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
		return &NegativeError{What: "the sum of the negative entries of the row", Word: w, Topic: -1, Value: sum, Advice: "RecoverKL needs rows of probabilities, as rectify.AP leaves them"}
	}
	return nil
}

// residuals fills in what SCLS gets from its solver, from B̆ of the words free.
func (p *problem) residuals(ctx context.Context, res *Result, free []int) error {
	f, g, err := p.products(ctx)
	if err != nil {
		return err
	}
	yg := mat.NewDense(p.n, p.k, nil)
	gd := mat.DenseCopyOf(g)
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, res.Breve.RawMatrix(), gd.RawMatrix(), 0, yg.RawMatrix(), p.workers); err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	for _, w := range free {
		half := 0.0
		fw, gw := f.RawRowView(w), yg.RawRowView(w)
		for t, v := range res.Breve.RawRowView(w) {
			half += v * (0.5*gw[t] - fw[t])
		}
		p.residual(res, w, half)
	}
	return nil
}

// The constants of the line search: as those of scls.ExpGrad, but that a step
// of 1 is about that of expectation maximisation, y∘(−∇) ≈ y∘exp(−1 − ∇).
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

// klSolver solves a block of words in step: all trial points of a sweep are
// multiplied by the anchors' rows at once.
type klSolver struct {
	set   RecoverKL
	u     blas64.General // K×N
	words []klWord
	at    []int          // the words on trial, in the order of the rows below
	y     blas64.General // klBlock×K: trial points
	mix   blas64.General // klBlock×N: their mixtures, then v/mixture
	grad  blas64.General // klBlock×K
}

func newKLSolver(s RecoverKL, u blas64.General) *klSolver {
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
func (w *klWord) begin(set RecoverKL) {
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
	w.slope = -covariance(w.y, w.grad, w.grad)
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

// judge looks at the gradient of the trial point. It returns true where the
// point is taken, or no step is possible and the work is done; otherwise the next
// trial is set up. The step is to satisfy the strong Wolfe conditions along the
// curve, with φ′(η) = −cov(∇(0), ∇(η)) under the weights y(η). In place of the change
// of the divergence, which would take N logarithms, stands ∇(η)ᵀ(y(η) − y(0)): by
// convexity it is no less.
func (w *klWord) judge(grad []float64) bool {
	if w.last {
		return true
	}
	w.trials++
	mean, change := 0.0, 0.0
	for t, v := range w.y {
		mean += v * grad[t]
	}
	for t, v := range w.next { // centred: Σ(y(η) − y(0)) = 0 but for rounding
		change += (v - w.y[t]) * (grad[t] - mean)
	}
	d := -covariance(w.next, w.grad, grad)
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

// covariance returns that of a and b under the weights y, which sum to 1.
func covariance(y, a, b []float64) float64 {
	ma, mb := 0.0, 0.0
	for t, v := range y {
		ma += v * a[t]
		mb += v * b[t]
	}
	c := 0.0
	for t, v := range y {
		c += v * (a[t] - ma) * (b[t] - mb)
	}
	return c
}
