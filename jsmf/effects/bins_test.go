package effects

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"
)

func utc(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		if t, err = time.Parse(time.DateOnly, s); err != nil {
			panic(err)
		}
	}
	return t.UTC()
}

// Bins are those of the calendar in UTC: leap days, the weeks of ISO years, and no day of 23
// or 25 hours, whatever the zone of the times was.
func TestBinsOfTheCalendar(t *testing.T) {
	for _, c := range []struct {
		by     Bins
		times  string
		labels string
		from   string // of the last bin
		days   float64
	}{
		{Day, "2024-02-28 2024-03-01", "2024-02-28 2024-02-29 2024-03-01", "2024-03-01", 1},
		{Day, "2023-02-28 2023-03-01", "2023-02-28 2023-03-01", "2023-03-01", 1},
		{Day, "2100-02-28 2100-03-01", "2100-02-28 2100-03-01", "2100-03-01", 1},
		{Day, "2024-03-30T23:30:00+01:00 2024-03-31T23:30:00+02:00", "2024-03-30 2024-03-31", "2024-03-31", 1}, // summer time begins
		{Day, "2024-06-01T00:30:00+02:00 2024-06-01T12:00:00Z", "2024-05-31 2024-06-01", "2024-06-01", 1},
		{Week, "2020-12-28 2021-01-04", "2020-W53 2021-W01", "2021-01-04", 7},
		{Week, "2021-01-03T23:59:59Z 2021-01-04", "2020-W53 2021-W01", "2021-01-04", 7},
		{Week, "2024-12-29 2024-12-30", "2024-W52 2025-W01", "2024-12-30", 7},
		{Week, "2016-01-01 2016-01-05", "2015-W53 2016-W01", "2016-01-04", 7},
		{Month, "2023-12-31 2024-02-01", "2023-12 2024-01 2024-02", "2024-02-01", 29},
		{Month, "2023-01-31 2023-02-01", "2023-01 2023-02", "2023-02-01", 28},
		{Quarter, "2023-12-31 2024-06-30T23:59:59Z", "2023-Q4 2024-Q1 2024-Q2", "2024-04-01", 91},
		{Year, "2023-06-01 2024-06-01", "2023 2024", "2024-01-01", 366},
		{Year, "1969-12-31T23:59:59.999999999Z 1970-01-01", "1969 1970", "1970-01-01", 365},
	} {
		var times []time.Time
		for _, s := range strings.Fields(c.times) {
			x, err := time.Parse(time.RFC3339, s)
			if err != nil {
				x = utc(s)
			}
			times = append(times, x)
		}
		b, err := c.by.cut(times)
		if err != nil {
			t.Error(err)
			continue
		}
		var labels []string
		for i, p := range b.bins {
			labels = append(labels, p.Label)
			if i > 0 && !p.From.Equal(b.bins[i-1].To) {
				t.Errorf("%s begins at %v, not %v", p.Label, p.From, b.bins[i-1].To)
			}
		}
		last := b.bins[len(b.bins)-1]
		if got := strings.Join(labels, " "); got != c.labels || !last.From.Equal(utc(c.from)) || last.From.Location() != time.UTC {
			t.Errorf("%s of %s: %s, the last from %v", c.by.unit(), c.times, got, last.From)
		}
		if got := last.To.Sub(last.From).Hours() / 24; got != c.days {
			t.Errorf("%s has %v days, want %v", last.Label, got, c.days)
		}
		if b.of[0] != 0 || b.of[len(b.of)-1] != len(b.bins)-1 || b.bins[0].Documents != 1 || last.Documents != 1 {
			t.Errorf("%s: documents are in %v", c.times, b.of)
		}
	}
}

// Each time is in the bin that holds it, and the bins of all documents are counted.
func TestBinsHoldTheirTimes(t *testing.T) {
	x := drawn(400)
	var times []time.Time
	for _, w := range x.when {
		if !w.IsZero() {
			times = append(times, w)
		}
	}
	for _, by := range []Bins{Day, Week, Month, Year, Equal(7)} {
		t.Run(cmp.Or(by.unit(), "equal counts"), func(t *testing.T) {
			b, err := by.cut(times)
			if err != nil {
				t.Fatal(err)
			}
			docs := make([]int, len(b.bins))
			for m, w := range times {
				p := b.bins[b.of[m]]
				if docs[b.of[m]]++; w.Before(p.From) || !w.Before(p.To) {
					t.Errorf("%v is in %s", w, p.Label)
				}
			}
			for i, p := range b.bins {
				if p.Documents != docs[i] {
					t.Errorf("%s has %d documents, want %d", p.Label, p.Documents, docs[i])
				}
				if by == Equal(7) && (docs[i] < len(times)/7-2 || docs[i] > len(times)/7+2) { // ties of an hour
					t.Errorf("%s has %d of %d documents", p.Label, docs[i], len(times))
				}
			}
		})
	}
}

// Documents of the same time stay together in bins of equal counts, of which there are
// fewer then.
func TestEqualBinsOfTies(t *testing.T) {
	var times []time.Time
	for day, n := range []int{1, 30, 1, 4} {
		times = append(times, slices.Repeat([]time.Time{utc("2024-05-01").AddDate(0, 0, day)}, n)...)
	}
	b, err := Equal(4).cut(times)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range b.bins {
		got = append(got, p.Label)
		if p.Incomplete {
			t.Errorf("%s is incomplete", p.Label)
		}
	}
	if want := "2024-05-01 to 2024-05-01, 2024-05-02 to 2024-05-04"; strings.Join(got, ", ") != want {
		t.Errorf("bins %q, want %s", got, want)
	}
	if b.bins[0].Documents != 1 || b.bins[1].Documents != 35 {
		t.Errorf("%+v", b.bins)
	}
	hours := []time.Time{utc("2024-05-01T08:00:00Z"), utc("2024-05-01T09:00:00Z"), utc("2024-05-01T10:00:00.5Z"), utc("2024-05-01T11:00:00Z")}
	if b, err = Equal(2).cut(hours); err != nil || b.bins[0].Label != "2024-05-01 08:00:00 to 2024-05-01 10:00:00" {
		t.Errorf("bins within a day: %+v, %v", b, err)
	}
}

// An outer bin is incomplete if documents begin or end in it at a time that their usual
// distances do not explain.
func TestIncompleteBins(t *testing.T) {
	every := func(step time.Duration, from, to string) (out []time.Time) {
		for x := utc(from); x.Before(utc(to)); x = x.Add(step) {
			out = append(out, x)
		}
		return out
	}
	const day = 24 * time.Hour
	workdays := func(from, to string) (out []time.Time) {
		for _, x := range every(time.Hour, from, to) {
			if d := x.Weekday(); x.Hour() >= 9 && x.Hour() < 17 && d != time.Saturday && d != time.Sunday {
				out = append(out, x.Add(7*time.Minute))
			}
		}
		return out
	}
	for _, c := range []struct {
		name        string
		by          Bins
		times       []time.Time
		first, last bool
	}{
		{"dates of whole months", Month, every(day, "2024-01-01", "2024-07-01"), false, false},
		{"dates from the second", Month, every(day, "2024-01-02", "2024-07-01"), true, false},
		{"dates to the last but one", Month, every(day, "2024-01-01", "2024-06-30"), false, true},
		{"dates of whole days", Day, every(day, "2024-01-01", "2024-02-01"), false, false},
		{"hours to the middle of a day", Day, every(time.Hour, "2024-01-01", "2024-01-20T12:00:00Z"), false, true},
		{"hours of whole days", Day, every(time.Hour, "2024-01-01", "2024-01-20"), false, false},
		{"office hours of whole weeks", Week, workdays("2024-01-01", "2024-03-04"), false, false},
		{"office hours of whole days", Day, workdays("2024-01-01", "2024-03-02"), false, false},
		{"office hours to a Wednesday", Week, workdays("2024-01-01", "2024-03-07"), false, true},
		{"a document in ten weeks, by years", Year, every(70*day, "2010-01-20", "2020-01-01"), false, false},
		{"a document in ten weeks, from July", Year, every(70*day, "2010-08-01", "2020-01-01"), true, false},
		{"a document a year for centuries", Year, every(365*day, "1500-01-01", "2020-01-01"), false, false},
		{"two documents", Year, []time.Time{utc("2010-05-01"), utc("2011-05-01")}, false, false},
	} {
		b, err := c.by.cut(c.times)
		if err != nil {
			t.Fatal(err)
		}
		if first, last := b.bins[0].Incomplete, b.bins[len(b.bins)-1].Incomplete; first != c.first || last != c.last {
			t.Errorf("%s: incomplete %v and %v, want %v and %v", c.name, first, last, c.first, c.last)
		}
		for _, p := range b.bins[1 : len(b.bins)-1] {
			if p.Incomplete {
				t.Errorf("%s: %s between others is incomplete", c.name, p.Label)
			}
		}
	}
}

// Months without documents between others are points, of which nothing is predicted.
func TestEmptyBins(t *testing.T) {
	b, err := Month.cut([]time.Time{utc("2024-01-05"), utc("2024-04-05"), utc("2024-01-06")})
	if err != nil {
		t.Fatal(err)
	}
	c := &column{part: part{column: "when", kind: Times, bins: Month}, points: b.bins, of: b.of}
	if err := c.places(); err != nil {
		t.Fatal(err)
	}
	if len(c.points) != 4 || c.values[1] != nil || c.values[2] != nil || c.values[0] == nil || c.values[3] == nil || c.size != 1 {
		t.Errorf("points %+v with %v", c.points, c.values)
	}
}
