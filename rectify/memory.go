package rectify

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/bytesize"
	"github.com/jsmf-go/spectral/internal/linalg"
)

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
	return 8*N*(10*K+192) + 900*(K+30)*(K+30) + 8*900*N
}

// whole converts a number of bytes, so that several of the largest can be added.
func whole(b float64) int64 { return int64(min(b, math.MaxInt64/8)) }
