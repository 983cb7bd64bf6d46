// Package cooc holds the word co-occurrence matrix C of a corpus and the forms
// it takes on its way to a model.
//
// C (N×N) is joint-stochastic: symmetric, its entries sum to 1, and C_ij
// estimates the probability that two words drawn without replacement from one
// document, itself drawn at random, are words i and j (lee-2020, eq. 1). It is
// seldom formed. What the stages need is to multiply by it, its row sums, and
// single rows; a Matrix offers just these, and there are several of them:
//
//   - Moments, the estimate from documents, held as the documents themselves:
//     C = ĤĤᵀ − D; and, by NewWeighted, the plain second moments of proportions,
//     counts or tf-idf.
//   - Stream, the same from documents that are read anew for each product and
//     never held.
//   - An Accumulator holds documents that come and go; a Snapshot of it gives
//     their Moments.
//   - Dense, an explicit N×N array.
//   - LowRankSparse, YYᵀ + r·eeᵀ + E with a sparse E: what every matrix becomes
//     under alternating projection, exactly.
package cooc

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// Matrix is a symmetric N×N co-occurrence matrix as an operator. All forms
// of this package are immutable once made and safe for concurrent use; own
// implementations must be too.
type Matrix interface {
	// Dim returns N.
	Dim() int

	// MulTo computes dst = C·X for an N×p block X; dst is N×p and must not
	// share memory with x. workers bounds the goroutines (0: GOMAXPROCS) and
	// never changes a bit of the result.
	MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error

	// Marginals returns c = C·1, the unigram distribution when C sums to 1.
	// The slice, of length N, must not be written to.
	Marginals() []float64

	// RowTo writes row i into dst, of length N.
	RowTo(dst []float64, i int)

	// RowNorms2 returns the squared Euclidean norm of every row. The slice,
	// of length N, must not be written to.
	RowNorms2(ctx context.Context, workers int) ([]float64, error)
}

// Sum returns the sum of all entries of c.
func Sum(c Matrix) float64 {
	s := 0.0
	for _, x := range c.Marginals() {
		s += x
	}
	return s
}

// Rows is what finding anchors and recovering topics need of the row-normalised
// C̄, whose row i is p(X₂ | X₁ = i): inner products of its rows. An
// implementation may hold the rows in any space of dimension d, not only R^N,
// as long as all inner products between rows are kept (an isometric picture), as
// LAW does. Safe for concurrent use.
type Rows interface {
	// Dims returns the number of rows N and the dimension d of their space.
	Dims() (n, d int)

	// Norms2 returns ‖c̄_i‖² for every row. It must not be written to.
	Norms2(ctx context.Context, workers int) ([]float64, error)

	// RowTo writes row i into dst, of length d.
	RowTo(dst []float64, i int)

	// MulTo computes dst = C̄·X for X d×p; dst is N×p.
	MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error

	// Marginals returns the sum c_i of every row before it was normalised,
	// that is p(X = i) up to a common factor. It must not be written to.
	Marginals() []float64

	// BlockTo writes the entries C_ij of the matrix before it was normalised,
	// for i and j in idx, into dst (len(idx)×len(idx)).
	BlockTo(dst *mat.Dense, idx []int)
}
