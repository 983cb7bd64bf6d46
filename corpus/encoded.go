package corpus

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"

	"golang.org/x/exp/mmap"

	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/internal/fields"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Encoded holds documents as numbers of words and counts, in two to three bytes for each pair of
// a document and a word, in memory or in a file (see FORMAT.md). It is for methods that read the
// documents many times: goroutines decode its blocks independently, in one or two nanoseconds a
// pair.
//
// Words of a source with a Vocabulary keep their numbers; tokens are numbered in the order in
// which they first occur. The words of a document are ascending, each once, with counts of at
// least 1. Ids, labels, weights, metadata and the text setting are kept.
//
// An Encoded is a Source and is safe for concurrent use, except for Close. Its file must not be
// changed while it is open; on some systems reading a file that has become shorter ends the
// program.
type Encoded struct {
	name       string         // of the file
	file       *mmap.ReaderAt // nil: the blocks are held
	held       [][]byte
	blocks     []blockEntry
	info       Info
	fromTokens bool // the words are numbered as they first occurred
	weights    []float64
	meta       *Metadata
	repeats    bool    // ids may come twice (Description.Copies)
	to         []int32 // the number of each word of the blocks, −1 for none; nil: the same
}

var (
	_ Source    = (*Encoded)(nil)
	_ io.Closer = (*Encoded)(nil)
)

// blockEntry says where a block is and what it holds.
type blockEntry struct {
	at, size    int64 // bytes in the file
	first       int   // number of its first document
	docs, pairs int
	tokens      int64
	crc         uint32
}

// DropUnused returns the documents without the words of the vocabulary that are in none of them;
// e itself if there are no such words. The other words keep their order. The blocks and the file
// are those of e, and to close one closes the other. O(N).
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

// Describe implements Source.
func (e *Encoded) Describe(context.Context) (Description, error) {
	return Description{
		Documents: e.info.Documents, Vocabulary: e.info.Vocabulary, Unsorted: e.fromTokens, Columns: e.meta.Columns(),
		Text: e.info.Text, Weights: e.weights, Copies: e.repeats, DroppedDocuments: e.info.DroppedDocuments,
	}, nil
}

// Weights returns the weights of the documents; nil: 1 each. They must not be written to.
func (e *Encoded) Weights() []float64 { return e.weights }

// WithWeights returns the documents with other weights, as [Corpus.WithWeights] does. The blocks
// and the file are those of e, and to close one closes the other.
func (e *Encoded) WithWeights(w []float64) (*Encoded, error) {
	if err := checkWeights(w, e.info.Documents); err != nil {
		return nil, e.fail(err)
	}
	out := *e
	out.weights, out.info.Source = slices.Clone(w), &out
	return &out, nil
}

// Metadata returns the values of the documents; nil if there are none.
func (e *Encoded) Metadata() *Metadata { return e.meta }

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

// BlockNonzeros returns the number of pairs of a document and a word in block i.
func (e *Encoded) BlockNonzeros(i int) int { return e.blocks[i].pairs }

// Block reads block i into b, whose memory is used again. Blocks are in the order of the
// documents, on which alone their sizes depend (see [MaxBlockDocs]). Errors wrap a [*FileError]
// and [ErrDamaged]; b then holds nothing of use.
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
		var b Block
		var values []Value
		for i := range e.blocks {
			err := errs.Wrap("corpus", ctx.Err())
			if err == nil {
				err = e.Block(i, &b)
			}
			if err != nil {
				yield(Document{}, err)
				return
			}
			for d := range b.Docs() {
				values = e.meta.values(values[:0], b.First+d)
				x := Document{ID: b.ID(d), Label: b.Label(d), Values: values}
				x.Words, x.Counts = b.Doc(d)
				if !yield(x, nil) {
					return
				}
			}
		}
	}
}

// OpenEncoded opens a file that [EncodeFile] wrote, and reads and checks everything except the
// blocks, which are checked as they are read. Errors wrap a [*FileError], and [ErrDamaged] or
// [ErrTruncated] if the content is at fault.
func OpenEncoded(path string) (*Encoded, error) {
	e := &Encoded{name: path}
	file, err := mmap.Open(path)
	if err != nil {
		return nil, e.fail(err)
	}
	e.file = file
	if err := e.open(file, int64(file.Len())); err != nil {
		file.Close()
		return nil, e.fail(err)
	}
	return e, nil
}

// EncodedFromBytes opens the bytes of such a file, which errors call by name. data is not copied
// and must not be changed.
func EncodedFromBytes(name string, data []byte) (*Encoded, error) {
	e := &Encoded{name: name}
	if err := e.open(bytes.NewReader(data), int64(len(data))); err != nil {
		return nil, e.fail(err)
	}
	for _, x := range e.blocks {
		e.held = append(e.held, data[x.at:x.at+x.size])
	}
	return e, nil
}

// open reads everything but the blocks.
func (e *Encoded) open(file io.ReaderAt, size int64) error {
	read := func(at, n int64) ([]byte, error) { // within the file
		b := make([]byte, n)
		if k, err := file.ReadAt(b, at); k < len(b) {
			return nil, err
		}
		return b, nil
	}
	le := binary.LittleEndian
	head, err := read(0, min(size, encodedHeaderSize))
	switch {
	case err != nil:
		return err
	case len(head) < encodedHeaderSize:
		return fmt.Errorf("header: %w", ErrTruncated)
	case string(head[:7]) != encodedMagic[:7] && kindOf(head) != "":
		return fmt.Errorf("%w: it is %s", ErrKind, kindOf(head))
	case string(head[:8]) != encodedMagic:
		return fmt.Errorf("header: %w", ErrDamaged)
	case le.Uint32(head[8:]) != encodedVersion:
		return fmt.Errorf("header: %w: version %d; this library reads version %d", ErrDamaged, le.Uint32(head[8:]), encodedVersion)
	case crc32.Checksum(head[:12], castagnoli) != le.Uint32(head[12:]):
		return fmt.Errorf("header: %w: checksum", ErrDamaged)
	case size < encodedHeaderSize+encodedTrailerSize:
		return fmt.Errorf("trailer: %w", ErrTruncated)
	}
	tail, err := read(size-encodedTrailerSize, encodedTrailerSize)
	if err != nil {
		return err
	}
	if string(tail[12:]) != encodedEnd {
		return fmt.Errorf("trailer: %w, or %w", ErrTruncated, ErrDamaged)
	}
	length := le.Uint64(tail)
	if length > uint64(size-encodedHeaderSize-encodedTrailerSize) {
		return fmt.Errorf("trailer: %w: %d bytes of footer in a file of %d", ErrDamaged, length, size)
	}
	at := size - encodedTrailerSize - int64(length)
	foot, err := read(at, int64(length)+8)
	if err != nil {
		return err
	}
	if crc32.Checksum(foot, castagnoli) != le.Uint32(tail[8:]) {
		return fmt.Errorf("footer at byte %d: %w: checksum", at, ErrDamaged)
	}
	if err := e.parse(foot[:length], at); err != nil {
		return fmt.Errorf("footer at byte %d: %w: %w", at, ErrDamaged, err)
	}
	return nil
}

// parse reads the footer of a file, which begins at byte end.
func (e *Encoded) parse(foot []byte, end int64) error {
	r := fields.Reader{B: foot}
	flags, n, blocks := r.U32(), r.U64(), r.U64()
	switch {
	case flags&^(encodedFromTokens|encodedWeights|encodedText|encodedMetadata|encodedRepeats) != 0:
		return fmt.Errorf("flags %#x", flags)
	case blocks > uint64(len(r.B)/encodedEntrySize):
		return fmt.Errorf("%d blocks", blocks)
	}
	info := &e.info
	*info = Info{Form: formEncoded, Source: e}
	e.fromTokens, e.repeats = flags&encodedFromTokens != 0, flags&encodedRepeats != 0
	e.blocks = make([]blockEntry, blocks)
	at := int64(encodedHeaderSize)
	for i := range e.blocks {
		size, docs, pairs, tokens, crc := r.U64(), r.U32(), r.U32(), r.U64(), r.U32()
		minBytes := minSize(int64(docs), int64(pairs))
		if docs == 0 || pairs > math.MaxInt32 || uint64(minBytes) > size || size > uint64(end-at) ||
			tokens < uint64(pairs) || tokens > uint64(pairs)*MaxCount || tokens > uint64(math.MaxInt64-info.Tokens) {
			return fmt.Errorf("block %d: %d bytes, %d documents with %d words and %d tokens", i, size, docs, pairs, tokens)
		}
		e.blocks[i] = blockEntry{at: at, size: int64(size), first: info.Documents, docs: int(docs), pairs: int(pairs), tokens: int64(tokens), crc: crc}
		at += int64(size)
		info.Documents += int(docs)
		info.Nonzeros += int64(pairs)
		info.Tokens += int64(tokens)
	}
	if at != end {
		return fmt.Errorf("the blocks end at byte %d", at)
	}
	if flags&encodedWeights != 0 {
		if info.Documents > len(r.B)/8 {
			return fmt.Errorf("the weights of %d documents end early", info.Documents)
		}
		e.weights = make([]float64, info.Documents)
		for i := range e.weights {
			x := r.F64()
			if !(x >= 0) || math.IsInf(x, 1) {
				return fmt.Errorf("document %d has the weight %v", i+1, x)
			}
			e.weights[i] = x
		}
	}
	if flags&encodedText != 0 {
		if err := json.Unmarshal(r.Take(r.U64()), &info.Text); err != nil {
			return fmt.Errorf("text setting: %w", err)
		}
	}
	if flags&encodedMetadata != 0 {
		meta, err := readMetadata(&fields.Reader{B: r.Take(r.U64())})
		if err == nil && meta.docs != info.Documents {
			err = fmt.Errorf("it is of %d documents", meta.docs)
		}
		if err != nil {
			return fmt.Errorf("metadata: %w", err)
		}
		e.meta = meta
	}
	return e.parseWords(&r, n)
}

// parseWords reads the vocabulary, n words, and document frequencies.
func (e *Encoded) parseWords(r *fields.Reader, n uint64) error {
	if n > uint64(len(r.B)/2) || n > math.MaxInt32 {
		return fmt.Errorf("%d words in %d bytes", n, len(r.B))
	}
	info := &e.info
	info.Vocabulary, info.DocFrequencies = make([]string, n), make([]int, n)
	left := info.Nonzeros
	for i := range info.Vocabulary {
		df := r.Uvarint()
		word := r.Take(r.Uvarint())
		if r.Short || df > uint64(info.Documents) || df > uint64(left) {
			return fmt.Errorf("word %d, in %d documents", i, df)
		}
		left -= int64(df)
		info.Vocabulary[i], info.DocFrequencies[i] = string(word), int(df)
	}
	if left != 0 || r.Short || len(r.B) > 0 {
		return errors.New("the vocabulary does not fit the blocks")
	}
	return nil
}
