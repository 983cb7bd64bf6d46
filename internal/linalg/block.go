package linalg

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

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
			ok, err := cholQR(ctx, w, workers)
			if err != nil || !ok {
				b.scratch = [3]blas64.General{w, xq, wq}
				return st, err
			}
			b.X, w = w, b.X
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
		ok, err := cholQR(ctx, wq, workers)
		if err != nil {
			return st, err
		}
		if !ok {
			done()
			return st, nil // the images are numerically dependent
		}
		b.X, wq = wq, b.X
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
	theta, q, err := symEig(ctx, g, workers)
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
				d := wr[j] - theta[j]*xr[j]
				r[j] += d * d
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

// cholQR orthonormalises the columns of a in place. It returns false if they are linearly
// dependent up to rounding. Columns are scaled to length one first. One pass of Cholesky QR
// leaves them orthogonal up to their squared condition number times the rounding error; a
// second pass follows if that is not enough.
func cholQR(ctx context.Context, a blas64.General, workers int) (bool, error) {
	p := a.Cols
	g := NewGeneral(p, p)
	for range 2 {
		if err := Gram(ctx, a, g, workers); err != nil {
			return false, err
		}
		d := make([]float64, p)
		for i := range p {
			v := g.Data[i*p+i]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false, ErrNonFinite
			}
			if v <= 0 {
				return false, nil
			}
			d[i] = 1 / math.Sqrt(v)
		}
		s := mat.NewSymDense(p, nil)
		for i := range p {
			for j := i; j < p; j++ {
				s.SetSym(i, j, g.Data[i*p+j]*d[i]*d[j])
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(s) || chol.Cond() > 1e13 {
			return false, nil
		}
		// a ← a·diag(d)·R⁻¹.
		var u, inv mat.TriDense
		chol.UTo(&u)
		if err := inv.InverseTri(&u); err != nil {
			return false, nil
		}
		r := NewGeneral(p, p)
		for i := range p {
			for j := i; j < p; j++ {
				r.Data[i*p+j] = d[i] * inv.At(i, j)
			}
		}
		err := parallel.Chunks(ctx, a.Rows, 256, workers, func(_, _, lo, hi int) error {
			rows := Rows(a, lo, hi)
			buf := borrow((hi - lo) * p)
			defer giveBack(buf)
			t := blas64.General{Rows: hi - lo, Cols: p, Stride: p, Data: *buf}
			if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, rows, r, 0, t, 1); err != nil {
				return err
			}
			for i := range t.Rows {
				copy(Row(rows, i), Row(t, i))
			}
			return nil
		})
		if err != nil {
			return false, err
		}
		if chol.Cond() < 1e3 {
			break
		}
	}
	return true, nil
}
