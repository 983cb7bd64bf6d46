package rectify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/internal/linalg"
)

// settings are what the loop needs to know of a method.
type settings struct {
	name       string // of the method, for errors
	iterations int
	tol        float64 // compared with step.compared; 0: off
	least      int     // the iterations before tol counts
	eigenTol   float64
	rows       bool // the method needs rows of the matrix, not only products
}

// validate reports settings out of range.
func (s settings) validate() error {
	if s.iterations < 0 {
		return fmt.Errorf("rectify: %s: %d iterations", s.name, s.iterations)
	}
	if !(s.tol >= 0) || math.IsInf(s.tol, 0) || !(s.eigenTol >= 0) || s.eigenTol > 0.1 {
		return fmt.Errorf("rectify: %s: tolerances %g and %g; want ≥ 0, the eigenpairs' at most 0.1", s.name, s.tol, s.eigenTol)
	}
	return nil
}

func (s settings) eigen() string { return fmt.Sprintf("eigentol=%g", s.eigenTol) }

// string names a method and the settings that all iterative methods share.
func (s settings) string(more ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s(iterations=%d", s.name, s.iterations)
	if s.tol > 0 {
		fmt.Fprintf(&b, ", tol=%g", s.tol)
	}
	for _, m := range more {
		b.WriteString(", " + m)
	}
	return b.String() + ")"
}

// configured is a Rectifier whose method runs in the loop.
type configured interface {
	Validate() error
	settings() settings
}

// method is an iterative method: what it does in the loop.
type method interface {
	// begin prepares the first iteration.
	begin(ctx context.Context, l *loop) error
	// step makes iteration t, counted from 1.
	step(ctx context.Context, l *loop, t int) (step, error)
	// finish sets l.res.C and the measures of the result.
	finish(ctx context.Context, l *loop) error
}

// step is what a method reports of an iteration.
type step struct {
	change   float64 // ‖C_t − C_{t−1}‖_F, or what stands for it
	compared float64 // what the tolerance is compared with
	zeroed   int     // entries set to zero; −1: not counted
}

// loop makes the iterations of a method. It owns their number, the tolerance, the
// record of changes, progress, the eigenpairs and the counts of products and cold
// starts.
type loop struct {
	settings
	c     cooc.Operator
	m     cooc.Matrix // c with its rows; nil if the method needs none
	n, k  int
	opt   Options
	op    linalg.Op     // multiplies by the iterate, at first by c
	block *linalg.Block // the last pairs, of which k are to tolerance; nil: cold start
	res   *Result
}

// iterate checks the settings of a method and runs it.
func iterate(ctx context.Context, c cooc.Operator, k int, opt Options, r configured, m method) (*Result, error) {
	l, err := newLoop(c, k, opt, r)
	if err != nil {
		return nil, err
	}
	if err := l.run(ctx, m); err != nil {
		return nil, errs.Errorf("rectify", "%s: %w", l.name, err)
	}
	return l.res, nil
}

func newLoop(c cooc.Operator, k int, opt Options, r configured) (*loop, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if err := check(c, k); err != nil {
		return nil, err
	}
	l := &loop{settings: r.settings(), c: c, n: c.Dim(), k: k, opt: opt, op: operator(c, opt.Workers)}
	l.res = &Result{Stats: Stats{Status: IterationLimit}}
	if l.rows {
		var err error
		if l.m, err = matrix(l.name, c); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *loop) run(ctx context.Context, m method) error {
	if err := m.begin(ctx, l); err != nil {
		return err
	}
	for t := 1; t <= l.iterations; t++ {
		s, err := m.step(ctx, l, t)
		if err != nil {
			return err
		}
		l.res.Iterations = t
		l.res.Changes = append(l.res.Changes, s.change)
		if s.zeroed >= 0 {
			l.res.Nonzeros = append(l.res.Nonzeros, s.zeroed)
		}
		if l.opt.Progress != nil {
			l.opt.Progress(t, l.iterations, s.change)
		}
		if l.tol > 0 && t >= l.least && s.compared <= l.tol {
			l.res.Status = Converged
			break
		}
	}
	if l.block != nil {
		l.res.Eigenvalues = slices.Clone(l.theta())
	}
	l.block = nil
	return m.finish(ctx, l)
}

// multiplyBy makes m the iterate.
func (l *loop) multiplyBy(m *linalg.LowRankSparse) {
	l.op = func(ctx context.Context, dst, x blas64.General) error { return m.Mul(ctx, dst, x, l.opt.Workers) }
}

// operator makes a linalg.Op of a matrix.
func operator(c cooc.Operator, workers int) linalg.Op {
	return func(ctx context.Context, dst, x blas64.General) error {
		var d, m mat.Dense
		d.SetRawMatrix(dst)
		m.SetRawMatrix(x)
		return c.MulTo(ctx, &d, &m, workers)
	}
}

func check(c cooc.Operator, k int) error {
	if n := c.Dim(); k < 1 || k > n {
		return fmt.Errorf("rectify: K = %d is not in [1, %d], the number of words", k, n)
	}
	return nil
}

// matrix returns c as a Matrix, for methods that need its rows.
func matrix(method string, c cooc.Operator) (cooc.Matrix, error) {
	m, ok := c.(cooc.Matrix)
	if !ok {
		return nil, fmt.Errorf("rectify: %s: the matrix (%s) only multiplies, and the method needs its rows; use LR, or documents in memory", method, cmp.Or(c.Info().Form, "caller's"))
	}
	return m, nil
}
