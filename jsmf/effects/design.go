package effects

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/errs"
)

// design is what the terms of a study make of metadata: the M×P matrix X of a linear model,
// and the numbers to be read off its coefficients. Column 0 is the constant 1. X has full
// column rank.
type design struct {
	docs []int // those that count, by number in the metadata
	cols int   // P

	// X by rows, without zeros: those of row i are ptr[i]:ptr[i+1].
	ptr []int
	at  []int32
	x   []float64

	weights []float64      // of the documents that count; their sum is 1
	mean    []float64      // the mean row of X with these weights
	inverse blas64.General // T, upper triangular: (XᵀWX)⁻¹ = T·Tᵀ
	terms   []termDesign   // in the order of the study
	unit    []int          // of each document that counts, the number of its cluster; without clusters, of its own
	units   int            // how many there are
}

// termDesign is what is asked of one term. If β are the coefficients, of P rows, cᵀβ is the
// answer for each vector c.
type termDesign struct {
	TermEffects             // without numbers
	predict     [][]float64 // of each point; nil if the documents do not tell
	slope       []float64   // of Numbers, unless the documents do not tell; otherwise nil
	in          int         // the number of the design that predict and slope are of
}

// row returns the places in row i of X that are not 0, and their values.
func (d *design) row(i int) (at []int32, x []float64) {
	return d.at[d.ptr[i]:d.ptr[i+1]], d.x[d.ptr[i]:d.ptr[i+1]]
}

// newDesigns makes the design of terms that Study.Validate has passed, and if they are several also
// that of each alone. Documents of weight 0 and those without a value in a column of the terms are left
// out. Those with the same value in the column cluster, if it has a name, are one unit.
func newDesigns(ctx context.Context, terms []Term, meta *corpus.Metadata, weights []float64, cluster string) ([]*design, error) {
	all := &builder{terms: terms}
	if err := all.read(meta, weights, cluster); err != nil {
		return nil, err
	}
	list := []*builder{all}
	for i, t := range terms {
		if len(terms) == 1 {
			break
		}
		alone := &builder{terms: terms[i : i+1]}
		alone.docs, alone.weights, alone.unit, alone.units = all.docs, all.weights, all.unit, all.units
		for _, p := range t.parts {
			alone.columns = append(alone.columns, all.columns[all.column(p)])
		}
		list = append(list, alone)
	}
	var out []*design
	for _, b := range list {
		d, err := b.make(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// make makes the design of what was read.
func (b *builder) make(ctx context.Context) (*design, error) {
	if err := b.layout(); err != nil {
		return nil, err
	}
	if err := b.fill(ctx); err != nil {
		return nil, err
	}
	if err := b.rank(ctx); err != nil {
		return nil, err
	}
	return b.finish(ctx)
}

// untold is the error that a term of a study cannot be told.
type untold struct {
	term        int
	why, advice string
}

func (u *untold) Error() string { return "effects: " + u.why + u.advice }

// maxColumns is the largest number of columns of X.
const maxColumns = 5000

// builder makes a design. Until finish, X has columns that follow from others.
type builder struct {
	design
	terms   []Term
	columns []*column // of all terms, each once
	blocks  []block

	follows map[int][]follow // columns that follow from others
	factor  [][]float64      // of the others: L, by rows, XᵀWX = LLᵀ
}

// block is columns of X that belong together: those of one column of metadata, or the
// products of those of two.
type block struct {
	name  string
	of    []int // one or two of builder.columns
	begin int   // its first column of X
	end   int
	// pairs are the columns of X of products that occur, by the places in both columns.
	pairs map[[2]int32]int32
}

// read collects the columns and finds the documents that count.
func (b *builder) read(meta *corpus.Metadata, weights []float64, cluster string) error {
	if len(meta.Columns()) == 0 {
		return errors.New("effects: the documents have no metadata")
	}
	var lacks []int // of each column, the documents without a value
	var raws []raw
	for i, t := range b.terms {
		for _, p := range t.parts {
			if b.column(p) >= 0 {
				continue
			}
			r, err := p.read(meta)
			if err != nil {
				return errs.Errorf("effects", "term %d, %v: %w", i+1, t, err)
			}
			b.columns, raws = append(b.columns, &column{part: p}), append(raws, r)
			lacks = append(lacks, 0)
		}
	}
	for m, w := range weights {
		counts := w > 0
		for i, r := range raws {
			if w > 0 && !r.known[m] {
				lacks[i]++
				counts = false
			}
		}
		if counts {
			b.docs, b.weights = append(b.docs, m), append(b.weights, w)
		}
	}
	if len(b.docs) == 0 {
		var list []string
		for i, n := range lacks {
			list = append(list, fmt.Sprintf("%d lack %q", n, b.columns[i].column))
		}
		return fmt.Errorf("effects: no document has words of the model and values in all columns of the terms: of %d, %s", len(weights), strings.Join(list, ", "))
	}
	floats.Scale(1/floats.Sum(b.weights), b.weights)
	for i, c := range b.columns {
		var err error
		if b.columns[i], err = newColumn(c.part, raws[i], b.docs); err != nil {
			return &untold{term: b.last(c.part), why: fmt.Sprintf("column %q: %v", c.part.column, err)}
		}
	}
	b.unit, b.units = clusters(meta, cluster, b.docs)
	return nil
}

// clusters numbers the values that documents have in a column, and counts them. A document without
// one is a cluster of its own, and so is each without a column.
func clusters(meta *corpus.Metadata, column string, docs []int) (of []int, count int) {
	at := slices.IndexFunc(meta.Columns(), func(c corpus.Column) bool { return c.Name == column })
	number := map[corpus.Value]int{}
	for _, m := range docs {
		n := count
		if v := (corpus.Value{}); at >= 0 && meta.Value(m, at) != v {
			v = meta.Value(m, at)
			if old, ok := number[v]; ok {
				n = old
			}
			number[v] = n
		}
		of, count = append(of, n), max(count, n+1)
	}
	return of, count
}

// last returns the number of the last term that has all of these parts.
func (b *builder) last(parts ...part) int {
	for i := len(b.terms) - 1; i > 0; i-- {
		if !slices.ContainsFunc(parts, func(p part) bool { return !slices.Contains(b.terms[i].parts, p) }) {
			return i
		}
	}
	return 0
}

// column returns the place of a part among the columns, −1 if it has none yet.
func (b *builder) column(p part) int {
	return slices.IndexFunc(b.columns, func(c *column) bool { return c.part == p })
}

// layout sets the blocks: those of single columns first, then the products.
func (b *builder) layout() error {
	next := 1
	for i, c := range b.columns {
		b.blocks = append(b.blocks, block{name: c.part.column, of: []int{i}, begin: next, end: next + c.size})
		next += c.size
	}
	singles := next
	for _, t := range b.terms {
		if len(t.parts) < 2 {
			continue
		}
		of := []int{b.column(t.parts[0]), b.column(t.parts[1])}
		if b.product(of[0], of[1]) != nil {
			continue // the same with its parts swapped
		}
		if n := len(b.columns[of[0]].points) * len(b.columns[of[1]].points); n > maxPoints {
			return fmt.Errorf("effects: term %q has %d pairs of points; at most %d", t.String(), n, maxPoints)
		}
		k := block{name: t.String(), of: of, begin: next, pairs: map[[2]int32]int32{}}
		one, two := b.columns[of[0]], b.columns[of[1]]
		for m := range b.docs {
			p, _ := one.row(m)
			q, _ := two.row(m)
			for _, i := range p {
				for _, j := range q {
					if _, ok := k.pairs[[2]int32{i, j}]; !ok {
						k.pairs[[2]int32{i, j}] = int32(next)
						next++
					}
				}
			}
		}
		k.end = next
		b.blocks = append(b.blocks, k)
	}
	if b.cols = next; next > maxColumns {
		return fmt.Errorf("effects: the terms have %d levels, bins and pairs of them together; at most %d", next, maxColumns)
	}
	if n := len(b.docs); n <= singles {
		return fmt.Errorf("effects: %d documents do not tell the effects of terms with %d levels and bins together", n, singles)
	}
	return nil
}

// product returns the block of the products of two columns, nil if there is none.
func (b *builder) product(i, j int) *block {
	for at := range b.blocks {
		if of := b.blocks[at].of; len(of) == 2 && (of[0] == i && of[1] == j || of[0] == j && of[1] == i) {
			return &b.blocks[at]
		}
	}
	return nil
}

// fill sets X and its mean row.
func (b *builder) fill(ctx context.Context) error {
	b.ptr, b.mean = make([]int, 1, len(b.docs)+1), make([]float64, b.cols)
	for m, w := range b.weights {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.at, b.x = append(b.at, 0), append(b.x, 1)
		for _, k := range b.blocks {
			p, x := b.columns[k.of[0]].row(m)
			if len(k.of) == 1 {
				for i, v := range x {
					b.at, b.x = append(b.at, int32(k.begin)+p[i]), append(b.x, v)
				}
				continue
			}
			q, y := b.columns[k.of[1]].row(m)
			for i, v := range x {
				for j, u := range y {
					b.at, b.x = append(b.at, k.pairs[[2]int32{p[i], q[j]}]), append(b.x, v*u)
				}
			}
		}
		b.ptr = append(b.ptr, len(b.at))
		places, values := b.row(m)
		for i, c := range places {
			b.mean[c] += w * values[i]
		}
	}
	return nil
}

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
