package anchorfree

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/lp"
)

// LP is AnchorFree-LP (fu-2018, Algorithm 1): det M is linear in each column of M,
// so that the best column given the others is the better one of two linear programs of K
// variables and N constraints. Sweeps over the columns, from M = I in the basis of the
// eigenvectors, go on until the determinant grows no more.
//
// The programs are solved by a dual simplex method, each from the basis of the
// previous one for the same topic; the two of a topic run at the same time.
//
// Cost: the eigenpairs, about 2K+20 products with C; 2K programs a sweep, each
// of some 2K steps at first and few later, with 2NK operations a step. Memory: 16·N·K
// bytes, 48·N·K while the constraints are made. The zero value has the defaults. Safe for
// concurrent use.
type LP struct {
	// MaxSweeps bounds the sweeps over all topics; 0 means 100. At the limit the result is
	// Limited.
	MaxSweeps int
	// Tol ends the sweeps once one of them adds at most Tol to ln|det M|; 0 means 1e-9.
	Tol float64
}

func (l LP) sweeps() int { return cmp.Or(l.MaxSweeps, 100) }

func (l LP) tol() float64 { return cmp.Or(l.Tol, 1e-9) }

func (l LP) String() string {
	return fmt.Sprintf("AnchorFree-LP(tol=%g, max sweeps=%d)", l.tol(), l.sweeps())
}

// Validate reports settings out of range.
func (l LP) Validate() error {
	if l.MaxSweeps < 0 || !(l.Tol >= 0) || math.IsInf(l.Tol, 0) {
		return fmt.Errorf("anchorfree: LP: MaxSweeps %d, Tol %g out of range", l.MaxSweeps, l.Tol)
	}
	return nil
}

// Learn implements Learner. Errors: settings or k out of range, a matrix with
// numbers that are not finite, [*RankError], [*InfeasibleError], those of the
// products of c, ctx's.
func (l LP) Learn(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	p, err := newProblem(ctx, c, k, opt.Workers)
	if err != nil {
		return nil, err
	}
	programs, err := newPrograms(ctx, p)
	if err != nil {
		return nil, err
	}
	// The objective of a topic, and so its basis, changes little from sweep to sweep.
	bases := make([][2][]int, k)
	m := mat.NewDense(k, k, nil)
	for f := range k {
		m.Set(f, f, 1)
	}
	converged := false
	sweep, solved, logdet := 0, 0, 0.0
	a := make([]float64, k)
	for sweep < l.sweeps() && !converged {
		sweep++
		gain := 0.0
		for f := range k {
			inv, err := inverse(m)
			if err != nil {
				return nil, err
			}
			// Row f of M⁻¹: det M with x in place of column f is (aᵀx)·det M.
			copy(a, inv.RawRowView(f))
			if err := programs.solve(ctx, f, a, &bases[f], opt.Workers); err != nil {
				return nil, err
			}
			solved += 2
			best, x := 0.0, []float64(nil)
			for _, s := range []*lp.Solver{programs.largest, programs.least} {
				v := 0.0
				for j, w := range s.X {
					v += a[j] * w
				}
				if v = math.Abs(v); v > best {
					best, x = v, s.X
				}
			}
			if x == nil {
				return nil, fmt.Errorf("anchorfree: the linear program of topic %d has the optimum zero: the topics are linearly dependent", f)
			}
			// The first sweep replaces columns that are not feasible. Later ones move only
			// for a gain above rounding, so that of columns equally good the first stays.
			if sweep == 1 || best > 1+1e-12 {
				m.SetCol(f, x)
				gain += math.Log(best)
				logdet += math.Log(best)
			}
			if opt.Progress != nil {
				opt.Progress((sweep-1)*k+f+1, l.sweeps()*k, logdet)
			}
		}
		if sweep > 1 && gain <= l.tol() || k == 1 {
			converged = true
		}
	}
	res, err := p.finish(ctx, m)
	if err != nil {
		return nil, err
	}
	res.Iterations, res.Programs, res.Limited = sweep, solved, !converged
	res.Pivots = programs.largest.Pivots + programs.least.Pivots
	return res, nil
}
