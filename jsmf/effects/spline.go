package effects

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// spline is the space of natural cubic splines with given knots, without the constants. Function j is
// the one that is 1 at knot j + 1 and 0 at the others.
type spline struct {
	knots []float64  // at least 2, ascending
	curve *mat.Dense // the second derivative at each knot of the functions of all knots
}

// newSpline places the knots at quantiles of the numbers x, of which not all are equal, each
// of which is one of the numbers. It is an error if the functions cannot be calculated.
func newSpline(x []float64, df int) (*spline, error) {
	sorted := slices.Sorted(slices.Values(x))
	at := func(q float64) float64 { return sorted[int(math.Round(q*float64(len(sorted)-1)))] }
	s := &spline{}
	for i := range df + 1 {
		s.knots = append(s.knots, at(.05+.9*float64(i)/float64(df)))
	}
	if s.knots = slices.Compact(s.knots); len(s.knots) < 2 {
		s.knots = []float64{sorted[0], sorted[len(sorted)-1]}
	}
	// The slopes of the pieces on both sides of a knot agree (de Boor 2001, chapter IV).
	n := len(s.knots)
	left, right := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	left.Set(0, 0, 1)
	left.Set(n-1, n-1, 1)
	for i := 1; i < n-1; i++ {
		before, after := s.knots[i]-s.knots[i-1], s.knots[i+1]-s.knots[i]
		for j, v := range []float64{before / 6, (before + after) / 3, after / 6} {
			left.Set(i, i-1+j, v)
		}
		for j, v := range []float64{1 / before, -1/before - 1/after, 1 / after} {
			right.Set(i, i-1+j, v)
		}
	}
	s.curve = mat.NewDense(n, n, nil)
	err := s.curve.Solve(left, right)
	for _, list := range s.all([]float64{sorted[0], at(.5), sorted[len(sorted)-1]}) {
		for _, y := range list {
			for _, v := range y {
				if math.IsNaN(v) || math.IsInf(v, 0) || math.Abs(v) > 1e9 || err != nil {
					return nil, fmt.Errorf("its numbers, from %v to %v with %v in the middle, are too unevenly spread for a spline: take their logarithms, or fewer degrees of freedom than %d", sorted[0], sorted[len(sorted)-1], at(.5), df)
				}
			}
		}
	}
	return s, nil
}

func (s *spline) size() int { return len(s.knots) - 1 }

// at writes the functions at x to dst, and their derivatives to slope.
func (s *spline) at(dst, slope []float64, x float64) {
	inside := min(max(x, s.knots[0]), s.knots[s.size()])
	i, _ := slices.BinarySearch(s.knots[1:s.size()], inside) // x is in the piece from knot i
	h := s.knots[i+1] - s.knots[i]
	b := (inside - s.knots[i]) / h
	a := 1 - b
	for j := range dst {
		from, to := s.curve.At(i, j+1), s.curve.At(i+1, j+1)
		y, dy := ((a*a*a-a)*from+(b*b*b-b)*to)*h*h/6, ((1-3*a*a)*from+(3*b*b-1)*to)*h/6
		switch j + 1 {
		case i:
			y, dy = y+a, dy-1/h
		case i + 1:
			y, dy = y+b, dy+1/h
		}
		dst[j], slope[j] = y+(x-inside)*dy, dy
	}
}

// all returns the functions and their derivatives at each of x.
func (s *spline) all(x []float64) (out [2][][]float64) {
	for _, v := range x {
		y, dy := make([]float64, s.size()), make([]float64, s.size())
		s.at(y, dy, v)
		out[0], out[1] = append(out[0], y), append(out[1], dy)
	}
	return out
}
