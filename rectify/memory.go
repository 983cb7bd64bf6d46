package rectify

import (
	"errors"
	"fmt"
	"math"

	"github.com/jsmf-go/spectral/internal/bytesize"
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

// guardDense refuses to form so many N×N arrays where the limit does not allow it.
func (o Options) guardDense(method string, n, arrays int, alternative string) error {
	if b := denseBytes(n, arrays); b > o.limit() {
		return &MemoryError{Method: method, N: n, Bytes: b, Limit: o.limit(), Alternative: alternative}
	}
	return nil
}

// denseBytes is the memory of some N×N arrays of float64.
func denseBytes(n, arrays int) int64 { return whole(8 * float64(arrays) * float64(n) * float64(n)) }

// perEntry is how many bytes each entry of E takes: 27 for those of two iterations,
// 7 for the rows they are made of, and the rest for arrays that were too small.
const perEntry = 48

// apBytes estimates the memory of AP with so many entries in E.
func apBytes(n, k int, entries int64) int64 { return 64*int64(n)*int64(k+guard) + perEntry*entries }

// mostEntries is how many entries E may have within the limit, at least 1.
func (o Options) mostEntries(n, k int) int64 {
	return max(1, (o.limit()-apBytes(n, k, 0))/perEntry)
}

// refused turns a *tooDense into a *MemoryError.
func (o Options) refused(err error, method string, n, k int) error {
	if d := (*tooDense)(nil); errors.As(err, &d) {
		return &MemoryError{Method: method, N: n, Bytes: apBytes(n, k, d.entries), Limit: o.limit(), Alternative: "LR{} or ENN{}"}
	}
	return err
}

// eigenBytes bounds the memory of an eigenproblem for k pairs and of the iterates
// beside it, without E: at most 10K + 192 vectors, small arrays, and the scratch
// space of eight workers that scan for negative entries. If o asks for a State, that
// is included.
func (o Options) eigenBytes(n, k int) float64 {
	N, K := float64(n), float64(k)
	b := 8*N*(10*K+192) + 900*(K+30)*(K+30) + 8*900*N
	if o.Keep || o.From != nil {
		b += 8 * N * (4*K + 100)
	}
	return b
}

// whole converts a number of bytes; several of the largest can be added.
func whole(b float64) int64 { return int64(min(b, math.MaxInt64/8)) }
