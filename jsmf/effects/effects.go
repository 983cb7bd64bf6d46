package effects

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/internal/nanjson"
	"github.com/jsmf-go/spectral/internal/sheet"
	"github.com/jsmf-go/spectral/jsmf"
)

// Effects is what a Study finds. It is written to and read from JSON by encoding/json.
//
// All numbers are shares of documents, or differences, ratios and slopes of shares, with
// an interval from the replicates. Shares and predictions are at least 0; before a bias is taken off
// (Interval.Bias) they sum to 1 over the K topics. What cannot be told, such as the share in a month without documents, is NaN.
type Effects struct {
	Level      float64 `json:"level"`      // the probability of the intervals
	Replicates int     `json:"replicates"` // warm ones, of the bootstrap
	Drawn      int     `json:"drawn"`      // drawn ones
	Documents  int     `json:"documents"`  // that count
	Units      int     `json:"units"`      // those, or clusters of them (Bootstrap.Cluster)
	// Missing is the number of documents that are left out, because they lack a value in
	// some column of the terms or have no word that the model knows.
	Missing int `json:"missing"`

	// Quantities are the K topics with their names (Model.Names), in order, and then of a model with a
	// Tree the families of Cut(0), which are told even where their topics are not.
	Quantities []Quantity `json:"quantities"`
	// Unmatched counts for each quantity the replicates that its intervals leave out,
	// because a topic in it has no match there (Replicate.Matched).
	Unmatched []int `json:"unmatched"`
	// Found says for each quantity how much of its differences comes back in documents drawn from the
	// model, in which they are known: the slope of the line through those found there against these, over
	// all points. 0.9 says that a tenth is lost, 1.1 that they come out a tenth too large. NaN where drawn
	// documents differ too little to tell (a standard error of the slope above 0.1), or without drawn
	// replicates. In the given documents more may be lost.
	Found []float64 `json:"found"`
	// Alike are groups of topics with nearly the same words, which documents do not tell apart: each
	// topic has its part, by share, of the numbers of its group.
	Alike  [][]int         `json:"alike,omitempty"`
	Shares []jsmf.Interval `json:"shares"` // the averages of the quantities over the documents
	// Terms are in the order of Study.Terms. What the documents hold as they are comes first, and after
	// it, if the study has other columns, what is left when these are alike (AdjustedFor).
	Terms []TermEffects `json:"terms"`
}

// Quantity is a topic, or the sum of the topics of a family.
type Quantity struct {
	Name   string `json:"name"`
	Topics []int  `json:"topics"`
}

// TermEffects is what a Study finds about one term, at each of its points: raw, from the documents as
// they are, or adjusted for the other columns of the study.
type TermEffects struct {
	Name    string   `json:"name"` // the columns, as in "year" or "year × party"
	Columns []string `json:"columns"`
	Kind    Kind     `json:"kind"`
	// Unit is that of the column of numbers, or the length of a bin of time, such as
	// "month"; "" if there is none.
	Unit   string  `json:"unit,omitempty"`
	Points []Point `json:"points"`
	// AdjustedFor are the columns of the other terms, nil for what is raw.
	AdjustedFor []string `json:"adjustedFor,omitempty"`
	// Apart, in (0, 1], says how far the documents tell the term from the columns that it is adjusted for:
	// its adjusted numbers are as certain as from this part of the documents, if the columns had nothing to
	// do with each other. It is 1/VIF, of the mean variance of the differences or of that of the slope
	// (VIF: the variance inflation factor). Near 0 the columns go together, and what is adjusted rests on
	// few documents. 1 for what is raw.
	Apart float64 `json:"apart"`

	// Predictions [point][quantity] are average shares of topics: raw, those of the documents at
	// the point, and for a number along its curve. Adjusted, what the average over all documents would
	// be if they were at the point and otherwise as they are (marginal predictions). NaN where
	// there are few documents (Point.Few) or none, at a pair of points that no document has, and at a
	// point of a single term if an interaction has such a pair with it.
	Predictions [][]jsmf.Interval `json:"predictions"`
	// Differences [point][quantity] are the predictions less the average over all documents.
	Differences [][]jsmf.Interval `json:"differences"`
	// Slopes are the changes of the quantities per unit of the number, averaged over the
	// documents. Only Numbers have them; otherwise nil.
	Slopes []jsmf.Interval `json:"slopes,omitempty"`
}

// Point is a place at which a term has an effect: a level, a number, a bin of time, or a
// pair of these.
type Point struct {
	Label string `json:"label"`
	// Labels are those of the two points that a point of an interaction is made of;
	// otherwise nil.
	Labels []string `json:"labels,omitempty"`
	// Levels are the numbers of the levels in their columns (Metadata.Categories): one for
	// each Category of the term, otherwise none.
	Levels []int     `json:"levels,omitempty"`
	Number float64   `json:"number"`         // of Numbers, otherwise 0
	From   time.Time `json:"from,omitempty"` // of Times, in UTC: the bin is [From, To)
	To     time.Time `json:"to,omitempty"`
	// Documents is the number of documents at the point, and for numbers of those that are
	// nearer to it than to others.
	Documents int `json:"documents"`
	// Units is on how many documents the numbers at the point rest, or, in a study with
	// Bootstrap.Cluster, clusters: those at the point, and for numbers all, or all of the same level.
	Units int `json:"units"`
	// Incomplete says that the documents begin or end within the bin: the first bin begins, or
	// the last one ends, with a stretch without documents that is longer than those between
	// documents, leaving out the longest of these, which fill a twentieth of the time.
	Incomplete bool `json:"incomplete,omitempty"`
}

// Few reports whether too few documents are at a point to tell its numbers, which are NaN: fewer than
// ten Units.
func (p Point) Few() bool { return few(p.Units) }

func few(units int) bool { return units < 10 }

// Kind is what the points of a term are.
type Kind string

const (
	Categories   Kind = "categories"   // levels, in the order of the column
	Numbers      Kind = "numbers"      // numbers, ascending
	Times        Kind = "times"        // bins of time, ascending, and those without documents between others
	Interactions Kind = "interactions" // pairs of points, those of the first term outermost
)

// MarshalJSON implements json.Marshaler. A number that JSON lacks becomes the string "NaN".
func (e *Effects) MarshalJSON() ([]byte, error) { return nanjson.Marshal(*e) }

// UnmarshalJSON implements json.Unmarshaler. It is an error if the sizes of the lists do not
// fit together.
func (e *Effects) UnmarshalJSON(b []byte) error {
	var x Effects
	if err := nanjson.Unmarshal(b, &x); err != nil {
		return errs.Wrap("effects", err)
	}
	if err := x.Validate(); err != nil {
		return err
	}
	*e = x
	return nil
}

// Validate reports lists whose sizes do not fit together, and terms without a kind.
func (e *Effects) Validate() error { return errs.Wrap("effects", e.check()) }

func (e *Effects) check() error {
	q := len(e.Quantities)
	if len(e.Unmatched) != q || len(e.Shares) != q || len(e.Found) != q {
		return fmt.Errorf("%d quantities, %d shares, %d counts of what is unmatched and %d parts that are found", q, len(e.Shares), len(e.Unmatched), len(e.Found))
	}
	for i, t := range e.Terms {
		n := len(t.Points)
		if t.AdjustedFor != nil && (i == 0 || e.Terms[i-1].Name != t.Name || len(e.Terms[i-1].Points) != n) {
			return fmt.Errorf("term %q, adjusted, does not follow the same term as it is", t.Name)
		}
		if !slices.Contains([]Kind{Categories, Numbers, Times, Interactions}, t.Kind) {
			return fmt.Errorf("term %q is of the kind %q", t.Name, t.Kind)
		}
		if len(t.Predictions) != n || len(t.Differences) != n {
			return fmt.Errorf("term %q: %d points, %d predictions and %d differences", t.Name, n, len(t.Predictions), len(t.Differences))
		}
		if t.Slopes != nil && len(t.Slopes) != q {
			return fmt.Errorf("term %q: %d slopes of %d quantities", t.Name, len(t.Slopes), q)
		}
		for i, p := range t.Points {
			if len(t.Predictions[i]) != q || len(t.Differences[i]) != q {
				return fmt.Errorf("term %q at %q: %d predictions and %d differences of %d quantities", t.Name, p.Label, len(t.Predictions[i]), len(t.Differences[i]), q)
			}
		}
	}
	return nil
}

// Row is one number of Effects.
type Row struct {
	Term     string // TermEffects.Name; "" for a share
	Adjusted bool   // for the other columns of the study, see TermEffects
	Point    string // Point.Label; "" for a share and a slope
	Quantity string // Quantity.Name
	Measure  string // "share", "prediction", "difference" or "slope"

	Value, Low, High float64 // NaN where they cannot be told

	Documents  int  // at the point; all that count for a share and a slope
	Few        bool // Point.Few
	Incomplete bool // Point.Incomplete
}

// Withheld reports whether there is a value without an interval: see [jsmf.Interval].
func (r Row) Withheld() bool {
	return jsmf.Interval{Value: r.Value, Low: r.Low, High: r.High}.Withheld()
}

// Rows returns all numbers, one a row: the shares, and then for each of Terms its predictions
// and differences, point by point, and its slopes.
func (e *Effects) Rows() []Row {
	var out []Row
	add := func(t TermEffects, p Point, measure string, all []jsmf.Interval) {
		for i, x := range all {
			out = append(out, Row{t.Name, t.AdjustedFor != nil, p.Label, e.Quantities[i].Name, measure, x.Value, x.Low, x.High, p.Documents, p.Few(), p.Incomplete})
		}
	}
	all := Point{Documents: e.Documents, Units: e.Units}
	add(TermEffects{}, all, "share", e.Shares)
	for _, t := range e.Terms {
		for i, p := range t.Points {
			add(t, p, "prediction", t.Predictions[i])
			add(t, p, "difference", t.Differences[i])
		}
		add(t, all, "slope", t.Slopes)
	}
	return out
}

// WriteCSV writes Rows as comma-separated values under a line with the names of the columns:
// term, adjusted, point, quantity, measure, value, low, high, withheld, documents, few and
// incomplete (true or false). Numbers have all their digits; what is NaN is empty. Text that a spreadsheet may
// take for a formula gets an apostrophe before it, as in report.WriteTopicsCSV.
func (e *Effects) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	err := out.Write([]string{"term", "adjusted", "point", "quantity", "measure", "value", "low", "high", "withheld", "documents", "few", "incomplete"})
	for _, r := range e.Rows() {
		if err != nil {
			break
		}
		err = out.Write([]string{sheet.Text(r.Term), strconv.FormatBool(r.Adjusted), pointCell(r.Point), sheet.Text(r.Quantity), r.Measure,
			sheet.Number(r.Value), sheet.Number(r.Low), sheet.Number(r.High), strconv.FormatBool(r.Withheld()), strconv.Itoa(r.Documents), strconv.FormatBool(r.Few), strconv.FormatBool(r.Incomplete)})
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
