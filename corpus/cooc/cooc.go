// Package cooc holds the word co-occurrence matrix C of a corpus and the forms
// it takes on its way to a model.
//
// C (N×N) is joint-stochastic: symmetric, its entries sum to 1, and C_ij
// estimates the probability that two words drawn without replacement from one
// document, itself drawn at random, are words i and j (lee-2020, eq. 1). It is
// seldom formed. What can only multiply by C is an Operator; what also has rows
// is a Matrix:
//
//   - Moments, the estimate from documents, held as the documents themselves:
//     C = ĤĤᵀ − D, or plain second moments of proportions, counts or tf-idf.
//   - Stream, the same from documents that are read again for each product and
//     never held: an Operator only.
//   - Dense, an explicit N×N array.
//   - LowRankSparse, YYᵀ + r·eeᵀ + E with a sparse E: what every matrix becomes
//     under alternating projection, exactly.
//
// An Accumulator holds documents that come and go; a Snapshot of it gives a
// corpus.
//
// Rows is the row-normalised form C̄ in which anchors are found and topics are
// recovered, explicit (NewRows) or in K dimensions (NewLAW).
package cooc

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/run"
)

// Operator is a symmetric N×N co-occurrence matrix that can be multiplied by.
// All forms of this package are immutable once made and safe for concurrent
// use; other implementations must be too.
type Operator interface {
	// Dim returns N.
	Dim() int

	// MulTo computes dst = C·X for an N×p block X; dst is N×p and must not
	// share memory with x. workers bounds the goroutines (0: GOMAXPROCS) and
	// never changes a bit of the result.
	MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error

	// Marginals returns c = C·1, the unigram distribution when C sums to 1.
	// The slice, of length N, must not be written to.
	Marginals() []float64

	// Info tells where the matrix comes from: documents, words and how often
	// they occur. The zero Info says that nothing is known.
	Info() corpus.Info
}

// Matrix is an Operator whose rows are at hand.
type Matrix interface {
	Operator

	// RowTo writes row i into dst, of length N.
	RowTo(dst []float64, i int)

	// RowNorms2 returns the squared Euclidean norm of every row. The slice,
	// of length N, must not be written to.
	RowNorms2(ctx context.Context, workers int) ([]float64, error)
}

// Sum returns the sum of all entries of c.
func Sum(c Operator) float64 {
	s := 0.0
	for _, x := range c.Marginals() {
		s += x
	}
	return s
}

// Inner returns ⟨E, C⟩ = Σ_ij E_ij C_ij for a sparse E. It takes a row of C for
// each row of E that is not empty; Moments take a pass over the documents. workers
// bounds the goroutines (0: GOMAXPROCS) and changes no bit.
func Inner(ctx context.Context, c Matrix, e *Sparse, workers int) (float64, error) {
	n := c.Dim()
	if e.n != n {
		return 0, fmt.Errorf("cooc: inner product of a %d×%d and a %d×%d matrix", n, n, e.n, e.n)
	}
	if m, ok := bare(c).(*Moments); ok {
		return m.inner(ctx, e, workers)
	}
	const size = 64
	sums := make([]float64, run.Count(n, size))
	err := run.Chunks(ctx, n, size, workers, func(_, k, lo, hi int) error {
		row := make([]float64, n)
		for i := lo; i < hi; i++ {
			cols, vals := e.csr.Row(i)
			if len(cols) == 0 {
				continue
			}
			c.RowTo(row, i)
			for t, j := range cols {
				sums[k] += vals[t] * row[j]
			}
		}
		return nil
	})
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return total, err
}

// WithInfo returns c with other facts about its origin: the names of its words,
// for example. The result is a Matrix where c is one, and shares its memory. A
// Vocabulary or DocFrequencies of other than N entries is an error.
func WithInfo(c Operator, info corpus.Info) (Operator, error) {
	n := c.Dim()
	if v := info.Vocabulary; v != nil && len(v) != n {
		return nil, fmt.Errorf("cooc: a vocabulary of %d words for a matrix of %d rows", len(v), n)
	}
	if df := info.DocFrequencies; df != nil && len(df) != n {
		return nil, fmt.Errorf("cooc: the document frequencies of %d words for a matrix of %d rows", len(df), n)
	}
	if m, ok := c.(Matrix); ok {
		return told{bare(m), info}, nil
	}
	return toldOperator{c, info}, nil
}

type told struct {
	Matrix
	info corpus.Info
}

func (t told) Info() corpus.Info { return t.info }

type toldOperator struct {
	Operator
	info corpus.Info
}

func (t toldOperator) Info() corpus.Info { return t.info }

// bare returns the form of c under WithInfo.
func bare(c Matrix) Matrix {
	if t, ok := c.(told); ok {
		return t.Matrix
	}
	return c
}

// sumTol is how far the sum of a matrix may be from 1.
const sumTol = 1e-6

// Check tells whether c is a co-occurrence matrix: its entries sum to 1 (to
// 1e-6), and no row sums to less than zero or to what is not finite. A form of
// another package is also tried on three vectors, which tells whether it is
// finite, symmetric (ErrNotSymmetric) and of the row sums that it claims.
func Check(ctx context.Context, c Operator, workers int) error {
	own := c
	switch t := c.(type) {
	case told:
		own = t.Matrix
	case toldOperator:
		own = t.Operator
	}
	switch own.(type) {
	case *Moments, *Stream, *Dense, *LowRankSparse, *principal:
	default:
		if err := probe(ctx, c, workers); err != nil {
			return err
		}
	}
	sum := 0.0
	for i, v := range c.Marginals() {
		// A form that takes the sum of large terms may miss zero by rounding.
		if math.IsNaN(v) || math.IsInf(v, 0) || v < -1e-12 {
			return fmt.Errorf("cooc: row %d of the matrix sums to %g", i, v)
		}
		sum += v
	}
	if !(math.Abs(sum-1) <= sumTol) {
		return fmt.Errorf("cooc: the entries of the matrix sum to %g, not 1: divide them by their sum", sum)
	}
	return nil
}

// probe tries c on three vectors.
func probe(ctx context.Context, c Operator, workers int) error {
	const tol = 1e-9
	n, marg := c.Dim(), c.Marginals()
	if len(marg) != n {
		return fmt.Errorf("cooc: the matrix has %d rows and %d row sums", n, len(marg))
	}
	x, y := mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil)
	for i := range n {
		_, u := math.Modf(float64(i+1) * math.Phi)
		_, v := math.Modf(float64(i+1) * math.Sqrt2)
		x.SetRow(i, []float64{1, u, v})
	}
	if err := c.MulTo(ctx, y, x, workers); err != nil {
		return err
	}
	largest, uCv, vCu, size := 0.0, 0.0, 0.0, 0.0
	for i := range n {
		for _, v := range y.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("cooc: row %d of the matrix times a vector gives %g", i, v)
			}
		}
		largest = max(largest, math.Abs(y.At(i, 0)))
		uCv += x.At(i, 1) * y.At(i, 2)
		vCu += x.At(i, 2) * y.At(i, 1)
		size += math.Abs(x.At(i, 1)*y.At(i, 2)) + math.Abs(x.At(i, 2)*y.At(i, 1))
	}
	for i, v := range marg {
		if !(math.Abs(v-y.At(i, 0)) <= tol*largest) {
			return fmt.Errorf("cooc: row %d of the matrix sums to %g, but its marginal is %g", i, y.At(i, 0), v)
		}
	}
	if math.Abs(uCv-vCu) > tol*size {
		return fmt.Errorf("cooc: the matrix is %w: for two vectors uᵀCv = %g but vᵀCu = %g", ErrNotSymmetric, uCv, vCu)
	}
	return nil
}

func checkMul(form string, n, d int, dst, x *mat.Dense) error {
	r, p := dst.Dims()
	xr, xp := x.Dims()
	if r != n || xr != d || p != xp {
		return fmt.Errorf("cooc: %s product: %d×%d into %d×%d, want %d×p into %d×p", form, xr, xp, r, p, d, n)
	}
	return nil
}

var (
	_ Matrix   = (*Moments)(nil)
	_ Matrix   = (*Dense)(nil)
	_ Matrix   = (*LowRankSparse)(nil)
	_ Matrix   = (*principal)(nil)
	_ Operator = (*Stream)(nil)
)
