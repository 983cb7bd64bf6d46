package rectify

import (
	"fmt"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// DefaultMemoryLimit is how many bytes a method that forms N×N arrays may ask
// for where its MemoryLimit is 0: 4 GiB.
const DefaultMemoryLimit int64 = 4 << 30

// MemoryError says that a method was refused because the N×N arrays it needs
// would take more than the limit. Nothing has been allocated.
type MemoryError struct {
	Method       string
	N            int
	Bytes, Limit int64  // the estimate, and what it may be at most
	Alternative  string // what to use instead
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("N×N arrays for N = %d words would take %s, more than the limit of %s; use %s, or raise the limit",
		e.N, byteString(e.Bytes), byteString(e.Limit), e.Alternative)
}

// byteString writes a number of bytes exactly where it is small and with the
// bytes behind it where not.
func byteString(b int64) string {
	if b < 1<<20 && b > -1<<20 {
		return fmt.Sprintf("%d bytes", b)
	}
	unit, name := float64(1<<20), "MiB"
	if b >= 1<<30 {
		unit, name = 1<<30, "GiB"
	}
	return fmt.Sprintf("%.4g %s (%d bytes)", float64(b)/unit, name, b)
}

// denseBytes is the memory of some N×N arrays of doubles; MaxInt64 where it
// does not fit in 64 bits.
func denseBytes(n, arrays int) int64 {
	const most = 1<<63 - 1
	if n > 0 && arrays > 0 && int64(n) > most/8/int64(arrays)/int64(n) {
		return most
	}
	return 8 * int64(n) * int64(n) * int64(arrays)
}

// guardDense refuses a method that would form so many N×N arrays at a time, with
// a *MemoryError. A limit of 0 is DefaultMemoryLimit.
func guardDense(method string, n, arrays int, limit int64, alternative string) error {
	if limit == 0 {
		limit = DefaultMemoryLimit
	}
	if b := denseBytes(n, arrays); b > limit {
		return &MemoryError{Method: method, N: n, Bytes: b, Limit: limit, Alternative: alternative}
	}
	return nil
}

// PassesError says that a method was refused because it asks for single rows of a
// matrix that has none at hand: each would take a pass over the documents
// (cooc.Stream).
type PassesError struct {
	Method      string
	Passes      int    // about as many as there are rows
	Alternative string // what to use instead
}

func (e *PassesError) Error() string {
	return fmt.Sprintf("the rows of the matrix are needed one by one, and each would take a pass over the documents, about %d in all; use %s", e.Passes, e.Alternative)
}

// guardRows refuses a method that asks for rows where they are not at hand, with a
// *PassesError.
func guardRows(method string, c cooc.Matrix, alternative string) error {
	if _, ok := c.(*cooc.Stream); ok {
		return &PassesError{Method: method, Passes: c.Dim(), Alternative: alternative}
	}
	return nil
}
