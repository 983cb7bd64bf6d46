package cooc

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Dense is C as an explicit N×N array of 8·N² bytes, for small N. A product with
// p vectors costs 2·N²·p operations.
type Dense struct {
	a      blas64.General
	c      []float64
	norms2 []float64
	info   corpus.Info
}

// NewDense makes a Matrix of an array. a must be square, finite and symmetric to
// 1e-9 of its largest entry; the error names the first entry that is not
// ([ErrNotFinite], [ErrNotSymmetric]). a is copied, and the mean of mirrored entries is
// taken; of a mat.Symmetric only entries on and above the diagonal are read.
func NewDense(a mat.Matrix) (*Dense, error) {
	n, cols := a.Dims()
	if n != cols || n == 0 {
		return nil, fmt.Errorf("cooc: matrix is %d×%d, want square and not empty", n, cols)
	}
	g := linalg.NewGeneral(n, n)
	_, symmetric := a.(mat.Symmetric)
	largest := 0.0
	for i := range n {
		row, from := linalg.Row(g, i), 0
		if symmetric {
			from = i
		}
		for j := from; j < n; j++ {
			v := a.At(i, j)
			if !vec.Finite(v) {
				return nil, notFinite(i, j, v)
			}
			row[j] = v
			largest = max(largest, math.Abs(v))
		}
	}
	tol := 1e-9 * largest
	if symmetric {
		tol = -1
	}
	if i, j := mirror(g, tol); i >= 0 {
		return nil, notSymmetric(i, j, g.Data[i*n+j], g.Data[j*n+i])
	}
	return denseOf(g), nil
}

// mirror takes the mean of mirrored entries or, if tol is negative, those above the
// diagonal. It returns the first row and column, i > j, of two that differ by more than
// tol, and −1 if there are none. It goes through tiles, so that columns stay in a cache.
func mirror(g blas64.General, tol float64) (i, j int) {
	const tile = 64
	n := g.Rows
	for top := 0; top < n; top += tile {
		first, of := n, -1
		for left := 0; left <= top; left += tile {
			for i := top; i < min(top+tile, n); i++ {
				row := linalg.Row(g, i)
				for j := left; j < min(left+tile, i); j++ {
					o := &g.Data[j*g.Stride+i]
					switch {
					case tol < 0:
						row[j] = *o
					case math.Abs(row[j]-*o) <= tol:
						row[j] = float64(0.5*row[j]) + float64(0.5**o)
						*o = row[j]
					case i < first:
						first, of = i, j
					}
				}
			}
		}
		if of >= 0 {
			return first, of
		}
	}
	return -1, -1
}

// denseOf takes over a symmetric array.
func denseOf(g blas64.General) *Dense {
	d := &Dense{a: g, c: make([]float64, g.Rows), norms2: make([]float64, g.Rows)}
	d.info = corpus.Info{Form: "dense", Nonzeros: int64(g.Rows) * int64(g.Rows)}
	for i := range g.Rows {
		row := linalg.Row(g, i)
		d.c[i], d.norms2[i] = vec.Sum(row), vec.Dot(row, row)
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

// Info holds the form and the number of entries, N², or what [WithInfo] says.
func (d *Dense) Info() corpus.Info { return d.info }

func (d *Dense) restrict(idx []int, _ []int32) (form, error) {
	g := linalg.NewGeneral(len(idx), len(idx))
	for s, i := range idx {
		row := linalg.Row(g, s)
		for t, j := range idx {
			row[t] = d.At(i, j)
		}
	}
	return denseOf(g), nil
}

// Marginals returns the row sums.
func (d *Dense) Marginals() []float64 { return d.c }

// RowTo copies row i into dst.
func (d *Dense) RowTo(dst []float64, i int) { copy(dst[:d.a.Cols], linalg.Row(d.a, i)) }

// RowNorms2 returns ‖C_i‖² for every row, computed when the matrix was made.
func (d *Dense) RowNorms2(context.Context, int) ([]float64, error) { return d.norms2, nil }
