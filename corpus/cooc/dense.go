package cooc

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// Dense is C as an explicit N×N array: 8·N² bytes, and 2·N²·p operations for a
// product with p vectors. It is for small N, and the reference that the other
// forms are tested against. It is immutable and safe for concurrent use.
type Dense struct {
	a      blas64.General
	c      []float64
	norms2 []float64
}

// NewDense makes a Matrix of a caller's array, which must be square, finite
// and symmetric to a relative 1e-9 of its largest entry; the mean of mirrored
// entries is taken. The input is copied. An unusable entry is an *EntryError.
func NewDense(a mat.Matrix) (*Dense, error) {
	n, cols := a.Dims()
	if n != cols || n == 0 {
		return nil, fmt.Errorf("cooc: matrix is %d×%d, want square and not empty", n, cols)
	}
	g := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	largest := 0.0
	for i := range n {
		row := g.Data[i*n : (i+1)*n]
		for j := range row {
			v := a.At(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, &EntryError{I: i, J: j, Value: v, Kind: ErrNotFinite}
			}
			row[j] = v
			largest = max(largest, math.Abs(v))
		}
	}
	for i := range n {
		for j := range i {
			v, o := g.Data[i*n+j], g.Data[j*n+i]
			if math.Abs(v-o) > 1e-9*largest {
				return nil, &EntryError{I: i, J: j, Value: v, Opposite: o, Kind: ErrNotSymmetric}
			}
			v = 0.5*v + 0.5*o
			g.Data[i*n+j], g.Data[j*n+i] = v, v
		}
	}
	return denseOf(g), nil
}

// Densify returns any Matrix as an explicit array, row by row.
func Densify(ctx context.Context, c Matrix, workers int) (*Dense, error) {
	if d, ok := bare(c).(*Dense); ok {
		return d, nil
	}
	n := c.Dim()
	g := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	err := run.Chunks(ctx, n, 64, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			c.RowTo(g.Data[i*n:(i+1)*n], i)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// Rows are summed in different orders on the two sides of the diagonal.
	for i := range n {
		for j := range i {
			g.Data[i*n+j] = g.Data[j*n+i]
		}
	}
	return denseOf(g), nil
}

// denseOf takes over a symmetric array.
func denseOf(g blas64.General) *Dense {
	d := &Dense{a: g, c: make([]float64, g.Rows), norms2: make([]float64, g.Rows)}
	for i := range g.Rows {
		s, q := 0.0, 0.0
		for _, v := range g.Data[i*g.Stride : i*g.Stride+g.Cols] {
			s += v
			q += v * v
		}
		d.c[i], d.norms2[i] = s, q
	}
	return d
}

// Dim returns N.
func (d *Dense) Dim() int { return d.a.Rows }

// At returns entry (i, j).
func (d *Dense) At(i, j int) float64 { return d.a.Data[i*d.a.Stride+j] }

// Matrix returns a copy of the array.
func (d *Dense) Matrix() *mat.SymDense {
	n := d.a.Rows
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, d.At(i, j))
		}
	}
	return s
}

// MulTo computes dst = C·X.
func (d *Dense) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	if err := checkMul("dense", d.a.Rows, d.a.Rows, dst, x); err != nil {
		return err
	}
	return linalg.SymMul(ctx, d.a, x.RawMatrix(), dst.RawMatrix(), workers)
}

// Info gives the form and its N² entries.
func (d *Dense) Info() corpus.Info {
	return corpus.Info{Form: "dense", Nonzeros: int64(d.a.Rows) * int64(d.a.Rows)}
}

// Marginals returns the row sums.
func (d *Dense) Marginals() []float64 { return d.c }

// RowTo copies row i into dst.
func (d *Dense) RowTo(dst []float64, i int) {
	copy(dst[:d.a.Cols], d.a.Data[i*d.a.Stride:i*d.a.Stride+d.a.Cols])
}

// RowNorms2 returns ‖C_i‖² for every row, computed when the matrix was made.
func (d *Dense) RowNorms2(context.Context, int) ([]float64, error) { return d.norms2, nil }
