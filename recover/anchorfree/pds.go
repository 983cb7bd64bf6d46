package anchorfree

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

const (
	// progress is the fraction of the previous violation below which the multipliers are
	// updated (Shi and Hong 2017, the framework of PDS).
	progress = 0.9
	// balance is the ratio of the residuals of constraints and gradient, both relative, below
	// which ρ does not shrink: a ρ that is too small makes steps small.
	balance = 0.01
	// stationary times Tol bounds the residual of the gradient.
	stationary = 1e3

	firstRho = 1    // ρ at first
	firstEta = 1e-3 // the first threshold of ‖UM − Z‖_F and of the change that ends a round
	shrink   = 0.5  // the factor of ρ, and of that change from a round to the next
	proximal = 1e-4 // μ, the weight of ‖M − M̂‖²/2 in the local model
	maxInner = 10   // steps of a round; with fewer M may grow before the constraints bound it
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
// With the paper's rules it does not converge on real word counts, and so it differs in
// three points. The rows of U are scaled to unit length and its basis is made orthonormal
// again, so that rare words count. M is scaled by the distance of two corners of the
// polytope, which makes the settings independent of C and N. The threshold of a round is
// 0.9 of the violation of the previous round instead of a given sequence, and a round has
// at most 10 steps.
//
// The result is a stationary point, found to Tol, and may be another local optimum than
// [LP]'s. If a model fits exactly, some 500 steps reach the default Tol. No model fits word
// counts exactly: MaxIterations often comes first, and LP is faster. Tol 1e-4 then takes a
// tenth of the steps, for topics as good by the measures of fu-2018, and from K = 30 on less
// time than LP.
//
// Cost: the eigenpairs, about 2K+20 products with C; two linear programs like those of LP;
// 4·N·K² + O(K³) operations an inner step, of which there are hundreds to thousands. Memory:
// 56·N·K bytes. The zero value is ready for use. Safe for concurrent use.
type PDS struct {
	// MaxIterations bounds the inner steps of all rounds; 0 means 20000. At the limit the
	// result is Limited, and Result.Negative is what is missing.
	MaxIterations int
	// Tol ends the rounds once both ‖UM − Z‖_F, rows scaled, and the last change of M and Z
	// are at most Tol·√K; 0 means 1e-7.
	Tol float64
}

// settings returns d with the defaults filled in.
func (d PDS) settings() PDS {
	return PDS{MaxIterations: cmp.Or(d.MaxIterations, 20000), Tol: cmp.Or(d.Tol, 1e-7)}
}

func (d PDS) String() string {
	d = d.settings()
	return fmt.Sprintf("AnchorFree-PDS(tol=%g, max iterations=%d)", d.Tol, d.MaxIterations)
}

// Validate reports settings out of range.
func (d PDS) Validate() error {
	if d.MaxIterations < 0 || !(d.Tol >= 0) || math.IsInf(d.Tol, 0) {
		return fmt.Errorf("anchorfree: PDS: MaxIterations %d, Tol %g out of range", d.MaxIterations, d.Tol)
	}
	return nil
}

// Learn implements Learner. Errors are those of [LP]: a linear program decides beforehand
// whether there is a solution.
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
	s, err := newSplitting(ctx, p, corners)
	if err != nil {
		return nil, err
	}
	tol := d.Tol * math.Sqrt(float64(k))
	eta, eps := firstEta, firstEta
	converged := false
	rounds, steps := 0, 0
	for steps < d.MaxIterations && !converged {
		rounds++
		change := math.Inf(1)
		for inner := 0; inner < maxInner && change > max(eps, tol) && steps < d.MaxIterations; inner++ {
			if change, err = s.step(ctx); err != nil {
				return nil, err
			}
			steps++
		}
		v := s.violation()
		if opt.Progress != nil {
			opt.Progress(steps, d.MaxIterations, v)
		}
		// The residuals of the constraints and of the gradient, relative to their terms.
		primal := v / mat.Norm(s.m, 2)
		dual := change / (s.rho * mat.Norm(s.inv, 2))
		switch {
		case v <= tol && change <= tol && dual <= stationary*d.Tol:
			converged = true
		case v <= max(eta, tol) || primal <= balance*dual:
			s.dual()
		default:
			s.penalty()
		}
		eta = progress * v
		eps *= shrink
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
