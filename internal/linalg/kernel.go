// Package linalg multiplies tall, thin and sparse matrices, searches YYᵀ for small
// entries, and computes the leading eigenpairs of symmetric operators. N runs to
// tens of thousands, the other sizes to a few hundred.
//
// # Kernels
//
// All dense work goes through one kind of register tile: 8 rows by up to 24
// columns, with the right factor packed in panels of 8 columns. The kernels are
// "avx512" and "avx2" in assembly on amd64, "neon" in assembly on arm64, and "generic"
// in Go elsewhere, on older machines and under the build tags noasm and purego. The best
// one that the machine can run is chosen at first use (KernelName). GODEBUG is obeyed:
// cpu.avx512f=off leaves "avx2"; cpu.avx2=off, cpu.fma=off, cpu.asimd=off on arm64 and
// cpu.all=off leave "generic".
//
// # What the bits depend on
//
// Every element of a result is a sum of multiply-adds in an order that depends on
// the shapes alone: a single chain, except for long inner dimensions and single
// vectors. The number of workers, the position of an element in a tile and the
// way a caller cuts rows into blocks never change a bit. All kernels round once per
// multiply-add, as math.FMA does, and agree bit for bit. A machine without such an
// instruction computes it in software, and takes several times as long.
//
// Zeros are multiplied like any other number, so that a NaN or an infinity in an input
// reaches every element that depends on it.
//
// Functions panic if the shapes do not fit.
package linalg

import (
	"sync"
	"unsafe"
)

const (
	panel    = 8         // rows or columns in a packed panel
	tileCols = 3 * panel // columns of the widest register tile
	tileSize = panel * tileCols
)

// kernels is one implementation of the inner loops. The functions check the
// bounds of everything they touch.
type kernels struct {
	name string

	// tile computes, for r < 8 and j < 8(nb−1)+last,
	//
	//	s = Σ_l a[r·rs+l·ks] · b[(j/8)·bs+8l+j%8],  l = 0…k−1 in this order,
	//	c[r·ldc+j] = alpha·s + beta·c[r·ldc+j]
	//
	// where c is not read when beta is 0. k ≥ 1, 1 ≤ nb ≤ 3, 1 ≤ last ≤ 8.
	// All eight rows of a and all 8·nb columns of b must exist.
	tile func(k int, a []float64, rs, ks int, b []float64, bs, nb, last int, c []float64, ldc int, alpha, beta float64)

	// scan computes the tile of 8 rows of the packed panel a and the 24
	// columns of the three panels at b, each k×8, and appends the elements
	// below thr to rows row0…row0+7 of st, as columns col0….
	scan func(k int, a, b []float64, thr float64, col0 int, st *stage, row0 int)

	// spmm computes rows [lo, hi) of dst (+)= S·X for p columns. It
	// returns the position in cols of a column number outside [0, n), or −1.
	spmm func(n int, rowPtr []int, cols []int32, vals, x []float64, xs int, dst []float64, ds, p, lo, hi int, accumulate bool) int

	// spmv is spmm for one column.
	spmv func(n int, rowPtr []int, cols []int32, vals, x []float64, xs int, dst []float64, ds, lo, hi int, accumulate bool) int

	// dots computes y[r] = Σ_l a[r·rs+l]·x[l] for r < 8, each in eight
	// interleaved sums (l mod 8) that sum8 adds up. k ≥ 1.
	dots func(k int, a []float64, rs int, x []float64, y *[panel]float64)

	// packCols writes the columns of a k×n matrix as panels of 8 columns, k×8
	// each, with zeros for those that the last panel lacks.
	packCols func(dst, src []float64, stride, k, n int)
}

// best returns the fastest kernels of this machine. It detects them once, because
// CPUID is slow in a virtual machine.
var best = sync.OnceValue(func() *kernels {
	all := available()
	return all[len(all)-1]
})

// KernelName returns the name of the kernels in use.
func KernelName() string { return best().name }

// Kernels returns the names of all kernels that this machine can run, the best one last.
func Kernels() []string {
	var names []string
	for _, k := range available() {
		names = append(names, k.name)
	}
	return names
}

// buffers lends scratch slices, whose contents are arbitrary.
var buffers = sync.Pool{New: func() any { return new([]float64) }}

func borrow(n int) *[]float64 {
	p := buffers.Get().(*[]float64)
	if cap(*p) < n {
		*p = Aligned[float64](n)
	}
	*p = (*p)[:n]
	return p
}

func giveBack(p *[]float64) { buffers.Put(p) }

// Aligned returns n zeros that begin at a cache line, so that no vector of a panel crosses
// one.
func Aligned[T float32 | float64](n int) []T {
	const line = 64
	size := unsafe.Sizeof(T(0))
	s := make([]T, n+int(line/size)-1)
	largePages(unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s))*size)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(s))) % line / size
	return s[skip:][:n:n]
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
