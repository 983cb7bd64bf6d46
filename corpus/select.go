package corpus

import (
	"fmt"
	"math"
	"math/rand/v2"
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

// The splits draw from different streams, so that they may have the same seed.
const (
	streamDocs   = 0x5eed0001
	streamTokens = 0x5eed0002
)

// Split divides the documents at random into a training and a held-out corpus, which keep their
// order and the whole vocabulary. heldOut, in (0, 1), is the share held out, rounded, with at
// least one document on each side. The same seed gives the same split on every machine.
func (c *Corpus) Split(heldOut float64, seed uint64) (train, held *Corpus, err error) {
	M := c.NumDocs()
	if !(heldOut > 0 && heldOut < 1) {
		return nil, nil, fmt.Errorf("corpus: split: the held-out share %v is not in (0, 1)", heldOut)
	}
	if M < 2 {
		return nil, nil, fmt.Errorf("corpus: split: %d documents cannot be divided", M)
	}
	n := min(max(int(math.Round(heldOut*float64(M))), 1), M-1)
	rng := rand.New(rand.NewPCG(seed, streamDocs))
	// Selection sampling: every set of n documents is equally likely.
	a, b := make([]int, 0, M-n), make([]int, 0, n)
	for m := range M {
		if rng.IntN(M-m) < n-len(b) {
			b = append(b, m)
		} else {
			a = append(a, m)
		}
	}
	if train, err = c.Select(a, nil); err == nil {
		held, err = c.Select(b, nil)
	}
	return train, held, err
}

// SplitTokens divides the tokens of every document at random in two, for document completion:
// topic proportions are inferred from the observed part and predict the held part. observed, in
// (0, 1), is the observed share of a document's n tokens, rounded, with at least one token on
// each side if n ≥ 2; a single token is observed if observed ≥ ½. Both corpora have the
// documents and the vocabulary of c. The split of document m depends on seed, m and its counts
// only. O(tokens).
func (c *Corpus) SplitTokens(observed float64, seed uint64) (obs, held *Corpus, err error) {
	if !(observed > 0 && observed < 1) {
		return nil, nil, fmt.Errorf("corpus: split tokens: the observed share %v is not in (0, 1)", observed)
	}
	a, b := rows{indptr: []int{0}}, rows{indptr: []int{0}}
	var pcg rand.PCG
	rng := rand.New(&pcg)
	for m := range c.NumDocs() {
		pcg.Seed(seed, streamTokens+uint64(m)<<32)
		left := c.DocLen(m)
		want := int64(math.Round(observed * float64(left)))
		if left > 1 {
			want = min(max(want, 1), left-1)
		}
		words, counts := c.Doc(m)
		for i, w := range words {
			x := int32(0)
			for range counts[i] {
				if rng.Int64N(left) < want {
					x++
					want--
				}
				left--
			}
			if x > 0 {
				a.add(w, x)
			}
			if x < counts[i] {
				b.add(w, counts[i]-x)
			}
		}
		a.end()
		b.end()
	}
	return newCorpus(c.vocab, c.about, a.indptr, a.words, a.counts), newCorpus(c.vocab, c.about, b.indptr, b.words, b.counts), nil
}
