package anchorfree

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/lp"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// pivotTol is the length of what is left of a dependent row of unit length.
const pivotTol = 1e-9

// polytope is the set {x : Ux ≥ 0, sᵀx = 1}, its constraints scaled to unit length.
// The entries of Ux are not negative and sum to 1, so that each is at most 1 and every
// constraint has an upper bound.
//
// At the topics of an exact model hundreds of the N constraints hold with equality instead
// of K−1, and a primal simplex method creeps from basis to basis of one point. The dual
// programs, min t s.t. Uᵀy = t·s − a, y ≥ 0, have K rows and are not degenerate.
type polytope struct {
	lp.Problem // the words that are not empty, and s in the last row
	k          int
	word       []int // number of the word of each row
	cold       []int // a basis: K−1 rows that are well independent, with s
}

func newPolytope(ctx context.Context, p *problem) (*polytope, error) {
	q := &polytope{k: p.k}
	for i, e := range p.empty {
		if !e {
			q.word = append(q.word, i)
		}
	}
	n := len(q.word)
	q.G = linalg.NewGeneral(n+1, q.k)
	q.RowLo, q.RowHi = make([]float64, n+1), make([]float64, n+1)
	for r, i := range q.word {
		q.RowHi[r] = 1 / p.norms[i]
		row := linalg.Row(q.G, r)
		for j, v := range linalg.Row(p.u, i) {
			row[j] = v / p.norms[i]
		}
	}
	length := blas64.Nrm2(vector(p.s))
	q.RowLo[n], q.RowHi[n] = 1/length, 1/length
	for j, v := range p.s {
		linalg.Row(q.G, n)[j] = v / length
	}
	var err error
	q.cold, err = q.independent(ctx)
	return q, err
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// independent returns the K−1 rows, or fewer, that pivoted Gram–Schmidt takes after s.
func (q *polytope) independent(ctx context.Context) ([]int, error) {
	n := len(q.word)
	a := linalg.NewGeneral(n, q.k)
	copy(a.Data, q.G.Data)
	dir := slices.Clone(linalg.Row(q.G, n))
	var out []int
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("anchorfree: %w", err)
		}
		best, at := pivotTol, -1
		for i := range a.Rows {
			row := linalg.Row(a, i)
			d := blas64.Dot(vector(row), vector(dir))
			blas64.Axpy(-d, vector(dir), vector(row))
			if l := blas64.Nrm2(vector(row)); l > best && !slices.Contains(out, i) {
				best, at = l, i
			}
		}
		if len(out) == q.k-1 || at < 0 {
			return out, nil
		}
		out = append(out, at)
		copy(dir, linalg.Row(a, at))
		l := blas64.Nrm2(vector(dir))
		for j := range dir {
			dir[j] /= l
		}
	}
}

// programs finds the points of a polytope where a linear function is largest and
// where it is least.
type programs struct {
	*polytope
	largest, least *lp.Solver
	cols           []int // the columns of every basis: all
}

func newPrograms(ctx context.Context, p *problem) (*programs, error) {
	q, err := newPolytope(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(q.cold) < q.k-1 { // U does not have full rank
		return nil, fmt.Errorf("anchorfree: %d of the words' rows are independent, want %d", len(q.cold)+1, q.k)
	}
	s := &programs{polytope: q, cols: make([]int, q.k)}
	for j := range s.cols {
		s.cols[j] = j
	}
	rows := slices.Concat([]int{len(q.word)}, q.cold)
	s.largest, s.least = lp.New(&q.Problem, rows, s.cols), lp.New(&q.Problem, rows, s.cols)
	return s, nil
}

// solve finds both points, from the bases given or, if these are nil, from those of the
// last programs, and stores the bases. topic is for errors.
func (s *programs) solve(ctx context.Context, topic int, a []float64, bases *[2][]int, workers int) error {
	err := parallel.Chunks(ctx, 2, 1, workers, func(_, i, _, _ int) error {
		solver, c := s.largest, slices.Clone(a)
		if i == 1 {
			solver = s.least
			floats.Scale(-1, c)
		}
		if b := bases[i]; b != nil {
			solver.Start(b, s.cols)
		}
		err := solver.Solve(ctx, c)
		bases[i], _ = solver.Basis()
		return err
	})
	var inf *lp.InfeasibleError
	switch {
	case errors.As(err, &inf):
		e := &InfeasibleError{Topic: topic, Word: s.word[inf.Variable-s.k]}
		for _, r := range inf.Rows {
			if r < len(s.word) { // the last row is the sum
				e.Others = append(e.Others, s.word[r])
			}
		}
		return e
	case err != nil:
		return fmt.Errorf("anchorfree: topic %d: %w", topic, err)
	}
	return nil
}

// corners returns the corners of the polytope that are farthest along the last
// eigenvector; an *InfeasibleError if there are none.
func (p *problem) corners(ctx context.Context) ([][]float64, error) {
	s, err := newPrograms(ctx, p)
	if err != nil {
		return nil, err
	}
	a := make([]float64, p.k)
	a[p.k-1] = 1
	if err := s.solve(ctx, 0, a, new([2][]int), 1); err != nil {
		return nil, err
	}
	return [][]float64{s.largest.X, s.least.X}, nil
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
