package corpus

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"

	"golang.org/x/exp/mmap"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Encoded holds documents as numbers of words and counts, in two to three bytes for each
// pair of a document and a word, in memory or in a file. It is for methods that read the
// documents many times: goroutines decode its blocks independently, in one or two nanoseconds
// a pair. FORMAT.md in this folder describes the file.
//
// Words of a Numbered source keep their numbers. Tokens are numbered in the order in
// which they first occur. Within a document each word comes once, words are ascending,
// and counts are at least 1. Ids, labels, weights, metadata and
// the text setting are kept.
//
// An Encoded is a Numbered source and is safe for concurrent use, but for Close. Its
// file must not be changed while it is open; on some systems reading a file that has
// become shorter ends the program.
type Encoded struct {
	name       string         // of the file
	file       *mmap.ReaderAt // nil: the blocks are held
	held       [][]byte
	blocks     []blockEntry
	info       Info
	fromTokens bool // the words are numbered as they first occurred
	weights    []float64
	meta       *Metadata
	repeats    bool    // ids may come twice: documents are copies, as Bootstrap draws them
	to         []int32 // the number of each word in the blocks, −1 for none; nil: as it stands there
}

var (
	_ Numbered     = (*Encoded)(nil)
	_ bag.Weighted = (*Encoded)(nil)
	_ Described    = (*Encoded)(nil)
	_ FromText     = (*Encoded)(nil)
	_ io.Closer    = (*Encoded)(nil)
)

// blockEntry says where a block is and what it holds.
type blockEntry struct {
	at, size    int64 // bytes in the file
	first       int   // number of its first document
	docs, pairs int
	tokens      int64
	crc         uint32
}

// DropUnused returns the documents without the words of the vocabulary that are in none
// of them; e itself if there are no such words. The words that are left keep their order.
// The blocks and the file are those of e, and to close one closes the other. O(N).
func (e *Encoded) DropUnused() *Encoded {
	df := e.info.DocFrequencies
	if !slices.Contains(df, 0) {
		return e
	}
	out := *e
	out.to = make([]int32, len(df))
	out.info.Source, out.info.Vocabulary, out.info.DocFrequencies = &out, []string{}, []int{}
	for w, n := range df {
		if out.to[w] = bag.Unknown; n > 0 {
			out.to[w] = int32(len(out.info.DocFrequencies))
			out.info.Vocabulary = append(out.info.Vocabulary, e.info.Vocabulary[w])
			out.info.DocFrequencies = append(out.info.DocFrequencies, n)
		}
	}
	return &out
}

// Close closes the file, if there is one. Nothing may be read at the same time or later.
func (e *Encoded) Close() error {
	if e.file == nil {
		return nil
	}
	if err := e.file.Close(); err != nil {
		return e.fail(err)
	}
	return nil
}

// Info describes the documents. Its Source is e.
func (e *Encoded) Info() Info { return e.info }

// Vocabulary returns the words in a new slice.
func (e *Encoded) Vocabulary(context.Context) ([]string, error) {
	return slices.Clone(e.info.Vocabulary), nil
}

// Weights returns the weights of the documents; nil where all weigh 1. They must not
// be written to.
func (e *Encoded) Weights() []float64 { return e.weights }

// WithWeights returns the documents with other weights, one for each, finite and not
// negative; nil: 1 each. The blocks and the file are those of e, and to close one closes the
// other. w is copied.
func (e *Encoded) WithWeights(w []float64) (*Encoded, error) {
	if w != nil && len(w) != e.info.Documents {
		return nil, e.fail(fmt.Errorf("%d weights for %d documents", len(w), e.info.Documents))
	}
	for m, x := range w {
		if !(x >= 0) || math.IsInf(x, 1) {
			return nil, e.fail(fmt.Errorf("document %d has the weight %g; want a finite number that is not negative", m+1, x))
		}
	}
	out := *e
	out.weights, out.info.Source = slices.Clone(w), &out
	return &out, nil
}

// Metadata returns the values of the documents in columns; nil if there are none.
func (e *Encoded) Metadata() *Metadata { return e.meta }

// Columns implements Described.
func (e *Encoded) Columns() []Column { return e.meta.Columns() }

// TextSetting implements FromText.
func (e *Encoded) TextSetting() *text.Setting { return e.info.Text }

// Stemmer implements FromText: the words are merged, so that there is none.
func (e *Encoded) Stemmer() text.Stemmer { return nil }

// Blocks returns the number of blocks.
func (e *Encoded) Blocks() int { return len(e.blocks) }

// Bytes returns the size of all blocks, in memory or in the file.
func (e *Encoded) Bytes() int64 {
	if len(e.blocks) == 0 {
		return 0
	}
	last := e.blocks[len(e.blocks)-1]
	return last.at + last.size - encodedHeaderSize
}

// BlockNonzeros returns the number of pairs of a document and a word in block i, without
// reading it.
func (e *Encoded) BlockNonzeros(i int) int { return e.blocks[i].pairs }

// Block reads block i into b, whose memory is used again. Blocks follow one another in
// the order of the documents. Where they begin depends on the documents alone (see
// MaxBlockDocs). Errors wrap a *FileError and ErrDamaged; b then holds nothing of use.
func (e *Encoded) Block(i int, b *Block) error {
	if uint(i) >= uint(len(e.blocks)) {
		return fmt.Errorf("corpus: %w", bag.RangeError("block", int64(i), 0, int64(len(e.blocks))-1))
	}
	entry := &e.blocks[i]
	raw, err := e.bytes(i, b)
	if err == nil && crc32.Checksum(raw, castagnoli) != entry.crc {
		err = fmt.Errorf("%w: checksum", ErrDamaged)
	}
	if err == nil {
		b.First = entry.first
		err = b.unpack(raw, entry, max(len(e.info.Vocabulary), len(e.to)))
	}
	if err == nil && e.to != nil {
		err = b.renumber(e.to)
	}
	if err != nil {
		return e.fail(fmt.Errorf("block %d, bytes %d to %d: %w", i, entry.at, entry.at+entry.size, err))
	}
	return nil
}

// bytes returns the bytes of block i, in the memory of b if they come from a file.
func (e *Encoded) bytes(i int, b *Block) ([]byte, error) {
	if e.file == nil {
		return e.held[i], nil
	}
	b.raw = vec.Resize(b.raw, int(e.blocks[i].size))
	n, err := e.file.ReadAt(b.raw, e.blocks[i].at)
	runtime.KeepAlive(e) // the garbage collector unmaps the file
	if n == len(b.raw) {
		return b.raw, nil
	}
	if err == nil || err == io.EOF {
		err = ErrTruncated
	}
	return nil, err
}

func (e *Encoded) fail(err error) error { return &FileError{File: e.name, Err: err} }

// Docs implements Source.
func (e *Encoded) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		var values []Value
		err := e.each(ctx, func(b *Block) error {
			for d := range b.Docs() {
				values = e.meta.values(values[:0], b.First+d)
				x := Document{ID: b.ID(d), Label: b.Label(d), Values: values, place: place{repeat: e.repeats}}
				x.Words, x.Counts = b.Doc(d)
				if !yield(x, nil) {
					return errStop
				}
			}
			return nil
		})
		if err != nil && err != errStop {
			yield(Document{}, err)
		}
	}
}

// each calls f for every block.
func (e *Encoded) each(ctx context.Context, f func(b *Block) error) error {
	var b Block
	for i := range e.blocks {
		err := errs.Wrap("corpus", ctx.Err())
		if err == nil {
			err = e.Block(i, &b)
		}
		if err == nil {
			err = f(&b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// load returns the Corpus that the source of the documents has.
func (e *Encoded) load(ctx context.Context) (*Corpus, error) {
	vocab := slices.Clone(e.info.Vocabulary)
	switch {
	case e.info.Documents == 0 && (e.fromTokens || len(vocab) > 0):
		return nil, e.fail(ErrNoDocuments)
	case len(vocab) == 0:
		return nil, e.fail(ErrEmptyVocabulary)
	}
	r := rows{indptr: []int{0}}
	var ids, labels []string
	err := e.each(ctx, func(b *Block) error {
		lo := len(r.words)
		r.words, r.counts = append(r.words, b.Words...), append(r.counts, b.Counts...)
		for d := range b.Docs() {
			r.indptr = append(r.indptr, lo+b.Ptr[d+1])
			ids = addString(ids, b.First+d+1, b.ID(d))
			labels = addString(labels, b.First+d+1, b.Label(d))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if e.fromTokens {
		var to []int32
		vocab, to = sortNames(vocab)
		r.renumber(to)
	}
	m := e.info.Documents
	a := about{ids: padStrings(ids, m), labels: padStrings(labels, m), weights: slices.Clone(e.weights), meta: e.meta, text: e.info.Text, repeats: e.repeats}
	return newCorpus(vocab, a, r.indptr, r.words, r.counts), nil
}
