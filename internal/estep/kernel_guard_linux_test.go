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

// TestUseStaysInBounds does the same with the first and the last block of columns.
func TestUseStaysInBounds(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernel) {
		rnd := rand.New(rand.NewPCG(51, 52))
		for _, end := range []bool{true, false} {
			for _, k := range []int{20, 50, 112} {
				for _, words := range []int{1, 5, 19, 33} {
					for _, f := range append(forms, struct {
						name string
						form Form
						sums bool
					}{"leave-last", LeaveLast, true}) {
						p := newProblem(rnd, 33, k, words, f.form, f.sums)
						blocks := []uint16{0, uint16(p.B.Stride/BlockSize - 1)}
						const size = 2 * BlockSize
						w := newWorker(k, kr)
						w.Use(blocks)
						w.Keep(words)
						copy(w.T, pick(p.t, blocks))
						p.Floor = testutil.GuardedCopy(t, pick(p.Floor, blocks), end)
						p.B.Data = testutil.GuardedCopy(t, p.B.Data, end)
						rows := block + min(words, block)
						if f.sums {
							p.Sums.Data = testutil.GuardedCopy(t, p.Sums.Data, end)
						}
						p.words, p.counts = testutil.GuardedCopy(t, p.words, end), testutil.GuardedCopy(t, p.counts, end)
						w.T, w.N, w.out = testutil.GuardedCopy(t, w.T, end), testutil.GuardedCopy(t, w.N, end), testutil.GuardedCopy(t, w.out[:block*size], end)
						w.z, w.left = testutil.GuardedCopy(t, w.z, end), testutil.GuardedCopy(t, w.left, end)
						w.kept, w.sums = testutil.GuardedCopy(t, w.kept, end), testutil.GuardedCopy(t, w.sums, end)
						w.columns = testutil.GuardedCopy(t, w.columns[:rows*size], end)
						w.offsets = testutil.GuardedCopy(t, w.offsets, end)
						if _, err := w.Step(&p.Step, p.words, p.counts); err != nil {
							t.Fatalf("%s, K=%d, %d words: %v", f.name, k, words, err)
						}
						tokens := float32(0)
						for _, v := range w.N {
							tokens += v
						}
						for _, x := range p.counts {
							tokens -= x
						}
						if !(tokens < 1e-3 && tokens > -1e-3) {
							t.Errorf("%s, K=%d, %d words: %v tokens too many", f.name, k, words, tokens)
						}
					}
				}
			}
		}
	})
}
