//go:build !(amd64 || arm64) || noasm || purego

package linalg

// available returns the kernels this machine can run, the best one last.
func available() []*kernels { return []*kernels{&generic} }
