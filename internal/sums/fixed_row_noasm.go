//go:build !(amd64 || arm64) || noasm || purego

package sums

var kernels = map[string]kernelFunc{"generic": addGeneric}
