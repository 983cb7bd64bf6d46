package refine

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/sums"
	"github.com/jsmf-go/spectral/internal/vec"
)

var errNoTokens = errors.New("the documents hold no tokens")

// byNumber is a source of n words without names, which are the numbers of rows.
type byNumber struct {
	corpus.Source
	n int
}

func (s byNumber) Vocabulary(context.Context) ([]string, error) { return make([]string, s.n), nil }

// Weights are those of the source, if it has any.
func (s byNumber) Weights() []float64 { return bag.Weights(s.Source) }

// Copies are those of the source.
func (s byNumber) Copies() bool { return bag.Copies(s.Source) }

// Takes implements Refiner: documents on other machines, as those of package jsmf/beam, are
// an error, because Passes keeps numbers of each document from pass to pass.
func (p Passes) Takes(docs corpus.Source) error {
	_, local := docs.(*sums.Local)
	if _, ok := docs.(sums.Documents); ok && !local {
		return fmt.Errorf("refine: Passes needs the documents here, and those of a %T are on other machines; use Batch", docs)
	}
	return nil
}

// encoded returns the documents of a source encoded.
func encoded(ctx context.Context, src corpus.Source, n int) (*corpus.Encoded, error) {
	switch src := src.(type) {
	case *corpus.Encoded:
		return src, nil
	case *sums.Local:
		return src.Encoded, nil
	}
	return corpus.Encode(ctx, byNumber{src, n})
}

// within returns an error if documents have words beyond the n rows of the topics.
func within(info corpus.Info, n int) error {
	for w, df := range info.DocFrequencies {
		if w >= n && df > 0 {
			return fmt.Errorf("the documents have a word %d, the topics %d rows", w, n)
		}
	}
	return nil
}

// open encodes the documents, unless they are encoded, and shares out their blocks.
func (f *fitter) open(ctx context.Context, src corpus.Source) error {
	e, err := encoded(ctx, src, f.n)
	if err != nil {
		return err
	}
	f.docs, f.info = e, e.Info()
	if err := within(f.info, f.n); err != nil {
		return err
	}
	if f.weights, f.unit, err = bag.Relative(e, f.info.Documents); err != nil {
		return err
	}
	return f.state.open(f.info.Documents, f.k, f.Scratch)
}

// share cuts the documents into parts, so many of which are read at once as there are
// goroutines.
func (f *fitter) share(parts int) {
	f.cuts = cuts(f.docs, parts)
	f.slots = run.Workers(f.workers, min(parts, mostSlots))
}

// cuts shares out the blocks among parts with about as many nonzeros: part p has the
// blocks from entry p up to entry p+1.
func cuts(e *corpus.Encoded, parts int) []int {
	nnz := e.Info().Nonzeros
	cuts, before := []int{0}, int64(0)
	for i := range e.Blocks() {
		// A block goes to the part in which its middle lies.
		b := int64(e.BlockNonzeros(i))
		for len(cuts) < parts && (2*before+b)*int64(parts) >= 2*nnz*int64(len(cuts)) {
			cuts = append(cuts, i)
		}
		before += b
	}
	for len(cuts) <= parts {
		cuts = append(cuts, e.Blocks())
	}
	return cuts
}

// sweep reads all documents. It calls do for each block, which is in w.block: those of a
// part one after another and in order, several parts at once, each with a slot of its
// own. When these are done it calls after with the number of slots, and goes on with the
// next parts. What do adds up by slot, if after merges it in the order of the slots, does
// not depend on the number of workers.
func (f *fitter) sweep(ctx context.Context, do func(w *worker, slot int) error, after func(slots int) error) error {
	for lo := 0; lo+1 < len(f.cuts); lo += f.slots {
		slots := min(f.slots, len(f.cuts)-1-lo)
		err := run.Chunks(ctx, slots, 1, f.scratch(slots), func(number, slot, _, _ int) error {
			w := &f.work[number]
			for i := f.cuts[lo+slot]; i < f.cuts[lo+slot+1]; i++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := f.docs.Block(i, &w.block); err != nil {
					return err
				}
				if err := do(w, slot); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil && after != nil {
			err = after(slots)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Bits of a document's key choose what is done with it.

func (f *fitter) watches(key uint64) bool { return f.watch && holdout.Watches(key) }

// half returns in which half of the documents one is, 0 or 1.
func half(key uint64) int { return int(key & 1) }

// weight returns the weight of document d of all, as a share of the largest.
func (f *fitter) weight(d int) float64 {
	if f.weights == nil {
		return 1
	}
	return f.weights[d]
}

// load sets w.doc to document d of the block with its counts times its weight, but for their
// sums. One without weight is empty.
func (f *fitter) load(w *worker, d int, watched bool) {
	words, counts := w.block.Doc(d)
	if w.weight = f.weight(w.block.First + d); w.weight == 0 {
		words, counts = nil, nil
	}
	w.doc.Set(words, counts, watched)
	if w.weight != 1 {
		for _, counts := range [...][]float32{w.doc.Visible.Counts, w.doc.Hidden.Counts} {
			for i := range counts {
				counts[i] *= float32(w.weight)
			}
		}
	}
}

// counted sets n to the topic counts that the last step found for the document in w.doc,
// without its weight.
func (w *worker) counted(n []float32) {
	copy(n, w.N)
	if w.weight != 1 && w.weight != 0 {
		for k := range n {
			n[k] /= float32(w.weight)
		}
	}
}

// fail says that an error is about document d of the block.
func (w *worker) fail(d int, err error) error {
	return fmt.Errorf("document %s: %w", cmp.Or(w.block.ID(d), strconv.Itoa(w.block.First+d+1)), err)
}

// docState holds K numbers per document, in memory or in a temporary file.
type docState struct {
	k    int
	mem  []float32
	file *os.File
}

// rowBuffer holds the numbers of a few documents on the way from and to a file.
type rowBuffer struct {
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

// get returns the numbers of n documents, to be changed and passed to put with the same
// buffer. With fresh they are zero.
func (s *docState) get(b *rowBuffer, first, n int, fresh bool) ([]float32, error) {
	if s.file == nil {
		return s.mem[first*s.k : (first+n)*s.k], nil
	}
	b.vals = vec.Resize(b.vals, n*s.k)
	if fresh {
		clear(b.vals)
		return b.vals, nil
	}
	b.bytes = vec.Resize(b.bytes, 4*n*s.k)
	if _, err := s.file.ReadAt(b.bytes, 4*int64(first)*int64(s.k)); err != nil {
		return nil, err
	}
	for i := range b.vals {
		b.vals[i] = math.Float32frombits(binary.LittleEndian.Uint32(b.bytes[4*i:]))
	}
	return b.vals, nil
}

// row returns the numbers of document d of those that get returned.
func (s *docState) row(vals []float32, d int) []float32 { return vals[d*s.k:][:s.k] }

// put stores what get returned.
func (s *docState) put(b *rowBuffer, first int, vals []float32) error {
	if s.file == nil {
		return nil
	}
	b.bytes = b.bytes[:0]
	for _, v := range vals {
		b.bytes = binary.LittleEndian.AppendUint32(b.bytes, math.Float32bits(v))
	}
	_, err := s.file.WriteAt(b.bytes, 4*int64(first)*int64(s.k))
	return err
}
