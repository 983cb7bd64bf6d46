package linalg

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/parallel"
)

const (
	// stripBytes of X are assumed to stay in the second-level cache.
	stripBytes = 5 << 18

	// stripReuse is how often a row of X must be used on average to pay for
	// copying it.
	stripReuse = 8
)

// stripCols returns how many columns of X to multiply with at a time. If X does not
// fit in the cache but strips of its columns do, it is faster to copy one strip
// after the other and to read S again for each. It changes no bit.
func stripCols(n, p, values int) int {
	if n*p*8 <= stripBytes || values < stripReuse*n {
		return p
	}
	if n*panel*8 > 2*stripBytes {
		return p // not even the narrowest strip fits
	}
	return min(8, max(1, stripBytes/(n*panel*8))) * panel
}

func (kr *kernels) spmmParallel(ctx context.Context, rowPtr []int, cols []int32, vals []float64, x, dst blas64.General, accumulate bool, workers int) error {
	checkSpMM(rowPtr, cols, vals, x, dst)
	n := dst.Rows
	if n == 0 || x.Cols == 0 {
		return ctx.Err()
	}
	width := stripCols(x.Rows, x.Cols, len(cols))
	cuts := rowCuts(rowPtr, min(width, x.Cols))
	if width >= x.Cols {
		return parallel.Chunks(ctx, len(cuts)-1, 1, workers, func(_, chunk, _, _ int) error {
			kr.spmmRange(rowPtr, cols, vals, x, dst, cuts[chunk], cuts[chunk+1], accumulate)
			return nil
		})
	}
	buf := borrow(x.Rows * width)
	defer giveBack(buf)
	for j := 0; j < x.Cols; j += width {
		w := min(width, x.Cols-j)
		strip := blas64.General{Rows: x.Rows, Cols: w, Stride: roundUp(w, panel), Data: *buf}
		part := blas64.General{Rows: n, Cols: w, Stride: dst.Stride, Data: dst.Data[j:]}
		err := parallel.Chunks(ctx, x.Rows, 512, workers, func(_, _, lo, hi int) error {
			for i := lo; i < hi; i++ {
				copy(strip.Data[i*strip.Stride:][:w], x.Data[i*x.Stride+j:])
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = parallel.Chunks(ctx, len(cuts)-1, 1, workers, func(_, chunk, _, _ int) error {
			bad := kr.spmm(x.Rows, rowPtr, cols, vals, strip.Data, strip.Stride, part.Data, part.Stride, w, cuts[chunk], cuts[chunk+1], accumulate)
			checkColumn(bad, cols, x.Rows)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rowCuts returns the borders of chunks of rows of about chunkWork/4
// multiply-adds each. A row counts as four values besides its own.
func rowCuts(rowPtr []int, p int) []int {
	n := len(rowPtr) - 1
	const perRow = 4
	target := chunkWork/4/max(1, p) + 1
	cuts := []int{0}
	for lo := 0; lo < n; {
		limit := rowPtr[lo] + target
		more := sort.Search(n-lo-1, func(t int) bool {
			i := lo + 1 + t
			return rowPtr[i+1]+perRow*(i+1-lo) > limit
		})
		lo += 1 + more
		cuts = append(cuts, lo)
	}
	return cuts
}

// spmmRange computes rows [lo, hi). Of what it is given it checks the column numbers only.
func (kr *kernels) spmmRange(rowPtr []int, cols []int32, vals []float64, x, dst blas64.General, lo, hi int, accumulate bool) {
	bad := -1
	if x.Rows == 0 {
		bad = spmmGeneric(0, rowPtr, cols, vals, nil, 1, dst.Data, dst.Stride, x.Cols, lo, hi, accumulate)
	} else if x.Cols == 1 {
		bad = kr.spmv(x.Rows, rowPtr, cols, vals, x.Data, x.Stride, dst.Data, dst.Stride, lo, hi, accumulate)
	} else {
		bad = kr.spmm(x.Rows, rowPtr, cols, vals, x.Data, x.Stride, dst.Data, dst.Stride, x.Cols, lo, hi, accumulate)
	}
	checkColumn(bad, cols, x.Rows)
}

func checkSpMM(rowPtr []int, cols []int32, vals []float64, x, dst blas64.General) {
	if len(rowPtr) == 0 {
		panic("linalg: rowPtr is empty")
	}
	check("x", x)
	checkShape("dst", dst, len(rowPtr)-1, x.Cols)
	if len(cols) != len(vals) {
		panic(fmt.Sprintf("linalg: %d column numbers for %d values", len(cols), len(vals)))
	}
	if x.Rows > math.MaxInt32 {
		panic(fmt.Sprintf("linalg: x has %d rows, more than a column number can tell", x.Rows))
	}
	for i := range dst.Rows {
		if rowPtr[i] < 0 || rowPtr[i] > rowPtr[i+1] || rowPtr[i+1] > len(cols) {
			panic(fmt.Sprintf("linalg: row %d runs from %d to %d of %d values", i, rowPtr[i], rowPtr[i+1], len(cols)))
		}
	}
}

func checkColumn(bad int, cols []int32, n int) {
	if bad >= 0 {
		panic(fmt.Sprintf("linalg: value %d lies in column %d of %d", bad, cols[bad], n))
	}
}

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

// Sum returns the sum of the entries of a, row after row.
func Sum(a mat.Matrix) float64 {
	sum := 0.0
	rows, columns := a.Dims()
	for i := range rows {
		for j := range columns {
			sum += a.At(i, j)
		}
	}
	return sum
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

// SymMul computes dst = A·X for an explicit n×n array.
func SymMul(ctx context.Context, a, x, dst blas64.General, workers int) error {
	return Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, a, x, 0, dst, workers)
}
