package linalg

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/run"
)

const (
	// A block of 24 columns and depthMax of the inner dimension takes 36 kB,
	// so that it stays in the first-level cache beside 8 rows of the left factor.
	depthMax = 192

	// Where the inner dimension is the long one both factors are read across
	// their rows, and a smaller block keeps the lines of the left one too.
	depthLong = 128

	// Products with a result of at most longOut×longOut and an inner dimension
	// of at least longMin are cut along the inner dimension.
	longOut = 512
	longMin = 1024

	// chunkWork is the number of multiply-adds of a chunk: tens of
	// microseconds, so that cancellation is prompt and threads even out.
	chunkWork = 1 << 20

	// vectorWork is the same for a product with one vector, where the memory is
	// what takes the time: a megabyte.
	vectorWork = 1 << 17

	// smallWork is the number of multiply-adds up to which packing and tiles
	// do not pay.
	smallWork = 216
)

// Gemm computes c = alpha·op(a)·op(b) + beta·c, where op transposes or not as
// tA and tB say. c must not share memory with a or b. It is made for products in
// which one or two of the three sizes are small; the whole of op(b), or of the
// piece a chunk needs, is copied into packed form.
//
// If the result is a single row or column, inner products are summed in eight
// interleaved parts.
//
// As in BLAS, c is not read when beta is 0, and a and b are not read when alpha
// is 0. workers bounds the goroutines (0: GOMAXPROCS) and never changes a bit.
// The error is nil unless ctx ended; c is then partly written.
func Gemm(ctx context.Context, tA, tB blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General, workers int) error {
	return best().gemm(ctx, tA, tB, alpha, a, b, beta, c, workers)
}

// Gram computes c = aᵀ·a for a tall N×p matrix a. Only one triangle is computed
// and copied to the other, so c is exactly symmetric. workers and the error are
// as in Gemm.
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

// left is op(a). In place, element (i, l) is data[i·rs+l·ks]: the tiles broadcast
// single elements, so that the layout matters little. Where its columns are
// contiguous and many it is packed too, in panels of 8 rows as the right one.
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

// depth returns how deep the blocks of an inner dimension k are, at most most.
func depth(k, most int) int {
	blocks := run.Count(k, most)
	return run.Count(k, blocks)
}

// mulSmall is the definition, with the bits of the tiles.
func (kr *kernels) mulSmall(l left, b blas64.General, transB bool, m, k, n int, alpha, beta float64, c blas64.General) {
	jb, kb := 1, b.Stride
	if transB {
		jb, kb = kb, jb
	}
	for i := range m {
		row := c.Data[i*c.Stride:][:n]
		for j := range row {
			var s float64
			ia, ib := i*l.rs, j*jb
			if kr.fused {
				for range k {
					s = math.FMA(l.data[ia], b.Data[ib], s)
					ia += l.ks
					ib += kb
				}
			} else {
				for range k {
					s += float64(l.data[ia] * b.Data[ib])
					ia += l.ks
					ib += kb
				}
			}
			row[j] = combine(kr.fused, alpha, s, beta, row[j])
		}
	}
}

// mulTall cuts the rows of the result; op(b) is packed once.
func (kr *kernels) mulTall(ctx context.Context, l left, r right, m, k, n int, alpha, beta float64, c blas64.General, workers int) error {
	wide := roundUp(n, panel)
	buf := borrow(k * wide)
	defer giveBack(buf)
	packed := *buf
	kc := depth(k, depthMax)
	for k0 := 0; k0 < k; k0 += kc {
		kr.packRight(packed[k0*wide:], r, k0, min(k, k0+kc), 0, n)
	}
	size := max(8*panel, roundUp(chunkWork/(k*n)+1, panel))
	return run.Chunks(ctx, m, size, workers, func(_, _, lo, hi int) error {
		for k0 := 0; k0 < k; k0 += kc {
			bt := beta
			if k0 > 0 {
				bt = 1
			}
			kr.block(l.at(lo, k0), hi-lo, min(kc, k-k0), packed[k0*wide:], n, c.Data[lo*c.Stride:], c.Stride, alpha, bt, false)
		}
		return nil
	})
}

// mulWide cuts the columns of the result; every chunk packs its part of op(b).
func (kr *kernels) mulWide(ctx context.Context, l left, r right, m, k, n int, alpha, beta float64, c blas64.General, workers int) error {
	kc := depth(k, depthMax)
	size := max(2*tileCols, roundUp(chunkWork/(k*m)+1, tileCols))
	return run.Chunks(ctx, n, size, workers, func(_, _, lo, hi int) error {
		buf := borrow(kc * roundUp(hi-lo, panel))
		defer giveBack(buf)
		for k0 := 0; k0 < k; k0 += kc {
			bt := beta
			if k0 > 0 {
				bt = 1
			}
			k1 := min(k, k0+kc)
			kr.packRight(*buf, r, k0, k1, lo, hi)
			kr.block(l.at(0, k0), m, k1-k0, *buf, hi-lo, c.Data[lo:], c.Stride, alpha, bt, false)
		}
		return nil
	})
}

// mulLong cuts the inner dimension into chunks that depend on its length alone
// and adds up their products in order. With upper both factors are the same, and
// only the tiles that touch the upper triangle are computed.
func (kr *kernels) mulLong(ctx context.Context, l left, r right, m, k, n int, alpha, beta float64, c blas64.General, upper bool, workers int) error {
	const most = 32 // partial results held at once
	size := roundUp(max(4*depthLong, run.Count(k, most)), depthLong)
	chunks := run.Count(k, size)
	sums := borrow(chunks * m * n)
	defer giveBack(sums)
	wide := roundUp(n, panel)
	err := run.Chunks(ctx, k, size, workers, func(_, chunk, lo, hi int) error {
		need := depthLong * wide
		if l.rs == 1 && !upper {
			need += depthLong * roundUp(m, panel)
		}
		buf := borrow(need)
		defer giveBack(buf)
		bufB, bufA := (*buf)[:depthLong*wide], (*buf)[depthLong*wide:]
		part := (*sums)[chunk*m*n:][:m*n]
		for k0 := lo; k0 < hi; k0 += depthLong {
			bt := 1.0
			if k0 == lo {
				bt = 0
			}
			k1 := min(hi, k0+depthLong)
			kr.packRight(bufB, r, k0, k1, 0, n)
			a := l.at(0, k0)
			switch {
			case upper: // both factors are the same
				a = left{data: bufB, packed: true}
			case l.rs == 1:
				kr.packCols(bufA, a.data, a.ks, k1-k0, m)
				a = left{data: bufA, packed: true}
			}
			kr.block(a, m, k1-k0, bufB, n, part, n, 1, bt, upper)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range m {
		row := c.Data[i*c.Stride:][:n]
		from := 0
		if upper {
			from = i
		}
		first := (*sums)[i*n:][:n]
		for ch := 1; ch < chunks; ch++ {
			part := (*sums)[ch*m*n+i*n:][:n]
			for j := from; j < n; j++ {
				first[j] += part[j]
			}
		}
		for j := from; j < n; j++ {
			row[j] = combine(kr.fused, alpha, first[j], beta, row[j])
		}
	}
	return nil
}

// mulVector computes y = alpha·A·x + beta·y for an m×k matrix A; xs and ys are
// the steps of the vectors. Tiles would leave seven of eight columns empty.
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
			*e = combine(kr.fused, alpha, s, beta, *e)
		}
	}
	if a.ks == 1 { // inner products with the rows of A
		size := roundUp(vectorWork/k+1, panel)
		return run.Chunks(ctx, m, size, workers, func(_, _, lo, hi int) error {
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
	every := make([]int32, k)
	for l := range every {
		every[l] = int32(l)
	}
	if k < longMin || m > longOut {
		size := roundUp(vectorWork/k+1, 8*panel)
		return run.Chunks(ctx, m, size, workers, func(_, _, lo, hi int) error {
			buf := borrow(hi - lo)
			defer giveBack(buf)
			kr.spmm(k, []int{0, k}, every, x, a.data[lo:], a.ks, *buf, hi-lo, hi-lo, 0, 1, false)
			finish(lo, *buf)
			return nil
		})
	}
	size := max(4*depthLong, run.Count(k, 32))
	chunks := run.Count(k, size)
	sums := borrow(chunks * m)
	defer giveBack(sums)
	err := run.Chunks(ctx, k, size, workers, func(_, chunk, lo, hi int) error {
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
		if kr.fused {
			s[t&7] = math.FMA(v, y[t], s[t&7])
		} else {
			s[t&7] += float64(v * y[t])
		}
	}
	return sum8(&s)
}

// block computes c = alpha·A·B + beta·c for m rows of A, an inner dimension k
// that is not cut any more, and n packed columns of B.
func (kr *kernels) block(a left, m, k int, packed []float64, n int, c []float64, ldc int, alpha, beta float64, upper bool) {
	var (
		size   = k * panel
		panels = (n + panel - 1) / panel
		whole  = m / panel * panel
		edge   []float64 // the rows after the last whole panel, filled up with zeros
		tmp    [tileSize]float64
	)
	rs, ks, step := a.rs, a.ks, panel*a.rs // step from one panel of rows to the next
	if a.packed {
		rs, ks, step = 1, panel, size
	}
	switch {
	case whole == m:
	case a.packed:
		edge = a.data[whole/panel*size:]
	default:
		buf := borrow(size)
		defer giveBack(buf)
		edge = *buf
		clear(edge)
		for r := range m - whole {
			for l := range k {
				edge[l*panel+r] = a.data[(whole+r)*rs+l*ks]
			}
		}
	}
	for q := 0; q < panels; {
		nb := tileWidth(panels - q)
		j := q * panel
		cols := min(n-j, nb*panel)
		last := cols - (nb-1)*panel
		b := packed[q*size:]
		for i := 0; i < m; i += panel {
			if upper && i >= j+cols {
				break
			}
			if i < whole {
				kr.tile(k, a.data[i/panel*step:], rs, ks, b, size, nb, last, c[i*ldc+j:], ldc, alpha, beta)
				continue
			}
			kr.tile(k, edge, 1, panel, b, size, nb, last, tmp[:], tileCols, 1, 0)
			for r := range m - whole {
				row := c[(i+r)*ldc+j:][:cols]
				for t := range row {
					row[t] = combine(kr.fused, alpha, tmp[r*tileCols+t], beta, row[t])
				}
			}
		}
		q += nb
	}
}

// tileWidth returns how many of the remaining panels the next tile takes: three
// at best, and two twice rather than three and one.
func tileWidth(panels int) int {
	if panels == 4 {
		return 2
	}
	return min(3, panels)
}
