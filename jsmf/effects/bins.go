package effects

import (
	"fmt"
	"slices"
	"time"
)

// maxPoints is the largest number of bins of a Time, and of points of an Interaction.
const maxPoints = 10_000

// binned holds the bins of a column of times.
type binned struct {
	bins []Point // with From, To, Label, Documents and Incomplete
	of   []int   // the bin of each time
}

// cut puts times into bins.
func (b Bins) cut(times []time.Time) (*binned, error) {
	sorted := slices.SortedFunc(slices.Values(times), time.Time.Compare)
	first, last := sorted[0], sorted[len(sorted)-1]
	unit := time.Second // how long a document lasts
	if !slices.ContainsFunc(sorted, func(t time.Time) bool { return !t.Equal(floor(Day, t)) }) {
		unit = 24 * time.Hour
	}
	out := &binned{of: make([]int, len(times))}
	if b > 0 {
		for i := range int(b) {
			from := sorted[i*len(sorted)/int(b)]
			if n := len(out.bins); n == 0 || from.After(out.bins[n-1].From) {
				out.bins = append(out.bins, Point{From: from})
			}
		}
		for i := range out.bins[1:] {
			out.bins[i].To = out.bins[i+1].From
		}
		out.bins[len(out.bins)-1].To = last.Truncate(time.Second).Add(unit)
		labelSpans(out.bins)
	} else {
		for from := floor(b, first); !from.After(last); {
			if len(out.bins) == maxPoints {
				return nil, fmt.Errorf("its times run from %s to %s, which are more than %d bins, one for each %s", first.Format(time.DateOnly), last.Format(time.DateOnly), maxPoints, b.unit())
			}
			to := b.next(from)
			out.bins = append(out.bins, Point{Label: b.label(from), From: from, To: to})
			from = to
		}
		out.incomplete(sorted, unit)
	}
	for m, t := range times {
		i, found := slices.BinarySearchFunc(out.bins, t, func(p Point, t time.Time) int { return p.From.Compare(t) })
		if !found {
			i--
		}
		out.of[m] = i
		out.bins[i].Documents++
	}
	return out, nil
}

// floor returns the beginning of the bin that t is in.
func floor(b Bins, t time.Time) time.Time {
	year, month, day := t.UTC().Date()
	switch b {
	case Week:
		day -= (int(t.UTC().Weekday()) + 6) % 7 // since Monday
	case Month:
		day = 1
	case Quarter:
		month, day = month-(month-1)%3, 1
	case Year:
		month, day = time.January, 1
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// next returns the end of the bin that begins at t.
func (b Bins) next(t time.Time) time.Time {
	c := calendar[b]
	return t.AddDate(c.years, c.months, c.days)
}

// label names the bin that begins at t.
func (b Bins) label(t time.Time) string {
	switch b {
	case Week:
		year, week := t.ISOWeek()
		return fmt.Sprintf("%d-W%02d", year, week)
	case Quarter:
		return fmt.Sprintf("%d-Q%d", t.Year(), (t.Month()+2)/3)
	}
	return t.Format(calendar[b].layout)
}

// labelSpans labels bins by their first and last moments, in days if that makes the labels distinct.
func labelSpans(bins []Point) {
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04:05", "2006-01-02 15:04:05.999999999"} {
		seen := map[string]bool{}
		for i, p := range bins {
			bins[i].Label = p.From.Format(layout) + " to " + p.To.Add(-1).Format(layout)
			seen[bins[i].Label] = true
		}
		if len(seen) == len(bins) {
			return
		}
	}
}

// usual is the share of the time that gaps of a usual length have to cover, see incomplete.
const usual = 0.95

// incomplete marks the first bin if it begins with an unusually long gap, and the last one if it
// ends with one. A gap is unusual if gaps between documents of at least its length take less than
// 1 − usual of the time. The times of the documents are sorted; each document lasts for a unit.
func (b *binned) incomplete(sorted []time.Time, unit time.Duration) {
	begin, end := sorted[0], sorted[len(sorted)-1]
	span := seconds(begin, end)
	unusual := func(stretch float64) bool {
		if stretch <= 0 || span == 0 {
			return false
		}
		sum := 0.0
		for i := range sorted[1:] {
			if gap := seconds(sorted[i], sorted[i+1]) - unit.Seconds(); gap >= stretch {
				sum += gap
			}
		}
		return sum < (1-usual)*span
	}
	first, last := &b.bins[0], &b.bins[len(b.bins)-1]
	first.Incomplete = unusual(seconds(first.From, begin))
	last.Incomplete = unusual(seconds(end, last.To)-unit.Seconds()) || last.Incomplete
}

// seconds returns the time from a to b, also where it is beyond the 292 years of a time.Duration.
func seconds(a, b time.Time) float64 {
	return float64(b.Unix()-a.Unix()) + float64(b.Nanosecond()-a.Nanosecond())/1e9
}
