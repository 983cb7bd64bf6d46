package rectify_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

// few are all methods with n iterations, or one where an iteration is an eigenproblem
// from a cold start.
func few(n int) []rectify.Rectifier {
	return []rectify.Rectifier{
		rectify.AP{Iterations: n}, rectify.DR{Iterations: n}, rectify.DC{Halvings: 1}, rectify.ENN{Iterations: n}, rectify.ENN{Iterations: n, Rows: 100},
		rectify.LR{ENN: rectify.ENN{Iterations: n}}, rectify.PALM{Iterations: n}, rectify.TruncatedEig{}, rectify.None{}, rectify.Auto{AP: rectify.AP{Iterations: n}},
	}
}

// A method allocates no more than Bytes in its first iterations, and so holds no more
// at a time: later iterations use the same memory.
func TestBytesBounds(t *testing.T) {
	const n = 500
	d := newDense(t, noisy(rand.New(rand.NewPCG(12, 9)), n, 40))
	allocated := func(r rectify.Rectifier, k int, opt rectify.Options) int64 {
		return testutil.Allocated(t, func() {
			if _, err := r.Rectify(t.Context(), d, k, opt); err != nil {
				t.Fatalf("%v: %v", r, err)
			}
		})
	}
	for k, opt := range map[int]rectify.Options{5: {Workers: 2}, 30: {Workers: 3}} {
		for _, r := range few(2) {
			took, bound := allocated(r, k, opt), rectify.Bytes(r, n, k, opt)
			t.Logf("%v, K = %d: %.1f MB of %.1f", r, k, float64(took)/1e6, float64(bound)/1e6)
			if took > bound+4096 {
				t.Errorf("%v, K = %d: %d bytes were allocated, more than the bound %d", r, k, took, bound)
			}
		}
	}
}

// Bounds grow with all sizes and do not overflow.
func TestBytesGrow(t *testing.T) {
	for _, r := range few(3) {
		if r == (rectify.None{}) {
			continue
		}
		s := r
		b := rectify.Bytes(s, 3000, 30, rectify.Options{})
		if rectify.Bytes(s, 6000, 30, rectify.Options{}) <= b || rectify.Bytes(s, 3000, 60, rectify.Options{}) <= b {
			t.Errorf("%v: %d bytes, and no more for more", r, b)
		}
		if b := rectify.Bytes(s, math.MaxInt32, 50, rectify.Options{}); b < 1<<40 {
			t.Errorf("%v: %d bytes for the most words", r, b)
		}
	}
	// Auto needs no more than its limit allows.
	lr := rectify.Bytes(rectify.LR{}, 14000, 20, rectify.Options{})
	for _, limit := range []int64{1, 1 << 28, 1 << 30, 1 << 40} {
		b := rectify.Bytes(rectify.Auto{}, 14000, 20, rectify.Options{MemoryLimit: limit})
		if most := max(lr, min(limit, 1<<30)+1<<28); b > most {
			t.Errorf("Auto under %d: %d bytes, LR %d", limit, b, lr)
		}
	}
}
