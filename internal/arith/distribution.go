package arith

import "math"

// NormalCDF returns the probability that a standard normal variable is below x, to 1e-15 (Marsaglia,
// Evaluating the normal distribution, 2004).
func NormalCDF(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case math.Abs(x) > 8.5:
		return (1 + math.Copysign(1, x)) / 2
	}
	sum, last, term, square := x, 0.0, x, float64(x*x)
	for i := 3.0; sum != last; i += 2 {
		last = sum
		term = float64(term * (square / i))
		sum += term
	}
	return 0.5 + float64(sum*density(x))
}

func density(x float64) float64 { return Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

// NormalQuantile returns the x below which a standard normal variable is with the probability p.
func NormalQuantile(p float64) float64 {
	if p < 0.5 {
		return -NormalQuantile(1 - p)
	}
	x := 0.0
	for range 200 { // the steps of Newton never go too far
		step := (p - NormalCDF(x)) / density(x)
		x += step
		if step < 1e-15*x {
			break
		}
	}
	return x
}

// StudentQuantile returns the t with |T| below t with the probability level, for Student's distribution with a
// whole number of degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
func StudentQuantile(level float64, free int) float64 {
	lo, hi := 0.0, 1.0 // of the sine of the angle whose tangent is t/√free
	ratio := func(s float64) float64 { return s / math.Sqrt((1-s)*(1+s)) }
	for range 60 {
		s := float64((lo + hi) / 2)
		square, odd := (1-s)*(1+s), free%2 == 1
		term, i := s, 2.0
		if odd {
			term, i = float64(s*math.Sqrt(square)), 3
		}
		sum := float64(term)
		for ; i <= float64(free-2); i += 2 {
			term = float64(term * (square * (i - 1) / i))
			sum += term
		}
		if free == 1 {
			sum = 0
		}
		if odd {
			sum = (sum + atan(ratio(s))) * 2 / math.Pi
		}
		if sum < level {
			lo = s
		} else {
			hi = s
		}
	}
	return ratio(float64((lo+hi)/2)) * math.Sqrt(float64(free))
}

// atan returns the angle with a tangent of at least 0.
func atan(x float64) float64 {
	halved := 8.0
	for range 3 {
		x /= 1 + math.Sqrt(1+float64(x*x))
	}
	sum, square := 0.0, x*x
	for i := 25; i > 0; i -= 2 {
		sum = 1/float64(i) - float64(square*sum)
	}
	return float64(halved * x * sum)
}
