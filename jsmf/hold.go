package jsmf

import (
	"context"
	"fmt"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/spectrum"
)

const (
	// heldOneOf is how many documents there are for each that is held out.
	heldOneOf = 3
	// minHeld is the smallest number of documents that tell numbers of topics apart.
	minHeld = 20
	// smoothing is the share of the unigram distribution in topics that are scored, so that no word
	// is impossible.
	smoothing = 0.01
)

// held are documents that models of the others are to predict.
type held struct {
	train  *problem // the others
	shared *spectrum.Shared
	docs   *corpus.Corpus
	keys   []uint64 // of docs

	seen, hidden *heldDocs // the two halves of docs over the words of the models; nil before the first
}

// isHeld reports whether a document with this key (bag.Key) is held out. The order of the documents
// does not matter where they have ids.
func isHeld(key uint64) bool {
	key = (key ^ key>>31) * 0x9e3779b97f4a7c15 // other bits than those of package holdout
	return key>>33%heldOneOf == 0
}

// hold divides the documents of an input, and counts those that models are fitted to. Its error
// says why none can be held out.
func (p Pipeline) hold(ctx context.Context, in Input) (*held, error) {
	docs, err := p.inMemory(ctx, in)
	if err != nil {
		return nil, err
	}
	h := &held{}
	var out, others []int
	for m := range docs.NumDocs() {
		if key := bag.Key(docs.ID(m), m+1); isHeld(key) {
			out, h.keys = append(out, m), append(h.keys, key)
		} else {
			others = append(others, m)
		}
	}
	if len(out) < minHeld {
		return nil, fmt.Errorf("%d of %d documents would be held out, and fewer than %d do not tell numbers of topics apart", len(out), docs.NumDocs(), minHeld)
	}
	if h.docs, err = docs.Select(out, nil); err != nil {
		return nil, err
	}
	train, err := docs.Select(others, nil)
	if err != nil {
		return nil, err
	}
	p.recorders = nil
	if h.train, err = p.count(ctx, train, &tracker{}); err != nil {
		return nil, fmt.Errorf("without the documents held out: %w", err)
	}
	h.shared = spectrum.New(h.train.c)
	return h, nil
}

// score fits p.k topics to the other documents, and returns for each document held out the sum of
// ln p over its hidden words, each counted once.
func (h *held) score(ctx context.Context, p Pipeline) ([]float64, error) {
	p.recorders, p.from = nil, nil
	m, err := p.fitOf(ctx, &h.train, &h.shared, time.Now())
	if err != nil {
		return nil, err
	}
	if h.hidden == nil {
		if err := h.halve(ctx, m); err != nil {
			return nil, err
		}
	}
	opt := infer.Options{Workers: p.workers}
	by, err := m.Inferer(ctx, nil, opt)
	if err != nil {
		return nil, err
	}
	b, err := infer.Smooth(m.denseTopics(), m.Marginals(), smoothing)
	if err != nil {
		return nil, err
	}
	s, err := infer.Completion(ctx, by, b, h.seen, h.hidden, opt)
	if err != nil {
		return nil, err
	}
	return s.Documents, nil
}

// halve shows every second word of each document held out, and hides the others. All models of the
// other documents have the words of m.
//
// All tokens of a word go to the same half, and hidden words count once: a word that was used is
// used again, whatever the topics. Halves of tokens would reward topics that repeat the words of
// single documents, the more topics the better.
func (h *held) halve(ctx context.Context, m *Model) error {
	docs, err := m.reindex(ctx, h.docs)
	if err != nil {
		return err
	}
	h.seen, h.hidden = &heldDocs{n: m.n}, &heldDocs{n: m.n}
	for d := range docs.NumDocs() {
		words, counts := docs.Doc(d)
		for i, w := range words {
			half, count := h.seen, counts[i]
			if i%2 == 1 {
				half, count = h.hidden, 1
			}
			half.ids, half.counts = append(half.ids, w), append(half.counts, count)
		}
		h.seen.ptr, h.hidden.ptr = append(h.seen.ptr, len(h.seen.ids)), append(h.hidden.ptr, len(h.hidden.ids))
	}
	return nil
}

// words returns how many hidden words each document has.
func (h *held) words() (n []float64) {
	for d := range h.hidden.NumDocs() {
		words, _ := h.hidden.Doc(d)
		n = append(n, float64(len(words)))
	}
	return n
}
