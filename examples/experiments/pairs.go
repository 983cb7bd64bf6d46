package main

import (
	"context"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/metrics"
	recovery "github.com/jsmf-go/spectral/recover"
)

var pairsGroup = &group{
	name: "pairs", version: 1,
	labels: []string{"corpus", "method", "k", "topic"},
	// documents and gibbs_documents are how many documents a word is in that only one
	// of the two topics has among its top words, on average.
	measures: []string{"anchor", "words", "gibbs_words", "l1", "documents", "gibbs_documents"},
}

// pairMethods are that of arora-2013 and the same after AP.
var pairMethods = []string{baseline, "AP"}

// pairWords are as many top words as Table 1 shows.
const pairWords = 6

func planPairs(_ context.Context, l *lab) ([]cell, error) {
	s, err := l.source(l.corpora[0])
	if err != nil {
		return nil, err
	}
	some := l.some()
	k := some[len(some)-1]
	set := settings("corpus", s.name, "methods", pairMethods, "k", k, "n", l.words, "sweeps", l.sweeps, "seed", l.seed, "input", s.digest)
	return []cell{{pairsGroup, set, gibbsCost(k, l.sweeps), func(ctx context.Context) ([]row, error) { return l.pair(ctx, s, k) }}}, nil
}

// pair finds, for each topic by L2, the nearest one of Gibbs sampling.
func (l *lab) pair(ctx context.Context, s *source, k int) ([]row, error) {
	d, err := s.countUnbiased(ctx, l.words, l.workers)
	if err != nil {
		return nil, err
	}
	c := d.Info().Corpus
	g, err := sample(ctx, c, k, l.sweeps, l.seed)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, method := range pairMethods {
		p := asPublished(k).Rectify(rectifier(method)).Recover(recovery.L2()).Anchors(anchor.Projected{MinDocFraction: heldMinDocs}).Seed(l.seed).Workers(l.workers)
		m, err := p.Fit(ctx, d)
		if err != nil {
			return nil, err
		}
		of, err := nearest(c, mat.DenseCopyOf(m.Topics()), g.b)
		if err != nil {
			return nil, err
		}
		for t, r := range of {
			r["corpus"], r["method"], r["anchor"] = s.name, method, c.Word(m.Anchors()[t])
			rows = append(rows, r.set("k", k).set("topic", t))
		}
	}
	return rows, nil
}

// nearest describes each topic of a together with the topic of b that is nearest by ℓ₁.
func nearest(c *corpus.Corpus, a, b *mat.Dense) ([]row, error) {
	la, err := metrics.TopLists(a, pairWords)
	if err != nil {
		return nil, err
	}
	lb, err := metrics.TopLists(b, pairWords)
	if err != nil {
		return nil, err
	}
	freq := c.DocFrequencies()
	out := make([]row, len(la))
	for i := range la {
		at, least := closest(a.ColView(i), b)
		r := row{"words": listed(c, la[i]), "gibbs_words": listed(c, lb[at])}
		out[i] = r.set("l1", least).set("documents", meanOnly(freq, la[i], lb[at])).set("gibbs_documents", meanOnly(freq, lb[at], la[i]))
	}
	return out, nil
}

// closest returns the column of b that is nearest to x by ℓ₁, and its distance.
func closest(x mat.Vector, b *mat.Dense) (at int, least float64) {
	n, k := b.Dims()
	least = math.Inf(1)
	for j := range k {
		d := 0.0
		for i := range n {
			d += math.Abs(x.AtVec(i) - b.At(i, j))
		}
		if d < least {
			at, least = j, d
		}
	}
	return at, least
}

// listed writes the words of a list.
func listed(c *corpus.Corpus, words []int) string {
	var out []string
	for _, i := range words {
		out = append(out, c.Word(i))
	}
	return strings.Join(out, " ")
}

// meanOnly is the mean frequency of the words of a that are not in b, NaN if there
// are none.
func meanOnly(freq, a, b []int) float64 {
	sum, n := 0.0, 0
	for _, i := range a {
		if !slices.Contains(b, i) {
			sum, n = sum+float64(freq[i]), n+1
		}
	}
	return sum / float64(n)
}
