package rectify

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/spectrum"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	// guard is how many vectors beyond K a block holds at least.
	guard = 10
	// maxSteps bounds the block steps from the previous vectors before Lanczos
	// takes over.
	maxSteps = 12
	// maxRestarts bounds the restarts of Lanczos.
	maxRestarts = 300
)

// eigenpairs solves the eigenproblems of a sequence of operators, each from the
// vectors of the previous one.
type eigenpairs struct {
	n, k, p int
	tol     float64
	workers int
	block   *linalg.Block // p pairs, of which k are to tolerance; nil: cold start
	count   *Result       // its Products and ColdStarts are counted up
	shared  *spectrum.Shared
}

// blockSize is how many pairs are kept for K topics.
func blockSize(n, k int) int { return min(n, (k+guard+7)/8*8) }

func newEigenpairs(n, k int, tol float64, workers int, count *Result) *eigenpairs {
	return &eigenpairs{n: n, k: k, p: blockSize(n, k), tol: tol, workers: workers, count: count}
}

// next finds the k algebraically largest eigenpairs of op. t is the iteration, for
// errors.
func (s *eigenpairs) next(ctx context.Context, t int, op linalg.Op) error {
	shared := s.shared
	s.shared = nil // the next operator is another
	if s.block != nil {
		st, err := s.block.Refine(ctx, s.k, op, s.tol, maxSteps, s.workers)
		if err != nil {
			return err
		}
		s.count.Products += st.Products
		if st.Converged {
			return nil
		}
	}
	theta, vecs, st, err := linalg.Lanczos(ctx, s.n, op, linalg.LanczosOptions{
		Pairs: s.p, Need: s.k, Tol: s.tol, MaxRestarts: maxRestarts, Block: 8, Workers: s.workers, Start: shared.Start(),
	})
	if err != nil {
		return err
	}
	s.count.Products += st.Products
	s.count.ColdStarts++
	if !st.Converged {
		return notConverged(s.k, t, st.Residual, s.tol*theta[s.k-1])
	}
	shared.Found(theta[:s.k])
	s.block = &linalg.Block{X: transpose(vecs), Theta: theta}
	return nil
}

func notConverged(k, iteration int, residual, tol float64) error {
	return fmt.Errorf("the %d largest eigenpairs did not converge in iteration %d: residual %.3g, want %.3g", k, iteration, residual, tol)
}

// theta returns the k largest eigenvalues, descending.
func (s *eigenpairs) theta() []float64 { return s.block.Theta[:s.k] }

// y returns U·diag(√λ⁺), N×K', without the columns of eigenvalues λ ≤ 0. It takes
// over the memory of reuse.
func (s *eigenpairs) y(reuse blas64.General) blas64.General {
	return scaled(s.block.X, s.theta(), reuse.Data)
}

// scaled returns Y = U·diag(√λ⁺) of the first columns of x, without those of λ ≤ 0.
// It takes over the memory of reuse.
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
	s := 0.0
	for _, v := range linalg.ColumnSums(y) {
		s += v * v
	}
	return s
}
