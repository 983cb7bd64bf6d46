package cooc

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// LowRankSparse is C = YYᵀ + r·eeᵀ + E with Y N×K, a number r, the vector e of ones and a
// symmetric sparse E. Alternating projection turns every matrix into this form: the
// projection on the non-negative matrices adds E = max(−(YYᵀ + r·eeᵀ), 0). A product with p
// vectors costs 4·N·K·p + 2·nnz(E)·p operations. Memory: 8·N·K bytes, and 12 for each nonzero
// of E.
type LowRankSparse struct {
	op     linalg.LowRankSparse
	e      *Sparse
	g      []float64 // Yᵀe
	c      []float64
	norms2 *lazy
	info   corpus.Info
}

// NewLowRankSparse returns YYᵀ + r·eeᵀ + E. y is N×K and copied, e is N×N and
// shared; either may be nil, which means zero, but not both. All numbers must be
// finite. O(N·K + nnz(E)) time.
func NewLowRankSparse(y *mat.Dense, r float64, e *Sparse) (*LowRankSparse, error) {
	var Y blas64.General
	switch {
	case y != nil:
		raw := y.RawMatrix()
		Y = linalg.NewGeneral(raw.Rows, raw.Cols)
		for i := range raw.Rows {
			for j, v := range linalg.Row(raw, i) {
				if !vec.Finite(v) {
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
	if !vec.Finite(r) {
		return nil, fmt.Errorf("cooc: r is %g, %w", r, ErrNotFinite)
	}
	m := &LowRankSparse{op: linalg.LowRankSparse{Y: Y, R: r, E: e.csr}, e: e, norms2: new(lazy)}
	m.info = corpus.Info{Form: "low-rank + sparse", Nonzeros: int64(e.NNZ())}
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
			s += float64(v * m.g[k])
		}
		_, vals := e.Row(i)
		for _, v := range vals {
			s += v
		}
		m.c[i] = s
	}
	return m, nil
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
	var y mat.Dense
	y.SetRawMatrix(m.op.Y)
	return mat.DenseCopyOf(&y)
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

// Info holds the form and the number of entries of E, or what [WithInfo] says.
func (m *LowRankSparse) Info() corpus.Info { return m.info }

func (m *LowRankSparse) restrict(idx []int, to []int32) (form, error) {
	e := linalg.CSR{RowPtr: []int{0}}
	for _, i := range idx {
		cols, vals := m.e.Row(i)
		for k, j := range cols {
			if t := to[j]; t >= 0 {
				e.Cols, e.Vals = append(e.Cols, t), append(e.Vals, vals[k])
			}
		}
		e.RowPtr = append(e.RowPtr, len(e.Cols))
	}
	var y *mat.Dense
	if all := m.Y(); all != nil {
		y = mat.NewDense(len(idx), m.Rank(), nil)
		for t, i := range idx {
			y.SetRow(t, all.RawRowView(i))
		}
	}
	return NewLowRankSparse(y, m.Shift(), &Sparse{n: len(idx), csr: e})
}

// Marginals returns the row sums.
func (m *LowRankSparse) Marginals() []float64 { return m.c }

// RowNorms2 returns ‖C_i‖² for every row. The first call takes O(N·K² + nnz(E)·K) time; the
// result is kept. Its rounding error is relative to the norm without E.
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
	err := parallel.Chunks(ctx, n, 64, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			yi := linalg.Row(Y, i)
			// ‖Yy_i + r·e‖², then the entries that E changes.
			q, s := 0.0, 0.0
			for k, v := range yi {
				t := 0.0
				for l, w := range linalg.Row(gram, k) {
					t += float64(w * yi[l])
				}
				q += float64(v * t)
				s += float64(v * m.g[k])
			}
			q += float64(2*r*s) + float64(float64(n)*r*r)
			cols, vals := m.e.Row(i)
			for k, j := range cols {
				b := r
				for l, w := range linalg.Row(Y, int(j)) {
					b += float64(w * yi[l])
				}
				q += float64(vals[k] * (float64(2*b) + vals[k]))
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
		s += float64(v * yi[k])
	}
	cols, vals := m.e.Row(i)
	if p, ok := slices.BinarySearch(cols, int32(j)); ok {
		s += vals[p]
	}
	return s
}

// RowTo writes row i into dst; 2·N·K operations.
func (m *LowRankSparse) RowTo(dst []float64, i int) {
	y := m.op.Y
	for j := range y.Rows {
		dst[j] = m.op.R
	}
	if y.Cols > 0 {
		row := blas64.General{Rows: y.Cols, Cols: 1, Stride: 1, Data: linalg.Row(y, i)}
		_ = linalg.Gemm(context.Background(), blas.NoTrans, blas.NoTrans, 1, y, row, 1, blas64.General{Rows: y.Rows, Cols: 1, Stride: 1, Data: dst}, 1)
	}
	cols, vals := m.e.Row(i)
	for k, j := range cols {
		dst[j] += vals[k]
	}
}
