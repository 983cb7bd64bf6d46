package linalg

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

func row(y blas64.General, i int) []float64 {
	if y.Cols == 0 {
		return nil
	}
	return y.Data[i*y.Stride:][:y.Cols]
}

// products is YYᵀ by definition, summed as documented.
func products(kr *kernels, y blas64.General) []float64 {
	n := y.Rows
	z := make([]float64, n*n)
	for i := range n {
		x := row(y, i)
		for j := range n {
			z[i*n+j], _ = inOrder(x, row(y, j))
		}
	}
	return z
}

// checkRow compares row t of h with the entries of row z below thr from column
// from on.
func checkRow(t *testing.T, h *Hits, row int, z []float64, from int, thr float64) {
	t.Helper()
	var cols []int32
	var vals []float64
	for j := from; j < len(z); j++ {
		if z[j] < thr {
			cols, vals = append(cols, int32(j)), append(vals, z[j])
		}
	}
	gc, gv := h.Row(row)
	if !slices.Equal(gc, cols) {
		t.Fatalf("row %d: columns %v, want %v", row, gc, cols)
	}
	if d := diffBits(gv, vals); d != "" {
		t.Fatalf("row %d: values: %s", row, d)
	}
}

func TestScanBelow(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernels) {
		rnd := newRand(11)
		var h Hits
		for _, n := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 47, 48, 49, 65, 100, 131} {
			for _, k := range []int{0, 1, 2, 5, 8, 13} {
				y := randMat(rnd, n, k, rnd.IntN(3))
				z := products(kr, y)
				p := kr.repack(nil, y)
				for _, thr := range []float64{-3, -0.01, 0, 0.5, math.Inf(1), math.Inf(-1), math.NaN()} {
					h.Reset()
					p.ScanBelow(0, n, thr, &h)
					if len(h.RowEnd) != n {
						t.Fatalf("n=%d: %d rows", n, len(h.RowEnd))
					}
					for i := range n {
						checkRow(t, &h, i, z[i*n:(i+1)*n], i, thr)
					}
					if n == 0 {
						continue
					}

					// Any block, appended to what is there.
					i0 := rnd.IntN(n)
					i1 := i0 + rnd.IntN(n-i0+1)
					p.ScanBelow(i0, i1, thr, &h)
					if len(h.RowEnd) != n+i1-i0 {
						t.Fatalf("n=%d: %d rows after appending %d", n, len(h.RowEnd), i1-i0)
					}
					for i := i0; i < i1; i++ {
						checkRow(t, &h, n+i-i0, z[i*n:(i+1)*n], i, thr)
					}

					// Chosen rows in any order, all columns.
					rows := make([]int, rnd.IntN(70))
					for i := range rows {
						rows[i] = rnd.IntN(n)
					}
					h.Reset()
					p.ScanBelowRows(rows, thr, &h)
					if len(h.RowEnd) != len(rows) {
						t.Fatalf("n=%d: %d rows for %d asked for", n, len(h.RowEnd), len(rows))
					}
					for r, i := range rows {
						checkRow(t, &h, r, z[i*n:(i+1)*n], 0, thr)
					}
				}
			}
		}
	})
}

// TestScanBelowLarge has rows with none, few, clustered and only hits, over
// several blocks of rows, and non-finite rows.
func TestScanBelowLarge(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernels) {
		const n, k = 309, 19
		rnd := newRand(12)
		y := randMat(rnd, n, k, 0)
		for i := range n {
			for l := range k {
				v := &y.Data[i*k+l]
				*v = math.Abs(*v)
				if i >= 100 && i < 130 || i == 270 {
					*v = -*v // a cluster that meets nearly every row below 0
				}
				if i >= 200 && i < 230 {
					*v = rnd.NormFloat64()
				}
			}
		}
		y.Data[17*k+3] = math.NaN()
		y.Data[208*k+5] = math.Inf(1)
		z := products(kr, y)
		p := kr.repack(nil, y)
		for _, thr := range []float64{0, -5, 1000} {
			var h Hits
			p.ScanBelow(0, n, thr, &h)
			for i := range n {
				checkRow(t, &h, i, z[i*n:(i+1)*n], i, thr)
			}
			all := make([]int, n)
			for i := range all {
				all[i] = n - 1 - i
			}
			h.Reset()
			p.ScanBelowRows(all, thr, &h)
			for r, i := range all {
				checkRow(t, &h, r, z[i*n:(i+1)*n], 0, thr)
			}
		}
	})
}

// TestScanMatchesGemm: a value is the one Gemm computes for YYᵀ.
func TestScanMatchesGemm(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernels) {
		const n, k = 77, 21
		y := randMat(newRand(13), n, k, 0)
		c := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
		if err := kr.gemm(t.Context(), 'N', 'T', 1, y, y, 0, c, 1); err != nil {
			t.Fatal(err)
		}
		if d := diffBits(c.Data, products(kr, y)); d != "" {
			t.Fatalf("Gemm: %s", d)
		}
		var h Hits
		kr.repack(nil, y).ScanBelow(0, n, math.Inf(1), &h)
		for i := range n {
			checkRow(t, &h, i, c.Data[i*n:(i+1)*n], i, math.Inf(1))
		}
	})
}

func TestScanConcurrent(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernels) {
		const n, k, block = 200, 10, 32
		y := randMat(newRand(14), n, k, 0)
		z := products(kr, y)
		p := kr.repack(nil, y)
		blocks := make([]Hits, (n+block-1)/block)
		var wg sync.WaitGroup
		for b := range blocks {
			wg.Go(func() {
				p.ScanBelow(b*block, min(n, (b+1)*block), -0.5, &blocks[b])
			})
		}
		wg.Wait()
		for b := range blocks {
			for i := b * block; i < min(n, (b+1)*block); i++ {
				checkRow(t, &blocks[b], i-b*block, z[i*n:(i+1)*n], i, -0.5)
			}
		}
	})
}

func TestScanWrongInput(t *testing.T) {
	p := Pack(randMat(newRand(15), 5, 2, 0))
	var h Hits
	mustPanic(t, "rows [-1, 3) of 5", func() { p.ScanBelow(-1, 3, 0, &h) })
	mustPanic(t, "rows [2, 6) of 5", func() { p.ScanBelow(2, 6, 0, &h) })
	mustPanic(t, "rows [3, 2) of 5", func() { p.ScanBelow(3, 2, 0, &h) })
	mustPanic(t, "rows[1] = 5 of 5", func() { p.ScanBelowRows([]int{0, 5}, 0, &h) })
	mustPanic(t, "rows[0] = -1 of 5", func() { p.ScanBelowRows([]int{-1}, 0, &h) })
	mustPanic(t, "holds 3 numbers", func() { Pack(blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float64, 3)}) })
}

func FuzzScanBelow(f *testing.F) {
	f.Add(uint64(1), uint8(40), uint8(7), 0.0, uint8(3), uint8(30))
	f.Add(uint64(2), uint8(200), uint8(1), -1.0, uint8(0), uint8(255))
	f.Fuzz(func(t *testing.T, seed uint64, n, k uint8, thr float64, a, b uint8) {
		y := randMat(newRand(seed), int(n), int(k%40), int(seed%5))
		i0, i1 := min(int(a), int(n)), min(int(b), int(n))
		if i0 > i1 {
			i0, i1 = i1, i0
		}
		for _, kr := range available() {
			z := products(kr, y)
			p := kr.repack(nil, y)
			var h Hits
			p.ScanBelow(i0, i1, thr, &h)
			rows := make([]int, 0, i1-i0)
			for i := i0; i < i1; i++ {
				checkRow(t, &h, i-i0, z[i*int(n):(i+1)*int(n)], i, thr)
				rows = append(rows, i)
			}
			h.Reset()
			p.ScanBelowRows(rows, thr, &h)
			for r, i := range rows {
				checkRow(t, &h, r, z[i*int(n):(i+1)*int(n)], 0, thr)
			}
		}
	})
}

func ExampleHits() {
	y := blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: []float64{
		1, 0,
		-1, 1,
		2, 3,
	}}
	var h Hits
	Pack(y).ScanBelow(0, 3, 0, &h)
	for i := range 3 {
		cols, vals := h.Row(i)
		fmt.Println(i, cols, vals)
	}
	// Output:
	// 0 [1] [-1]
	// 1 [] []
	// 2 [] []
}
