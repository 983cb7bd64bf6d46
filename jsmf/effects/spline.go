package effects

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// spline is the space of natural cubic splines with given knots, without the constants.
type spline struct {
	knots []float64 // at least 2, ascending
	// on takes the functions of raw to those that are uncorrelated over the documents, with
	// mean 0 and variance 1: function j is Σ_{i≤j} on[j][i]·raw_i + shift[j].
	on    [][]float64
	shift []float64
}

// outerKnot returns the share of numbers below the first of df + 1 knots, and above the
// last (Harrell 2015, table 2.3). The two knots of a straight line may lie anywhere.
func outerKnot(df int) float64 {
	switch df {
	case 1, 2:
		return 0.1
	case 6:
		return 0.025
	}
	return 0.05
}

// newSpline places the knots at quantiles of the numbers x, of which not all are equal, each
// of which is one of the numbers, and scales the functions by x with weights w. It is an error
// if rounding leaves nothing of some function.
func newSpline(x, w []float64, df int) (*spline, error) {
	sorted := slices.Sorted(slices.Values(x))
	at := func(q float64) float64 { return sorted[int(math.Round(q*float64(len(sorted)-1)))] }
	s := &spline{}
	outer := outerKnot(df)
	for i := range df + 1 {
		s.knots = append(s.knots, at(outer+(1-2*outer)*float64(i)/float64(df)))
	}
	if s.knots = slices.Compact(s.knots); len(s.knots) < 2 {
		s.knots = []float64{sorted[0], sorted[len(sorted)-1]}
	}
	if !s.orthogonalise(x, w) {
		return nil, fmt.Errorf("its numbers, from %v to %v with %v in the middle, are too unevenly spread for a spline: take their logarithms, or fewer degrees of freedom than %d", sorted[0], sorted[len(sorted)-1], at(.5), df)
	}
	return s, nil
}

func (s *spline) size() int { return len(s.knots) - 1 }

// raw writes the functions at x to dst, and their derivatives to slope. They are x
// itself, counted from the first knot in the distance of the outer two, and
//
//	d_k(x) − d_{n−1}(x), d_k(x) = ((x − ξ_k)₊³ − (x − ξ_n)₊³)/(ξ_n − ξ_k),
//
// for the n knots ξ (Hastie, Tibshirani and Friedman 2009, equations 5.4 and 5.5).
func (s *spline) raw(dst, slope []float64, x float64) {
	first, n := s.knots[0], len(s.knots)
	scale := s.knots[n-1] - first
	u := (x - first) / scale
	dst[0], slope[0] = u, 1/scale
	rest := func(k int) float64 { return (s.knots[n-1] - s.knots[k]) / scale } // from knot k to the last
	cube := func(k int) (y, dy float64) {
		a := rest(k)
		v := max(u-(1-a), 0)
		return v * v * v / a, 3 * v * v / a
	}
	b := rest(n - 2)
	for k := range n - 2 {
		if u > 1 { // multiplied out, as third powers far out would cancel
			a := rest(k)
			dst[k+1], slope[k+1] = (a-b)*(a+b+3*(u-1)), 3*(a-b)/scale
			continue
		}
		y, dy := cube(k)
		z, dz := cube(n - 2)
		dst[k+1], slope[k+1] = y-z, (dy-dz)/scale
	}
}

// minLeft is the part of a function that must be left when what is correlated with the
// functions before it has been taken off.
const minLeft = 1e-9

// orthogonalise sets on and shift by the Gram–Schmidt process, twice for its rounding, and
// reports whether it can.
func (s *spline) orthogonalise(x, w []float64) bool {
	p, total := s.size(), floats.Sum(w)
	cols := make([][]float64, p)
	for j := range cols {
		cols[j] = make([]float64, len(x))
	}
	row, slope := make([]float64, p), make([]float64, p)
	for m := range x {
		s.raw(row, slope, x[m])
		for j, v := range row {
			cols[j][m] = v
		}
	}
	dot := func(a, b []float64) float64 {
		sum := 0.0
		for m, v := range a {
			sum += w[m] * v * b[m]
		}
		return sum / total
	}
	ones := slices.Repeat([]float64{1}, len(x))
	s.on, s.shift = make([][]float64, p), make([]float64, p)
	for j, c := range cols {
		on := make([]float64, j+1)
		on[j] = 1
		whole := math.Sqrt(dot(c, c))
		for range 2 {
			mean := dot(c, ones)
			floats.AddConst(-mean, c)
			s.shift[j] -= mean
			for i := range j {
				f := dot(c, cols[i])
				floats.AddScaled(c, -f, cols[i])
				floats.AddScaled(on[:i+1], -f, s.on[i])
				s.shift[j] -= f * s.shift[i]
			}
		}
		length := math.Sqrt(dot(c, c))
		if !(length > minLeft*whole) || math.IsInf(length, 1) {
			return false
		}
		floats.Scale(1/length, c)
		floats.Scale(1/length, on)
		s.shift[j] /= length
		s.on[j] = on
	}
	return true
}

// at writes the scaled functions at x to dst, and their derivatives to slope.
func (s *spline) at(dst, slope []float64, x float64) {
	s.raw(dst, slope, x)
	for j := len(dst) - 1; j >= 0; j-- {
		dst[j] = floats.Dot(s.on[j], dst[:j+1]) + s.shift[j]
		slope[j] = floats.Dot(s.on[j], slope[:j+1])
	}
}

// all returns the scaled functions and their derivatives at each of x.
func (s *spline) all(x []float64) (values, slopes [][]float64) {
	p := s.size()
	room := make([]float64, 2*p*len(x))
	for _, v := range x {
		y, dy := room[:p:p], room[p:2*p:2*p]
		room = room[2*p:]
		s.at(y, dy, v)
		values, slopes = append(values, y), append(slopes, dy)
	}
	return values, slopes
}
