package effects

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/jsmf-go/spectral/corpus"
)

// column is a part of a term, with the values of the documents that count: what it
// contributes to the rows of the design. A category and a bin are a 1 in a place of their
// own, but for the most frequent one, which is the absence of all others. A number is the
// functions of its spline.
type column struct {
	part
	unit   string
	points []Point
	size   int // places

	of    []int   // of each document, its point; of a number, the nearest
	place []int32 // of a category or a time, that of each point, or −1

	all    []int32     // of a number: all places
	rows   [][]float64 // for each document, what stands there
	slopes [][]float64 // their derivatives

	values [][]float64 // of each point, size; nil for a bin without documents
}

// values of a column as they stand in the metadata.
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
		for _, c := range meta.Columns() {
			if c.Name == p.column {
				r.unit = c.Unit
			}
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

// newColumn makes a column of the documents, whose weights are w.
func newColumn(p part, r raw, docs []int, w []float64) (*column, error) {
	c := &column{part: p, unit: r.unit}
	var err error
	switch p.kind {
	case Numbers:
		err = c.numbers(at(r.x, docs), w)
	case Times:
		var b *binned
		if b, err = p.bins.cut(at(r.times, docs)); err == nil {
			c.points = b.bins
			c.of = b.of
			err = c.places()
		}
	default:
		c.of = at(r.levels, docs)
		for l, name := range r.names {
			c.points = append(c.points, Point{Label: name, Levels: []int{l}})
		}
		for _, l := range c.of {
			c.points[l].Documents++
		}
		to, kept := make([]int, len(r.names)), 0
		for l, q := range c.points {
			if q.Documents > 0 {
				to[l], c.points[kept] = kept, q
				kept++
			}
		}
		c.points = c.points[:kept]
		for m, l := range c.of {
			c.of[m] = to[l]
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
	c.place = make([]int32, len(c.points))
	for i, p := range c.points {
		c.place[i] = -1
		if i != most && p.Documents > 0 {
			c.place[i] = int32(c.size)
			c.size++
		}
	}
	c.values = make([][]float64, len(c.points))
	for i, p := range c.points {
		if p.Documents > 0 {
			c.values[i] = make([]float64, c.size)
			if c.place[i] >= 0 {
				c.values[i][c.place[i]] = 1
			}
		}
	}
	return nil
}

// gridPoints is the number of points of a number that takes more values.
const gridPoints = 25

// numbers sets the functions of a column of numbers and its points.
func (c *column) numbers(x, w []float64) error {
	distinct := slices.Compact(slices.Sorted(slices.Values(x)))
	if len(distinct) < 2 {
		return fmt.Errorf("all documents that count have the number %v; want at least two", distinct[0])
	}
	s, err := newSpline(x, w, c.df)
	if err != nil {
		return err
	}
	c.rows, c.slopes = s.all(x)
	for c.size < s.size() {
		c.all = append(c.all, int32(c.size))
		c.size++
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
	c.values, _ = s.all(grid)
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

// nearest returns the place of the number of an ascending grid that is nearest to v.
func nearest(grid []float64, v float64) int {
	i, _ := slices.BinarySearch(grid, v)
	if i == len(grid) || i > 0 && v-grid[i-1] <= grid[i]-v {
		i--
	}
	return i
}

// evenly returns gridPoints numbers from low to high in as few digits as keep them apart, at
// least 3.
func evenly(low, high float64) []float64 {
	grid := make([]float64, gridPoints)
	for digits := 3; ; digits++ {
		apart := true
		for i := range grid {
			f := float64(i) / (gridPoints - 1)
			grid[i] = low*(1-f) + high*f
			if v, err := strconv.ParseFloat(strconv.FormatFloat(grid[i], 'g', digits, 64), 64); err == nil {
				grid[i] = v
			}
			apart = apart && (i == 0 || grid[i] > grid[i-1])
		}
		if apart || digits == 17 {
			return slices.Compact(grid)
		}
	}
}

// row returns the places of document m that are not 0, and what stands there. It must not
// be written to.
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
