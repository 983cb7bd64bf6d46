package report

import (
	"time"

	"github.com/jsmf-go/spectral/jsmf/effects"
)

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
