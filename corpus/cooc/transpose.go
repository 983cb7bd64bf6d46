package cooc

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// MulTransTo computes dst = C̄ᵀ·X for X N×p; dst is d×p and must not share memory
// with x. What it costs is a product of the matrix for the Rows of this package.
// Of other Rows every row is read by RowTo, for N·d·p operations and the memory
// of 256 rows. workers bounds the goroutines (0: GOMAXPROCS) and never changes a
// bit.
func MulTransTo(ctx context.Context, rows Rows, dst, x *mat.Dense, workers int) error {
	n, d := rows.Dims()
	if err := checkMul("transposed rows", d, n, dst, x); err != nil {
		return err
	}
	if r, ok := rows.(interface {
		mulTransTo(ctx context.Context, dst, x *mat.Dense, workers int) error
	}); ok {
		return r.mulTransTo(ctx, dst, x, workers)
	}
	const size = 256
	dst.Zero()
	xr := x.RawMatrix()
	block := linalg.NewGeneral(min(size, n), d)
	for lo := 0; lo < n; lo += size {
		block.Rows = min(size, n-lo)
		err := run.Chunks(ctx, block.Rows, 16, workers, func(_, _, a, b int) error {
			for i := a; i < b; i++ {
				rows.RowTo(linalg.Row(block, i), lo+i)
			}
			return nil
		})
		if err != nil {
			return err
		}
		part := blas64.General{Rows: block.Rows, Cols: xr.Cols, Stride: xr.Stride, Data: xr.Data[lo*xr.Stride:]}
		if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, block, part, 1, dst.RawMatrix(), workers); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// mulTransTo: C̄ = D⁻¹C with a symmetric C, so that C̄ᵀX = C·D⁻¹X.
func (r *normalisedRows) mulTransTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	n, p := x.Dims()
	y := mat.NewDense(n, p, nil)
	for i, s := range r.inv {
		row := y.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			row[j] = s * v
		}
	}
	return r.c.MulTo(ctx, dst, y, workers)
}

func (l *LAW) mulTransTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	return linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, l.x, x.RawMatrix(), 0, dst.RawMatrix(), workers)
}
