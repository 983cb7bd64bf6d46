//go:build (amd64 || arm64) && !noasm && !purego

package linalg

import (
	"math"
	"math/bits"
	"unsafe"
)

// kernels4 take 4 columns at a time, which are a vector of AVX2 and two of NEON.
var kernels4 = kernels{
	name: name4,
	tile: tileFour,
	scan: scanFour,
	spmm: spmmFour,
	spmv: spmvGeneric,
	dots: dotsFour,

	packCols: packColsGeneric,
}

// tile4x12 computes a tile of 4 rows and 2 or 3 groups of 4 columns, which need
// not follow one another in the right factor but do so in the result. Steps are
// in elements; update is whether beta is not 0.
//
//go:noescape
func tile4x12(k int, a *float64, rs, ks int, b0, b1, b2 *float64, groups int, c *float64, ldc int, alpha, beta float64, update bool)

// below8x24 sets bit j of masks[r] where element (r, j) of an 8×24 tile is below
// thr, and returns all masks or-ed.
//
//go:noescape
func below8x24(tile *float64, thr float64, masks *uint32) uint32

// spmm4 computes rows of dst for a strip of v ≤ 8 groups of 4 columns; in the last
// group, of its first last columns. rowPtr points to the first row's entry; steps are in
// elements. It returns the position of a column number outside [0, n), or −1.
//
//go:noescape
func spmm4(v, n int, rowPtr *int, rows int, cols *int32, vals, x *float64, xs int, dst *float64, ds, last int, accumulate bool) int

// dots4 adds the products of 8·blocks elements of x with 4 rows of a, rs elements
// apart, to eight sums for each row.
//
//go:noescape
func dots4(blocks int, a *float64, rs int, x *float64, sums *[8]float64)

// checkTile panics, with the message of an index out of range, unless all that
// a tile reads and writes lies in its slices.
func checkTile(k int, a []float64, rs, ks int, b []float64, bs, nb, last int, c []float64, ldc int) {
	if k < 1 || rs < 0 || ks < 0 || bs < 0 || ldc < 0 || nb < 1 || nb > 3 || last < 1 || last > panel {
		panic("linalg: wrong arguments of a tile")
	}
	_ = a[(panel-1)*rs+(k-1)*ks]
	_ = b[(nb-1)*bs+k*panel-1]
	_ = c[(panel-1)*ldc+(nb-1)*panel+last-1]
}

func tileFour(k int, a []float64, rs, ks int, b []float64, bs, nb, last int, c []float64, ldc int, alpha, beta float64) {
	checkTile(k, a, rs, ks, b, bs, nb, last, c, ldc)
	update := beta != 0
	const half = panel / 2
	cols := (nb-1)*panel + last
	groups := 2 + nb/3 // panel by panel, unless there are three: then 12 columns at a time
	width := groups * half
	for j := 0; j < nb*panel; j += width {
		b0 := &b[j/panel*bs+j%panel]
		b1 := &b[(j+half)/panel*bs+(j+half)%panel]
		b2 := b0
		if groups == 3 {
			b2 = &b[(j+2*half)/panel*bs+(j+2*half)%panel]
		}
		for r := 0; r < panel; r += half {
			if j+width <= cols {
				tile4x12(k, &a[r*rs], rs, ks, b0, b1, b2, groups, &c[r*ldc+j], ldc, alpha, beta, update)
				continue
			}
			var t [half * 12]float64
			tile4x12(k, &a[r*rs], rs, ks, b0, b1, b2, groups, &t[0], 12, 1, 0, false)
			for h := range half {
				row := c[(r+h)*ldc+j:][:cols-j]
				for q := range row {
					row[q] = combine(alpha, t[h*12+q], beta, row[q])
				}
			}
		}
	}
}

func scanFour(k int, a, b []float64, thr float64, col0 int, st *stage, row0 int) {
	var t [tileSize]float64
	var masks [panel]uint32
	tileFour(k, a, 1, panel, b, k*panel, 3, panel, t[:], tileCols, 1, 0)
	if below8x24(&t[0], thr, &masks[0]) == 0 {
		return
	}
	for r, m := range masks {
		for ; m != 0; m &= m - 1 {
			j := bits.TrailingZeros32(m)
			st.push(row0+r, col0+j, t[r*tileCols+j])
		}
	}
}

func dotsFour(k int, a []float64, rs int, x []float64, y *[panel]float64) {
	_, _ = a[(panel-1)*rs+k-1], x[k-1]
	var s [panel][8]float64
	if k >= 8 {
		dots4(k/8, &a[0], rs, &x[0], &s[0])
		dots4(k/8, &a[4*rs], rs, &x[0], &s[4])
	}
	for r := range y {
		for l := k &^ 7; l < k; l++ {
			s[r][l&7] = math.FMA(a[r*rs+l], x[l], s[r][l&7])
		}
		y[r] = sum8(&s[r])
	}
}

func spmmFour(n int, rowPtr []int, cols []int32, vals, x []float64, xs int, dst []float64, ds, p, lo, hi int, accumulate bool) int {
	return spmmStrips(4, rowPtr, p, lo, hi, func(from, to, j, v, last int) int {
		return spmm4(v, n, &rowPtr[from], to-from, unsafe.SliceData(cols), unsafe.SliceData(vals), &x[j], xs, &dst[from*ds+j], ds, last, accumulate)
	})
}

// spmmBlock is how many values a call in assembly takes at most, except for a longer
// row: the scheduler cannot interrupt it, and the values and column numbers should
// still be in the cache for the next strip of columns.
const spmmBlock = 1 << 14

// spmmStrips computes rows [lo, hi) of dst (+)= S·X by calls in assembly, which take the
// p columns in strips of at most 8 vectors of the given number of lanes, all about equally
// wide. call computes rows [from, to) of v vectors from column j on, the last of which has
// last columns. It returns the position of a column number out of range, or −1.
//
// The caller has checked rowPtr, x and dst; column numbers are checked as they are met.
func spmmStrips(lanes int, rowPtr []int, p, lo, hi int, call func(from, to, j, v, last int) int) int {
	vectors := (p + lanes - 1) / lanes
	strips := (vectors + 7) / 8
	for lo < hi {
		top := spmmTop(rowPtr, lo, hi)
		j := 0
		for s := range strips {
			v := (vectors + s) / strips
			if bad := call(lo, top, j, v, min(lanes, p-j-(v-1)*lanes)); bad >= 0 {
				return bad
			}
			j += v * lanes
		}
		lo = top
	}
	return -1
}

// spmmTop returns the end of the rows from lo on that one call takes.
func spmmTop(rowPtr []int, lo, hi int) int {
	top := lo + 1
	for top < hi && rowPtr[top+1]-rowPtr[lo] <= spmmBlock {
		top++
	}
	return top
}
