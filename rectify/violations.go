package rectify

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Violations says by how much a rectified matrix, as it is returned, misses
// non-negativity, the sum of 1 and the rank.
type Violations struct {
	// MinEntry is the most negative entry and NegativeSum the sum of all negative
	// entries; 0 where there are none. The mean entry is 1/N².
	MinEntry, NegativeSum float64
	// SumError is ΣC − 1.
	SumError float64
	// RankResidual is ‖C − Z‖_F/‖C‖_F, where Z is the last projection on the
	// positive semidefinite matrices of rank K, scaled as C is: an upper bound of
	// the relative distance to the nearest of them. For DC, which does not project,
	// Z is the nearest.
	RankResidual float64
}

// negativeEntries returns the least entry of YYᵀ + r·eeᵀ + E, or 0 if that is more,
// and the sum of the negative entries. N²K operations.
func negativeEntries(ctx context.Context, m *linalg.LowRankSparse, workers int) (least, sum float64, err error) {
	below, _, err := new(scanner).negativePart(ctx, m.Y, m.R, 0, workers)
	if err != nil {
		return 0, 0, err
	}
	n := m.Y.Rows
	const size = 64
	leasts, sums := make([]float64, run.Count(n, size)), make([]float64, run.Count(n, size))
	err = run.Chunks(ctx, n, size, workers, func(_, c, lo, hi int) error {
		for i := lo; i < hi; i++ {
			ac, av := from(&below, i)
			bc, bv := from(&m.E, i)
			yi := linalg.Row(m.Y, i)
			union(ac, av, bc, bv, func(j int, a, b float64) {
				v := b - a
				if a == 0 { // not among those below zero before E
					v = vec.Dot(yi, linalg.Row(m.Y, j)) + m.R + b
				}
				if v >= 0 {
					return
				}
				leasts[c] = min(leasts[c], v)
				if j != i {
					v *= 2
				}
				sums[c] += v
			})
		}
		return nil
	})
	for c := range sums {
		least, sum = min(least, leasts[c]), sum+sums[c]
	}
	return least, sum, err
}

// negatives is negativeEntries of YYᵀ alone.
func negatives(ctx context.Context, y blas64.General, workers int) (least, sum float64, err error) {
	n := y.Rows
	packed := linalg.Pack(y)
	chunks := run.Count(n, scanRows)
	workers = run.Workers(workers, chunks)
	scratch := make([]linalg.Hits, workers)
	lows, sums := make([]float64, chunks), make([]float64, chunks)
	err = run.Chunks(ctx, n, scanRows, workers, func(w, c, lo, hi int) error {
		h := &scratch[w]
		h.Reset()
		packed.ScanBelow(lo, hi, 0, h)
		for i := lo; i < hi; i++ {
			cols, vals := h.Row(i - lo)
			for t, j := range cols {
				v := vals[t]
				lows[c] = min(lows[c], v)
				sums[c] += v
				if int(j) != i {
					sums[c] += v
				}
			}
		}
		return nil
	})
	for c := range sums {
		least, sum = min(least, lows[c]), sum+sums[c]
	}
	return least, sum, err
}

// beyondRank returns ‖C − YYᵀ‖_F/‖C‖_F of C = YYᵀ + r·eeᵀ + E, where C is zero in the
// entries in which E is not.
func beyondRank(ctx context.Context, c *linalg.LowRankSparse, workers int) (float64, error) {
	n := float64(c.Y.Rows)
	off, whole := c.R*c.R*n*n, 0.0
	for _, v := range c.E.Vals {
		off += v * (v + 2*c.R)
	}
	gram := linalg.NewGeneral(c.Y.Cols, c.Y.Cols)
	if err := linalg.Gram(ctx, c.Y, gram, workers); err != nil {
		return 0, err
	}
	for _, v := range gram.Data {
		whole += v * v
	}
	whole += off + 2*c.R*sumOf(c.Y) // and 2⟨YYᵀ, E⟩
	for _, v := range c.E.Vals {
		whole -= 2 * v * (v + c.R)
	}
	return math.Sqrt(max(off, 0) / whole), nil
}
