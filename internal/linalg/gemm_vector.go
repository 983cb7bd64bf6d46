package linalg

import (
	"context"
	"math"

	"github.com/jsmf-go/spectral/internal/parallel"
)

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
			*e = combine(kr.fused, alpha, s, beta, *e)
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
		if kr.fused {
			s[t&7] = math.FMA(v, y[t], s[t&7])
		} else {
			s[t&7] += float64(v * y[t])
		}
	}
	return sum8(&s)
}
