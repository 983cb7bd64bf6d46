package effects

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Term is what is known of documents, as one part of an explanation of their topics: a
// column of metadata, or two.
type Term struct {
	parts []part // one, or the two of an interaction
}

// part is one column and what is made of it.
type part struct {
	column string
	kind   Kind // Categories, Numbers or Times
	df     int  // of Numbers
	bins   Bins // of Times
}

// numberDF is the number of degrees of freedom of Number.
const numberDF = 3

// Category is a column of categories. Each level that occurs has its own effect, which is
// compared with the average over the documents, so that no level is singled out. There may
// be thousands of levels; those in few documents get wide intervals.
func Category(column string) Term { return Term{[]part{{column: column, kind: Categories}}} }

// Number is a column of numbers whose effect is a smooth curve, a natural cubic spline with
// 3 degrees of freedom: see Spline.
func Number(column string) Term { return Spline(column, numberDF) }

// Spline is a column of numbers whose effect is a natural cubic spline with df degrees of
// freedom, 1 to 6: cubic pieces between df + 1 knots and straight lines beyond the first and the
// last; one straight line for df = 1. The knots are at quantiles of the documents' numbers, from 5 %
// to 95 % evenly (Harrell, Regression Modeling Strategies, 2015). Knots that coincide are one.
//
// The points are the numbers themselves if there are at most 25, otherwise 25 from the 1 %
// to the 99 % quantile.
func Spline(column string, df int) Term {
	return Term{[]part{{column: column, kind: Numbers, df: df}}}
}

// Time is a column of times, cut into bins. Each bin that has documents has its own
// effect. Bins run from that of the first to that of the last document; there are 10,000 at
// most.
func Time(column string, by Bins) Term {
	return Term{[]part{{column: column, kind: Times, bins: by}}}
}

// Interaction is two terms whose effects depend on each other, as a trend that
// differs between parties. It holds what either of them says alone, whether or not they are
// terms of the study too. One of them must be a Category.
func Interaction(a, b Term) Term { return Term{slices.Concat(a.parts, b.parts)} }

// String returns the names of the columns, as in "year × party".
func (t Term) String() string {
	var names []string
	for _, p := range t.parts {
		names = append(names, p.column)
	}
	return strings.Join(names, " × ")
}

// Bins says how long the bins of a Time are.
type Bins int

// Bins of the calendar, in UTC. A week begins on Monday, as in ISO 8601.
const (
	Day Bins = -5 + iota
	Week
	Month
	Quarter
	Year
)

// Equal is n bins, 2 to 10,000, with equal numbers of documents as far as that can be:
// documents of the same time are in the same bin.
func Equal(n int) Bins { return Bins(max(n, 0)) }

// calendar has for each of the bins of the calendar its name, the layout of its label, except for weeks and
// quarters, and its length in years, months and days.
var calendar = map[Bins]struct {
	unit, layout        string
	years, months, days int
}{
	Day:     {"day", time.DateOnly, 0, 0, 1},
	Week:    {"week", "", 0, 0, 7},
	Month:   {"month", "2006-01", 0, 1, 0},
	Quarter: {"quarter", "", 0, 3, 0},
	Year:    {"year", "2006", 1, 0, 0},
}

// unit returns the name of a calendar's bin, "" for bins of equal counts.
func (b Bins) unit() string { return calendar[b].unit }

// validate reports what is wrong with a term, without the metadata.
func (t Term) validate() error {
	switch len(t.parts) {
	case 0:
		return errors.New("it is empty; want Category, Number, Spline, Time or Interaction")
	case 1:
		return t.parts[0].validate()
	case 2:
	default:
		return fmt.Errorf("%v is an interaction of %d; want 2", t, len(t.parts))
	}
	a, b := t.parts[0], t.parts[1]
	if err := errors.Join(a.validate(), b.validate()); err != nil {
		return err
	}
	if a.column == b.column {
		return fmt.Errorf("%v is an interaction of a column with itself", t)
	}
	if a.kind != Categories && b.kind != Categories {
		return fmt.Errorf("%v is an interaction of %v and %v; one of the two must be a Category", t, a.kind, b.kind)
	}
	return nil
}

func (p part) validate() error {
	switch {
	case p.column == "":
		return fmt.Errorf("its column of %v has no name", p.kind)
	case p.kind == Numbers && (p.df < 1 || p.df > maxDF):
		return fmt.Errorf("the spline of %q has %d degrees of freedom; want 1 to %d", p.column, p.df, maxDF)
	case p.kind == Times && (p.bins < Day || p.bins == 0 || p.bins == 1 || p.bins > maxPoints):
		return fmt.Errorf("the bins of %q are none; want Day, Week, Month, Quarter, Year, or Equal(n) of 2 to %d", p.column, maxPoints)
	}
	return nil
}

// maxDF is the largest number of degrees of freedom of a spline.
const maxDF = 6
