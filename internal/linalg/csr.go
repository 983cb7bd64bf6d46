package linalg

import (
	"context"
	"slices"

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

// Mul computes dst = S·X, or dst += S·X if accumulate is set. dst has as many columns p
// as X, and must not share memory with X. The products of a row are summed in the order
// of its columns before they are added to dst; for p = 1 in eight interleaved sums. The
// cost is p multiply-adds per stored value.
//
// workers bounds the goroutines (0: GOMAXPROCS) and changes no bit. Chunks of rows
// hold about equally many values, and a wide X is taken in strips of columns that fit
// in the cache. The error is that of ctx; dst is then partly written. It panics if
// sizes differ or a column number is out of range.
func (s *CSR) Mul(ctx context.Context, x, dst blas64.General, accumulate bool, workers int) error {
	return best().spmmParallel(ctx, s.RowPtr, s.Cols, s.Vals, x, dst, accumulate, workers)
}

// MulRow sets dst to row i of S·X, which it is with the bits of Mul, and needs no memory.
func (s *CSR) MulRow(i int, x blas64.General, dst []float64) {
	to := blas64.General{Rows: 1, Cols: x.Cols, Stride: x.Cols, Data: dst[:x.Cols]}
	best().spmmRange(s.RowPtr[i:i+2], s.Cols, s.Vals, x, to, 0, 1, false)
}

// Transpose sets t, whose memory is used again, to the transpose of s, a matrix of n
// columns. The rows of t are ascending.
func (s *CSR) Transpose(t *CSR, n int) {
	size := len(s.Cols)
	t.RowPtr = slices.Grow(t.RowPtr[:0], n+1)[:n+1]
	t.Cols, t.Vals = slices.Grow(t.Cols[:0], size)[:size], slices.Grow(t.Vals[:0], size)[:size]
	clear(t.RowPtr)
	// RowPtr[j+1] is where row j goes on, and in the end where row j+1 begins.
	at := t.RowPtr[1:]
	for _, j := range s.Cols {
		if int(j)+1 < n {
			at[j+1]++
		}
	}
	for j := 1; j < n; j++ {
		at[j] += at[j-1]
	}
	for i := range len(s.RowPtr) - 1 {
		cols, vals := s.Row(i)
		for k, j := range cols {
			t.Cols[at[j]], t.Vals[at[j]] = int32(i), vals[k]
			at[j]++
		}
	}
}
