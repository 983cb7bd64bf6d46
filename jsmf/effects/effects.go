package effects

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/internal/console"
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
	// some column of the terms or no topic explains them (jsmf.Compositions.Explained).
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

// together is the least part Apart of columns that do not go together: half of what the column says
// follows from the others (a variance inflation of 2).
const together = 0.5

// most is how many topics a sentence names at most.
const most = 3

// Notes returns what a reader has to know before the numbers, a sentence or two each: which columns go
// together, so that adjusting for one leaves little of the other (TermEffects.Apart below 0.5); for which
// topics raw and adjusted numbers go in opposite directions, one of them for sure; and which topics are
// not told apart (Alike).
func (e *Effects) Notes() []string {
	var out, names, parts, others []string
	terms := slices.SortedStableFunc(slices.Values(e.Terms), func(x, y TermEffects) int { return cmp.Compare(x.Apart, y.Apart) })
	for _, t := range terms {
		switch {
		case t.AdjustedFor == nil || len(names) > 1 && t.Apart >= together:
		case t.Apart < together:
			names, others, parts = append(names, t.Name), t.AdjustedFor, append(parts, fmt.Sprintf("%s is as uncertain as from %.0f %% of the data", t.Name, 100*t.Apart))
		case len(names) == 1:
			names = append(names, t.Name)
		}
	}
	if len(names) == 1 {
		names = append(names, others...)
	}
	if parts != nil {
		out = append(out, fmt.Sprintf("%s go together. Adjusted for the other columns, %s. What is not adjusted does not suffer from this.", console.And(names), console.And(parts)))
	}
	for i, t := range e.Terms {
		if t.AdjustedFor == nil {
			continue
		}
		var list []string
		for q := range e.Quantities {
			if text := opposite(&e.Terms[i-1], &t, q); text != "" {
				list = append(list, e.called(q)+text)
			}
		}
		if n := len(list); n > 0 {
			out = append(out, fmt.Sprintf("By %s, %d of %d topics go one way as the data are and the other way adjusted for %s: %s. The first numbers say what there was, those adjusted compare only what is alike in %s.",
				t.Name, n, len(e.Quantities), console.And(t.AdjustedFor), strings.Join(list[:min(n, most)], "; "), console.And(t.AdjustedFor)))
		}
	}
	for _, group := range e.Alike {
		var list []string
		for _, k := range group {
			list = append(list, e.called(k))
		}
		out = append(out, fmt.Sprintf("%s have nearly the same words and are not told apart: each has its part, by share, of their sum.", console.And(list)))
	}
	return out
}

// called returns the number of a topic and the name, or the name of a sum.
func (e *Effects) called(q int) string {
	if x := e.Quantities[q]; len(x.Topics) == 1 && x.Topics[0] == q {
		return fmt.Sprintf("“%d %s”", q, x.Name)
	}
	return "“" + e.Quantities[q].Name + "”"
}

// opposite says where a quantity goes most in opposite directions, if it does, one of them for sure: from
// the first to the last bin, per unit of a number, or from the average to a point.
func opposite(raw, adjusted *TermEffects, q int) (said string) {
	most := 0.0
	compare := func(x, y jsmf.Interval, text func() string) {
		sure := func(x jsmf.Interval) bool { return x.Low > 0 || x.High < 0 }
		if by := math.Abs(x.Value - y.Value); x.Value*y.Value < 0 && (sure(x) || sure(y)) && by > most {
			most, said = by, text()
		}
	}
	switch raw.Kind {
	case Numbers:
		x, y := raw.Slopes[q], adjusted.Slopes[q]
		compare(x, y, func() string {
			return fmt.Sprintf(" %+.2g points for each %s, adjusted %+.2g", 100*x.Value, cmp.Or(raw.Unit, "one more"), 100*y.Value)
		})
	case Times:
		text := func(t *TermEffects) string {
			first, last := t.Ends()
			return fmt.Sprintf("%.1f %% → %.1f %%", 100*t.Predictions[first][q].Value, 100*t.Predictions[last][q].Value)
		}
		compare(raw.Change(q), adjusted.Change(q), func() string { return fmt.Sprintf(" %s, adjusted %s", text(raw), text(adjusted)) })
	default:
		for p, at := range raw.Points {
			x, y := raw.Differences[p][q], adjusted.Differences[p][q]
			compare(x, y, func() string {
				return fmt.Sprintf(" at %s %+.1f points, adjusted %+.1f", at.Label, 100*x.Value, 100*y.Value)
			})
		}
	}
	return said
}

// Ends returns the numbers of the first and the last bin of time that are whole and have enough
// documents to tell; the same number twice if there are no two.
func (t *TermEffects) Ends() (first, last int) {
	var told []int
	for i, p := range t.Points {
		if !p.Incomplete && !p.Few() && !math.IsNaN(t.Predictions[i][0].Value) {
			told = append(told, i)
		}
	}
	if len(told) < 2 {
		return 0, 0
	}
	return told[0], told[len(told)-1]
}

// Change returns by how much a quantity changes between the Ends, 0 to 0 if they are the same. The
// interval is that of a difference of two independent numbers (Zou and Donner, Statistics in Medicine 27,
// 2008).
func (t *TermEffects) Change(quantity int) jsmf.Interval {
	first, last := t.Ends()
	if first == last {
		return jsmf.Interval{}
	}
	a, b := t.Predictions[first][quantity], t.Predictions[last][quantity]
	v := b.Value - a.Value
	return jsmf.Interval{Value: v, Low: v - math.Hypot(b.Value-b.Low, a.High-a.Value), High: v + math.Hypot(b.High-b.Value, a.Value-a.Low)}
}

// Recovery says in words which part of a difference is found in documents drawn from the model: the range
// over the quantities whose drawn differences are large enough to tell, and where it is least. documents is
// what these are called. "" without drawn replicates.
func (e *Effects) Recovery(documents string) string {
	if e.Drawn == 0 {
		return ""
	}
	var told []int
	for i, part := range e.Found {
		if !math.IsNaN(part) {
			told = append(told, i)
		}
	}
	if told == nil {
		return fmt.Sprintf("In %s drawn from this model, differences are too small to tell which part of them is found.", documents)
	}
	slices.SortStableFunc(told, func(i, j int) int { return cmp.Compare(e.Found[i], e.Found[j]) })
	least := told[0]
	return fmt.Sprintf("In %s drawn from this model, %.0f %% (%s) to %.0f %% of a difference is found, as far as it can be told (%d of %d).",
		documents, 100*e.Found[least], e.Quantities[least].Name, 100*e.Found[told[len(told)-1]], len(told), len(e.Found))
}
