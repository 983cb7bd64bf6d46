package rectify

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/bytesize"
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

// MemoryError says that a method was refused because it would take more than
// Options.MemoryLimit.
type MemoryError struct {
	Method       string
	N            int
	Bytes, Limit int64  // the estimate and the limit
	Alternative  string // what to use instead
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("N×N arrays for N = %d words would take %s, more than the limit of %s; use %s, or raise the limit",
		e.N, bytesize.String(e.Bytes), bytesize.String(e.Limit), e.Alternative)
}

// limit returns the memory limit in bytes.
func (o Options) limit() int64 {
	if o.MemoryLimit > 0 {
		return o.MemoryLimit
	}
	return 4 << 30
}

// tooMuch returns the error of a method that would take this number of bytes.
func (l *loop) tooMuch(bytes int64, alternative string) error {
	return &MemoryError{Method: l.name, N: l.n, Bytes: bytes, Limit: l.opt.limit(), Alternative: alternative}
}

// denseBytes is the memory of some N×N arrays of float64.
func denseBytes(n, arrays int) int64 { return whole(8 * float64(arrays) * float64(n) * float64(n)) }

// perEntry is how many bytes each entry of E takes: 27 for those of two iterations,
// 7 for the rows they are made of, and the rest for arrays that were too small.
const perEntry = 48

// apBytes estimates the memory of AP with that number of entries in E.
func apBytes(n, k int, entries int64) int64 { return 64*int64(n)*int64(k+guard) + perEntry*entries }

// negativePart scans YYᵀ + shift within the memory limit, for a method that holds halves/2
// times as many bytes for each entry as AP. Beyond it the error is a *MemoryError.
func (l *loop) negativePart(ctx context.Context, sc *scanner, y blas64.General, shift float64, halves int64) (linalg.CSR, float64, error) {
	largest := max(1, (l.opt.limit()-apBytes(l.n, l.k, 0))/perEntry)
	e, sum, err := sc.negativePart(ctx, y, shift, max(1, largest*2/halves), l.opt.Workers)
	if many, ok := errors.AsType[*tooDense](err); ok {
		err = l.tooMuch(apBytes(l.n, l.k, many.entries*halves/2), "LR{} or ENN{}")
	}
	return e, sum, err
}

// eigenBytes bounds the memory of an eigenproblem for k pairs and of the iterates without
// E: at most 10K + 192 vectors, small arrays, and the scratch space of eight workers that
// scan for negative entries.
func eigenBytes(n, k int) float64 {
	N, K := float64(n), float64(k)
	return float64(8*N*(float64(10*K)+192)) + float64(900*(K+30)*(K+30)) + float64(8*900*N)
}

// whole converts a number of bytes, so that several of the largest can be added.
func whole(b float64) int64 { return int64(min(b, math.MaxInt64/8)) }
