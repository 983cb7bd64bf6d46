package testutil

import (
	"syscall"
	"testing"
	"unsafe"
)

// Guarded returns n elements between two pages that may not be touched: flush with the
// end, or with the beginning. Reading or writing one element too far ends the test
// process. T holds no pointers.
func Guarded[T float32 | float64 | int32 | int](t testing.TB, n int, end bool) []T {
	t.Helper()
	var zero T
	page := syscall.Getpagesize()
	size := n * int(unsafe.Sizeof(zero))
	body := (max(size, 1) + page - 1) / page * page
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
	if n == 0 {
		return nil
	}
	start := page
	if end {
		start += body - size
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&mem[start])), n)
}

// GuardedCopy returns a copy of s as Guarded places it.
func GuardedCopy[T float32 | float64 | int32 | int](t testing.TB, s []T, end bool) []T {
	t.Helper()
	d := Guarded[T](t, len(s), end)
	copy(d, s)
	return d
}
