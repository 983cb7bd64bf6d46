package rectify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// Defaults of PALM.
const (
	DefaultPALMIterations = 100
	DefaultCoupling       = 1e-4
	DefaultInertia        = 0.2
)

// PALM is proximal alternating linearised minimisation (dong-2019, Algorithm 4):
// it looks for a non-negative factor Y, N×K, with YYᵀ near C, by minimising
//
//	J(X, Y) = ½‖C − XYᵀ‖_F² + (s/2)‖X − Y‖_F²  subject to X ≥ 0, Y ≥ 0
//
// with steps along the gradient, of X and Y in turn, and projection on the
// non-negative numbers. The step is 1/(1.005·L), L = ‖YᵀY + sI‖₂ the Lipschitz
// constant of the gradient in X, and likewise for Y. J falls in every iteration.
//
// The start is X = Y = V√Λ of the K algebraically largest eigenpairs. The
// result depends on the signs of the eigenvectors: each is turned so that its
// negative entries hold less than half of its squared length. The problem is
// not convex; ENN is nearer to C than PALM and mostly the better choice.
//
// The result is XXᵀ of the last X, a *cooc.LowRankSparse without shift or sparse
// part: of rank K, positive semidefinite, and non-negative by construction. Its
// sum is only near 1 (Violations.SumError) and is left as it is.
//
// An iteration costs 2K products of C with a vector and O(N·K²) operations. Memory:
// 8·N·K bytes for each of 6 blocks, 8 where Inertial is set. C enters by its
// products and once by ‖C‖_F; no N×N array is needed.
type PALM struct {
	// Iterations is the number of iterations T ≥ 1; 0 means 100.
	Iterations int
	// Tol > 0 stops before Iterations once the change of X and Y, as in
	// Changes, is at most Tol. 0: off.
	Tol float64
	// Coupling is the weight s > 0 that ties X to Y; 0 means 1e-4. It stands
	// beside the entries of C, whose ‖C‖_F is of the order of 1e-3 to 1e-1.
	Coupling float64
	// Inertial takes the steps of iPALM (Pock and Sabach 2016): gradient and
	// projection start from points beyond the last iterate,
	// X + α(X − X⁻), in the direction it came from. What falls in every
	// iteration is then not J but the Lyapunov function
	// J + (δ₁/2)‖X − X⁻‖² + (δ₂/2)‖Y − Y⁻‖² of Result.Lyapunov.
	Inertial bool
	// Inertia is α = β of iPALM, in (0, 1); 0 means 0.2. The step
	// sizes that go with it are those of the convergence proof; they get
	// shorter as it grows.
	Inertia float64
	// EigenTol is how far an eigenpair of the start may be off, as for AP; 0
	// means 1e-8.
	EigenTol float64
}

func (a PALM) String() string {
	more := []string{fmt.Sprintf("coupling=%g", a.coupling())}
	name := "PALM"
	if a.Inertial {
		name = "iPALM"
		more = append(more, fmt.Sprintf("inertia=%g", a.inertia()))
	}
	return methodString(name, a.iterations(), a.Tol, a.eigenTol(), more...)
}

func (a PALM) iterations() int {
	if a.Iterations == 0 {
		return DefaultPALMIterations
	}
	return a.Iterations
}

func (a PALM) coupling() float64 {
	if a.Coupling == 0 {
		return DefaultCoupling
	}
	return a.Coupling
}

func (a PALM) inertia() float64 {
	switch {
	case !a.Inertial:
		return 0
	case a.Inertia == 0:
		return DefaultInertia
	}
	return a.Inertia
}

func (a PALM) eigenTol() float64 {
	if a.EigenTol == 0 {
		return 1e-8
	}
	return a.EigenTol
}

// Validate reports settings out of range.
func (a PALM) Validate() error {
	if a.Iterations < 0 {
		return fmt.Errorf("rectify: PALM: %d iterations", a.Iterations)
	}
	if !(a.Coupling >= 0) || math.IsInf(a.Coupling, 0) {
		return fmt.Errorf("rectify: PALM: a coupling of %g; want it positive, or 0 for the default", a.Coupling)
	}
	if !(a.Inertia >= 0) || a.Inertia > 0.95 {
		return fmt.Errorf("rectify: PALM: an inertia of %g; want it in (0, 0.95], or 0 for the default", a.Inertia)
	}
	if a.Inertia > 0 && !a.Inertial {
		return fmt.Errorf("rectify: PALM: an inertia of %g, but Inertial is not set", a.Inertia)
	}
	return validTol("PALM", a.Tol, a.EigenTol)
}

// Rectify implements Rectifier. Eigenvalues are those of the start, Changes are
// ½(‖X_t − X_{t−1}‖_F + ‖Y_t − Y_{t−1}‖_F), Objectives the values of J. The columns of eigenvalues that
// are not positive are left out. Errors: settings or k out of range, no positive eigenvalue, eigenpairs that
// do not converge (*EigenError), a matrix with numbers that are not finite, ctx's.
func (a PALM) Rectify(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if err := check(c, k); err != nil {
		return nil, err
	}
	res, err := a.rectify(ctx, c, k, opt)
	if err != nil {
		return nil, fmt.Errorf("rectify: PALM: %w", err)
	}
	return res, nil
}

// shorter makes the step of PALM that much shorter than 1/L.
const shorter = 1.005

func (a PALM) rectify(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	n := c.Dim()
	res := &Result{}
	op := operator(c, opt.Workers)
	c2, err := frobenius2(ctx, c, opt.Workers)
	if err != nil {
		return nil, err
	}
	pairs := eigenpairsOf(c, k, a.eigenTol(), opt)
	if err := pairs.next(ctx, 0, op); err != nil {
		return nil, err
	}
	res.Products, res.ColdStarts = pairs.products, pairs.cold
	res.Eigenvalues = slices.Clone(pairs.theta())
	y := pairs.y()
	pairs = nil
	if y.Cols == 0 {
		return nil, fmt.Errorf("none of the %d largest eigenvalues is positive; the largest is %g", k, res.Eigenvalues[0])
	}
	k = y.Cols
	turn(y)
	p := &palm{ctx: ctx, op: op, s: a.coupling(), inertia: a.inertia(), workers: opt.Workers, image: linalg.NewGeneral(n, k)}
	x := palmFactor{cur: clone(y)}
	yf := palmFactor{cur: y}
	if a.Inertial {
		x.last, yf.last = clone(y), clone(y)
	}
	for t := 1; t <= a.iterations(); t++ {
		dx, err := p.step(&x, &yf)
		if err != nil {
			return nil, err
		}
		dy, err := p.step(&yf, &x)
		if err != nil {
			return nil, err
		}
		res.Products += 2 * k
		// image is CX: ‖C − XYᵀ‖² = ‖C‖² − 2⟨CX, Y⟩ + ⟨XᵀX, YᵀY⟩.
		gy := linalg.NewGeneral(k, k)
		if err := linalg.Gram(ctx, yf.cur, gy, opt.Workers); err != nil {
			return nil, err
		}
		fit := c2 - 2*dotBlocks(yf.cur, p.image) + dotBlocks(p.gram, gy)
		gap := 0.0
		for i, v := range x.cur.Data {
			gap += (v - yf.cur.Data[i]) * (v - yf.cur.Data[i])
		}
		j := 0.5*max(fit, 0) + 0.5*p.s*gap
		if math.IsNaN(fit) || math.IsInf(fit, 0) {
			return nil, linalg.ErrNonFinite
		}
		change := 0.5 * (math.Sqrt(dx) + math.Sqrt(dy))
		res.Iterations = t
		res.Changes = append(res.Changes, change)
		res.Objectives = append(res.Objectives, j)
		if a.Inertial {
			res.Lyapunov = append(res.Lyapunov, j+0.5*x.delta*dx+0.5*yf.delta*dy)
		}
		if opt.Progress != nil {
			opt.Progress(t, a.iterations(), change)
		}
		if a.Tol > 0 && change <= a.Tol {
			res.Status = Converged
			break
		}
	}
	out, err := lowRankSparse(&linalg.LowRankSparse{Y: x.cur})
	if err != nil {
		return nil, err
	}
	res.C = out
	res.Violations = &Violations{SumError: sumOf(x.cur) - 1}
	return res, nil
}

// turn flips each column so that its negative entries hold at most half of its
// squared length.
func turn(y blas64.General) {
	neg, all := make([]float64, y.Cols), make([]float64, y.Cols)
	for i := range y.Rows {
		for j, v := range linalg.Row(y, i) {
			all[j] += v * v
			if v < 0 {
				neg[j] += v * v
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

func clone(a blas64.General) blas64.General {
	a.Data = slices.Clone(a.Data)
	return a
}

// palmFactor is X or Y.
type palmFactor struct {
	cur, last blas64.General // last only with inertia
	// λ⁺, a bound on the Lipschitz constants so far, and the δ that goes
	// with it.
	bound, delta float64
}

// palm is what the two half-steps share.
type palm struct {
	ctx        context.Context
	op         linalg.Op
	s, inertia float64
	workers    int
	image      blas64.General // C·B of the last step
	gram       blas64.General // BᵀB of it
}

// inertialSlack is the ε of iPALM.
const inertialSlack = 0.01

// step moves the factor a with b fixed and returns the squared length of the
// move.
//
// Without inertia: a ← max(a − ∇/(1.005·L), 0), ∇ = a(BᵀB) − CB + s(a − b).
//
// With it (Pock and Sabach 2016, for convex constraints): z = a + α(a − a⁻),
// a ← max(z − ∇(z)/τ, 0), here with α = β, where
//
//	δ = (α + 2β)/(2(1 − ε − α))·λ⁺,  τ = ((1 + ε)δ + (1 + β)L)/(2 − α).
//
// λ⁺ must bound all the L to come, which nobody knows beforehand. Where an L
// exceeds it, it and δ are raised, and that one step is taken without
// inertia: the inequality of the proof then needs nothing of the old δ, and the
// Lyapunov function with the new one is no greater.
func (p *palm) step(a, b *palmFactor) (float64, error) {
	n, k := a.cur.Rows, a.cur.Cols
	if err := p.op(p.ctx, p.image, b.cur); err != nil {
		return 0, err
	}
	p.gram = linalg.NewGeneral(k, k)
	if err := linalg.Gram(p.ctx, b.cur, p.gram, p.workers); err != nil {
		return 0, err
	}
	if notFinite(p.gram.Data) >= 0 {
		return 0, linalg.ErrNonFinite
	}
	l, err := largest(p.gram)
	if err != nil {
		return 0, err
	}
	l += p.s
	al, tau := 0.0, shorter*l
	if p.inertia > 0 {
		al = p.inertia
		if l > a.bound {
			// A little more, or the bound would creep up step by step.
			a.bound = 1.05 * l
			a.delta = 3 * al / (2 * (1 - inertialSlack - al)) * a.bound
			al = 0
		}
		tau = ((1+inertialSlack)*a.delta + (1+al)*l) / (2 - al)
	}
	const size = 512
	moved := make([]float64, run.Count(n, size))
	err = run.Chunks(p.ctx, n, size, p.workers, func(_, q, lo, hi int) error {
		z, g := linalg.NewGeneral(hi-lo, k), linalg.NewGeneral(hi-lo, k)
		for i := lo; i < hi; i++ {
			zi := linalg.Row(z, i-lo)
			copy(zi, linalg.Row(a.cur, i))
			if al > 0 {
				for j, v := range linalg.Row(a.last, i) {
					zi[j] += al * (zi[j] - v)
				}
			}
		}
		if err := linalg.Gemm(p.ctx, blas.NoTrans, blas.NoTrans, 1, z, p.gram, 0, g, 1); err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			ai, bi, ci := linalg.Row(a.cur, i), linalg.Row(b.cur, i), linalg.Row(p.image, i)
			zi, gi := linalg.Row(z, i-lo), linalg.Row(g, i-lo)
			for j, v := range zi {
				v = max(v-(gi[j]-ci[j]+p.s*(v-bi[j]))/tau, 0)
				d := v - ai[j]
				moved[q] += d * d
				zi[j] = v
			}
			if p.inertia > 0 {
				copy(linalg.Row(a.last, i), ai)
			}
			copy(ai, zi)
		}
		return nil
	})
	s := 0.0
	for _, v := range moved {
		s += v
	}
	return s, err
}

// largest returns the largest eigenvalue of a small symmetric matrix.
func largest(a blas64.General) (float64, error) {
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(a.Rows, a.Data), false) {
		return 0, fmt.Errorf("the eigenvalues of a %d×%d matrix were not found", a.Rows, a.Rows)
	}
	return e.Values(nil)[a.Rows-1], nil
}
