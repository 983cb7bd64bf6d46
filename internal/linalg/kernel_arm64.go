//go:build arm64 && !noasm && !purego

package linalg

import "golang.org/x/sys/cpu"

// name4 is the name of kernels4.
const name4 = "neon"

// available returns the kernels this machine can run and GODEBUG leaves on, the best
// one last.
func available() []*kernels {
	if !cpu.ARM64.HasASIMD {
		return []*kernels{&generic}
	}
	return []*kernels{&generic, &kernels4}
}
