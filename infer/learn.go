package infer

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
)

// Learned is the result of [PADD.Learn].
type Learned struct {
	// Dual is Λ/M, K×K, of the step with the least residual, for Topics.Dual.
	Dual *mat.SymDense
	// Residual is ‖A − WWᵀ/M‖_F with it.
	Residual float64
	// Residuals holds that of each step tried, the first with Λ = 0. A step that
	// raised it was taken back.
	Residuals []float64
	// Documents is M, the number of documents with a known token.
	Documents int
	// Status is Converged, IterationLimit after all steps, Stalled if the last good step was
	// followed by none that lowered the residual, not even one 10⁴ times shorter than the
	// first, or Diverged.
	Status Status
}

// Learn finds the dual variables from a collection of documents, normally those that
// the model was learned from. Documents without a known token do not count. It begins with
// Λ = 0 and takes subgradient steps. A step that raises the residual is taken back and tried
// again with half the length; after a good one the next is longer by half. The result is the
// same bits for any opt.Workers.
//
// Errors: [*TopicsError], also where neither t.A nor p.Prior is given; [*SettingError];
// documents that InferTo refuses; that of ctx. Cost: Steps times [LeastSquares] on all
// documents, from the second on with a warm start. Memory: 16·M·K bytes.
func (p PADD) Learn(ctx context.Context, t Topics, docs Documents, opt Options) (_ *Learned, err error) {
	defer named(&err)
	q, err := p.fill()
	if err != nil {
		return nil, err
	}
	c, err := check(t)
	if err != nil {
		return nil, err
	}
	f, err := c.projections(ctx, docs, opt)
	if err != nil {
		return nil, err
	}
	return q.learn(ctx, c, f, opt)
}

// projections returns the vectors Bᵀh̃ of the documents with a known token, a row
// each.
func (c *checked) projections(ctx context.Context, docs Documents, opt Options) (*mat.Dense, error) {
	p := newInferer("", c, projection{c.rows()}) // which checks the documents
	b, err := p.Infer(ctx, docs, Options{Workers: opt.Workers})
	if err != nil {
		return nil, err
	}
	known := 0
	for i, d := range b.Docs {
		if d.Status == NoTokens {
			continue
		}
		if known < i {
			copy(b.W.RawRowView(known), b.W.RawRowView(i))
		}
		known++
	}
	if known == 0 {
		return nil, errors.New("PADD: no document holds a word that the model knows")
	}
	return b.W.Slice(0, known, 0, c.k).(*mat.Dense), nil
}

type projection struct{ rows *rows }

func (p projection) scratch() any { return nil }

func (p projection) infer(_ context.Context, dst []float64, d *document, _ any) (Status, int, error) {
	p.rows.project(dst, d)
	return Converged, 0, nil
}

const (
	stepShrink = 0.5
	stepGrow   = 1.5
	stepLeast  = 1e-4 // of the first
	roundoff   = 1e-12
)

// dualLearner is the state of Learn.
type dualLearner struct {
	PADD
	c     *checked
	opt   Options
	a, f  *mat.Dense    // A; row m is Bᵀh̃ of document m
	btb   *mat.SymDense // BᵀB
	unit  float64       // λ_max(BᵀB)/‖A‖_F
	normA float64

	best, next dualStep // the best so far, and the one tried
	out        *Learned
}

// dualStep is a step of Learn.
type dualStep struct {
	w    *mat.Dense    // the solutions
	dual *mat.SymDense // Λ/M
	gap  *mat.SymDense // WWᵀ/M − A
}

func newDualStep(m, k int) dualStep {
	return dualStep{mat.NewDense(m, k, nil), mat.NewSymDense(k, nil), mat.NewSymDense(k, nil)}
}

// learn is Learn after the checks; row m of f is Bᵀh̃ of document m.
func (p PADD) learn(ctx context.Context, c *checked, f *mat.Dense, opt Options) (*Learned, error) {
	a := c.a
	if p.Prior != nil {
		var err error
		if a, err = scaledToOne("A (PADD.Prior)", p.Prior, c.k); err != nil {
			return nil, err
		}
	}
	if a == nil {
		return nil, &TopicsError{"A", -1, -1, "is nil: PADD needs it, or a Prior"}
	}
	btb, err := gram(ctx, c.B, opt.Workers)
	if err != nil {
		return nil, err
	}
	val, err := linalg.Eigenvalues(btb)
	if err != nil {
		return nil, fmt.Errorf("PADD: BᵀB: %w", err)
	}
	m, k := f.Dims()
	l := &dualLearner{
		PADD: p, c: c, opt: opt, a: a, f: f, btb: btb, normA: mat.Norm(a, 2),
		best: newDualStep(m, k), next: newDualStep(m, k),
		out: &Learned{Documents: m, Residual: math.Inf(1), Status: IterationLimit},
	}
	l.unit = val[len(val)-1] / l.normA
	if err := l.run(ctx); err != nil {
		return nil, err
	}
	return l.out, nil
}

// run takes the steps.
func (l *dualLearner) run(ctx context.Context) error {
	out, size := l.out, 0.0
	for t := range l.Steps {
		best, err := l.step(ctx, t, size)
		if err != nil {
			return err
		}
		if l.opt.Progress != nil {
			l.opt.Progress(t+1, l.Steps)
		}
		switch {
		case t == 0:
			size = l.Step
		case best:
			size *= stepGrow
		default:
			size *= stepShrink
		}
		if out.Residual <= l.Tol*l.normA {
			out.Status = Converged
			break
		}
		if size < stepLeast*l.Step {
			out.Status = Stalled
			break
		}
	}
	if len(out.Residuals) > 1 && out.Residual == out.Residuals[0] {
		out.Status = Diverged
	}
	out.Dual = l.best.dual
	return nil
}

// step tries a step of the given length from the best Λ, and reports whether it is
// better.
func (l *dualLearner) step(ctx context.Context, t int, size float64) (bool, error) {
	for i := range l.c.k { // no step of size 0 moves
		for j := i; j < l.c.k; j++ {
			l.next.dual.SetSym(i, j, l.best.dual.At(i, j)+float64(size*l.unit*l.best.gap.At(i, j)))
		}
	}
	q, err := newQuadratic(l.c, l.btb, l.next.dual)
	if err != nil {
		return false, err
	}
	l.next.w.Copy(l.best.w)
	if err := q.solveAll(ctx, l.f, l.next.w, t > 0, l.opt.Workers); err != nil {
		return false, err
	}
	res, err := residual(ctx, l.next.gap, l.next.w, l.a, l.opt.Workers)
	if err != nil {
		return false, err
	}
	best := t == 0 || res < l.out.Residual-float64(roundoff*l.normA)
	l.out.Residuals = append(l.out.Residuals, res)
	if best {
		l.out.Residual = res
		l.best, l.next = l.next, l.best
	}
	return best, nil
}

// solveAll solves for every row of f.
func (q *quadratic) solveAll(ctx context.Context, f, w *mat.Dense, warm bool, workers int) error {
	m, _ := f.Dims()
	scratch := make([]*quadraticScratch, m/docChunk+1) // by worker, no more than chunks
	return parallel.Chunks(ctx, m, docChunk, workers, func(worker, _, lo, hi int) error {
		if scratch[worker] == nil {
			scratch[worker] = q.scratch().(*quadraticScratch)
		}
		s := scratch[worker]
		for i := lo; i < hi; i++ {
			copy(s.f, f.RawRowView(i))
			if _, _, err := q.solve(ctx, w.RawRowView(i), s, warm); err != nil {
				return fmt.Errorf("document %d of those with known words: %w", i, err)
			}
		}
		return nil
	})
}

// residual sets gap = WWᵀ/M − A (W with a row a document) and returns its
// Frobenius norm.
func residual(ctx context.Context, gap *mat.SymDense, w, a *mat.Dense, workers int) (float64, error) {
	m, k := w.Dims()
	s := blas64.General{Rows: k, Cols: k, Stride: k, Data: make([]float64, k*k)}
	if err := linalg.Gram(ctx, w.RawMatrix(), s, workers); err != nil {
		return 0, err
	}
	ss := 0.0
	for i := range k {
		for j := i; j < k; j++ {
			d := s.Data[i*k+j]/float64(m) - a.At(i, j)
			gap.SetSym(i, j, d)
			if i != j {
				ss += float64(d * d)
			}
			ss += float64(d * d)
		}
	}
	return math.Sqrt(ss), nil
}
