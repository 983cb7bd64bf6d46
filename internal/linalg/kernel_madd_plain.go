//go:build !(arm64 || ppc64le || riscv64 || s390x)

package linalg

// fusedMadd is false because math.FMA may be emulated, slowly.
const fusedMadd = false

// madd returns s + x·y. The conversion keeps the compiler from fusing in some
// places and not in others.
func madd(s, x, y float64) float64 { return s + float64(x*y) }
