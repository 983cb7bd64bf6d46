package anchorfree

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

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

	rho float64
}

func newSplitting(ctx context.Context, p *problem, corners [][]float64) (*splitting, error) {
	n, k := p.n, p.k
	s := &splitting{
		problem: p, unit: make([]float64, k), rho: firstRho,
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
func (s *splitting) invert() error { return dependent(s.lu.SolveTo(s.inv, false, s.eye)) }

// multiply computes GM.
func (s *splitting) multiply(ctx context.Context) error {
	return linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, s.g, s.m.RawMatrix(), 0, s.um, s.workers)
}

// step is one inner step. It returns the larger of the changes of Z and M.
func (s *splitting) step(ctx context.Context) (float64, error) {
	k := s.k
	const size = 256
	parts := make([]float64, parallel.Count(s.n, size))
	err := parallel.Chunks(ctx, s.n, size, s.workers, func(_, c, lo, hi int) error {
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
	dz := vec.Sum(parts)
	if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, s.g, s.y, 0, s.q, s.workers); err != nil {
		return 0, err
	}
	// With GᵀG = I the quadratic term is ‖M − Q‖²/2ρ, Q = GᵀY, up to a constant.
	den := proximal + 1/s.rho
	for i := range k {
		for j := range k {
			s.plus.Set(i, j, (proximal*s.m.At(i, j)+s.inv.At(j, i)+s.q.Data[i*k+j]/s.rho)/den)
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
	return vec.Distance(s.um.Data, s.z.Data)
}

// dual moves the multipliers.
func (s *splitting) dual() {
	for i, x := range s.um.Data {
		s.w.Data[i] += x - s.z.Data[i]
	}
}

// penalty shrinks ρ, and leaves W as it is.
func (s *splitting) penalty() {
	s.rho *= shrink
	for i := range s.w.Data {
		s.w.Data[i] *= shrink
	}
}
