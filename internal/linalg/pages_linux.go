package linalg

import (
	"syscall"
	"unsafe"
)

// largePages asks the kernel for large pages: where rows of a large matrix are read in no order, nearly each
// costs a look into the page table for a small one. It is advice, which a kernel may refuse.
func largePages(p unsafe.Pointer, size uintptr) {
	const page, least = 2 << 20, 16 << 20
	if size >= least {
		skip := -uintptr(p) % page
		_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), (size-skip)/page*page), syscall.MADV_HUGEPAGE)
	}
}
