package effects

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"

	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/internal/sheet"
	"github.com/jsmf-go/spectral/jsmf"
)

// Row is one number of Effects.
type Row struct {
	Term     string // TermEffects.Name; "" for a share
	Point    string // Point.Label; "" for a share and a slope
	Quantity string // Quantity.Name
	Measure  string // "share", "prediction", "difference" or "slope"

	Value, Low, High float64 // NaN where they cannot be told

	Documents  int  // at the point; all that count for a share and a slope
	Incomplete bool // Point.Incomplete
}

// Rows returns all numbers, one a row: the shares, and then for each term its predictions
// and differences, point by point, and its slopes.
func (e *Effects) Rows() []Row {
	var out []Row
	add := func(term string, p Point, measure string, all []jsmf.Interval) {
		for i, x := range all {
			out = append(out, Row{term, p.Label, e.Quantities[i].Name, measure, x.Value, x.Low, x.High, p.Documents, p.Incomplete})
		}
	}
	all := Point{Documents: e.Documents}
	add("", all, "share", e.Shares)
	for _, t := range e.Terms {
		for i, p := range t.Points {
			add(t.Name, p, "prediction", t.Predictions[i])
			add(t.Name, p, "difference", t.Differences[i])
		}
		add(t.Name, all, "slope", t.Slopes)
	}
	return out
}

// WriteCSV writes Rows as comma-separated values under a line with the names of the columns:
// term, point, quantity, measure, value, low, high, documents and incomplete (true or
// false). Numbers have all their digits; what is NaN is empty. Text that a spreadsheet may
// take for a formula gets an apostrophe before it, as in report.CSV.
func (e *Effects) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	err := out.Write([]string{"term", "point", "quantity", "measure", "value", "low", "high", "documents", "incomplete"})
	for _, r := range e.Rows() {
		if err != nil {
			break
		}
		err = out.Write([]string{sheet.Text(r.Term), pointCell(r.Point), sheet.Text(r.Quantity), r.Measure,
			sheet.Number(r.Value), sheet.Number(r.Low), sheet.Number(r.High), strconv.Itoa(r.Documents), strconv.FormatBool(r.Incomplete)})
	}
	out.Flush()
	return errs.Wrap("effects", errors.Join(err, out.Error()))
}

// pointCell returns the label of a point as a cell. A number is one with its sign.
func pointCell(label string) string {
	if _, err := strconv.ParseFloat(label, 64); err == nil {
		return label
	}
	return sheet.Text(label)
}
