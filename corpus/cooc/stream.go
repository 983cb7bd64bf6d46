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
	"github.com/jsmf-go/spectral/internal/vec"
)

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
// A Stream is an Operator, not a Matrix: it has no rows.
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
	info      corpus.Info
	passes    atomic.Int64
	chunkDocs int
	chunkNNZ  int
	idle      sync.Pool // of *docChunk, between passes
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
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if opts.MinDistinct < 0 {
		return nil, fmt.Errorf("cooc: stream: MinDistinct is %d, want 0 or more", opts.MinDistinct)
	}
	if opts.Weighting != Unbiased {
		return nil, fmt.Errorf("cooc: stream: the weighting is %v, and only documents held in memory have others than %v", opts.Weighting, Unbiased)
	}
	s := &Stream{src: src, opts: opts}
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
		return nil, fmt.Errorf("cooc: stream: %w (%d documents, at least %d tokens asked for)", ErrNoDocuments, s.skipped, opts.minTokens())
	}
	docs := float64(s.docs)
	for w := range n {
		s.diag[w] /= docs
		s.self[w] /= docs
		s.c[w] /= docs
	}
	var gone []string
	if opts.DropUnused {
		gone = s.dropUnused()
	}
	s.info = corpus.Info{
		Form: "stream", Documents: s.docs, Tokens: s.tokens, Nonzeros: s.nnz,
		Vocabulary: s.vocab, DocFrequencies: s.df, Source: streamSource{s},
	}
	if s.skipped > 0 {
		s.info.DroppedDocuments = []corpus.Dropped{{Reason: s.opts.short(), Count: s.skipped}}
	}
	if len(gone) > 0 {
		s.info.DroppedWords = []corpus.Dropped{{Reason: unused, Count: len(gone), Names: gone}}
	}
	return s, nil
}

func (s *Stream) resize(n int) {
	s.n, s.chunkDocs, s.chunkNNZ = n, streamDocs, max(streamNNZ, 4*n)
}

// dropUnused leaves out the words that are in no document used and returns them.
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
		s.vocab[n], s.diag[n], s.self[n], s.c[n], s.df[n] = s.vocab[w], s.diag[w], s.self[w], s.c[w], s.df[w]
		n++
	}
	s.vocab, s.diag, s.self, s.c, s.df = slices.Clone(s.vocab[:n]), s.diag[:n], s.self[:n], s.c[:n], s.df[:n]
	s.words.Renumber(to)
	s.resize(int(n))
	return gone
}

// Dim returns N.
func (s *Stream) Dim() int { return s.n }

// Info tells of the documents and words that are used. Its Source reads them with
// the numbers of the Stream's words; these reads count among Passes.
func (s *Stream) Info() corpus.Info { return s.info }

// Passes returns how often the Source has been read from its beginning, the
// first pass included.
func (s *Stream) Passes() int { return int(s.passes.Load()) }

// Marginals returns c_i = Σ_j C_ij = mean over documents of h_mi/n_m.
func (s *Stream) Marginals() []float64 { return s.c }

// streamSource is the documents of a Stream: each document's distinct words and
// their counts. The slices of its documents are used again.
type streamSource struct{ s *Stream }

func (s streamSource) Vocabulary(context.Context) ([]string, error) {
	return slices.Clone(s.s.vocab), nil
}

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
// workers multiply. Errors: those of the Source, corpus.ErrSourceChanged, ctx's; dst
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
		c.z = vec.Resize(c.z, c.docs()*X.Cols)
		Z := blas64.General{Rows: c.docs(), Cols: X.Cols, Stride: X.Cols, Data: c.z}
		if err := c.byDoc.Mul(ctx, X, Z, false, workers); err != nil {
			return err
		}
		c.transpose(s.n)
		return c.byWord.Mul(ctx, Z, Y, true, workers)
	})
}

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
	t.RowPtr = vec.Resize(t.RowPtr, n+1)
	t.Cols, t.Vals = vec.Resize(t.Cols, nnz), vec.Resize(t.Vals, nnz)
	clear(t.RowPtr)
	for _, w := range c.byDoc.Cols {
		t.RowPtr[w+1]++
	}
	for w := range n {
		t.RowPtr[w+1] += t.RowPtr[w]
	}
	c.at = vec.Resize(c.at, n)
	copy(c.at, t.RowPtr)
	for d := range c.docs() {
		words, vals := c.byDoc.Row(d)
		for k, w := range words {
			t.Cols[c.at[w]], t.Vals[c.at[w]] = int32(d), vals[k]
			c.at[w]++
		}
	}
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
			corpus.ErrSourceChanged, s.docs, s.nnz, s.tokens, docs, nnz, tokens)
	}
	_, err = emit(c)
	return err
}
