// Package spread makes intervals from the replicates of a bootstrap.
package spread

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
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
	s.squares += d * (x - s.mean)
}

// Half returns half the width of the interval of a number: t times the standard deviation of
// the replicates, to whose variance more is added. t is the quantile of Student's distribution
// for an interval of the given probability, with one degree of freedom less than there are
// replicates, or units (such as documents) that the number was made of, if these are fewer.
// NaN for fewer than two of either.
func (s *Spread) Half(level float64, units int, more float64) float64 {
	free := min(s.n, float64(units)) - 1
	if free < 1 {
		return math.NaN()
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: free}.Quantile((1+level)/2) * math.Sqrt(s.squares/(s.n-1)+more)
}
