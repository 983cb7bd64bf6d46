package scls

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/simplex"
)

// ExpGrad is the exponentiated gradient y ← y∘exp(−η·2∇)/Σ, ∇ = Gy − f, from
// y = 1/K, in the two forms of the papers:
//
//   - with a line search (Step 0, the default): a step for each problem and
//     sweep that satisfies the strong Wolfe conditions along the curve
//     (arora-2013, Appendix D.2 and Algorithm 5);
//   - with a fixed step η = Step, as in the programs around lee-2018 and lee-2020
//     ([PaperExpGrad]).
//
// Both end when the KKT gap Σy_k(∇_k − min ∇) falls below Tol; it bounds the distance to
// the optimal objective (D.2 derives it as λᵀy). Entries approach zero but never reach it,
// so that solutions are dense and convergence is slow: the method is there for comparison
// with the papers. With the line search entries stay above 1e-20, because an entry of zero
// could not grow again, and a warm start is mixed with 1e-6 of the centre.
//
// Cost of a sweep: 2K² flops and K exponentials for each problem, and as much
// again for every further trial of the line search.
type ExpGrad struct {
	// Step is η of the fixed step, in units of 1/G; 0 means line search. The papers use 50.
	// Beyond about 1/λ_max(G) sweeps may oscillate and end by IterationLimit.
	Step float64
	// Tol is the KKT gap to end at; 0 means 1e-7 with line search and 5e-6 with the fixed
	// step (1e-5 in the papers, of the gradient 2∇).
	Tol float64
	// MaxIterations bounds the sweeps; 0 means 1000 with line search, 500 with the fixed step.
	MaxIterations int
}

// PaperExpGrad returns the settings of the papers: η = 50, a KKT gap on 2∇ of
// 1e-5 or 500 sweeps.
func PaperExpGrad() ExpGrad { return ExpGrad{Step: 50, Tol: 5e-6, MaxIterations: 500} }

func (e ExpGrad) withDefaults() ExpGrad {
	tol, sweeps := 5e-6, 500
	if e.Step == 0 {
		tol, sweeps = 1e-7, 1000
	}
	e.Tol, e.MaxIterations = cmp.Or(e.Tol, tol), cmp.Or(e.MaxIterations, sweeps)
	return e
}

func (e ExpGrad) String() string {
	e = e.withDefaults()
	step := "line search"
	if e.Step != 0 {
		step = fmt.Sprintf("η=%g", e.Step)
	}
	return fmt.Sprintf("ExpGrad(%s, tol=%g, max=%d)", step, e.Tol, e.MaxIterations)
}

// Validate implements [Solver].
func (e ExpGrad) Validate() error {
	switch {
	case !(e.Step >= 0) || math.IsInf(e.Step, 0):
		return settingError("ExpGrad", "Step", e.Step, "> 0, or 0 for line search")
	case !(e.Tol >= 0):
		return settingError("ExpGrad", "Tol", e.Tol, "> 0, or 0 for the default")
	case e.MaxIterations < 0:
		return settingError("ExpGrad", "MaxIterations", float64(e.MaxIterations), "≥ 1, or 0 for the default")
	}
	return nil
}

// warmMix is how much of the centre of the simplex is mixed into a warm start.
const warmMix = 1e-6

// Below tiny, entries are flushed to zero under the fixed step: soon they would turn subnormal, with
// which arithmetic is slow.
const tiny = 1e-290

// Solve implements [Solver].
func (e ExpGrad) Solve(ctx context.Context, g mat.Symmetric, f, y *mat.Dense, opt Options) (*Result, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	e = e.withDefaults()
	p, err := check(g, f, y, opt)
	if err != nil {
		return nil, err
	}
	res := newResult(p.n)
	err = solve(ctx, p, opt, func() *egSolver { return newEGSolver(p) }, func(s *egSolver, lo, hi int) error {
		for i := lo; i < hi; i++ {
			if err := s.solve(ctx, p, i, e, res); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

func (p *problem) egStart(y []float64, i int) {
	if !p.warm {
		for j := range y {
			y[j] = 1 / float64(p.k)
		}
		return
	}
	copy(y, p.y.RawRowView(i))
	simplex.Normalise(y)
	for j := range y {
		y[j] = float64((1-warmMix)*y[j]) + warmMix/float64(p.k)
	}
}

// egSolver is the state of one problem.
type egSolver struct {
	*simplex.Descent
	f     []float64
	index []int
}

func newEGSolver(p *problem) *egSolver {
	s := &egSolver{index: make([]int, p.k)}
	s.Descent = simplex.NewDescent(p.k, 100, true, func(dst, y []float64) { simplex.Gradient(dst, p.Data, s.f, y, s.index) })
	return s
}

func (s *egSolver) solve(ctx context.Context, p *problem, at int, e ExpGrad, res *Result) error {
	s.f = p.f.RawRowView(at)
	p.egStart(s.Y, at)
	s.Begin()
	obj, gap := simplex.Gap(s.Grad, s.f, s.Y)
	it, status := 0, Converged
	for ; gap >= e.Tol; it++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if it == e.MaxIterations {
			status = IterationLimit
			break
		}
		if e.Step > 0 {
			simplex.Multiply(s.Y, s.Y, s.Grad, simplex.Lowest(s.Grad, s.Y), 2*e.Step, tiny, 0)
			simplex.Gradient(s.Grad, p.Data, s.f, s.Y, s.index)
		} else if !s.Step() {
			status = Stalled
			break
		}
		obj, gap = simplex.Gap(s.Grad, s.f, s.Y)
	}
	copy(p.y.RawRowView(at), s.Y)
	res.Objective[at], res.KKTGap[at], res.Iterations[at], res.Status[at] = obj, gap, it, status
	return nil
}
