package rectify

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// firstChange returns ‖C_1 − C_0‖_F of AP from ‖C_1‖² − 2⟨C_1, C_0⟩ + ‖C_0‖². theta
// are the Rayleigh quotients uᵀC_0u of the columns of Y.
func firstChange(ctx context.Context, c0 cooc.Matrix, c1 *linalg.LowRankSparse, theta []float64, workers int) (float64, error) {
	n := float64(c1.Y.Rows)
	low, err := innerSparse(ctx, c0, &c1.E, workers)
	if err != nil {
		return 0, err
	}
	s0, err := frobenius2(ctx, c0, workers)
	if err != nil {
		return 0, err
	}
	cross := float64(c1.R*vec.Sum(c0.Marginals())) + low
	for _, v := range theta {
		cross += float64(v * max(v, 0))
	}
	// ‖C_1‖²: where E is not zero C_1 is, so the squares of E go away.
	gram := linalg.NewGeneral(c1.Y.Cols, c1.Y.Cols)
	if err := linalg.Gram(ctx, c1.Y, gram, workers); err != nil {
		return 0, err
	}
	s1 := float64(2*c1.R*sumOf(c1.Y)) + float64(c1.R*c1.R*n*n)
	for _, v := range gram.Data {
		s1 += float64(v * v)
	}
	for _, v := range c1.E.Vals {
		s1 -= float64(v * v)
	}
	return math.Sqrt(max(s1-float64(2*cross)+s0, 0)), nil
}

// firstDistance returns ‖M − C‖_F of M = YYᵀ + E and a matrix from ‖M‖² − 2⟨M, C⟩ +
// ‖C‖²: one product of C with the columns of Y, its norms, and one pass over the rows
// of E.
func firstDistance(ctx context.Context, c cooc.Matrix, m *linalg.LowRankSparse, workers int) (float64, error) {
	inner := 0.0
	if m.Y.Cols > 0 {
		cy := linalg.NewGeneral(m.Y.Rows, m.Y.Cols)
		if err := operator(c, workers)(ctx, cy, m.Y); err != nil {
			return 0, err
		}
		inner = dotBlocks(m.Y, cy)
	}
	low, err := innerSparse(ctx, c, &m.E, workers)
	if err != nil {
		return 0, err
	}
	c2, err := frobenius2(ctx, c, workers)
	if err != nil {
		return 0, err
	}
	gram := linalg.NewGeneral(m.Y.Cols, m.Y.Cols)
	if err := linalg.Gram(ctx, m.Y, gram, workers); err != nil {
		return 0, err
	}
	m2 := vec.Dot(gram.Data, gram.Data)
	for i := range m.Y.Rows {
		yi := linalg.Row(m.Y, i)
		cols, vals := m.E.Row(i)
		for t, j := range cols {
			m2 += float64(vals[t] * (float64(2*vec.Dot(yi, linalg.Row(m.Y, int(j)))) + vals[t]))
		}
	}
	return math.Sqrt(max(m2-float64(2*(inner+low))+c2, 0)), nil
}

// innerSparse returns ⟨E, C⟩.
func innerSparse(ctx context.Context, c cooc.Matrix, e *linalg.CSR, workers int) (float64, error) {
	n := c.Dim()
	s, err := cooc.NewSparse(n, e.RowPtr, e.Cols, e.Vals)
	if err != nil {
		return 0, err
	}
	return s.Inner(ctx, c, workers)
}

// frobenius2 returns ‖C‖_F².
func frobenius2(ctx context.Context, c cooc.Matrix, workers int) (float64, error) {
	norms, err := c.RowNorms2(ctx, workers)
	if err != nil {
		return 0, err
	}
	return vec.Sum(norms), nil
}

// dotBlocks returns ⟨A, B⟩ of two arrays of one shape. It sums by rows.
func dotBlocks(a, b blas64.General) float64 {
	s := 0.0
	for i := range a.Rows {
		s += vec.Dot(linalg.Row(a, i), linalg.Row(b, i))
	}
	return s
}

// changeOf returns ‖C_1 − C_0‖_F of two consecutive iterates without the
// cancellation that ‖C_1‖² − 2⟨C_1, C_0⟩ + ‖C_0‖² would suffer.
//
// With A = YYᵀ + r·eeᵀ, C differs from A only on the pattern of its E, where
// it is zero. Hence ‖C_1 − C_0‖² = ‖A_1 − A_0‖² + Σ over the entries of either
// pattern of (C_1 − C_0)² − (A_1 − A_0)². Turning Y_0 by the orthogonal Q that
// brings it nearest to Y_1 gives A_1 − A_0 = ½(ΔSᵀ + SΔᵀ) + δr·eeᵀ with
// Δ = Y_1 − Y_0Q small and S = Y_1 + Y_0Q.
func (m *moves) changeOf(ctx context.Context, c0, c1 *linalg.LowRankSparse, workers int) (float64, error) {
	low, err := m.lowRank(ctx, c0.Y, c1.Y, c1.R-c0.R, workers)
	if err != nil {
		return 0, err
	}
	sums, err := overEntries(ctx, &c0.E, &c1.E, workers, func(i, j int, e0, e1 float64) float64 {
		switch {
		case e1 == 0: // only in E_0
			a0, a1 := -e0, vec.Dot(linalg.Row(c1.Y, i), linalg.Row(c1.Y, j))+c1.R
			return float64(a1*a1) - float64((a1-a0)*(a1-a0))
		case e0 == 0: // only in E_1
			a1, a0 := -e1, vec.Dot(linalg.Row(c0.Y, i), linalg.Row(c0.Y, j))+c0.R
			return float64(a0*a0) - float64((a1-a0)*(a1-a0))
		}
		x := e1 - e0
		return -x * x
	})
	for _, s := range sums {
		low += s
	}
	return math.Sqrt(max(low, 0)), err
}

// overEntries sums f over the entries (i, j) of either of two symmetric sparse matrices,
// by chunks of rows; an entry of the other is 0.
func overEntries(ctx context.Context, a, b *linalg.CSR, workers int, f func(i, j int, a, b float64) float64) ([]float64, error) {
	const size = 64
	n := len(a.RowPtr) - 1
	sums := make([]float64, parallel.Count(n, size))
	return sums, parallel.Chunks(ctx, n, size, workers, func(_, c, lo, hi int) error {
		for i := lo; i < hi; i++ {
			ac, av := from(a, i)
			bc, bv := from(b, i)
			union(ac, av, bc, bv, func(j int, a, b float64) {
				t := f(i, j, a, b)
				if j != i {
					t *= 2
				}
				sums[c] += t
			})
		}
		return nil
	})
}

// changeRows is how many rows moves.lowRank takes at a time, for memory alone.
const changeRows = 8192

// moves measures how far iterates move, and keeps its memory. The zero value is ready.
type moves struct{ sum, diff []float64 }

// lowRank returns ‖A_1 − A_0‖_F² of A = YYᵀ + r·eeᵀ, dr = r_1 − r_0, as changeOf
// explains.
func (m *moves) lowRank(ctx context.Context, y0, y1 blas64.General, dr float64, workers int) (float64, error) {
	n := y1.Rows
	k := max(y0.Cols, y1.Cols)
	pad := func(y blas64.General) blas64.General {
		if y.Cols == k {
			return y
		}
		z := linalg.NewGeneral(n, k)
		for i := range n {
			copy(linalg.Row(z, i), linalg.Row(y, i))
		}
		return z
	}
	y0, y1 = pad(y0), pad(y1)
	low := dr * dr * float64(n) * float64(n)
	if k == 0 {
		return low, nil
	}
	cross := linalg.NewGeneral(k, k)
	if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, y0, y1, 0, cross, workers); err != nil {
		return 0, err
	}
	_, u, v := linalg.SVD(cross)
	q := linalg.NewGeneral(k, k)
	if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, u, v, 0, q, workers); err != nil {
		return 0, err
	}
	m.sum, m.diff = vec.Resize(m.sum, min(n, changeRows)*k), vec.Resize(m.diff, min(n, changeRows)*k)
	var (
		s, d       = blas64.General{Cols: k, Stride: k, Data: m.sum}, blas64.General{Cols: k, Stride: k, Data: m.diff}
		dd, ss, sd = linalg.NewGeneral(k, k), linalg.NewGeneral(k, k), linalg.NewGeneral(k, k)
		ds, cs     = make([]float64, k), make([]float64, k)
	)
	for lo := 0; lo < n; lo += changeRows {
		rows := min(changeRows, n-lo)
		s.Rows, d.Rows = rows, rows
		old := blas64.General{Rows: rows, Cols: k, Stride: y0.Stride, Data: y0.Data[lo*y0.Stride:]}
		if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, old, q, 0, d, workers); err != nil {
			return 0, err
		}
		err := parallel.Chunks(ctx, rows, 256, workers, func(_, _, from, to int) error {
			for i := from; i < to; i++ {
				sum, diff := linalg.Row(s, i), linalg.Row(d, i)
				for j, a := range linalg.Row(y1, lo+i) {
					b := diff[j]
					sum[j], diff[j] = a+b, a-b
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		for _, g := range []struct{ a, b, to blas64.General }{{d, d, dd}, {s, s, ss}, {s, d, sd}} {
			if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, g.a, g.b, 1, g.to, workers); err != nil {
				return 0, err
			}
		}
		floats.Add(ds, linalg.ColumnSums(d))
		floats.Add(cs, linalg.ColumnSums(s))
	}
	for i := range k {
		for j := range k {
			low += float64(0.5 * (float64(dd.Data[i*k+j]*ss.Data[i*k+j]) + float64(sd.Data[i*k+j]*sd.Data[j*k+i])))
		}
	}
	// 2δr·eᵀ(A_1 − A_0)e of the low-rank parts = 2δr·(Δᵀe)·(Sᵀe).
	for j := range ds {
		low += float64(2 * dr * ds[j] * cs[j])
	}
	return low, nil
}

// distanceBetween returns ‖M_1 − M_0‖_F of two matrices M = YYᵀ + E, r = 0, of
// which the low-rank parts are close and the sparse ones small. O(N·K² +
// (nnz(E_0) + nnz(E_1))·K).
func distanceBetween(ctx context.Context, m0, m1 *linalg.LowRankSparse, workers int) (float64, error) {
	total, err := new(moves).lowRank(ctx, m0.Y, m1.Y, 0, workers)
	if err != nil {
		return 0, err
	}
	sums, err := overEntries(ctx, &m0.E, &m1.E, workers, func(i, j int, a, b float64) float64 {
		x := b - a
		low := vec.Dot(linalg.Row(m1.Y, i), linalg.Row(m1.Y, j)) - vec.Dot(linalg.Row(m0.Y, i), linalg.Row(m0.Y, j))
		return x * (float64(2*low) + x)
	})
	for _, v := range sums {
		total += v
	}
	return math.Sqrt(max(total, 0)), err
}

// from returns the entries of row i from the diagonal on.
func from(e *linalg.CSR, i int) ([]int32, []float64) {
	cols, vals := e.Row(i)
	k, _ := slices.BinarySearch(cols, int32(i))
	return cols[k:], vals[k:]
}

// union calls f for every column of either of two sparse rows, ascending, with
// the values there, 0 where one has none.
func union(ac []int32, av []float64, bc []int32, bv []float64, f func(j int, a, b float64)) {
	for len(ac) > 0 || len(bc) > 0 {
		switch {
		case len(bc) == 0 || len(ac) > 0 && ac[0] < bc[0]:
			f(int(ac[0]), av[0], 0)
			ac, av = ac[1:], av[1:]
		case len(ac) == 0 || bc[0] < ac[0]:
			f(int(bc[0]), 0, bv[0])
			bc, bv = bc[1:], bv[1:]
		default:
			f(int(ac[0]), av[0], bv[0])
			ac, av, bc, bv = ac[1:], av[1:], bc[1:], bv[1:]
		}
	}
}
