package corpus

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/internal/bag"
)

// Encode reads the documents of a source once, or twice if their words are still to be merged by
// a Stemmer (see Stem), and holds them encoded in memory. An *Encoded is returned as it is. Words
// of a Vocabulary may all be "": errors then give their numbers. Errors: those of [Builder.Add],
// tokens from a source with a Vocabulary; those of src; ctx's.
func Encode(ctx context.Context, src Source) (*Encoded, error) {
	if e, ok := src.(*Encoded); ok {
		return e, nil
	}
	w := encoder{e: &Encoded{name: "encoded documents"}}
	w.put = func(b []byte) error {
		w.e.held = append(w.e.held, slices.Clone(b))
		return nil
	}
	if err := w.encode(ctx, src); err != nil {
		return nil, err
	}
	return w.e, nil
}

// EncodeTo writes the documents of a source to w as [EncodeFile] does to a file, and returns what
// is known of them. Errors are those of Encode and of w.
func EncodeTo(ctx context.Context, src Source, w io.Writer) (Info, error) {
	e, err := encodeTo(ctx, src, w, "encoded documents")
	if err != nil {
		return Info{}, err
	}
	e.info.Source = nil // the blocks are not held
	return e.info, nil
}

// EncodeFile reads the documents of a source as Encode does, writes them encoded to a file, and
// opens it. Memory: a block, the vocabulary, some 56 bytes for each block, the weights, the
// Metadata, and some 50 bytes for each document that has an id, to find those that come twice.
//
// An old file is replaced when the new one is complete; after an error it is as before. Errors
// are those of Encode and of the file system.
func EncodeFile(ctx context.Context, src Source, path string) (*Encoded, error) {
	var written *Encoded
	err := replace(path, func(file io.Writer) (err error) {
		written, err = encodeTo(ctx, src, file, path)
		return err
	})
	if err != nil {
		return nil, err
	}
	e, err := OpenEncoded(path)
	if err == nil {
		e.info.DroppedDocuments = written.info.DroppedDocuments // which the file does not keep
	}
	return e, err
}

// encodeTo writes documents to a file of the given name. The result has no blocks.
func encodeTo(ctx context.Context, src Source, file io.Writer, name string) (*Encoded, error) {
	w := encoder{e: &Encoded{name: name}}
	w.put = func(b []byte) error {
		if _, err := file.Write(b); err != nil {
			return w.e.fail(err)
		}
		return nil
	}
	if err := w.put(encodedHeader()); err != nil {
		return nil, err
	}
	if err := w.encode(ctx, src); err != nil {
		return nil, err
	}
	return w.e, w.put(w.e.footer())
}

// encoder writes the blocks of e and fills in what they hold.
type encoder struct {
	e   *Encoded
	put func(block []byte) error

	tokens  Builder // numbers tokens
	words   bag.Words
	counter bag.Counter
	pack    packer
	seen    idSet
	meta    metadataBuilder
	left    *leftOut
}

func (w *encoder) encode(ctx context.Context, src Source) error {
	if src == nil {
		return errors.New("corpus: encode: no documents are given")
	}
	desc, err := src.Describe(ctx)
	if err != nil {
		return err
	}
	if desc.Stemmer != nil {
		merged, err := stem(ctx, src, desc, desc.Stemmer)
		if err != nil {
			return err
		}
		src, desc = merged, merged.desc
	}
	e := w.e
	info := &e.info
	*info = Info{Form: formEncoded, Source: e, DocFrequencies: []int{}, Text: desc.Text}
	if info.Text != nil {
		if err := info.Text.Validate(); err != nil {
			return fmt.Errorf("corpus: encode: %w", err)
		}
	}
	if err := w.meta.begin(desc.Columns); err != nil {
		return fmt.Errorf("corpus: encode: %w", err)
	}
	if v := desc.Vocabulary; v != nil {
		info.Vocabulary, info.DocFrequencies = slices.Clone(v), make([]int, len(v))
		w.words = bag.Words{Size: len(v), Names: v, Name: func(i int32) string { return v[i] }}
		e.fromTokens = desc.Unsorted
	} else {
		e.fromTokens = true
		w.words = bag.Words{Token: w.tokens.number, Name: w.tokens.word}
	}
	w.pack.entry.at = encodedHeaderSize
	e.repeats, w.seen.copies = desc.Copies, desc.Copies
	for d, err := range src.Docs(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = w.add(d)
		}
		if err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	info.DroppedDocuments = slices.Concat(desc.DroppedDocuments, w.left.dropped())
	if info.Vocabulary == nil {
		info.Vocabulary = append([]string{}, w.tokens.words...)
	}
	if err := checkWeights(desc.Weights, info.Documents); err != nil {
		return fmt.Errorf("corpus: encode: %w", err)
	}
	e.weights = slices.Clone(desc.Weights)
	e.meta = w.meta.finish()
	if w.pack.entry.docs > 0 {
		return w.flush()
	}
	return nil
}

// add adds a document.
func (w *encoder) add(d Document) error {
	info := &w.e.info
	info.Documents++
	if err := w.meta.check(d.Values); err != nil {
		return d.fail(info.Documents, err)
	}
	if err := w.seen.add(&d, info.Documents); err != nil {
		return err
	}
	w.meta.add(d.Values)
	w.left = cmp.Or(d.left, w.left)
	err := w.counter.Read(&w.words, d.words(), info.Documents)
	if err == nil {
		err = w.counter.Sorted()
	}
	if err != nil {
		return d.at(err)
	}
	words, counts := w.counter.Words, w.counter.Counts
	if w.pack.full(len(words)) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.pack.add(d.ID, d.Label, words, counts)
	for len(info.DocFrequencies) < len(w.tokens.words) { // words that are new
		info.DocFrequencies = append(info.DocFrequencies, 0)
	}
	for _, i := range words {
		info.DocFrequencies[i]++
	}
	return nil
}

// flush writes the block in hand.
func (w *encoder) flush() error {
	b, entry := w.pack.block()
	w.e.blocks = append(w.e.blocks, entry)
	w.e.info.Nonzeros += int64(entry.pairs)
	w.e.info.Tokens += entry.tokens
	return w.put(b)
}

// The file; see FORMAT.md.
const (
	formEncoded = "encoded"

	encodedMagic   = "\x89JENC\r\n\x1a"
	encodedVersion = 2
	encodedEnd     = "JEND"

	encodedHeaderSize  = 8 + 4 + 4
	encodedTrailerSize = 8 + 4 + 4
	encodedEntrySize   = 8 + 4 + 4 + 8 + 4

	encodedFromTokens = 1 // flags of the footer
	encodedWeights    = 2
	encodedText       = 4
	encodedMetadata   = 8
	encodedRepeats    = 16
)

// encodedHeader returns the header of every file.
func encodedHeader() []byte {
	b := binary.LittleEndian.AppendUint32([]byte(encodedMagic), encodedVersion)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// footer returns what follows the blocks, with the trailer.
func (e *Encoded) footer() []byte {
	le := binary.LittleEndian
	flags := uint32(0)
	if e.fromTokens {
		flags |= encodedFromTokens
	}
	if e.weights != nil {
		flags |= encodedWeights
	}
	if e.info.Text != nil {
		flags |= encodedText
	}
	if e.meta != nil {
		flags |= encodedMetadata
	}
	if e.repeats {
		flags |= encodedRepeats
	}
	b := le.AppendUint32(nil, flags)
	b = le.AppendUint64(b, uint64(len(e.info.Vocabulary)))
	b = le.AppendUint64(b, uint64(len(e.blocks)))
	for _, x := range e.blocks {
		b = le.AppendUint64(b, uint64(x.size))
		b = le.AppendUint32(b, uint32(x.docs))
		b = le.AppendUint32(b, uint32(x.pairs))
		b = le.AppendUint64(b, uint64(x.tokens))
		b = le.AppendUint32(b, x.crc)
	}
	for _, x := range e.weights {
		b = le.AppendUint64(b, math.Float64bits(x))
	}
	if e.info.Text != nil {
		set, _ := json.Marshal(e.info.Text) // checked by encode
		b = append(le.AppendUint64(b, uint64(len(set))), set...)
	}
	if e.meta != nil {
		at := len(b)
		b, _ = e.meta.AppendBinary(le.AppendUint64(b, 0)) // without errors
		le.PutUint64(b[at:], uint64(len(b)-at-8))
	}
	for i, s := range e.info.Vocabulary {
		b = binary.AppendUvarint(b, uint64(e.info.DocFrequencies[i]))
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = le.AppendUint64(b, uint64(len(b)))
	b = le.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return append(b, encodedEnd...)
}
