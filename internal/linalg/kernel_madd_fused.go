//go:build arm64 || ppc64le || riscv64 || s390x

package linalg

import "math"

// fusedMadd is true because math.FMA is a single instruction on every machine.
const fusedMadd = true

// madd returns s + x·y.
func madd(s, x, y float64) float64 { return math.FMA(x, y, s) }
