package cooc

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// ErrSourceChanged is returned where a Source yields other documents in a later
// pass than in the first.
var ErrSourceChanged = errors.New("the documents are not those of the first pass")

// StreamOptions says which words and documents of a Source enter a Stream. The
// zero value takes all words and the papers' documents.
type StreamOptions struct {
	// Options sets how C is estimated.
	Options

	// Vocabulary is the words to keep, in the order in which they are to be
	// numbered; all others are skipped while reading, as if they were not in
	// the documents. nil keeps the whole vocabulary of a corpus.Numbered; a
	// Source of tokens needs one. Words that the documents lack are allowed:
	// their rows are empty. The slice is copied.
	Vocabulary []string

	// MinDistinct leaves out documents with fewer distinct words, of those
	// kept. 0: no limit. (corpus.Curate has 3 where nothing is said.)
	MinDistinct int

	// DropUnused leaves out, after the first pass, the words that occur in
	// none of the documents that entered the estimate, whose rows would be
	// empty. The others keep their order; Vocabulary names them.
	DropUnused bool
}

// Stream is the estimate of C from documents that are read anew for each
// product and never held: what Moments is for documents in memory. It is for
// corpora larger than memory, with methods that need few products with many
// vectors, as rectify.LR does.
//
// A product with p vectors is one pass over the Source. The documents are
// taken in chunks of at most 8192, with at most max(2¹⁸, 4N) nonzero counts in
// all, the reader running ahead by one chunk. Memory: 24 bytes a count for two
// chunks, at most 64 kB·p for the products of one, and O(N) for sums, document
// frequencies and the vocabulary, however many documents there are. Products agree with those of Moments on the same
// documents to rounding, and are the same to the bit for any number of workers.
//
// RowTo and RowNorms2 read the documents too and are there for completeness:
// see their costs before use.
//
// A Stream is safe for concurrent use if its Source is; those of package corpus
// that read files are.
type Stream struct {
	src   corpus.Source
	vocab []string
	words *bag.Words
	opts  StreamOptions

	n         int
	docs      int
	skipped   int
	nnz       int64
	tokens    int64
	diag      []float64
	self      []float64
	c         []float64
	df        []int
	norms2    lazy
	passes    atomic.Int64
	chunkDocs int
	chunkNNZ  int
	idle      sync.Pool // of *docChunk, between passes

	mu  sync.Mutex
	err error
}

// streamDocs and streamNNZ bound a chunk.
const (
	streamDocs = 8192
	streamNNZ  = 1 << 18
)

// NewStream makes the first pass over a Source, which sums up what takes O(N)
// memory: the row sums, the diagonals, document frequencies. Errors: options
// out of range, a Source of tokens without Vocabulary, a vocabulary in which a
// word stands twice, ErrNoDocuments where no document is long enough, counts
// that are negative or too large, those of the Source, which name file and
// line, and ctx's.
func NewStream(ctx context.Context, src corpus.Source, opts StreamOptions) (*Stream, error) {
	if opts.MinTokens < 0 || opts.MinDistinct < 0 {
		return nil, fmt.Errorf("cooc: stream: MinTokens is %d and MinDistinct %d, want 0 or more", opts.MinTokens, opts.MinDistinct)
	}
	if opts.DocWeights != nil {
		return nil, errors.New("cooc: stream: DocWeights are for documents held in memory; a stream gives all the same weight")
	}
	s := &Stream{src: src, opts: opts, norms2: newLazy()}
	s.opts.Vocabulary = nil
	var err error
	if s.words, s.vocab, err = streamWords(ctx, src, opts.Vocabulary); err != nil {
		return nil, err
	}
	s.words.Name = func(w int32) string { return s.vocab[w] }
	n := len(s.vocab)
	s.resize(n)
	s.diag, s.self, s.c, s.df = make([]float64, n), make([]float64, n), make([]float64, n), make([]int, n)
	err = s.read(ctx, func(words, counts []int32, length int64) error {
		s.docs++
		s.nnz += int64(len(words))
		s.tokens += length
		l := float64(length)
		pairs := l * (l - 1)
		for i, w := range words {
			x := float64(counts[i])
			s.diag[w] += x / pairs
			s.self[w] += x * (x - 1) / pairs
			s.c[w] += x / l
			s.df[w]++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.docs == 0 {
		return nil, fmt.Errorf("%w (%d documents, at least %d tokens asked for)", ErrNoDocuments, s.skipped, opts.minTokens())
	}
	docs := float64(s.docs)
	for w := range n {
		s.diag[w] /= docs
		s.self[w] /= docs
		s.c[w] /= docs
	}
	if opts.DropUnused {
		s.dropUnused()
	}
	return s, nil
}

func (s *Stream) resize(n int) {
	s.n, s.chunkDocs, s.chunkNNZ = n, streamDocs, max(streamNNZ, 4*n)
}

func (s *Stream) dropUnused() {
	to := make([]int32, s.n)
	n := int32(0)
	for w, d := range s.df {
		if d == 0 {
			to[w] = -1
			continue
		}
		to[w] = n
		s.vocab[n], s.diag[n], s.self[n], s.c[n], s.df[n] = s.vocab[w], s.diag[w], s.self[w], s.c[w], s.df[w]
		n++
	}
	s.vocab, s.diag, s.self, s.c, s.df = slices.Clone(s.vocab[:n]), s.diag[:n], s.self[:n], s.c[:n], s.df[:n]
	s.words.Renumber(to)
	s.resize(int(n))
}

// Dim returns N.
func (s *Stream) Dim() int { return s.n }

// Docs returns the number of documents that entered the estimate.
func (s *Stream) Docs() int { return s.docs }

// Skipped returns how many documents were left out as too short.
func (s *Stream) Skipped() int { return s.skipped }

// NNZ returns the number of pairs of a document that entered the estimate and
// a word in it.
func (s *Stream) NNZ() int64 { return s.nnz }

// Tokens returns the number of tokens of these documents, of words kept.
func (s *Stream) Tokens() int64 { return s.tokens }

// Vocabulary returns a copy of the words, in the order of the rows.
func (s *Stream) Vocabulary() []string { return slices.Clone(s.vocab) }

// DocFrequencies returns, for each word, in how many of the documents that
// entered the estimate it occurs.
func (s *Stream) DocFrequencies() []int { return slices.Clone(s.df) }

// Passes returns how often the Source has been read from its beginning, the
// first pass included.
func (s *Stream) Passes() int { return int(s.passes.Load()) }

// Err returns the first error of RowTo, which cannot return it.
func (s *Stream) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Marginals returns c_i = Σ_j C_ij = mean over documents of h_mi/n_m.
func (s *Stream) Marginals() []float64 { return s.c }

// Source returns the documents that entered the estimate as a Source of their
// own, with the words and numbers of the Stream: each document's distinct words
// and their counts. Reads of it count among Passes. Words and Counts of its
// documents are used again. It is safe for concurrent use if the Stream is.
func (s *Stream) Source() corpus.Numbered { return streamSource{s} }

type streamSource struct{ s *Stream }

func (s streamSource) Vocabulary(context.Context) ([]string, error) { return s.s.Vocabulary(), nil }

func (s streamSource) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	errLeft := errors.New("the loop was left")
	return func(yield func(corpus.Document, error) bool) {
		err := s.s.read(ctx, func(words, counts []int32, _ int64) error {
			if !yield(corpus.Document{Words: words, Counts: counts}, nil) {
				return errLeft
			}
			return nil
		})
		if err != nil && err != errLeft {
			yield(corpus.Document{}, err)
		}
	}
}

// MulTo computes dst = Ĥ(ĤᵀX) − DX in one pass over the Source. With one
// worker all is done in the caller's goroutine; otherwise one reads and
// workers multiply. Errors: those of the Source, ErrSourceChanged, ctx's; dst
// is then partly written.
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
		c.z = resized(c.z, c.docs()*X.Cols)
		Z := blas64.General{Rows: c.docs(), Cols: X.Cols, Stride: X.Cols, Data: c.z}
		if err := c.byDoc.Mul(ctx, X, Z, false, workers); err != nil {
			return err
		}
		c.transpose(s.n)
		return c.byWord.Mul(ctx, Z, Y, true, workers)
	})
}

// RowTo writes row i of C into dst, in one pass over the Source. If that fails
// the row is NaN throughout and Err tells why.
func (s *Stream) RowTo(dst []float64, i int) {
	dst = dst[:s.n]
	clear(dst)
	err := s.chunks(context.Background(), 1, func(c *docChunk) error {
		for d := range c.docs() {
			words, vals := c.byDoc.Row(d)
			if k := slices.Index(words, int32(i)); k >= 0 {
				for t, w := range words {
					dst[w] += vals[k] * vals[t]
				}
			}
		}
		return nil
	})
	if err != nil {
		for j := range dst {
			dst[j] = math.NaN()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.err == nil {
			s.err = err
		}
		return
	}
	dst[i] = s.self[i]
}

// RowNorms2 returns ‖C_i‖² for every row. The first call takes N²/2²³ passes
// over the Source, at least one, each for as many rows as fit in 64 MB, which
// is out of the question for large N; no method that is meant for a Stream
// asks for it. The result is kept.
func (s *Stream) RowNorms2(ctx context.Context, workers int) ([]float64, error) {
	return s.norms2.get(ctx, func() ([]float64, error) {
		rows := max(1, (1<<23)/s.n)
		out := make([]float64, s.n)
		buf := make([]float64, min(rows, s.n)*s.n)
		for lo := 0; lo < s.n; lo += rows {
			hi := min(lo+rows, s.n)
			clear(buf)
			err := s.chunks(ctx, workers, func(c *docChunk) error {
				c.transpose(s.n)
				return run.Chunks(ctx, hi-lo, 64, workers, func(_, _, a, b int) error {
					for i := lo + a; i < lo+b; i++ {
						row := buf[(i-lo)*s.n : (i-lo+1)*s.n]
						docs, at := c.byWord.Row(i)
						for k, d := range docs {
							words, vals := c.byDoc.Row(int(d))
							for t, w := range words {
								row[w] += at[k] * vals[t]
							}
						}
					}
					return nil
				})
			})
			if err != nil {
				return nil, err
			}
			for i := lo; i < hi; i++ {
				row := buf[(i-lo)*s.n : (i-lo+1)*s.n]
				row[i] = s.self[i]
				for _, v := range row {
					out[i] += v * v
				}
			}
		}
		return out, nil
	})
}

var _ Matrix = (*Stream)(nil)

// docChunk is a few documents as rows of Ĥᵀ and, once transposed, of Ĥ.
type docChunk struct {
	byDoc, byWord linalg.CSR
	at            []int
	z             []float64 // a block of a product
}

func (c *docChunk) docs() int { return len(c.byDoc.RowPtr) - 1 }

func (c *docChunk) reset() {
	c.byDoc = linalg.CSR{RowPtr: append(c.byDoc.RowPtr[:0], 0), Cols: c.byDoc.Cols[:0], Vals: c.byDoc.Vals[:0]}
}

// add appends a document with the given factor.
func (c *docChunk) add(words, counts []int32, scale float64) {
	c.byDoc.Cols = append(c.byDoc.Cols, words...)
	for _, x := range counts {
		c.byDoc.Vals = append(c.byDoc.Vals, float64(x)*scale)
	}
	c.byDoc.RowPtr = append(c.byDoc.RowPtr, len(c.byDoc.Cols))
}

// transpose fills byWord, n rows.
func (c *docChunk) transpose(n int) {
	nnz := len(c.byDoc.Cols)
	t := &c.byWord
	t.RowPtr = resized(t.RowPtr, n+1)
	t.Cols, t.Vals = resized(t.Cols, nnz), resized(t.Vals, nnz)
	clear(t.RowPtr)
	for _, w := range c.byDoc.Cols {
		t.RowPtr[w+1]++
	}
	for w := range n {
		t.RowPtr[w+1] += t.RowPtr[w]
	}
	c.at = resized(c.at, n)
	copy(c.at, t.RowPtr)
	for d := range c.docs() {
		words, vals := c.byDoc.Row(d)
		for k, w := range words {
			t.Cols[c.at[w]], t.Vals[c.at[w]] = int32(d), vals[k]
			c.at[w]++
		}
	}
}

// resized returns a slice of length n that reuses s; its content is undefined.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}

// chunk returns a chunk with what room the last pass has left it.
func (s *Stream) chunk() *docChunk {
	if c, ok := s.idle.Get().(*docChunk); ok {
		return c
	}
	return new(docChunk)
}

// chunks calls f for one chunk of documents after the other. With more than
// one worker the next chunk is read meanwhile.
func (s *Stream) chunks(ctx context.Context, workers int, f func(c *docChunk) error) error {
	c1 := s.chunk()
	if run.Workers(workers, 2) == 1 {
		defer s.idle.Put(c1)
		return s.produce(ctx, c1, func(c *docChunk) (*docChunk, error) { return c, f(c) })
	}
	c2 := s.chunk()
	// The reader owns the chunks in empty, f the one that came from full.
	inner, cancel := context.WithCancel(ctx)
	full, empty := make(chan *docChunk), make(chan *docChunk, 2)
	empty <- c1
	var readErr error
	var panicked *run.Panic
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(full)
		defer func() {
			if v := recover(); v != nil {
				panicked = &run.Panic{Value: v, Stack: debug.Stack()}
			}
		}()
		readErr = s.produce(inner, c2, func(c *docChunk) (*docChunk, error) {
			select {
			case full <- c:
			case <-inner.Done():
				return nil, inner.Err()
			}
			select {
			case c = <-empty:
				return c, nil
			case <-inner.Done():
				return nil, inner.Err()
			}
		})
	}()
	defer func() { // f may panic
		cancel()
		<-done
		s.idle.Put(c1)
		s.idle.Put(c2)
	}()
	for c := range full {
		if err := f(c); err != nil {
			return err
		}
		empty <- c
	}
	<-done
	if panicked != nil {
		panic(panicked)
	}
	return readErr
}

// produce fills c with documents and hands it to emit, which returns the chunk
// to go on with.
func (s *Stream) produce(ctx context.Context, c *docChunk, emit func(*docChunk) (*docChunk, error)) error {
	docs, nnz, tokens := 0, int64(0), int64(0)
	c.reset()
	var err error
	readErr := s.read(ctx, func(words, counts []int32, length int64) error {
		if c.docs() > 0 && (c.docs() == s.chunkDocs || len(c.byDoc.Cols)+len(words) > s.chunkNNZ) {
			if c, err = emit(c); err != nil {
				return err
			}
			c.reset()
		}
		docs, nnz, tokens = docs+1, nnz+int64(len(words)), tokens+length
		l := float64(length)
		c.add(words, counts, 1/math.Sqrt(l*(l-1)*float64(s.docs)))
		return nil
	})
	if readErr != nil {
		return readErr
	}
	if docs != s.docs || nnz != s.nnz || tokens != s.tokens {
		return fmt.Errorf("cooc: stream: %w: %d documents with %d words and %d tokens, then %d with %d and %d",
			ErrSourceChanged, s.docs, s.nnz, s.tokens, docs, nnz, tokens)
	}
	_, err = emit(c)
	return err
}
