package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
)

// wordingGroup is what is found of words that groups of documents use more, where it is known.
var wordingGroup = &group{
	name: "wording", version: 1,
	labels: []string{"groups", "words", "documents", "by", "draw"},
	// wrong is the number of topics with a word that was not planted. judged is that of topics with words that are judged. held counts the intervals of words found that hold the planted ratio.
	measures: []string{"topics", "judged", "wrong", "planted", "found", "held", "intervals"},
	seconds:  []string{"fit"},
}

// What groups differ in.
const (
	permutedGroups = "permuted"
	sharesDiffer   = "shares"
	wordsDiffer    = "words"
	bothDiffer     = "both"
)

const (
	wordingTopics = 20
	wordingWords  = 3000
	wordingDraws  = 3
	wordingUses   = 100 // of a planted word by the first group
	wordingRatio  = 3   // to those of the second, and of the shares
	wordingRepeat = 0.25

	byDocuments  = "documents"
	byReplicates = "replicates"
)

func planWording(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	add := func(groups, words, by string, docs, draw int, cost float64) {
		set := settings("groups", groups, "words", words, "documents", docs, "by", by, "draw", draw, "seed", l.seed)
		out = append(out, cell{wordingGroup, set, cost, func(ctx context.Context) ([]row, error) { return l.wording(ctx, groups, words, by, docs, draw) }})
	}
	for _, docs := range []int{100, 8000} {
		for _, groups := range []string{permutedGroups, sharesDiffer, wordsDiffer, bothDiffer} {
			for _, words := range []string{independent, bursty} {
				for draw := range wordingDraws {
					add(groups, words, byDocuments, docs, draw, float64(docs)/1000)
				}
			}
			if docs > 100 {
				add(groups, independent, byReplicates, docs, 0, 100)
			}
		}
	}
	return out, nil
}

// wording fits a model to documents of two groups and looks for words that they use differently.
func (l *lab) wording(ctx context.Context, groups, words, by string, docs, draw int) ([]row, error) {
	c, planted, err := twoGroups(ctx, groups, words, docs, rand.New(rand.NewPCG(l.seed, uint64(draw))))
	if err != nil {
		return nil, err
	}
	p := jsmf.New(wordingTopics).Workers(l.workers)
	begun := cpuSeconds()
	m, err := p.Fit(ctx, c)
	if err != nil {
		return nil, err
	}
	seconds := cpuSeconds() - begun
	study := effects.Study{Terms: []effects.Term{effects.Category("group")}, Bootstrap: jsmf.Bootstrap{Warm: 20, Drawn: 3}}
	var found *effects.Wording
	if by == byReplicates {
		found, err = study.Wording(ctx, p, m, c)
	} else {
		var e *effects.WordingEstimator
		if e, err = study.BeginWording(ctx, m, c); err == nil {
			found = e.Wording()
		}
	}
	if err != nil {
		return nil, err
	}
	judged, wrong, right, held, intervals := 0, 0, 0, 0, 0
	for _, topic := range found.Terms[0].Topics {
		if topic.Judged > 0 {
			judged++
		}
		others := 0
		for _, w := range topic.Words {
			if !planted[w.Word] || found.Terms[0].Points[w.Point].Label != "first" {
				others++
				continue
			}
			right++
			if !w.Ratio.Withheld() {
				intervals++
				if w.Ratio.Low <= wordingRatio && w.Ratio.High >= wordingRatio {
					held++
				}
			}
		}
		if others > 0 {
			wrong++
		}
	}
	r := row{"groups": groups, "words": words, "by": by}.set("documents", docs).set("draw", draw).set("topics", wordingTopics).set("judged", judged)
	return []row{r.set("wrong", wrong).set("planted", len(planted)).set("found", right).set("held", held).set("intervals", intervals).set("fit", seconds)}, nil
}

// twoGroups draws documents of two groups of the same size. Where shares differ, each group has half of the topics
// three times as often as the other. Where words differ, the first group uses a word of each topic three
// times as often as the second, so that a hundred of its uses are expected, if that is not more than a fiftieth of the
// topic's tokens. The planted words have 0.9 of their uses in the topic.
func twoGroups(ctx context.Context, groups, words string, docs int, r *rand.Rand) (*corpus.Corpus, map[string]bool, error) {
	gamma := func(alpha float64) float64 { return distuv.Gamma{Alpha: alpha, Beta: 1, Src: r}.Rand() }
	b := mat.NewDense(wordingWords, wordingTopics, nil)
	for w := range wordingWords {
		for k := range wordingTopics {
			b.Set(w, k, gamma(0.1)/float64(w+5))
		}
	}
	normalise(b)
	topics := [2]*mat.Dense{b, mat.DenseCopyOf(b)}
	part := func(group, k int) float64 { // of the tokens of a document, on average
		switch {
		case groups == wordsDiffer:
			return 1. / wordingTopics
		case k%2 == group:
			return 2. * wordingRatio / (wordingRatio + 1) / wordingTopics
		}
		return 2. / (wordingRatio + 1) / wordingTopics
	}
	const length = 80
	planted := map[string]bool{}
	for k := range wordingTopics {
		if groups != wordsDiffer && groups != bothDiffer {
			break
		}
		want := min(wordingUses/(float64(docs)/2*length*part(0, k)), 0.02)
		best, at := math.Inf(1), -1
		for w := range wordingWords {
			row := b.RawRowView(w)
			far := math.Abs(math.Log(row[k] / want))
			if floats.MaxIdx(row) == k && !planted[fmt.Sprint("w", w)] && far < best {
				best, at = far, w
			}
		}
		planted[fmt.Sprint("w", at)] = true
		for g, p := range []float64{want, want / wordingRatio} {
			for j := range wordingTopics {
				topics[g].Set(at, j, want/wordingRatio/9/(wordingTopics-1))
			}
			topics[g].Set(at, k, p)
		}
	}
	var all corpus.Builder
	all.Columns = []corpus.Column{{Name: "group", Kind: corpus.Category}}
	names := []string{"first", "second"}
	for g, b := range topics {
		normalise(b)
		shares, lengths := mat.NewDense(docs/2, wordingTopics, nil), make([]int, docs/2)
		for d := range lengths {
			row := shares.RawRowView(d)
			for k := range row {
				row[k] = gamma(1.5*part(g, k)) + 1e-12
			}
			floats.Scale(1/floats.Sum(row), row)
			lengths[d] = length/2 + r.IntN(length+1)
		}
		x := corpus.Generator{Topics: b, Proportions: shares, Lengths: lengths, Seed: r.Uint64()}
		if words == bursty {
			x.Repeat = wordingRepeat
		}
		c, _, err := x.Generate(ctx)
		if err != nil {
			return nil, nil, err
		}
		for d := range c.NumDocs() {
			counts := map[string]int{}
			ids, n := c.Doc(d)
			for i, w := range ids {
				counts[c.Word(int(w))] = int(n[i])
			}
			name := names[g]
			if groups == permutedGroups {
				name = names[r.IntN(2)]
			}
			if err := all.AddCounts(fmt.Sprint(g, "-", d), "", counts, corpus.CategoryOf(name)); err != nil {
				return nil, nil, err
			}
		}
	}
	c, err := all.Corpus()
	return c, planted, err
}

// normalise gives columns the sum 1.
func normalise(b *mat.Dense) {
	n, k := b.Dims()
	for j := range k {
		sum := mat.Sum(b.ColView(j))
		for i := range n {
			b.Set(i, j, b.At(i, j)/sum)
		}
	}
}
