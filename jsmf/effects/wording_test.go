package effects_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
)

// speeches are documents of two parties and three years, each mostly of one of three topics, whose 30 words are its
// own. The left has the first topic three times as often as the right. If words differ it also uses w1-07 three
// times as often, in the third year everyone uses w2-07 three times as often, and one document has w0-05 fifty
// times.
func speeches(t *testing.T, docs int, differ bool) *corpus.Corpus {
	t.Helper()
	r := rand.New(rand.NewPCG(21, 22))
	b := corpus.Builder{Columns: []corpus.Column{
		{Name: "party", Kind: corpus.Category}, {Name: "date", Kind: corpus.Time}, {Name: "coin", Kind: corpus.Category}, {Name: "author", Kind: corpus.Category},
	}}
	for m := range docs {
		party, year := []string{"left", "right"}[m%2], m/2%3
		first := []float64{0.6, 0.2}[m%2]
		topic := 0
		if r.Float64() > first {
			topic = 1 + r.IntN(2)
		}
		counts := map[string]int{}
		for range 30 {
			k := topic
			if r.IntN(10) == 0 {
				k = r.IntN(3)
			}
			w := r.IntN(30)
			if w == 7 && r.IntN(3) > 0 && !(differ && (k == 1 && m%2 == 0 || k == 2 && year == 2)) {
				w = (8 + r.IntN(29)) % 30
			}
			counts[fmt.Sprintf("w%d-%02d", k, w)]++
		}
		if m == 0 && differ {
			counts["w0-05"] += 50
		}
		date := corpus.TimeOf(time.Date(2020+year, 1, 1+m%360, 0, 0, 0, 0, time.UTC))
		coin, author := corpus.CategoryOf(fmt.Sprint(r.IntN(2))), corpus.CategoryOf(fmt.Sprint(m/40))
		if err := b.AddCounts(fmt.Sprint(m), "", counts, corpus.CategoryOf(party), date, coin, author); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// worded returns the words that are found, as "point: word".
func worded(w *effects.Wording, term int) []string {
	out := []string{}
	for _, topic := range w.Terms[term].Topics {
		for _, u := range topic.Words {
			out = append(out, w.Terms[term].Points[u.Point].Label+": "+u.Word)
		}
	}
	return out
}

var (
	byParty = effects.Category("party")
	byYear  = effects.Time("date", effects.Year)
)

// What was planted is found, with its ratio, and nothing else: not what shares, a coin or one document
// do.
func TestWordingFindsWhatIsPlanted(t *testing.T) {
	testutil.NotWithRace(t)
	ctx, c, p := context.Background(), speeches(t, 2400, true), jsmf.New(3)
	m, err := p.Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	s := effects.Study{Terms: []effects.Term{byParty, byYear, effects.Category("coin")}, Bootstrap: jsmf.Bootstrap{Warm: 16, Drawn: 2}}
	w, err := s.Wording(ctx, p, m, c)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{{"left: w1-07"}, {"2022: w2-07"}, {}} {
		got := worded(w, i)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("by %s: %q, want %q", w.Terms[i].Name, got, want)
		}
		for _, topic := range w.Terms[i].Topics {
			if topic.Judged != 30 {
				t.Errorf("%d words judged, want 30", topic.Judged)
			}
			for _, u := range topic.Words {
				if u.Ratio.Low < 1 || u.Ratio.Low > 3 || u.Ratio.High < 3 || u.Ratio.High > 9 || u.Uses < 1.2*u.Expected {
					t.Errorf("%+v, want a ratio of 3", u)
				}
			}
		}
	}
	if w.Replicates != 16 || w.Drawn != 2 || w.Terms[0].Documents != 2400 || w.Terms[0].Points[0].Units != 1200 {
		t.Errorf("%d replicates, %d drawn, %d documents, %+v", w.Replicates, w.Drawn, w.Terms[0].Documents, w.Terms[0].Points[0])
	}

	var file bytes.Buffer
	if err := w.WriteCSV(&file); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&file).ReadAll()
	if err != nil || len(lines) != 3 || lines[1][0] != "party" || lines[1][1] != "left" || lines[1][4] != "w1-07" {
		t.Errorf("the table is %q (%v)", lines, err)
	}
	b, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var back effects.Wording
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(*w, back) {
		t.Errorf("came back as %+v (%v)", back, err)
	}
	back.Terms[0].Topics[0].Words = []effects.WordUse{{Word: "x", Point: 9}}
	if err := back.Validate(); err == nil || !strings.Contains(err.Error(), "group 9 of 2") {
		t.Errorf("a group that there is not: %v", err)
	}

	// One worker finds the same.
	begin := func() *effects.Wording {
		e, err := s.BeginWording(ctx, m, c)
		if err != nil {
			t.Fatal(err)
		}
		return e.Wording()
	}
	many := begin()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if one := begin(); fmt.Sprint(one) != fmt.Sprint(many) || len(worded(one, 0)) != 1 {
		t.Errorf("one worker: %+v, many: %+v", one, many)
	}
}

// Parties with other shares and the same words are not told apart, and a few documents tell nothing.
func TestWordingWithoutDifference(t *testing.T) {
	testutil.NotWithRace(t)
	ctx := context.Background()
	for _, docs := range []int{40, 1500} {
		c := speeches(t, docs, false)
		m, err := jsmf.New(3).Fit(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		s := effects.Study{Terms: []effects.Term{byParty, byYear}}
		e, err := s.BeginWording(ctx, m, c)
		if err != nil {
			t.Fatal(err)
		}
		w := e.Wording()
		if a, b := worded(w, 0), worded(w, 1); len(a)+len(b) > 0 {
			t.Errorf("%d documents: found %q and %q", docs, a, b)
		}
		if said := strings.Join(w.Notes(), "\n"); strings.Contains(said, "By party, there is too little to tell in 3 of 3 topics") != (docs == 40) {
			t.Errorf("%d documents: notes %q", docs, said)
		}
		// Authors of twenty documents a party are fewer than documents, and too few.
		s.Bootstrap.Cluster = "author"
		if e, err = s.BeginWording(ctx, m, c); err != nil {
			t.Fatal(err)
		}
		if p := e.Wording().Terms[0].Points[0]; p.Documents != docs/2 || p.Units != (docs+39)/40 {
			t.Errorf("%d documents of a party by %d authors", p.Documents, p.Units)
		}
		for want, terms := range map[string][]effects.Term{"want a Category or a Time": {byParty, effects.Interaction(byParty, byYear)}, "no terms": nil} {
			if _, err := (effects.Study{Terms: terms}).BeginWording(ctx, m, c); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		}
	}
}
