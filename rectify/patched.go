package rectify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// patched is f·(C + E), of a given matrix C with sparse changes E that leave no
// negative entry. It is immutable once finished, and safe for concurrent use.
type patched struct {
	base    cooc.Matrix
	e       linalg.CSR // symmetric; its diagonal is full
	f       float64
	diag    []float64 // of the base
	others2 []float64 // sum of squares of the other entries of a row, those < 0 left out
	c       []float64
	norms2  []float64
}

// newPatched scans the rows of a matrix for negative entries.
func newPatched(ctx context.Context, c cooc.Matrix, workers int) (*patched, error) {
	n := c.Dim()
	p := &patched{base: c, diag: make([]float64, n), others2: make([]float64, n)}
	upper := make([]linalg.CSR, parallel.Count(n, scanRows))
	workers = parallel.Workers(workers, len(upper))
	scratch := make([][]float64, workers)
	err := parallel.Chunks(ctx, n, scanRows, workers, func(w, q, lo, hi int) error {
		if scratch[w] == nil {
			scratch[w] = make([]float64, n)
		}
		row := scratch[w]
		u := &upper[q]
		u.RowPtr = append(u.RowPtr, 0)
		for i := lo; i < hi; i++ {
			c.RowTo(row, i)
			if j := vec.NotFinite(row); j >= 0 {
				return fmt.Errorf("entry (%d, %d) of the matrix is %g, %w", i, j, row[j], cooc.ErrNotFinite)
			}
			p.diag[i] = row[i]
			for j, v := range row {
				switch {
				case j == i:
					u.Cols, u.Vals = append(u.Cols, int32(j)), append(u.Vals, 0)
				case v >= 0:
					p.others2[i] += v * v
				case j > i:
					u.Cols, u.Vals = append(u.Cols, int32(j)), append(u.Vals, -v)
				}
			}
			u.RowPtr = append(u.RowPtr, len(u.Cols))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.e, err = mirror(ctx, n, upper, linalg.CSR{}, workers)
	return p, err
}

// finish sets the diagonal, and negative entries to zero, and makes the sum 1.
// It returns how many entries were negative.
func (p *patched) finish(diag []float64) (negative int, err error) {
	n := len(diag)
	p.c = slices.Clone(p.base.Marginals())
	p.norms2 = slices.Clone(p.others2)
	sum := 0.0
	for i, v := range diag {
		if v < 0 {
			v = 0
			negative++
		}
		p.norms2[i] += v * v
		for t := p.e.RowPtr[i]; t < p.e.RowPtr[i+1]; t++ {
			if int(p.e.Cols[t]) == i {
				p.e.Vals[t] = v - p.diag[i]
			} else {
				negative++
			}
			p.c[i] += p.e.Vals[t]
		}
		sum += p.c[i]
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return 0, fmt.Errorf("the result sums to %.9g and cannot be divided by it", sum)
	}
	p.f = 1 / sum
	for i := range n {
		p.c[i] *= p.f
		p.norms2[i] *= p.f * p.f
	}
	return negative, nil
}

func (p *patched) Dim() int { return len(p.diag) }

func (p *patched) Marginals() []float64 { return p.c }

func (p *patched) RowNorms2(ctx context.Context, _ int) ([]float64, error) {
	return p.norms2, ctx.Err()
}

// Info is that of the given matrix.
func (p *patched) Info() corpus.Info { return p.base.Info() }

// RowTo writes row i.
func (p *patched) RowTo(dst []float64, i int) {
	p.base.RowTo(dst, i)
	cols, vals := p.e.Row(i)
	for t, j := range cols {
		dst[j] += vals[t]
	}
	for j, v := range dst[:p.Dim()] {
		dst[j] = p.f * max(v, 0) // what E sets to zero may miss zero by rounding
	}
}

func (p *patched) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	if err := p.base.MulTo(ctx, dst, x, workers); err != nil {
		return err
	}
	d, b := dst.RawMatrix(), x.RawMatrix()
	return parallel.Chunks(ctx, p.Dim(), scanRows, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			to := linalg.Row(d, i)
			cols, vals := p.e.Row(i)
			for t, j := range cols {
				floats.AddScaled(to, vals[t], linalg.Row(b, int(j)))
			}
			floats.Scale(p.f, to)
		}
		return nil
	})
}
