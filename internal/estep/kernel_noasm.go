//go:build !amd64 || noasm || purego

package estep

var kernels = []*kernel{&generic}
