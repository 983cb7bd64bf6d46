package effects

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"
)

// maxPoints is the largest number of bins of a Time, and of points of an Interaction.
const maxPoints = 10_000

// binned holds the bins of a column of times.
type binned struct {
	bins []Point // with From, To, Label, Documents and Incomplete
	of   []int   // the bin of each time
}

// cut puts times into bins.
func (b Bins) cut(times []time.Time) (*binned, error) {
	sorted := slices.SortedFunc(slices.Values(times), time.Time.Compare)
	first, last := sorted[0], sorted[len(sorted)-1]
	unit := time.Second // how long a document lasts
	if !slices.ContainsFunc(sorted, func(t time.Time) bool { return !t.Equal(floor(Day, t)) }) {
		unit = 24 * time.Hour
	}
	out := &binned{of: make([]int, len(times))}
	if b > 0 {
		for i := range int(b) {
			from := sorted[i*len(sorted)/int(b)]
			if n := len(out.bins); n == 0 || from.After(out.bins[n-1].From) {
				out.bins = append(out.bins, Point{From: from})
			}
		}
		for i := range out.bins[1:] {
			out.bins[i].To = out.bins[i+1].From
		}
		out.bins[len(out.bins)-1].To = last.Truncate(time.Second).Add(unit)
		labelSpans(out.bins)
	} else {
		for from := floor(b, first); !from.After(last); {
			if len(out.bins) == maxPoints {
				return nil, fmt.Errorf("its times run from %s to %s, which are more than %d bins, one for each %s", first.Format(time.DateOnly), last.Format(time.DateOnly), maxPoints, b.unit())
			}
			to := b.next(from)
			out.bins = append(out.bins, Point{Label: b.label(from), From: from, To: to})
			from = to
		}
		out.incomplete(sorted, unit)
	}
	for m, t := range times {
		i, found := slices.BinarySearchFunc(out.bins, t, func(p Point, t time.Time) int { return p.From.Compare(t) })
		if !found {
			i--
		}
		out.of[m] = i
		out.bins[i].Documents++
	}
	return out, nil
}

// floor returns the beginning of the bin that t is in.
func floor(b Bins, t time.Time) time.Time {
	year, month, day := t.UTC().Date()
	switch b {
	case Week:
		day -= (int(t.UTC().Weekday()) + 6) % 7 // since Monday
	case Month:
		day = 1
	case Quarter:
		month, day = month-(month-1)%3, 1
	case Year:
		month, day = time.January, 1
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// next returns the end of the bin that begins at t.
func (b Bins) next(t time.Time) time.Time {
	c := calendar[b]
	return t.AddDate(c.years, c.months, c.days)
}

// label names the bin that begins at t.
func (b Bins) label(t time.Time) string {
	switch b {
	case Week:
		year, week := t.ISOWeek()
		return fmt.Sprintf("%d-W%02d", year, week)
	case Quarter:
		return fmt.Sprintf("%d-Q%d", t.Year(), (t.Month()+2)/3)
	}
	return t.Format(calendar[b].layout)
}

// labelSpans labels bins by their first and last moments, in days if that makes the labels distinct.
func labelSpans(bins []Point) {
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04:05", "2006-01-02 15:04:05.999999999"} {
		seen := map[string]bool{}
		for i, p := range bins {
			bins[i].Label = p.From.Format(layout) + " to " + p.To.Add(-1).Format(layout)
			seen[bins[i].Label] = true
		}
		if len(seen) == len(bins) {
			return
		}
	}
}

// usual is the share of the time that gaps of a usual length have to cover, see incomplete.
const usual = 0.95

// incomplete marks the first bin if it begins with an unusually long gap, and the last one if it
// ends with one. A gap is unusual if gaps between documents of at least its length take less than
// 1 − usual of the time. The times of the documents are sorted; each document lasts for a unit.
func (b *binned) incomplete(sorted []time.Time, unit time.Duration) {
	begin, end := sorted[0], sorted[len(sorted)-1]
	span := seconds(begin, end)
	unusual := func(stretch float64) bool {
		if stretch <= 0 || span == 0 {
			return false
		}
		sum := 0.0
		for i := range sorted[1:] {
			if gap := seconds(sorted[i], sorted[i+1]) - unit.Seconds(); gap >= stretch {
				sum += gap
			}
		}
		return sum < (1-usual)*span
	}
	first, last := &b.bins[0], &b.bins[len(b.bins)-1]
	first.Incomplete = unusual(seconds(first.From, begin))
	last.Incomplete = unusual(seconds(end, last.To)-unit.Seconds()) || last.Incomplete
}

// seconds returns the time from a to b, also where it is beyond the 292 years of a time.Duration.
func seconds(a, b time.Time) float64 {
	return float64(b.Unix()-a.Unix()) + float64(b.Nanosecond()-a.Nanosecond())/1e9
}

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
