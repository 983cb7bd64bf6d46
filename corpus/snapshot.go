package corpus

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
)

// Snapshot is what an Accumulator held at one moment. It is immutable and safe for concurrent
// use. Memory: 8 bytes for each document, which the accumulator shares, and 24 for each word.
type Snapshot struct {
	o                AccumulatorOptions
	docs             []*heldDoc
	words            []string
	df               []int32
	unknown, evicted int64

	chosen func() *heldSource
}

// Snapshot returns what is held now. O(documents + different words) time.
func (a *Accumulator) Snapshot() *Snapshot {
	defer a.lock().Unlock()
	s := &Snapshot{
		o: a.o, docs: slices.Clone(a.docs), words: slices.Clone(a.words), df: slices.Clone(a.df),
		unknown: a.unknown, evicted: a.evicted,
	}
	s.chosen = sync.OnceValue(func() *heldSource { return s.source(s.o.minDocs(), s.o.MaxWords) })
	return s
}

// Docs returns the number of documents.
func (s *Snapshot) Docs() int { return len(s.docs) }

// Vocabulary returns the words of AccumulatorOptions.Vocabulary, then those that have joined
// it, sorted by their bytes.
func (s *Snapshot) Vocabulary() []string { return slices.Clone(s.chosen().vocab) }

// Corpus returns the documents with the words of the vocabulary, by time, then id. Documents
// without such a word are empty. With AccumulatorOptions.HalfLife they have weights, 1 for the
// newest. O(nnz) time.
func (s *Snapshot) Corpus() (*Corpus, error) {
	src := s.chosen()
	switch {
	case len(s.docs) == 0:
		return nil, fmt.Errorf("corpus: snapshot: %w", ErrNoDocuments)
	case len(src.vocab) == 0:
		return nil, fmt.Errorf("corpus: snapshot: %w: no word is in %d of the %d documents", ErrEmptyVocabulary, s.o.minDocs(), len(s.docs))
	}
	c, err := collect(context.Background(), src)
	if err == nil {
		c, err = c.WithWeights(s.weights())
	}
	if err != nil {
		return nil, fmt.Errorf("corpus: snapshot: %w", err)
	}
	return c, nil
}

// Document returns document i of Corpus, from 0.
func (s *Snapshot) Document(i int) HeldDocument { return s.docs[i].HeldDocument }

// weights returns the weights under AccumulatorOptions.HalfLife; nil: there is no decay.
func (s *Snapshot) weights() []float64 {
	if s.o.HalfLife == 0 {
		return nil
	}
	w := make([]float64, len(s.docs))
	for i, d := range s.docs {
		age := uint64(s.docs[len(s.docs)-1].At) - uint64(d.At)
		w[i] = math.Exp2(-float64(age) / s.o.HalfLife)
	}
	return w
}

// heldSource yields the documents of a snapshot with the words of vocab: those of
// AccumulatorOptions.Vocabulary, and then the others, sorted by their bytes.
type heldSource struct {
	s      *Snapshot
	vocab  []string
	number []int32 // of each word held, in vocab; −1: it is not in
}

// source returns the documents with the words that are in at least minDocs of them, and with
// maxWords words at most, if it is not 0.
func (s *Snapshot) source(minDocs, maxWords int) *heldSource {
	fixed := len(s.o.Vocabulary)
	var others []int32
	for w := fixed; w < len(s.words); w++ {
		if df := int(s.df[w]); df > 0 && df >= minDocs {
			others = append(others, int32(w))
		}
	}
	byName := func(v, w int32) int { return cmp.Compare(s.words[v], s.words[w]) }
	if maxWords > 0 {
		slices.SortFunc(others, func(v, w int32) int { return cmp.Or(cmp.Compare(s.df[w], s.df[v]), byName(v, w)) })
		others = others[:min(len(others), maxWords-fixed)]
	}
	slices.SortFunc(others, byName)
	h := &heldSource{s, append([]string{}, s.words[:fixed]...), slices.Repeat([]int32{-1}, len(s.words))}
	for w := range fixed {
		h.number[w] = int32(w)
	}
	for _, w := range others {
		h.number[w] = int32(len(h.vocab))
		h.vocab = append(h.vocab, s.words[w])
	}
	return h
}

func (h *heldSource) Describe(context.Context) (Description, error) {
	return Description{Documents: len(h.s.docs), Vocabulary: h.vocab, Columns: h.s.o.Columns, Text: h.s.o.Text}, nil
}

func (h *heldSource) Docs(context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		var words, counts []int32
		for _, d := range h.s.docs {
			all, n := d.pairs()
			words, counts = words[:0], counts[:0]
			for i, w := range all {
				if k := h.number[w]; k >= 0 {
					words, counts = append(words, k), append(counts, n[i])
				}
			}
			if !yield(Document{ID: d.ID, Values: d.Values, Words: words, Counts: counts}, nil) {
				return
			}
		}
	}
}
