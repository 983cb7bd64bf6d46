package cooc

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Rows is what finding anchors and recovering topics need of the row-normalised C̄, whose
// row i is p(X₂ | X₁ = i): the inner products of its rows. The rows may be given in any
// space that keeps these, not only in R^N. Implementations must be safe for concurrent use.
// workers bounds the goroutines (0: GOMAXPROCS) and changes no bit.
type Rows interface {
	// Dims returns the number N of rows and the dimension d of their space.
	Dims() (n, d int)

	// Explicit reports whether d = N and coordinate j of row i is
	// p(X₂ = j | X₁ = i). Methods that need single entries of C̄ ask for it.
	Explicit() bool

	// Norms2 returns ‖c̄_i‖² for every row. It must not be written to.
	Norms2(ctx context.Context, workers int) ([]float64, error)

	// RowTo writes row i into dst, of length d.
	RowTo(dst []float64, i int)

	// MulTo computes dst = C̄·X for X d×p; dst is N×p.
	MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error

	// Marginals returns the sums c_i of the rows of C, p(X = i) up to a common
	// factor, and exactly 0 for an empty row. It must not be written to.
	Marginals() []float64

	// BlockTo writes the entries C_ij, i and j in idx, into dst
	// (len(idx)×len(idx)).
	BlockTo(dst *mat.Dense, idx []int)

	// Matrix returns C. Explicit rows are those of C divided by their sums.
	Matrix() Matrix

	// Repaired returns the numbers, ascending, of the rows in which negative entries of C
	// were set to 0. Such a row says little of its word, which is no candidate for an
	// anchor.
	Repaired() []int

	// WithAnchors returns the rows to recover topics from once the anchors, row
	// numbers without repetition, are known. Explicit rows return themselves.
	WithAnchors(ctx context.Context, anchors []int, workers int) (Rows, error)
}

// normalisedRows is C̄ in its own coordinates, d = N.
type normalisedRows struct {
	c    Matrix
	marg []float64 // c_i, exactly 0 for an empty row
	inv  []float64 // 1/c_i, 0 for an empty row
}

// emptyRow is the fraction of the largest row sum below which a row sum is rounding:
// the terms of a LowRankSparse do not cancel to exactly zero. A negative one up to
// belowZero is an empty row that an iteration (rectify.DR) has not quite reached.
const emptyRow, belowZero = 1e-14, 1e-6

// smallestRow is the least largest row sum with which a matrix is normalised: the
// squares of smaller entries underflow.
const smallestRow = 1e-140

// largestSum returns the largest size of a row sum. The error names one that is not
// finite.
func largestSum(sums []float64) (largest float64, err error) {
	for i, v := range sums {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("cooc: row %d sums to %.9g, %w", i, v, ErrNotFinite)
		}
		largest = max(largest, math.Abs(v))
	}
	return largest, nil
}

// checkScale returns an error if row sums are too small to divide by.
func checkScale(largest float64, sums []float64) error {
	switch {
	case largest == 0:
		return errors.New("cooc: every row of the matrix sums to zero")
	case largest < smallestRow:
		return fmt.Errorf("cooc: the matrix sums to %.9g, too small to normalise: divide it by its sum", vec.Sum(sums))
	}
	return nil
}

// NewRows returns the explicit rows of C̄ = diag(c)⁻¹C, c the row sums. A row whose
// sum is at most 1e-14 of the largest, or negative and at most 1e-6 of it in size,
// counts as empty: it and its marginal are zero. Errors: a sum that is more negative or
// not finite, which names the row, and row sums that are all below 1e-140. O(N) time.
func NewRows(c Matrix) (Rows, error) {
	m := c.Marginals()
	largest, err := largestSum(m)
	if err == nil {
		err = checkScale(largest, m)
	}
	if err != nil {
		return nil, err
	}
	r := &normalisedRows{c: c, marg: make([]float64, len(m)), inv: make([]float64, len(m))}
	for i, v := range m {
		switch {
		case v <= emptyRow*largest && v >= -belowZero*largest:
		case v < 0:
			return nil, fmt.Errorf("cooc: row %d sums to %.9g, less than zero", i, v)
		default:
			r.marg[i], r.inv[i] = v, 1/v
		}
	}
	return r, nil
}

func (r *normalisedRows) Dims() (n, d int) { return r.c.Dim(), r.c.Dim() }

func (r *normalisedRows) Explicit() bool { return true }

func (r *normalisedRows) Marginals() []float64 { return r.marg }

func (r *normalisedRows) Matrix() Matrix { return r.c }

func (r *normalisedRows) Repaired() []int { return nil }

func (r *normalisedRows) WithAnchors(ctx context.Context, _ []int, _ int) (Rows, error) {
	return r, ctx.Err()
}

func (r *normalisedRows) Norms2(ctx context.Context, workers int) ([]float64, error) {
	q, err := r.c.RowNorms2(ctx, workers)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(q))
	for i, v := range q {
		out[i] = v * r.inv[i] * r.inv[i]
	}
	return out, nil
}

func (r *normalisedRows) RowTo(dst []float64, i int) {
	r.c.RowTo(dst, i)
	for j := range dst[:r.c.Dim()] {
		dst[j] *= r.inv[i]
	}
}

func (r *normalisedRows) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	if err := r.c.MulTo(ctx, dst, x, workers); err != nil {
		return err
	}
	d := dst.RawMatrix()
	return parallel.Chunks(ctx, d.Rows, 1024, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			s := r.inv[i]
			for j := range linalg.Row(d, i) {
				d.Data[i*d.Stride+j] *= s
			}
		}
		return nil
	})
}

func (r *normalisedRows) BlockTo(dst *mat.Dense, idx []int) {
	if m, ok := r.c.(*LowRankSparse); ok { // single entries are at hand
		for a, i := range idx {
			for b, j := range idx {
				dst.Set(a, b, m.at(i, j))
			}
		}
		return
	}
	row := make([]float64, r.c.Dim())
	for a, i := range idx {
		r.c.RowTo(row, i)
		for b, j := range idx {
			dst.Set(a, b, row[j])
		}
	}
}
