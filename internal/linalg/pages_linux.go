package linalg

import (
	"syscall"
	"unsafe"
)

// largePages asks the kernel for large pages for memory of which rows are read in no order: small ones of
// hundreds of megabytes cost a look into the page table for nearly every row. It is advice, and kernels
// without them refuse it.
func largePages(p unsafe.Pointer, size uintptr) {
	const page, least = 2 << 20, 64 << 20
	if size >= least {
		skip := -uintptr(p) % page
		_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), (size-skip)/page*page), syscall.MADV_HUGEPAGE)
	}
}
