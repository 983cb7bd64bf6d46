package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jsmf-go/spectral/metrics"
	"gonum.org/v1/gonum/mat"
)

// squares returns the mean over the documents of Σw².
func squares(w *mat.Dense) float64 {
	m, _ := w.Dims()
	s := 0.0
	for d := range m {
		for _, x := range w.RawRowView(d) {
			s += x * x
		}
	}
	return s / float64(m)
}

// table prints rows as they come.
type table struct {
	w   io.Writer
	csv bool
	err error
}

var columns = []struct {
	name string
	of   func(r *metrics.CompositionReport, w *mat.Dense) float64
}{
	{"precision", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.Precision.Mean }},
	{"recall", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.Recall.Mean }},
	{"F1", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.F1.Mean }},
	{"ℓ₁", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.L1.Mean }},
	{"ℓ∞", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.LInf.Mean }},
	{"Hellinger", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.Hellinger.Mean }},
	{"KL", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.KL.Mean }},
	{"non-supp", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.NonSupport.Mean }},
	{"Σw²", func(_ *metrics.CompositionReport, w *mat.Dense) float64 { return squares(w) }},
	{"prior-dist", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.PriorDistance }},
	{"zero", func(r *metrics.CompositionReport, _ *mat.Dense) float64 {
		return 100 * float64(r.L1.Undefined) / float64(len(r.L1.Values))
	}},
}

func (t *table) line(cells []string) {
	if t.err != nil {
		return
	}
	if t.csv {
		_, t.err = fmt.Fprintln(t.w, strings.Join(cells, ","))
		return
	}
	_, t.err = fmt.Fprintln(t.w, "| "+strings.Join(cells, " | ")+" |")
}

func (t *table) head() {
	cells := []string{"setting", "K", "method"}
	for _, c := range columns {
		if t.csv {
			cells = append(cells, c.name, c.name+" unseen")
		} else {
			cells = append(cells, c.name)
		}
	}
	t.line(append(cells, "ms", "prep"))
	if !t.csv {
		t.line(slices.Repeat([]string{"---"}, len(columns)+5))
	}
}

func (t *table) row(setting string, k int, method string, r [2]*metrics.CompositionReport, w [2]*mat.Dense, ms, prep float64) {
	if t.csv {
		method = strings.ReplaceAll(method, ",", ";")
	}
	cells := []string{setting, strconv.Itoa(k), method}
	number := func(x float64) string {
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	for _, c := range columns {
		a, b := number(c.of(r[0], w[0])), number(c.of(r[1], w[1]))
		if t.csv {
			cells = append(cells, a, b)
		} else {
			cells = append(cells, a+" / "+b)
		}
	}
	t.line(append(cells, number(ms), number(prep)))
}
