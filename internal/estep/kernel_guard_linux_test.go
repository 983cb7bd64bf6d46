package estep

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// TestKernelsStayInBounds runs everything on operands that end, or begin, at a page
// that may not be touched.
func TestKernelsStayInBounds(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernel) {
		rnd := rand.New(rand.NewPCG(16, 17))
		for _, end := range []bool{true, false} {
			for _, k := range []int{1, 16, 50, 113} {
				for _, words := range []int{1, 5, 19} {
					for _, f := range forms {
						p := newProblem(rnd, 19, k, words, f.form, f.sums)
						p.B.Data = testutil.GuardedCopy(t, p.B.Data, end)
						if f.sums {
							p.Sums.Data = testutil.GuardedCopy(t, p.Sums.Data, end)
						}
						p.words, p.counts = testutil.GuardedCopy(t, p.words, end), testutil.GuardedCopy(t, p.counts, end)
						p.Floor = testutil.GuardedCopy(t, p.Floor, end)
						w := newWorker(k, kr)
						w.T, w.N, w.out = testutil.GuardedCopy(t, w.T, end), testutil.GuardedCopy(t, w.N, end), testutil.GuardedCopy(t, w.out, end)
						w.z, w.left = testutil.GuardedCopy(t, w.z, end), testutil.GuardedCopy(t, w.left, end)
						p.check(t, fmt.Sprintf("%s, K=%d, %d words, end %v", f.name, k, words, end), w, 3e-6)
					}
					for _, sums := range []bool{false, true} {
						p := newLast(rnd, 19, k, words, sums)
						p.B.Data = testutil.GuardedCopy(t, p.B.Data, end)
						if sums {
							p.Sums.Data = testutil.GuardedCopy(t, p.Sums.Data, end)
						}
						p.words, p.counts, p.Floor = testutil.GuardedCopy(t, p.words, end), testutil.GuardedCopy(t, p.counts, end), testutil.GuardedCopy(t, p.Floor, end)
						w := newWorker(k, kr)
						w.T, w.N, w.left = testutil.GuardedCopy(t, w.T, end), testutil.GuardedCopy(t, w.N, end), testutil.GuardedCopy(t, w.left, end)
						w.Keep(words)
						w.kept, w.sums = testutil.GuardedCopy(t, w.kept, end), testutil.GuardedCopy(t, w.sums, end)
						p.checkLast(t, fmt.Sprintf("leave-last, K=%d, %d words, end %v", k, words, end), w, 3e-6)
					}
				}
			}
		}
	})
}
