package cooc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// LowRankSparse is C = YYᵀ + r·eeᵀ + E with Y N×K, a number r, e the vector of
// ones and a symmetric sparse E. It is what alternating projection makes of
// any matrix, exactly: the projection on the non-negative matrices adds to
// YYᵀ + r·eeᵀ the sparse matrix E = max(−(YYᵀ + r), 0). A product with p
// vectors costs 4·N·K·p + 2·nnz(E)·p operations. Memory: 8·N·K bytes and 12 a
// nonzero of E. It is immutable and safe for concurrent use.
type LowRankSparse struct {
	op     linalg.LowRankSparse
	e      *Sparse
	g      []float64 // Yᵀe
	c      []float64
	norms2 lazy
	plain  bool // rows are taken as they are
}

// NewLowRankSparse makes YYᵀ + r·eeᵀ + E. y is N×K, or nil for none; e may be
// nil for none, but not both. y is copied, e shared. A number that is not
// finite is an error. O(N·K + nnz(E)) time.
func NewLowRankSparse(y *mat.Dense, r float64, e *Sparse) (*LowRankSparse, error) {
	var Y blas64.General
	switch {
	case y != nil:
		raw := y.RawMatrix()
		Y = linalg.NewGeneral(raw.Rows, raw.Cols)
		for i := range raw.Rows {
			for j, v := range linalg.Row(raw, i) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return nil, fmt.Errorf("cooc: entry (%d, %d) of Y is %g, %w", i, j, v, ErrNotFinite)
				}
				Y.Data[i*Y.Stride+j] = v
			}
		}
	case e != nil:
		Y = linalg.NewGeneral(e.n, 0)
	default:
		return nil, fmt.Errorf("cooc: low-rank + sparse matrix with neither Y nor E")
	}
	n := Y.Rows
	if n == 0 {
		return nil, fmt.Errorf("cooc: low-rank + sparse matrix without rows")
	}
	if e == nil {
		e = &Sparse{n: n, csr: linalg.CSR{RowPtr: make([]int, n+1)}}
	}
	if e.n != n {
		return nil, fmt.Errorf("cooc: Y has %d rows, E %d", n, e.n)
	}
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return nil, fmt.Errorf("cooc: r is %g, %w", r, ErrNotFinite)
	}
	m := &LowRankSparse{op: linalg.LowRankSparse{Y: Y, R: r, E: e.csr}, e: e, norms2: newLazy()}
	m.g = make([]float64, Y.Cols)
	for i := range n {
		for k, v := range linalg.Row(Y, i) {
			m.g[k] += v
		}
	}
	m.c = make([]float64, n)
	for i := range n {
		s := float64(n) * r
		for k, v := range linalg.Row(Y, i) {
			s += v * m.g[k]
		}
		_, vals := e.Row(i)
		for _, v := range vals {
			s += v
		}
		m.c[i] = s
	}
	return m, nil
}

// Plain returns the same matrix, sharing its memory, of which NewRows takes the
// rows as they are, negative entries and all, also where E is empty: for
// methods whose E is empty or not by an accident of rounding, which must not
// decide between that and the mended picture of LAW.
func (m *LowRankSparse) Plain() *LowRankSparse {
	return &LowRankSparse{op: m.op, e: m.e, g: m.g, c: m.c, norms2: m.norms2, plain: true}
}

// Dim returns N.
func (m *LowRankSparse) Dim() int { return m.op.Y.Rows }

// Rank returns K, the number of columns of Y.
func (m *LowRankSparse) Rank() int { return m.op.Y.Cols }

// Y returns a copy of Y, N×K; nil where it has no columns.
func (m *LowRankSparse) Y() *mat.Dense {
	if m.op.Y.Cols == 0 {
		return nil
	}
	y := mat.NewDense(m.op.Y.Rows, m.op.Y.Cols, nil)
	var raw mat.Dense
	raw.SetRawMatrix(m.op.Y)
	y.Copy(&raw)
	return y
}

// Shift returns r.
func (m *LowRankSparse) Shift() float64 { return m.op.R }

// E returns the sparse part.
func (m *LowRankSparse) E() *Sparse { return m.e }

// MulTo computes dst = Y(YᵀX) + r·e(eᵀX) + EX.
func (m *LowRankSparse) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	n := m.Dim()
	if err := checkMul("low-rank + sparse", n, n, dst, x); err != nil {
		return err
	}
	return m.op.Mul(ctx, dst.RawMatrix(), x.RawMatrix(), workers)
}

// Marginals returns the row sums.
func (m *LowRankSparse) Marginals() []float64 { return m.c }

// RowNorms2 returns ‖C_i‖² for every row. The first call takes O(N·K² +
// nnz(E)·K) time; the result is kept. The error is relative to ‖YYᵀe_i + r·e‖²,
// of which E takes away what is negative.
func (m *LowRankSparse) RowNorms2(ctx context.Context, workers int) ([]float64, error) {
	return m.norms2.get(ctx, func() ([]float64, error) { return m.rowNorms2(ctx, workers) })
}

func (m *LowRankSparse) rowNorms2(ctx context.Context, workers int) ([]float64, error) {
	Y, r, n := m.op.Y, m.op.R, m.Dim()
	gram := linalg.NewGeneral(Y.Cols, Y.Cols)
	if err := linalg.Gram(ctx, Y, gram, workers); err != nil {
		return nil, err
	}
	norms2 := make([]float64, n)
	err := run.Chunks(ctx, n, 64, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			yi := linalg.Row(Y, i)
			// ‖Yy_i + r·e‖², then the entries that E changes.
			q, s := 0.0, 0.0
			for k, v := range yi {
				t := 0.0
				for l, w := range linalg.Row(gram, k) {
					t += w * yi[l]
				}
				q += v * t
				s += v * m.g[k]
			}
			q += 2*r*s + float64(n)*r*r
			cols, vals := m.e.Row(i)
			for k, j := range cols {
				b := r
				for l, w := range linalg.Row(Y, int(j)) {
					b += w * yi[l]
				}
				q += vals[k] * (2*b + vals[k])
			}
			norms2[i] = max(q, 0)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return norms2, nil
}

// at returns entry (i, j), to the bit that of RowTo.
func (m *LowRankSparse) at(i, j int) float64 {
	s, yi := m.op.R, linalg.Row(m.op.Y, i)
	for k, v := range linalg.Row(m.op.Y, j) {
		s += v * yi[k]
	}
	cols, vals := m.e.Row(i)
	if p, ok := slices.BinarySearch(cols, int32(j)); ok {
		s += vals[p]
	}
	return s
}

// RowTo writes row i into dst; 2·N·K operations.
func (m *LowRankSparse) RowTo(dst []float64, i int) {
	n := m.Dim()
	for j := range n {
		dst[j] = m.op.R
	}
	if y := m.op.Y; y.Cols > 0 {
		blas64.Gemv(blas.NoTrans, 1, y, blas64.Vector{N: y.Cols, Inc: 1, Data: linalg.Row(y, i)}, 1, blas64.Vector{N: n, Inc: 1, Data: dst})
	}
	cols, vals := m.e.Row(i)
	for k, j := range cols {
		dst[j] += vals[k]
	}
}

var (
	_ Matrix = (*Moments)(nil)
	_ Matrix = (*Dense)(nil)
	_ Matrix = (*LowRankSparse)(nil)
)

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

// NewRows returns C̄ = diag(c)⁻¹C, the row-normalised form of any Matrix. A row
// whose sum is zero, to 1e-14 of the largest sum, counts as empty: it and its
// marginal are zero. A negative sum is an error that names the row
// (ErrNegativeMarginal): such a row has no probability to be normalised to.
// O(N) time and memory; the products are those of c.
//
// A *LowRankSparse without E and with r ≥ 0, as ENN returns it, becomes a *LAW
// instead, unless it is Plain: rows in K dimensions, O(N·K²) time and 8·N·K bytes, negative sums
// mended.
func NewRows(c Matrix) (Rows, error) { return NewRowsContext(context.Background(), c, 0) }

// NewRowsContext is NewRows with a context and a bound on the goroutines (0:
// GOMAXPROCS), which changes no bit.
func NewRowsContext(ctx context.Context, c Matrix, workers int) (Rows, error) {
	if m, ok := c.(*LowRankSparse); ok && m.op.Y.Cols > 0 && m.e.NNZ() == 0 && m.op.R >= 0 && !m.plain {
		return NewLAW(ctx, m, workers)
	}
	return newNormalisedRows(c)
}

func newNormalisedRows(c Matrix) (Rows, error) {
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

func (r *normalisedRows) Marginals() []float64 { return r.marg }

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
