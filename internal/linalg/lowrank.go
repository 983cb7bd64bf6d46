package linalg

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/parallel"
)

// LowRankSparse is the symmetric operator YYᵀ + r·eeᵀ + E with an N×K matrix Y (K
// may be 0) and a symmetric sparse matrix E.
type LowRankSparse struct {
	Y blas64.General
	R float64
	E CSR
}

// Mul computes dst = (YYᵀ + r·eeᵀ + E)·X.
func (m *LowRankSparse) Mul(ctx context.Context, dst, x blas64.General, workers int) error {
	n, k, p := m.Y.Rows, m.Y.Cols, x.Cols
	if k == 0 {
		scaleResult(0, dst)
	} else {
		t := NewGeneral(k, p)
		if err := Gemm(ctx, blas.Trans, blas.NoTrans, 1, m.Y, x, 0, t, workers); err != nil {
			return err
		}
		if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, m.Y, t, 0, dst, workers); err != nil {
			return err
		}
	}
	if m.R != 0 {
		s := ColumnSums(x)
		for j := range s {
			s[j] *= m.R
		}
		err := parallel.Chunks(ctx, n, 1024, workers, func(_, _, lo, hi int) error {
			for i := lo; i < hi; i++ {
				row := Row(dst, i)
				for j, v := range s {
					row[j] += v
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(m.E.Cols) == 0 {
		return ctx.Err()
	}
	return m.E.Mul(ctx, x, dst, true, workers)
}

// NewGeneral returns a zero r×c matrix.
func NewGeneral(r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: max(c, 1), Data: make([]float64, r*c)}
}

// Row returns row i of a, which may have no columns.
func Row(a blas64.General, i int) []float64 {
	if a.Cols == 0 {
		return nil
	}
	return a.Data[i*a.Stride : i*a.Stride+a.Cols]
}

// Rows returns rows lo ≤ i < hi of a, which share memory with a.
func Rows(a blas64.General, lo, hi int) blas64.General {
	if lo >= hi || a.Cols == 0 {
		return NewGeneral(hi-lo, a.Cols)
	}
	return blas64.General{Rows: hi - lo, Cols: a.Cols, Stride: a.Stride, Data: a.Data[lo*a.Stride : (hi-1)*a.Stride+a.Cols]}
}

// ColumnSums returns eᵀA.
func ColumnSums(a blas64.General) []float64 {
	s := make([]float64, a.Cols)
	if a.Rows == 0 || a.Cols == 0 {
		return s
	}
	// One row of ones times A: the sparse product keeps the sums in registers.
	ones := slices.Repeat([]float64{1}, a.Rows)
	best().spmmRange([]int{0, a.Rows}, numbers(a.Rows), ones, a, blas64.General{Rows: 1, Cols: a.Cols, Stride: a.Cols, Data: s}, 0, 1, false)
	return s
}

// numbers returns 0 … n−1.
func numbers(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// SymMul computes dst = A·X for an explicit n×n array. A single vector is
// multiplied row by row, a block of vectors by Gemm.
func SymMul(ctx context.Context, a, x, dst blas64.General, workers int) error {
	if x.Cols != 1 || x.Stride != 1 {
		return Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, a, x, 0, dst, workers)
	}
	v := vec(x.Data[:x.Rows])
	return parallel.Chunks(ctx, a.Rows, 64, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			dst.Data[i*dst.Stride] = blas64.Dot(vec(Row(a, i)), v)
		}
		return nil
	})
}
