//go:build amd64 && !noasm && !purego

package sums

// kernels are all implementations, whether or not this machine can run them.
var kernels = map[string]kernelFunc{"generic": addGeneric, "avx2": inVectors(4, add256), "avx512": inVectors(8, add512)}

// add256 adds n numbers, a multiple of 4 above 0.
//
//go:noescape
func add256(sum *int64, x *float32, n int, scale float32, next *int64)

// add512 adds n numbers, a multiple of 8 above 0.
//
//go:noescape
func add512(sum *int64, x *float32, n int, scale float32, next *int64)
