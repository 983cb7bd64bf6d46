//go:build !amd64 || noasm || purego

package sums

var kernels = map[string]kernelFunc{"generic": addGeneric}
