package effects_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
)

// share is the share of the first of two topics that is planted in documents of a party, a
// number of stars and a month: the left rises from year to year and the right does not.
func share(party string, stars, year int) float64 {
	p := 0.2 + 0.05*float64(stars-1)
	if party == "left" {
		p += 0.15 + 0.1*float64(year)
	}
	return p
}

// reviews are documents with the columns "party", "stars" and "date", which is in no March.
// Each is of one topic, whose 40 words are its own. The last ten lack a value or a word that
// is known.
func reviews(t *testing.T) *corpus.Corpus {
	t.Helper()
	r := rand.New(rand.NewPCG(11, 12))
	b := corpus.Builder{Columns: []corpus.Column{
		{Name: "party", Kind: corpus.Category, Levels: []string{"right", "nobody", "left"}},
		{Name: "stars", Kind: corpus.Number, Unit: "star"}, {Name: "date", Kind: corpus.Time},
	}}
	for m := range 2410 {
		party := []string{"left", "right"}[m%2]
		stars, year, month := 1+m/2%5, m/10%3, 1+m/30%12
		if month == 3 {
			month = 4
		}
		topic := 1
		if r.Float64() < share(party, stars, year) {
			topic = 0
		}
		counts := map[string]int{}
		for range 25 {
			counts[fmt.Sprintf("t%dw%02d", topic, r.IntN(40))]++
		}
		values := []corpus.Value{
			corpus.CategoryOf(party), corpus.NumberOf(float64(stars)),
			corpus.TimeOf(time.Date(2021+year, time.Month(month), 1+m%28, 0, 0, 0, 0, time.UTC)),
		}
		if m >= 2400 {
			values[m%3] = corpus.Value{}
		}
		if err := b.AddCounts(fmt.Sprint("r", m), "", counts, values...); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fitted returns the model of reviews and its first topic.
func fitted(t *testing.T, c *corpus.Corpus) (jsmf.Pipeline, *jsmf.Model, int) {
	t.Helper()
	p := jsmf.New(2)
	m, err := p.Fit(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	first := 0
	if strings.HasPrefix(m.TopWords(1, 1)[0].Word, "t0") {
		first = 1
	}
	return p, m, first
}

// All kinds of terms find what was planted. A number differs from it by chance: the standard
// error is known from the number of documents, of which each is of one topic, and four of
// them are allowed. (Of some hundred numbers one in 10⁴ is further off.)
func TestMeasureFindsWhatIsPlanted(t *testing.T) {
	testutil.NotWithRace(t)
	c := reviews(t)
	p, m, first := fitted(t, c)
	found := measured(t, jsmf.Bootstrap{Warm: 12, Drawn: 2, Seed: 2}, p, m, c,
		[]effects.Term{effects.Category("party"), effects.Spline("stars", 1), effects.Time("date", effects.Month)},
		[]effects.Term{effects.Interaction(effects.Category("party"), effects.Time("date", effects.Year)), effects.Category("party")},
	)
	e := found[0]
	if e.Documents != 2400 || e.Missing != 10 || e.Replicates != 12 || e.Level != 0.95 || len(e.Quantities) != 2 {
		t.Errorf("%d documents, %d missing, %d replicates, level %v, quantities %v", e.Documents, e.Missing, e.Replicates, e.Level, e.Quantities)
	}
	near := func(what string, x jsmf.Interval, want float64, docs int) {
		t.Helper()
		// Half of the documents at most are of one topic.
		if se := 0.5 / math.Sqrt(float64(docs)); math.Abs(x.Value-want) > 4*se || !(x.Low < x.Value && x.Value < x.High) {
			t.Errorf("%s: %+v, want %.3f ± %.3f", what, x, want, 4*se)
		}
	}
	const mean = 0.2 + 0.05*2 + (0.15+0.1)/2
	near("share", e.Shares[first], mean, 2400)
	party, stars, months := e.Terms[1], e.Terms[3], e.Terms[5] // adjusted
	if len(party.Points) != 2 || party.Points[0].Label != "right" || party.Points[0].Levels[0] != 0 || party.Points[1].Levels[0] != 2 {
		t.Errorf("parties %+v", party.Points)
	}
	near("right", party.Predictions[0][first], 0.3, 1200)
	near("left", party.Predictions[1][first], 0.55, 1200)
	near("left, less the average", party.Differences[1][first], 0.125, 1200)
	if got := party.Predictions[1]; math.Abs(got[0].Value+got[1].Value-1) > 1e-9 {
		t.Errorf("sum of the left %v", got)
	}
	if len(stars.Points) != 5 || stars.Unit != "star" || stars.Points[4].Number != 5 || stars.Points[0].Documents != 480 {
		t.Errorf("stars %+v", stars)
	}
	for i := range stars.Points {
		near("stars "+stars.Points[i].Label, stars.Predictions[i][first], mean+0.05*float64(i-2), 480)
	}
	near("slope", stars.Slopes[first], 0.05, 2*2400) // stars have the variance 2
	if len(months.Points) != 36 || months.Unit != "month" {
		t.Fatalf("%d months", len(months.Points))
	}
	for i, x := range months.Points {
		year := i / 12
		switch {
		case x.From.Month() == time.March && (x.Documents != 0 || !math.IsNaN(months.Predictions[i][0].Value) || !math.IsNaN(months.Differences[i][1].High)):
			t.Errorf("%s has %d documents and the share %+v", x.Label, x.Documents, months.Predictions[i][0])
		case x.From.Month() != time.March:
			near(x.Label, months.Predictions[i][first], mean+0.1*float64(year-1)/2, x.Documents)
		}
	}

	both := found[1].Terms[0]
	if both.Name != "party × date" || both.Kind != effects.Interactions || both.Unit != "year" || len(both.Points) != 6 {
		t.Errorf("%+v", both)
	}
	for i, x := range both.Points {
		near(x.Label, both.Predictions[i][first], share(x.Labels[0], 3, x.From.Year()-2021), x.Documents)
	}
}

// measured is what studies of these terms find from the same replicates, after a round trip through JSON.
func measured(t *testing.T, boot jsmf.Bootstrap, p jsmf.Pipeline, m *jsmf.Model, in jsmf.Input, terms ...[]effects.Term) []*effects.Effects {
	t.Helper()
	ctx := context.Background()
	var all []*effects.Estimator
	for _, list := range terms {
		e, err := effects.Study{Terms: list, Bootstrap: boot}.Begin(ctx, m, in)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	boot.Cold = -1
	for x, err := range boot.Replicates(ctx, p, m, in) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if err := e.Add(ctx, x); err != nil {
				t.Fatal(err)
			}
		}
	}
	var found []*effects.Effects
	for _, e := range all {
		b, err := json.Marshal(e.Effects())
		if err != nil {
			t.Fatal(err)
		}
		back := new(effects.Effects)
		if err := json.Unmarshal(b, back); err != nil {
			t.Fatal(err)
		}
		found = append(found, back)
	}
	return found
}

// Errors name the column and the level.
func TestMeasureErrors(t *testing.T) {
	testutil.NotWithRace(t)
	c := reviews(t)
	p, m, _ := fitted(t, c)
	left := []int{}
	for doc := range 200 {
		left = append(left, 2*doc)
	}
	some, err := c.Select(left, nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, s := range map[string]effects.Study{
		`term 1, colour: corpus: there is no column "colour"; the columns are ["party" "stars" "date"]`: {Terms: []effects.Term{effects.Category("colour")}},
		`column "party" holds values of the kind category, not number`:                                  {Terms: []effects.Term{effects.Number("party")}},
		`column "party": all documents that count have the level "left"`:                                {Terms: []effects.Term{effects.Category("party")}},
		`no column "author"`: {Terms: []effects.Term{effects.Number("stars")}, Bootstrap: jsmf.Bootstrap{Cluster: "author"}},
		`no terms`:           {},
	} {
		if _, err := s.Run(context.Background(), p, m, some); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "effects: ") {
			t.Errorf("error %v, want one with %s", err, want)
		}
	}
}
