package modelfile

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// Write writes the model of a table with n words and k topics to w, and returns how many bytes w
// took.
func Write(w io.Writer, n, k int, table []Section) (int64, error) {
	count := &counter{w: w}
	e := &encoder{w: bufio.NewWriterSize(count, chunkLen), table: castagnoli()}
	var sections []section
	for i := range table {
		s, err := prepare(&table[i])
		if err != nil {
			return 0, fmt.Errorf("%s: %w", table[i].Field, err)
		}
		if s != nil {
			sections = append(sections, *s)
		}
	}
	le := binary.LittleEndian
	h := le.AppendUint32([]byte(magic), Version)
	h = le.AppendUint32(h, 0)
	h = le.AppendUint64(le.AppendUint64(h, uint64(n)), uint64(k))
	e.bytes(le.AppendUint32(h, uint32(len(sections))))
	e.sum()
	for _, s := range sections {
		size, flags := len(s.data), uint32(0)
		for _, xs := range s.floats {
			size += 8 * len(xs)
		}
		if s.row.Required || s.tag == s.row.Compact {
			flags = flagRequired
		}
		h = le.AppendUint32(append(h[:0], s.tag...), flags)
		e.bytes(le.AppendUint64(h, uint64(size)))
		e.sum()
		e.bytes(s.data)
		for _, xs := range s.floats {
			e.floats(xs)
		}
		e.sum()
	}
	e.bytes([]byte(trailerTag))
	e.w.Write(le.AppendUint32(nil, e.all))
	err := e.w.Flush() // the first error of any write
	return count.n, err
}

// counter counts the bytes that w took.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// section is a section to write: data, or numbers.
type section struct {
	row    *Section
	tag    string
	data   []byte
	floats [][]float64
}

// prepare returns what a row of the table has to write, nil for nothing.
func prepare(row *Section) (*section, error) {
	there, err := row.there()
	if err != nil || !there {
		return nil, err
	}
	if row.Compact != "" {
		if b := row.compact(); b != nil {
			return &section{row: row, tag: row.Compact, data: b}, nil
		}
	}
	if row.floats != nil {
		return &section{row: row, tag: row.Tag, floats: row.floats()}, nil
	}
	b, err := row.marshal()
	if err != nil || b == nil {
		return nil, err
	}
	return &section{row: row, tag: row.Tag, data: b}, nil
}

// encoder writes with two running checksums: part since the last sum, all over everything except the
// checksums.
type encoder struct {
	w         *bufio.Writer // which keeps its first error
	table     *crc32.Table
	all, part uint32
}

func (e *encoder) bytes(b []byte) error {
	e.all, e.part = crc32.Update(e.all, e.table, b), crc32.Update(e.part, e.table, b)
	_, err := e.w.Write(b)
	return err
}

func (e *encoder) floats(xs []float64) {
	b := make([]byte, 0, min(8*len(xs), chunkLen))
	for chunk := range slices.Chunk(xs, chunkLen/8) {
		b = b[:0]
		for _, x := range chunk {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		if e.bytes(b) != nil {
			return
		}
	}
}

// sum writes the checksum of what came since the last one.
func (e *encoder) sum() {
	e.w.Write(binary.LittleEndian.AppendUint32(nil, e.part))
	e.part = 0
}
