package cooc

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/jsmf-go/spectral/corpus"
)

// Snapshot is what an Accumulator held at one moment. It is immutable and safe
// for concurrent use, and shares the documents with the accumulator: 8 bytes a
// document and 24 for each different word are all that it takes.
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

// Snapshot returns what is held now. O(documents + different words), a copy of
// pointers.
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

// others returns the words beside the fixed ones that fulfil the rule of growth,
// in the order in which they are taken; where waiting is true those that do not.
func (s *Snapshot) others(waiting bool) []int32 {
	var ids []int32
	least := s.o.minDocs()
	for w := len(s.o.Vocabulary); w < len(s.words); w++ {
		if df := int(s.df[w]); df > 0 && (least < 0 || df < least) == waiting {
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
	joined := s.others(false)
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

// Vocabulary returns the words of the vocabulary: those of
// AccumulatorOptions.Vocabulary, and then, sorted by their bytes, those that have
// joined.
func (s *Snapshot) Vocabulary() []string { return slices.Clone(s.chosen().vocab) }

// Candidate is a word that waits, and in how many documents it is.
type Candidate struct {
	Word string
	Docs int
}

// Candidates returns the words that are not in the vocabulary, those in most
// documents first, equal ones by their bytes: words in too few documents, and
// before them those that MaxWords keeps out.
func (s *Snapshot) Candidates() []Candidate {
	var out []Candidate
	number := s.chosen().number
	for _, ids := range [][]int32{s.others(false), s.others(true)} {
		for _, w := range ids {
			if number[w] < 0 {
				out = append(out, Candidate{s.words[w], int(s.df[w])})
			}
		}
	}
	return out
}

// Corpus returns the documents, with the words of the vocabulary, in the order
// of their times, equal ones in that of their ids. Documents without a word of
// it are there too, empty. Under AccumulatorOptions.HalfLife they carry their
// weights (corpus.Corpus.WithWeights). O(nnz).
func (s *Snapshot) Corpus() (*corpus.Corpus, error) {
	c := s.chosen()
	b := corpus.Builder{Vocabulary: slices.Clone(c.vocab)}
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
		if err := b.Add(corpus.Document{ID: d.id, Words: ids, Counts: held}); err != nil {
			return nil, fmt.Errorf("cooc: snapshot: %w", err)
		}
	}
	out, err := b.Corpus()
	if err == nil {
		out, err = out.WithWeights(s.weights())
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
