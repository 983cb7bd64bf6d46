package linalg

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/blas/blas64"
)

// Op applies a symmetric operator to a block of vectors: dst = A·x, both n×p.
type Op func(ctx context.Context, dst, x blas64.General) error

// EigStats describes a computation of eigenpairs.
type EigStats struct {
	Products  int     // columns multiplied by the operator
	Restarts  int     // of Lanczos; steps of the block iteration; passes of Krylov
	Residual  float64 // the largest ‖Au − λu‖ of the pairs asked for
	Converged bool
}

// ErrNonFinite is returned if a result of the operator is NaN or infinite.
var ErrNonFinite = errors.New("linalg: the operator returned a number that is not finite")

// symmetrise replaces a by (a + aᵀ)/2.
func symmetrise(a blas64.General) {
	for i := range a.Rows {
		for j := range i {
			v := 0.5 * (a.Data[i*a.Stride+j] + a.Data[j*a.Stride+i])
			a.Data[i*a.Stride+j], a.Data[j*a.Stride+i] = v, v
		}
	}
}
