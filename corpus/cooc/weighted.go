package cooc

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Weighting says which second moment of the documents C is.
type Weighting int

const (
	// Unbiased is the estimate from pairs of different tokens, ĤĤᵀ − D (lee-2020,
	// eq. 1). Its entries are probabilities.
	Unbiased Weighting = iota
	// OffDiagonal is Unbiased without its diagonal, divided by the sum of the rest: the
	// probability of two words given that they differ. The program published with
	// arora-2013 takes its anchors from its rows. BABᵀ has a diagonal, so that no model
	// fits it exactly; rectify.DC fills it in, to the same result as from Unbiased.
	OffDiagonal
	// TFIDF is DDᵀ with d = h·ln(M/df), scaled to the Euclidean length 1 (fu-2018
	// §6.1). Words in every document have an empty row.
	TFIDF
)

// String returns the name in lower case, such as "tf-idf".
func (w Weighting) String() string {
	switch w {
	case Unbiased:
		return "unbiased"
	case OffDiagonal:
		return "off-diagonal"
	case TFIDF:
		return "tf-idf"
	}
	return fmt.Sprintf("Weighting(%d)", int(w))
}

// form returns Info.Form: the name and, unless it is Unbiased, the Weighting.
func (w Weighting) form(name string) string {
	if w == Unbiased {
		return name
	}
	return fmt.Sprintf("%s (%v)", name, w)
}

// errAlone is the error where no pair of different words is left.
func errAlone(docs int) error {
	return fmt.Errorf("cooc: %w: none of the %d documents has two different words", ErrNoDocuments, docs)
}

// offDiagonal leaves out the diagonal of the unbiased estimate.
func (m *Moments) offDiagonal() error {
	for w, v := range m.self {
		m.diag[w] += v
	}
	clear(m.self)
	clear(m.c)
	for d := range m.docs {
		m.addOthers(m.byDoc.Row(d))
	}
	total := vec.Sum(m.c)
	if !(total > 0) {
		return errAlone(m.docs)
	}
	scale := 1 / total
	floats.Scale(scale, m.diag)
	floats.Scale(scale, m.c)
	floats.Scale(math.Sqrt(scale), m.byDoc.Vals)
	floats.Scale(math.Sqrt(scale), m.byWord.Vals)
	return nil
}

// tfidf computes DDᵀ divided by its sum.
func (m *Moments) tfidf(c *corpus.Corpus) error {
	idf := c.IDF()
	share, all := shares(c), float64(m.docs)
	total := 0.0
	sums := make([]float64, m.docs)
	for d := range m.docs {
		words, counts := c.Doc(d)
		lo, length := len(m.byDoc.Cols), 0.0
		for i, word := range words {
			v := float64(counts[i]) * idf[word]
			length += v * v
			m.byDoc.Cols, m.byDoc.Vals = append(m.byDoc.Cols, word), append(m.byDoc.Vals, v)
		}
		length = math.Sqrt(length)
		if length == 0 { // every word is in all documents
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
	m.byDoc.Transpose(&m.byWord, m.n)
	return nil
}
