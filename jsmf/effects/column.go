package effects

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/jsmf-go/spectral/corpus"
)

// column is a part of a term with its values in the documents that count: its columns of the
// design. A category or a bin has a 1 in a column of its own; the most frequent one has none and
// is the reference. A number has the functions of its spline.
type column struct {
	part
	unit   string
	points []Point
	size   int // columns of the design, here called places

	of    []int   // the point of each document; for a number, the nearest one
	place []int32 // for a category or a time, the place of each point; −1: none

	all    []int32     // for a number, all places
	rows   [][]float64 // for a number, the values of each document there
	slopes [][]float64 // and their derivatives

	values [][]float64 // the size values of each point; nil for a bin without documents
}

// raw holds the values of a column of metadata.
type raw struct {
	known  []bool
	levels []int
	names  []string
	x      []float64
	times  []time.Time
	unit   string
}

// read returns the values of a column of metadata.
func (p part) read(meta *corpus.Metadata) (r raw, err error) {
	switch p.kind {
	case Numbers:
		r.x, r.known, err = meta.Numbers(p.column)
		if i := slices.IndexFunc(meta.Columns(), func(c corpus.Column) bool { return c.Name == p.column }); i >= 0 {
			r.unit = meta.Columns()[i].Unit
		}
	case Times:
		r.times, r.known, err = meta.Times(p.column)
		r.unit = p.bins.unit()
	default:
		r.levels, r.names, err = meta.Categories(p.column)
		r.known = make([]bool, len(r.levels))
		for m, l := range r.levels {
			r.known[m] = l >= 0
		}
	}
	return r, err
}

// newColumn returns the column of a part for the given documents.
func newColumn(p part, r raw, docs []int) (*column, error) {
	c := &column{part: p, unit: r.unit}
	var err error
	switch p.kind {
	case Numbers:
		err = c.numbers(at(r.x, docs))
	case Times:
		var b *binned
		if b, err = p.bins.cut(at(r.times, docs)); err == nil {
			c.points, c.of = b.bins, b.of
			err = c.places()
		}
	default:
		c.of = at(r.levels, docs)
		levels := slices.Compact(slices.Sorted(slices.Values(c.of))) // those that occur
		for _, l := range levels {
			c.points = append(c.points, Point{Label: r.names[l], Levels: []int{l}})
		}
		for m, l := range c.of {
			c.of[m], _ = slices.BinarySearch(levels, l)
			c.points[c.of[m]].Documents++
		}
		err = c.places()
	}
	return c, err
}

// at returns the values of the documents with the given numbers.
func at[T any](x []T, docs []int) []T {
	out := make([]T, len(docs))
	for i, m := range docs {
		out[i] = x[m]
	}
	return out
}

// places gives the points of a category or a time their places.
func (c *column) places() error {
	most, occur := 0, 0
	for i, p := range c.points {
		if p.Documents > c.points[most].Documents {
			most = i
		}
		if p.Documents > 0 {
			occur++
		}
	}
	if occur < 2 {
		what := "are in the bin"
		if c.kind == Categories {
			what = "have the level"
		}
		return fmt.Errorf("all documents that count %s %q; want at least two", what, c.points[most].Label)
	}
	if occur > maxColumns {
		return fmt.Errorf("the documents have %d levels or bins; at most %d", occur, maxColumns)
	}
	c.size = occur - 1
	c.place, c.values = slices.Repeat([]int32{-1}, len(c.points)), make([][]float64, len(c.points))
	next := int32(0)
	for i, p := range c.points {
		if p.Documents == 0 {
			continue
		}
		c.values[i] = make([]float64, c.size)
		if i != most {
			c.place[i], c.values[i][next] = next, 1
			next++
		}
	}
	return nil
}

// gridPoints is the largest number of points of a number. One with fewer values has a point for each.
const gridPoints = 25

// numbers sets the functions of the spline of a column of numbers, and its points.
func (c *column) numbers(x []float64) error {
	distinct := slices.Compact(slices.Sorted(slices.Values(x)))
	if len(distinct) < 2 {
		return fmt.Errorf("all documents that count have the number %v; want at least two", distinct[0])
	}
	s, err := newSpline(x, c.df)
	if err != nil {
		return err
	}
	all := s.all(x)
	c.rows, c.slopes = all[0], all[1]
	c.size = s.size()
	for i := range c.size {
		c.all = append(c.all, int32(i))
	}
	grid := distinct
	if len(grid) > gridPoints {
		sorted := slices.Sorted(slices.Values(x))
		last := float64(len(sorted) - 1)
		low, high := sorted[int(math.Round(.01*last))], sorted[int(math.Round(.99*last))]
		if low == high {
			low, high = distinct[0], distinct[len(distinct)-1]
		}
		grid = evenly(low, high)
	}
	c.values = s.all(grid)[0]
	for _, v := range grid {
		format := byte('f')
		if v != 0 && (math.Abs(v) < 1e-4 || math.Abs(v) >= 1e9) {
			format = 'g'
		}
		c.points = append(c.points, Point{Label: strconv.FormatFloat(v, format, -1, 64), Number: v})
	}
	c.of = make([]int, len(x))
	for m, v := range x {
		c.of[m] = nearest(grid, v)
		c.points[c.of[m]].Documents++
	}
	return nil
}

// nearest returns the index of the number nearest to v in an ascending grid.
func nearest(grid []float64, v float64) int {
	i, _ := slices.BinarySearch(grid, v)
	if i == len(grid) || i > 0 && v-grid[i-1] <= grid[i]-v {
		i--
	}
	return i
}

// evenly returns gridPoints evenly spaced numbers from low to high, rounded to the fewest digits, at
// least 3, that keep them distinct.
func evenly(low, high float64) []float64 {
	grid := make([]float64, gridPoints)
	for digits := 3; digits <= 17; digits++ {
		for i := range grid {
			f := float64(i) / (gridPoints - 1)
			grid[i], _ = strconv.ParseFloat(strconv.FormatFloat(low*(1-f)+high*f, 'g', digits, 64), 64)
		}
		if len(slices.Compact(slices.Clone(grid))) == gridPoints {
			break
		}
	}
	return slices.Compact(grid)
}

// row returns the nonzero places of document m and their values. The caller must not write to
// them.
func (c *column) row(m int) (places []int32, x []float64) {
	if c.kind == Numbers {
		return c.all, c.rows[m]
	}
	i := c.of[m]
	if c.place[i] < 0 {
		return nil, nil
	}
	return c.place[i : i+1], c.values[i][c.place[i]:][:1]
}
