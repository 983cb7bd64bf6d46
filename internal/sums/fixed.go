package sums

import (
	"math"
	"math/bits"
)

// shift returns the largest number of bits behind the point for a sum of at most limit, so
// that it stays within an int64: limit·2^shift ≤ 2^62, which leaves a factor of 2 for the
// errors of rounding.
func shift(limit int64) int {
	if limit <= 1 {
		return 62
	}
	return 62 - bits.Len64(uint64(limit-1))
}

// nearest rounds to the nearest whole number, halves to the even one.
func nearest(x float64) int64 { return int64(math.RoundToEven(x)) }

// exact is 2^51. magic is so large that float64 numbers near it are whole: for x from
// −exact to exact, x + magic − magic is the whole number nearest to x.
const (
	exactBits = 51
	exact     = 1 << exactBits
	magic     = 3 << exactBits
)

// power returns 2^s.
func power(s int) float64 { return math.Ldexp(1, s) }

// unfix returns x·2^−s.
func unfix(x int64, s int) float64 { return math.Ldexp(float64(x), -s) }
