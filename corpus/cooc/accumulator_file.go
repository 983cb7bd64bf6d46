package cooc

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
)

// The file of an accumulator, version 2. All integers are little-endian, u32 of 4
// bytes, u64 and i64 of 8; f64 is an IEEE 754 double. crc is a u32, the CRC-32C of all
// bytes before it, with earlier crcs.
//
//	 8 bytes  89 "JACC" 0D 0A 1A
//	 4        u32 version, 2
//	48        i64 MinDocs, MaxWords, Window, MaxAge; f64 HalfLife; i64 MaxBytes
//	16        u64 tokens unknown, documents evicted
//	32        u64 words of the Vocabulary, stop words, other words, documents
//	 4        crc
//	then Text, the text setting as JSON: u32 its length, 0 for none, and the bytes
//	then the words of the Vocabulary, the stop words, and the other words, sorted by
//	their bytes, each as u32 its length and the bytes
//	 4        crc
//	then the documents in their order, each as
//	 4        u32 the length of its id, and the bytes
//	12        i64 its time, u32 its different words n
//	 8·n      n u32 numbers of words, ascending, then n u32 counts. Words are numbered
//	          from 0, those of the Vocabulary first, then the other words
//	then the metadata: u64 its length, 0 without Columns; the values of the documents, in
//	the form of ../FORMAT.md; and for each column a byte, 1 if it has no Levels of its own
//	and last
//	 4        "AEND"
//	 4        crc
const (
	accMagic   = "\x89JACC\r\n\x1a"
	accVersion = 2
	accHeader  = 8 + 4 + 48 + 16 + 32
	accEnd     = "AEND"

	// accStep bounds the memory that is allocated before the bytes for it are read.
	accStep = 64 << 10
)

// WriteTo writes the documents and the options in a versioned form with checksums, and
// returns the number of bytes. Documents that are added meanwhile are not written. The
// bytes depend on the documents and options alone: 8 for each distinct word of a
// document, 16 for each document, the metadata, and the strings.
func (a *Accumulator) WriteTo(w io.Writer) (int64, error) { return a.Snapshot().WriteTo(w) }

var (
	_ io.WriterTo   = (*Accumulator)(nil)
	_ io.WriterTo   = (*Snapshot)(nil)
	_ io.ReaderFrom = (*Accumulator)(nil)
)

// WriteTo writes the accumulator as it was at the time of the snapshot. See
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
	set := ""
	if o.Text != nil {
		b, err := json.Marshal(o.Text)
		if err != nil {
			return 0, fmt.Errorf("cooc: write accumulator: %w", err)
		}
		set = string(b)
	}
	text(set)
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
	s.writeDocs(e, text, number)
	if err := s.writeMetadata(e); err != nil {
		return e.n, fmt.Errorf("cooc: write accumulator: %w", err)
	}
	e.b = append(e.b, accEnd...)
	e.sum()
	e.flush()
	if e.err != nil {
		return e.n, fmt.Errorf("cooc: write accumulator: %w", e.err)
	}
	return e.n, nil
}

// writeDocs writes the documents, whose words get other numbers.
func (s *Snapshot) writeDocs(e *accWriter, text func(string), number []uint32) {
	le := binary.LittleEndian
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
}

// writeMetadata writes the values of the documents.
func (s *Snapshot) writeMetadata(e *accWriter) error {
	var b []byte
	if len(s.o.Columns) > 0 {
		rows := make([][]corpus.Value, len(s.docs))
		for i, d := range s.docs {
			rows[i] = d.values
		}
		meta, err := corpus.NewMetadata(s.o.Columns, rows)
		if err != nil {
			return err
		}
		if b, err = meta.AppendBinary(nil); err != nil {
			return err
		}
	}
	e.b = binary.LittleEndian.AppendUint64(e.b, uint64(len(b)))
	e.b = append(e.b, b...)
	for _, c := range s.o.Columns {
		open := byte(0)
		if c.Kind == corpus.Category && c.Levels == nil {
			open = 1
		}
		e.b = append(e.b, open)
	}
	e.full()
	return nil
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

// full flushes if enough bytes have been gathered.
func (e *accWriter) full() {
	if len(e.b) >= accStep {
		e.flush()
	}
}

// sum appends the checksum of all bytes before.
func (e *accWriter) sum() {
	e.flush()
	e.b = binary.LittleEndian.AppendUint32(e.b, e.crc)
}

// castagnoli makes the checksums of accumulator files.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)
