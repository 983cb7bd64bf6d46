package corpus

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/james-bowman/sparse"

	"github.com/jsmf-go/spectral/internal/bag"
)

// MaxCount is the largest number of times a word may occur in one document.
const MaxCount = math.MaxInt32

// Corpus holds the word counts of M documents over a vocabulary of N words, with
// the documents' ids and labels. It is immutable and safe for concurrent use.
//
// Words are numbered from 0 in the order of the vocabulary, documents from 0 in
// the order in which they were read. Memory: 8 bytes for each pair of a document
// and a word in it, and the strings.
type Corpus struct {
	vocab  []string
	ids    []string // nil: the documents are called by their 1-based number
	labels []string // nil: no labels
	indptr []int    // M+1
	words  []int32  // ascending within a document
	counts []int32  // ≥ 1
	tokens int64

	weights []float64 // of the documents; nil: 1 each

	index func() map[string]int
	df    func() []int
}

// newCorpus takes ownership of its arguments, which must be valid.
func newCorpus(vocab, ids, labels []string, indptr []int, words, counts []int32) *Corpus {
	c := &Corpus{vocab: vocab, ids: ids, labels: labels, indptr: indptr, words: words, counts: counts}
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

// Index returns the number of a word, the first of those that stand twice, and
// whether it is in the vocabulary. The first call builds a map.
func (c *Corpus) Index(word string) (int, bool) {
	i, ok := c.index()[word]
	return i, ok
}

// Doc returns the words of document m, ascending, and how often each occurs.
// The slices belong to the corpus and must not be written to.
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

// HasLabels reports whether any document has a label.
func (c *Corpus) HasLabels() bool { return c.labels != nil }

// Label returns the label of document m, "" where it has none.
func (c *Corpus) Label(m int) string {
	if c.labels == nil {
		return ""
	}
	return c.labels[m]
}

// DocFrequencies returns for each word the number of documents in which it occurs,
// in a new slice. The first call takes O(nnz) time.
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
			idf[w] = math.Log(float64(c.NumDocs()) / float64(df))
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

// Select returns the corpus restricted to the given documents and words, in the
// order given; nil keeps all. A document that loses all its words stays, empty.
// Numbers that are out of range or given twice are an error.
func (c *Corpus) Select(docs, words []int) (*Corpus, error) {
	M, N := c.NumDocs(), c.NumWords()
	vocab, to := c.vocab, []int32(nil)
	if words != nil {
		to = make([]int32, N)
		for i := range to {
			to[i] = -1
		}
		vocab = make([]string, len(words))
		for j, w := range words {
			if w < 0 || w >= N {
				return nil, fmt.Errorf("corpus: select: word %d is not in [0, %d)", w, N)
			}
			if to[w] >= 0 {
				return nil, fmt.Errorf("corpus: select: word %d (%q) is named twice", w, c.vocab[w])
			}
			to[w], vocab[j] = int32(j), c.vocab[w]
		}
	}
	if docs == nil {
		docs = make([]int, M)
		for m := range docs {
			docs[m] = m
		}
	} else {
		seen := make([]bool, M)
		for _, m := range docs {
			if m < 0 || m >= M {
				return nil, fmt.Errorf("corpus: select: document %d is not in [0, %d)", m, M)
			}
			if seen[m] {
				return nil, fmt.Errorf("corpus: select: document %d (%s) is named twice", m, c.ID(m))
			}
			seen[m] = true
		}
	}
	ids := make([]string, len(docs))
	var labels []string
	if c.labels != nil {
		labels = make([]string, len(docs))
	}
	indptr := make([]int, len(docs)+1)
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
	ws, cs := make([]int32, 0, nnz), make([]int32, 0, nnz)
	var buf []uint64
	for d, m := range docs {
		ids[d] = c.ID(m)
		if labels != nil {
			labels[d] = c.labels[m]
		}
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
	var weights []float64
	if c.weights != nil {
		weights = make([]float64, len(docs))
		for d, m := range docs {
			weights[d] = c.weights[m]
		}
	}
	return newCorpus(vocab, ids, labels, indptr, ws, cs).weighted(weights), nil
}
