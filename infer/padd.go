package infer

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// PADD is prior-aware dual decomposition (lee-2018 §4.3.2): compositions near
// to the documents' words, as in LeastSquares, that together have the topic
// correlations A,
//
//	min Σ_m ‖Bw_m − h̃_m‖²  over w_m in the simplex with (1/M)Σ w_m w_mᵀ = A.
//
// The constraint gets a matrix Λ of dual variables, and given Λ every document is
// a problem of its own, min wᵀ(BᵀB + Λ/M)w − 2(Bᵀh̃)ᵀw. Learn finds Λ/M from a
// collection by a subgradient method. Prepare takes it from Topics.Dual, and then
// solves any document alone, in the time of LeastSquares.
//
// Where BᵀB + Λ/M is positive definite along the simplex, the problem of a
// document is solved exactly (by an active-set method); elsewhere, which many compositions
// with few topics may lead to, a local minimum is found and the status is
// LocalMinimum. (The paper takes a fixed number of sweeps of ADMM everywhere.)
type PADD struct {
	// Steps is how often Learn solves all documents; 0 means 15, as in the
	// paper.
	Steps int

	// Step is the first step s of Learn, in (0, 100]; 0 means 0.01. It is scaled
	// by the data: Λ/M ← Λ/M − s·λ_max(BᵀB)/‖A‖_F·(A − WWᵀ/M). The paper gives no
	// step.
	Step float64

	// Tol ends Learn when ‖A − WWᵀ/M‖_F falls to it times ‖A‖_F; 0 means 1e-6.
	Tol float64

	// Prior replaces Topics.A in Learn: K×K, symmetric, scaled to sum 1. nil:
	// Topics.A. It has no use in Prepare.
	Prior *mat.Dense
}

func (p PADD) fill() (PADD, error) {
	switch {
	case p.Steps < 0:
		return p, &SettingError{"PADD", "Steps", float64(p.Steps), "≥ 1, or 0 for 15"}
	case !(p.Step >= 0 && p.Step <= 100):
		return p, &SettingError{"PADD", "Step", p.Step, "in (0, 100], or 0 for 0.01"}
	case !(p.Tol >= 0 && p.Tol < 1):
		return p, &SettingError{"PADD", "Tol", p.Tol, "in (0, 1), or 0 for 1e-6"}
	}
	if p.Steps == 0 {
		p.Steps = 15
	}
	if p.Step == 0 {
		p.Step = 0.01
	}
	if p.Tol == 0 {
		p.Tol = 1e-6
	}
	return p, nil
}

func (p PADD) String() string {
	q, err := p.fill()
	if err != nil {
		q = p
	}
	more := ""
	if p.Tol > 0 {
		more = fmt.Sprintf(", tol=%g", p.Tol)
	}
	if p.Prior != nil {
		more += ", own prior"
	}
	return fmt.Sprintf("PADD(steps=%d, s=%g%s)", q.Steps, q.Step, more)
}

// ErrNoDual says that PADD has no dual variables.
var ErrNoDual = errors.New("infer: PADD: Topics.Dual is nil: learn it with PADD.Learn")

// Prepare implements Method: PADD for single documents, with the Λ/M in t.Dual.
// Without it the error is ErrNoDual. NK² flops and O(K³).
func (p PADD) Prepare(ctx context.Context, t Topics, opt Options) (*Inferer, error) {
	if _, err := p.fill(); err != nil {
		return nil, err
	}
	c, err := check(t)
	if err != nil {
		return nil, err
	}
	if t.Dual == nil {
		return nil, ErrNoDual
	}
	g, err := gram(ctx, c.B, opt.Workers)
	if err != nil {
		return nil, err
	}
	q, err := newQuadratic(c, g, t.Dual, 0)
	if err != nil {
		return nil, err
	}
	return newInferer(p.String(), c, q), nil
}

// LearnStatus tells why PADD.Learn ended.
type LearnStatus uint8

const (
	// LearnSteps: all steps were taken.
	LearnSteps LearnStatus = iota
	// LearnConverged: the residual fell to the tolerance.
	LearnConverged
	// LearnStalled: after good steps none brought the residual down any more, not
	// even one 10⁴ times shorter than the first.
	LearnStalled
	// LearnDiverged: no step at all brought the residual below that of Λ = 0,
	// which Dual then holds.
	LearnDiverged
)

func (s LearnStatus) String() string {
	switch s {
	case LearnSteps:
		return "all steps taken"
	case LearnConverged:
		return "converged"
	case LearnStalled:
		return "stalled"
	case LearnDiverged:
		return "diverged"
	}
	return fmt.Sprintf("LearnStatus(%d)", uint8(s))
}

// LearnStep is a step of PADD.Learn: one solution of all documents.
type LearnStep struct {
	Step     float64 // s that led here; 0 for the first, which has Λ = 0
	Residual float64 // ‖A − WWᵀ/M‖_F
	Convex   bool    // whether BᵀB + Λ/M was positive definite along the simplex
	Best     bool    // whether the residual is the least so far, beyond rounding; where not, the step was taken back
}

// Learned is what PADD.Learn found.
type Learned struct {
	// Dual is Λ/M, K×K, of the step with the least residual; for Topics.Dual.
	Dual *mat.SymDense
	// Residual is ‖A − WWᵀ/M‖_F there.
	Residual float64
	// Documents is M, the documents with a known token.
	Documents int
	Status    LearnStatus
	Steps     []LearnStep // in their order
}

// Learn finds the dual variables from a collection of documents, normally those
// that the model was learned from. Documents without a known token take no
// part. Their compositions are then those of the Inferer that Prepare makes of t
// with the learned Dual.
//
// It begins with Λ = 0 and takes subgradient steps; one that raises the residual
// is taken back and tried again with half the length, and after a good one the
// next is longer by half. The result is the same bits for any opt.Workers.
//
// Errors: *TopicsError, *SettingError, *VocabularyError, those of InferTo for
// the documents, and ctx's. Cost: Steps times LeastSquares on all documents, from
// the second on with a warm start. Memory: 16·M·K bytes.
func (p PADD) Learn(ctx context.Context, t Topics, docs Documents, opt Options) (*Learned, error) {
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
	// As an inference, so that documents are checked as everywhere.
	p := newInferer("", c, projection{c.rows})
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
		return nil, errors.New("infer: PADD: no document holds a word that the model knows")
	}
	return b.W.Slice(0, known, 0, c.k).(*mat.Dense), nil
}

type projection struct{ rows *rows }

func (p projection) scratch() any { return nil }

func (p projection) infer(dst []float64, d *document, _ any) (Status, int, error) {
	p.rows.project(dst, d)
	return Converged, 0, nil
}

const (
	stepShrink = 0.5
	stepGrow   = 1.5
	stepLeast  = 1e-4 // of the first
	roundoff   = 1e-12
)

// learn is Learn after the checks; row m of f is Bᵀh̃_m.
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
	var e mat.EigenSym
	if !e.Factorize(btb, false) {
		return nil, errors.New("infer: PADD: the eigenvalues of BᵀB cannot be found")
	}
	val := e.Values(nil)
	normA := mat.Norm(a, 2)
	unit := val[len(val)-1] / normA

	m, k := f.Dims()
	w := mat.NewDense(m, k, nil) // the solutions of the best step
	next := mat.NewDense(m, k, nil)
	dual, trial := mat.NewSymDense(k, nil), mat.NewSymDense(k, nil)
	gap, gapNext := mat.NewSymDense(k, nil), mat.NewSymDense(k, nil) // WWᵀ/M − A
	out := &Learned{Documents: m, Residual: math.Inf(1), Status: LearnSteps}
	size := 0.0
	for t := range p.Steps {
		trial.CopySym(dual)
		if t > 0 {
			for i := range k {
				for j := i; j < k; j++ {
					trial.SetSym(i, j, dual.At(i, j)+size*unit*gap.At(i, j))
				}
			}
		}
		q, err := newQuadratic(c, btb, trial, 0)
		if err != nil {
			return nil, err
		}
		next.Copy(w)
		if err := q.solveAll(ctx, f, next, t > 0, opt.Workers); err != nil {
			return nil, err
		}
		res, err := residual(ctx, gapNext, next, a, opt.Workers)
		if err != nil {
			return nil, err
		}
		best := t == 0 || res < out.Residual-roundoff*normA
		out.Steps = append(out.Steps, LearnStep{Step: size, Residual: res, Convex: q.exact != nil, Best: best})
		if opt.Progress != nil {
			opt.Progress(t+1, p.Steps)
		}
		if best {
			out.Residual = res
			w, next = next, w
			dual, trial = trial, dual
			gap, gapNext = gapNext, gap
			size *= stepGrow
		} else {
			size *= stepShrink
		}
		if t == 0 {
			size = p.Step
		}
		if out.Residual <= p.Tol*normA {
			out.Status = LearnConverged
			break
		}
		if size < stepLeast*p.Step {
			out.Status = LearnStalled
			break
		}
	}
	if n := len(out.Steps); n > 1 && out.Residual == out.Steps[0].Residual {
		out.Status = LearnDiverged
	}
	out.Dual = dual
	return out, nil
}

// solveAll solves for every row of f.
func (q *quadratic) solveAll(ctx context.Context, f, w *mat.Dense, warm bool, workers int) error {
	m, _ := f.Dims()
	scratch := make([]*quadraticScratch, m/docChunk+1) // by worker, no more than chunks
	return inChunks(ctx, m, docChunk, Options{Workers: workers}, func(worker, lo, hi int) error {
		s := scratch[worker]
		if s == nil {
			s = q.scratch().(*quadraticScratch)
			scratch[worker] = s
		}
		for i := lo; i < hi; i++ {
			copy(s.f, f.RawRowView(i))
			if _, _, err := q.solve(w.RawRowView(i), s, warm); err != nil {
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
		return 0, fmt.Errorf("infer: %w", err)
	}
	ss := 0.0
	for i := range k {
		for j := i; j < k; j++ {
			d := s.Data[i*k+j]/float64(m) - a.At(i, j)
			gap.SetSym(i, j, d)
			if i != j {
				ss += d * d
			}
			ss += d * d
		}
	}
	return math.Sqrt(ss), nil
}
