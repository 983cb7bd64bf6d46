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

// LeastSquares finds the composition whose word probabilities are nearest to
// the document's word frequencies h̃: min ‖Bw − h̃‖₂ over the simplex, exactly, by
// an active-set method (lee-2018, Appendix A.3, "Recovering cluster-example matrix").
// It uses no prior: on short documents it takes noise for topics.
//
// Doc.Iterations counts equality-constrained solves. Cost: the nonzeros of the
// document's rows of B, then O(K|P|) a step for |P| topics found. Memory: O(K²) a
// goroutine.
type LeastSquares struct {
	// MaxIterations bounds the solves of a document; 0 means 20K + 200, far
	// above what is needed in practice.
	MaxIterations int
}

func (l LeastSquares) String() string {
	if l.MaxIterations > 0 {
		return fmt.Sprintf("LeastSquares(max=%d)", l.MaxIterations)
	}
	return "LeastSquares"
}

// Prepare implements Method: G = BᵀB, NK² flops, and a check of O(K³).
func (l LeastSquares) Prepare(ctx context.Context, t Topics, opt Options) (_ *Inferer, err error) {
	defer named(&err)
	if l.MaxIterations < 0 {
		return nil, &SettingError{"LeastSquares", "MaxIterations", float64(l.MaxIterations), "≥ 0"}
	}
	c, err := check(t)
	if err != nil {
		return nil, err
	}
	g, err := gram(ctx, c.B, opt.Workers)
	if err != nil {
		return nil, err
	}
	q, err := newQuadratic(c, g, nil, l.MaxIterations)
	if err != nil {
		return nil, err
	}
	return newInferer(l.String(), c, q), nil
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
			f[k] += h * val[j]
		}
	}
}

// SPI is the simple probabilistic inverse (lee-2018 §4.3.1): w = B̆h̃, the mean over
// the tokens of p(topic | word). It costs one pass over the tokens and finds every
// topic that is there, but puts shares on many that are not.
type SPI struct{}

func (SPI) String() string { return "SPI" }

// Prepare implements Method. O(NK).
func (SPI) Prepare(ctx context.Context, t Topics, opt Options) (_ *Inferer, err error) {
	defer named(&err)
	c, err := check(t)
	if err != nil {
		return nil, err
	}
	r, err := c.breve()
	if err != nil {
		return nil, err
	}
	c.rows = r
	return newInferer("SPI", c, spi{r}), ctx.Err()
}

// breve returns the rows of B̆, each summing to 1 or empty.
func (c *checked) breve() (*rows, error) {
	var r *rows
	if c.Breve != nil {
		r = newRows(c.Breve)
	} else {
		// p(k | n) ∝ B_nk a_k.
		r = &rows{ptr: c.rows.ptr, idx: c.rows.idx, val: make([]float64, len(c.rows.val))}
		for i, k := range c.rows.idx {
			r.val[i] = c.rows.val[i] * c.mean[k]
		}
	}
	for w := range c.n {
		_, val := r.row(int32(w))
		sum := 0.0
		for _, v := range val {
			sum += v
		}
		switch {
		case len(val) == 0:
		case c.Breve != nil && !(math.Abs(sum-1) <= sumTol):
			return nil, &TopicsError{"Breve", w, -1, fmt.Sprintf("sums to %g, not 1 or 0", sum)}
		case sum == 0: // a word of topics without any share: all of them alike
			for i := range val {
				val[i] = 1 / float64(len(val))
			}
		default:
			for i := range val {
				val[i] /= sum
			}
		}
	}
	return r, nil
}

type spi struct{ breve *rows }

func (s spi) scratch() any { return nil }

func (s spi) infer(dst []float64, d *document, _ any) (Status, int, error) {
	s.breve.project(dst, d)
	normalise(dst) // rounding
	return Converged, 0, nil
}

// quadratic minimises ½wᵀGw − fᵀw over the simplex, f = Bᵀh̃, for G = BᵀB + D.
type quadratic struct {
	rows *rows
	k    int
	// Where G is positive semidefinite, or at least so on {x : 1ᵀx = 0}:
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
func newQuadratic(c *checked, btb, dual *mat.SymDense, limit int) (*quadratic, error) {
	q := &quadratic{rows: c.rows, k: c.k}
	if dual == nil {
		m, err := simplex.Check(btb)
		if err != nil {
			return nil, fmt.Errorf("BᵀB: %w", err)
		}
		q.exact = m.Quadratic(limit, 0)
		return q, nil
	}
	g := mat.NewSymDense(c.k, nil)
	g.AddSym(btb, dual)
	centred, shift, ok := centre(g)
	if ok {
		m, err := simplex.Check(centred)
		if err != nil {
			return nil, fmt.Errorf("BᵀB + Λ/M: %w", err)
		}
		q.exact, q.shift = m.Quadratic(limit, 0), shift
		return q, nil
	}
	var err error
	if q.local, err = newLocalSolver(g); err != nil {
		return nil, err
	}
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
				v -= convexTol * trace
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

func (q *quadratic) infer(dst []float64, d *document, scratch any) (Status, int, error) {
	s := scratch.(*quadraticScratch)
	q.rows.project(s.f, d)
	return q.solve(dst, s, false)
}

// solve solves for s.f, which it changes.
func (q *quadratic) solve(dst []float64, s *quadraticScratch, warm bool) (Status, int, error) {
	if q.local != nil {
		return q.local.solve(dst, s.f, s.local)
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
