package linalg

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/parallel"
)

// Block improves given vectors until they are the k algebraically largest eigenpairs of a
// symmetric operator, by block Krylov steps with Rayleigh–Ritz. It is made for a sequence of
// operators that change little, so that the vectors of one are nearly those of the next.
type Block struct {
	// X holds the vectors, n×p, p ≥ k, orthonormal, the best ones first: the start on entry
	// and the refined vectors on return, in other memory.
	X     blas64.General
	Theta []float64 // the p Ritz values, in descending order

	scratch [3]blas64.General // n×p, kept between calls of Refine
	skip    int               // steps of the next Refine without Rayleigh–Ritz
}

// Refine runs at most the given number of steps. It stops as soon as the first k pairs have
// residuals of at most tol·λ_k; EigStats.Converged reports whether they have. X and Theta
// hold the best approximation in either case.
//
// Rayleigh–Ritz changes no subspace, and with the residuals it takes longer than the products
// of a sparse operator. It is left out of the steps that the previous call needed before its
// last one.
func (b *Block) Refine(ctx context.Context, k int, op Op, tol float64, steps, workers int) (EigStats, error) {
	var st EigStats
	n, p := b.X.Rows, b.X.Cols
	for i := range b.scratch {
		if b.scratch[i].Rows != n || b.scratch[i].Cols != p {
			b.scratch[i] = NewGeneral(n, p)
		}
	}
	w, xq, wq := b.scratch[0], b.scratch[1], b.scratch[2]
	b.scratch = [3]blas64.General{} // in use, until done
	done := func() {
		b.X, xq = xq, b.X
		b.scratch = [3]blas64.General{w, xq, wq}
	}
	skip := min(b.skip, steps-1)
	b.skip = 0
	for {
		if err := op(ctx, w, b.X); err != nil {
			return st, err
		}
		st.Products += p
		st.Restarts++
		if st.Restarts <= skip {
			q, spare, err := orthonormal(ctx, nil, w, xq.Data, 0, workers)
			if err != nil || q.Cols < p {
				return st, err
			}
			b.X, w, xq = q, b.X, blockIn(spare, n, p)
			continue
		}
		theta, err := ritz(ctx, b.X, w, xq, wq, workers)
		if err != nil {
			return st, err
		}
		b.Theta = theta
		st.Residual = 0
		for _, r2 := range residuals(ctx, xq, wq, theta, k, workers) {
			st.Residual = max(st.Residual, math.Sqrt(r2))
		}
		if err := ctx.Err(); err != nil {
			return st, err
		}
		if theta[k-1] > 0 && st.Residual <= tol*theta[k-1] {
			st.Converged = true
			// One step fewer is worth a try if this one was good enough by far.
			b.skip = st.Restarts - 1
			if st.Residual <= tol*theta[k-1]/4 {
				b.skip = max(b.skip-1, 0)
			}
			done()
			return st, nil
		}
		if st.Restarts >= steps {
			done()
			return st, nil
		}
		// The next basis: the images, orthonormalised.
		q, spare, err := orthonormal(ctx, nil, wq, b.X.Data, 0, workers)
		if err != nil {
			return st, err
		}
		if q.Cols < p {
			done()
			return st, nil // the images are numerically dependent
		}
		b.X, wq = q, blockIn(spare, n, p)
	}
}

// ritz writes the Ritz vectors of the basis x with the products w = Ax to xq and
// their products to wq, and returns the Ritz values in descending order.
func ritz(ctx context.Context, x, w, xq, wq blas64.General, workers int) ([]float64, error) {
	g := NewGeneral(x.Cols, x.Cols)
	if err := Gemm(ctx, blas.Trans, blas.NoTrans, 1, x, w, 0, g, workers); err != nil {
		return nil, err
	}
	for _, v := range g.Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, ErrNonFinite
		}
	}
	symmetrise(g)
	theta, q, err := symEig(g)
	if err != nil {
		return nil, err
	}
	if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, x, q, 0, xq, workers); err != nil {
		return nil, err
	}
	return theta, Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, w, q, 0, wq, workers)
}

// residuals returns ‖w_j − θ_j x_j‖² of the first k columns.
func residuals(ctx context.Context, x, w blas64.General, theta []float64, k, workers int) []float64 {
	const size = 512
	parts := make([][]float64, parallel.Count(x.Rows, size))
	_ = parallel.Chunks(ctx, x.Rows, size, workers, func(_, c, lo, hi int) error {
		r := make([]float64, k)
		for i := lo; i < hi; i++ {
			xr, wr := Row(x, i)[:k], Row(w, i)[:k]
			for j := range r {
				d := wr[j] - float64(theta[j]*xr[j])
				r[j] += float64(d * d)
			}
		}
		parts[c] = r
		return nil
	})
	sum := make([]float64, k)
	for _, r := range parts {
		for j := range r {
			sum[j] += r[j]
		}
	}
	return sum
}
