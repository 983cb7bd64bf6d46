package testutil

import (
	"runtime"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Stick returns the seconds of one product 5000×5000 · 5000×60 by gonum on one
// core, the least of three: the unit u in which benchmarks quote times, so that
// numbers from different machines can be compared.
func Stick() float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	general := func(r, c, m int) blas64.General {
		g := blas64.General{Rows: r, Cols: c, Stride: c, Data: make([]float64, r*c)}
		for i := range g.Data {
			g.Data[i] = float64(i%m - m/2)
		}
		return g
	}
	a, b, c := general(5000, 5000, 17), general(5000, 60, 13), general(5000, 60, 1)
	least := 0.0
	for range 3 {
		begun := time.Now()
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c)
		if s := time.Since(begun).Seconds(); least == 0 || s < least {
			least = s
		}
	}
	return least
}
