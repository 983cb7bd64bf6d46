package simplex

import (
	"fmt"
	"math"
)

// Project sets dst to the point of the simplex {y : y ≥ 0, Σy = 1} nearest to v in the
// Euclidean norm: y = max(v − τ, 0) with the τ for which Σy = 1. dst and v have the same
// length K ≥ 1 and may be the same slice. v must be finite, else the result is not.
//
// It is exact to rounding: the set of positive entries is found by Michelot's finite scheme
// (drop what is at or below the running τ, repeat), begun with the entries above max v − 1.
// A point of the simplex is returned as it is, bit for bit. O(K) in practice, O(K²) at worst.
// It panics if the lengths differ or are 0.
func Project(dst, v []float64) {
	if len(dst) != len(v) || len(v) == 0 {
		panic(fmt.Sprintf("simplex: Project: lengths %d and %d, must be equal and at least 1", len(dst), len(v)))
	}
	top, low, sum := v[0], v[0], 0.0
	for _, x := range v {
		top = max(top, x)
		low = min(low, x)
		sum += x
	}
	if low >= 0 && math.Abs(sum-1) <= 2*float64(len(v))*eps {
		copy(dst, v)
		return
	}
	// Entries relative to the largest: those that count are in (−1, 0], so
	// that no accuracy is lost where v is large.
	m, s := 0, 0.0
	for i, x := range v {
		x -= top
		dst[i] = x
		if x > -1 {
			m++
			s += x
		}
	}
	tau := (s - 1) / float64(m)
	for {
		n := 0
		s = 0
		for _, x := range dst {
			if x > tau {
				n++
				s += x
			}
		}
		// The set only shrinks, except for rounding of τ, with which an entry
		// near it might come and go for ever.
		if n >= m {
			break
		}
		m = n
		tau = (s - 1) / float64(n)
	}
	sum = 0
	for i, x := range dst {
		x = max(x-tau, 0)
		dst[i] = x
		sum += x
	}
	// What rounding left of the sum is spread over the positive entries.
	d := (sum - 1) / float64(m)
	for i, x := range dst {
		if x > 0 {
			dst[i] = max(x-d, 0)
		}
	}
}
