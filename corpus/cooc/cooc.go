// Package cooc holds the word co-occurrence matrix C of a corpus.
//
// C (N×N) is joint-stochastic: symmetric, and of sum 1. C_ij estimates the
// probability that two words drawn without replacement from one document, itself
// drawn at random, are words i and j (lee-2020, eq. 1). Few methods need C as an
// array. An [Operator] can be multiplied by; a [Matrix] has rows too. The forms are:
//
//   - [Moments], the estimate from documents in memory: C = ĤĤᵀ − D, or the plain
//     second moment of tf-idf. A Matrix.
//   - [FromEncoded], the same estimate from documents that are decoded again for each
//     product, in memory or in a file. An Operator.
//   - [Dense], an explicit N×N array. A Matrix.
//   - [LowRankSparse], YYᵀ + r·eeᵀ + E with a sparse E. Alternating projection turns
//     every matrix into one of these. A Matrix.
//
// [Rows] is the row-normalised form C̄ in which anchors are found and topics are
// recovered: explicit ([NewRows]), or in K dimensions ([LowRankSparse.LAW]).
//
// All forms are immutable and safe for concurrent use. A product is the same to
// the bit for any number of workers.
package cooc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Errors that can be told apart with errors.Is.
var (
	// ErrNoDocuments means that no document is long enough to hold a pair of words.
	ErrNoDocuments = errors.New("no document is long enough to count word pairs in")
	// ErrNotSymmetric means that a caller's matrix is not symmetric.
	ErrNotSymmetric = errors.New("not symmetric")
	// ErrNotFinite means that a caller's matrix has an entry that is infinite or NaN.
	ErrNotFinite = errors.New("not a finite number")
)

// Operator is a symmetric N×N co-occurrence matrix that can be multiplied by.
// Implementations must be safe for concurrent use.
type Operator interface {
	// Dim returns N.
	Dim() int

	// MulTo computes dst = C·X for an N×p block X. dst is N×p and must not share memory
	// with x. On errors it is partly written. workers bounds the goroutines (0:
	// GOMAXPROCS) and must not change a bit of the result.
	MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error

	// Marginals returns c = C·1, N numbers: the unigram distribution where C sums
	// to 1. The slice must not be written to.
	Marginals() []float64

	// Info says where the matrix comes from; the zero Info says that nothing is known.
	Info() corpus.Info
}

// Matrix is an Operator that has rows.
type Matrix interface {
	Operator

	// RowTo writes row i into dst, of length N.
	RowTo(dst []float64, i int)

	// RowNorms2 returns the squared Euclidean norms of the N rows. The slice must
	// not be written to.
	RowNorms2(ctx context.Context, workers int) ([]float64, error)
}

// form is a Matrix of this package.
type form interface {
	Matrix
	// restrict returns the rows and columns idx, ascending; to holds their new
	// numbers, −1 for the others. It has no Info.
	restrict(idx []int, to []int32) (form, error)
}

// ours reports whether c is an Operator of this package, not a type that embeds one.
func ours(c Operator) bool {
	switch c.(type) {
	case *Moments, *encoded, *Dense, *LowRankSparse:
		return true
	}
	return false
}

// WithInfo returns c with another Info, for example with the names of its words.
// The result shares the memory of c, and is a Matrix if c is one. The Vocabulary and
// DocFrequencies of info must be nil or have N entries.
func WithInfo(c Operator, info corpus.Info) (Operator, error) {
	n := c.Dim()
	if v := info.Vocabulary; v != nil && len(v) != n {
		return nil, fmt.Errorf("cooc: a vocabulary of %d words for a matrix of %d rows", len(v), n)
	}
	if df := info.DocFrequencies; df != nil && len(df) != n {
		return nil, fmt.Errorf("cooc: the document frequencies of %d words for a matrix of %d rows", len(df), n)
	}
	return withInfo(c, info), nil
}

func withInfo(c Operator, info corpus.Info) Operator {
	switch c := c.(type) {
	case *Moments:
		out := *c
		out.info = info
		return &out
	case *encoded:
		out := *c
		out.info = info
		return &out
	case *Dense:
		out := *c
		out.info = info
		return &out
	case *LowRankSparse:
		out := *c
		out.info = info
		return &out
	case Matrix:
		return &foreignMatrix{c, info}
	}
	return &foreignOperator{c, info}
}

// foreignMatrix and foreignOperator are forms of other packages with another Info.
type foreignMatrix struct {
	Matrix
	info corpus.Info
}

func (m *foreignMatrix) Info() corpus.Info { return m.info }

type foreignOperator struct {
	Operator
	info corpus.Info
}

func (o *foreignOperator) Info() corpus.Info { return o.info }

// sumTol is how far the sum of a matrix may be from 1.
const sumTol = 1e-6

// Check reports whether c is a co-occurrence matrix: its entries must sum to 1 (to
// 1e-6), and every row to a finite number that is not negative. A form of another
// package is also multiplied by three vectors, which must show that it is finite,
// symmetric ([ErrNotSymmetric]) and of the row sums that Marginals returns.
func Check(ctx context.Context, c Operator, workers int) error {
	if !ours(c) {
		if err := probe(ctx, c, workers); err != nil {
			return err
		}
	}
	sum := 0.0
	for i, v := range c.Marginals() {
		// A form that takes the sum of large terms may miss zero by rounding.
		if !vec.Finite(v) || v < -1e-12 {
			return fmt.Errorf("cooc: row %d of the matrix sums to %.9g", i, v)
		}
		sum += v
	}
	if !(math.Abs(sum-1) <= sumTol) {
		return fmt.Errorf("cooc: the entries of the matrix sum to %.9g, not 1: divide them by their sum", sum)
	}
	return nil
}

// probe multiplies c by three vectors: ones and two without a pattern.
func probe(ctx context.Context, c Operator, workers int) error {
	const tol = 1e-9
	n, marg := c.Dim(), c.Marginals()
	if len(marg) != n {
		return fmt.Errorf("cooc: the matrix has %d rows and %d row sums", n, len(marg))
	}
	x, y := mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil)
	for i := range n {
		_, u := math.Modf(float64(float64(i+1) * math.Phi))
		_, v := math.Modf(float64(float64(i+1) * math.Sqrt2))
		x.SetRow(i, []float64{1, u, v})
	}
	if err := c.MulTo(ctx, y, x, workers); err != nil {
		return err
	}
	largest, uCv, vCu, size := 0.0, 0.0, 0.0, 0.0
	for i := range n {
		for _, v := range y.RawRowView(i) {
			if !vec.Finite(v) {
				return fmt.Errorf("cooc: row %d of the matrix times a vector gives %g", i, v)
			}
		}
		largest = max(largest, math.Abs(y.At(i, 0)))
		uCv += float64(x.At(i, 1) * y.At(i, 2))
		vCu += float64(x.At(i, 2) * y.At(i, 1))
		size += math.Abs(x.At(i, 1)*y.At(i, 2)) + math.Abs(x.At(i, 2)*y.At(i, 1))
	}
	for i, v := range marg {
		if !(math.Abs(v-y.At(i, 0)) <= tol*largest) {
			return fmt.Errorf("cooc: row %d of the matrix sums to %.9g, but its marginal is %g", i, y.At(i, 0), v)
		}
	}
	if math.Abs(uCv-vCu) > tol*size {
		return fmt.Errorf("cooc: the matrix is %w: for two vectors uᵀCv = %g but vᵀCu = %g", ErrNotSymmetric, uCv, vCu)
	}
	return nil
}

func checkMul(name string, n, d int, dst, x *mat.Dense) error {
	r, p := dst.Dims()
	xr, xp := x.Dims()
	if r != n || xr != d || p != xp {
		return fmt.Errorf("cooc: %s product: %d×%d into %d×%d, want %d×p into %d×p", name, xr, xp, r, p, d, n)
	}
	return nil
}

var _ = []form{(*Moments)(nil), (*Dense)(nil), (*LowRankSparse)(nil)}

// lazy holds a slice that is computed at the first call of get, for which others wait. After
// an error the next caller computes it again.
type lazy struct {
	mu sync.Mutex
	v  []float64
}

// get returns the slice, computed if it is not there.
func (l *lazy) get(ctx context.Context, compute func() ([]float64, error)) (v []float64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.v == nil {
		l.v, err = compute()
	}
	return l.v, err
}

// Submatrix returns the rows and columns idx of c as a matrix of the same form. idx
// must be ascending, without repetition. The sum is in general less than 1. Info
// keeps what is true of the chosen words: no Tokens, Corpus or Source. Time and memory
// are in proportion to the size of c. A Matrix of another package is an error.
func Submatrix(c Matrix, idx []int) (Matrix, error) {
	f, ok := c.(form)
	if !ok || !ours(c) {
		return nil, errors.New("cooc: submatrix of a matrix of another package: leave out its empty rows beforehand")
	}
	n := c.Dim()
	to := slices.Repeat([]int32{-1}, n)
	for t, i := range idx {
		switch {
		case i < 0 || i >= n:
			return nil, fmt.Errorf("cooc: submatrix: row %d is not in [0, %d)", i, n)
		case t > 0 && i <= idx[t-1]:
			return nil, fmt.Errorf("cooc: submatrix: row %d comes after row %d", i, idx[t-1])
		}
		to[i] = int32(t)
	}
	if len(idx) == 0 {
		return nil, errors.New("cooc: submatrix without rows")
	}
	info := c.Info()
	out := corpus.Info{Form: info.Form, Documents: info.Documents, Nonzeros: info.Nonzeros, Text: info.Text}
	for _, i := range idx {
		if info.Vocabulary != nil {
			out.Vocabulary = append(out.Vocabulary, info.Vocabulary[i])
		}
		if info.DocFrequencies != nil {
			out.DocFrequencies = append(out.DocFrequencies, info.DocFrequencies[i])
		}
	}
	m, err := f.restrict(idx, to)
	if err != nil {
		return nil, err
	}
	return withInfo(m, out).(Matrix), nil
}
