package linalg

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/parallel"
)

const (
	// A block of 24 columns and depthMax of the inner dimension takes 36 kB, so that it
	// stays in the first-level cache together with 8 rows of the left factor.
	depthMax = 192
	// If the inner dimension is the long one, both factors are read across their rows; a
	// smaller block keeps the lines of the left factor in the cache too.
	depthLong = 128
	// Products with a result of at most longOut×longOut and an inner dimension of at least
	// longMin are cut along the inner dimension.
	longOut = 512
	longMin = 1024
	// chunkWork is the number of multiply-adds of a chunk: tens of microseconds.
	chunkWork = 1 << 20
	// vectorWork is that of a product with one vector, which is bound by memory.
	vectorWork = 1 << 17
	// smallWork is the number of multiply-adds up to which packing does not pay.
	smallWork = 216
)

// Gemm computes c = alpha·op(a)·op(b) + beta·c, where op transposes according to tA and tB.
// c must not share memory with a or b. Gemm is made for products with one or two small sizes:
// it packs op(b), or the part that a chunk needs. If the result is a single row or column,
// inner products are summed in eight interleaved parts.
//
// As in BLAS, c is not read if beta is 0, and a and b are not read if alpha is 0.
// workers bounds the goroutines (0: GOMAXPROCS) and never changes a bit. The error
// is that of ctx; c is then partly written.
func Gemm(ctx context.Context, tA, tB blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General, workers int) error {
	return best().gemm(ctx, tA, tB, alpha, a, b, beta, c, workers)
}

// Gram computes c = aᵀ·a for a tall N×p matrix a, exactly symmetric. workers and the error
// are those of Gemm.
func Gram(ctx context.Context, a blas64.General, c blas64.General, workers int) error {
	return best().gram(ctx, a, c, workers)
}

func (kr *kernels) gemm(ctx context.Context, tA, tB blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General, workers int) error {
	check("a", a)
	check("b", b)
	l := left{data: a.Data, rs: a.Stride, ks: 1}
	m, k := a.Rows, a.Cols
	if isTrans(tA) {
		m, k = k, m
		l.rs, l.ks = 1, a.Stride
	}
	kb, n := b.Rows, b.Cols
	transB := isTrans(tB)
	if transB {
		kb, n = n, kb
	}
	if kb != k {
		panic(fmt.Sprintf("linalg: inner dimensions differ: op(a) is %d×%d, op(b) is %d×%d", m, k, kb, n))
	}
	checkShape("c", c, m, n)
	if err := ctx.Err(); err != nil || m == 0 || n == 0 {
		return err
	}
	if alpha == 0 || k == 0 {
		scaleResult(beta, c)
		return nil
	}
	if m*k*n <= smallWork {
		kr.mulSmall(l, b, transB, m, k, n, alpha, beta, c)
		return nil
	}
	r := right{data: b.Data, stride: b.Stride, trans: transB}
	lb := left{data: b.Data, rs: 1, ks: b.Stride} // op(b)ᵀ
	if transB {
		lb.rs, lb.ks = b.Stride, 1
	}
	switch {
	case n == 1:
		return kr.mulVector(ctx, l, m, k, b.Data, lb.ks, alpha, beta, c.Data, c.Stride, workers)
	case m == 1:
		return kr.mulVector(ctx, lb, n, k, a.Data, l.ks, alpha, beta, c.Data, 1, workers)
	case k >= longMin && m <= longOut && n <= longOut:
		return kr.mulLong(ctx, l, r, m, k, n, alpha, beta, c, false, workers)
	case m >= n:
		return kr.mulTall(ctx, l, r, m, k, n, alpha, beta, c, workers)
	default:
		return kr.mulWide(ctx, l, r, m, k, n, alpha, beta, c, workers)
	}
}

func (kr *kernels) gram(ctx context.Context, a, c blas64.General, workers int) error {
	check("a", a)
	p := a.Cols
	checkShape("c", c, p, p)
	if err := ctx.Err(); err != nil || p == 0 {
		return err
	}
	if a.Rows == 0 {
		scaleResult(0, c)
		return nil
	}
	l := left{data: a.Data, rs: 1, ks: a.Stride}
	r := right{data: a.Data, stride: a.Stride}
	if err := kr.mulLong(ctx, l, r, p, a.Rows, p, 1, 0, c, true, workers); err != nil {
		return err
	}
	for i := range p {
		for j := i + 1; j < p; j++ {
			c.Data[j*c.Stride+i] = c.Data[i*c.Stride+j]
		}
	}
	return nil
}

func isTrans(t blas.Transpose) bool {
	switch t {
	case blas.NoTrans:
		return false
	case blas.Trans, blas.ConjTrans:
		return true
	}
	panic(fmt.Sprintf("linalg: %q is not a transposition", byte(t)))
}

func scaleResult(beta float64, c blas64.General) {
	for i := range c.Rows {
		row := c.Data[i*c.Stride:][:c.Cols]
		if beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}

// left is op(a). Its element (i, l) is data[i·rs+l·ks]: the tiles broadcast single elements,
// so that the layout matters little. Long contiguous columns are packed, in panels of 8 rows.
type left struct {
	data   []float64
	rs, ks int
	packed bool
}

func (l left) at(i, k int) left {
	l.data = l.data[i*l.rs+k*l.ks:]
	return l
}

// right is op(b), to be packed.
type right struct {
	data   []float64
	stride int
	trans  bool
}

// packRight packs rows [k0, k1) and columns [j0, j1) of op(b).
func (kr *kernels) packRight(dst []float64, r right, k0, k1, j0, j1 int) {
	if r.trans {
		packRows(dst, r.data[j0*r.stride+k0:], r.stride, j1-j0, k1-k0)
	} else {
		kr.packCols(dst, r.data[k0*r.stride+j0:], r.stride, k1-k0, j1-j0)
	}
}

// depth returns the size, at most most, of the blocks of an inner dimension k.
func depth(k, most int) int {
	blocks := parallel.Count(k, most)
	return parallel.Count(k, blocks)
}

// mulVector computes y = alpha·A·x + beta·y for an m×k matrix A; xs and ys are
// the steps of the vectors.
func (kr *kernels) mulVector(ctx context.Context, a left, m, k int, x []float64, xs int, alpha, beta float64, y []float64, ys int, workers int) error {
	if xs != 1 {
		buf := borrow(k)
		defer giveBack(buf)
		for l := range k {
			(*buf)[l] = x[l*xs]
		}
		x = *buf
	}
	x = x[:k]
	finish := func(lo int, sums []float64) {
		for t, s := range sums {
			e := &y[(lo+t)*ys]
			*e = combine(alpha, s, beta, *e)
		}
	}
	if a.ks == 1 { // inner products with the rows of A
		size := roundUp(vectorWork/k+1, panel)
		return parallel.Chunks(ctx, m, size, workers, func(_, _, lo, hi int) error {
			var s [panel]float64
			for i := lo; i < hi; i += panel {
				top := min(i+panel, hi)
				if m < panel {
					for r := range m {
						s[r] = kr.dot(a.data[r*a.rs:][:k], x)
					}
					finish(0, s[:m])
					continue
				}
				from := min(i, m-panel) // the last rows once more rather than too few
				kr.dots(k, a.data[from*a.rs:], a.rs, x, &s)
				finish(i, s[i-from:top-from])
			}
			return nil
		})
	}

	// Sums of multiples of the columns of A, stored as rows: a row of a sparse
	// matrix times a dense one.
	every := numbers(k)
	if k < longMin || m > longOut {
		size := roundUp(vectorWork/k+1, 8*panel)
		return parallel.Chunks(ctx, m, size, workers, func(_, _, lo, hi int) error {
			buf := borrow(hi - lo)
			defer giveBack(buf)
			kr.spmm(k, []int{0, k}, every, x, a.data[lo:], a.ks, *buf, hi-lo, hi-lo, 0, 1, false)
			finish(lo, *buf)
			return nil
		})
	}
	size := max(4*depthLong, parallel.Count(k, 32))
	chunks := parallel.Count(k, size)
	sums := borrow(chunks * m)
	defer giveBack(sums)
	err := parallel.Chunks(ctx, k, size, workers, func(_, chunk, lo, hi int) error {
		kr.spmm(hi-lo, []int{0, hi - lo}, every[:hi-lo], x[lo:hi], a.data[lo*a.ks:], a.ks, (*sums)[chunk*m:][:m], m, m, 0, 1, false)
		return nil
	})
	if err != nil {
		return err
	}
	total := (*sums)[:m]
	for ch := 1; ch < chunks; ch++ {
		for j, v := range (*sums)[ch*m:][:m] {
			total[j] += v
		}
	}
	finish(0, total)
	return nil
}

// dot is one of the sums of kernels.dots.
func (kr *kernels) dot(x, y []float64) float64 {
	var s [8]float64
	for t, v := range x {
		s[t&7] = math.FMA(v, y[t], s[t&7])
	}
	return sum8(&s)
}
