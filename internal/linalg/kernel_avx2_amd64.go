//go:build amd64 && !noasm && !purego

package linalg

import (
	"math"
	"math/bits"
)

var kernels256 = kernels{
	name: "avx2",
	tile: tile256,
	scan: scan256,
	spmm: spmm256,
	spmv: spmvGeneric,
	dots: dots256,

	packCols: packColsGeneric,
}

// tile256x computes a tile of 4 rows and 2 or 3 groups of 4 columns, which need
// not follow one another in the right factor but do so in the result. Steps are
// in elements; update is 0 where beta is.
//
//go:noescape
func tile256x(k int, a *float64, rs, ks int, b0, b1, b2 *float64, groups int, c *float64, ldc int, alpha, beta float64, update int)

// below256x sets bit j of masks[r] where element (r, j) of an 8×24 tile is below
// thr, and returns all masks or-ed.
//
//go:noescape
func below256x(tile *float64, thr float64, masks *uint32) uint32

// spmm256x is spmm512x for vectors of 4 columns. mask points to four integers,
// negative for the columns that the last vector has.
//
//go:noescape
func spmm256x(v, n int, rowPtr *int, rows int, cols *int32, vals, x *float64, xs int, dst *float64, ds int, mask *int64, accumulate int) int

// dots256x adds the products of 8·blocks elements of x with 4 rows of a, rs elements
// apart, to eight sums for each row.
//
//go:noescape
func dots256x(blocks int, a *float64, rs int, x *float64, sums *[8]float64)

func tile256(k int, a []float64, rs, ks int, b []float64, bs, nb, last int, c []float64, ldc int, alpha, beta float64) {
	checkTile(k, a, rs, ks, b, bs, nb, last, c, ldc)
	update := flag(beta != 0)
	const half = panel / 2
	cols := (nb-1)*panel + last
	groups := 2 // panel by panel, unless there are three: then 12 columns at a time
	if nb == 3 {
		groups = 3
	}
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
				tile256x(k, &a[r*rs], rs, ks, b0, b1, b2, groups, &c[r*ldc+j], ldc, alpha, beta, update)
				continue
			}
			var t [half * 12]float64
			tile256x(k, &a[r*rs], rs, ks, b0, b1, b2, groups, &t[0], 12, 1, 0, 0)
			for h := range half {
				row := c[(r+h)*ldc+j:][:cols-j]
				for q := range row {
					row[q] = combine(alpha, t[h*12+q], beta, row[q])
				}
			}
		}
	}
}

func scan256(k int, a, b []float64, thr float64, col0 int, st *stage, row0 int) {
	var t [tileSize]float64
	var masks [panel]uint32
	tile256(k, a, 1, panel, b, k*panel, 3, panel, t[:], tileCols, 1, 0)
	if below256x(&t[0], thr, &masks[0]) == 0 {
		return
	}
	for r, m := range masks {
		if m == 0 {
			continue
		}
		row := row0 + r
		n := st.cnt[row]
		o := row*st.stride + n
		cols, vals := st.cols[o:o+tileCols], st.vals[o:o+tileCols]
		i := 0
		for ; m != 0; m &= m - 1 {
			j := bits.TrailingZeros32(m)
			cols[i], vals[i] = int32(col0+j), t[r*tileCols+j]
			i++
		}
		st.cnt[row] = n + i
	}
}

func dots256(k int, a []float64, rs int, x []float64, y *[panel]float64) {
	_, _ = a[(panel-1)*rs+k-1], x[k-1]
	var s [panel][8]float64
	if k >= 8 {
		dots256x(k/8, &a[0], rs, &x[0], &s[0])
		dots256x(k/8, &a[4*rs], rs, &x[0], &s[4])
	}
	for r := range y {
		for l := k &^ 7; l < k; l++ {
			s[r][l&7] = math.FMA(a[r*rs+l], x[l], s[r][l&7])
		}
		y[r] = sum8(&s[r])
	}
}

// lanes256 has at 4−w a mask of the first w of four columns.
var lanes256 = [8]int64{-1, -1, -1, -1}

func spmm256(n int, rowPtr []int, cols []int32, vals, x []float64, xs int, dst []float64, ds, p, lo, hi int, accumulate bool) int {
	const lanes = 4
	acc := flag(accumulate)
	return spmmStrips(lanes, n, rowPtr, cols, vals, x, xs, dst, ds, p, lo, hi, accumulate, func(from, to, j, v, last int) int {
		mask := &lanes256[lanes-last]
		return spmm256x(v, n, &rowPtr[from], to-from, &cols[0], &vals[0], &x[j], xs, &dst[from*ds+j], ds, mask, acc)
	})
}
