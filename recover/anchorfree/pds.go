package anchorfree

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

const (
	// progress is the fraction of the previous violation below which the
	// multipliers are updated (Shi and Hong 2017, the framework of PDS).
	progress = 0.9
	// balance is the ratio of what is left of the constraints to what is left of
	// the gradient, both relative, below which ρ does not shrink: with a ρ that is
	// too small, steps are small too.
	balance = 0.01
	// stationary times Tol bounds what is left of the gradient.
	stationary = 1e3
)

// PDS is AnchorFree-PDS (fu-2018, Algorithms 2 and 3): penalty-dual splitting of
//
//	min −ln|det M|  subject to  UM = Z, 1ᵀUM = 1ᵀ, Z ≥ 0.
//
// Inner steps decrease −ln|det M| + ‖UM − Z + ρW‖²/2ρ over Z, exactly, and over M, by
// a step to the minimiser of a local model, shortened by a line search if needed. A
// round ends when they change little. Then the multipliers W are updated if
// ‖UM − Z‖ has fallen or is already small compared with the gradient; otherwise the
// penalty ρ shrinks.
//
// It differs from the paper in three points, because with the paper's rules it
// does not converge on real word counts. The rows of U are scaled to unit length and
// its basis is made orthonormal again, so that rare words count. M is scaled by the
// distance of two corners of the polytope, which makes the settings independent of
// C and N. The threshold of a round is 0.9 of the violation of the previous round
// instead of a given sequence, and a round has at most InnerSteps steps.
//
// The result is a stationary point, found to Tol and not to rounding. It and LP's
// may be different local optima. Where a model fits exactly, some 500 steps reach
// the default Tol. On word counts, which no model fits exactly, the last digits are
// slow: the default is often not reached within MaxIterations, and LP is faster. Tol
// 1e-4 then takes a tenth of the steps or fewer, for topics as good by the measures
// of fu-2018, and from K = 30 on less time than LP.
//
// Cost: the eigenpairs, about 2K+20 products with C; two linear programs like
// those of LP; 4·N·K² + O(K³) operations an inner step, of which there are hundreds
// to thousands. Memory: 56·N·K bytes. The zero value is ready for use. Safe for
// concurrent use.
type PDS struct {
	// MaxIterations bounds the inner steps of all rounds; 0 means 20000. At the
	// limit the result is Limited and Result.Negative tells what is missing.
	MaxIterations int
	// Tol ends the rounds once both ‖UM − Z‖_F, rows scaled, and the last change
	// of M and Z are at most Tol·√K; 0 means 1e-7.
	Tol float64
	// Rho is the first ρ; 0 means 1.
	Rho float64
	// Shrink is the factor, in (0, 1), by which ρ shrinks, and by which the change
	// that ends a round shrinks from one to the next; 0 means ½.
	Shrink float64
	// Eta is the first threshold of ‖UM − Z‖_F and of the change that ends a round;
	// 0 means 1e-3.
	Eta float64
	// InnerSteps bounds the steps of a round; 0 means 10. With only a few, M may
	// grow before the constraints hold it, and topics may be lost.
	InnerSteps int
	// Proximal is μ, the weight of ‖M − M̂‖²/2 in the local model; 0 means 1e-4.
	Proximal float64
}

// settings returns d with the defaults filled in.
func (d PDS) settings() PDS {
	for _, x := range []struct {
		v *float64
		d float64
	}{{&d.Tol, 1e-7}, {&d.Rho, 1}, {&d.Shrink, 0.5}, {&d.Eta, 1e-3}, {&d.Proximal, 1e-4}} {
		if *x.v == 0 {
			*x.v = x.d
		}
	}
	if d.MaxIterations == 0 {
		d.MaxIterations = 20000
	}
	if d.InnerSteps == 0 {
		d.InnerSteps = 10
	}
	return d
}

func (d PDS) String() string {
	d = d.settings()
	return fmt.Sprintf("AnchorFree-PDS(tol=%g, max iterations=%d, inner=%d, ρ=%g, c=%g, η=%g, μ=%g)", d.Tol, d.MaxIterations, d.InnerSteps, d.Rho, d.Shrink, d.Eta, d.Proximal)
}

// Validate reports settings out of range.
func (d PDS) Validate() error {
	ok := d.MaxIterations >= 0 && d.InnerSteps >= 0 && d.Shrink >= 0 && d.Shrink < 1
	for _, v := range []float64{d.Tol, d.Rho, d.Eta, d.Proximal} {
		ok = ok && v >= 0 && !math.IsInf(v, 0)
	}
	if !ok {
		return fmt.Errorf("anchorfree: PDS: MaxIterations %d, InnerSteps %d, Tol %g, Rho %g, Shrink %g, Eta %g, Proximal %g out of range", d.MaxIterations, d.InnerSteps, d.Tol, d.Rho, d.Shrink, d.Eta, d.Proximal)
	}
	return nil
}

// Learn implements Learner. Errors: as of LP; a linear program tells beforehand
// whether there is any solution.
func (d PDS) Learn(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	d = d.settings()
	p, err := newProblem(ctx, c, k, opt.Workers)
	if err != nil {
		return nil, err
	}
	corners, err := p.corners(ctx)
	if err != nil {
		return nil, err
	}
	s, err := newSplitting(ctx, p, d, corners)
	if err != nil {
		return nil, err
	}
	tol := d.Tol * math.Sqrt(float64(k))
	eta, eps := d.Eta, d.Eta
	converged := false
	rounds, steps := 0, 0
	for steps < d.MaxIterations && !converged {
		rounds++
		change := math.Inf(1)
		for inner := 0; inner < d.InnerSteps && change > max(eps, tol) && steps < d.MaxIterations; inner++ {
			if change, err = s.step(ctx); err != nil {
				return nil, err
			}
			steps++
		}
		v := s.violation()
		if opt.Progress != nil {
			opt.Progress(steps, d.MaxIterations, v)
		}
		// What is left of the constraints and of the stationarity of M, each as a part of
		// the size of what it is made of.
		primal := v / mat.Norm(s.m, 2)
		dual := change / (s.rho * mat.Norm(s.inv, 2))
		switch {
		case v <= tol && change <= tol && dual <= stationary*d.Tol:
			converged = true
		case v <= max(eta, tol) || primal <= balance*dual:
			s.dual()
		default:
			s.penalty(d.Shrink)
		}
		eta = progress * v
		eps *= d.Shrink
	}
	var m mat.Dense
	m.Mul(s.r, s.m)
	m.Scale(1/s.scale, &m)
	res, err := p.finish(ctx, &m)
	if err != nil {
		return nil, err
	}
	res.Iterations, res.Rounds, res.Limited = steps, rounds, !converged
	return res, nil
}
