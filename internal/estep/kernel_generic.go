package estep

import (
	"math"
	"sync"
	"unsafe"

	"github.com/jsmf-go/spectral/internal/arith"
)

var generic = kernel{"generic", 4, runGeneric, gather, scatter}

func runGeneric(a *args) {
	k, stride := a.width/4, a.stride/4
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
		var s float32
		if Form(a.mode) != LeaveLast {
			z[i] = dot(t, b)
		}
		if a.mode == score {
			continue
		}
		out := unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(a.out), a.width*i)), k)
		switch Form(a.mode) {
		case Plain:
			r := counts[i] / max(z[i], a.least)
			if a.sums == nil {
				addScaled(g, r, b)
			} else {
				plainSums(g, row(a.sums, w), t, b, r)
			}
			continue
		case LeaveDocument:
			s = leaveDocument(out, t, b, prior, 1/max(z[i], a.least))
		case LeaveLast:
			s = leaveLast(out, t, b, prior, min(counts[i], a.token)/max(left[i], a.least))
		}
		left[i] = s
		if a.g == nil {
			continue
		}
		r := counts[i] / max(s, a.least)
		if a.sums == nil {
			addScaled(g, r, out)
		} else {
			addBoth(g, row(a.sums, w), r, out)
		}
	}
}

// lanes4 are four of the sixteen sums that a sum over topics is: number i of them is over the topics
// i, i+16, …. One sum would wait for each addition.
type lanes4 = [4]float32

// total adds up sixteen sums, the upper half to the lower, and so on.
func total(s *[lanes / 4]lanes4) float32 {
	var x lanes4
	for i := range x {
		x[i] = (s[0][i] + s[2][i]) + (s[1][i] + s[3][i])
	}
	return (x[0] + x[2]) + (x[1] + x[3])
}

func dot(x, y []float32) float32 {
	var sums [lanes / 4]lanes4
	for l := range sums {
		var s0, s1, s2, s3 float32
		for i := 4 * l; i+4 <= len(x) && i+4 <= len(y); i += lanes {
			x, y := (*lanes4)(x[i:]), (*lanes4)(y[i:])
			s0 += float32(x[0] * y[0])
			s1 += float32(x[1] * y[1])
			s2 += float32(x[2] * y[2])
			s3 += float32(x[3] * y[3])
		}
		sums[l] = lanes4{s0, s1, s2, s3}
	}
	return total(&sums)
}

func addScaled(g []float32, r float32, x []float32) {
	g = g[:len(x)]
	for i, v := range x {
		g[i] += float32(r * v)
	}
}

func addBoth(g, sums []float32, r float32, x []float32) {
	g, sums = g[:len(x)], sums[:len(x)]
	for i, v := range x {
		v = float32(v * r)
		g[i] += v
		sums[i] += v
	}
}

func plainSums(g, sums, t, b []float32, r float32) {
	g, sums, t = g[:len(b)], sums[:len(b)], t[:len(b)]
	for i, v := range b {
		v = float32(v * r)
		g[i] += v
		sums[i] += float32(v * t[i])
	}
}

func leaveDocument(out, t, b, prior []float32, q float32) float32 {
	var sums [lanes / 4]lanes4
	for l := range sums {
		var s lanes4
		for i := 4 * l; i+4 <= len(b); i += lanes {
			out, t, b, prior := (*lanes4)(out[i:]), (*lanes4)(t[i:]), (*lanes4)(b[i:]), (*lanes4)(prior[i:])
			s[0] += one(&out[0], t[0]*(1-float32(b[0]*q)), b[0], prior[0])
			s[1] += one(&out[1], t[1]*(1-float32(b[1]*q)), b[1], prior[1])
			s[2] += one(&out[2], t[2]*(1-float32(b[2]*q)), b[2], prior[2])
			s[3] += one(&out[3], t[3]*(1-float32(b[3]*q)), b[3], prior[3])
		}
		sums[l] = s
	}
	return total(&sums)
}

func leaveLast(out, t, b, prior []float32, q float32) float32 {
	var sums [lanes / 4]lanes4
	for l := range sums {
		var s lanes4
		for i := 4 * l; i+4 <= len(b); i += lanes {
			out, t, b, prior := (*lanes4)(out[i:]), (*lanes4)(t[i:]), (*lanes4)(b[i:]), (*lanes4)(prior[i:])
			s[0] += one(&out[0], t[0]-float32(out[0]*q), b[0], prior[0])
			s[1] += one(&out[1], t[1]-float32(out[1]*q), b[1], prior[1])
			s[2] += one(&out[2], t[2]-float32(out[2]*q), b[2], prior[2])
			s[3] += one(&out[3], t[3]-float32(out[3]*q), b[3], prior[3])
		}
		sums[l] = s
	}
	return total(&sums)
}

// one sets out to x·b, or to prior·b where x is not above prior, as −0 and NaN are not, and returns it.
func one(out *float32, x, b, prior float32) float32 {
	if !(x > prior) {
		x = prior
	}
	x = float32(x * b)
	*out = x
	return x
}

// logTable has, for the i-th of its parts of [1, 2), the reciprocal of a number in its
// middle and that number's logarithm.
type logTable [1 << logBits]struct{ inverse, log float64 }

const logBits = 7

var logs = sync.OnceValue(func() *logTable {
	var t logTable
	for i := range t {
		c := 1 + float64((float64(i)+0.5)/(1<<logBits))
		t[i].inverse = 1 / c
		t[i].log = -arith.Log(t[i].inverse)
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
		p := float64(r * (1 - float64(r*(1./2-float64(r*(1./3-float64(r*(1./4-float64(r*(1./5))))))))))
		sum += float64(float64(x[i]) * (float64(e*math.Ln2) + c.log + p))
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
