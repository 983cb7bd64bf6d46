package corpus

import (
	"slices"
	"strconv"
	"sync"

	"github.com/james-bowman/sparse"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/arith"
)

// Corpus holds the word counts of M documents over a vocabulary of N words, with
// the documents' ids, labels and metadata. It is immutable and safe for concurrent use.
//
// Words and documents are numbered from 0, words in the order of the vocabulary. Memory:
// 8 bytes for each pair of a document and a word in it, the Metadata, and the strings.
type Corpus struct {
	about
	vocab  []string
	indptr []int   // M+1
	words  []int32 // ascending within a document
	counts []int32 // ≥ 1
	tokens int64

	index func() map[string]int
	df    func() []int
}

// about is what is known of documents besides their words.
type about struct {
	ids     []string  // nil: the documents are called by their 1-based number
	labels  []string  // nil: no labels
	weights []float64 // nil: 1 each
	meta    *Metadata
	text    *text.Setting // nil: not known
	repeats bool          // ids may come twice (Description.Copies)
	dropped []Dropped     // what was left out when they were read
}

// at returns what is known of the documents with the given numbers.
func (a about) at(docs []int) about {
	return about{at(a.ids, docs), at(a.labels, docs), at(a.weights, docs), a.meta.at(docs), a.text, a.repeats, a.dropped}
}

// newCorpus takes ownership of its arguments, which must be valid.
func newCorpus(vocab []string, a about, indptr []int, words, counts []int32) *Corpus {
	c := &Corpus{about: a, vocab: vocab, indptr: indptr, words: words, counts: counts}
	for _, n := range counts {
		c.tokens += int64(n)
	}
	c.index = sync.OnceValue(func() map[string]int {
		m := make(map[string]int, len(vocab))
		for i, w := range vocab {
			if _, ok := m[w]; !ok {
				m[w] = i
			}
		}
		return m
	})
	c.df = sync.OnceValue(func() []int {
		df := make([]int, len(vocab))
		for _, w := range words {
			df[w]++
		}
		return df
	})
	return c
}

// NumDocs returns M, the number of documents.
func (c *Corpus) NumDocs() int { return len(c.indptr) - 1 }

// NumWords returns N, the size of the vocabulary.
func (c *Corpus) NumWords() int { return len(c.vocab) }

// NNZ returns the number of pairs of a document and a word in it.
func (c *Corpus) NNZ() int { return len(c.words) }

// Tokens returns the sum of all counts.
func (c *Corpus) Tokens() int64 { return c.tokens }

// Word returns the word with number i.
func (c *Corpus) Word(i int) string { return c.vocab[i] }

// Vocabulary returns a copy of the vocabulary, N strings.
func (c *Corpus) Vocabulary() []string { return slices.Clone(c.vocab) }

// Index returns the number of a word, the first if it has several, and whether it is in the
// vocabulary. The first call builds a map.
func (c *Corpus) Index(word string) (int, bool) {
	i, ok := c.index()[word]
	return i, ok
}

// Doc returns the words of document m, ascending, and how often each occurs. The slices must
// not be written to.
func (c *Corpus) Doc(m int) (words, counts []int32) {
	lo, hi := c.indptr[m], c.indptr[m+1]
	return c.words[lo:hi:hi], c.counts[lo:hi:hi]
}

// DocLen returns n_m, the number of tokens of document m.
func (c *Corpus) DocLen(m int) int64 {
	var n int64
	for _, x := range c.counts[c.indptr[m]:c.indptr[m+1]] {
		n += int64(x)
	}
	return n
}

// ID returns the id of document m, or its number counted from 1 if it has none.
func (c *Corpus) ID(m int) string {
	if c.ids == nil || c.ids[m] == "" {
		return strconv.Itoa(m + 1)
	}
	return c.ids[m]
}

// Label returns the label of document m, "" where it has none.
func (c *Corpus) Label(m int) string {
	if c.labels == nil {
		return ""
	}
	return c.labels[m]
}

// Metadata returns the values of the documents; nil if there are none.
func (c *Corpus) Metadata() *Metadata { return c.meta }

// DocFrequencies returns for each word the number of documents that have it. The first call
// takes O(nnz) time.
func (c *Corpus) DocFrequencies() []int { return slices.Clone(c.df()) }

// WordCounts returns for each word the number of its tokens. O(nnz).
func (c *Corpus) WordCounts() []int64 {
	tf := make([]int64, len(c.vocab))
	for i, w := range c.words {
		tf[w] += int64(c.counts[i])
	}
	return tf
}

// IDF returns the inverse document frequency ln(M/df) of each word: 0 for a word in
// every document or in none. (Curate's default score rounds M/df down.) O(nnz).
func (c *Corpus) IDF() []float64 {
	idf := make([]float64, c.NumWords())
	for w, df := range c.df() {
		if df > 0 {
			idf[w] = arith.Log(float64(c.NumDocs()) / float64(df))
		}
	}
	return idf
}

// Counts returns a copy of the counts as an M×N sparse matrix, one row a document.
// Memory: 16 bytes a nonzero.
func (c *Corpus) Counts() *sparse.CSR {
	ind, data := make([]int, len(c.words)), make([]float64, len(c.words))
	for i, w := range c.words {
		ind[i], data[i] = int(w), float64(c.counts[i])
	}
	return sparse.NewCSR(c.NumDocs(), c.NumWords(), slices.Clone(c.indptr), ind, data)
}
