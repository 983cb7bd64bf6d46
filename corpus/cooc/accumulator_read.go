package cooc

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus"
)

// ReadFrom replaces the documents and options of the accumulator, which may be a
// zero one, by those that WriteTo wrote. It reads r to its end and returns the number
// of bytes. Bytes that are damaged, cut off (io.ErrUnexpectedEOF), followed by others,
// or of a later version are an error, after which the accumulator is as it was.
// Memory is at most a small multiple of the bytes read.
func (a *Accumulator) ReadFrom(r io.Reader) (int64, error) {
	d := &accReader{r: bufio.NewReaderSize(r, accStep)}
	b, err := d.read()
	if err != nil {
		return d.n, fmt.Errorf("cooc: read accumulator: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.o, a.stop, a.index, a.words, a.df, a.free = b.o, b.stop, b.index, b.words, b.df, b.free
	a.docs, a.byID, a.nnz = b.docs, b.byID, b.nnz
	a.tokens, a.unknown, a.evicted, a.bytes = b.tokens, b.unknown, b.evicted, b.bytes
	return d.n, nil
}

// accReader reads with a running checksum.
type accReader struct {
	r   *bufio.Reader
	n   int64
	crc uint32
	buf []byte
}

// bad returns an error for the bytes at offset at.
func (d *accReader) bad(at int64, format string, args ...any) error {
	return fmt.Errorf("not the bytes of an accumulator, or damaged: at byte %d: "+format, append([]any{at}, args...)...)
}

// take returns the next size bytes, valid until the next call.
func (d *accReader) take(size int, what string) ([]byte, error) {
	d.buf = d.buf[:0]
	for len(d.buf) < size {
		have := len(d.buf)
		d.buf = slices.Grow(d.buf, min(size-have, max(accStep, have)))
		d.buf = d.buf[:have+min(size-have, max(accStep, have))]
		n, err := io.ReadFull(d.r, d.buf[have:])
		d.n += int64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, d.bad(d.n, "they end within %s: %w", what, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return nil, err
		}
	}
	d.crc = crc32.Update(d.crc, castagnoli, d.buf)
	return d.buf, nil
}

func (d *accReader) sum(what string) error {
	at, want := d.n, d.crc
	b, err := d.take(4, what)
	if err != nil {
		return err
	}
	if got := binary.LittleEndian.Uint32(b); got != want {
		return d.bad(at, "the checksum of %s is %08x, want %08x", what, got, want)
	}
	return nil
}

// text returns a string, "" if it is empty, which words must not be.
func (d *accReader) text(what string) (string, error) {
	b, err := d.take(4, what)
	if err != nil {
		return "", err
	}
	size := binary.LittleEndian.Uint32(b)
	if size > math.MaxInt32 {
		return "", d.bad(d.n-4, "%s has %d bytes", what, size)
	}
	if b, err = d.take(int(size), what); err != nil {
		return "", err
	}
	return string(b), nil
}

// word returns a string that is not empty.
func (d *accReader) word(what string) (string, error) {
	w, err := d.text(what)
	if err == nil && w == "" {
		err = d.bad(d.n-4, "%s has 0 bytes", what)
	}
	return w, err
}

// setting reads the text setting.
func (d *accReader) setting(a *Accumulator) error {
	s, err := d.text("the text setting")
	if err != nil || s == "" {
		return err
	}
	if err := json.Unmarshal([]byte(s), &a.o.Text); err != nil {
		return d.bad(d.n-int64(len(s)), "%w", err)
	}
	return nil
}

func (d *accReader) read() (*Accumulator, error) {
	a, size, err := d.header()
	if err != nil {
		return nil, err
	}
	if err := d.words(a, size); err != nil {
		return nil, err
	}
	for range size.docs {
		if err := d.document(a); err != nil {
			return nil, err
		}
	}
	if err := d.metadata(a); err != nil {
		return nil, err
	}
	b, err := d.take(len(accEnd), "the end")
	if err != nil {
		return nil, err
	}
	if string(b) != accEnd {
		return nil, d.bad(d.n-4, "%q where the end should be", b)
	}
	if err := d.sum("all"); err != nil {
		return nil, err
	}
	if _, err := d.r.ReadByte(); err == nil {
		return nil, d.bad(d.n, "bytes follow the end")
	} else if err != io.EOF {
		return nil, err
	}
	for i := size.fixed; i < len(a.words); i++ {
		if a.df[i] == 0 {
			return nil, d.bad(int64(accHeader), "no document holds the word %q", a.words[i])
		}
	}
	return a, nil
}

// accSize holds the numbers of words and documents in the header.
type accSize struct{ fixed, stops, others, docs int }

// header reads the options, except the words in them.
func (d *accReader) header() (*Accumulator, accSize, error) {
	le := binary.LittleEndian
	b, err := d.take(accHeader, "the header")
	if err != nil {
		return nil, accSize{}, err
	}
	if string(b[:8]) != accMagic {
		return nil, accSize{}, d.bad(0, "it begins with %q, not %q", b[:8], accMagic)
	}
	if v := le.Uint32(b[8:]); v != accVersion {
		return nil, accSize{}, d.bad(8, "version %d, which this version of the library does not know", v)
	}
	var h [12]uint64
	for i := range h {
		h[i] = le.Uint64(b[12+8*i:])
	}
	if err := d.sum("the header"); err != nil {
		return nil, accSize{}, err
	}
	for i, v := range h[1:] {
		if i != 3 && v > math.MaxInt64 || i < 2 && v > math.MaxInt || i >= 7 && v > math.MaxInt32 {
			return nil, accSize{}, d.bad(int64(20+8*i), "the number %d is out of range", v)
		}
	}
	a := &Accumulator{o: AccumulatorOptions{
		MinDocs: int(int64(h[0])), MaxWords: int(h[1]), Window: int(h[2]), MaxAge: int64(h[3]), HalfLife: math.Float64frombits(h[4]), MaxBytes: int64(h[5]),
	}, unknown: int64(h[6]), evicted: int64(h[7])}
	return a, accSize{int(h[8]), int(h[9]), int(h[10]), int(h[11])}, nil
}

// words reads the words.
func (d *accReader) words(a *Accumulator, size accSize) error {
	if err := d.setting(a); err != nil {
		return err
	}
	for range size.fixed {
		w, err := d.word("a word")
		if err != nil {
			return err
		}
		a.o.Vocabulary = append(a.o.Vocabulary, w)
	}
	for range size.stops {
		w, err := d.word("a stop word")
		if err != nil {
			return err
		}
		a.o.StopWords = append(a.o.StopWords, w)
	}
	if err := a.o.validate(); err != nil {
		return d.bad(12, "%v", err)
	}
	a.ready()
	for range size.others {
		at := d.n
		w, err := d.word("a word")
		if err != nil {
			return err
		}
		_, known := a.index[w]
		if known || a.stop[w] || a.o.MinDocs < 0 || !utf8.ValidString(w) || len(a.words) > size.fixed && w <= a.words[len(a.words)-1] {
			return d.bad(at, "the word %q stands twice, is out of order, or is not allowed here", w)
		}
		a.newWord(w)
	}
	return d.sum("the words")
}

// metadata reads the columns and the values of all documents.
func (d *accReader) metadata(a *Accumulator) error {
	at := d.n
	b, err := d.take(8, "the metadata")
	if err != nil {
		return err
	}
	size := binary.LittleEndian.Uint64(b)
	if size == 0 {
		return nil
	}
	if size > math.MaxInt64 {
		return d.bad(at, "%d bytes of metadata", size)
	}
	if b, err = d.take(int(size), "the metadata"); err != nil {
		return err
	}
	var meta corpus.Metadata
	if err := meta.UnmarshalBinary(b); err != nil {
		return d.bad(at, "%w", err)
	}
	columns := meta.Columns()
	if len(columns) == 0 || meta.NumDocs() != len(a.docs) {
		return d.bad(at, "metadata of %d columns and %d documents for %d documents", len(columns), meta.NumDocs(), len(a.docs))
	}
	for m, doc := range a.docs {
		a.bytes -= doc.bytes()
		known := false
		values := make([]corpus.Value, len(columns))
		for i := range columns {
			values[i] = meta.Value(m, i)
			known = known || values[i].Kind() != 0
		}
		if known {
			doc.values = values
		}
		a.bytes += doc.bytes()
	}
	if b, err = d.take(len(columns), "the metadata"); err != nil {
		return err
	}
	for i, open := range b {
		if open > 1 || open == 1 && columns[i].Kind != corpus.Category {
			return d.bad(at, "column %d is marked by %d", i+1, open)
		}
		if open == 1 {
			columns[i].Levels = nil
		}
	}
	a.o.Columns = columns
	return nil
}

// document reads the next document.
func (d *accReader) document(a *Accumulator) error {
	le := binary.LittleEndian
	at := d.n
	id, err := d.word("the id of a document")
	if err != nil {
		return err
	}
	b, err := d.take(12, "a document")
	if err != nil {
		return err
	}
	doc := &heldDoc{id: id, at: int64(le.Uint64(b))}
	if n := len(a.docs); n > 0 && a.docs[n-1].compare(doc.at, doc.id) >= 0 || a.byID[id] != nil {
		return d.bad(at, "document %q stands twice or is out of order", id)
	}
	n := int(le.Uint32(b[8:]))
	if n > len(a.words) {
		return d.bad(d.n-4, "document %q has %d different words of %d", id, n, len(a.words))
	}
	if b, err = d.take(8*n, "a document"); err != nil {
		return err
	}
	doc.data = make([]int32, 2*n)
	words, counts := doc.pairs()
	for i := range words {
		w, x := le.Uint32(b[4*i:]), le.Uint32(b[4*(n+i):])
		if uint64(w) >= uint64(len(a.words)) || i > 0 && int32(w) <= words[i-1] || x < 1 || x > corpus.MaxCount {
			return d.bad(at, "document %q: word %d, %d times", id, w, x)
		}
		words[i], counts[i] = int32(w), int32(x)
	}
	a.hold(doc)
	return nil
}
