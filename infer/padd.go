package infer

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// PADD is prior-aware dual decomposition (lee-2018 §4.3.2): least squares, as
// [LeastSquares], under the constraint that the topic proportions of all documents
// together have the topic correlations A,
//
//	min Σ_m ‖Bw_m − h̃_m‖²  over w_m in the simplex with (1/M)Σ w_m w_mᵀ = A.
//
// The constraint has a matrix Λ of dual variables. Given Λ, each document is a problem
// of its own, min wᵀ(BᵀB + Λ/M)w − 2(Bᵀh̃)ᵀw. Learn finds Λ/M from a collection by a
// subgradient method. Prepare takes it from Topics.Dual and then solves any document
// alone, in the time of LeastSquares.
//
// Where BᵀB + Λ/M is positive definite along the simplex, the problem of a document
// is solved exactly, by an active-set method. Elsewhere a local minimum is found and the
// status is [LocalMinimum]. (The paper takes a fixed number of sweeps of ADMM everywhere.)
type PADD struct {
	// Steps is the number of times that Learn solves all documents; 0: 15, as in the paper.
	Steps int

	// Step is the length s of the first step of Learn, in (0, 100]; 0 means 0.01. It
	// is relative: Λ/M ← Λ/M − s·λ_max(BᵀB)/‖A‖_F·(A − WWᵀ/M). The paper gives no
	// length.
	Step float64

	// Tol, in [0, 1), ends Learn when ‖A − WWᵀ/M‖_F falls to Tol·‖A‖_F; 0 means 1e-6.
	Tol float64

	// Prior replaces Topics.A in Learn: K×K, symmetric, scaled to sum 1. nil: Topics.A.
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
	p.Steps, p.Step, p.Tol = cmp.Or(p.Steps, 15), cmp.Or(p.Step, 0.01), cmp.Or(p.Tol, 1e-6)
	return p, nil
}

func (p PADD) String() string {
	q, _ := p.fill()
	more := ""
	if p.Tol > 0 {
		more = fmt.Sprintf(", tol=%g", p.Tol)
	}
	if p.Prior != nil {
		more += ", own prior"
	}
	return fmt.Sprintf("PADD(steps=%d, s=%g%s)", q.Steps, q.Step, more)
}

// Prepare implements Method. It needs t.Dual, from Learn; without it the error is a
// [*TopicsError]. NK² flops and O(K³).
func (p PADD) Prepare(ctx context.Context, t Topics, opt Options) (_ *Inferer, err error) {
	defer named(&err)
	if _, err := p.fill(); err != nil {
		return nil, err
	}
	if t.Dual == nil {
		return nil, &TopicsError{"Dual", -1, -1, "is nil: PADD.Learn finds it"}
	}
	return prepareQuadratic(ctx, p.String(), t, t.Dual, opt)
}
