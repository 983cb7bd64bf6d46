package recovery

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/recover/scls"
)

// SCLS recovers B̆ by simplex-constrained least squares, B by Bayes' rule and A
// by the diagonal recovery A = D⁻¹C_SSD⁻¹, D = diag(B_S) (lee-2020, Algorithms
// 4 and 5), or as Finish says. The rows of the anchors themselves are unit vectors.
//
// If Options.Points replaces the row of an anchor, no word occurs in this topic
// only: the anchor is solved for like any other word, and all of A comes from all of
// C, by [PseudoInverse] instead of Diagonal. Points need explicit rows.
//
// Cost: one product of C̄ with K vectors, and the solver's. Memory: 8·d·K bytes
// and 40·N·K besides. The zero value solves exactly, by [scls.ActiveSet].
type SCLS struct {
	// Solver solves the least-squares problems; nil means scls.ActiveSet{}.
	Solver scls.Solver
	// Finish says how A is computed and how the model is changed afterwards.
	Finish Finish
}

// L2 returns RecoverL2 of arora-2013: [SCLS] by exponentiated gradient with a line
// search (Appendix D.2), and A = B†CB†ᵀ.
func L2() SCLS {
	return SCLS{Solver: scls.ExpGrad{}, Finish: Finish{Correlations: PseudoInverse}}
}

func (s SCLS) solver() scls.Solver {
	if s.Solver == nil {
		return scls.ActiveSet{}
	}
	return s.Solver
}

func (s SCLS) String() string { return s.solver().String() + s.Finish.suffix() }

// Validate reports settings of the solver and of Finish that are out of range.
func (s SCLS) Validate() error {
	if err := s.solver().Validate(); err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	return s.Finish.Validate()
}

// Recover implements Recoverer. Errors: anchors out of range, named twice or
// without a probability ([*AnchorError]), points that do not fit, the solver's,
// those of Finish, ctx's.
func (s SCLS) Recover(ctx context.Context, rows cooc.Rows, anchors []int, opt Options) (*Result, error) {
	if err := s.Finish.Validate(); err != nil {
		return nil, err
	}
	p, err := begin(ctx, rows, anchors, opt)
	if err != nil {
		return nil, err
	}
	f, g, err := p.products(ctx)
	if err != nil {
		return nil, err
	}
	// The words to solve for are packed together.
	free := p.free()
	res := p.result(len(free))
	if len(free) > 0 {
		ff, y := mat.NewDense(len(free), p.k, nil), mat.NewDense(len(free), p.k, nil)
		for i, w := range free {
			ff.SetRow(i, f.RawRowView(w))
		}
		f = nil
		sol, err := s.solver().Solve(ctx, g, ff, y, scls.Options{Workers: opt.Workers, Progress: opt.Progress})
		if err != nil {
			return nil, fmt.Errorf("recovery: %w", err)
		}
		for i, w := range free {
			res.WordTopics.SetRow(w, y.RawRowView(i))
			p.residual(res, w, sol.Objective[i])
		}
		res.count(sol.Iterations, sol.KKTGap, sol.Status)
	}
	return p.finish(ctx, res, s.Finish)
}
