package estep

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns a copy of s between two pages that may not be touched: flush with
// the end, or with the beginning. Reading or writing one element too far ends the
// test process.
func guarded[T float32 | int32](t testing.TB, s []T, end bool) []T {
	t.Helper()
	page := syscall.Getpagesize()
	size := len(s) * int(unsafe.Sizeof(s[0]))
	body := (size + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, body+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("skipped: no memory map: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	for _, off := range []int{0, page + body} {
		if err := syscall.Mprotect(mem[off:off+page], syscall.PROT_NONE); err != nil {
			t.Skipf("skipped: no guard pages: %v", err)
		}
	}
	start := page
	if end {
		start += body - size
	}
	d := unsafe.Slice((*T)(unsafe.Pointer(&mem[start])), len(s))
	copy(d, s)
	return d
}

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
						p.B.Data = guarded(t, p.B.Data, end)
						if f.sums {
							p.Sums.Data = guarded(t, p.Sums.Data, end)
						}
						p.words, p.counts = guarded(t, p.words, end), guarded(t, p.counts, end)
						p.Floor, p.Totals = guarded(t, p.Floor, end), guarded(t, p.Totals, end)
						w := newWorker(k, kr)
						w.T, w.N, w.out = guarded(t, w.T, end), guarded(t, w.N, end), guarded(t, w.out, end)
						w.z, w.left = guarded(t, w.z, end), guarded(t, w.left, end)
						p.check(t, fmt.Sprintf("%s, K=%d, %d words, end %v", f.name, k, words, end), w, 3e-6)
					}
					for _, sums := range []bool{false, true} {
						p := newLast(rnd, 19, k, words, sums)
						p.B.Data = guarded(t, p.B.Data, end)
						if sums {
							p.Sums.Data = guarded(t, p.Sums.Data, end)
						}
						p.words, p.counts, p.Floor = guarded(t, p.words, end), guarded(t, p.counts, end), guarded(t, p.Floor, end)
						w := newWorker(k, kr)
						w.T, w.N, w.left = guarded(t, w.T, end), guarded(t, w.N, end), guarded(t, w.left, end)
						w.Keep(words)
						w.kept, w.sums = guarded(t, w.kept, end), guarded(t, w.sums, end)
						p.checkLast(t, fmt.Sprintf("leave-last, K=%d, %d words, end %v", k, words, end), w, 3e-6)
					}
				}
			}
		}
	})
}
