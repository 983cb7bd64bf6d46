// Package arith has exponentials, logarithms and random numbers with the same bits on every
// CPU. Those of math differ in the last bit: some platforms have assembler for them, and
// on some the compiler rounds x·y + z once.
//
// # One arithmetic
//
// A model has the same bits wherever it is made, because every number of it is a function of the
// input and of Version alone. For this the packages that a fit goes through keep to a few rules:
//
//   - In Go, a product that is added to something is converted, as in float64(x*y) + z. It is
//     then rounded by itself; without that the compiler may fuse the two. math.FMA, which is
//     fused everywhere, is for the products of matrices (internal/linalg).
//   - float32 is never fused. Sums over topics have sixteen lanes (internal/estep).
//   - A sum has one order, whatever the vectors of the machine. That of gonum differs by platform, so
//     only its functions of single elements are used.
package arith

import "math"

// Version names the arithmetic: that of another one leads to other bits of the same model.
const Version = "1"

// ln2 = high + low, with 20 zero bits at the end of high, so that its product with an exponent is exact.
const (
	high = 0x1.62e42fee00000p-1
	low  = math.Ln2 - high
)

// Exp returns eˣ, to an ulp: 0 below about −745, and +Inf above about 709.78.
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	k := math.RoundToEven(x * math.Log2E)
	r, rest := reduce(x, k)
	return math.Ldexp(1+(r+(rest+expm1Rest(r))), int(k))
}

// Expm1 returns eˣ − 1, to three ulps.
func Expm1(x float64) float64 {
	if math.Abs(x) > 0.3 {
		return Exp(x) - 1
	}
	return x + expm1Rest(x)
}

// reduce returns x − k·ln 2 as a sum.
func reduce(x, k float64) (r, rest float64) {
	h, l := x-float64(k*high), float64(k*low)
	r = h - l
	return r, (h - r) - l
}

// expm1Rest returns eʳ − 1 − r by its series, for |r| ≤ 0.35.
func expm1Rest(r float64) float64 {
	r2 := r * r
	r4 := r2 * r2
	a := float64(r2*(1.0/2+float64(r*(1.0/6)))) + float64(r4*(1.0/24+float64(r*(1.0/120))))
	b := 1.0/720 + float64(r*(1.0/5040)) + float64(r2*(1.0/40320+float64(r*(1.0/362880))))
	c := 1.0/3628800 + float64(r*(1.0/39916800)) + float64(r2*(1.0/479001600+float64(r*(1.0/6227020800))))
	return a + float64(float64(r4*r2)*(b+float64(r4*c)))
}

// Log returns the natural logarithm of x, to an ulp: −Inf of 0, and NaN below.
func Log(x float64) float64 {
	if !(x > 0) || x > math.MaxFloat64 {
		if x == 0 {
			return math.Inf(-1)
		} else if x < 0 {
			return math.NaN()
		}
		return x
	}
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	// ln(1+f) = 2·artanh s = f − f²/2 + s·(f²/2 + R) with s = f/(2+f) and R = 2·artanh(s)/s − 2.
	f := m - 1
	s := f / (2 + f)
	z := s * s
	w := z * z
	odd := float64(w * (2.0/5 + float64(w*(2.0/9+float64(w*(2.0/13+float64(w*(2.0/17+float64(w*(2.0/21))))))))))
	even := float64(z * (2.0/3 + float64(w*(2.0/7+float64(w*(2.0/11+float64(w*(2.0/15+float64(w*(2.0/19))))))))))
	half, k := float64(0.5*f*f), float64(e)
	return float64(k*high) - ((half - (float64(s*(half+(odd+even))) + float64(k*low))) - f)
}

// Log2 returns the logarithm of x to the base 2, exact for powers of two.
func Log2(x float64) float64 {
	m, e := math.Frexp(x)
	if m == 0.5 {
		return float64(e - 1)
	}
	return float64(Log(m)*math.Log2E) + float64(e)
}

// Pow returns x to the power of y, for x > 0.
func Pow(x, y float64) float64 { return Exp(y * Log(x)) }

// LogSumExp returns ln Σ exp(x_i).
func LogSumExp(x []float64) float64 {
	most, sum := math.Inf(-1), 0.0
	for _, v := range x {
		most = max(most, v)
	}
	if math.IsInf(most, 0) {
		return most
	}
	for _, v := range x {
		sum += Exp(v - most)
	}
	return most + Log(sum)
}
