package effects_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
)

// logbook makes up 900 notes of three years, by a skipper and a cook. Both write of sailing and
// of cooking, the cook more of cooking, and the more so from year to year.
func logbook() (*corpus.Corpus, error) {
	themes := [2][]string{
		strings.Fields("sail wind harbour anchor wave rope mast tide keel chart"),
		strings.Fields("oven flour butter recipe onion soup pepper salt pan stew"),
	}
	rng := rand.New(rand.NewPCG(3, 4))
	b := corpus.Builder{Columns: []corpus.Column{{Name: "date", Kind: corpus.Time}, {Name: "author", Kind: corpus.Category}}}
	for m := range 900 {
		year, author, cooking := m/300, "skipper", 0.2+0.1*float64(m/300)
		if m%2 == 1 {
			author, cooking = "cook", cooking+0.3
		}
		var words []string
		main := 0
		if rng.Float64() < cooking {
			main = 1
		}
		for range 30 {
			theme := themes[main]
			if rng.IntN(10) == 0 {
				theme = themes[1-main]
			}
			words = append(words, theme[rng.IntN(len(theme))])
		}
		date := time.Date(2020+year, 1, 1+m%300*365/300, 0, 0, 0, 0, time.UTC)
		if err := b.AddTokens(fmt.Sprint(m), "", words, corpus.TimeOf(date), corpus.CategoryOf(author)); err != nil {
			return nil, err
		}
	}
	return b.Corpus()
}

// Who writes of what, and when.
func Example() {
	ctx := context.Background()
	documents, err := logbook()
	if err != nil {
		log.Fatal(err)
	}
	pipeline := jsmf.New(2)
	model, err := pipeline.Fit(ctx, documents)
	if err != nil {
		log.Fatal(err)
	}
	if model, err = named(model); err != nil {
		log.Fatal(err)
	}
	study := effects.Study{Terms: []effects.Term{effects.Category("author"), effects.Time("date", effects.Year)}}
	found, err := study.Run(ctx, pipeline, model, documents)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Points of cooking above or below the average:")
	for _, row := range found.Rows() {
		if row.Quantity == "cooking" && row.Measure == "difference" && !row.Adjusted {
			fmt.Printf("%-6s %-7s %+.1f (%+.1f to %+.1f)\n", row.Term, row.Point, 100*row.Value, 100*row.Low, 100*row.High)
		}
	}
	// Output:
	// Points of cooking above or below the average:
	// author cook    +9.9 (+7.0 to +12.9)
	// author skipper -9.9 (-12.9 to -7.0)
	// date   2020    -10.6 (-14.2 to -7.0)
	// date   2021    -0.6 (-4.4 to +3.1)
	// date   2022    +11.2 (+7.9 to +14.5)
}

// named calls the topics by what they are about.
func named(m *jsmf.Model) (*jsmf.Model, error) {
	names := make([]string, m.K())
	for k := range names {
		names[k] = "sailing"
		for _, w := range m.TopWords(k, 3) {
			if strings.Contains("oven flour butter recipe onion soup pepper salt pan stew", w.Word) {
				names[k] = "cooking"
			}
		}
	}
	return m.With(jsmf.Additions{Names: names})
}

// logbookModel returns a model of the logbook, and the logbook.
func logbookModel() (*jsmf.Model, *corpus.Corpus) {
	documents, err := logbook()
	if err != nil {
		log.Fatal(err)
	}
	model, err := jsmf.New(2).Fit(context.Background(), documents)
	if err != nil {
		log.Fatal(err)
	}
	if model, err = named(model); err != nil {
		log.Fatal(err)
	}
	return model, documents
}

// A trend for each author. An Estimator that no replicates were added to gives estimates without
// intervals.
func ExampleInteraction() {
	model, documents := logbookModel()
	study := effects.Study{Terms: []effects.Term{
		effects.Interaction(effects.Category("author"), effects.Time("date", effects.Year)),
	}}
	estimator, err := study.Begin(context.Background(), model, documents)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Per cent of cooking:")
	for _, row := range estimator.Effects().Rows() {
		if row.Quantity == "cooking" && row.Measure == "prediction" {
			fmt.Printf("%-16s %2.0f, %d notes\n", row.Point, 100*row.Value, row.Documents)
		}
	}
	// Output:
	// Per cent of cooking:
	// cook × 2020      48, 150 notes
	// cook × 2021      58, 150 notes
	// cook × 2022      67, 150 notes
	// skipper × 2020   26, 150 notes
	// skipper × 2021   37, 150 notes
	// skipper × 2022   51, 150 notes
}
