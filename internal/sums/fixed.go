package sums

import (
	"math"
	"math/bits"
)

// What a document adds to a number is a multiple of 2^−shift. The shift is chosen so that
// the whole sum stays within an int64: if most documents add at most 1 each, the sum is
// at most most·2^shift ≤ 2^62, which leaves a factor of 2 for the errors of rounding.

// shift returns the largest number of bits behind the point for a sum of at most most.
func shift(most int64) int {
	if most <= 1 {
		return 62
	}
	return 62 - bits.Len64(uint64(most-1))
}

// nearest rounds to the nearest whole number, and halves to the even one. Everything that
// is added to a sum is rounded so.
func nearest(x float64) int64 { return int64(math.RoundToEven(x)) }

// exact is 2^51. magic is so large that float64 numbers beside it are whole: for x from
// −exact to exact, x + magic − magic is the whole number nearest to x.
const (
	exactBits = 51
	exact     = 1 << exactBits
	magic     = 3 << exactBits
)

// powers holds 2^i.
var powers = func() (p [63]float64) {
	for i := range p {
		p[i] = float64(uint64(1) << i)
	}
	return p
}()
