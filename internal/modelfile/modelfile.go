// Package modelfile writes and reads model files: a header with the sizes N and K, sections, and a
// trailer, each with its checksum. jsmf/FORMAT.md describes the format byte by byte.
//
// What is in the sections is up to the caller, who gives one table of them. The same table writes a
// file, reads it and checks what was read.
package modelfile

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// Version is the version of the format, the only one that Read takes.
const Version = 3

const (
	magic = "\x89JSMF\r\n\x1a" // 8 bytes; a transfer as text breaks them

	headerLen        = 40
	sectionHeaderLen = 20
	trailerLen       = 8
	trailerTag       = "JEND"

	flagRequired = 1 // a reader that does not know the section must refuse the file

	maxSections = 1024
	maxWords    = math.MaxInt32

	// chunkLen is how many bytes are read or written at once, and how much memory is taken ahead of
	// an input of unknown length. A multiple of 8.
	chunkLen = 64 << 10
)

// What may be wrong with a model file. The error itself is an *Error.
var (
	ErrNotModel    = errors.New("not a model file")
	ErrUnsupported = errors.New("unsupported by this version of the library")
	ErrTruncated   = errors.New("truncated")
	ErrChecksum    = errors.New("checksum mismatch")
	ErrInvalid     = errors.New("invalid content")
)

// Error says what is wrong with a model file, and where.
type Error struct {
	Kind    error  // ErrNotModel, ErrUnsupported, ErrTruncated, ErrChecksum or ErrInvalid
	Section string // "header", "trailer", or the tag of a section
	Field   string // the part of the model or of the section; it may be empty
	// Offset is where the piece with the error begins, in bytes from where reading began; for
	// ErrTruncated it is the number of bytes there were.
	Offset int64
	Detail string // it may be empty
}

// Error returns one line.
func (e *Error) Error() string {
	s := e.Kind.Error()
	if e.Section != "" {
		s += fmt.Sprintf(": section %q", e.Section)
	}
	s += fmt.Sprintf(", byte %d", e.Offset)
	if e.Field != "" {
		s += ": " + e.Field
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns Kind, and io.ErrUnexpectedEOF for truncated files.
func (e *Error) Unwrap() []error {
	if e.Kind == ErrTruncated {
		return []error{e.Kind, io.ErrUnexpectedEOF}
	}
	return []error{e.Kind}
}

// Section is a row of the table: one part of a model.
type Section struct {
	Tag      string // of four bytes
	Compact  string // the tag of the content in its compact form; "": there is none
	Field    string // the name of the part in errors
	Required bool   // a reader that does not know the tag must refuse the file
	Needed   bool   // a model without it is none
	Content
	// Check says what is wrong with the part, once all sections have been read; nil: nothing.
	Check func() error
}

// Content is what a section holds, and where that is in memory: numbers, or bytes.
type Content struct {
	// there says what is there to write: false leaves the section out. Its error names a length
	// that does not suit the sizes of the model.
	there func() (bool, error)

	floats    func() [][]float64
	setFloats func(xs []float64) error
	least     int // numbers, at least
	exactly   bool

	marshal   func() ([]byte, error)
	unmarshal func(b []byte) error

	// compact returns the content in a shorter form, which expand reads; nil if that would take
	// more than compactPart of the bytes.
	compact func() []byte
	expand  func(b []byte) error
}

// compactPart is the part of the bytes that the compact form of numbers takes at most.
const compactPart = 0.6

// PartError names the part of a model that is not as it must be.
type PartError struct {
	Section *Section
	Err     error
}

func (e *PartError) Error() string { return e.Section.Field + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *PartError) Unwrap() error { return e.Err }

// Check checks the parts of a model in the order of the table: first that they are there and have
// the right lengths, and then what is in them. Its error is a *PartError.
func Check(table []Section) error {
	for i := range table {
		s := &table[i]
		there, err := s.there()
		if err == nil && !there && s.Needed {
			err = errors.New("is missing")
		}
		if err != nil {
			return &PartError{s, err}
		}
	}
	for i := range table {
		s := &table[i]
		if s.Check == nil {
			continue
		}
		if err := s.Check(); err != nil {
			return &PartError{s, err}
		}
	}
	return nil
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // made once by hash/crc32

// known returns the row of a tag, or of that of a compact form, or nil.
func known(table []Section, tag string) *Section {
	for i := range table {
		if table[i].Tag == tag || table[i].Compact == tag {
			return &table[i]
		}
	}
	return nil
}

// placedError is an error within the content of a section.
type placedError struct {
	offset int // from where the content begins
	detail string
}

func (e *placedError) Error() string { return e.detail }

func placed(offset int, format string, args ...any) error {
	return &placedError{offset, fmt.Sprintf(format, args...)}
}

// lengthError returns an error unless a list has want entries or is nil.
func lengthError(there bool, have, want int, what string) (bool, error) {
	if there && have != want {
		return true, fmt.Errorf("has %d %ss, want %d", have, cmp.Or(what, "value"), want)
	}
	return there, nil
}

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
