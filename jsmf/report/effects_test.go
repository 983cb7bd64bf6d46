package report

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
	"github.com/jsmf-go/spectral/jsmf/report/internal/sample"
)

type shownEffects struct {
	Effects *struct {
		Level                 float64
		Replicates, Documents int
		Quantities            []struct {
			Name      string
			Topic     int
			Unmatched int
		}
		Shares []*float64
		Terms  []struct {
			Name, Title, Kind, Unit, What string
			Points                        []struct {
				Label           string
				Labels          []string
				X               *float64
				Timed           bool
				N               int
				Few, Incomplete bool
			}
			Predictions, Differences, Slopes []*float64
			Rows, Levels                     []int
		}
	}
}

func readEffects(t testing.TB, page string) *shownEffects {
	t.Helper()
	s := new(shownEffects)
	if err := json.Unmarshal([]byte(between(t, page, `<script type="application/json" id="data">`, `</script>`)), s); err != nil {
		t.Fatal(err)
	}
	if s.Effects == nil {
		t.Fatal("the page has no effects")
	}
	return s
}

// TestEffectsData: the page holds each number of the effects with four digits, null where
// it is not known, and what its points are.
func TestEffectsData(t *testing.T) {
	m := model(t, 300, 6)
	e := sample.Effects(m, 4)
	got := readEffects(t, write(t, m, Options{Effects: e})).Effects
	if got.Level != e.Level || got.Replicates != e.Replicates || got.Documents != e.Documents || len(got.Quantities) != len(e.Quantities) || len(got.Terms) != len(e.Terms) {
		t.Fatalf("%+v", got)
	}
	for i, q := range got.Quantities {
		topic := i
		if i >= m.K() {
			topic = -1
		}
		if want := e.Quantities[i]; q.Name != want.Name || q.Topic != topic || q.Unmatched != e.Unmatched[i] {
			t.Errorf("quantity %d is %+v", i, q)
		}
	}
	same := func(what string, got []*float64, rows ...[]jsmf.Interval) {
		t.Helper()
		var want []float64
		for _, x := range slices.Concat(rows...) {
			want = append(want, x.Value, x.Low, x.High)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
		}
		for i, w := range want {
			if (got[i] == nil) != math.IsNaN(w) || got[i] != nil && math.Abs(*got[i]-w) > 5.001e-4*math.Abs(w) { // half of the fourth digit
				t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], w)
			}
		}
	}
	same("shares", got.Shares, e.Shares)
	for i, g := range got.Terms {
		w := e.Terms[i]
		if g.Name != w.Name || g.Kind != string(w.Kind) || g.Unit != w.Unit || len(g.Points) != len(w.Points) {
			t.Fatalf("term %d is %s, %s with %d points", i, g.Name, g.Kind, len(g.Points))
		}
		same(g.Name+", predictions", g.Predictions, w.Predictions...)
		same(g.Name+", differences", g.Differences, w.Differences...)
		same(g.Name+", slopes", g.Slopes, w.Slopes)
		for j, p := range g.Points {
			x := w.Points[j]
			if p.Label != x.Label || p.N != x.Documents || p.Incomplete != x.Incomplete || p.Few != (x.Few() && x.Documents > 0) || !slices.Equal(p.Labels, x.Labels) || p.Timed != !x.From.IsZero() {
				t.Errorf("%s: point %d is %+v, want %+v", w.Name, j, p, x)
			}
			var at *float64
			switch {
			case p.Timed:
				days := float64(x.From.Unix()+x.To.Unix())/2/86400 - 17897 // 2019-01-01
				at = &days
			case w.Kind == effects.Numbers:
				at = &x.Number
			}
			if (p.X == nil) != (at == nil) || at != nil && !near(*p.X, *at, 1e-5) {
				t.Errorf("%s: point %d stands at %v, want %v", w.Name, j, p.X, at)
			}
		}
		if rows := slices.Sorted(slices.Values(g.Rows)); !slices.Equal(rows, upTo(len(e.Quantities))) {
			t.Errorf("%s: the rows are %v", g.Name, g.Rows)
		}
		if levels := slices.Sorted(slices.Values(g.Levels)); w.Kind == effects.Categories && !slices.Equal(levels, upTo(4)) || w.Kind != effects.Categories && levels != nil {
			t.Errorf("%s: the levels are %v", g.Name, g.Levels)
		}
	}
	if x := got.Terms[0].Points[0].X; x == nil || *x != 15.5 {
		t.Errorf("January stands at %v, want day 15.5", x)
	}
}

// TestEffectsTimes: an axis of times says when it begins and ends, as briefly as its length
// allows, and bins have places that tell them apart.
func TestEffectsTimes(t *testing.T) {
	begin := time.Date(2026, 11, 21, 19, 0, 36, 0, time.UTC)
	for _, c := range []struct {
		unit string
		bin  time.Duration
		ends [2]string
	}{
		{"", time.Hour, [2]string{"21 Nov 19:00", "22 Nov 05:00"}},
		{"", 7 * day, [2]string{"21 Nov", "30 Jan"}},
		{"", 90 * day, [2]string{"Nov 2026", "May 2029"}},
		{"", 2000 * day, [2]string{"2026", "2081"}},
		{"day", day, [2]string{"21 Nov", "30 Nov"}},
		{"month", 30 * day, [2]string{"2026-11", "2027-08"}},
		{"year", 365 * day, [2]string{"2026", "2035"}},
	} {
		x := effects.TermEffects{Kind: effects.Times, Unit: c.unit}
		for i := range 10 {
			from := begin.Add(time.Duration(i) * c.bin)
			x.Points = append(x.Points, effects.Point{Label: "a long one", From: from, To: from.Add(c.bin)})
			x.Predictions, x.Differences = append(x.Predictions, nil), append(x.Differences, nil)
		}
		got := term(x, 0)
		if !slices.Equal(got.Ends, c.ends[:]) {
			t.Errorf("ten bins of %v and the unit %q run from %q, want %q", c.bin, c.unit, got.Ends, c.ends)
		}
		for i, p := range got.Points {
			if want := (float64(i) + 0.5) * float64(c.bin) / float64(day); math.Abs(float64(*p.X)-want) > 1e-9*want {
				t.Errorf("bin %d of %v stands at %v, want %v", i, c.bin, *p.X, want)
			}
			if (p.Short != "") != (c.unit == "") {
				t.Errorf("bin %d of %v and the unit %q has the short name %q", i, c.bin, c.unit, p.Short)
			}
		}
	}
}

// TestDoubt: the page holds the intervals of the correlations that it shows, and the scores
// that a number of topics was chosen by.
func TestDoubt(t *testing.T) {
	m := model(t, 300, 6)
	if page := write(t, m); strings.Contains(page, `"low":[`) || strings.Contains(page, `"scores":`) {
		t.Error("a page on a model alone has intervals or scores")
	}
	u := sample.Uncertainty(m)
	u.Pairs[7].Correlation.Low = math.NaN() // of topics 1 and 4
	u.Pairs[5].Correlation.Value += 0.03    // a bias was taken off
	u.Drawn, u.Found, u.Repeat = 8, 0.52, 0.1
	m, err := m.With(jsmf.Additions{Uncertainty: u})
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Matrix struct{ Corr, Low, High []*float64 }
	}
	page := write(t, m)
	if err := json.Unmarshal([]byte(between(t, page, `<script type="application/json" id="data">`, `</script>`)), &s); err != nil {
		t.Fatal(err)
	}
	if n := len(u.Pairs); len(s.Matrix.Low) != n || len(s.Matrix.High) != n || len(s.Matrix.Corr) != n {
		t.Fatalf("%d pairs, %d and %d bounds, want %d", len(s.Matrix.Corr), len(s.Matrix.Low), len(s.Matrix.High), n)
	}
	if !strings.Contains(page, "52 % of a correlation between topics is found") {
		t.Error("the page does not say which part of the correlations is found")
	}
	for i, p := range u.Pairs { // by K and then L, as the page has them
		c := p.Correlation
		if (s.Matrix.Low[i] == nil) != math.IsNaN(c.Low) || s.Matrix.Low[i] != nil && math.Abs(*s.Matrix.Low[i]-c.Low) > 0.001 || math.Abs(*s.Matrix.High[i]-c.High) > 0.001 || math.Abs(*s.Matrix.Corr[i]-c.Value) > 0.001 {
			t.Errorf("pair %d, %d: the page has another number or interval than %v", p.K, p.L, c)
		}
	}
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// TestEffectsWords: what the effects rest on is said in words, and their numbers are in
// tables that need no script.
func TestEffectsWords(t *testing.T) {
	m := model(t, 300, 6)
	e := sample.Effects(m, 4)
	e.Terms[1].Differences[2][3] = jsmf.Interval{Value: -0.0123, Low: -0.03, High: 0.0049}
	e.Terms[1].Differences[2][2] = jsmf.Interval{Value: 0.0123, Low: math.NaN(), High: math.NaN()}
	e.Drawn, e.Found = 8, []float64{0.5, 0.9, math.NaN(), 1, 1, 1, 1, 1}
	page := write(t, m, Options{Effects: e})
	for _, want := range []string{
		"In documents drawn from this model, 50\u00a0% (", "to 100\u00a0% of a difference is found, as far as it can be told (7 of 8)",
		`<td class="num muted">&#43;1.23 (too little is known for an interval)</td>`,
		"From 2\u202f225 documents; 12 more are left out", "95\u00a0% from 100 replicates", "at most 3, for 2 of 8 topics",
		"at each level of party", "changes per year", "at each pair of party and place", "in each month of month",
		`<td class="num muted">−1.23 (−3.00 to &#43;0.49)</td>`, `<td class="num muted">too few to tell</td>`,
		"<summary>The numbers: party × month</summary>", "<summary>The numbers: party × month, adjusted for age and place</summary>",
		"From the documents as they are, not adjusted for anything.", "Adjusted for age and place: what would be left if the documents were alike in age and place everywhere",
		"<li>party × month, age and place go together. Adjusted for the other columns, party × month is as uncertain as from 30 % of the data.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if page := write(t, m); strings.Contains(page, `id="effects"`) || strings.Contains(page, `id="time"`) || strings.Contains(page, `"effects":`) {
		t.Error("a page without effects has sections of theirs")
	}
	page = write(t, m, Options{Effects: e, Nouns: Nouns{"artist", "artists", "listener", "listeners"}})
	for _, want := range []string{"what is known of listeners. From 2\u202f225 listeners; 12 more are left out, for want of a value or of an artist", "the average over all listeners at"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	e.Terms = e.Terms[1:2]
	if page := write(t, m, Options{Effects: e}); strings.Contains(page, `id="time"`) || !strings.Contains(page, `id="effects"`) {
		t.Error("effects of a category alone want a section of effects and none of time")
	}
}

// TestEffectsCheck: effects of another model, or with lists that do not fit together, are
// refused with the place.
func TestEffectsCheck(t *testing.T) {
	m := model(t, 300, 6)
	for name, c := range map[string]struct {
		spoil func(e *effects.Effects)
		want  string
	}{
		"another model": {func(e *effects.Effects) { *e = *sample.Effects(model(t, 300, 5), 4) }, "quantity 5 is not topic 5"},
		"few topics":    {func(e *effects.Effects) { e.Quantities = e.Quantities[:5] }, "5 quantities"},
		"shares":        {func(e *effects.Effects) { e.Shares = nil }, "0 shares"},
		"points":        {func(e *effects.Effects) { e.Terms[2].Predictions = nil }, `term "age": 25 points, 0 predictions`},
		"quantities":    {func(e *effects.Effects) { e.Terms[1].Differences[1] = nil }, "term \"party\" at \"" + sample.Words(7) + " 1\": 8 predictions and 0 differences"},
		"slopes":        {func(e *effects.Effects) { e.Terms[2].Slopes = e.Terms[2].Slopes[:2] }, "2 slopes"},
	} {
		e := sample.Effects(m, 4)
		c.spoil(e)
		var b strings.Builder
		if err := Write(&b, m, Options{Effects: e}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestEffectsSize: the effects of 50 levels on 100 topics take less than a megabyte.
func TestEffectsSize(t *testing.T) {
	testutil.NotWithRace(t)
	m := model(t, 2000, 100)
	e := sample.Effects(m, 50)
	e.Terms = e.Terms[1:2]
	if n := len(write(t, m, Options{Effects: e})) - len(write(t, m)); n > 1<<20 {
		t.Errorf("they take %d bytes", n)
	} else {
		t.Logf("%d bytes", n)
	}
}
