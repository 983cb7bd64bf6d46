package rectify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// PALM is proximal alternating linearised minimisation (dong-2019, Algorithm 4): it
// looks for a non-negative factor Y, N×K, with YYᵀ near C, by minimising
//
//	J(X, Y) = ½‖C − XYᵀ‖_F² + (s/2)‖X − Y‖_F²  subject to X ≥ 0, Y ≥ 0
//
// with steps along the gradient, of X and Y in turn, and projection on the
// non-negative numbers. The step is 1/(1.005·L), where L = ‖YᵀY + sI‖₂ is the Lipschitz
// constant of the gradient in X, and likewise for Y. J falls in every iteration.
//
// The start is X = Y = V√Λ of the K algebraically largest eigenpairs. The problem is not
// convex, and the result depends on the signs of the eigenvectors: each is turned so that
// its negative entries hold at most half of its squared length.
//
// The result is XXᵀ of the last X, a [*cooc.LowRankSparse]: of rank K, positive semidefinite,
// and non-negative. Its sum is only near 1 (Violations.SumError).
//
// An iteration costs 2K products of C with a vector and O(N·K²) operations. Memory:
// 8·N·K bytes for each of 6 blocks. C enters by its products and
// by ‖C‖_F.
type PALM struct {
	// Iterations is the number of iterations; 0 means 100.
	Iterations int
	// Tol > 0 stops before Iterations once the change of X and Y, as in Changes, is at
	// most Tol.
	Tol float64
	// Coupling is the weight s > 0 that ties X to Y; 0 means 1e-4. Compare it with ‖C‖_F,
	// which is between 1e-3 and 1e-1.
	Coupling float64
	// EigenTol bounds the residuals of the first eigenpairs as for AP; 0 means 1e-8.
	EigenTol float64
}

func (a PALM) settings() settings {
	return settings{name: "PALM", iterations: cmp.Or(a.Iterations, 100), tol: a.Tol, eigenTol: cmp.Or(a.EigenTol, 1e-8), rows: true}
}

func (a PALM) coupling() float64 { return cmp.Or(a.Coupling, 1e-4) }

func (a PALM) String() string {
	s := a.settings()
	return s.string(s.eigen(), fmt.Sprintf("coupling=%g", a.coupling()))
}

// Validate reports settings out of range.
func (a PALM) Validate() error {
	if !(a.Coupling >= 0) || math.IsInf(a.Coupling, 0) {
		return fmt.Errorf("rectify: PALM: a coupling of %g; want it positive, or 0 for the default", a.Coupling)
	}
	return a.settings().validate()
}

// Rectify implements Rectifier. Eigenvalues are those of the start; columns of
// eigenvalues that are not positive are left out. Changes are
// ½(‖X_t − X_{t−1}‖_F + ‖Y_t − Y_{t−1}‖_F), Objectives the values of J. Errors: settings
// or k out of range, no positive eigenvalue, eigenpairs that do not converge, a matrix
// with numbers that are not finite, ctx's.
func (a PALM) Rectify(ctx context.Context, c cooc.Operator, k int, opt Options) (*Result, error) {
	return iterate(ctx, c, k, opt, a, &palmMethod{s: a.coupling(), workers: opt.Workers})
}

func (a PALM) bytes(n, k int, opt Options) int64 {
	return whole(eigenBytes(n, k) + float64(48*float64(n)*float64(k)))
}

// The step of PALM is 1/(shorter·L).
const shorter = 1.005

// palmMethod is PALM in the loop.
type palmMethod struct {
	op      linalg.Op
	s       float64
	workers int
	c2      float64 // ‖C‖²
	x, y    blas64.General
	image   blas64.General // C·B of the last half-step
	gram    blas64.General // BᵀB of it
}

func (p *palmMethod) begin(ctx context.Context, l *loop) (err error) {
	p.op = l.op
	if p.c2, err = frobenius2(ctx, l.m, p.workers); err != nil {
		return err
	}
	if err := l.next(ctx, 0); err != nil {
		return err
	}
	l.res.Eigenvalues = slices.Clone(l.theta())
	y := l.y(blas64.General{})
	l.block = nil
	if y.Cols == 0 {
		return fmt.Errorf("none of the %d largest eigenvalues is positive; the largest is %.6g", l.k, l.res.Eigenvalues[0])
	}
	turn(y)
	p.image = linalg.NewGeneral(l.n, y.Cols)
	p.x, p.y = y, y
	p.x.Data = slices.Clone(y.Data)
	return nil
}

func (p *palmMethod) step(ctx context.Context, l *loop, t int) (step, error) {
	dx, err := p.half(ctx, p.x, p.y)
	if err != nil {
		return step{}, err
	}
	dy, err := p.half(ctx, p.y, p.x)
	if err != nil {
		return step{}, err
	}
	k := p.y.Cols
	l.res.Products += 2 * k
	// image is CX: ‖C − XYᵀ‖² = ‖C‖² − 2⟨CX, Y⟩ + ⟨XᵀX, YᵀY⟩.
	gy := linalg.NewGeneral(k, k)
	if err := linalg.Gram(ctx, p.y, gy, p.workers); err != nil {
		return step{}, err
	}
	fit := p.c2 - float64(2*dotBlocks(p.y, p.image)) + dotBlocks(p.gram, gy)
	if math.IsNaN(fit) || math.IsInf(fit, 0) {
		return step{}, linalg.ErrNonFinite
	}
	gap := 0.0
	for i, v := range p.x.Data {
		gap += float64((v - p.y.Data[i]) * (v - p.y.Data[i]))
	}
	j := float64(0.5*max(fit, 0)) + float64(0.5*p.s*gap)
	l.res.Objectives = append(l.res.Objectives, j)
	change := 0.5 * (math.Sqrt(dx) + math.Sqrt(dy))
	return step{change: change, compared: change, zeroed: -1}, nil
}

func (p *palmMethod) finish(_ context.Context, l *loop) error {
	c, err := lowRankSparse(&linalg.LowRankSparse{Y: p.x})
	if err != nil {
		return err
	}
	l.res.setLowRank(c)
	l.res.Violations = &Violations{SumError: sumOf(p.x) - 1}
	return nil
}

// turn flips each column so that its negative entries hold at most half of its
// squared length.
func turn(y blas64.General) {
	neg, all := make([]float64, y.Cols), make([]float64, y.Cols)
	for i := range y.Rows {
		for j, v := range linalg.Row(y, i) {
			all[j] += float64(v * v)
			if v < 0 {
				neg[j] += float64(v * v)
			}
		}
	}
	for i := range y.Rows {
		r := linalg.Row(y, i)
		for j := range r {
			if 2*neg[j] > all[j] {
				r[j] = -r[j]
			}
		}
	}
}

// half moves the factor a with b fixed, a ← max(a − ∇/(1.005·L), 0) with
// ∇ = a(BᵀB) − CB + s(a − b), and returns the squared length of the move.
func (p *palmMethod) half(ctx context.Context, a, b blas64.General) (float64, error) {
	n, k := a.Rows, a.Cols
	if err := p.op(ctx, p.image, b); err != nil {
		return 0, err
	}
	p.gram = linalg.NewGeneral(k, k)
	if err := linalg.Gram(ctx, b, p.gram, p.workers); err != nil {
		return 0, err
	}
	if vec.NotFinite(p.gram.Data) >= 0 {
		return 0, linalg.ErrNonFinite
	}
	l, err := largest(p.gram)
	if err != nil {
		return 0, err
	}
	tau := shorter * (l + p.s)
	const size = 512
	moved := make([]float64, parallel.Count(n, size))
	err = parallel.Chunks(ctx, n, size, p.workers, func(_, q, lo, hi int) error {
		g := linalg.NewGeneral(hi-lo, k)
		if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, linalg.Rows(a, lo, hi), p.gram, 0, g, 1); err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			ai, bi, ci, gi := linalg.Row(a, i), linalg.Row(b, i), linalg.Row(p.image, i), linalg.Row(g, i-lo)
			for j, v := range ai {
				ai[j] = max(v-(gi[j]-ci[j]+float64(p.s*(v-bi[j])))/tau, 0)
				d := ai[j] - v
				moved[q] += float64(d * d)
			}
		}
		return nil
	})
	return vec.Sum(moved), err
}

// largest returns the largest eigenvalue of a small symmetric matrix.
func largest(a blas64.General) (float64, error) {
	values, err := linalg.Eigenvalues(mat.NewSymDense(a.Rows, a.Data))
	if err != nil {
		return 0, fmt.Errorf("a %d×%d matrix: %w", a.Rows, a.Rows, err)
	}
	return values[a.Rows-1], nil
}
