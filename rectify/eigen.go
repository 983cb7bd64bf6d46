package rectify

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	// guard is the least number of vectors beyond K in a block.
	guard = 10
	// maxSteps bounds the block steps from the previous vectors before Lanczos
	// takes over.
	maxSteps = 12
	// maxRestarts bounds the restarts of Lanczos.
	maxRestarts = 300
)

// blockSize is how many pairs are kept for K topics.
func blockSize(n, k int) int { return min(n, (k+guard+7)/8*8) }

// next finds the k algebraically largest eigenpairs of the iterate, from the vectors of
// the previous ones. t is the iteration, for errors.
func (l *loop) next(ctx context.Context, t int) error {
	if l.block != nil {
		st, err := l.block.Refine(ctx, l.k, l.op, l.eigenTol, maxSteps, l.opt.Workers)
		if err != nil {
			return err
		}
		l.res.Products += st.Products
		if st.Converged {
			return nil
		}
	}
	theta, vecs, st, err := linalg.Lanczos(ctx, l.n, l.op, linalg.LanczosOptions{
		Pairs: blockSize(l.n, l.k), Need: l.k, Tol: l.eigenTol, MaxRestarts: maxRestarts, Block: 8, Workers: l.opt.Workers,
	})
	if err != nil {
		return err
	}
	l.res.Products += st.Products
	l.res.ColdStarts++
	if !st.Converged {
		return notConverged(l.k, t, st.Residual, l.eigenTol*theta[l.k-1])
	}
	l.block = &linalg.Block{X: transpose(vecs), Theta: theta}
	return nil
}

func notConverged(k, iteration int, residual, tol float64) error {
	return fmt.Errorf("the %d largest eigenpairs did not converge in iteration %d: residual %.3g, want %.3g", k, iteration, residual, tol)
}

// theta returns the k largest eigenvalues, descending.
func (l *loop) theta() []float64 { return l.block.Theta[:l.k] }

// y returns Y = U·diag(√λ⁺), N×K', as scaled does.
func (l *loop) y(reuse blas64.General) blas64.General {
	return scaled(l.block.X, l.theta(), reuse.Data)
}

// scaled returns U·diag(√λ⁺) of the first columns of x, without those of λ ≤ 0. It
// takes over the memory of reuse.
func scaled(x blas64.General, theta, reuse []float64) blas64.General {
	k := 0
	for k < len(theta) && theta[k] > 0 {
		k++
	}
	y := blas64.General{Rows: x.Rows, Cols: k, Stride: max(k, 1), Data: vec.Resize(reuse, x.Rows*k)}
	root := make([]float64, k)
	for j := range root {
		root[j] = math.Sqrt(theta[j])
	}
	for i := range x.Rows {
		row := linalg.Row(y, i)
		for j, v := range linalg.Row(x, i)[:k] {
			row[j] = root[j] * v
		}
	}
	return y
}

func transpose(a blas64.General) blas64.General {
	t := linalg.NewGeneral(a.Cols, a.Rows)
	for i := range a.Rows {
		for j := range a.Cols {
			t.Data[j*t.Stride+i] = a.Data[i*a.Stride+j]
		}
	}
	return t
}

// sumOf returns the sum of the entries of YYᵀ.
func sumOf(y blas64.General) float64 {
	s := linalg.ColumnSums(y)
	return vec.Dot(s, s)
}
