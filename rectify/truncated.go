package rectify

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// TruncatedEig keeps the K algebraically largest eigenpairs of C, negative
// eigenvalues clipped: C* = U·Λ⁺·Uᵀ, as a [*cooc.LowRankSparse] YYᵀ. [AP], [ENN] and [PALM]
// start from it. The result has negative entries, and its sum is not 1. It costs one
// cold eigenproblem.
type TruncatedEig struct {
	// EigenTol bounds the residuals of eigenpairs as for AP; 0 means 1e-5.
	EigenTol float64
}

func (e TruncatedEig) settings() settings {
	return settings{name: "TruncatedEig", eigenTol: cmp.Or(e.EigenTol, 1e-5)}
}

func (e TruncatedEig) String() string { return "TruncatedEig(" + e.settings().eigen() + ")" }

// Validate reports settings out of range.
func (e TruncatedEig) Validate() error { return e.settings().validate() }

// Rectify implements Rectifier. Changes is empty. Errors are those of [ENN].
func (e TruncatedEig) Rectify(ctx context.Context, c cooc.Operator, k int, opt Options) (*Result, error) {
	l, err := newLoop(c, k, opt, e)
	if err != nil {
		return nil, err
	}
	if err := l.truncate(ctx); err != nil {
		return nil, fmt.Errorf("rectify: TruncatedEig: %w", err)
	}
	return l.res, nil
}

func (l *loop) truncate(ctx context.Context) error {
	if err := l.next(ctx, 1); err != nil {
		return err
	}
	if v := l.theta()[0]; !(v > 0) {
		return fmt.Errorf("the largest eigenvalue is %.6g: there is nothing to keep", v)
	}
	l.res.Iterations, l.res.Eigenvalues = 1, slices.Clone(l.theta())
	return l.lowRank(l.y(blas64.General{}))
}

func (e TruncatedEig) bytes(n, k int, opt Options) int64 { return whole(eigenBytes(n, k)) }
