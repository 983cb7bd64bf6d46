package sums

import (
	"math"
	"sync"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// addNearest adds to each number of a sum the whole number nearest to x·scale, whose product is
// rounded to float32 before, and is not below zero or above most. next is the number that
// a later call begins with, or any other; it is fetched ahead.
func addNearest(sum []int64, x []float32, scale, most float32, next *int64) {
	if len(sum) == 0 {
		return
	}
	x = x[:len(sum)]
	if most < exact {
		kernel()(sum, x, scale, next)
		return
	}
	for i, v := range x {
		sum[i] += nearest(float64(v * scale))
	}
}

// kernelFunc is addNearest for products below exact. All give the same bits.
type kernelFunc = func(sum []int64, x []float32, scale float32, next *int64)

func addGeneric(sum []int64, x []float32, scale float32, next *int64) {
	x = x[:len(sum)]
	for i, v := range x {
		sum[i] += int64(math.Float64bits(float64(v*scale)+magic)) - int64(math.Float64bits(magic))
	}
}

// inVectors is add, which adds a multiple of lanes numbers, a power of 2, for any number of them.
func inVectors(lanes int, add func(sum *int64, x *float32, n int, scale float32, next *int64)) kernelFunc {
	return func(sum []int64, x []float32, scale float32, next *int64) {
		n := len(sum) &^ (lanes - 1)
		if n > 0 {
			add(&sum[0], &x[:len(sum)][0], n, scale, next)
		}
		addGeneric(sum[n:], x[n:], scale, nil)
	}
}

// kernel returns the kernel of the name that linalg has chosen.
var kernel = sync.OnceValue(func() kernelFunc {
	if k := kernels[linalg.KernelName()]; k != nil {
		return k
	}
	return addGeneric
})
