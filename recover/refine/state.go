package refine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/sums"
	"github.com/jsmf-go/spectral/internal/vec"
)

// byNumber is a source of n words without names, which are the numbers of rows.
type byNumber struct {
	corpus.Source
	n int
}

func (s byNumber) Describe(ctx context.Context) (corpus.Description, error) {
	desc, err := s.Source.Describe(ctx)
	if err == nil && desc.Remote {
		err = fmt.Errorf("the documents of a %T are on other machines; use Batch, or bring them here by corpus.EncodeFile", s.Source)
	}
	desc.Vocabulary = make([]string, s.n)
	return desc, err
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

// docState holds numbers by document and topic, in memory or in a temporary file: of all topics or,
// once topics were split, of the blocks of neighbouring topics that a document has tokens of.
type docState struct {
	k    int
	mem  []float32 // M×K, of all topics
	some []held    // by block of documents; nil: documents have all topics
	file *os.File
	size int64 // of the file, where documents have some topics; atomic
}

// held are the numbers of a block's documents for the blocks of topics that each has.
type held struct {
	ends   []int32  // of each document, in blocks of topics
	left   []uint16 // how many of them it still has: the first
	blocks []uint16 // ascending
	vals   []float32
	at     int64 // in the file, where there is room for that many blocks
	room   int
}

// rows are the numbers of the documents of a block, on the way from and to a docState.
type rows struct {
	vals  []float32
	bytes []byte

	k    int
	some *held // nil: all topics
	next held  // what some becomes
}

// openState makes a state of k numbers for each document or, if some is not 0, of some of them for
// the documents of so many blocks.
func openState(docs, k, some int, folder string) (docState, error) {
	s := docState{k: k}
	if some > 0 {
		s.some = make([]held, some)
	}
	if folder == "" {
		if some == 0 {
			s.mem = make([]float32, docs*k)
		}
		return s, nil
	}
	var err error
	s.file, err = os.CreateTemp(folder, "topic-counts-*.tmp")
	return s, err
}

func (s *docState) close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}

// get sets r to the numbers of the documents of a block, to be changed and passed to put. With
// fresh they are zero; where documents have some topics, there are none then (rows.add), and those
// that there were are still there until put.
func (s *docState) get(r *rows, number int, b *corpus.Block, fresh bool) error {
	r.k, r.some = s.k, nil
	n, at := b.Docs()*s.k, int64(b.First)*int64(s.k)
	if s.some != nil {
		if r.some = &s.some[number]; fresh {
			x := &r.next
			*x = held{x.ends[:0], x.left[:0], x.blocks[:0], x.vals[:0], r.some.at, r.some.room}
			r.some = x
			return nil
		}
		n, at = estep.BlockSize*len(r.some.blocks), r.some.at
	}
	switch {
	case s.file != nil:
		r.vals = vec.Resize(r.vals, n)
	case s.some != nil:
		r.vals = r.some.vals
	default:
		r.vals = s.mem[at:][:n]
	}
	if fresh {
		clear(r.vals)
		return nil
	}
	if s.file == nil {
		return nil
	}
	r.bytes = vec.Resize(r.bytes, 4*n)
	if _, err := s.file.ReadAt(r.bytes, 4*at); err != nil {
		return err
	}
	for i := range r.vals {
		r.vals[i] = math.Float32frombits(binary.LittleEndian.Uint32(r.bytes[4*i:]))
	}
	return nil
}

// doc returns the numbers of document d of the block, and of which blocks of topics they are; nil
// is all topics.
func (r *rows) doc(d int) (vals []float32, blocks []uint16) {
	if r.some == nil {
		return r.vals[d*r.k:][:r.k], nil
	}
	lo := 0
	if d > 0 {
		lo = int(r.some.ends[d-1])
	}
	n := int(r.some.left[d])
	return r.vals[estep.BlockSize*lo:][:estep.BlockSize*n], r.some.blocks[lo : lo+n : lo+n]
}

// whole returns the numbers of document d of all topics, padded, in to.
func (r *rows) whole(d int, to *[]float32) []float32 {
	vals, blocks := r.doc(d)
	*to = vec.Resize(*to, estep.Padded(r.k))
	clear(*to)
	if blocks == nil {
		copy(*to, vals)
	}
	estep.Spread(*to, vals, blocks)
	return *to
}

// drop takes from document d the blocks of topics with fewer than least tokens, but for the one
// with most.
func (r *rows) drop(d int, least float32) {
	if vals, blocks := r.doc(d); len(blocks) > 0 {
		_, blocks = enough(vals, blocks, least)
		r.some.left[d] = uint16(len(blocks))
	}
}

// enough leaves of the blocks of topics those with at least so many tokens, and in any case the one
// with most.
func enough(vals []float32, blocks []uint16, least float32) ([]float32, []uint16) {
	best, most, n := 0, float32(-1), 0
	for i := range blocks {
		if v := sumOf(block(vals, i)); v > most {
			best, most = i, v
		}
	}
	for i, b := range blocks {
		if i == best || sumOf(block(vals, i)) >= least {
			copy(block(vals, n), block(vals, i))
			blocks[n] = b
			n++
		}
	}
	return vals[:estep.BlockSize*n], blocks[:n]
}

// add adds a document's numbers of all topics to those of a block that get returned fresh: the
// blocks that hold more than least, but one in any case; nil: none.
func (r *rows) add(all []float32, least float32) {
	o, before := r.some, len(r.some.blocks)
	best, most := 0, float32(-1)
	for i := range len(all) / estep.BlockSize {
		x := block(all, i)
		v := sumOf(x)
		if v > least {
			o.blocks, o.vals = append(o.blocks, uint16(i)), append(o.vals, x...)
		}
		if v > most {
			best, most = i, v
		}
	}
	if len(o.blocks) == before && all != nil {
		o.blocks, o.vals = append(o.blocks, uint16(best)), append(o.vals, block(all, best)...)
	}
	o.ends, o.left = append(o.ends, int32(len(o.blocks))), append(o.left, uint16(len(o.blocks)-before))
	r.vals = o.vals
}

// block returns block i of numbers.
func block(x []float32, i int) []float32 { return x[estep.BlockSize*i:][:estep.BlockSize] }

func sumOf(x []float32) (sum float32) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// put stores what get set.
func (s *docState) put(r *rows, number int, b *corpus.Block, fresh bool) error {
	if s.some != nil && fresh {
		x, to := &r.next, &s.some[number]
		to.ends, to.left, to.blocks = append(to.ends[:0], x.ends...), append(to.left[:0], x.left...), append(to.blocks[:0], x.blocks...)
		if s.file == nil {
			to.vals = append(to.vals[:0], x.vals...)
		} else if len(x.blocks) > to.room {
			to.room = len(x.blocks)
			to.at = atomic.AddInt64(&s.size, int64(len(x.vals))) - int64(len(x.vals))
		}
	}
	if s.file == nil {
		return nil
	}
	at := int64(b.First) * int64(s.k)
	if s.some != nil {
		at = s.some[number].at
	}
	r.bytes = r.bytes[:0]
	for _, v := range r.vals {
		r.bytes = binary.LittleEndian.AppendUint32(r.bytes, math.Float32bits(v))
	}
	_, err := s.file.WriteAt(r.bytes, 4*at)
	return err
}
