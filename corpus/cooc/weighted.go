package cooc

import (
	"fmt"
	"math"

	"github.com/jsmf-go/spectral/corpus"
)

// Weighting says which second moment of the documents stands for C.
type Weighting int

const (
	// Unbiased is the estimate from pairs of different tokens, ĤĤᵀ − D (lee-2020,
	// eq. 1). Its entries are probabilities.
	Unbiased Weighting = iota
	// Proportions is DDᵀ with d = h/n, the shares of the words in a document. A token
	// also makes a pair with itself, which adds to the diagonal.
	Proportions
	// Counts is DDᵀ with d = h. Documents weigh by the square of their length.
	Counts
	// TFIDF is DDᵀ with d = h·ln(M/df), scaled to the Euclidean length 1 (fu-2018
	// §6.1). Words in every document have an empty row.
	TFIDF
)

// String returns the name in lower case, such as "tf-idf".
func (w Weighting) String() string {
	switch w {
	case Unbiased:
		return "unbiased"
	case Proportions:
		return "proportions"
	case Counts:
		return "counts"
	case TFIDF:
		return "tf-idf"
	}
	return fmt.Sprintf("Weighting(%d)", int(w))
}

// plain computes DDᵀ divided by its sum.
func (m *Moments) plain(c *corpus.Corpus, w Weighting) error {
	var idf []float64
	if w == TFIDF {
		idf = c.IDF()
	}
	share, all := shares(c), float64(m.docs)
	total := 0.0
	sums := make([]float64, m.docs)
	for d := range m.docs {
		words, counts := c.Doc(d)
		lo, length := len(m.byDoc.Cols), 0.0
		for i, word := range words {
			v := float64(counts[i])
			switch w {
			case Proportions:
				length += v
			case TFIDF:
				v *= idf[word]
				length += v * v
			}
			m.byDoc.Cols, m.byDoc.Vals = append(m.byDoc.Cols, word), append(m.byDoc.Vals, v)
		}
		switch {
		case w == TFIDF && length > 0:
			length = math.Sqrt(length)
		case w == Counts || length == 0: // of words in all documents only
			length = 1
		}
		if c.Weights() != nil {
			length /= math.Sqrt(all / share(d))
		}
		for i, v := range m.byDoc.Vals[lo:] {
			v /= length
			m.byDoc.Vals[lo+i] = v
			sums[d] += v
		}
		total += sums[d] * sums[d]
		m.byDoc.RowPtr[d+1] = len(m.byDoc.Cols)
	}
	if !(total > 0) {
		return fmt.Errorf("cooc: %w: every word is in every one of the %d documents, so that tf-idf leaves no weight", ErrNoDocuments, m.docs)
	}
	scale := 1 / math.Sqrt(total)
	for d := range m.docs {
		lo, hi := m.byDoc.RowPtr[d], m.byDoc.RowPtr[d+1]
		for i := lo; i < hi; i++ {
			v := m.byDoc.Vals[i] * scale
			word := m.byDoc.Cols[i]
			m.byDoc.Vals[i] = v
			m.self[word] += v * v
			m.c[word] += v * sums[d] * scale
		}
	}
	m.transpose()
	return nil
}
