package cooc

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/vec"
)

// NewDenseTFIDF returns the second moment of documents by tf-idf over some of their words:
// Σ_m w_m d_m d_mᵀ divided by the sum of its entries, where d_m holds h_mi·idf_i of the n
// words, scaled to the Euclidean length 1, and w_m is the weight of the document
// (corpus.Corpus.WithWeights). It is what NewMoments with TFIDF returns for the corpus of
// these words, with the idf given, as an array. Documents with fewer than two different of
// these words are left out.
//
// src yields documents by numbers of words in [0, len(idf)). Row i of the result is word
// words[i]; words must be ascending. src is read once, in chunks of a few megabytes. Time:
// Σ_m d_m²/2 multiply-adds for documents of d_m of the n words, and n². Memory: 8·n² bytes
// and a chunk.
//
// Errors: words out of order or range; those of src; ctx's. The error wraps ErrNoDocuments
// if no document has two of the words.
func NewDenseTFIDF(ctx context.Context, src corpus.Source, idf []float64, words []int, workers int) (*Dense, error) {
	to := make([]int32, len(idf))
	for i := range to {
		to[i] = bag.Unknown
	}
	for i, w := range words {
		if w < 0 || w >= len(idf) || i > 0 && w <= words[i-1] {
			return nil, fmt.Errorf("cooc: tf-idf: word %d at place %d; want words ascending in [0, %d)", w, i, len(idf))
		}
		to[w] = int32(i)
	}
	n := len(words)
	if n == 0 {
		return nil, fmt.Errorf("cooc: tf-idf: %w", corpus.ErrEmptyVocabulary)
	}
	s := &secondMoment{a: blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}, workers: workers}
	if err := s.read(ctx, src, &bag.Words{Size: len(idf), To: to}, idf, words); err != nil {
		return nil, err
	}
	if s.docs == 0 {
		return nil, fmt.Errorf("cooc: tf-idf: %w: none has two of the %d words", ErrNoDocuments, n)
	}
	total := 0.0
	for i := range n {
		row := linalg.Row(s.a, i)
		total += row[i]
		for j := i + 1; j < n; j++ {
			total += 2 * row[j]
			s.a.Data[j*n+i] = row[j]
		}
	}
	if !(total > 0) {
		return nil, fmt.Errorf("cooc: tf-idf: %w: none of the %d words has a weight", ErrNoDocuments, n)
	}
	for i := range s.a.Data {
		s.a.Data[i] /= total
	}
	d := denseOf(s.a)
	d.info = corpus.Info{Form: formDense + " (tf-idf)", Documents: s.docs, Nonzeros: int64(n) * int64(n)}
	return d, nil
}

// secondMoment adds up the upper triangle of Σ d dᵀ.
type secondMoment struct {
	a       blas64.General
	docs    int // used
	workers int

	// The nonzeros of a chunk by document: word, value, and the place after the last
	// nonzero of the document.
	cols []int32
	vals []float64
	ends []int32
	// Their places by word, those of word i from first[i] to first[i+1].
	first  []int
	places []int32
}

// momentNNZ is the number of nonzeros after which a chunk is added up.
const momentNNZ = 1 << 18

// read adds up all documents of src.
func (s *secondMoment) read(ctx context.Context, src corpus.Source, known *bag.Words, idf []float64, words []int) error {
	weights := bag.Weights(src)
	var d bag.Counter
	number := 0
	for doc, err := range src.Docs(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if number++; weights != nil && number > len(weights) {
			return fmt.Errorf("cooc: tf-idf: %w: more than the %d that have weights", corpus.ErrSourceChanged, len(weights))
		}
		if err = d.Read(known, bag.Document{ID: doc.ID, Tokens: doc.Tokens, Words: doc.Words, Counts: doc.Counts}, number); err == nil {
			err = d.Sorted()
		}
		if err != nil {
			return fmt.Errorf("cooc: tf-idf: %w", err)
		}
		weight := 1.0
		if weights != nil {
			weight = weights[number-1]
		}
		if len(d.Words) < 2 || weight == 0 {
			continue
		}
		if len(s.cols)+len(d.Words) > momentNNZ {
			if err := s.flush(ctx); err != nil {
				return err
			}
		}
		lo, end, length := len(s.vals), int32(len(s.vals)+len(d.Words)), 0.0
		for i, w := range d.Words {
			v := float64(d.Counts[i]) * idf[words[w]]
			s.vals, s.ends = append(s.vals, v), append(s.ends, end)
			length += v * v
		}
		s.cols = append(s.cols, d.Words...)
		if length > 0 {
			scale := math.Sqrt(weight / length)
			for i := range s.vals[lo:] {
				s.vals[lo+i] *= scale
			}
		}
		s.docs++
	}
	return s.flush(ctx)
}

// flush adds the chunk to the rows of the sum, each row by one goroutine in the order of
// the documents, and empties it.
func (s *secondMoment) flush(ctx context.Context) error {
	n := s.a.Rows
	s.first = vec.Resize(s.first, n+1)
	s.places = vec.Resize(s.places, len(s.cols))
	clear(s.first)
	for _, w := range s.cols {
		s.first[w]++
	}
	next := 0
	for w, m := range s.first {
		s.first[w] = next
		next += m
	}
	for k, w := range s.cols {
		s.places[s.first[w]] = int32(k)
		s.first[w]++
	}
	copy(s.first[1:], s.first) // each is now the end of its word
	s.first[0] = 0
	err := run.Chunks(ctx, n, 64, s.workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			row := linalg.Row(s.a, i)
			for _, k := range s.places[s.first[i]:s.first[i+1]] {
				cols, vals, v := s.cols[k:s.ends[k]], s.vals[k:s.ends[k]], s.vals[k]
				for t, w := range cols {
					row[w] += v * vals[t]
				}
			}
		}
		return nil
	})
	s.cols, s.vals, s.ends = s.cols[:0], s.vals[:0], s.ends[:0]
	return err
}
