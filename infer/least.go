package infer

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/simplex"
)

// LeastSquares finds the topic proportions whose word probabilities are nearest to the
// word frequencies h̃ of the document: min ‖Bw − h̃‖₂ over the simplex, exactly, by an
// active-set method (lee-2018, Appendix A.3). It uses no prior, and on short documents
// it fits noise.
//
// Doc.Iterations counts equality-constrained solves. Cost: the nonzeros in the
// document's rows of B, then O(K|P|) a step for |P| topics found. Memory: O(K²) per
// goroutine.
type LeastSquares struct{}

func (LeastSquares) String() string { return "LeastSquares" }

// Prepare implements Method. NK² flops and O(K³).
func (l LeastSquares) Prepare(ctx context.Context, t Topics, opt Options) (*Inferer, error) {
	return prepareQuadratic(ctx, l.String(), t, nil, opt)
}

// prepareQuadratic prepares least squares with the dual variables Λ/M, which may be nil.
func prepareQuadratic(ctx context.Context, name string, t Topics, dual *mat.SymDense, opt Options) (_ *Inferer, err error) {
	defer named(&err)
	c, err := check(t)
	if err != nil {
		return nil, err
	}
	g, err := gram(ctx, c.B, opt.Workers)
	if err != nil {
		return nil, err
	}
	q, err := newQuadratic(c, g, dual)
	if err != nil {
		return nil, err
	}
	return newInferer(name, c, q), nil
}

// gram returns BᵀB.
func gram(ctx context.Context, b *mat.Dense, workers int) (*mat.SymDense, error) {
	_, k := b.Dims()
	g := mat.NewSymDense(k, nil)
	if err := linalg.Gram(ctx, b.RawMatrix(), blas64.General{Rows: k, Cols: k, Stride: k, Data: g.RawSymmetric().Data}, workers); err != nil {
		return nil, err
	}
	return g, nil
}

// project sets f = Bᵀh̃.
func (r *rows) project(f []float64, d *document) {
	clear(f)
	for i, w := range d.ids {
		h := d.x[i] / d.n
		idx, val := r.row(w)
		for j, k := range idx {
			f[k] += float64(h * val[j])
		}
	}
}

// quadratic minimises ½wᵀGw − fᵀw over the simplex, with f = Bᵀh̃ and G = BᵀB + Λ/M.
type quadratic struct {
	rows *rows
	k    int
	// Where G is positive semidefinite, at least on {x : 1ᵀx = 0}:
	exact *simplex.Quadratic
	shift []float64 // K: taken from f; nil: nothing
	// Elsewhere:
	local *localSolver
}

// quadraticScratch is the space of one goroutine.
type quadraticScratch struct {
	f     []float64
	exact *simplex.Solver
	local *localScratch
}

// newQuadratic prepares BᵀB + dual; dual may be nil.
func newQuadratic(c *checked, btb, dual *mat.SymDense) (*quadratic, error) {
	q := &quadratic{rows: c.rows(), k: c.k}
	convex, name := btb, "BᵀB"
	if dual != nil {
		g := mat.NewSymDense(c.k, nil)
		g.AddSym(btb, dual)
		centred, shift, ok := centre(g)
		if !ok {
			var err error
			q.local, err = newLocalSolver(g)
			return q, err
		}
		convex, q.shift, name = centred, shift, "BᵀB + Λ/M"
	}
	m, err := simplex.Check(convex)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	q.exact = m.Quadratic(0, 0)
	return q, nil
}

// centre returns PGP with P = I − 11ᵀ/K, the vector PG1/K, and whether PGP is
// positive definite on {x : 1ᵀx = 0} beyond rounding.
//
// On the simplex w = 1/K + Pw, so that ½wᵀGw = ½wᵀPGPw + (PG1/K)ᵀw + a constant:
// a G that is convex along the simplex becomes convex everywhere.
func centre(g *mat.SymDense) (centred *mat.SymDense, shift []float64, convex bool) {
	k := g.SymmetricDim()
	mean, all, trace := make([]float64, k), 0.0, 0.0
	for i := range k {
		for j := range k {
			mean[i] += g.At(i, j)
		}
		mean[i] /= float64(k)
		all += mean[i]
		trace += math.Abs(g.At(i, i))
	}
	all /= float64(k)
	centred, shift = mat.NewSymDense(k, nil), make([]float64, k)
	for i := range k {
		shift[i] = mean[i] - all
		for j := i; j < k; j++ {
			centred.SetSym(i, j, g.At(i, j)-mean[i]-mean[j]+all)
		}
	}
	// PGP has the eigenvector 1 with eigenvalue 0; adding 11ᵀ·trace/K² leaves the
	// others as they are.
	test := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			v := centred.At(i, j) + trace/float64(k*k)
			if i == j {
				v -= float64(convexTol * trace)
			}
			test.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	return centred, shift, chol.Factorize(test)
}

// convexTol times the trace is how positive the least eigenvalue along the
// simplex must be.
const convexTol = 1e-12

func (q *quadratic) scratch() any {
	s := &quadraticScratch{f: make([]float64, q.k)}
	if q.exact != nil {
		s.exact = q.exact.Solver()
	} else {
		s.local = q.local.newScratch()
	}
	return s
}

func (q *quadratic) infer(ctx context.Context, dst []float64, d *document, scratch any) (Status, int, error) {
	s := scratch.(*quadraticScratch)
	q.rows.project(s.f, d)
	return q.solve(ctx, dst, s, false)
}

// solve solves for s.f, which it changes.
func (q *quadratic) solve(ctx context.Context, dst []float64, s *quadraticScratch, warm bool) (Status, int, error) {
	if q.local != nil {
		return q.local.solve(ctx, dst, s.f, s.local)
	}
	for i, v := range q.shift {
		s.f[i] -= v
	}
	o, err := s.exact.Solve(dst, s.f, warm)
	if err != nil {
		return 0, 0, err
	}
	return [...]Status{simplex.Converged: Converged, simplex.Limit: IterationLimit, simplex.Stalled: Stalled}[o.Status], o.Iterations, nil
}
