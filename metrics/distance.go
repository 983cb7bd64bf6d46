package metrics

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/parallel"
)

// distances returns the ℓ₁ distances of the rows of a to those of b, both over the same words. Where
// most numbers of a row are one, as those of the words that a topic does not have, it compares the
// others, with rounding errors of some 1e-15.
func distances(ctx context.Context, a, b *mat.Dense, workers int) (*mat.Dense, error) {
	ka, n := a.Dims()
	kb, _ := b.Dims()
	out := mat.NewDense(ka, kb, nil)
	rows, cols := sparseRows(a), sparseRows(b)
	meet := columnsOf(cols, n)
	one := func(k, l int) float64 { return floats.Distance(a.RawRowView(k), b.RawRowView(l), 1) }
	if 4*meet.pairs(rows) < ka*kb*n {
		one = func(k, l int) float64 {
			x, y := &rows[k], &cols[l]
			return float64(n-len(x.at)-len(y.at))*math.Abs(x.base-y.base) + x.away(y.base) + y.away(x.base)
		}
	} else {
		meet.start = nil
	}
	return out, parallel.Chunks(ctx, ka, 1, workers, func(_, _, lo, hi int) error {
		for k := lo; k < hi; k++ {
			row := out.RawRowView(k)
			for l := range row {
				row[l] = one(k, l)
			}
			if meet.start != nil {
				meet.add(row, &rows[k])
			}
		}
		return nil
	})
}

// sparseRow is a row of which most numbers are one.
type sparseRow struct {
	base   float64
	at     []int     // where the others are
	values []float64 // they
	sorted []float64 // in ascending order
	sums   []float64 // of the first of sorted, len(at)+1
}

func sparseRows(a *mat.Dense) []sparseRow {
	k, _ := a.Dims()
	out := make([]sparseRow, k)
	for t := range out {
		row := a.RawRowView(t)
		x := sparseRow{base: majority(row)}
		for i, v := range row {
			if v != x.base {
				x.at, x.values = append(x.at, i), append(x.values, v)
			}
		}
		x.sorted = slices.Sorted(slices.Values(x.values))
		x.sums = make([]float64, len(x.at)+1)
		floats.CumSum(x.sums[1:], x.sorted)
		out[t] = x
	}
	return out
}

// majority returns the number that more than half of x are, or any of x if none is so frequent
// (Boyer and Moore 1981).
func majority(x []float64) (most float64) {
	lead := 0
	for _, v := range x {
		switch {
		case lead == 0:
			most, lead = v, 1
		case v == most:
			lead++
		default:
			lead--
		}
	}
	return most
}

// away returns the sum of |v − y| over the numbers v of the row that are not its base.
func (x *sparseRow) away(y float64) float64 {
	r, _ := slices.BinarySearch(x.sorted, y)
	n := len(x.sorted)
	return (float64(r)*y - x.sums[r]) + (x.sums[n] - x.sums[r] - float64(n-r)*y)
}

// columns holds for each word the rows in which it has another number than the base.
type columns struct {
	base   []float64 // of each row
	start  []int     // n+1
	row    []int32
	values []float64
}

func columnsOf(rows []sparseRow, n int) columns {
	c := columns{start: make([]int, n+1)}
	for _, x := range rows {
		c.base = append(c.base, x.base)
		for _, i := range x.at {
			c.start[i+1]++
		}
	}
	for i := range n {
		c.start[i+1] += c.start[i]
	}
	c.row, c.values = make([]int32, c.start[n]), make([]float64, c.start[n])
	next := slices.Clone(c.start)
	for t, x := range rows {
		for j, i := range x.at {
			c.row[next[i]], c.values[next[i]] = int32(t), x.values[j]
			next[i]++
		}
	}
	return c
}

// pairs returns how many numbers of rows meet one of c.
func (c columns) pairs(rows []sparseRow) (sum int) {
	for _, x := range rows {
		for _, i := range x.at {
			sum += c.start[i+1] - c.start[i]
		}
	}
	return sum
}

// add corrects the distances of x to the rows for the words at which neither has its base, which
// were counted as if either had.
func (c columns) add(to []float64, x *sparseRow) {
	for j, i := range x.at {
		v := x.values[j]
		lo, hi := c.start[i], c.start[i+1]
		values := c.values[lo:hi]
		for j, l := range c.row[lo:hi] {
			w, y := values[j], c.base[l]
			to[l] += math.Abs(v-w) - math.Abs(v-y) - math.Abs(x.base-w) + math.Abs(x.base-y)
		}
	}
	for l, d := range to {
		to[l] = max(d, 0)
	}
}
