package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"
)

func uniform(b *mat.Dense) *mat.Dense {
	n, k := b.Dims()
	u := mat.NewDense(n, k, nil)
	for i := range n {
		for t := range k {
			u.Set(i, t, 1/float64(n))
		}
	}
	return u
}

// distances returns minus the ℓ₁ distance of each column of a from each of b.
func distances(a, b *mat.Dense) *mat.Dense {
	n, k := a.Dims()
	d := mat.NewDense(k, k, nil)
	for i := range n {
		x, y := a.RawRowView(i), b.RawRowView(i)
		for t, v := range x {
			row := d.RawRowView(t)
			for l, w := range y {
				row[l] -= math.Abs(v - w)
			}
		}
	}
	return d
}

// errorsL1 returns mean and standard deviation over topics of the ℓ₁ distance;
// column match[t] of got is to be column t of want, t itself where match is nil.
func errorsL1(got, want *mat.Dense, match []int) (mean, std float64) {
	n, k := want.Dims()
	d := make([]float64, k)
	for t := range k {
		l := t
		if match != nil {
			l = match[t]
		}
		for i := range n {
			d[t] += math.Abs(got.At(i, l) - want.At(i, t))
		}
		mean += d[t] / float64(k)
	}
	for _, v := range d {
		std += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(std / float64(k-1))
}

// table prints rows as they come.
type table struct {
	w   io.Writer
	csv *csv.Writer
	err error
}

var header = []string{"setting", "documents", "method", "l1 mean", "l1 std", "seconds", "note"}

func newTable(w io.Writer, asCSV bool) *table {
	t := &table{w: w}
	if asCSV {
		t.csv = csv.NewWriter(w)
		t.err = t.csv.Write(header)
		return t
	}
	_, t.err = fmt.Fprintf(w, "| %s |\n|---|---|---|---|---|---|---|\n", strings.Join(header, " | "))
	return t
}

func (t *table) row(setting, docs, method string, mean, std, seconds float64, note string) error {
	number := func(format string, v float64) string {
		if math.IsNaN(v) {
			return ""
		}
		return fmt.Sprintf(format, v)
	}
	cells := []string{setting, docs, method, number("%.4f", mean), number("%.4f", std), number("%.3f", seconds), note}
	switch {
	case t.err != nil:
	case t.csv != nil:
		t.err = t.csv.Write(cells)
		t.csv.Flush()
		t.err = errors.Join(t.err, t.csv.Error())
	default:
		_, t.err = fmt.Fprintf(t.w, "| %s |\n", strings.Join(cells, " | "))
	}
	return t.err
}
