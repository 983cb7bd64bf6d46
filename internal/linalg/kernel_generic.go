package linalg

import "math"

// generic is the implementation in Go.
var generic = kernels{
	name: "generic",
	tile: tileGeneric,
	scan: scanGeneric,
	spmm: spmmGeneric,
	spmv: spmvGeneric,
	dots: dotsGeneric,

	packCols: packColsGeneric,
}

// combine is the last step of a tile: alpha·s + beta·c.
func combine(alpha, s, beta, c float64) float64 {
	if beta == 0 {
		return alpha * s
	}
	return math.FMA(beta, c, alpha*s)
}

func tileGeneric(k int, a []float64, rs, ks int, b []float64, bs, nb, last int, c []float64, ldc int, alpha, beta float64) {
	for q := range nb {
		cols := panel
		if q == nb-1 {
			cols = last
		}
		for j := 0; j < cols; j += 4 {
			w := min(4, cols-j)
			for r := 0; r < panel; r += 2 {
				// Eight sums are what the registers of amd64 hold.
				var s [2][4]float64
				s[0], s[1] = dot2x4(k, a[r*rs:], a[(r+1)*rs:], ks, b[q*bs+j:])
				for h := range 2 {
					row := c[(r+h)*ldc+q*panel+j:][:w]
					for t := range row {
						row[t] = combine(alpha, s[h][t], beta, row[t])
					}
				}
			}
		}
	}
}

// dot2x4 returns the sums of products of two rows with four columns of a panel.
func dot2x4(k int, a0, a1 []float64, ks int, b []float64) (r0, r1 [4]float64) {
	var s00, s01, s02, s03, s10, s11, s12, s13 float64
	a0, a1 = a0[:(k-1)*ks+1], a1[:(k-1)*ks+1]
	b = b[:(k-1)*panel+4]
	i := 0
	for o := 0; o+4 <= len(b); o += panel {
		y := (*[4]float64)(b[o : o+4])
		x := a0[i]
		s00 = math.FMA(x, y[0], s00)
		s01 = math.FMA(x, y[1], s01)
		s02 = math.FMA(x, y[2], s02)
		s03 = math.FMA(x, y[3], s03)
		x = a1[i]
		s10 = math.FMA(x, y[0], s10)
		s11 = math.FMA(x, y[1], s11)
		s12 = math.FMA(x, y[2], s12)
		s13 = math.FMA(x, y[3], s13)
		i += ks
	}
	return [4]float64{s00, s01, s02, s03}, [4]float64{s10, s11, s12, s13}
}

func scanGeneric(k int, a, b []float64, thr float64, col0 int, st *stage, row0 int) {
	var t [tileSize]float64
	tileGeneric(k, a, 1, panel, b, k*panel, 3, panel, t[:], tileCols, 1, 0)
	for r := range panel {
		for j, v := range t[r*tileCols : (r+1)*tileCols] {
			if v < thr {
				st.push(row0+r, col0+j, v)
			}
		}
	}
}

func spmmGeneric(n int, rowPtr []int, cols []int32, vals, x []float64, xs int, dst []float64, ds, p, lo, hi int, accumulate bool) int {
	for i := lo; i < hi; i++ {
		from, to := rowPtr[i], rowPtr[i+1]
		cs, vs := cols[from:to], vals[from:to]
		for t, c := range cs {
			if uint32(c) >= uint32(n) {
				return from + t
			}
		}
		d := dst[i*ds:][:p]
		j := 0
		for ; j+8 <= p; j += 8 {
			var s0, s1, s2, s3, s4, s5, s6, s7 float64
			for t, c := range cs {
				v := vs[t]
				o := int(c)*xs + j
				y := (*[8]float64)(x[o : o+8])
				s0 = math.FMA(v, y[0], s0)
				s1 = math.FMA(v, y[1], s1)
				s2 = math.FMA(v, y[2], s2)
				s3 = math.FMA(v, y[3], s3)
				s4 = math.FMA(v, y[4], s4)
				s5 = math.FMA(v, y[5], s5)
				s6 = math.FMA(v, y[6], s6)
				s7 = math.FMA(v, y[7], s7)
			}
			put(d[j:j+8], []float64{s0, s1, s2, s3, s4, s5, s6, s7}, accumulate)
		}
		for ; j < p; j++ {
			s := 0.0
			for t, c := range cs {
				s = math.FMA(vs[t], x[int(c)*xs+j], s)
			}
			put(d[j:j+1], []float64{s}, accumulate)
		}
	}
	return -1
}

func spmvGeneric(n int, rowPtr []int, cols []int32, vals, x []float64, xs int, dst []float64, ds, lo, hi int, accumulate bool) int {
	for i := lo; i < hi; i++ {
		from, to := rowPtr[i], rowPtr[i+1]
		cs, vs := cols[from:to], vals[from:to]
		for t, c := range cs {
			if uint32(c) >= uint32(n) {
				return from + t
			}
		}
		// One chain of additions would wait for each of them, hence eight.
		var s0, s1, s2, s3, s4, s5, s6, s7 float64
		for len(cs) >= 8 && len(vs) >= 8 {
			s0 = math.FMA(vs[0], x[int(cs[0])*xs], s0)
			s1 = math.FMA(vs[1], x[int(cs[1])*xs], s1)
			s2 = math.FMA(vs[2], x[int(cs[2])*xs], s2)
			s3 = math.FMA(vs[3], x[int(cs[3])*xs], s3)
			s4 = math.FMA(vs[4], x[int(cs[4])*xs], s4)
			s5 = math.FMA(vs[5], x[int(cs[5])*xs], s5)
			s6 = math.FMA(vs[6], x[int(cs[6])*xs], s6)
			s7 = math.FMA(vs[7], x[int(cs[7])*xs], s7)
			cs, vs = cs[8:], vs[8:]
		}
		s := [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
		for t, c := range cs {
			s[t&7] = math.FMA(vs[t], x[int(c)*xs], s[t&7])
		}
		sum := sum8(&s)
		if accumulate {
			sum += dst[i*ds]
		}
		dst[i*ds] = sum
	}
	return -1
}

func dotsGeneric(k int, a []float64, rs int, x []float64, y *[panel]float64) {
	x = x[:k]
	for r := range y {
		v, w := a[r*rs:][:k], x
		var s0, s1, s2, s3, s4, s5, s6, s7 float64
		for len(v) >= 8 && len(w) >= 8 {
			s0 = math.FMA(v[0], w[0], s0)
			s1 = math.FMA(v[1], w[1], s1)
			s2 = math.FMA(v[2], w[2], s2)
			s3 = math.FMA(v[3], w[3], s3)
			s4 = math.FMA(v[4], w[4], s4)
			s5 = math.FMA(v[5], w[5], s5)
			s6 = math.FMA(v[6], w[6], s6)
			s7 = math.FMA(v[7], w[7], s7)
			v, w = v[8:], w[8:]
		}
		s := [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
		for t, e := range v {
			s[t&7] = math.FMA(e, w[t], s[t&7])
		}
		y[r] = sum8(&s)
	}
}

// sum8 adds up in the order of halving a vector.
func sum8(s *[8]float64) float64 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

func put(dst, s []float64, accumulate bool) {
	if !accumulate {
		copy(dst, s)
		return
	}
	for j, v := range s {
		dst[j] += v
	}
}
