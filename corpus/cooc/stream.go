package cooc

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Stream is the estimate of C from documents that are read again for each product:
// what Moments is for documents in memory. It is meant for corpora larger than
// memory, and for methods that need few products with many vectors, such as
// rectify.LR. It has no rows, so that it is an Operator but no Matrix.
//
// A product with p vectors is one pass over the Source, in chunks of at most 8192
// documents and max(2¹⁸, 4N) nonzero counts. The next chunk is read meanwhile.
// Memory: 24 bytes for each count of two chunks, at most 64 kB·p for the products
// of one, and O(N), however many documents there are. Products agree with those of
// Moments to rounding.
//
// A Stream is safe for concurrent use if its Source is, as the readers of package
// corpus are.
type Stream struct {
	src   corpus.Source
	vocab []string
	words *bag.Words
	opts  Options

	n         int
	docs      int
	skipped   int
	nnz       int64
	tokens    int64
	scale     float64 // the inverse of what the pairs of all documents sum to
	diag      []float64
	c         []float64
	df        []int
	info      corpus.Info
	passes    *atomic.Int64
	chunkDocs int
	chunkNNZ  int
	idle      *sync.Pool // of *docChunk, between passes
}

// NewStream makes the first pass over src, which finds the row sums, the diagonals
// and the document frequencies. Errors: options out of range; a Weighting other than
// Unbiased and OffDiagonal; a Source of tokens without Vocabulary; a word that stands
// twice in a vocabulary; documents with weights (corpus.Corpus.WithWeights), which only
// Moments count; no document that is long enough, or for OffDiagonal none of two
// different words (ErrNoDocuments); counts that are negative or too large; those of
// src; ctx's.
func NewStream(ctx context.Context, src corpus.Source, opts Options) (*Stream, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if w := opts.Weighting; w != Unbiased && w != OffDiagonal {
		return nil, fmt.Errorf("cooc: stream: the weighting is %v, and only documents held in memory have others than %v and %v", opts.Weighting, Unbiased, OffDiagonal)
	}
	if bag.Weights(src) != nil {
		return nil, errors.New("cooc: stream: the documents have weights, which a Stream does not count: use Moments, or a corpus without weights")
	}
	if from, ok := src.(corpus.FromText); ok && from.Stemmer() != nil {
		merged, err := corpus.Stem(ctx, src, from.Stemmer())
		if err != nil {
			return nil, err
		}
		src = merged
	}
	s := &Stream{src: src, opts: opts, passes: new(atomic.Int64), idle: new(sync.Pool)}
	s.opts.Vocabulary = nil
	var err error
	if s.words, s.vocab, err = streamWords(ctx, src, opts.Vocabulary); err != nil {
		return nil, err
	}
	s.words.Name = func(w int32) string { return s.vocab[w] }
	n := len(s.vocab)
	s.resize(n)
	s.diag, s.c, s.df = make([]float64, n), make([]float64, n), make([]int, n)
	err = s.read(ctx, s.count)
	if err != nil {
		return nil, err
	}
	if s.docs == 0 {
		return nil, fmt.Errorf("cooc: stream: %w", opts.none(s.skipped))
	}
	total := float64(s.docs)
	if opts.Weighting == OffDiagonal {
		if total = vec.Sum(s.c); !(total > 0) {
			return nil, errAlone(s.docs)
		}
	}
	s.scale = 1 / total
	floats.Scale(s.scale, s.diag)
	floats.Scale(s.scale, s.c)
	var gone []string
	if opts.DropUnused {
		gone = s.dropUnused()
	}
	s.info = corpus.Info{
		Form: opts.Weighting.form(formStream), Documents: s.docs, Tokens: s.tokens, Nonzeros: s.nnz,
		Vocabulary: s.vocab, DocFrequencies: s.df, Source: streamSource{s},
	}
	if t, ok := src.(corpus.FromText); ok {
		s.info.Text = t.TextSetting()
	}
	if s.skipped > 0 {
		s.info.DroppedDocuments = []corpus.Dropped{{Reason: s.opts.short(), Count: s.skipped}}
	}
	if len(gone) > 0 {
		s.info.DroppedWords = []corpus.Dropped{{Reason: unused, Count: len(gone), Names: gone}}
	}
	return s, nil
}

// count adds up the row sums, the diagonal and the document frequencies.
func (s *Stream) count(doc corpus.Document, length int64) error {
	s.docs++
	s.nnz += int64(len(doc.Words))
	s.tokens += length
	l := float64(length)
	pairs := l * (l - 1)
	for i, w := range doc.Words {
		x := float64(doc.Counts[i])
		if s.opts.Weighting == OffDiagonal {
			s.diag[w] += x * x / pairs
			s.c[w] += x * (l - x) / pairs
		} else {
			s.diag[w] += x / pairs
			s.c[w] += x / l
		}
		s.df[w]++
	}
	return nil
}

func (s *Stream) resize(n int) {
	s.n, s.chunkDocs, s.chunkNNZ = n, streamDocs, max(streamNNZ, 4*n)
}

// dropUnused leaves out the words of no document that is used and returns them.
func (s *Stream) dropUnused() (gone []string) {
	to := make([]int32, s.n)
	n := int32(0)
	for w, d := range s.df {
		if d == 0 {
			to[w] = -1
			gone = append(gone, s.vocab[w])
			continue
		}
		to[w] = n
		s.vocab[n], s.diag[n], s.c[n], s.df[n] = s.vocab[w], s.diag[w], s.c[w], s.df[w]
		n++
	}
	s.vocab, s.diag, s.c, s.df = slices.Clone(s.vocab[:n]), s.diag[:n], s.c[:n], s.df[:n]
	s.words.Renumber(to)
	s.resize(int(n))
	return gone
}

// Dim returns N.
func (s *Stream) Dim() int { return s.n }

// Info describes the documents and words that are used. Its Source yields them with
// the numbers of the Stream's words, and what else is known of them; reading it counts
// among Passes.
func (s *Stream) Info() corpus.Info { return s.info }

func (s *Stream) withInfo(info corpus.Info) Operator {
	out := *s
	out.info = info
	return &out
}

// Passes returns the number of passes over the Source that have begun, with the first
// one in NewStream.
func (s *Stream) Passes() int { return int(s.passes.Load()) }

// Marginals returns the row sums c_i, for Unbiased the mean over documents of h_mi/n_m.
func (s *Stream) Marginals() []float64 { return s.c }

// streamSource yields the documents of a Stream, as distinct words and their counts.
type streamSource struct{ s *Stream }

var _ corpus.Described = streamSource{}

func (s streamSource) Columns() []corpus.Column {
	if d, ok := s.s.src.(corpus.Described); ok {
		return d.Columns()
	}
	return nil
}

func (s streamSource) TextSetting() *text.Setting { return s.s.info.Text }

func (s streamSource) Stemmer() text.Stemmer { return nil } // the words are merged

func (s streamSource) Vocabulary(context.Context) ([]string, error) {
	return slices.Clone(s.s.vocab), nil
}

func (s streamSource) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	errLeft := errors.New("the loop was left")
	return func(yield func(corpus.Document, error) bool) {
		err := s.s.read(ctx, func(doc corpus.Document, _ int64) error {
			if !yield(doc, nil) {
				return errLeft
			}
			return nil
		})
		if err != nil && err != errLeft {
			yield(corpus.Document{}, err)
		}
	}
}

// MulTo computes dst = Ĥ(ĤᵀX) − DX in one pass over the Source. With one worker
// everything happens in the caller's goroutine; otherwise one more goroutine reads.
// Errors: those of the Source, corpus.ErrSourceChanged, ctx's; dst is then partly written.
func (s *Stream) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	if err := checkMul("stream", s.n, s.n, dst, x); err != nil {
		return err
	}
	X, Y := x.RawMatrix(), dst.RawMatrix()
	for i, d := range s.diag {
		row, xr := linalg.Row(Y, i), linalg.Row(X, i)
		for j, v := range xr {
			row[j] = -d * v
		}
	}
	return s.chunks(ctx, workers, func(c *docChunk) error {
		c.z = vec.Resize(c.z, c.docs()*X.Cols)
		Z := blas64.General{Rows: c.docs(), Cols: X.Cols, Stride: X.Cols, Data: c.z}
		if err := c.byDoc.Mul(ctx, X, Z, false, workers); err != nil {
			return err
		}
		c.transpose(s.n)
		return c.byWord.Mul(ctx, Z, Y, true, workers)
	})
}
