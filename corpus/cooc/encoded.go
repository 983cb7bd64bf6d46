package cooc

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// encoded is what FromEncoded returns.
type encoded struct {
	docs    *corpus.Encoded
	to      []int32 // the number here of each word of docs that is used; nil: the same
	opts    Options
	weights []float64 // of the documents that are used; nil: 1 each
	largest float64   // of the weights of all documents
	scale   float64   // the inverse of what the pairs of all documents sum to
	diag, c []float64
	info    corpus.Info
}

// FromEncoded is the estimate of [NewMoments] from encoded documents, which may be in a
// file. It decodes them again for each product instead of holding them as numbers, and
// has no rows. It is for more documents than memory, and for methods that take few
// products of many vectors, such as rectify.LR.
//
// Weights of documents count as in NewMoments, and products agree with those of Moments
// to rounding. A product with p vectors is one pass over the documents, in chunks of at
// most 8192 documents and max(2¹⁸, 4N) counts. Memory: O(N), a number for each document
// that has a weight, and for a product 24 bytes for each count of a chunk and at most
// 64 kB·p, however many documents there are. Closing e ends the use of the operator and of
// its Info().Source.
//
// Errors: options out of range; a Weighting other than [Unbiased] and [OffDiagonal]; no
// document that is long enough, or for OffDiagonal none of two different words
// ([ErrNoDocuments]); blocks that are damaged; ctx's. Products return the last two.
func FromEncoded(ctx context.Context, e *corpus.Encoded, opts Options) (Operator, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if w := opts.Weighting; w != Unbiased && w != OffDiagonal {
		return nil, fmt.Errorf("cooc: encoded documents: the weighting is %v; only documents in memory have others than %v and %v", w, Unbiased, OffDiagonal)
	}
	vocab := e.Info().Vocabulary
	if len(vocab) == 0 {
		return nil, fmt.Errorf("cooc: encoded documents: %w", corpus.ErrEmptyVocabulary)
	}
	m := &encoded{docs: e, opts: opts}
	if w := e.Weights(); len(w) > 0 {
		m.largest = slices.Max(w)
	}
	m.info = corpus.Info{Form: opts.Weighting.form("encoded"), Vocabulary: vocab, Text: e.Info().Text}
	if err := m.count(ctx); err != nil {
		return nil, err
	}
	if opts.DropUnused {
		m.dropUnused()
	}
	m.info.Source = usedDocs{m}
	if m.to == nil && m.info.Documents == e.Info().Documents {
		m.info.Source = e
	}
	return m, nil
}

// count makes the pass that finds the row sums, the diagonal and what Info says.
func (m *encoded) count(ctx context.Context) error {
	n := len(m.info.Vocabulary)
	m.diag, m.c, m.info.DocFrequencies = make([]float64, n), make([]float64, n), make([]int, n)
	total := 0.0
	all := m.docs.Weights()
	var short, light corpus.Dropped
	var b corpus.Block
	err := m.read(ctx, &b, func(d int, words, counts []int32, length int64) error {
		weight := m.weight(b.First + d)
		switch {
		case length < m.opts.minTokens():
			bag.Leave(&short.Count, &short.Names, b.Name(d))
			return nil
		case weight == 0:
			bag.Leave(&light.Count, &light.Names, b.Name(d))
			return nil
		}
		m.info.Documents++
		m.info.Nonzeros += int64(len(words))
		m.info.Tokens += length
		total += weight
		if all != nil {
			m.weights = append(m.weights, all[b.First+d])
		}
		l := float64(length)
		pairs := l * (l - 1)
		for i, w := range words {
			x := float64(counts[i])
			if m.opts.Weighting == OffDiagonal {
				m.diag[w] += float64(weight * (x * x / pairs))
				m.c[w] += float64(weight * (x * (l - x) / pairs))
			} else {
				m.diag[w] += float64(weight * (x / pairs))
				m.c[w] += float64(weight * (x / l))
			}
			m.info.DocFrequencies[w]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	reasons, err := m.opts.reasons(m.info.Documents, short, light)
	if err != nil {
		return err
	}
	m.info.DroppedDocuments = slices.Concat(m.docs.Info().DroppedDocuments, reasons)
	if m.opts.Weighting == OffDiagonal {
		if total = vec.Sum(m.c); !(total > 0) {
			return errAlone(m.info.Documents)
		}
	}
	m.scale = 1 / total
	floats.Scale(m.scale, m.diag)
	floats.Scale(m.scale, m.c)
	return nil
}

// dropUnused leaves out the words of no document that is used.
func (m *encoded) dropUnused() {
	vocab, df := m.info.Vocabulary, m.info.DocFrequencies
	if !slices.Contains(df, 0) {
		return
	}
	m.to = make([]int32, len(df))
	m.info.Vocabulary, m.info.DocFrequencies = nil, nil
	var gone []string
	for w, held := range df {
		if held == 0 {
			gone = append(gone, vocab[w])
			continue
		}
		k := len(m.info.Vocabulary)
		m.to[w], m.diag[k], m.c[k] = int32(k), m.diag[w], m.c[w]
		m.info.Vocabulary, m.info.DocFrequencies = append(m.info.Vocabulary, vocab[w]), append(m.info.DocFrequencies, held)
	}
	n := len(m.info.Vocabulary)
	m.diag, m.c = m.diag[:n], m.c[:n]
	m.info.DroppedWords = []corpus.Dropped{{Reason: unused, Count: len(gone), Names: gone}}
}

// read decodes all documents into b, and calls f for one after the other with its number
// in the block, its words, how often each occurs, and its length.
func (m *encoded) read(ctx context.Context, b *corpus.Block, f func(d int, words, counts []int32, length int64) error) error {
	for i := range m.docs.Blocks() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.docs.Block(i, b); err != nil {
			return err
		}
		for d := range b.Docs() {
			words, counts := b.Doc(d)
			if err := f(d, words, counts, lengthOf(counts)); err != nil {
				return err
			}
		}
	}
	return nil
}

// lengthOf returns the number of tokens of a document.
func lengthOf(counts []int32) (length int64) {
	for _, x := range counts {
		length += int64(x)
	}
	return length
}

// used reports whether document d, of this length, is used.
func (m *encoded) used(d int, length int64) bool {
	return length >= m.opts.minTokens() && m.weight(d) > 0
}

// renumber gives the words of a document that is used their numbers here, in place.
func (m *encoded) renumber(words []int32) {
	if m.to != nil {
		for i, w := range words {
			words[i] = m.to[w]
		}
	}
}

// weight returns the weight of a document in units of the largest, so that no sum of
// them overflows.
func (m *encoded) weight(d int) float64 {
	w := m.docs.Weights()
	switch {
	case w == nil:
		return 1
	case w[d] > 0:
		return w[d] / m.largest
	}
	return 0
}

func (m *encoded) Dim() int { return len(m.c) }

// Info has a Source that yields the documents with the numbers of the words here.
func (m *encoded) Info() corpus.Info { return m.info }

func (m *encoded) Marginals() []float64 { return m.c }

// A chunk has at most chunkDocs documents and max(chunkPairs, 4N) pairs of a document and
// a word in it, except for a document with more.
const (
	chunkDocs  = 8192
	chunkPairs = 1 << 18
)

// MulTo computes dst = Ĥ(ĤᵀX) − DX in one pass over the documents, a chunk at a time.
func (m *encoded) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	n := m.Dim()
	if err := checkMul("encoded documents", n, n, dst, x); err != nil {
		return err
	}
	X, Y := x.RawMatrix(), dst.RawMatrix()
	for i, d := range m.diag {
		row := linalg.Row(Y, i)
		for j, v := range linalg.Row(X, i) {
			row[j] = -d * v
		}
	}
	byDoc, byWord := linalg.CSR{RowPtr: []int{0}}, linalg.CSR{} // a chunk of Ĥᵀ, and of Ĥ
	var z []float64
	flush := func() error {
		docs := len(byDoc.RowPtr) - 1
		z = vec.Resize(z, docs*X.Cols)
		Z := blas64.General{Rows: docs, Cols: X.Cols, Stride: X.Cols, Data: z}
		if err := byDoc.Mul(ctx, X, Z, false, workers); err != nil {
			return err
		}
		byDoc.Transpose(&byWord, n)
		err := byWord.Mul(ctx, Z, Y, true, workers)
		byDoc = linalg.CSR{RowPtr: byDoc.RowPtr[:1], Cols: byDoc.Cols[:0], Vals: byDoc.Vals[:0]}
		return err
	}
	var b corpus.Block
	err := m.read(ctx, &b, func(d int, words, counts []int32, length int64) error {
		if !m.used(b.First+d, length) {
			return nil
		}
		if held := len(byDoc.Cols); held > 0 && (len(byDoc.RowPtr) > chunkDocs || held+len(words) > max(chunkPairs, 4*n)) {
			if err := flush(); err != nil {
				return err
			}
		}
		m.renumber(words)
		l := float64(length)
		scale := math.Sqrt(m.scale * m.weight(b.First+d) / (l * (l - 1)))
		byDoc.Cols = append(byDoc.Cols, words...)
		for _, x := range counts {
			byDoc.Vals = append(byDoc.Vals, float64(x)*scale)
		}
		byDoc.RowPtr = append(byDoc.RowPtr, len(byDoc.Cols))
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// usedDocs yields the documents that are used.
type usedDocs struct{ m *encoded }

func (s usedDocs) Describe(ctx context.Context) (corpus.Description, error) {
	desc, err := s.m.docs.Describe(ctx)
	desc.Documents, desc.Vocabulary, desc.Unsorted, desc.Weights = s.m.info.Documents, s.m.info.Vocabulary, false, s.m.weights
	desc.DroppedDocuments = s.m.info.DroppedDocuments
	return desc, err
}

func (s usedDocs) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		number := 0
		for doc, err := range s.m.docs.Docs(ctx) {
			if err != nil {
				yield(doc, err)
				return
			}
			if s.m.used(number, lengthOf(doc.Counts)) {
				s.m.renumber(doc.Words)
				if !yield(doc, nil) {
					return
				}
			}
			number++
		}
	}
}
