//go:build amd64 && !noasm && !purego

package linalg

import "unsafe"

var kernels512 = kernels{
	name: "avx512",
	tile: tile512,
	scan: scan512,
	spmm: spmm512,
	spmv: spmv512,
	dots: dots512,

	packCols: packCols512,
}

// tile512x computes a tile of 8 rows and nb panels of columns. Steps are in
// elements, mask has a bit for each column of the last panel to be written, and
// update is whether beta is not 0.
//
//go:noescape
func tile512x(k int, a *float64, rs, ks int, b *float64, bs, nb int, c *float64, ldc int, alpha, beta float64, mask int, update bool)

// scan512x3 appends the elements of an 8×24 tile that are below thr to 8 rows of
// vals and cols, stride elements apart, which hold cnt elements so far.
//
//go:noescape
func scan512x3(k int, a, b *float64, thr float64, col0 int, vals *float64, cols *int32, stride int, cnt *int)

// spmm512x computes rows of dst for a strip of v ≤ 8 vectors of columns, of which
// the last has the columns in mask. rowPtr points to the first row's entry;
// steps are in elements. It returns the position of a column number outside
// [0, n), or −1.
//
//go:noescape
func spmm512x(v, n int, rowPtr *int, rows int, cols *int32, vals, x *float64, xs int, dst *float64, ds, mask int, accumulate bool) int

// spmv512x is spmm512x for a vector x without gaps, with eight interleaved sums.
//
//go:noescape
func spmv512x(n int, rowPtr *int, rows int, cols *int32, vals, x *float64, dst *float64, ds int, accumulate bool) int

// dots512x computes the inner products of x with 8 rows of a, rs elements apart.
//
//go:noescape
func dots512x(k int, a *float64, rs int, x, y *float64)

// packCols512x copies a k×n matrix, n ≥ 1.
//
//go:noescape
func packCols512x(dst, src *float64, stride, k, n int)

func tile512(k int, a []float64, rs, ks int, b []float64, bs, nb, last int, c []float64, ldc int, alpha, beta float64) {
	checkTile(k, a, rs, ks, b, bs, nb, last, c, ldc)
	tile512x(k, &a[0], rs, ks, &b[0], bs, nb, &c[0], ldc, alpha, beta, 1<<last-1, beta != 0)
}

func scan512(k int, a, b []float64, thr float64, col0 int, st *stage, row0 int) {
	_, _ = a[k*panel-1], b[3*k*panel-1]
	checkStage(st, row0)
	o := row0 * st.stride
	scan512x3(k, &a[0], &b[0], thr, col0, &st.vals[o], &st.cols[o], st.stride, &st.cnt[row0])
}

func spmm512(n int, rowPtr []int, cols []int32, vals, x []float64, xs int, dst []float64, ds, p, lo, hi int, accumulate bool) int {
	return spmmStrips(panel, rowPtr, p, lo, hi, func(from, to, j, v, last int) int {
		return spmm512x(v, n, &rowPtr[from], to-from, unsafe.SliceData(cols), unsafe.SliceData(vals), &x[j], xs, &dst[from*ds+j], ds, 1<<last-1, accumulate)
	})
}

func spmv512(n int, rowPtr []int, cols []int32, vals, x []float64, xs int, dst []float64, ds, lo, hi int, accumulate bool) int {
	if xs != 1 {
		return spmvGeneric(n, rowPtr, cols, vals, x, xs, dst, ds, lo, hi, accumulate)
	}
	for lo < hi {
		top := spmmTop(rowPtr, lo, hi)
		if bad := spmv512x(n, &rowPtr[lo], top-lo, unsafe.SliceData(cols), unsafe.SliceData(vals), unsafe.SliceData(x), &dst[lo*ds], ds, accumulate); bad >= 0 {
			return bad
		}
		lo = top
	}
	return -1
}

func dots512(k int, a []float64, rs int, x []float64, y *[panel]float64) {
	_, _ = a[(panel-1)*rs+k-1], x[k-1]
	dots512x(k, &a[0], rs, &x[0], &y[0])
}

func packCols512(dst, src []float64, stride, k, n int) {
	if k <= 0 || n <= 0 {
		return
	}
	_, _ = dst[k*roundUp(n, panel)-1], src[(k-1)*stride+n-1]
	packCols512x(&dst[0], &src[0], stride, k, n)
}
