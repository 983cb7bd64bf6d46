package estep

import (
	"math"
	"sync"
)

// logTable has, for the i-th of its parts of [1, 2), the reciprocal of a number in its
// middle and that number's logarithm.
type logTable [1 << logBits]struct{ inverse, log float64 }

const logBits = 7

var logs = sync.OnceValue(func() *logTable {
	var t logTable
	for i := range t {
		c := 1 + (float64(i)+0.5)/float64(len(t))
		t[i].inverse = 1 / c
		t[i].log = -math.Log(t[i].inverse)
	}
	return &t
})

// add returns sum + Σ x·ln z, and the index of a z below Least with x > 0, or −1. It is
// as exact as math.Log, whose branches and calls take longer than the sharing out.
func (t *logTable) add(sum float64, x, z []float32) (float64, int) {
	const bias = 127
	x = x[:len(z)]
	for i, v := range z {
		if !(v >= Least && v <= math.MaxFloat32) {
			if x[i] == 0 {
				continue
			}
			return sum, i
		}
		bits := math.Float32bits(v)
		e := float64(int32(bits>>23) - bias)
		m := math.Float64frombits(uint64(bits)<<29&(1<<52-1) | 1023<<52)
		c := &t[bits>>(23-logBits)&(1<<logBits-1)]
		r := float64(m*c.inverse) - 1 // below 2⁻⁸
		p := r * (1 - r*(1./2-r*(1./3-r*(1./4-r*(1./5)))))
		sum += float64(x[i]) * (e*math.Ln2 + c.log + p)
	}
	return sum, -1
}

// impossible returns the index of a z below Least with x > 0, or −1.
func impossible(x, z []float32) int {
	x = x[:len(z)]
	for i, v := range z {
		if !(v >= Least && v <= math.MaxFloat32) && x[i] != 0 {
			return i
		}
	}
	return -1
}
