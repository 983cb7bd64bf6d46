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
	"github.com/jsmf-go/spectral/internal/arith"
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
// Memory: 48·N·K bytes, and 16·N for each goroutine.
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

// klBlock is how many words a goroutine takes at a time.
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
			k = newKLSolver(ut)
			solvers[worker] = k
		}
		for i := lo; i < hi; i++ {
			p.rows.RowTo(k.v, free[i])
			if err := clipRow(k.v, free[i]); err != nil {
				return err
			}
			for j, v := range k.v {
				if v > 0 && !reached[j] {
					unreached[i] += v
					k.v[j] = 0
				}
			}
			var err error
			if iterations[i], gaps[i], status[i], err = k.solve(ctx, s); err != nil {
				return err
			}
			res.WordTopics.SetRow(free[i], k.Y)
			divergence[i] = k.divergence()
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
			half += float64(v * (float64(0.5*gw[t]) - fw[t]))
		}
		p.residual(res, w, half)
	}
	return nil
}

// klSolver is the state of one word.
type klSolver struct {
	*simplex.Descent
	u   mat.Dense     // the anchors' rows, K×N
	v   []float64     // c̄_n
	mix *mat.VecDense // yᵀu, then v/mix
}

func newKLSolver(u blas64.General) *klSolver {
	x := &klSolver{v: make([]float64, u.Cols), mix: mat.NewVecDense(u.Cols, nil)}
	x.u.SetRawMatrix(u)
	// 1 is about the step of expectation maximisation, y∘(−∇) ≈ y∘exp(−1 − ∇).
	x.Descent = simplex.NewDescent(u.Rows, 1, false, x.gradient)
	return x
}

// gradient computes −Σ_j u_kj v_j/(yᵀu)_j.
func (x *klSolver) gradient(dst, y []float64) {
	x.mix.MulVec(x.u.T(), mat.NewVecDense(len(y), y))
	mix := x.mix.RawVector().Data
	for j, v := range x.v {
		if v > 0 { // some anchor reaches j, and every y_k > 0
			mix[j] = v / mix[j]
		} else {
			mix[j] = 0
		}
	}
	to := mat.NewVecDense(len(dst), dst)
	to.MulVec(&x.u, x.mix)
	to.ScaleVec(-1, to)
}

// solve solves for v from the centre of the simplex.
func (x *klSolver) solve(ctx context.Context, set KL) (iterations int, gap float64, status scls.Status, err error) {
	for t := range x.Y {
		x.Y[t] = 1 / float64(len(x.Y))
	}
	for x.Begin(); ; iterations++ {
		low := simplex.Lowest(x.Grad, x.Y)
		gap = 0
		for t, v := range x.Y {
			gap += float64(v * (x.Grad[t] - low))
		}
		switch {
		case gap < set.Tol:
			return iterations, gap, status, ctx.Err()
		case iterations == set.MaxIterations:
			return iterations, gap, scls.IterationLimit, ctx.Err()
		case ctx.Err() != nil:
			return iterations, gap, status, ctx.Err()
		case !x.Step():
			return iterations, gap, scls.Stalled, nil
		}
	}
}

// divergence is that of v from the mixture.
func (x *klSolver) divergence() float64 {
	x.mix.MulVec(x.u.T(), mat.NewVecDense(len(x.Y), x.Y))
	sum := 0.0
	for j, v := range x.v {
		if v > 0 {
			sum += float64(v * arith.Log(v/x.mix.AtVec(j)))
		}
	}
	return sum
}
