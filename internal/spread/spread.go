// Package spread makes intervals from the replicates of a bootstrap.
package spread

import (
	"math"

	"github.com/jsmf-go/spectral/internal/arith"
)

// Spread is the mean and the variance of replicates of a number (Welford, Technometrics 4,
// 1962). The zero value has none.
type Spread struct{ n, mean, squares float64 }

// Add takes over a replicate. NaN does not count.
func (s *Spread) Add(x float64) {
	if math.IsNaN(x) {
		return
	}
	s.n++
	d := x - s.mean
	s.mean += d / s.n
	s.squares += float64(d * (x - s.mean))
}

// Mean returns the mean of the replicates, NaN for none.
func (s *Spread) Mean() float64 {
	if s.n == 0 {
		return math.NaN()
	}
	return s.mean
}

// Variance returns the variance of the replicates, NaN for fewer than two.
func (s *Spread) Variance() float64 { return s.squares / (s.n - 1) }

// Line sums up points (x, y).
type Line struct{ n, x, y, xx, xy, yy float64 }

// Add takes over a point. NaN does not count.
func (l *Line) Add(x, y float64) {
	if !math.IsNaN(x) && !math.IsNaN(y) {
		l.n, l.x, l.y, l.xx, l.xy, l.yy = l.n+1, l.x+x, l.y+y, l.xx+float64(x*x), l.xy+float64(x*y), l.yy+float64(y*y)
	}
}

// Slope returns the least-squares slope of y on x, and its standard error.
func (l *Line) Slope() (slope, stdErr float64) {
	xx, xy, yy := l.xx-l.x*l.x/l.n, l.xy-l.x*l.y/l.n, l.yy-l.y*l.y/l.n
	slope = xy / xx
	return slope, math.Sqrt(max(yy-float64(slope*xy), 0) / (l.n - 2) / xx)
}

// Number is a number of a model with what replicates say of it.
type Number struct {
	Value float64
	Again Spread // of the number, in fits to reweighted documents
	Off   Spread // of the number less what it should be, in fits to documents drawn from the model
}

// Doubt is what else an interval depends on.
type Doubt struct {
	Level    float64 // the probability of the interval
	Units    int     // units that the number was made of, such as documents
	Variance float64 // what is added to that of Again
	Drawn    int     // fits to drawn documents, of which Off has those that found the topics

	// Lost is which part of a change of the number is lost in drawn documents; NaN: not known.
	Lost float64

	// Hidden is the part of the number by which it may be off without any replicate showing it; +Inf:
	// nothing can be said. See Hidden.
	Hidden float64
}

// Hidden returns what a topic may hide of its numbers that changes the part c of its words where it is found
// again in drawn documents: c/(1−c), and +Inf for more than half.
func Hidden(c float64) float64 {
	if c > 0.5 {
		return math.Inf(1)
	}
	return c / (1 - c)
}

// Interval is about Value, which is that of the Number less Bias.
type Interval struct{ Value, Bias, Half float64 }

// Interval returns the number less its bias with half the width of its interval.
//
// The bias b at the number of the model is the mean of Off. At the number less b it is b·(1 + Lost), which
// is taken off (indirect inference, Kuk, Journal of the Royal Statistical Society B 57, 1995) if a
// t-test of level 0.95 tells b from 0. NaN: Off has fewer than two replicates, and neither is the number
// corrected nor the interval widened.
//
// The variance is that of Again or of Off, whichever is more, plus that of the mean of Off. Both have the
// noise of the words, Again that of the documents and Off that of the start. Half the width is the
// quantile of |x|, where x is normal about the largest bias that may be left (Armstrong and Kolesár,
// Quantitative Economics 11, 2020): the one found plus what is hidden. It is enlarged as the
// quantile of Student's distribution is, with one degree of freedom less than Again has replicates, or
// units if these are fewer. NaN for fewer than two of either, and if less than half of the fits to drawn
// documents found the topics.
func (x *Number) Interval(d Doubt) Interval {
	out := Interval{Value: x.Value, Bias: math.NaN(), Half: math.NaN()}
	n := x.Off.n
	if math.IsInf(d.Hidden, 1) || 2*n < float64(d.Drawn) {
		return out
	}
	variance, left := x.Again.Variance()+d.Variance, 0.0
	if n > 1 {
		bias := x.Off.mean
		if !math.IsNaN(d.Lost) {
			bias *= 1 + d.Lost
		}
		out.Bias = 0
		if math.Abs(x.Off.mean) > arith.StudentQuantile(0.95, int(n)-1)*math.Sqrt(x.Off.Variance()/n) {
			out.Bias = bias
		}
		out.Value -= out.Bias
		variance = max(variance, x.Off.Variance()) + x.Off.Variance()/n
		left = math.Abs(bias) + float64(d.Hidden*math.Abs(out.Value))
	}
	free := min(x.Again.n, float64(d.Units)) - 1
	if free < 1 {
		return out
	}
	z := arith.NormalQuantile((1 + d.Level) / 2)
	out.Half = arith.StudentQuantile(d.Level, int(free)) / z * aroundBias(d.Level, left, math.Sqrt(variance))
	return out
}

// Within returns the number and the ends of its interval, cut off where it can be no smaller or larger. An
// interval of all that it can be says nothing: its ends are NaN. None is −0.
func (x Interval) Within(lowest, highest float64) (value, low, high float64) {
	lowest, highest = lowest+0, highest+0 // −0 + 0 is 0
	value = min(max(x.Value+0, lowest), highest)
	low, high = max(value-x.Half, lowest), min(value+x.Half, highest)
	if low == lowest && high == highest {
		return value, math.NaN(), math.NaN()
	}
	return value, low, high
}

// aroundBias returns the quantile of |x| for x normal with this mean and standard deviation.
func aroundBias(level, mean, sd float64) float64 {
	if sd == 0 {
		return mean
	}
	t := mean / sd
	lo, hi := t, t+arith.NormalQuantile((1+level)/2)
	for range 60 {
		mid := float64((lo + hi) / 2)
		if arith.NormalCDF(mid-t)-arith.NormalCDF(-mid-t) < level {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi * sd
}
