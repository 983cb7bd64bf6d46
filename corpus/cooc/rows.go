package cooc

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// Rows is what finding anchors and recovering topics need of the row-normalised
// C̄, whose row i is p(X₂ | X₁ = i): inner products of its rows. An
// implementation may hold the rows in any space of dimension d, not only R^N,
// as long as all inner products between rows are kept, as LAW does. Safe for
// concurrent use.
type Rows interface {
	// Dims returns the number of rows N and the dimension d of their space.
	Dims() (n, d int)

	// Explicit reports whether d = N and coordinate j of row i is
	// p(X₂ = j | X₁ = i). Methods that need single entries ask for it.
	Explicit() bool

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

	// Matrix returns C, the matrix before its rows were normalised.
	Matrix() Matrix

	// WithAnchors returns the rows to recover topics from once the anchors are
	// known; explicit rows return themselves. anchors are row numbers without
	// repetition. workers bounds the goroutines (0: GOMAXPROCS) and changes no
	// bit.
	WithAnchors(ctx context.Context, anchors []int, workers int) (Rows, error)
}

// normalisedRows is C̄ in its own coordinates, d = N.
type normalisedRows struct {
	c    Matrix
	marg []float64 // c_i, exactly 0 for an empty row
	inv  []float64 // 1/c_i, 0 for an empty row
}

// ErrNegativeMarginal is the kind of error NewRows returns for a matrix with a
// row that sums to less than zero.
var ErrNegativeMarginal = errors.New("a row sums to less than zero")

// emptyRow is the fraction of the largest row sum below which a row sum is
// rounding: forms such as LowRankSparse do not add up to exactly zero where all
// terms cancel.
const emptyRow = 1e-14

// NewRows returns C̄ = diag(c)⁻¹C, the row-normalised form of any Matrix, with
// explicit entries. A row whose sum is zero, to 1e-14 of the largest sum, counts
// as empty: it and its marginal are zero. A negative sum is an error that names
// the row (ErrNegativeMarginal): such a row has no probability to be normalised
// to. O(N) time and memory; the products are those of c.
func NewRows(c Matrix) (Rows, error) {
	c = bare(c)
	m := c.Marginals()
	r := &normalisedRows{c: c, marg: make([]float64, len(m)), inv: make([]float64, len(m))}
	largest := 0.0
	for i, v := range m {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("cooc: row %d sums to %g, %w", i, v, ErrNotFinite)
		}
		largest = max(largest, math.Abs(v))
	}
	for i, v := range m {
		switch {
		case math.Abs(v) <= emptyRow*largest:
		case v < 0:
			return nil, fmt.Errorf("cooc: row %d sums to %g: %w", i, v, ErrNegativeMarginal)
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
	return run.Chunks(ctx, d.Rows, 1024, workers, func(_, _, lo, hi int) error {
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
