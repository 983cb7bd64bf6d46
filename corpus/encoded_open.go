package corpus

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"golang.org/x/exp/mmap"

	"github.com/jsmf-go/spectral/internal/fields"
)

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
