package jsmf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/vec"
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
	tries []*try    // by ascending K
}

// try is a number of topics that was tried on the first thirds.
type try struct {
	K      int
	logs   []float64  // as trial.alone, by the topics
	models []*found   // one for each third held out so far, nil where none follows
	back   [3]float64 // the share of topics that come back and are sound, in models 0 and 1, 0 and 2, 1 and 2
	npmi   float64    // the sum over models
	took   time.Duration
	err    error
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
	topics [][]weighted // the reading words of each
	sound  []bool
}

// weighted is a word of the documents with its weight in a topic.
type weighted struct {
	word   int32
	weight float32
}

// faintest is the smallest weight that is kept. A topic of 5,000 words has some 300 above.
const faintest = 1e-5

// keep returns what is kept of a model.
func (t *trial) keep(m *Model, verdicts []metrics.Verdict) *found {
	f := &found{make([][]weighted, m.k), make([]bool, m.k)}
	for k, v := range verdicts {
		f.sound[k] = v.Quality == metrics.Sound
	}
	reading := m.readingWeights()
	for i := range m.n {
		word, _ := t.docs.Index(m.Word(i))
		for k, w := range reading.RawRowView(i) {
			if w >= faintest {
				f.topics[k] = append(f.topics[k], weighted{int32(word), float32(w)})
			}
		}
	}
	return f
}

// more holds out one more third for x.
func (t *trial) more(ctx context.Context, x *try) error {
	i := len(x.models)
	m, train, err := t.fit(ctx, x.K, i)
	if err != nil {
		return err
	}
	if train, err = withWordsOf(m, train); err != nil {
		return err
	}
	verdicts, err := t.p.verdicts(ctx, m, train)
	if err != nil {
		return err
	}
	meet, n := 0.0, 0.0
	for _, v := range verdicts {
		if !math.IsNaN(v.NPMI) {
			meet, n = meet+v.NPMI, n+1
		}
	}
	x.npmi += meet / max(1, n)
	if err := t.score(ctx, m, i, x); err != nil {
		return err
	}
	x.models = append(x.models, t.keep(m, verdicts))
	for pair, of := range pairs {
		if of[1] == i {
			back, err := comeBack(ctx, x.models[of[0]], x.models[i], t.p.workers)
			if err != nil {
				return err
			}
			x.back[pair] = back / float64(x.K)
		}
	}
	if len(x.models) == len(t.parts) {
		clear(x.models)
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
	at := make(map[int32]int) // the row of each word
	for _, f := range []*found{a, b} {
		for _, topic := range f.topics {
			for _, w := range topic {
				if _, ok := at[w.word]; !ok {
					at[w.word] = len(at)
				}
			}
		}
	}
	of, err := metrics.Match(ctx, a.dense(at), b.dense(at), metrics.MatchOptions{Workers: workers})
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

// dense returns the topics as columns that sum to 1, over words with these rows.
func (f *found) dense(at map[int32]int) *mat.Dense {
	out := mat.NewDense(len(at), len(f.topics), nil)
	for k, topic := range f.topics {
		sum := 0.0
		for _, w := range topic {
			sum += float64(w.weight)
		}
		for _, w := range topic {
			out.Set(at[w.word], k, float64(w.weight)/sum)
		}
	}
	return out
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
	all := vec.Sum(u)
	for d := range hidden.NumDocs() {
		words, _ := hidden.Doc(d)
		alone := 0.0
		for _, w := range words {
			alone += arith.Log(u[w] / all)
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
