package scls

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// mul sets c = a·b for the first m rows of a and c (m×K, rows without gaps),
// and K×K b. It runs on the calling goroutine, one of many already, and for
// microseconds, so it needs no context of the caller's.
func mul(c, a, b []float64, m, k int) {
	// The error is ctx's alone, and the background never ends.
	_ = linalg.Gemm(context.Background(), blas.NoTrans, blas.NoTrans, 1,
		blas64.General{Rows: m, Cols: k, Stride: k, Data: a},
		blas64.General{Rows: k, Cols: k, Stride: k, Data: b},
		0,
		blas64.General{Rows: m, Cols: k, Stride: k, Data: c}, 1)
}
