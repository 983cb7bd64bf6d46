package rectify

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	// If ‖u_j‖² is within `alone` of 1, word j is the only one of its half to carry a
	// direction, and the equation for its entry is 0 = 0 to rounding.
	alone = 1e-9
	// degenerate is the fraction of the largest singular value below which the singular
	// vectors of a block are noise.
	degenerate = 1e-12
)

// halves multiplies by the blocks of C that belong to two halves of the words, by one
// product with the halves apart.
type halves struct {
	op          linalg.Op // of C
	first       []bool    // the half of a word
	both, image blas64.General
}

// multiply makes the products of C with x, with the rows of one half and of the other
// in columns of their own.
func (h *halves) multiply(ctx context.Context, x blas64.General) error {
	n := len(h.first)
	if h.both.Cols != 2*x.Cols {
		h.both, h.image = linalg.NewGeneral(n, 2*x.Cols), linalg.NewGeneral(n, 2*x.Cols)
	}
	for i := range n {
		to := linalg.Row(h.both, i)
		clear(to)
		if !h.first[i] {
			to = to[x.Cols:]
		}
		copy(to, linalg.Row(x, i))
	}
	return h.op(ctx, h.image, h.both)
}

// pick takes, for each word, the product with its own half or with the other.
func (h *halves) pick(dst blas64.General, other bool) {
	for i := range h.first {
		of := linalg.Row(h.image, i)
		if h.first[i] == other {
			of = of[dst.Cols:]
		}
		copy(linalg.Row(dst, i), of[:dst.Cols])
	}
}

// complete returns the diagonal that one halving gives, NaN where it says nothing.
func (l *loop) complete(ctx context.Context, diag []float64, first []bool, t int) ([]float64, error) {
	n, k := len(first), l.k
	// The singular triples of G are the positive eigenpairs of [0 G; Gᵀ 0], with
	// (u; v)/√2 for vectors.
	h := &halves{op: l.op, first: first}
	cross := func(ctx context.Context, dst, x blas64.General) error {
		if err := h.multiply(ctx, x); err != nil {
			return err
		}
		h.pick(dst, true)
		return nil
	}
	theta, vecs, st, err := linalg.Lanczos(ctx, n, cross, linalg.LanczosOptions{Pairs: k, Tol: l.eigenTol, MaxRestarts: maxRestarts, Block: 8, Workers: l.opt.Workers})
	if err != nil {
		return nil, err
	}
	l.res.Products += 2 * st.Products
	l.res.ColdStarts++
	for k > 0 && theta[k-1] <= degenerate*theta[0] {
		k-- // rank below K: there are no more directions
	}
	if k > 0 && !st.Converged {
		return nil, notConverged(k, t, st.Residual, l.eigenTol*theta[k-1])
	}
	entries := make([]float64, n)
	if k == 0 {
		return entries, nil // G = 0, and no column but 0 lies in its range
	}
	x := linalg.NewGeneral(n, k)
	for c := range k {
		for i, v := range linalg.Row(vecs, c) {
			x.Data[i*k+c] = v
		}
	}
	// The halves of the vectors are orthonormal up to the residuals; make them so to
	// rounding.
	for _, half := range []bool{true, false} {
		if err := orthonormalise(ctx, x, first, half, l.opt.Workers); err != nil {
			return nil, err
		}
	}
	if err := h.multiply(ctx, x); err != nil {
		return nil, err
	}
	l.res.Products += 2 * k
	fu := linalg.NewGeneral(n, k)
	h.pick(fu, false)
	for j := range n {
		u := linalg.Row(x, j)
		u2 := vec.Dot(u, u)
		if 1-u2 <= alone {
			entries[j] = math.NaN()
			continue
		}
		entries[j] = (vec.Dot(u, linalg.Row(fu, j)) - u2*diag[j]) / (1 - u2)
		if math.IsNaN(entries[j]) || math.IsInf(entries[j], 0) {
			return nil, linalg.ErrNonFinite
		}
	}
	return entries, nil
}

// orthonormalise multiplies the rows of one half by (XᵀX)^(−1/2) over them.
func orthonormalise(ctx context.Context, x blas64.General, first []bool, half bool, workers int) error {
	k := x.Cols
	var rows []int
	for i, f := range first {
		if f == half {
			rows = append(rows, i)
		}
	}
	part := linalg.NewGeneral(len(rows), k)
	for t, i := range rows {
		copy(linalg.Row(part, t), linalg.Row(x, i))
	}
	gram := linalg.NewGeneral(k, k)
	if err := linalg.Gram(ctx, part, gram, workers); err != nil {
		return err
	}
	values, v, err := linalg.Eigen(mat.NewSymDense(k, gram.Data))
	if err != nil {
		return fmt.Errorf("a %d×%d matrix: %w", k, k, err)
	}
	s := mat.DenseCopyOf(v)
	for j, l := range values {
		if l < 0.25 { // ½, up to the residuals
			return fmt.Errorf("the singular vectors of a half of the words are not orthonormal: %.6g", l)
		}
		for i := range k {
			s.Set(i, j, s.At(i, j)/math.Sqrt(l))
		}
	}
	var m mat.Dense
	m.Mul(s, v.T())
	out := linalg.NewGeneral(len(rows), k)
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, part, m.RawMatrix(), 0, out, workers); err != nil {
		return err
	}
	for t, i := range rows {
		copy(linalg.Row(x, i), linalg.Row(out, t))
	}
	return nil
}
