package estep

import (
	"math"
	"sync"
	"unsafe"
)

var generic = kernel{"generic", 1, runGeneric, gather, scatter}

func runGeneric(a *args) {
	k, stride := a.k, a.stride/4
	words := unsafe.Slice(a.words, a.n)
	counts, z, left := unsafe.Slice(a.counts, a.n), unsafe.Slice(a.z, a.n), unsafe.Slice(a.left, a.n)
	row := func(m *float32, w int32) []float32 {
		return unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(m), 4*stride*int(w))), k)
	}
	t := row(a.t, 0)
	var g []float32
	if a.g != nil {
		g = row(a.g, 0)
	}
	var prior []float32
	if a.prior != nil {
		prior = row(a.prior, 0)
	}
	for i, w := range words {
		b := row(a.b, w)
		var s, r float32
		if Form(a.mode) != LeaveLast {
			z[i] = dot(t, b)
			r = 1 / max(z[i], a.least)
		}
		if a.mode == score {
			continue
		}
		out := unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(a.out), a.width*i)), k)
		switch Form(a.mode) {
		case Plain:
			r *= counts[i]
			if a.sums == nil {
				addScaled(g, r, b)
			} else {
				plainSums(g, row(a.sums, w), t, b, r)
			}
			continue
		case LeaveDocument:
			s = leaveDocument(out, t, b, prior, r)
		case LeaveLast:
			s = leaveLast(out, t, b, prior, min(counts[i], a.token)/max(left[i], a.least))
		}
		left[i] = s
		if a.g == nil {
			continue
		}
		r = counts[i] / max(s, a.least)
		if a.sums == nil {
			addScaled(g, r, out)
		} else {
			addBoth(g, row(a.sums, w), r, out)
		}
	}
}

// dot has four sums, because one would wait for each addition.
func dot(x, y []float32) float32 {
	var s0, s1, s2, s3 float32
	for len(x) >= 4 && len(y) >= 4 {
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		s0 += v * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func addScaled(g []float32, r float32, x []float32) {
	g = g[:len(x)]
	for i, v := range x {
		g[i] += r * v
	}
}

func addBoth(g, sums []float32, r float32, x []float32) {
	g, sums = g[:len(x)], sums[:len(x)]
	for i, v := range x {
		v *= r
		g[i] += v
		sums[i] += v
	}
}

func plainSums(g, sums, t, b []float32, r float32) {
	g, sums, t = g[:len(b)], sums[:len(b)], t[:len(b)]
	for i, v := range b {
		v *= r
		g[i] += v
		sums[i] += v * t[i]
	}
}

func leaveDocument(out, t, b, prior []float32, q float32) float32 {
	out, t, prior = out[:len(b)], t[:len(b)], prior[:len(b)]
	var s0, s1 float32
	for i, v := range b {
		x := t[i] * (1 - v*q)
		if x < prior[i] {
			x = prior[i]
		}
		x *= v
		out[i] = x
		s0, s1 = s1, s0+x // two sums, in turn
	}
	return s0 + s1
}

// leaveLast has four sums, as dot has.
func leaveLast(out, t, b, prior []float32, q float32) float32 {
	var s0, s1, s2, s3 float32
	one := func(out *float32, t, b, prior float32) float32 {
		x := t - *out*q
		if x < prior {
			x = prior
		}
		x *= b
		*out = x
		return x
	}
	for len(b) >= 4 && len(out) >= 4 && len(t) >= 4 && len(prior) >= 4 {
		s0 += one(&out[0], t[0], b[0], prior[0])
		s1 += one(&out[1], t[1], b[1], prior[1])
		s2 += one(&out[2], t[2], b[2], prior[2])
		s3 += one(&out[3], t[3], b[3], prior[3])
		out, t, b, prior = out[4:], t[4:], b[4:], prior[4:]
	}
	for i, v := range b {
		s0 += one(&out[i], t[i], v, prior[i])
	}
	return (s0 + s1) + (s2 + s3)
}

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
