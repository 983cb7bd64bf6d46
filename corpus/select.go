package corpus

import (
	"fmt"

	"github.com/jsmf-go/spectral/internal/bag"
)

// Select returns the corpus restricted to the given documents and words, in the
// order given; nil keeps all. A document that loses all its words stays, empty.
// Numbers that are out of range or given twice are an error.
func (c *Corpus) Select(docs, words []int) (*Corpus, error) {
	vocab, to, err := c.selectWords(words)
	if err != nil {
		return nil, err
	}
	if docs, err = c.selectDocs(docs); err != nil {
		return nil, err
	}
	nnz := 0
	for _, m := range docs {
		if to == nil {
			nnz += c.indptr[m+1] - c.indptr[m]
			continue
		}
		for _, w := range c.words[c.indptr[m]:c.indptr[m+1]] {
			if to[w] >= 0 {
				nnz++
			}
		}
	}
	a := c.about.at(docs)
	a.ids = make([]string, len(docs))
	indptr := make([]int, len(docs)+1)
	ws, cs := make([]int32, 0, nnz), make([]int32, 0, nnz)
	var buf []uint64
	for d, m := range docs {
		a.ids[d] = c.ID(m)
		dw, dn := c.Doc(m)
		if to == nil {
			ws, cs = append(ws, dw...), append(cs, dn...)
		} else {
			lo := len(ws)
			for i, w := range dw {
				if to[w] >= 0 {
					ws, cs = append(ws, to[w]), append(cs, dn[i])
				}
			}
			bag.Merge(ws[lo:], cs[lo:], &buf) // distinct words: sorts only
		}
		indptr[d+1] = len(ws)
	}
	return newCorpus(vocab, a, indptr, ws, cs), nil
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

// selectWords returns the words with the given numbers, and for each word of c its
// new number, −1 for those left out. to is nil where all are kept.
func (c *Corpus) selectWords(words []int) (vocab []string, to []int32, err error) {
	if words == nil {
		return c.vocab, nil, nil
	}
	n := c.NumWords()
	to = make([]int32, n)
	for i := range to {
		to[i] = -1
	}
	vocab = make([]string, len(words))
	for j, w := range words {
		if w < 0 || w >= n {
			return nil, nil, fmt.Errorf("corpus: select: word %d is not in [0, %d)", w, n)
		}
		if to[w] >= 0 {
			return nil, nil, fmt.Errorf("corpus: select: word %d (%q) is named twice", w, c.vocab[w])
		}
		to[w], vocab[j] = int32(j), c.vocab[w]
	}
	return vocab, to, nil
}

// selectDocs checks the numbers of documents, and returns all for nil.
func (c *Corpus) selectDocs(docs []int) ([]int, error) {
	n := c.NumDocs()
	if docs == nil {
		docs = make([]int, n)
		for m := range docs {
			docs[m] = m
		}
		return docs, nil
	}
	seen := make([]bool, n)
	for _, m := range docs {
		if m < 0 || m >= n {
			return nil, fmt.Errorf("corpus: select: document %d is not in [0, %d)", m, n)
		}
		if seen[m] {
			return nil, fmt.Errorf("corpus: select: document %d (%s) is named twice", m, c.ID(m))
		}
		seen[m] = true
	}
	return docs, nil
}
