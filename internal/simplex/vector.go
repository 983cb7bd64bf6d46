package simplex

// Gradient sets dst = Gy − f over the nonzero entries of y. idx is scratch of
// length K.
func Gradient(dst, g, f, y []float64, idx []int) {
	m := 0
	for i, v := range y {
		idx[m] = i
		if v != 0 {
			m++
		}
	}
	gradientOn(dst, g, f, y, idx[:m])
}

// gradientOn sets dst = Gy − f for a y whose nonzero entries are at idx, which are added up
// in this order.
func gradientOn(dst, g, f, y []float64, idx []int) {
	k := len(f)
	negate(dst, f)
	i := 0
	for ; i+3 < len(idx); i += 4 {
		a, b, c, d := idx[i], idx[i+1], idx[i+2], idx[i+3]
		axpy4(dst, y[a], g[a*k:], y[b], g[b*k:], y[c], g[c*k:], y[d], g[d*k:])
	}
	for _, a := range idx[i:] {
		axpy(dst, y[a], g[a*k:a*k+k])
	}
}

func negate(dst, x []float64) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = -x[i]
	}
}

// axpy4 adds a·ra + b·rb + c·rc + d·rd to dst.
func axpy4(dst []float64, a float64, ra []float64, b float64, rb []float64, c float64, rc []float64, d float64, rd []float64) {
	ra, rb, rc, rd = ra[:len(dst)], rb[:len(dst)], rc[:len(dst)], rd[:len(dst)]
	for j := range dst {
		dst[j] += (a*ra[j] + b*rb[j]) + (c*rc[j] + d*rd[j])
	}
}

// axpy adds a·x to dst.
func axpy(dst []float64, a float64, x []float64) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] += a * x[i]
	}
}

// dot returns xᵀy, summed in two interleaved parts.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s, t float64
	i := 0
	for ; i+1 < len(x); i += 2 {
		s += x[i] * y[i]
		t += x[i+1] * y[i+1]
	}
	if i < len(x) {
		s += x[i] * y[i]
	}
	return s + t
}

// Gap returns the objective ½yᵀGy − fᵀy and the primal-dual gap Σ y_k(∇_k − min ∇) of
// a y in the simplex, given ∇ = Gy − f.
func Gap(grad, f, y []float64) (objective, gap float64) {
	low := grad[0]
	for _, v := range grad[1:] {
		low = min(low, v)
	}
	for i, v := range y {
		if v != 0 {
			objective += v * (grad[i] - f[i])
			gap += v * (grad[i] - low)
		}
	}
	return objective / 2, gap
}

// Normalise clips tiny negative entries and scales the sum to 1.
func Normalise(y []float64) {
	sum := 0.0
	for i, v := range y {
		if v <= 0 {
			y[i] = 0
			continue
		}
		sum += v
	}
	for i := range y {
		y[i] /= sum
	}
}

// Covariance returns the covariance of a and b under the weights y, which sum to 1.
func Covariance(y, a, b []float64) float64 {
	ma, mb := 0.0, 0.0
	for j, v := range y {
		ma += v * a[j]
		mb += v * b[j]
	}
	c := 0.0
	for j, v := range y {
		c += v * (a[j] - ma) * (b[j] - mb)
	}
	return c
}
