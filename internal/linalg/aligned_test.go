package linalg

import (
	"testing"
	"unsafe"
)

// Memory begins at a cache line and is zero, also where large pages are asked for.
func TestAligned(t *testing.T) {
	for _, n := range []int{1, 100, 20 << 20} {
		x, y := Aligned[float32](n), Aligned[float64](n)
		if len(x) != n || len(y) != n || uintptr(unsafe.Pointer(&x[0]))%64 != 0 || uintptr(unsafe.Pointer(&y[0]))%64 != 0 {
			t.Errorf("%d numbers do not begin at a cache line", n)
		}
		for i := 0; i < n; i += max(1, n/1000) {
			if x[i] != 0 || y[i] != 0 {
				t.Fatalf("number %d of %d is not 0", i, n)
			}
		}
	}
}
