package linalg

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Perturbed returns the p algebraically largest eigenpairs of X·diag(θ)·Xᵀ + D, for
// orthonormal X (n×p) and a symmetric perturbation D of which only W = DX is known. The rest
// of D, (I − XXᵀ)D(I − XXᵀ), counts as zero; it changes the pairs in second order. O(np²).
func Perturbed(ctx context.Context, x blas64.General, theta []float64, w blas64.General, workers int) (*Block, error) {
	n, p := x.Rows, x.Cols
	if len(theta) != p || w.Rows != n || w.Cols != p {
		return nil, fmt.Errorf("linalg: a perturbation of %d×%d, %d values and vectors of %d×%d", w.Rows, w.Cols, len(theta), n, p)
	}
	// W = XG + QR. In the basis of X and Q the matrix is (Θ + G, Rᵀ; R, 0).
	z := NewGeneral(n, p)
	for i := range n {
		copy(Row(z, i), Row(w, i))
	}
	longest, err := longestColumn(w)
	if err != nil {
		return nil, err
	}
	g, h := NewGeneral(p, p), NewGeneral(p, p)
	for range 2 {
		if err := Gemm(ctx, blas.Trans, blas.NoTrans, 1, x, z, 0, h, workers); err != nil {
			return nil, err
		}
		if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, -1, x, h, 1, z, workers); err != nil {
			return nil, err
		}
		for i, v := range h.Data {
			g.Data[i] += v
		}
	}
	symmetrise(g)
	q, _, err := krylovOrthonormal(ctx, []blas64.General{x}, z, make([]float64, n*p), 1e-12*longest, workers)
	if err != nil {
		return nil, err
	}
	m := p + q.Cols
	t := NewGeneral(m, m)
	for i := range p {
		copy(t.Data[i*m:i*m+p], Row(g, i))
		t.Data[i*m+i] += theta[i]
	}
	if q.Cols > 0 {
		r := NewGeneral(q.Cols, p)
		if err := Gemm(ctx, blas.Trans, blas.NoTrans, 1, q, w, 0, r, workers); err != nil {
			return nil, err
		}
		for i := range q.Cols {
			for j, v := range Row(r, i) {
				t.Data[(p+i)*m+j], t.Data[j*m+p+i] = v, v
			}
		}
	}
	values, s, err := TopEig(ctx, t, p, workers)
	if err != nil {
		return nil, err
	}
	b := &Block{X: NewGeneral(n, p), Theta: values}
	if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, x, Rows(s, 0, p), 0, b.X, workers); err != nil {
		return nil, err
	}
	if q.Cols > 0 {
		if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, q, Rows(s, p, m), 1, b.X, workers); err != nil {
			return nil, err
		}
	}
	return b, nil
}
