package rectify

import (
	"context"
	"math"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Violations says by how much a rectified matrix, as it is returned, misses the sum
// of 1 and the rank.
type Violations struct {
	// SumError is ΣC − 1.
	SumError float64 `json:"sum_error"`
	// RankResidual is ‖C − Z‖_F/‖C‖_F, where Z is the last projection on the positive
	// semidefinite matrices of rank K, scaled as C is: an upper bound of the relative
	// distance to the nearest of them. For DC, Z is the nearest.
	RankResidual float64 `json:"rank_residual"`
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
