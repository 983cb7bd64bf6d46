package rectify

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Violations says by how much a rectified matrix, as it is returned, misses
// non-negativity, the sum of 1 and the rank.
type Violations struct {
	// MinEntry is the most negative entry and NegativeSum the sum of all negative
	// entries; 0 where there are none. The mean entry is 1/N².
	MinEntry    float64 `json:"min_entry"`
	NegativeSum float64 `json:"negative_sum"`
	// SumError is ΣC − 1.
	SumError float64 `json:"sum_error"`
	// RankResidual is ‖C − Z‖_F/‖C‖_F, where Z is the last projection on the positive
	// semidefinite matrices of rank K, scaled as C is: an upper bound of the relative
	// distance to the nearest of them. For DC, Z is the nearest.
	RankResidual float64 `json:"rank_residual"`
}

// negativeEntries returns the least entry of YYᵀ + r·eeᵀ + E, or 0 if that is more,
// and the sum of the negative entries. N²K operations.
func negativeEntries(ctx context.Context, m *linalg.LowRankSparse, workers int) (least, sum float64, err error) {
	below, _, err := new(scanner).negativePart(ctx, m.Y, m.R, 0, workers)
	if err != nil {
		return 0, 0, err
	}
	leasts := make([]float64, m.Y.Rows)
	sums, err := overEntries(ctx, &below, &m.E, workers, func(i, j int, a, b float64) float64 {
		v := b - a
		if a == 0 { // not among those below zero before E
			v = vec.Dot(linalg.Row(m.Y, i), linalg.Row(m.Y, j)) + m.R + b
		}
		if v >= 0 {
			return 0
		}
		leasts[i] = min(leasts[i], v)
		return v
	})
	return slices.Min(leasts), vec.Sum(sums), err
}

// negatives is negativeEntries of YYᵀ alone.
func negatives(ctx context.Context, y blas64.General, workers int) (least, sum float64, err error) {
	n := y.Rows
	packed := linalg.Pack(y)
	chunks := parallel.Count(n, scanRows)
	workers = parallel.Workers(workers, chunks)
	scratch := make([]linalg.Hits, workers)
	lows, sums := make([]float64, chunks), make([]float64, chunks)
	err = parallel.Chunks(ctx, n, scanRows, workers, func(w, c, lo, hi int) error {
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
	off := c.R * c.R * n * n
	for _, v := range c.E.Vals {
		off += v * (v + 2*c.R)
	}
	gram := linalg.NewGeneral(c.Y.Cols, c.Y.Cols)
	if err := linalg.Gram(ctx, c.Y, gram, workers); err != nil {
		return 0, err
	}
	whole := vec.Dot(gram.Data, gram.Data)
	whole += off + 2*c.R*sumOf(c.Y) // and 2⟨YYᵀ, E⟩
	for _, v := range c.E.Vals {
		whole -= 2 * v * (v + c.R)
	}
	return math.Sqrt(max(off, 0) / whole), nil
}
