package cooc

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/vec"
)

// streamDocs and streamNNZ bound a chunk.
const (
	streamDocs = 8192
	streamNNZ  = 1 << 18
)

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

// chunk returns a chunk, with the memory of an earlier pass if there is any.
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
	readErr := s.read(ctx, func(doc corpus.Document, length int64) error {
		words, counts := doc.Words, doc.Counts
		if c.docs() > 0 && (c.docs() == s.chunkDocs || len(c.byDoc.Cols)+len(words) > s.chunkNNZ) {
			if c, err = emit(c); err != nil {
				return err
			}
			c.reset()
		}
		docs, nnz, tokens = docs+1, nnz+int64(len(words)), tokens+length
		l := float64(length)
		c.add(words, counts, math.Sqrt(s.scale/(l*(l-1))))
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
