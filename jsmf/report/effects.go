package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/internal/console"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
)

// effectsData is what the script draws of the effects: see effects.Effects.
type effectsData struct {
	Level      number         `json:"level"`
	Replicates int            `json:"replicates"`
	Documents  int            `json:"documents"`
	Quantities []quantityData `json:"quantities"`
	Shares     []fine         `json:"shares"` // value, low and high of each quantity
	Terms      []termData     `json:"terms"`
}

type quantityData struct {
	Name      string `json:"name"`
	Topic     int    `json:"topic"` // −1: made of topics
	Unmatched int    `json:"unmatched,omitempty"`
}

// termData holds three numbers, an estimate and its interval, for each point and
// quantity: those of a point follow one another.
type termData struct {
	Name        string      `json:"name"`
	Title       string      `json:"title"` // the name, and what it is adjusted for
	Columns     []string    `json:"columns"`
	Adjusted    bool        `json:"adjusted,omitempty"`
	Kind        string      `json:"kind"`
	Unit        string      `json:"unit,omitempty"`
	What        string      `json:"what"`
	Basis       string      `json:"basis"`
	Points      []pointData `json:"points"`
	Predictions []fine      `json:"predictions"`
	Differences []fine      `json:"differences"`
	Slopes      []fine      `json:"slopes,omitempty"` // for each quantity
	Ends        []string    `json:"ends,omitempty"`   // of the axis of times
	// Rows and Levels are orders of the quantities and the points with similar ones side
	// by side; Levels is empty where points have an order of their own.
	Rows   []int `json:"rows"`
	Levels []int `json:"levels,omitempty"`
}

type pointData struct {
	Label     string   `json:"label"`
	Short     string   `json:"short,omitempty"`  // where there is little room, if Label is long
	Labels    []string `json:"labels,omitempty"` // of an interaction: of each part
	X         *number  `json:"x,omitempty"`      // a number, or the days from the first bin to the middle of this one
	Documents int      `json:"n"`
	Timed     bool     `json:"timed,omitempty"` // X is a time

	Few        bool `json:"few,omitempty"`        // too few documents to tell
	Incomplete bool `json:"incomplete,omitempty"` // a bin that the documents do not fill
}

// fine is a number with four digits, for what is drawn and told.
type fine float64

// MarshalJSON writes four digits.
func (x fine) MarshalJSON() ([]byte, error) { return digits(float64(x), 4), nil }

// maxSimilar is how many rows and columns are put in order of likeness at most: it takes
// time with their third power.
const maxSimilar = 250

// checkEffects reports what is wrong with e, if it is not nil, as effects on k topics.
func checkEffects(e *effects.Effects, k int) error {
	if e == nil {
		return nil
	}
	if err := e.Validate(); err != nil {
		return err
	}
	if n := len(e.Quantities); n < k {
		return fmt.Errorf("effects: %d quantities, but the model has %d topics", n, k)
	}
	for i, x := range e.Quantities[:k] {
		if len(x.Topics) != 1 || x.Topics[0] != i {
			return fmt.Errorf("effects: quantity %d is not topic %d, but the model has %d topics", i, i, k)
		}
	}
	return nil
}

// onLarge returns the effects on the topics with these numbers, in ascending order, and on what was
// asked for besides the k topics.
func onLarge(e *effects.Effects, topics []int, k int) *effects.Effects {
	kept := slices.Clone(topics)
	for i := k; i < len(e.Quantities); i++ {
		kept = append(kept, i)
	}
	out := *e
	out.Quantities, out.Unmatched, out.Shares = some(e.Quantities, kept), some(e.Unmatched, kept), some(e.Shares, kept)
	out.Terms = slices.Clone(e.Terms)
	for i := range out.Terms {
		t := &out.Terms[i]
		t.Predictions, t.Differences, t.Slopes = slices.Clone(t.Predictions), slices.Clone(t.Differences), some(t.Slopes, kept)
		for j := range t.Points {
			t.Predictions[j], t.Differences[j] = some(t.Predictions[j], kept), some(t.Differences[j], kept)
		}
	}
	return &out
}

// some returns the entries of a at these places, nil for nil.
func some[T any](a []T, at []int) (out []T) {
	for _, i := range at {
		if a != nil {
			out = append(out, a[i])
		}
	}
	return out
}

// effects fills in what page and script show of effects, of many topics on the largest.
func (p *page) effects(d *data, e *effects.Effects, shares []float64) {
	if e == nil || len(e.Terms) == 0 {
		return
	}
	p.affected = vec.Order(p.K, func(k int) float64 { return shares[k] })[:min(p.K, maxDrawn)]
	slices.Sort(p.affected)
	about := p.Say(resting(e))
	if p.K > maxDrawn {
		about += fmt.Sprintf(" Of the %d topics, the %d largest.", p.K, maxDrawn)
		e = onLarge(e, p.affected, p.K)
	}
	out := &effectsData{Level: number(e.Level), Replicates: e.Replicates, Documents: e.Documents, Shares: flat(e.Shares...)}
	for i, q := range e.Quantities {
		x := quantityData{Name: p.quantity(q, i), Topic: -1, Unmatched: e.Unmatched[i]}
		if i < len(p.affected) {
			x.Topic = p.affected[i]
		}
		out.Quantities = append(out.Quantities, x)
	}
	p.Effects = p.newEffectsPage(e, about)
	for _, t := range e.Terms {
		x := term(t, len(e.Quantities))
		x.What, x.Basis = p.Effects.Terms[len(out.Terms)].What, p.Say(basis(t))
		out.Terms = append(out.Terms, x)
		p.HasTimes = p.HasTimes || t.Kind == effects.Times
	}
	d.Effects = out
}

// term returns what the script shows of a term.
func term(t effects.TermEffects, quantities int) termData {
	out := termData{Name: t.Name, Title: title(t), Columns: t.Columns, Adjusted: t.AdjustedFor != nil, Kind: string(t.Kind), Unit: t.Unit, Points: []pointData{}, Slopes: flat(t.Slopes...)}
	axis := newAxis(t)
	out.Ends = axis.ends(t)
	values := make([][]float64, len(t.Points)) // the differences
	for i, x := range t.Points {
		p := pointData{Label: atMost(x.Label, nameLength), Documents: x.Documents, Few: x.Few() && x.Documents > 0, Incomplete: x.Incomplete}
		if t.Kind == effects.Interactions {
			p.Labels = x.Labels
		}
		if len(x.Levels) < max(1, len(t.Columns)) { // some part is a number or a time
			at := number(axis.place(x))
			p.X, p.Timed = &at, !x.From.IsZero()
		}
		if t.Kind == effects.Times && t.Unit == "" {
			p.Short = x.From.Format(axis.short)
		}
		out.Points = append(out.Points, p)
		out.Predictions = append(out.Predictions, flat(t.Predictions[i]...)...)
		out.Differences = append(out.Differences, flat(t.Differences[i]...)...)
		for _, d := range t.Differences[i] {
			values[i] = append(values[i], d.Value)
		}
	}
	if n := len(t.Points); quantities <= maxSimilar {
		out.Rows = similarOrder(quantities, func(i, j int) float64 {
			return cosine(n, func(p int) (float64, float64) { return values[p][i], values[p][j] })
		})
	}
	if n := len(t.Points); t.Kind == effects.Categories && n <= maxSimilar {
		out.Levels = similarOrder(n, func(i, j int) float64 {
			return cosine(quantities, func(q int) (float64, float64) { return values[i][q], values[j][q] })
		})
	}
	return out
}

// cosine returns that of the angle between two rows of n numbers, without those that are
// not known in both; NaN if one has none but zeros.
func cosine(n int, at func(i int) (x, y float64)) float64 {
	var xx, xy, yy float64
	for i := range n {
		x, y := at(i)
		if math.IsNaN(x) || math.IsNaN(y) {
			continue
		}
		xx, xy, yy = xx+x*x, xy+x*y, yy+y*y
	}
	return xy / math.Sqrt(xx*yy)
}

// flat returns intervals as value, low, high, value, …
func flat(intervals ...jsmf.Interval) []fine {
	var out []fine
	for _, x := range intervals {
		out = append(out, fine(x.Value), fine(x.Low), fine(x.High))
	}
	return out
}

const day = 24 * time.Hour

// axis is that of the times of a term.
type axis struct {
	first, last time.Time // From of the first bin, To of the last
	unit, short string    // the length of a bin, if that is one of the calendar; a layout
}

// newAxis returns that of a term, whose points have no times if first is zero.
func newAxis(t effects.TermEffects) axis {
	a := axis{unit: t.Unit}
	for _, x := range t.Points {
		if x.From.IsZero() {
			continue
		}
		if a.first.IsZero() || x.From.Before(a.first) {
			a.first = x.From
		}
		if x.To.After(a.last) {
			a.last = x.To
		}
	}
	switch span := a.last.Sub(a.first); {
	case t.Unit == "year":
		a.short = "2006"
	case t.Unit == "month":
		a.short = "2006-01"
	case span < 3*day:
		a.short = "2 Jan 15:04"
	case span < 92*day:
		a.short = "2 Jan"
	case span < 3*365*day:
		a.short = "Jan 2006"
	default:
		a.short = "2006"
	}
	return a
}

// place returns where a point stands: at the middle of its bin, in days after the first
// begins, or at its number.
func (a axis) place(x effects.Point) float64 {
	if x.From.IsZero() {
		return x.Number
	}
	// A time.Duration has no room for more than 292 years.
	days := func(t time.Time) float64 {
		return (float64(t.Unix()-a.first.Unix()) + 1e-9*float64(t.Nanosecond()-a.first.Nanosecond())) / 86400
	}
	return (days(x.From) + days(x.To)) / 2
}

// ends are what to write below the first and the last bin: when they begin, or when the
// last ends, if bins are none of the calendar.
func (a axis) ends(t effects.TermEffects) []string {
	if a.first.IsZero() {
		return nil
	}
	last := a.last
	if a.unit != "" {
		for _, x := range t.Points {
			if x.To.Equal(a.last) {
				last = x.From
			}
		}
	}
	return []string{a.first.Format(a.short), last.Format(a.short)}
}

// effectsPage is what the template shows of the effects: what they rest on, and a table
// for each term.
type effectsPage struct {
	About string
	Notes []string // Effects.Notes
	Terms []effectTable
}

type effectTable struct {
	Term int // its number
	Name string
	// What says what the pictures show, and Caption what the table does.
	What, Caption string
	Time          bool // stands with the topics over time
	Heads         []string
	Rows          []effectRow
}

type effectRow struct {
	Name  string
	Cells []effectCell
}

type effectCell struct {
	Text  string
	Doubt bool // the interval includes zero
}

func (p *page) newEffectsPage(e *effects.Effects, about string) *effectsPage {
	out := &effectsPage{About: about, Notes: e.Notes()}
	for i, t := range e.Terms {
		table := effectTable{Term: i, Name: title(t), What: p.Say(what(t) + " " + basis(t)), Time: t.Kind == effects.Times}
		table.Caption = cmp.Or(p.Say(caption(t)), p.Say(what(t))) + " " + p.Say(basis(t))
		if t.Slopes != nil {
			table.Heads = append(table.Heads, "per "+unit(t))
		}
		for _, x := range t.Points {
			table.Heads = append(table.Heads, atMost(x.Label, nameLength))
		}
		for i, q := range e.Quantities {
			row := effectRow{Name: p.quantity(q, i)}
			if i < len(p.affected) {
				row.Name = fmt.Sprintf("%d %s", p.affected[i], row.Name)
			}
			if t.Slopes != nil {
				row.Cells = append(row.Cells, difference(t.Slopes[i], false))
			}
			for j, x := range t.Points {
				if table.Time {
					row.Cells = append(row.Cells, effectCell{Text: interval(t.Predictions[j][i], x.Few() && x.Documents > 0, "")})
				} else {
					row.Cells = append(row.Cells, difference(t.Differences[j][i], x.Few() && x.Documents > 0))
				}
			}
			table.Rows = append(table.Rows, row)
		}
		out.Terms = append(out.Terms, table)
	}
	return out
}

// quantity returns what quantity i is called.
func (p *page) quantity(q effects.Quantity, i int) string {
	if i < len(p.affected) {
		return p.names[p.affected[i]]
	}
	return atMost(q.Name, nameLength)
}

// resting says what effects rest on.
func resting(e *effects.Effects) string {
	s := fmt.Sprintf("From %s {documents}", count(int64(e.Documents)))
	if e.Missing > 0 {
		are := "are"
		if e.Missing == 1 {
			are = "is"
		}
		s += fmt.Sprintf("; %s more %s left out, for want of a value or of {a word} that the model knows", count(int64(e.Missing)), are)
	}
	s += fmt.Sprintf(". Intervals of %g\u00a0%% from %s replicates, in which the topics were fitted anew.", 100*e.Level, count(int64(e.Replicates)))
	s += recovered(e)
	most, some := 0, 0
	for _, n := range e.Unmatched {
		most = max(most, n)
		if n > 0 {
			some++
		}
	}
	if some > 0 {
		s += fmt.Sprintf(" A replicate without a match of a topic does not count for it: at most %s, for %d of %d topics.", count(int64(most)), some, len(e.Unmatched))
	}
	return s
}

// recovered says what is found of effects in documents drawn from the model.
func recovered(e *effects.Effects) string {
	if e.Drawn == 0 {
		return ""
	}
	s := fmt.Sprintf(" They have room for what fits to %s collections of {documents} drawn from the model were off by, and where that is sure it is taken off. ", count(int64(e.Drawn)))
	return s + strings.ReplaceAll(e.Recovery("{documents}"), " %", "\u00a0%")
}

// unit is one unit of the numbers of a term.
func unit(t effects.TermEffects) string {
	if t.Unit == "" {
		return "unit of " + t.Name
	}
	return t.Unit
}

// title is the name of a term, and what it is adjusted for.
func title(t effects.TermEffects) string {
	if t.AdjustedFor == nil {
		return t.Name
	}
	return t.Name + ", adjusted for " + strings.Join(t.AdjustedFor, " and ")
}

// what says in a sentence what the numbers of a term are.
func what(t effects.TermEffects) string {
	s := ""
	switch t.Kind {
	case effects.Numbers:
		s = fmt.Sprintf("By how many percentage points the share of a topic changes per %s, on average, and its share along %s.", unit(t), t.Name)
	case effects.Times:
		s = fmt.Sprintf("How far the share of a topic is from the average over all {documents} in each %s of %s, in percentage points.", cmp.Or(t.Unit, "bin"), t.Name)
	case effects.Interactions:
		s = fmt.Sprintf("How far the share of a topic is from the average over all {documents} at each pair of %s, in percentage points.", strings.Join(t.Columns, " and "))
	default:
		s = fmt.Sprintf("How far the share of a topic is from the average over all {documents} at each level of %s, in percentage points.", t.Name)
	}
	return s
}

// basis says what the numbers of a term are made of.
func basis(t effects.TermEffects) string {
	if t.AdjustedFor == nil {
		return "From the {documents} as they are, not adjusted for anything."
	}
	others := strings.Join(t.AdjustedFor, " and ")
	return fmt.Sprintf("Adjusted for %s: what would be left if the {documents} were alike in %s everywhere, by a linear regression.", others, others)
}

// caption says what the table of a term holds, where that is not what the pictures show.
func caption(t effects.TermEffects) string {
	switch t.Kind {
	case effects.Times:
		return fmt.Sprintf("The share of each topic in each %s of %s, in percent.", cmp.Or(t.Unit, "bin"), t.Name)
	case effects.Numbers:
		return fmt.Sprintf("By how many percentage points the share of a topic changes per %s, on average, and how far it is from the average over all {documents} along %s.", unit(t), t.Name)
	default:
		return ""
	}
}

// difference writes a difference in percentage points, with its interval.
func difference(x jsmf.Interval, few bool) effectCell {
	return effectCell{Text: interval(x, few, "+"), Doubt: !(x.Low > 0 || x.High < 0)}
}

// interval writes a number in percent.
func interval(x jsmf.Interval, few bool, sign string) string {
	if few {
		return "too few to tell"
	}
	return x.Text(func(v float64) string { return console.Number("%"+sign+".2f", 100*v) }, "")
}
