package main

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/metrics"
)

// The sampler finds planted topics, and always the same.
func TestGibbs(t *testing.T) {
	const n, k = 60, 3
	truth := testutil.NewPlanted(n, k, 0.1, 7)
	g := corpus.Generator{Topics: truth.B, Prior: corpus.SymmetricDirichlet(k, 0.2), Docs: 400, Lengths: []int{60}, Seed: 3}
	c, _, err := g.Generate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, err := sample(t.Context(), c, k, 60, 1)
	if err != nil {
		t.Fatal(err)
	}
	match, err := metrics.Match(t.Context(), truth.B, m.b, metrics.MatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// 24,000 tokens leave an ℓ₁ error of some 0.07 if each one's topic is known, and
	// some times more if it is not. Any topic is about 1 from another.
	if far := match.L1.Mean; !(far < 0.25) {
		t.Errorf("topics are %v from the true ones", far)
	}
	for j := range k {
		if s := mat.Sum(m.b.ColView(j)); math.Abs(s-1) > 1e-9 {
			t.Errorf("topic %d sums to %v", j, s)
		}
	}
	for i := range n {
		if s := mat.Sum(m.breve.RowView(i)); math.Abs(s-1) > 1e-9 {
			t.Errorf("p(topic | word %d) sums to %v", i, s)
		}
	}
	if s := mat.Sum(m.a); math.Abs(s-1) > 1e-9 {
		t.Errorf("A sums to %v", s)
	}
	again, err := sample(t.Context(), c, k, 60, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(m.b, again.b) || !mat.Equal(m.a, again.a) {
		t.Error("the same seed gives other topics")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := sample(ctx, c, k, 60, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The chain is in each state of a small corpus as often as the exact posterior
// distribution says.
func TestGibbsExact(t *testing.T) {
	var build corpus.Builder
	for _, counts := range []map[string]int{{"a": 2, "b": 1}, {"b": 1, "c": 1}} {
		if err := build.AddCounts("", "", counts); err != nil {
			t.Fatal(err)
		}
	}
	c, err := build.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	const k, tokens, states = 2, 5, 1 << 5
	g := newSampler(c, k, 1, nil, 0)
	place := func() (at int) { // of the state
		for _, doc := range g.topics {
			for _, topic := range doc {
				at = at*k + int(topic)
			}
		}
		return at
	}
	gamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	exact, total := make([]float64, states), 0.0
	for at := range states {
		var byWord [3][k]float64
		var byDoc [2][k]float64
		var all [k]float64
		token := tokens
		for m := range 2 {
			words, counts := c.Doc(m)
			for i, w := range words {
				for range counts[i] {
					token--
					topic := at >> token & 1
					byWord[w][topic]++
					byDoc[m][topic]++
					all[topic]++
				}
			}
		}
		log := 0.0
		for topic := range k {
			for m := range byDoc {
				log += gamma(byDoc[m][topic] + gibbsAlphaSum/k)
			}
			for w := range byWord {
				log += gamma(byWord[w][topic] + gibbsBeta)
			}
			log -= gamma(all[topic] + 3*gibbsBeta)
		}
		exact[at] = math.Exp(log)
		total += exact[at]
	}
	const sweeps = 400000
	seen := make([]float64, states)
	for range sweeps {
		if err := g.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		seen[place()] += 1.0 / sweeps
	}
	far := 0.0
	for at := range states {
		far += math.Abs(seen[at]-exact[at]/total) / 2
	}
	if far > 0.01 {
		t.Errorf("the share of visits to other states than there should be is %v", far)
	}
}
