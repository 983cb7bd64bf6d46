package parallel_test

import (
	"context"
	"fmt"

	"github.com/jsmf-go/spectral/internal/parallel"
)

// Chunks do not depend on the workers, and sums merged in their order give the
// same bits from any number of them.
func ExampleChunks() {
	x := make([]float64, 1000)
	for i := range x {
		x[i] = 1 / float64(i+1)
	}
	parts := make([]float64, parallel.Count(len(x), 64))
	err := parallel.Chunks(context.Background(), len(x), 64, 4, func(_, chunk, lo, hi int) error {
		for _, v := range x[lo:hi] {
			parts[chunk] += v
		}
		return nil
	})
	sum := 0.0
	for _, p := range parts {
		sum += p
	}
	fmt.Printf("%d chunks, sum %.6f, error %v\n", len(parts), sum, err)
	// Output:
	// 16 chunks, sum 7.485471, error <nil>
}
