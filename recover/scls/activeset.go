package scls

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/simplex"
)

// ActiveSet is a primal active-set method. It finds the exact minimum, to
// rounding: KKT gaps are of the order of 1e-15 times the largest entries of G and f,
// whatever the start.
//
// A warm start gives the set of positive coordinates; the right one takes a single step. If
// the optimum is not unique, a warm start may find another of its points. Problems whose gap
// rounding keeps above about 1e-12 of the scale are Stalled.
//
// Cost for each problem: O(K·P) a step, with P positive coordinates, in P steps or a
// few more. Memory: O(K²) a worker.
type ActiveSet struct {
	// MaxIterations bounds the equality-constrained solves of one problem, to within the K of
	// a last step; 0 means 20K + 200, far above what is needed in practice.
	MaxIterations int
}

func (a ActiveSet) String() string {
	if a.MaxIterations > 0 {
		return fmt.Sprintf("ActiveSet(max=%d)", a.MaxIterations)
	}
	return "ActiveSet"
}

// Validate implements [Solver].
func (a ActiveSet) Validate() error {
	if a.MaxIterations < 0 {
		return settingError("ActiveSet", "MaxIterations", float64(a.MaxIterations), "≥ 0")
	}
	return nil
}

// Solve implements [Solver].
func (a ActiveSet) Solve(ctx context.Context, g mat.Symmetric, f, y *mat.Dense, opt Options) (*Result, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	p, err := check(g, f, y, opt)
	if err != nil {
		return nil, err
	}
	q := p.Quadratic(a.MaxIterations, p.fmax)
	res := newResult(p.n)
	err = solve(ctx, p, opt, q.Solver, func(s *simplex.Solver, lo, hi int) error {
		for i := lo; i < hi; i++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			o, err := s.Solve(p.y.RawRowView(i), p.f.RawRowView(i), p.warm)
			if err != nil {
				return err
			}
			res.Objective[i], res.KKTGap[i], res.Iterations[i], res.Status[i] = o.Objective, o.Gap, o.Iterations, Status(o.Status)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}
