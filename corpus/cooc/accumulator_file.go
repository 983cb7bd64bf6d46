package cooc

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus"
)

// The file of an accumulator, version 1. All integers are little-endian, u32 of 4
// bytes, u64 and i64 of 8; f64 is an IEEE 754 double. crc is the CRC-32C, a u32, of all
// bytes before it, other crc included.
//
//	 8 bytes  89 "JACC" 0D 0A 1A
//	 4        u32 version, 1
//	48        i64 MinDocs, MaxWords, Window, MaxAge; f64 HalfLife; i64 MaxBytes
//	16        u64 tokens unknown, documents evicted
//	32        u64 words of the Vocabulary, stop words, other words, documents
//	 4        crc
//	then the words of the Vocabulary, the stop words, and the other words, sorted by
//	their bytes, each as u32 its length and the bytes
//	 4        crc
//	then the documents in their order, each as
//	 4        u32 the length of its id, and the bytes
//	12        i64 its time, u32 its different words n
//	 8·n      n u32 numbers of words, ascending, then n u32 counts. Words are numbered
//	          from 0, those of the Vocabulary first, then the other words
//	and last
//	 4        "AEND"
//	 4        crc
const (
	accMagic   = "\x89JACC\r\n\x1a"
	accVersion = 1
	accHeader  = 8 + 4 + 48 + 16 + 32
	accEnd     = "AEND"

	// accStep is how much memory is taken ahead of the bytes that fill it.
	accStep = 64 << 10
)

// WriteTo writes the documents and the options in a versioned and checksummed form,
// and returns how many bytes were written. Documents can be added meanwhile; they
// are not written. The bytes depend on the documents and options only. Size: 8 bytes
// for each word of a document, 16 for each document, and the strings.
func (a *Accumulator) WriteTo(w io.Writer) (int64, error) { return a.Snapshot().WriteTo(w) }

var (
	_ io.WriterTo   = (*Accumulator)(nil)
	_ io.WriterTo   = (*Snapshot)(nil)
	_ io.ReaderFrom = (*Accumulator)(nil)
)

// WriteTo writes the accumulator as it was at the time of the snapshot: see
// Accumulator.WriteTo.
func (s *Snapshot) WriteTo(w io.Writer) (int64, error) {
	e := &accWriter{w: w}
	le := binary.LittleEndian
	fixed := len(s.o.Vocabulary)
	var others []int32
	for i := fixed; i < len(s.words); i++ {
		if s.df[i] > 0 {
			others = append(others, int32(i))
		}
	}
	slices.SortFunc(others, func(a, b int32) int {
		if s.words[a] < s.words[b] {
			return -1
		}
		return 1
	})
	number := make([]uint32, len(s.words))
	for i := range fixed {
		number[i] = uint32(i)
	}
	for k, i := range others {
		number[i] = uint32(fixed + k)
	}
	e.b = append(e.b, accMagic...)
	e.b = le.AppendUint32(e.b, accVersion)
	o := s.o
	for _, v := range []uint64{
		uint64(int64(o.MinDocs)), uint64(o.MaxWords), uint64(o.Window), uint64(o.MaxAge), math.Float64bits(o.HalfLife), uint64(o.MaxBytes),
		uint64(s.unknown), uint64(s.evicted),
		uint64(fixed), uint64(len(o.StopWords)), uint64(len(others)), uint64(len(s.docs)),
	} {
		e.b = le.AppendUint64(e.b, v)
	}
	e.sum()
	text := func(t string) {
		e.b = le.AppendUint32(e.b, uint32(len(t)))
		e.b = append(e.b, t...)
		e.full()
	}
	for _, w := range o.Vocabulary {
		text(w)
	}
	for _, w := range o.StopWords {
		text(w)
	}
	for _, i := range others {
		text(s.words[i])
	}
	e.sum()
	var pairs []uint64
	for _, d := range s.docs {
		text(d.id)
		words, counts := d.pairs()
		e.b = le.AppendUint64(e.b, uint64(d.at))
		e.b = le.AppendUint32(e.b, uint32(len(words)))
		pairs = pairs[:0]
		for i, w := range words {
			pairs = append(pairs, uint64(number[w])<<32|uint64(uint32(counts[i])))
		}
		slices.Sort(pairs)
		for _, p := range pairs {
			e.b = le.AppendUint32(e.b, uint32(p>>32))
		}
		for _, p := range pairs {
			e.b = le.AppendUint32(e.b, uint32(p))
		}
		if e.full(); e.err != nil {
			break
		}
	}
	e.b = append(e.b, accEnd...)
	e.sum()
	e.flush()
	if e.err != nil {
		return e.n, fmt.Errorf("cooc: write accumulator: %w", e.err)
	}
	return e.n, nil
}

// accWriter gathers bytes and writes them with a running checksum.
type accWriter struct {
	w   io.Writer
	b   []byte
	n   int64
	crc uint32
	err error
}

// flush writes what has been gathered.
func (e *accWriter) flush() {
	if e.err == nil && len(e.b) > 0 {
		var n int
		e.crc = crc32.Update(e.crc, castagnoli, e.b)
		n, e.err = e.w.Write(e.b)
		if e.n += int64(n); e.err == nil && n < len(e.b) {
			e.err = io.ErrShortWrite
		}
	}
	e.b = e.b[:0]
}

// full writes where enough has been gathered.
func (e *accWriter) full() {
	if len(e.b) >= accStep {
		e.flush()
	}
}

// sum appends the checksum of all before.
func (e *accWriter) sum() {
	e.flush()
	e.b = binary.LittleEndian.AppendUint32(e.b, e.crc)
}

// castagnoli makes the checksums of accumulator files.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// FormatError says where the bytes given to Accumulator.ReadFrom are damaged or not
// those of an accumulator.
type FormatError struct {
	Offset int
	What   string

	err error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("cooc: not the bytes of an accumulator, or damaged: at byte %d: %s", e.Offset, e.What)
}

// Unwrap returns io.ErrUnexpectedEOF where the bytes are cut off.
func (e *FormatError) Unwrap() error { return e.err }

// ReadFrom replaces the documents and options of the accumulator, which may be a
// zero one, by those that WriteTo wrote. It reads r to its end and returns the number
// of bytes. The error is a *FormatError for bytes that are damaged, cut off (it then
// wraps io.ErrUnexpectedEOF), followed by others, or of a later version. After an
// error the accumulator is as it was. Memory is at most a small multiple of the bytes
// read.
func (a *Accumulator) ReadFrom(r io.Reader) (int64, error) {
	d := &accReader{r: bufio.NewReaderSize(r, accStep)}
	b, err := d.read()
	if err != nil {
		var fe *FormatError
		if !errors.As(err, &fe) {
			err = fmt.Errorf("cooc: read accumulator: %w", err)
		}
		return d.n, err
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

func (d *accReader) bad(at int64, format string, args ...any) error {
	return &FormatError{Offset: int(at), What: fmt.Sprintf(format, args...)}
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
			return nil, &FormatError{Offset: int(d.n), What: "the bytes end within " + what, err: io.ErrUnexpectedEOF}
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

func (d *accReader) text(what string) (string, error) {
	b, err := d.take(4, what)
	if err != nil {
		return "", err
	}
	size := binary.LittleEndian.Uint32(b)
	if size == 0 || size > math.MaxInt32 {
		return "", d.bad(d.n-4, "%s has %d bytes", what, size)
	}
	if b, err = d.take(int(size), what); err != nil {
		return "", err
	}
	return string(b), nil
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

// accSize is how much a file says it holds.
type accSize struct{ fixed, stops, others, docs int }

// header reads the options, but for the words in them.
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
	for range size.fixed {
		w, err := d.text("a word")
		if err != nil {
			return err
		}
		a.o.Vocabulary = append(a.o.Vocabulary, w)
	}
	for range size.stops {
		w, err := d.text("a stop word")
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
		w, err := d.text("a word")
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

// document reads the next document.
func (d *accReader) document(a *Accumulator) error {
	le := binary.LittleEndian
	at := d.n
	id, err := d.text("the id of a document")
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
