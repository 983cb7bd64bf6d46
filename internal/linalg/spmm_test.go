package linalg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

type csr struct {
	rows, cols_ int
	rowPtr      []int
	cols        []int32
	vals        []float64
}

// randCSR draws a sparse matrix whose first rows are fuller than the rest and
// some of whose rows are empty.
func randCSR(rnd *rand.Rand, rows, cols int, density float64) csr {
	s := csr{rows: rows, cols_: cols, rowPtr: []int{0}}
	for i := range rows {
		d := density
		if i < 3 {
			d = 0.9
		} else if i%7 == 0 {
			d = 0
		}
		for j := range cols {
			if rnd.Float64() < d {
				s.cols = append(s.cols, int32(j))
				s.vals = append(s.vals, rnd.NormFloat64())
			}
		}
		s.rowPtr = append(s.rowPtr, len(s.cols))
	}
	return s
}

// mul is the obvious product in the documented order.
func (s csr) mul(kr *kernels, x, dst blas64.General, accumulate bool) {
	p := x.Cols
	for i := range s.rows {
		for j := range p {
			var sum [8]float64
			for t := s.rowPtr[i]; t < s.rowPtr[i+1]; t++ {
				lane := 0
				if p == 1 {
					lane = (t - s.rowPtr[i]) % 8
				}
				sum[lane] = math.FMA(s.vals[t], x.Data[int(s.cols[t])*x.Stride+j], sum[lane])
			}
			v := ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]))
			if accumulate {
				v += dst.Data[i*dst.Stride+j]
			}
			dst.Data[i*dst.Stride+j] = v
		}
	}
}

func TestSpMM(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernels) {
		rnd := newRand(7)
		for _, p := range []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 48, 56, 60, 63, 64, 65, 72, 96, 111, 112, 113, 128, 129, 200} {
			for _, accumulate := range []bool{false, true} {
				t.Run(fmt.Sprintf("p=%d/accumulate=%v", p, accumulate), func(t *testing.T) {
					s := randCSR(rnd, 41, 37, 0.2)
					x := randMat(rnd, s.cols_, p, rnd.IntN(3))
					dst := randMat(rnd, s.rows, p, rnd.IntN(3))
					if !accumulate {
						for i := range dst.Data {
							dst.Data[i] = math.NaN() // must be overwritten
						}
					}
					want := cloneMat(dst)
					s.mul(kr, x, want, accumulate)
					old := cloneMat(dst)

					// Rows outside [lo, hi) stay as they are.
					lo, hi := 5, 23
					kr.spmmRange(s.rowPtr, s.cols, s.vals, x, dst, lo, hi, accumulate)
					st := dst.Stride
					if d := diffBits(dst.Data[:lo*st], old.Data[:lo*st]); d != "" {
						t.Fatalf("rows before lo: %s", d)
					}
					if d := diffBits(dst.Data[lo*st:hi*st], want.Data[lo*st:hi*st]); d != "" {
						t.Fatalf("rows [lo, hi): %s", d)
					}
					if d := diffBits(dst.Data[hi*st:], old.Data[hi*st:]); d != "" {
						t.Fatalf("rows from hi: %s", d)
					}
					kr.spmmRange(s.rowPtr, s.cols, s.vals, x, dst, 0, lo, accumulate)
					kr.spmmRange(s.rowPtr, s.cols, s.vals, x, dst, hi, s.rows, accumulate)
					if d := diffBits(dst.Data, want.Data); d != "" {
						t.Fatalf("all rows: %s", d)
					}
				})
			}
		}
	})
}

func TestSpMMWorkers(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernels) {
		rnd := newRand(8)
		s := randCSR(rnd, 500, 450, 0.06)
		for _, p := range []int{1, 12, 130} {
			if got := len(rowCuts(s.rowPtr, 130)) - 1; got < 3 {
				t.Fatalf("%d chunks, too few for this test", got)
			}
			x := randMat(rnd, s.cols_, p, 0)
			dst0 := randMat(rnd, s.rows, p, 0)
			want := cloneMat(dst0)
			s.mul(kr, x, want, true)
			for _, workers := range []int{1, 2, 3, 8, 0} {
				dst := cloneMat(dst0)
				if err := kr.spmmParallel(context.Background(), s.rowPtr, s.cols, s.vals, x, dst, true, workers); err != nil {
					t.Fatal(err)
				}
				if d := diffBits(dst.Data, want.Data); d != "" {
					t.Fatalf("p=%d, %d workers: %s", p, workers, d)
				}
			}
		}
	})
}

// A row alone has the bits that it has among the others, and an empty one is 0.
func TestMulRow(t *testing.T) {
	rnd := newRand(9)
	r := randCSR(rnd, 20, 45, 0.3)
	s := CSR{RowPtr: r.rowPtr, Cols: r.cols, Vals: r.vals}
	for _, p := range []int{1, 17, 153} {
		x, want := randMat(rnd, r.cols_, p, 0), NewGeneral(r.rows, p)
		if err := s.Mul(t.Context(), x, want, false, 1); err != nil {
			t.Fatal(err)
		}
		got := randMat(rnd, r.rows, p, 0)
		for i := range r.rows {
			s.MulRow(i, x, Row(got, i))
		}
		if d := diffBits(got.Data, want.Data); d != "" {
			t.Errorf("p=%d: %s", p, d)
		}
	}
}

// TestSpMMStrips: cutting X into strips of columns changes nothing, not even where
// the last strip has one column.
func TestSpMMStrips(t *testing.T) {
	rnd := newRand(16)
	s := randCSR(rnd, 90, 700, 0.15)
	const p = 257
	if w := stripCols(s.cols_, p, len(s.cols)); w >= p || p%w != 1 {
		t.Fatalf("strips of %d columns, want several and one column left", w)
	}
	x := randMat(rnd, s.cols_, p, 1)
	dst0 := randMat(rnd, s.rows, p, 2)
	eachKernel(t, func(t *testing.T, kr *kernels) {
		for _, accumulate := range []bool{false, true} {
			want := cloneMat(dst0)
			s.mul(kr, x, want, accumulate)
			for _, workers := range []int{1, 3} {
				dst := cloneMat(dst0)
				if err := kr.spmmParallel(context.Background(), s.rowPtr, s.cols, s.vals, x, dst, accumulate, workers); err != nil {
					t.Fatal(err)
				}
				if d := diffBits(dst.Data, want.Data); d != "" {
					t.Fatalf("accumulate %v, %d workers: %s", accumulate, workers, d)
				}
			}
		}
	})
}

func TestStripCols(t *testing.T) {
	for _, c := range []struct{ n, p, values, want int }{
		{1000, 64, 1 << 20, 64},     // fits as it is
		{5000, 112, 1 << 20, 32},    // strips that fit
		{5000, 112, 5000, 112},      // rows hardly ever used again
		{20_000, 112, 1 << 22, 8},   // the narrowest strip
		{70_000, 112, 1 << 24, 112}, // none fits
		{0, 8, 0, 8},
	} {
		if got := stripCols(c.n, c.p, c.values); got != c.want {
			t.Errorf("stripCols(%d, %d, %d) = %d, want %d", c.n, c.p, c.values, got, c.want)
		}
	}
}

// TestRowCuts: the chunks cover all rows, and only a chunk of one row may hold
// much more than its share.
func TestRowCuts(t *testing.T) {
	rnd := newRand(9)
	for _, n := range []int{0, 1, 2, 10, 1000} {
		rowPtr := []int{0}
		for i := range n {
			k := rnd.IntN(300)
			if i%100 == 7 {
				k = 50_000
			}
			rowPtr = append(rowPtr, rowPtr[i]+k)
		}
		for _, p := range []int{1, 64} {
			cuts := rowCuts(rowPtr, p)
			if cuts[0] != 0 || cuts[len(cuts)-1] != n {
				t.Fatalf("cuts run from %d to %d, want 0 to %d", cuts[0], cuts[len(cuts)-1], n)
			}
			for c := 1; c < len(cuts); c++ {
				lo, hi := cuts[c-1], cuts[c]
				if hi <= lo {
					t.Fatalf("cuts %d and %d", lo, hi)
				}
				if nnz := rowPtr[hi] - rowPtr[lo]; hi-lo > 1 && nnz > chunkWork/4/p+1 {
					t.Errorf("rows [%d, %d) hold %d values", lo, hi, nnz)
				}
			}
		}
	}
}

func TestSpMMNonFinite(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernels) {
		for _, p := range []int{1, 8, 11} {
			rowPtr := []int{0, 1, 2, 3, 3}
			cols := []int32{0, 1, 0}
			vals := []float64{0, 1, math.NaN()}
			x := blas64.General{Rows: 2, Cols: p, Stride: p, Data: make([]float64, 2*p)}
			for j := range p {
				x.Data[j], x.Data[p+j] = math.Inf(1), math.Inf(-1)
			}
			dst := blas64.General{Rows: 4, Cols: p, Stride: p, Data: make([]float64, 4*p)}
			kr.spmmRange(rowPtr, cols, vals, x, dst, 0, 4, false)
			for j := range p {
				if a, b, c, d := dst.Data[j], dst.Data[p+j], dst.Data[2*p+j], dst.Data[3*p+j]; !math.IsNaN(a) || !math.IsInf(b, -1) || !math.IsNaN(c) || d != 0 {
					t.Fatalf("p=%d, column %d: %v %v %v %v, want NaN −Inf NaN 0", p, j, a, b, c, d)
				}
			}
		}
	})
}

func TestSpMMWrongInput(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernels) {
		for _, p := range []int{1, 2, 8, 64, 70} {
			mat := func(r int) blas64.General {
				return blas64.General{Rows: r, Cols: p, Stride: p, Data: make([]float64, r*p)}
			}
			call := func(rowPtr []int, cols []int32, vals []float64, x, dst blas64.General) func() {
				return func() { _ = kr.spmmParallel(context.Background(), rowPtr, cols, vals, x, dst, false, 1) }
			}
			one := []float64{1, 1}
			mustPanic(t, "value 1 lies in column 3 of 3", call([]int{0, 1, 2}, []int32{2, 3}, one, mat(3), mat(2)))
			mustPanic(t, "value 0 lies in column -1 of 3", call([]int{0, 1, 2}, []int32{-1, 0}, one, mat(3), mat(2)))
			mustPanic(t, "row 1 runs from 1 to 3 of 2 values", call([]int{0, 1, 3}, []int32{0, 1}, one, mat(3), mat(2)))
			mustPanic(t, "row 0 runs from 2 to 1", call([]int{2, 1, 2}, []int32{0, 1}, one, mat(3), mat(2)))
			mustPanic(t, "row 0 runs from -1", call([]int{-1, 1, 2}, []int32{0, 1}, one, mat(3), mat(2)))
			mustPanic(t, "2 column numbers for 1 values", call([]int{0, 1, 2}, []int32{0, 1}, one[:1], mat(3), mat(2)))
			mustPanic(t, "dst is 3×", call([]int{0, 1, 2}, []int32{0, 1}, one, mat(3), mat(3)))
			mustPanic(t, "value 0 lies in column 0 of 0", call([]int{0, 1}, []int32{0}, one[:1], mat(0), mat(1)))
			mustPanic(t, "rowPtr is empty", call(nil, nil, nil, mat(0), mat(0)))
		}
	})
}

func TestSpMMCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	rnd := newRand(10)
	s := randCSR(rnd, 9, 9, 0.5)
	x, dst := randMat(rnd, 9, 2, 0), randMat(rnd, 9, 2, 0)
	if err := (&CSR{s.rowPtr, s.cols, s.vals}).Mul(ctx, x, dst, false, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func FuzzSpMM(f *testing.F) {
	f.Add(uint64(1), uint8(20), uint8(30), uint8(64), 0.2)
	f.Add(uint64(2), uint8(1), uint8(1), uint8(1), 1.0)
	f.Fuzz(func(t *testing.T, seed uint64, rows, cols, p uint8, density float64) {
		if p == 0 {
			t.Skip()
		}
		rnd := newRand(seed)
		s := randCSR(rnd, int(rows), int(cols), density)
		x := randMat(rnd, int(cols), int(p), rnd.IntN(5))
		dst0 := randMat(rnd, int(rows), int(p), rnd.IntN(5))
		accumulate := seed%2 == 0
		for _, kr := range available() {
			dst, want := cloneMat(dst0), cloneMat(dst0)
			s.mul(kr, x, want, accumulate)
			if err := kr.spmmParallel(context.Background(), s.rowPtr, s.cols, s.vals, x, dst, accumulate, 2); err != nil {
				t.Fatal(err)
			}
			if d := diffBits(dst.Data, want.Data); d != "" {
				t.Fatalf("%s: %s", kr.name, d)
			}
		}
	})
}

// The transpose holds every value in its place, and that of the transpose is the matrix.
func TestTranspose(t *testing.T) {
	rnd := newRand(7)
	var back, t1 CSR // memory that is used again
	for _, size := range [][2]int{{30, 20}, {5, 40}, {40, 1}, {1, 1}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			r := randCSR(rnd, size[0], size[1], 0.3)
			s := CSR{RowPtr: r.rowPtr, Cols: r.cols, Vals: r.vals}
			s.Transpose(&t1, size[1])
			if len(t1.RowPtr) != size[1]+1 || len(t1.Cols) != len(s.Cols) {
				t.Fatalf("%d rows with %d values, want %d with %d", len(t1.RowPtr)-1, len(t1.Cols), size[1], len(s.Cols))
			}
			for j := range size[1] {
				if cols, _ := t1.Row(j); !slices.IsSorted(cols) {
					t.Errorf("row %d has the columns %v", j, cols)
				}
			}
			t1.Transpose(&back, size[0])
			if !slices.Equal(back.RowPtr, s.RowPtr) || !slices.Equal(back.Cols, s.Cols) || !slices.Equal(back.Vals, s.Vals) {
				t.Error("transposed twice it is another matrix")
			}
		})
	}
}
