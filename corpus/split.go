package corpus

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/jsmf-go/spectral/internal/bag"
)

// The splits and Bootstrap draw from different streams of random numbers, so that
// they may have the same seed.
const (
	streamDocs      = 0x5eed0001
	streamTokens    = 0x5eed0002
	streamBootstrap = 0x5eed0003
)

// Split divides the documents at random into a training and a held-out corpus.
// heldOut, in (0, 1), is the share of documents held out, rounded, with at least
// one document on each side. Both corpora keep the order of the documents and the
// whole vocabulary. The same seed gives the same split on every machine.
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

// Bootstrap draws M documents at random with replacement: some occur several
// times, with the same id, and about 37 % not at all. They keep their order, and the
// corpus its whole vocabulary. The same seed gives the same documents on every
// machine. O(nnz).
func (c *Corpus) Bootstrap(seed uint64) *Corpus {
	M := c.NumDocs()
	rng := rand.New(rand.NewPCG(seed, streamBootstrap))
	times := make([]int, M)
	for range M {
		times[rng.IntN(M)]++
	}
	drawn, indptr := make([]int, 0, M), append(make([]int, 0, M+1), 0)
	var words, counts []int32
	for m, n := range times {
		w, x := c.Doc(m)
		for range n {
			drawn = append(drawn, m)
			words, counts = append(words, w...), append(counts, x...)
			indptr = append(indptr, len(words))
		}
	}
	a := c.about.at(drawn)
	a.repeats, a.ids = true, make([]string, M)
	for d, m := range drawn {
		a.ids[d] = c.ID(m)
	}
	return newCorpus(c.vocab, a, indptr, words, counts)
}

// SplitTokens divides the tokens of every document at random in two, for document
// completion: topic proportions are inferred from the observed part, which then
// predict the held part. observed, in (0, 1), is the share of a document's n tokens
// that is observed, rounded, with at least one token on each side if n ≥ 2; a single
// token is observed if observed ≥ ½. Both corpora have the documents and the
// vocabulary of c. The split of document m depends on seed, m and its counts only.
// O(tokens).
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

// Reindex returns the documents over another vocabulary, such as that of a model.
// Words that vocab lacks are left out; unknown is the number of their tokens. vocab
// may hold words that never occur, but no word twice.
func (c *Corpus) Reindex(vocab []string) (out *Corpus, unknown int64, err error) {
	if len(vocab) == 0 {
		return nil, 0, fmt.Errorf("corpus: reindex: %w", ErrEmptyVocabulary)
	}
	if len(vocab) > math.MaxInt32 {
		return nil, 0, fmt.Errorf("corpus: reindex: %d words are more than %d", len(vocab), math.MaxInt32)
	}
	number := make(map[string]int32, len(vocab))
	for i, w := range vocab {
		if j, ok := number[w]; ok {
			return nil, 0, fmt.Errorf("corpus: reindex: words %d and %d are both %q", j, i, w)
		}
		number[w] = int32(i)
	}
	to := make([]int32, c.NumWords())
	for i, w := range c.vocab {
		n, ok := number[w]
		if !ok {
			n = -1
		}
		to[i] = n
	}
	r := rows{indptr: make([]int, 1, len(c.indptr))}
	for m := range c.NumDocs() {
		words, counts := c.Doc(m)
		for i, w := range words {
			if to[w] >= 0 {
				r.add(to[w], counts[i])
			} else {
				unknown += int64(counts[i])
			}
		}
		if w, sum := r.end(); w >= 0 {
			return nil, 0, fmt.Errorf("corpus: reindex: %w", bag.CountError(c.ID(m), vocab[w], sum))
		}
	}
	return newCorpus(append([]string(nil), vocab...), c.about, r.indptr, r.words, r.counts), unknown, nil
}
