package corpus

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/jsmf-go/spectral/internal/bag"
)

// Select returns the corpus of the given documents and words, in the order given; nil keeps
// all. A document that loses all its words stays, empty. Numbers that are out of range or given
// twice are an error.
func (c *Corpus) Select(docs, words []int) (*Corpus, error) {
	if err := checkSelection("document", docs, c.NumDocs(), c.ID); err != nil {
		return nil, err
	}
	quoted := func(w int) string { return strconv.Quote(c.vocab[w]) }
	if err := checkSelection("word", words, c.NumWords(), quoted); err != nil {
		return nil, err
	}
	vocab, to := c.vocab, []int32(nil)
	if words != nil {
		vocab, to = at(c.vocab, words), slices.Repeat([]int32{-1}, c.NumWords())
		for j, w := range words {
			to[w] = int32(j)
		}
	}
	out, _, err := c.pick(docs, vocab, to)
	return out, err
}

// checkSelection returns an error if numbers are not different ones from 0 to n-1.
func checkSelection(what string, numbers []int, n int, name func(int) string) error {
	seen := make([]bool, n)
	for _, i := range numbers {
		if i < 0 || i >= n {
			return fmt.Errorf("corpus: select: %s %d is not in [0, %d)", what, i, n)
		}
		if seen[i] {
			return fmt.Errorf("corpus: select: %s %d (%s) is named twice", what, i, name(i))
		}
		seen[i] = true
	}
	return nil
}

// pick returns the documents with the given numbers, nil for all, over vocab, in which word w
// has the number to[w]; nil: its own. Words of −1 are left out, and unknown is the number of
// their tokens. It is an error if words become one and their counts add up to more than MaxCount.
func (c *Corpus) pick(docs []int, vocab []string, to []int32) (out *Corpus, unknown int64, err error) {
	a, n := c.about, c.NumDocs()
	if docs != nil {
		a, n = c.about.at(docs), len(docs)
		a.ids = make([]string, n)
	}
	r := rows{indptr: make([]int, 1, n+1)}
	for d := range n {
		m := d
		if docs != nil {
			m = docs[d]
			a.ids[d] = c.ID(m)
		}
		words, counts := c.Doc(m)
		for i, w := range words {
			if to != nil {
				w = to[w]
			}
			if w >= 0 {
				r.add(w, counts[i])
			} else {
				unknown += int64(counts[i])
			}
		}
		if w, sum := r.end(); w >= 0 {
			return nil, 0, bag.CountError(c.ID(m), vocab[w], sum)
		}
	}
	return newCorpus(vocab, a, r.indptr, r.words, r.counts), unknown, nil
}

// at returns the elements of a with the given numbers; nil of nil.
func at[T any](a []T, numbers []int) []T {
	if a == nil {
		return nil
	}
	out := make([]T, len(numbers))
	for i, n := range numbers {
		out[i] = a[n]
	}
	return out
}

// Reindex returns the documents over another vocabulary, such as that of a model, which may have
// no word twice. Words that vocab lacks are left out; unknown is the number of their tokens.
func (c *Corpus) Reindex(vocab []string) (out *Corpus, unknown int64, err error) {
	if len(vocab) == 0 {
		return nil, 0, fmt.Errorf("corpus: reindex: %w", ErrEmptyVocabulary)
	}
	if _, err := bag.Index(vocab); err != nil {
		return nil, 0, fmt.Errorf("corpus: reindex: %w", err)
	}
	if out, unknown, err = c.pick(nil, slices.Clone(vocab), bag.Match(c.vocab, vocab)); err != nil {
		return nil, 0, fmt.Errorf("corpus: reindex: %w", err)
	}
	return out, unknown, nil
}
