//go:build arm64 && !noasm && !purego

package sums

// kernels are all implementations, whether or not this machine can run them.
var kernels = map[string]kernelFunc{"generic": addGeneric, "neon": inVectors(4, addNEON)}

// addNEON adds n numbers, a multiple of 4 above 0.
//
//go:noescape
func addNEON(sum *int64, x *float32, n int, scale float32, next *int64)
