package refine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/vec"
)

// census counts what a read of the documents finds.
type census struct {
	docs, empty, held int
	nnz               int64
	tokens            int64 // of documents not held out
	heldTokens        int64
}

// read calls each for every document with its distinct words, ascending, and their
// counts. Later reads must find what the first one found. The slices are reused.
func (f *fitter) read(ctx context.Context, each func(held bool, words, counts []int32) error) error {
	var c census
	var d bag.Counter
	words := bag.Words{Size: f.n}
	for doc, err := range f.src.Docs(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		err = d.Read(&words, bag.Document(doc), c.docs+1)
		if err == nil {
			err = d.Sorted()
		}
		if err != nil {
			return err
		}
		tokens := d.Tokens()
		// Every 1/HeldOut-th document.
		held := math.Floor(float64(c.docs+1)*f.HeldOut) > math.Floor(float64(c.docs)*f.HeldOut) && len(d.Words) > 0
		c.docs++
		c.nnz += int64(len(d.Words))
		switch {
		case len(d.Words) == 0:
			c.empty++
		case held:
			c.held++
			c.heldTokens += tokens
		default:
			c.tokens += tokens
		}
		if err := each(held, d.Words, d.Counts); err != nil {
			return err
		}
	}
	if f.counted && c != f.seen {
		return fmt.Errorf("%w: %d documents with %d words and %d tokens, then %d with %d and %d", corpus.ErrSourceChanged,
			f.seen.docs, f.seen.nnz, f.seen.tokens+f.seen.heldTokens, c.docs, c.nnz, c.tokens+c.heldTokens)
	}
	f.seen, f.counted = c, true
	return ctx.Err()
}

// Bounds of a chunk: its documents, and its pairs of a document and a word, unless N
// is larger. A read that keeps K numbers for each pair takes smaller chunks.
const (
	passDocs = 1 << 14
	passNNZ  = 1 << 17
	swapNNZ  = 1 << 14
)

// bags are words and counts of documents; those of document d are [ptr[d], ptr[d+1]).
type bags struct {
	ptr    []int
	words  []int32
	counts []float32
}

func (b *bags) reset() {
	b.ptr, b.words, b.counts = append(b.ptr[:0], 0), b.words[:0], b.counts[:0]
}

func (b *bags) add(word int32, count float64) {
	b.words, b.counts = append(b.words, word), append(b.counts, float32(count))
}

func (b *bags) end() { b.ptr = append(b.ptr, len(b.words)) }

func (b *bags) doc(d int) (words []int32, counts []float32) {
	return b.words[b.ptr[d]:b.ptr[d+1]], b.counts[b.ptr[d]:b.ptr[d+1]]
}

// passChunk is a sequence of documents.
type passChunk struct {
	first  int  // number of the first
	doc    bags // what θ is found from
	hidden bags // the hidden halves of documents held out
	held   []bool
	tokens float64 // the sum of doc.counts
}

func (c *passChunk) docs() int { return len(c.held) }

func (c *passChunk) reset(first int) {
	c.first, c.held, c.tokens = first, c.held[:0], 0
	c.doc.reset()
	c.hidden.reset()
}

// cut returns the documents [lo, hi) of part l of n, which have about equally many
// words.
func (c *passChunk) cut(l, n int) (lo, hi int) {
	at := func(l int) int {
		d, _ := slices.BinarySearch(c.doc.ptr[:c.docs()], len(c.doc.words)*l/n)
		return d
	}
	if lo = at(l); l+1 == n {
		return lo, c.docs()
	}
	return lo, at(l + 1)
}

// add appends a document. If it is held out, every other token in the order of the
// words, from the second on, goes to the hidden half, which is not damped.
func (c *passChunk) add(held bool, words, counts []int32, damped func(int32) float64) {
	c.held = append(c.held, held)
	if held {
		before := int64(0)
		for t, w := range words {
			x := int64(counts[t])
			hidden := (before+x)/2 - before/2
			before += x
			if hidden > 0 {
				c.hidden.add(w, float64(hidden))
			}
			if x > hidden {
				visible := damped(int32(x - hidden))
				c.doc.add(w, visible)
				c.tokens += visible
			}
		}
	} else {
		c.doc.words = append(c.doc.words, words...)
		for _, n := range counts {
			x := damped(n)
			c.doc.counts = append(c.doc.counts, float32(x))
			c.tokens += x
		}
	}
	c.doc.end()
	c.hidden.end()
}

// chunks calls do for one chunk of documents after another. Where chunks end
// depends on the documents only: none has more than nnz words, or N, but for one
// document.
func (f *fitter) chunks(ctx context.Context, nnz int, do func(c *passChunk) error) error {
	c := &f.buf.chunk
	c.reset(0)
	most := max(nnz, f.n)
	err := f.read(ctx, func(held bool, words, counts []int32) error {
		if c.docs() == passDocs || c.docs() > 0 && len(c.doc.words)+len(words) > most {
			if err := do(c); err != nil {
				return err
			}
			c.reset(c.first + c.docs())
		}
		if c.first+c.docs() >= f.seen.docs {
			return fmt.Errorf("%w: more than %d documents", corpus.ErrSourceChanged, f.seen.docs)
		}
		c.add(held, words, counts, f.damped)
		return nil
	})
	if err != nil || c.docs() == 0 {
		return err
	}
	return do(c)
}

// docState holds K numbers per document, in memory or in a temporary file.
type docState struct {
	k     int
	mem   []float32
	file  *os.File
	vals  []float32
	bytes []byte
}

func (s *docState) open(docs, k int, folder string) (err error) {
	s.k = k
	if folder == "" {
		s.mem = make([]float32, docs*k)
		return nil
	}
	s.file, err = os.CreateTemp(folder, "topic-counts-*.tmp")
	return err
}

func (s *docState) close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}

// get returns the numbers of n documents, to be changed and passed to put. With
// fresh they are zero.
func (s *docState) get(first, n int, fresh bool) ([]float32, error) {
	if s.file == nil {
		return s.mem[first*s.k : (first+n)*s.k], nil
	}
	s.vals = vec.Resize(s.vals, n*s.k)
	if fresh {
		clear(s.vals)
		return s.vals, nil
	}
	s.bytes = vec.Resize(s.bytes, 4*n*s.k)
	if _, err := s.file.ReadAt(s.bytes, 4*int64(first)*int64(s.k)); err != nil {
		return nil, err
	}
	for i := range s.vals {
		s.vals[i] = math.Float32frombits(binary.LittleEndian.Uint32(s.bytes[4*i:]))
	}
	return s.vals, nil
}

// row returns the numbers of document d of those that get returned.
func (s *docState) row(vals []float32, d int) []float32 { return vals[d*s.k:][:s.k] }

// put stores what get returned.
func (s *docState) put(first int, vals []float32) error {
	if s.file == nil {
		return nil
	}
	s.bytes = s.bytes[:0]
	for _, v := range vals {
		s.bytes = binary.LittleEndian.AppendUint32(s.bytes, math.Float32bits(v))
	}
	_, err := s.file.WriteAt(s.bytes, 4*int64(first)*int64(s.k))
	return err
}
