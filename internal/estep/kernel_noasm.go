//go:build !(amd64 || arm64) || noasm || purego

package estep

var kernels = []*kernel{&generic}
