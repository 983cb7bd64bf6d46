package jsmf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/jsmf"
)

// notes makes up 600 short notes by somebody who sails, cooks and gardens, and
// who mostly writes of one of these, or of the garden and the kitchen together.
func notes() []string {
	themes := [][]string{
		{"sail", "wind", "harbour", "anchor", "wave", "rope", "water", "morning"},
		{"oven", "flour", "butter", "recipe", "onion", "soup", "water", "evening"},
		{"seed", "soil", "rose", "spade", "hedge", "onion", "water", "morning"},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var docs []string
	for range 600 {
		first := rng.IntN(3)
		second := first
		if first > 0 && rng.IntN(2) == 0 {
			second = 3 - first
		}
		text := ""
		for i := range 20 {
			theme := themes[[2]int{first, second}[i%2]]
			text += theme[rng.IntN(len(theme))] + " "
		}
		docs = append(docs, text)
	}
	return docs
}

// From documents to topics and how they go together.
func Example() {
	var b corpus.Builder
	for _, text := range notes() {
		if err := b.AddText("", "", text); err != nil {
			log.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		log.Fatal(err)
	}
	m, err := jsmf.Published(3).Fit(context.Background(), c)
	if err != nil {
		log.Fatal(err)
	}
	shares := m.TopicShares()
	for k, w := range m.Anchors() {
		fmt.Printf("topic %d (%.0f%%), anchor %s:", k, 100*shares[k], m.Word(w))
		for _, w := range m.TopWords(k, 6) {
			fmt.Printf(" %s %.2f", w.Word, w.Prob)
		}
		fmt.Println()
	}
	for _, p := range m.CorrelatedPairs(-1) {
		fmt.Printf("topics %d and %d: correlation %+.1f\n", p.K, p.L, p.Correlation)
	}
	// Output:
	// topic 0 (36%), anchor anchor: rope 0.13 harbour 0.13 sail 0.13 water 0.12 wind 0.12 morning 0.12
	// topic 1 (31%), anchor oven: recipe 0.13 butter 0.12 water 0.12 evening 0.12 flour 0.12 oven 0.12
	// topic 2 (33%), anchor rose: spade 0.13 water 0.13 onion 0.13 morning 0.12 rose 0.12 soil 0.12
	// topics 1 and 2: correlation -0.2
	// topics 0 and 1: correlation -0.6
	// topics 0 and 2: correlation -0.7
}

// Variants branch off a common beginning. A function watches the stages, and a
// context ends the work.
func ExamplePipeline() {
	var b corpus.Builder
	for _, text := range notes() {
		if err := b.AddText("", "", text); err != nil {
			log.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		log.Fatal(err)
	}
	base := jsmf.Published(3).Anchors(anchor.QR{MinDocFraction: 0.05})
	loud := base.Record(func(e jsmf.Event) {
		if e.Kind == jsmf.EventEnd {
			fmt.Println("done:", e.Stage)
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	m, err := loud.Fit(ctx, c)
	if err != nil {
		log.Fatal(err)
	}
	report, err := base.Evaluate(ctx, m, c)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("recovery %.4f, sum of A %.3f\n", report.Recovery.Mean, report.Legality)

	cancel()
	_, err = base.Fit(ctx, c)
	fmt.Println(errors.Is(err, context.Canceled), err)

	// A model is a file.
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	same, err := jsmf.ReadModel(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(same.K(), "topics of", same.N(), "words")
	// Output:
	// done: cooc
	// done: rectify
	// done: anchors
	// done: recover
	// recovery 0.0110, sum of A 1.000
	// true jsmf: context canceled
	// 3 topics of 20 words
}

// A co-occurrence matrix of one's own: here that of two known topics.
func ExamplePipeline_Fit_matrix() {
	b := mat.NewDense(4, 2, []float64{
		0.4, 0.0,
		0.4, 0.2,
		0.2, 0.5,
		0.0, 0.3,
	})
	a := mat.NewDense(2, 2, []float64{
		0.4, 0.1,
		0.1, 0.4,
	})
	var c mat.Dense
	c.Product(b, a, b.T())
	d, err := cooc.NewDense(&c)
	if err != nil {
		log.Fatal(err)
	}
	named, err := cooc.WithInfo(d, corpus.Info{Vocabulary: []string{"cat", "dog", "cow", "hen"}})
	if err != nil {
		log.Fatal(err)
	}
	m, err := jsmf.Published(2).Fit(context.Background(), named)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Word(m.Anchors()[0]), m.Word(m.Anchors()[1]))
	fmt.Printf("%.2f\n", mat.Formatted(m.Topics()))

	// Asked for more topics than there are, Fit returns an error with their number.
	_, err = jsmf.Published(3).Fit(context.Background(), d)
	var rank *anchor.RankError
	if errors.As(err, &rank) {
		fmt.Println("there are only", rank.Rank)
	}
	// Output:
	// hen cat
	// ⎡0.00  0.40⎤
	// ⎢0.20  0.40⎥
	// ⎢0.50  0.20⎥
	// ⎣0.30  0.00⎦
	// there are only 2
}

// What new texts are about.
func ExampleModel_Transform() {
	ctx := context.Background()
	var b corpus.Builder
	for _, text := range notes() {
		if err := b.AddText("", "", text); err != nil {
			log.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		log.Fatal(err)
	}
	m, err := jsmf.Published(3).Fit(ctx, c)
	if err != nil {
		log.Fatal(err)
	}
	docs, err := m.Transform(ctx, m.Texts(
		"Hoist the sail! A fair wind brings us to the harbour by the morning.",
		"Onion soup: butter, flour, and an evening at the oven.",
		"Nothing of the kind.",
	))
	if err != nil {
		log.Fatal(err)
	}
	for d, doc := range docs.Docs {
		fmt.Printf("%.2f %v, %d unknown words\n", docs.W.RawRowView(d), doc.Status, docs.Unknown[d])
	}
	for _, x := range m.Summary(0) {
		fmt.Println(x.Number, x.Anchor)
	}
	// Output:
	// [0.95 0.02 0.03] converged, 9 unknown words
	// [0.02 0.96 0.02] converged, 4 unknown words
	// [0.36 0.31 0.33] no tokens, 4 unknown words
	// 0 anchor
	// 1 oven
	// 2 rose
}

// How many topics to take.
func ExampleGrid() {
	var b corpus.Builder
	for _, text := range notes() {
		if err := b.AddText("", "", text); err != nil {
			log.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		log.Fatal(err)
	}
	ctx, p := context.Background(), jsmf.Published(0)
	s, err := jsmf.Grid{K: []int{2, 3, 4, 5}}.Run(ctx, p, c)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Why)
	fmt.Println(s.Model.K())
	// Output:
	// K = 3 (no other number tried is as good). Of 3 topics 3 are sound and come back when other documents are held out.
	// 3
}

// How sure is what the model says?
func ExampleBootstrap() {
	var b corpus.Builder
	for _, text := range notes() {
		if err := b.AddText("", "", text); err != nil {
			log.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	p := jsmf.New(3)
	m, err := p.Fit(ctx, c)
	if err != nil {
		log.Fatal(err)
	}
	u, err := jsmf.Bootstrap{}.Run(ctx, p, m, c)
	if err != nil {
		log.Fatal(err)
	}
	for k, t := range u.Topics {
		fmt.Printf("%s: share %.2f (%.2f to %.2f), in %.0f %% of new fits\n", m.Name(k), t.Share.Value, t.Share.Low, t.Share.High, 100*t.Stability)
	}
	// Output:
	// sail · rope · harbour: share 0.36 (0.33 to 0.40), in 100 % of new fits
	// rose · seed · hedge: share 0.33 (0.30 to 0.37), in 100 % of new fits
	// butter · recipe · flour: share 0.30 (0.27 to 0.34), in 100 % of new fits
}
