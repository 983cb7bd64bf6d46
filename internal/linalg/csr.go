package linalg

import (
	"context"

	"gonum.org/v1/gonum/blas/blas64"
)

// CSR is a sparse matrix in compressed rows: row i has the values
// Vals[RowPtr[i]:RowPtr[i+1]] in the columns Cols[RowPtr[i]:RowPtr[i+1]], ascending.
type CSR struct {
	RowPtr []int
	Cols   []int32
	Vals   []float64
}

// Row returns the columns and values of row i.
func (s *CSR) Row(i int) ([]int32, []float64) {
	lo, hi := s.RowPtr[i], s.RowPtr[i+1]
	return s.Cols[lo:hi:hi], s.Vals[lo:hi:hi]
}

// Mul computes dst = S·X, or adds it to dst.
func (s *CSR) Mul(ctx context.Context, x, dst blas64.General, accumulate bool, workers int) error {
	return SpMMParallel(ctx, s.RowPtr, s.Cols, s.Vals, x, dst, accumulate, workers)
}
