package cooc

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/jsmf-go/spectral/corpus"
)

// Snapshot is what an Accumulator held at one moment. It is immutable and safe for
// concurrent use. It shares the documents with the accumulator, and takes 8 bytes for
// each document and 24 for each different word.
type Snapshot struct {
	o                AccumulatorOptions
	docs             []*heldDoc
	words            []string
	df               []int32
	unknown, evicted int64

	chosen func() chosen
}

// chosen is the vocabulary of a snapshot.
type chosen struct {
	vocab  []string
	number []int32 // of each word held in vocab, −1: it is not in
}

// Snapshot returns what is held now. O(documents + different words) time.
func (a *Accumulator) Snapshot() *Snapshot {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ready()
	s := &Snapshot{
		o: a.o, docs: slices.Clone(a.docs), words: slices.Clone(a.words), df: slices.Clone(a.df),
		unknown: a.unknown, evicted: a.evicted,
	}
	s.chosen = sync.OnceValue(s.choose)
	return s
}

// joined returns the words beside the fixed ones that are in enough documents, in
// the order in which they are taken.
func (s *Snapshot) joined() []int32 {
	var ids []int32
	least := s.o.minDocs()
	for w := len(s.o.Vocabulary); w < len(s.words); w++ {
		if df := int(s.df[w]); df > 0 && least >= 0 && df >= least {
			ids = append(ids, int32(w))
		}
	}
	slices.SortFunc(ids, func(v, w int32) int {
		return cmp.Or(cmp.Compare(s.df[w], s.df[v]), cmp.Compare(s.words[v], s.words[w]))
	})
	return ids
}

func (s *Snapshot) choose() chosen {
	fixed := len(s.o.Vocabulary)
	joined := s.joined()
	if s.o.MaxWords > 0 {
		joined = joined[:min(len(joined), s.o.MaxWords-fixed)]
	}
	slices.SortFunc(joined, func(v, w int32) int { return cmp.Compare(s.words[v], s.words[w]) })
	c := chosen{vocab: slices.Clone(s.words[:fixed]), number: make([]int32, len(s.words))}
	for w := range c.number {
		c.number[w] = -1
		if w < fixed {
			c.number[w] = int32(w)
		}
	}
	for _, w := range joined {
		c.number[w] = int32(len(c.vocab))
		c.vocab = append(c.vocab, s.words[w])
	}
	return c
}

// Docs returns the number of documents.
func (s *Snapshot) Docs() int { return len(s.docs) }

// Vocabulary returns the words of AccumulatorOptions.Vocabulary, and then, sorted by
// their bytes, those that have joined it.
func (s *Snapshot) Vocabulary() []string { return slices.Clone(s.chosen().vocab) }

// Corpus returns the documents with the words of the vocabulary, in the order of
// their times, equal ones in that of their ids. Documents without a word of the
// vocabulary are empty. Its metadata are the values in AccumulatorOptions.Columns. With
// AccumulatorOptions.HalfLife the documents have weights (corpus.Corpus.WithWeights), 1
// for the newest. O(nnz) time.
func (s *Snapshot) Corpus() (*corpus.Corpus, error) {
	c := s.chosen()
	b := corpus.Builder{Vocabulary: slices.Clone(c.vocab), Columns: s.o.Columns}
	if len(s.docs) > 0 && len(c.vocab) == 0 {
		return nil, fmt.Errorf("cooc: snapshot: %w: no word is in %d of the %d documents", corpus.ErrEmptyVocabulary, s.o.minDocs(), len(s.docs))
	}
	var ids, held []int32
	for _, d := range s.docs {
		words, counts := d.pairs()
		ids, held = ids[:0], held[:0]
		for i, w := range words {
			if n := c.number[w]; n >= 0 {
				ids, held = append(ids, n), append(held, counts[i])
			}
		}
		if err := b.Add(corpus.Document{ID: d.id, Values: d.values, Words: ids, Counts: held}); err != nil {
			return nil, fmt.Errorf("cooc: snapshot: %w", err)
		}
	}
	out, err := b.Corpus()
	if err == nil {
		out, err = out.WithText(s.o.Text).WithWeights(s.weights())
	}
	if err != nil {
		return nil, fmt.Errorf("cooc: snapshot: %w", err)
	}
	return out, nil
}

// weights returns the weights of the documents under
// AccumulatorOptions.HalfLife, 1 for the newest; nil where there is no decay. Those
// that are less than the smallest double are 0.
func (s *Snapshot) weights() []float64 {
	if s.o.HalfLife == 0 {
		return nil
	}
	w := make([]float64, len(s.docs))
	for i, d := range s.docs {
		age := uint64(s.docs[len(s.docs)-1].at) - uint64(d.at)
		w[i] = math.Exp2(-float64(age) / s.o.HalfLife)
	}
	return w
}
