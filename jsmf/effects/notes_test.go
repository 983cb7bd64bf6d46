package effects

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/spread"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

// turning are commits of four years in two folders. In each of them a commit is the more often of the
// first topic the later it is, but the folder with less of it grows from a tenth of the commits to nine
// tenths, so that the first topic falls from .55 to .33.
func turning(t *testing.T, docs int) *corpus.Corpus {
	t.Helper()
	r := rand.New(rand.NewPCG(8, 1))
	b := corpus.Builder{Columns: []corpus.Column{{Name: "folder", Kind: corpus.Category}, {Name: "date", Kind: corpus.Time}, {Name: "size", Kind: corpus.Number}}}
	for m := range docs {
		year := m % 4
		folder, p := "old", .6+.06*float64(year)
		if r.Float64() < []float64{.1, .3, .7, .9}[year] {
			folder, p = "new", .1+.06*float64(year)
		}
		topic := 0
		if r.Float64() > p {
			topic = 1
		}
		var words []string
		for range 30 {
			words = append(words, fmt.Sprintf("t%dw%02d", topic, r.IntN(20)))
		}
		date := time.Date(2020+year, time.Month(1+m/4%12), 1, 0, 0, 0, 0, time.UTC)
		if err := b.AddTokens(fmt.Sprint(m), "", words, corpus.CategoryOf(folder), corpus.TimeOf(date), corpus.NumberOf(r.NormFloat64())); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Raw averages are those of the documents at a point, and where adjusting turns them round, a note says
// so with both numbers.
func TestRawAndAdjustedTurn(t *testing.T) {
	testutil.NotWithRace(t)
	c := turning(t, 1200)
	p, m := fitted(t, c, 2)
	first := 0
	if strings.HasPrefix(m.TopWords(1, 1)[0].Word, "t0") {
		first = 1
	}
	s := Study{Terms: []Term{Time("date", Year), Category("folder"), Spline("size", 1)}, Bootstrap: jsmf.Bootstrap{Warm: 20, Drawn: -1}}
	e, err := s.Run(ctx, p, m, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Terms) != 6 || e.Terms[0].AdjustedFor != nil || !slices.Equal(e.Terms[1].AdjustedFor, []string{"folder", "size"}) || e.Terms[1].Name != "date" {
		t.Fatalf("%d terms, %v", len(e.Terms), e.Terms[1].AdjustedFor)
	}
	var sums, n [4]float64 // of documents of the first topic
	for i := range c.NumDocs() {
		n[i%4]++
		if words, _ := c.Doc(i); strings.HasPrefix(c.Word(int(words[0])), "t0") {
			sums[i%4]++
		}
	}
	for year, x := range e.Terms[0].Predictions {
		// Each document is of one topic; the topics that were learned are nearly exact.
		if want := sums[year] / n[year]; math.Abs(x[first].Value-want) > .01 {
			t.Errorf("raw share in year %d: %v, want %v", year, x[first].Value, want)
		}
	}
	raw, adjusted := e.Terms[0].Change(first), e.Terms[1].Change(first)
	if !(raw.High < 0 && adjusted.Low > 0) || math.Abs(adjusted.Value-.18) > .09 { // two standard errors
		t.Errorf("the change is %+v, adjusted %+v", raw, adjusted)
	}
	notes := e.Notes()
	from, to := e.Terms[0].Predictions[0][first].Value, e.Terms[0].Predictions[3][first].Value
	want := "By date, 2 of 2 topics go one way as the data are and the other way adjusted for folder and size: "
	if len(notes) != 1 || !strings.HasPrefix(notes[0], want) || !strings.Contains(notes[0], fmt.Sprintf("“%d %s” %.1f %% → %.1f %%, adjusted ", first, m.Name(first), 100*from, 100*to)) ||
		!strings.Contains(notes[0], "alike in folder and size") {
		t.Errorf("notes %q, want one that begins %q", notes, want)
	}
	// One column alone is not adjusted.
	s.Terms = s.Terms[:1]
	one, err := s.Run(ctx, p, m, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(one.Terms) != 1 || one.Notes() != nil {
		t.Errorf("one column: %d terms, notes %q", len(one.Terms), one.Notes())
	}
	for i, x := range one.Terms[0].Predictions {
		if y := e.Terms[0].Predictions[i]; math.Abs(x[0].Value-y[0].Value) > 1e-12 || math.Abs(x[0].Low-y[0].Low) > 1e-9 {
			t.Errorf("the raw share in year %d is %+v beside other terms, %+v alone", i, y[0], x[0])
		}
	}
}

// Apart is what the variance of a difference says: of two categories of two levels with the correlation
// φ, 1 − φ².
func TestApart(t *testing.T) {
	build := corpus.Builder{Columns: []corpus.Column{{Name: "a", Kind: corpus.Category}, {Name: "b", Kind: corpus.Category}}}
	levels := []string{"x", "y"}
	for m := range 400 {
		other := m % 2
		if m%10 < 2 { // in 80 % both are the same: φ = .6
			other = 1 - other
		}
		if m%40 < 2 { // and more: φ = .7
			other = m % 2
		}
		var words []string
		for i := range 10 {
			words = append(words, fmt.Sprintf("t%dw%d", m%3%2, (m+i)%15))
		}
		if err := build.AddTokens(fmt.Sprint(m), "", words, corpus.CategoryOf(levels[m%2]), corpus.CategoryOf(levels[other])); err != nil {
			t.Fatal(err)
		}
	}
	c, err := build.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	_, m := fitted(t, c, 2)
	estimator, err := Study{Terms: []Term{Category("a"), Category("b")}}.Begin(ctx, m, c)
	if err != nil {
		t.Fatal(err)
	}
	e := estimator.Effects()
	for i, want := range []float64{1, 1 - .7*.7, 1, 1 - .7*.7} {
		if got := e.Terms[i].Apart; math.Abs(got-want) > 1e-12 {
			t.Errorf("term %d: %v, want %v", i, got, want)
		}
	}
	if notes := e.Notes(); len(notes) != 0 {
		t.Errorf("notes %q", notes)
	}
	e.Terms[1].Apart, e.Terms[3].Apart = .25, .3
	want := "a and b go together. Adjusted for the other columns, a is as uncertain as from 25 % of the data and b is as uncertain as from 30 % of the data. What is not adjusted does not suffer from this."
	if notes := e.Notes(); len(notes) != 1 || notes[0] != want {
		t.Errorf("notes %q, want %q", notes, want)
	}
}

// What cannot be told is left out before any fit, with a sentence that names it and what says the same.
func TestPrune(t *testing.T) {
	x := drawn(300)
	copy(x.place, x.party)
	for m := range x.tone {
		x.tone[m] = 2
	}
	s := Study{Terms: []Term{Category("party"), Category("place"), Number("tone"), Time("when", Month)}}
	got, notes, err := s.Prune(ctx, x.metadata(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`tone is left out: column "tone": all documents that count have the number 2; want at least two`,
		`place is left out: the documents that count do not tell term "place" from "party"`,
	}
	if len(got.Terms) != 2 || got.Terms[0].String() != "party" || got.Terms[1].String() != "when" || !slices.Equal(notes, want) {
		t.Errorf("%v is left, with the notes %q", got.Terms, notes)
	}
	if len(s.Terms) != 4 {
		t.Error("the study itself has changed")
	}
	if got, notes, err := (Study{Terms: s.Terms[2:3]}).Prune(ctx, x.metadata(t)); err != nil || len(got.Terms) != 0 || len(notes) != 1 {
		t.Errorf("a constant alone: %v, %q, %v", got.Terms, notes, err)
	}
	if _, _, err := (Study{Terms: []Term{Category("colour")}}).Prune(ctx, x.metadata(t)); err == nil || !strings.Contains(err.Error(), `no column "colour"`) {
		t.Errorf("no such column: %v", err)
	}
}

// Topics with nearly the same words get their part of what is certain, their sum, as if they were one; the
// others get what they get without them.
func TestTwins(t *testing.T) {
	b := mat.NewDense(4, 3, []float64{0.5, 0.25, 0, 0.25, 0.25, 0, 0.25, 0.25, 0.5, 0, 0.25, 0.5})
	at := func(side int, size float64) []float64 {
		return []float64{.25 + size/8, .5 - size/8 - float64(side)/8, .25 + float64(side)/8}
	}
	d, share := exact(t, b, at)
	regress := func(b *mat.Dense, share []float64, k int) *regression {
		t.Helper()
		docs := *d
		docs.k = k
		designs, err := newDesigns(ctx, []Term{Category("side"), Spline("size", 1)}, d.meta, d.own, "")
		if err != nil {
			t.Fatal(err)
		}
		r := newRegression(&docs, designs)
		if err := r.of(ctx, b, share, d.own, original); err != nil {
			t.Fatal(err)
		}
		return r
	}
	single := regress(b, share, 3)
	for _, far := range []float64{0, 1e-9, 1e-3} { // by which the words of the copy differ
		double := mat.NewDense(4, 4, nil)
		for i := range 4 {
			copy(double.RawRowView(i), b.RawRowView(i))
			double.Set(i, 3, b.At(i, 1)+[]float64{far, -far, far, -far}[i])
		}
		r := regress(double, []float64{share[0], share[1] / 4, share[2], share[1] * 3 / 4}, 4)
		if len(r.alike) != 1 || !slices.Equal(r.alike[0], []int{1, 3}) {
			t.Fatalf("words that differ by %v: %v are alike", far, r.alike)
		}
		for n := range r.beta {
			for c := range r.beta[n].Rows {
				got, want := r.beta[n].Data[4*c:4*c+4], single.beta[n].Data[3*c:3*c+3]
				// A word in a thousand moves the sum by a hundredth, not by the thousand that the inverse has.
				if want := []float64{want[0], want[1] / 4, want[2], want[1] * 3 / 4}; !floats.EqualApprox(got, want, 1e-9+10*far) {
					t.Errorf("words that differ by %v: row %d of design %d is %v, want %v", far, c, n, got, want)
				}
			}
		}
	}
	e := Effects{Quantities: []Quantity{{"a", []int{0}}, {"b", []int{1}}}, Alike: [][]int{{0, 1}}}
	if want := "“0 a” and “1 b” have nearly the same words and are not told apart: each has its part, by share, of their sum."; e.Notes()[0] != want {
		t.Errorf("notes %q", e.Notes())
	}
}

// No number is outside of what shares and their differences can be, whatever bias is taken off.
func TestBounds(t *testing.T) {
	c := turning(t, 120)
	p, m := fitted(t, c, 2)
	s := Study{Terms: []Term{Category("folder"), Spline("size", 1)}, Bootstrap: jsmf.Bootstrap{Warm: 20, Drawn: -1, Level: .99}}
	e, err := s.Run(ctx, p, m, c)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, r := range e.Rows() {
		if math.IsNaN(r.Low) {
			continue
		}
		told++
		share := e.Shares[slices.Index(m.Names(), r.Quantity)]
		bounds := map[string][4]float64{
			"share": {0, 0, 1, 1}, "prediction": {0, 0, 1, 1}, "difference": {-share.High, -share.Value, 1 - share.Value, 1 - share.Low},
			"slope": {math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1)},
		}[r.Measure]
		if !(bounds[0] <= r.Low && r.Low <= r.Value && bounds[1] <= r.Value && r.Value <= bounds[2] && r.Value <= r.High && r.High <= bounds[3]) {
			t.Errorf("%+v, want %v", r, bounds)
		}
	}
	if told < 100 {
		t.Errorf("%d numbers have intervals", told)
	}
	// A bias that takes a share below 0, or above 1.
	sum := summary{units: 100, quantities: []Quantity{{"a", []int{0}}, {"b", []int{1}}}, changed: make([]spread.Spread, 2), found: make([]spread.Line, 2), all: make([]number, 2)}
	for i, bias := range []float64{.3, -.3} {
		x := &sum.all[i]
		x.Value = .1 + .8*float64(i)
		for j := range 10 {
			v := 1e-3 * float64(j%2)
			x.Again.Add(v)
			x.Off.Add(bias + v)
		}
	}
	for i, x := range sum.effects(.95).Shares {
		if x.Value != float64(i) || x.Low < 0 || x.High > 1 || x.Low > x.Value || x.High < x.Value || x.High-x.Low < .2 {
			t.Errorf("%+v", x)
		}
	}
}
