package report

import (
	"fmt"
	"math"
	"slices"
	"time"

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
