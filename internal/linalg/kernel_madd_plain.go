//go:build !(arm64 || ppc64le || riscv64 || s390x)

package linalg

// fusedMadd: without a fused instruction on every machine of the architecture,
// math.FMA may be a slow emulation.
const fusedMadd = false

// madd returns s + x·y. The conversion forbids the compiler to fuse: it would do
// so in some places and not in others.
func madd(s, x, y float64) float64 { return s + float64(x*y) }
