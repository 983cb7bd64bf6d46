package jsmf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/metrics"
)

const (
	// minHeld is the smallest number of documents that tell numbers of topics apart.
	minHeld = 20
	// smoothing is the share of the unigram distribution in topics that are scored, so that no word
	// is impossible.
	smoothing = 0.01
)

// trial tries numbers of topics on documents, each third of which is held out once.
type trial struct {
	p     Pipeline
	docs  *corpus.Corpus
	parts [3][]int  // the documents of each third
	words []float64 // how many hidden words each document has, third by third
	alone []float64 // the sum of their ln p by the frequencies of words alone
	tries []try     // by ascending K
}

// try is a number of topics that was tried.
type try struct {
	K    int
	logs []float64  // as trial.alone, by the topics
	back [3]float64 // the share of topics that come back and are sound, in models 0 and 1, 0 and 2, 1 and 2
	npmi float64
	took time.Duration
	err  error
}

// third returns the third that a document with this key (bag.Key) is in. The order of the documents
// does not matter where they have ids.
func third(key uint64) int {
	key = (key ^ key>>31) * 0x9e3779b97f4a7c15 // other bits than those of package holdout
	return int(key >> 33 % 3)
}

// thirds divides the documents of an input. Its error says why none can be held out.
func (p Pipeline) thirds(ctx context.Context, in Input) (_ *trial, err error) {
	if err := p.suits(in); err != nil {
		return nil, err
	}
	if p.matrix(in) != nil {
		return nil, errors.New("the input is a co-occurrence matrix, and only documents can be held out: give Grid the documents")
	}
	p.recorders, p.from = nil, nil
	t := &trial{p: p}
	if t.docs, err = p.inMemory(ctx, in); err != nil {
		return nil, err
	}
	for m := range t.docs.NumDocs() {
		i := third(bag.Key(t.docs.ID(m), m+1))
		t.parts[i] = append(t.parts[i], m)
	}
	for _, part := range t.parts {
		if len(part) < minHeld {
			return nil, fmt.Errorf("%d of %d documents would be held out, and fewer than %d do not tell numbers of topics apart", len(part), t.docs.NumDocs(), minHeld)
		}
	}
	return t, nil
}

// found is what is kept of the model of two thirds, to be compared with the others.
type found struct {
	vocab   []string
	reading *mat.Dense
	sound   []bool
}

// try fits x.K topics to each two thirds of the documents, and fills in x. It calls done after each.
func (t *trial) try(ctx context.Context, x *try, done func()) error {
	var models [3]*found
	for i := range models {
		m, train, err := t.fit(ctx, x.K, i)
		if err != nil {
			return err
		}
		if err := t.score(ctx, m, i, x); err != nil {
			return err
		}
		if train, err = withWordsOf(m, train); err != nil {
			return err
		}
		verdicts, err := t.p.verdicts(ctx, m, train)
		if err != nil {
			return err
		}
		models[i] = &found{m.vocab, m.readingWeights(), make([]bool, m.k)}
		meet, n := 0.0, 0.0
		for k, v := range verdicts {
			models[i].sound[k] = v.Quality == metrics.Sound
			if !math.IsNaN(v.NPMI) {
				meet, n = meet+v.NPMI, n+1
			}
		}
		x.npmi += meet / max(1, n) / float64(len(models))
		done()
	}
	for i, pair := range [3][2]int{{0, 1}, {0, 2}, {1, 2}} {
		back, err := comeBack(ctx, models[pair[0]], models[pair[1]], t.p.workers)
		if err != nil {
			return err
		}
		x.back[i] = back / float64(x.K)
	}
	return nil
}

// fit fits k topics to all documents but those of third i.
func (t *trial) fit(ctx context.Context, k, i int) (*Model, *corpus.Corpus, error) {
	var others []int
	for j, part := range t.parts {
		if j != i {
			others = append(others, part...)
		}
	}
	slices.Sort(others)
	train, err := t.docs.Select(others, nil)
	if err != nil {
		return nil, nil, err
	}
	m, err := t.p.K(k).Fit(ctx, train)
	return m, train, err
}

// comeBack returns how many topics of a model are sound and have a match in the other that shares at
// least half of their weights: the mean of both directions.
func comeBack(ctx context.Context, a, b *found, workers int) (float64, error) {
	of, err := matched(ctx, a.vocab, b.vocab, a.reading, b.reading, workers)
	if err != nil {
		return 0, err
	}
	n := 0.0
	for k, l := range of.Of {
		if l >= 0 && of.L1.Values[k] <= 1 {
			for _, sound := range []bool{a.sound[k], b.sound[l]} {
				if sound {
					n += 0.5
				}
			}
		}
	}
	return n, nil
}

// score adds to x for each document of third i the sum of ln p over its hidden words.
func (t *trial) score(ctx context.Context, m *Model, i int, x *try) error {
	docs, err := t.docs.Select(t.parts[i], nil)
	if err != nil {
		return err
	}
	seen, hidden, err := halve(ctx, m, docs)
	if err != nil {
		return err
	}
	opt := infer.Options{Workers: t.p.workers}
	by, err := m.Inferer(ctx, nil, opt)
	if err != nil {
		return err
	}
	u := m.Marginals()
	b, err := infer.Smooth(m.denseTopics(), u, smoothing)
	if err != nil {
		return err
	}
	s, err := infer.Completion(ctx, by, b, seen, hidden, opt)
	if err != nil {
		return err
	}
	x.logs = append(x.logs, s.Documents...)
	if len(t.words) >= len(x.logs) {
		return nil // known from another K
	}
	all := floats.Sum(u)
	for d := range hidden.NumDocs() {
		words, _ := hidden.Doc(d)
		alone := 0.0
		for _, w := range words {
			alone += math.Log(u[w] / all)
		}
		t.words, t.alone = append(t.words, float64(len(words))), append(t.alone, alone)
	}
	return nil
}

// halve shows every second word of each document, and hides the others.
//
// All tokens of a word go to the same half, and hidden words count once: a word that was used is
// used again, whatever the topics. Halves of tokens would reward topics that repeat the words of
// single documents, the more topics the better.
func halve(ctx context.Context, m *Model, docs *corpus.Corpus) (seen, hidden *heldDocs, err error) {
	of, err := m.reindex(ctx, docs)
	if err != nil {
		return nil, nil, err
	}
	seen, hidden = &heldDocs{n: m.n}, &heldDocs{n: m.n}
	for d := range of.NumDocs() {
		words, counts := of.Doc(d)
		for i, w := range words {
			half, count := seen, counts[i]
			if i%2 == 1 {
				half, count = hidden, 1
			}
			half.ids, half.counts = append(half.ids, w), append(half.counts, count)
		}
		seen.ptr, hidden.ptr = append(seen.ptr, len(seen.ids)), append(hidden.ptr, len(hidden.ids))
	}
	return seen, hidden, nil
}
