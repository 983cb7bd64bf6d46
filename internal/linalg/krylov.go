package linalg

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Krylov approximates the algebraically largest eigenpairs of a symmetric operator in a
// given number of products with a block of vectors, for operators of which each product is
// a pass over a corpus (block Krylov with full orthogonalisation and Rayleigh–Ritz: Halko,
// Martinsson and Tropp 2011, §4.5; Musco and Musco 2015).
//
// x (n×p) holds the start vectors and is overwritten. The space is spanned by X, AX, …,
// A^(passes−1)X. Krylov returns its best keep Ritz pairs, keep ≥ k, or fewer if the space
// has fewer dimensions. EigStats.Restarts is the number of passes, fewer than asked for if
// the space is exhausted, and Residual the largest ‖Au − θu‖ of the first k pairs.
//
// Besides the products it costs 4·n·p²·passes² operations and 8·n·p·(passes+3)
// bytes. Directions shorter than about 1e-12·‖A‖ count as zero.
func Krylov(ctx context.Context, op Op, x blas64.General, k, keep, passes, workers int) (*Block, EigStats, error) {
	var st EigStats
	n, p := x.Rows, x.Cols
	if k < 1 || p < k || p > n || keep < k || passes < 1 {
		return nil, st, fmt.Errorf("linalg: %d of %d Ritz pairs from %d passes with %d vectors of length %d", k, keep, passes, p, n)
	}
	s := &krylovSpace{workers: workers}
	if err := s.grow(ctx, op, x, passes, &st); err != nil {
		return nil, st, err
	}
	keep = min(keep, s.dim)
	theta, vectors, err := TopEig(ctx, s.projected(), keep, workers)
	if err != nil {
		return nil, st, err
	}
	out := NewGeneral(n, keep)
	for i, vi := range s.v {
		beta := 1.0
		if i == 0 {
			beta = 0
		}
		if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, vi, s.part(vectors, i, keep), beta, out, workers); err != nil {
			return nil, st, err
		}
	}
	if !s.exhausted {
		if st.Residual, err = s.residual(ctx, vectors, k); err != nil {
			return nil, st, err
		}
	}
	st.Converged = s.exhausted
	return &Block{X: out, Theta: theta}, st, nil
}

// krylovSpace is the space of a call of Krylov.
type krylovSpace struct {
	workers   int
	v         []blas64.General   // the orthonormal basis, in blocks
	h         [][]blas64.General // h[j][i] = V_iᵀ·A·V_j, i ≤ j
	dim       int
	w         blas64.General // the product with the last block
	exhausted bool           // the operator does not leave the space
}

// grow builds the space from the start vectors x in at most the given number of
// passes.
func (s *krylovSpace) grow(ctx context.Context, op Op, x blas64.General, passes int, st *EigStats) error {
	n, p := x.Rows, x.Cols
	x, spare, err := orthonormal(ctx, nil, x, NewGeneral(n, p).Data, 0, s.workers)
	if err != nil {
		return err
	}
	largest := 0.0 // the longest product with a unit vector
	for x.Cols > 0 {
		if x.Cols+s.dim > n {
			return fmt.Errorf("linalg: %d independent vectors of length %d", x.Cols+s.dim, n)
		}
		s.v = append(s.v, x)
		s.dim += x.Cols
		w := blockIn(spare, n, x.Cols)
		s.w = w
		if err := op(ctx, w, x); err != nil {
			return err
		}
		st.Products += x.Cols
		st.Restarts++
		longest, err := longestColumn(w)
		if err != nil {
			return err
		}
		largest = max(largest, longest)
		hj := make([]blas64.General, len(s.v))
		for i, vi := range s.v {
			hj[i] = NewGeneral(vi.Cols, w.Cols)
			if err := Gemm(ctx, blas.Trans, blas.NoTrans, 1, vi, w, 0, hj[i], s.workers); err != nil {
				return err
			}
		}
		s.h = append(s.h, hj)
		if st.Restarts == passes || s.dim == n {
			break
		}
		for i, vi := range s.v {
			if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, -1, vi, hj[i], 1, w, s.workers); err != nil {
				return err
			}
		}
		if x, spare, err = orthonormal(ctx, s.v, w, make([]float64, n*w.Cols), 1e-12*largest, s.workers); err != nil {
			return err
		}
	}
	s.exhausted = x.Cols == 0 || s.dim == n
	return nil
}

// projected returns T = VᵀAV.
func (s *krylovSpace) projected() blas64.General {
	t := NewGeneral(s.dim, s.dim)
	col := 0
	for j, blocks := range s.h {
		row := 0
		for i, h := range blocks {
			for a := range h.Rows {
				for b, v := range Row(h, a) {
					t.Data[(row+a)*s.dim+col+b] = v
					if i < j {
						t.Data[(col+b)*s.dim+row+a] = v
					}
				}
			}
			row += h.Rows
		}
		col += s.v[j].Cols
	}
	symmetrise(t) // rounding in the blocks of the diagonal
	return t
}

// part returns the first k columns of the rows that belong to block i of
// eigenvectors of T.
func (s *krylovSpace) part(vectors blas64.General, i, k int) blas64.General {
	lo := 0
	for _, b := range s.v[:i] {
		lo += b.Cols
	}
	rows := Rows(vectors, lo, lo+s.v[i].Cols)
	rows.Cols = k
	return rows
}

// residual returns the largest residual of the first k Ritz pairs. Only the
// products of the last block leave the space.
func (s *krylovSpace) residual(ctx context.Context, vectors blas64.General, k int) (float64, error) {
	last := len(s.v) - 1
	sl := s.part(vectors, last, k)
	r := NewGeneral(s.w.Rows, k)
	if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, s.w, sl, 0, r, s.workers); err != nil {
		return 0, err
	}
	for i, vi := range s.v {
		hs := NewGeneral(vi.Cols, k)
		if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, s.h[last][i], sl, 0, hs, s.workers); err != nil {
			return 0, err
		}
		if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, -1, vi, hs, 1, r, s.workers); err != nil {
			return 0, err
		}
	}
	return longestColumn(r)
}

// orthonormal returns an orthonormal basis of the span of the columns of w that is
// orthogonal to the blocks v too. w must be orthogonal to v already, up to the rounding of
// its length. Columns of at most floor count as zero, and so do combinations of columns of
// length one that are shorter than 1e-5. The basis is in the memory of w or spare, which
// have the same size; the other one is returned, too.
func orthonormal(ctx context.Context, v []blas64.General, w blas64.General, spare []float64, floor float64, workers int) (blas64.General, []float64, error) {
	drop := 1e-10
	for round := 0; ; round++ {
		q, least, err := svqb(ctx, w, spare, floor, drop, workers)
		spare = w.Data
		if err != nil || q.Cols == 0 {
			return q, spare, err
		}
		// Scaling short columns up has scaled their rounding errors along v too: once
		// more. A direction that loses half its length then was rounding.
		if (round > 0 || v == nil) && least > 0.5 || round == 4 {
			return q, spare, nil
		}
		for _, vi := range v {
			h := NewGeneral(vi.Cols, q.Cols)
			if err := Gemm(ctx, blas.Trans, blas.NoTrans, 1, vi, q, 0, h, workers); err != nil {
				return q, nil, err
			}
			if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, -1, vi, h, 1, q, workers); err != nil {
				return q, nil, err
			}
		}
		w, floor, drop = q, 0.5, 0.1
	}
}

// blockIn returns an n×p matrix in the memory of data.
func blockIn(data []float64, n, p int) blas64.General {
	return blas64.General{Rows: n, Cols: p, Stride: max(p, 1), Data: data[:n*p]}
}

// svqb orthonormalises the columns of w by the eigenvectors of their scaled Gram matrix
// (Stathopoulos and Wu 2002). It leaves out columns of at most floor and eigenvalues of at
// most drop. The result is in the memory of to; svqb also returns the smallest eigenvalue kept.
func svqb(ctx context.Context, w blas64.General, to []float64, floor, drop float64, workers int) (blas64.General, float64, error) {
	g := NewGeneral(w.Cols, w.Cols)
	if err := Gram(ctx, w, g, workers); err != nil {
		return blas64.General{}, 0, err
	}
	var use []int
	inv := make([]float64, w.Cols)
	for j := range w.Cols {
		q := g.Data[j*g.Stride+j]
		if math.IsNaN(q) || math.IsInf(q, 0) {
			return blas64.General{}, 0, ErrNonFinite
		}
		if q > 0 && math.Sqrt(q) > floor {
			use = append(use, j)
			inv[j] = 1 / math.Sqrt(q)
		}
	}
	if len(use) == 0 {
		return NewGeneral(w.Rows, 0), 0, nil
	}
	s := NewGeneral(len(use), len(use))
	for a, i := range use {
		for b, j := range use {
			s.Data[a*s.Stride+b] = g.Data[i*g.Stride+j] * inv[i] * inv[j]
		}
	}
	theta, u, err := symEig(s)
	if err != nil {
		return blas64.General{}, 0, err
	}
	kept := 0
	for kept < len(theta) && theta[kept] > drop {
		kept++
	}
	m := NewGeneral(w.Cols, kept)
	for a, i := range use {
		for j := range kept {
			m.Data[i*m.Stride+j] = inv[i] * u.Data[a*u.Stride+j] / math.Sqrt(theta[j])
		}
	}
	q := blockIn(to, w.Rows, kept)
	return q, theta[kept-1], Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, w, m, 0, q, workers)
}

// TopEig returns the keep algebraically largest eigenpairs of a symmetric array, in descending order.
// Their residuals are at most 1e-10 of the smallest or 1e-13 of the largest of
// the eigenvalues. The vectors are columns.
func TopEig(ctx context.Context, t blas64.General, keep, workers int) ([]float64, blas64.General, error) {
	n := t.Rows
	if n > 256 && keep <= n/3 {
		op := func(ctx context.Context, dst, x blas64.General) error { return SymMul(ctx, t, x, dst, workers) }
		theta, rows, st, err := Lanczos(ctx, n, op, LanczosOptions{Pairs: keep, Tol: 1e-10, MaxRestarts: 60, Workers: workers})
		if err != nil {
			return nil, blas64.General{}, err
		}
		if st.Converged || st.Residual <= 1e-13*theta[0] {
			s := NewGeneral(n, keep)
			for j := range keep {
				for i, v := range Row(rows, j) {
					s.Data[i*s.Stride+j] = v
				}
			}
			return theta, s, nil
		}
	}
	theta, u, err := symEig(t)
	if err != nil {
		return nil, blas64.General{}, err
	}
	u.Cols = keep
	return theta[:keep], u, nil
}

// longestColumn returns the largest norm of a column, and ErrNonFinite if one is not finite.
func longestColumn(a blas64.General) (longest float64, err error) {
	squares := make([]float64, a.Cols)
	for i := range a.Rows {
		for j, v := range Row(a, i) {
			squares[j] += float64(v * v)
		}
	}
	for _, q := range squares {
		if math.IsNaN(q) || math.IsInf(q, 0) {
			return 0, ErrNonFinite
		}
		longest = max(longest, math.Sqrt(q))
	}
	return longest, nil
}
