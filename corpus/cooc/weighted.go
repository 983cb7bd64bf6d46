package cooc

import (
	"fmt"
	"math"

	"github.com/jsmf-go/spectral/corpus"
)

// Weighting says which second moment of the documents stands for C.
type Weighting int

const (
	// Unbiased is the estimate of pairs of different tokens, that of
	// NewMoments: ĤĤᵀ − D. Its entries are probabilities, and so are those of a
	// model of it.
	Unbiased Weighting = iota
	// Proportions is DDᵀ/M with d = h/n, the shares of the words in a document. A
	// token counts as a pair with itself, which adds to the diagonal.
	Proportions
	// Counts is DDᵀ with d = h: long documents weigh more, by the square of
	// their length.
	Counts
	// TFIDF is DDᵀ with d = h·ln(M/df), each document scaled to the Euclidean
	// length 1, the usual tf-idf (fu-2018 §6.1, on which its experiments with
	// real documents rest). Words in every document have an empty row.
	TFIDF
)

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

// NewWeighted returns the second moment of the documents of c that have at least
// opts.MinTokens tokens, divided by the sum of its entries: NewMoments(c, opts)
// for Unbiased, and for the others the plain P = DDᵀ of fu-2018, eq. 2, held as
// its columns d, one a document, with nothing taken off the diagonal. A plain moment is positive
// semidefinite, which the unbiased one is not, but too large on the diagonal, most so
// where documents are short and for rare words.
//
// M and df count the documents that enter, whatever their opts.DocWeights, by
// which each ddᵀ is multiplied. O(nnz) time. Errors: ErrNoDocuments
// where no document is left, or where tf-idf leaves no word a weight; a
// Weighting that there is not.
func NewWeighted(c *corpus.Corpus, w Weighting, opts Options) (*Moments, error) {
	switch w {
	case Unbiased:
		return NewMoments(c, opts)
	case Proportions, Counts, TFIDF:
	default:
		return nil, fmt.Errorf("cooc: %v: no such weighting", w)
	}
	M, used, err := newMoments(c, opts)
	if err != nil {
		return nil, err
	}
	var idf []float64
	if w == TFIDF {
		in := c
		if len(used) < c.NumDocs() {
			if in, err = c.Select(used, nil); err != nil {
				return nil, fmt.Errorf("cooc: %w", err)
			}
		}
		idf = in.IDF()
	}
	share, all := opts.shares(used), float64(len(used))
	total := 0.0
	sums := make([]float64, len(used))
	for d, m := range used {
		words, counts := c.Doc(m)
		lo, length := len(M.byDoc.Cols), 0.0
		for i, word := range words {
			v := float64(counts[i])
			switch w {
			case Proportions:
				length += v
			case TFIDF:
				v *= idf[word]
				length += v * v
			}
			M.byDoc.Cols, M.byDoc.Vals = append(M.byDoc.Cols, word), append(M.byDoc.Vals, v)
		}
		switch {
		case w == TFIDF && length > 0:
			length = math.Sqrt(length)
		case w == Counts || length == 0: // of words in all documents only
			length = 1
		}
		if opts.DocWeights != nil {
			length /= math.Sqrt(all / share(d))
		}
		for i, v := range M.byDoc.Vals[lo:] {
			v /= length
			M.byDoc.Vals[lo+i] = v
			sums[d] += v
		}
		total += sums[d] * sums[d]
		M.byDoc.RowPtr[d+1] = len(M.byDoc.Cols)
	}
	if !(total > 0) {
		return nil, fmt.Errorf("%w: every word is in every one of the %d documents, so that tf-idf leaves no weight", ErrNoDocuments, len(used))
	}
	scale := 1 / math.Sqrt(total)
	for d := range used {
		lo, hi := M.byDoc.RowPtr[d], M.byDoc.RowPtr[d+1]
		for i := lo; i < hi; i++ {
			v := M.byDoc.Vals[i] * scale
			word := M.byDoc.Cols[i]
			M.byDoc.Vals[i] = v
			M.self[word] += v * v
			M.c[word] += v * sums[d] * scale
		}
	}
	M.transpose()
	return M, nil
}
