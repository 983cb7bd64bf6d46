package anchorfree

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// Defaults of PDS.
const (
	DefaultRho        = 1.0
	DefaultShrink     = 0.5
	DefaultEta        = 1e-3
	DefaultProximal   = 1e-4
	DefaultPDSTol     = 1e-7
	DefaultInnerSteps = 10
	DefaultIterations = 20000
)

// progress is the part of the last violation that the next one may be for the
// multipliers to be moved (Shi and Hong 2017, the framework of PDS).
const progress = 0.9

// balance is the ratio of what is left of the constraints to what is left of the
// gradient, both relative, below which ρ does not shrink: a ρ too small takes
// small steps, which would make it smaller still.
const balance = 0.01

// stationary times Tol bounds what is left of the gradient.
const stationary = 1e3

// PDS is AnchorFree-PDS (fu-2018, Algorithms 2 and 3): penalty-dual splitting of
//
//	min −ln|det M|  subject to  UM = Z, 1ᵀUM = 1ᵀ, Z ≥ 0.
//
// Inner steps decrease −ln|det M| + ‖UM − Z + ρW‖²/2ρ over Z, exactly, and over M, by a step to
// the minimiser of a local model that a line search shortens where it must. Once
// they change little, a round ends: if ‖UM − Z‖ has fallen, or is small already
// beside what is left of the gradient, the multipliers W follow, else the penalty ρ
// shrinks.
//
// Three things differ from the paper, whose rules did not come to an end on real
// word counts: with 5 topics of KOS, 10,000 steps left ‖UM − Z‖ far from zero.
// The rows of U are scaled to unit length and the basis made orthonormal again, so that
// rare words count; the constraints do not see that. M is scaled by the size of two corners of the
// polytope, which makes the settings independent of C and N. And the
// threshold of a round is not a sequence given beforehand but 0.9 of the violation
// of the round before, and a round has at most InnerSteps steps.
//
// The limit is a stationary point, as good as LP's on the paper's data,
// found to Tol and not to rounding. Both may be local optima, not the same.
// On word counts, which no model fits exactly, the last digits are slow and LP is
// faster: with 1000 words of KOS 5 topics took 7,000 steps, and 10 and 20 had
// ‖UM − Z‖ below 1e-4 but not at Tol after 20,000; the specificity, dissimilarity and NPMI of
// the topics were LP's to 2 %.
//
// Cost: the eigenpairs, about 2K+20 products with C; two linear programs as
// those of LP; 4·N·K² + O(K³) operations an inner step, of which there are some
// hundred to some thousand. Memory: 56·N·K bytes. The zero value has the defaults. Safe for
// concurrent use.
type PDS struct {
	// MaxIterations bounds the inner steps of all rounds; 0 means
	// DefaultIterations. At the limit the result has the status IterationLimit
	// and Result.Negative tells what is missing.
	MaxIterations int
	// Tol ends the rounds once both ‖UM − Z‖_F, rows scaled, and the last change
	// of M and Z are at most Tol·√K, > 0; 0 means DefaultPDSTol.
	Tol float64
	// Rho is the ρ to begin with, > 0; 0 means DefaultRho.
	Rho float64
	// Shrink is c, by which ρ shrinks, and the change that ends a round from one
	// to the next, in (0, 1); 0 means DefaultShrink.
	Shrink float64
	// Eta is the first threshold of ‖UM − Z‖_F and of the change that ends a round,
	// > 0; 0 means DefaultEta.
	Eta float64
	// InnerSteps bounds the steps of a round; 0 means DefaultInnerSteps. With
	// one or a few the method may lose the topics: M grows before the
	// constraints hold it.
	InnerSteps int
	// Proximal is μ, the weight of ‖M − M̂‖²/2 in the local model, > 0; 0 means
	// DefaultProximal.
	Proximal float64
}

// settings returns d with the defaults filled in.
func (d PDS) settings() PDS {
	for _, x := range []struct {
		v *float64
		d float64
	}{{&d.Tol, DefaultPDSTol}, {&d.Rho, DefaultRho}, {&d.Shrink, DefaultShrink}, {&d.Eta, DefaultEta}, {&d.Proximal, DefaultProximal}} {
		if *x.v == 0 {
			*x.v = x.d
		}
	}
	if d.MaxIterations == 0 {
		d.MaxIterations = DefaultIterations
	}
	if d.InnerSteps == 0 {
		d.InnerSteps = DefaultInnerSteps
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
	status := IterationLimit
	rounds, steps := 0, 0
	for steps < d.MaxIterations && status != Converged {
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
			status = Converged
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
	res.Iterations, res.Rounds, res.Status = steps, rounds, status
	return res, nil
}

// splitting is the state of PDS.
type splitting struct {
	*problem
	g     blas64.General // n×k, orthonormal: U with rows of unit length, times r
	r     *mat.Dense
	unit  []float64 // rᵀUᵀ1 scaled to length 1
	one   float64   // what that times a column of m is
	scale float64   // m is that times r⁻¹ times the M of the problem

	m, inv *mat.Dense // M and its inverse
	lu     mat.LU     // the factors of m, or of the last trial
	logdet float64    // ln|det| of the same
	eye    *mat.Dense
	um     blas64.General // GM
	z, w   blas64.General // Z, and ρW
	y      blas64.General // Z − ρW
	q      blas64.General // GᵀY
	plus   *mat.Dense
	trial  *mat.Dense

	rho, mu float64
}

func newSplitting(ctx context.Context, p *problem, d PDS, corners [][]float64) (*splitting, error) {
	n, k := p.n, p.k
	s := &splitting{
		problem: p, unit: make([]float64, k), rho: d.Rho, mu: d.Proximal,
		m: mat.NewDense(k, k, nil), inv: mat.NewDense(k, k, nil), eye: mat.NewDense(k, k, nil), plus: mat.NewDense(k, k, nil), trial: mat.NewDense(k, k, nil),
		um: linalg.NewGeneral(n, k), z: linalg.NewGeneral(n, k), w: linalg.NewGeneral(n, k), y: linalg.NewGeneral(n, k), q: linalg.NewGeneral(k, k),
	}
	if err := s.precondition(ctx); err != nil {
		return nil, err
	}
	for i, v := range p.s {
		for j := range s.unit {
			s.unit[j] += v * s.r.At(i, j)
		}
	}
	length := blas64.Nrm2(vector(s.unit))
	inv, err := inverse(s.r)
	if err != nil {
		return nil, err
	}
	for _, x := range corners { // the geometric mean of their lengths
		var y mat.VecDense
		y.MulVec(inv, mat.NewVecDense(k, x))
		s.scale += math.Log(mat.Norm(&y, 2)) / float64(len(corners))
	}
	s.scale = math.Exp(-s.scale) // of M
	s.one = s.scale / length
	for j := range s.unit {
		s.unit[j] /= length
		s.m.Set(j, j, 1)
		s.eye.Set(j, j, 1)
	}
	s.stochastic(s.m)
	s.factor(s.m)
	if err := s.invert(); err != nil {
		return nil, err
	}
	if err := s.multiply(ctx); err != nil {
		return nil, err
	}
	copy(s.z.Data, s.um.Data)
	return s, nil
}

// precondition sets g and r.
func (s *splitting) precondition(ctx context.Context) error {
	n, k := s.n, s.k
	s.g = linalg.NewGeneral(n, k)
	for i := range n {
		if s.norms[i] > 0 {
			out := linalg.Row(s.g, i)
			for j, v := range linalg.Row(s.u, i) {
				out[j] = v / s.norms[i]
			}
		}
	}
	s.r = mat.NewDense(k, k, nil)
	for j := range k {
		s.r.Set(j, j, 1)
	}
	gram := linalg.NewGeneral(k, k)
	next := linalg.NewGeneral(n, k)
	for range 2 { // the first leaves the square of the condition number times rounding
		if err := linalg.Gram(ctx, s.g, gram, s.workers); err != nil {
			return err
		}
		var chol mat.Cholesky
		if !chol.Factorize(mat.NewSymDense(k, gram.Data)) {
			return fmt.Errorf("anchorfree: the words' rows are dependent to rounding")
		}
		var upper, inv mat.TriDense
		chol.UTo(&upper)
		if err := inv.InverseTri(&upper); err != nil {
			return fmt.Errorf("anchorfree: the words' rows are dependent to rounding: %w", err)
		}
		d := mat.DenseCopyOf(&inv)
		if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, s.g, d.RawMatrix(), 0, next, s.workers); err != nil {
			return err
		}
		s.g, next = next, s.g
		var r mat.Dense
		r.Mul(s.r, d)
		s.r = &r
	}
	return nil
}

// stochastic moves the columns of m to where the words' probabilities sum to 1.
func (s *splitting) stochastic(m *mat.Dense) {
	for j := range s.k {
		d := -s.one
		for i, v := range s.unit {
			d += v * m.At(i, j)
		}
		for i, v := range s.unit {
			m.Set(i, j, m.At(i, j)-d*v)
		}
	}
}

// factor sets the determinant to that of m and lu to its factors.
func (s *splitting) factor(m *mat.Dense) {
	s.lu.Factorize(m)
	s.logdet, _ = s.lu.LogDet()
}

// invert computes the inverse of m from its factors.
func (s *splitting) invert() error {
	err := s.lu.SolveTo(s.inv, false, s.eye)
	var cond mat.Condition
	if errors.As(err, &cond) && !math.IsInf(float64(cond), 0) {
		err = nil // a direction that the line search looks at
	}
	if err != nil {
		return fmt.Errorf("anchorfree: the topics are linearly dependent: %w", err)
	}
	return nil
}

// multiply computes GM.
func (s *splitting) multiply(ctx context.Context) error {
	return linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, s.g, s.m.RawMatrix(), 0, s.um, s.workers)
}

// step is one inner step. It returns the larger of the changes of Z and M.
func (s *splitting) step(ctx context.Context) (float64, error) {
	k := s.k
	const size = 256
	parts := make([]float64, run.Count(s.n, size))
	err := run.Chunks(ctx, s.n, size, s.workers, func(_, c, lo, hi int) error {
		d := 0.0
		um, w, z, y := s.um.Data[lo*k:hi*k], s.w.Data[lo*k:hi*k], s.z.Data[lo*k:hi*k], s.y.Data[lo*k:hi*k]
		for i, v := range um {
			v = max(v+w[i], 0)
			d += (v - z[i]) * (v - z[i])
			z[i], y[i] = v, v-w[i]
		}
		parts[c] = d
		return nil
	})
	if err != nil {
		return 0, err
	}
	dz := 0.0
	for _, v := range parts {
		dz += v
	}
	if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, s.g, s.y, 0, s.q, s.workers); err != nil {
		return 0, err
	}
	// With GᵀG = I the quadratic term is ‖M − Q‖²/2ρ, Q = GᵀY, but for a constant.
	den := s.mu + 1/s.rho
	for i := range k {
		for j := range k {
			s.plus.Set(i, j, (s.mu*s.m.At(i, j)+s.inv.At(j, i)+s.q.Data[i*k+j]/s.rho)/den)
		}
	}
	s.stochastic(s.plus)
	s.plus.Sub(s.plus, s.m)
	slope, dm := 0.0, 0.0
	for i := range k {
		for j, v := range s.plus.RawRowView(i) {
			slope += v * ((s.m.At(i, j)-s.q.Data[i*k+j])/s.rho - s.inv.At(j, i))
			dm += v * v
		}
	}
	// Armijo's rule; the last term is what rounding adds.
	value := s.value(s.m, s.logdet)
	t := 1.0
	for ; t > 1e-12; t /= 2 {
		s.trial.Scale(t, s.plus)
		s.trial.Add(s.m, s.trial)
		s.factor(s.trial)
		if s.value(s.trial, s.logdet) <= value+1e-4*t*slope+1e-13*math.Abs(value) {
			break
		}
	}
	s.m, s.trial = s.trial, s.m
	if err := s.invert(); err != nil {
		return 0, err
	}
	if err := s.multiply(ctx); err != nil {
		return 0, err
	}
	return math.Sqrt(max(dz, t*t*dm)), nil
}

// value is what a step decreases, at m.
func (s *splitting) value(m *mat.Dense, logdet float64) float64 {
	d := 0.0
	for i := range s.k {
		for j, v := range m.RawRowView(i) {
			v -= s.q.Data[i*s.k+j]
			d += v * v
		}
	}
	return d/(2*s.rho) - logdet
}

// violation is ‖GM − Z‖_F.
func (s *splitting) violation() float64 {
	v := 0.0
	for i, x := range s.um.Data {
		v += (x - s.z.Data[i]) * (x - s.z.Data[i])
	}
	return math.Sqrt(v)
}

// dual moves the multipliers.
func (s *splitting) dual() {
	for i, x := range s.um.Data {
		s.w.Data[i] += x - s.z.Data[i]
	}
}

// penalty makes ρ c times as large, and leaves W as it is.
func (s *splitting) penalty(c float64) {
	s.rho *= c
	for i := range s.w.Data {
		s.w.Data[i] *= c
	}
}
