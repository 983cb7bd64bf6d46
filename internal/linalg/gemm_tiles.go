package linalg

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/parallel"
)

// mulSmall sums each element by itself, with the bits of the tiles.
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
			for range k {
				s = math.FMA(l.data[ia], b.Data[ib], s)
				ia += l.ks
				ib += kb
			}
			row[j] = combine(alpha, s, beta, row[j])
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
	return parallel.Chunks(ctx, m, size, workers, func(_, _, lo, hi int) error {
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
	return parallel.Chunks(ctx, n, size, workers, func(_, _, lo, hi int) error {
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

// mulLong cuts the inner dimension into chunks that depend on its length alone and adds up
// their products in order. upper means that both factors are the same and only tiles that
// touch the upper triangle are computed.
func (kr *kernels) mulLong(ctx context.Context, l left, r right, m, k, n int, alpha, beta float64, c blas64.General, upper bool, workers int) error {
	const most = 32 // partial results held at once
	size := roundUp(max(4*depthLong, parallel.Count(k, most)), depthLong)
	chunks := parallel.Count(k, size)
	sums := borrow(chunks * m * n)
	defer giveBack(sums)
	wide := roundUp(n, panel)
	err := parallel.Chunks(ctx, k, size, workers, func(_, chunk, lo, hi int) error {
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
			row[j] = combine(alpha, first[j], beta, row[j])
		}
	}
	return nil
}

// block computes c = alpha·A·B + beta·c for m rows of A, an inner dimension k
// that is not cut any more, and n packed columns of B.
func (kr *kernels) block(a left, m, k int, packed []float64, n int, c []float64, ldc int, alpha, beta float64, upper bool) {
	var (
		size      = k * panel
		panels    = (n + panel - 1) / panel
		whole     = m / panel * panel
		edge, tmp []float64 // the rows after the last whole panel, filled up with zeros, and a tile of them
	)
	rs, ks, step := a.rs, a.ks, panel*a.rs // step from one panel of rows to the next
	if a.packed {
		rs, ks, step = 1, panel, size
	}
	if whole < m {
		buf := borrow(tileSize + size)
		defer giveBack(buf)
		tmp, edge = (*buf)[:tileSize], (*buf)[tileSize:]
		if a.packed {
			edge = a.data[whole/panel*size:]
		} else {
			clear(edge)
			for r := range m - whole {
				for l := range k {
					edge[l*panel+r] = a.data[(whole+r)*rs+l*ks]
				}
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
			kr.tile(k, edge, 1, panel, b, size, nb, last, tmp, tileCols, 1, 0)
			for r := range m - whole {
				row := c[(i+r)*ldc+j:][:cols]
				for t := range row {
					row[t] = combine(alpha, tmp[r*tileCols+t], beta, row[t])
				}
			}
		}
		q += nb
	}
}

// tileWidth returns how many of the remaining panels the next tile takes: up to
// three, but two of four.
func tileWidth(panels int) int {
	if panels == 4 {
		return 2
	}
	return min(3, panels)
}
