package modelfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"strings"
)

// Read reads a model, and no further than its end. begin is given the sizes of the model, and
// returns the table of its sections, which Read fills and checks.
//
// Errors are *Error, or those of r with the place added. The memory taken is in proportion to the
// bytes in r, whatever sizes they claim.
func Read(r io.Reader, begin func(n, k int) []Section) error {
	size := int64(-1)
	switch r := r.(type) { // these know what is left in them
	case *bytes.Reader:
		size = int64(r.Len())
	case *bytes.Buffer:
		size = int64(r.Len())
	case *strings.Reader:
		size = int64(r.Len())
	}
	return (&decoder{r: r, size: size}).read(begin)
}

// Load reads a model from the file path, as Read does. Bytes after the model are an error.
func Load(path string, begin func(n, k int) []Section) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return errors.New("is a folder")
	}
	size := int64(-1)
	if info.Mode().IsRegular() {
		size = info.Size()
	}
	d := &decoder{r: f, size: size}
	if err := d.read(begin); err != nil {
		return err
	}
	if n, err := io.ReadFull(f, make([]byte, 1)); n > 0 {
		return d.fail(ErrInvalid, d.off, "", "more bytes after the end of the model")
	} else if err != io.EOF {
		return err
	}
	return nil
}

// decoder reads pieces of known length.
type decoder struct {
	r         io.Reader
	off       int64  // bytes read
	size      int64  // bytes there are in all, −1 if unknown
	section   string // for errors
	table     *crc32.Table
	all, part uint32
	chunk     []byte
}

func (d *decoder) fail(kind error, off int64, field, format string, args ...any) error {
	return &Error{Kind: kind, Section: d.section, Field: field, Offset: off, Detail: fmt.Sprintf(format, args...)}
}

// need fails early where the input is known to end before n more bytes.
func (d *decoder) need(n int64) error {
	if d.size >= 0 && n > d.size-d.off {
		return d.fail(ErrTruncated, d.size, "", "%d more bytes expected", n-(d.size-d.off))
	}
	return nil
}

// raw fills b.
func (d *decoder) raw(b []byte) error {
	n, err := io.ReadFull(d.r, b)
	d.off += int64(n)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return d.fail(ErrTruncated, d.off, "", "at least %d more bytes expected", len(b)-n)
	case err != nil:
		return fmt.Errorf("section %q, byte %d: %w", d.section, d.off, err)
	}
	return nil
}

// bytes fills b and adds it to the checksums.
func (d *decoder) bytes(b []byte) error {
	err := d.raw(b)
	d.all, d.part = crc32.Update(d.all, d.table, b), crc32.Update(d.part, d.table, b)
	return err
}

// sum reads a checksum and compares it with what came since the last one, which began at byte
// start.
func (d *decoder) sum(start int64, what string) error {
	var b [4]byte
	if err := d.raw(b[:]); err != nil {
		return err
	}
	got, want := d.part, binary.LittleEndian.Uint32(b[:])
	d.part = 0
	if got != want {
		return d.fail(ErrChecksum, start, what, "CRC-32C is %08x, the file says %08x", got, want)
	}
	return nil
}

// chunks reads n bytes and hands them to f in pieces of at most chunkLen, all but the last of
// exactly that length. f may be nil.
func (d *decoder) chunks(n uint64, f func([]byte)) error {
	if need := min(n, chunkLen); uint64(len(d.chunk)) < need {
		d.chunk = make([]byte, min(chunkLen, max(need, 2*uint64(len(d.chunk)))))
	}
	for n > 0 {
		b := d.chunk[:min(n, chunkLen)]
		if err := d.bytes(b); err != nil {
			return err
		}
		if f != nil {
			f(b)
		}
		n -= uint64(len(b))
	}
	return nil
}

// grow returns s with room for at least one more chunk of elements of the given size, by doubling
// up to the final count, or at once if the input is known to hold all of it: memory stays in
// proportion to the bytes there are.
func grow[T any](d *decoder, s []T, count, elem int) []T {
	room := chunkLen / elem
	if cap(s)-len(s) >= min(room, count-len(s)) {
		return s
	}
	c := count
	if d.size < 0 {
		c = min(count, max(2*cap(s), len(s)+room))
	}
	t := make([]T, len(s), c)
	copy(t, s)
	return t
}

// floats reads count numbers. The caller has called need.
func (d *decoder) floats(count int) ([]float64, error) {
	var xs []float64
	err := d.chunks(8*uint64(count), func(b []byte) {
		xs = grow(d, xs, count, 8)
		for ; len(b) > 0; b = b[8:] {
			xs = append(xs, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	})
	return xs, err
}

// blob reads n bytes.
func (d *decoder) blob(n uint64) ([]byte, error) {
	if n > math.MaxInt {
		return nil, d.fail(ErrInvalid, d.off, "", "%d bytes are more than this machine can hold", n)
	}
	var out []byte
	err := d.chunks(n, func(b []byte) {
		out = append(grow(d, out, int(n), 1), b...)
	})
	return out, err
}

// read reads a whole model.
func (d *decoder) read(begin func(n, k int) []Section) error {
	d.section, d.table = "header", castagnoli()
	n, k, sections, err := d.header()
	if err != nil {
		return err
	}
	table, at := begin(n, k), make(map[string]int64)
	for range sections {
		if err := d.next(table, at); err != nil {
			return err
		}
	}
	if err := d.trailer(); err != nil {
		return err
	}
	for _, s := range table {
		if _, ok := at[s.Tag]; s.Needed && !ok {
			d.section = s.Tag
			return d.fail(ErrInvalid, d.off, "", "is missing")
		}
	}
	err = Check(table)
	if pe := (*PartError)(nil); errors.As(err, &pe) {
		d.section = pe.Section.Tag
		return d.fail(ErrInvalid, at[pe.Section.Tag], pe.Section.Field, "%v", pe.Err)
	}
	return err
}

// next reads one section. at says where each section so far begins.
func (d *decoder) next(table []Section, at map[string]int64) error {
	d.section = fmt.Sprintf("#%d", len(at)) // until its tag is known to be right
	start := d.off
	var h [sectionHeaderLen - 4]byte
	if err := d.bytes(h[:]); err != nil {
		return err
	}
	if err := d.sum(start, "section header"); err != nil {
		return err
	}
	tag := string(h[:4])
	flags, length := binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint64(h[8:])
	d.section = tag
	if flags&^flagRequired != 0 {
		return d.fail(ErrUnsupported, start, "flags", "are %#x", flags)
	}
	s, one := known(table, tag), tag
	if s != nil {
		one = s.Tag // of both forms
	}
	if _, ok := at[one]; ok {
		return d.fail(ErrInvalid, start, "", "comes twice")
	}
	at[one] = start
	if length > math.MaxInt64-8 {
		return d.fail(ErrInvalid, start, "length", "is %d", length)
	}
	if err := d.need(int64(length) + 4); err != nil { // and its checksum
		return err
	}
	payload := d.off
	set, err := d.payload(s, flags, start, length)
	if err != nil {
		return err
	}
	if err := d.sum(payload, ""); err != nil || set == nil {
		return err
	}
	if err := set(); err != nil {
		if pe := (*placedError)(nil); errors.As(err, &pe) {
			payload += int64(pe.offset)
		}
		return d.fail(ErrInvalid, payload, s.Field, "%v", err)
	}
	return nil
}

// payload reads the payload of a section that begins at byte start; s is nil if its tag is unknown.
// set, which may be nil, takes the payload over once its checksum is known to be right.
func (d *decoder) payload(s *Section, flags uint32, start int64, length uint64) (set func() error, err error) {
	switch {
	case s == nil && flags&flagRequired != 0:
		return nil, d.fail(ErrUnsupported, start, "", "a required section of an unknown kind")
	case s == nil:
		return nil, d.chunks(length, nil)
	case d.section == s.Compact:
		b, err := d.blob(length)
		return func() error { return s.expand(b) }, err
	case s.floats != nil:
		want := 8 * uint64(s.least)
		if s.exactly && length != want {
			return nil, d.fail(ErrInvalid, start, "length", "is %d, want %d", length, want)
		} else if length%8 != 0 || length < want || length/8 > math.MaxInt {
			return nil, d.fail(ErrInvalid, start, "length", "is %d", length)
		}
		xs, err := d.floats(int(length / 8))
		return func() error { return s.setFloats(xs) }, err
	}
	b, err := d.blob(length)
	return func() error { return s.unmarshal(b) }, err
}

// trailer reads the trailer.
func (d *decoder) trailer() error {
	d.section = "trailer"
	start := d.off
	var t [trailerLen]byte
	if err := d.bytes(t[:4]); err != nil {
		return err
	}
	if string(t[:4]) != trailerTag {
		return d.fail(ErrInvalid, start, "", "begins with %q, want %q", t[:4], trailerTag)
	}
	if err := d.raw(t[4:]); err != nil {
		return err
	}
	if got, want := d.all, binary.LittleEndian.Uint32(t[4:]); got != want {
		return d.fail(ErrChecksum, 0, "whole file", "CRC-32C is %08x, the file says %08x", got, want)
	}
	return nil
}

// header reads the header. The magic is looked at first, so that a short file of another kind is
// called that and not truncated.
func (d *decoder) header() (n, k int, sections uint32, err error) {
	le := binary.LittleEndian
	var h [headerLen]byte
	err = d.bytes(h[:len(magic)])
	if got := h[:d.off]; string(got) != magic[:len(got)] {
		return 0, 0, 0, d.fail(ErrNotModel, 0, "magic", "begins with %q", got)
	} else if err != nil {
		return 0, 0, 0, err
	}
	if err := d.bytes(h[8:12]); err != nil {
		return 0, 0, 0, err
	}
	if v := le.Uint32(h[8:]); v != Version {
		return 0, 0, 0, d.fail(ErrUnsupported, 8, "version", "is %d, this library reads %d: fit the model again to its documents", v, Version)
	}
	if err := d.bytes(h[12 : headerLen-4]); err != nil {
		return 0, 0, 0, err
	}
	if err := d.sum(0, ""); err != nil {
		return 0, 0, 0, err
	}
	if flags := le.Uint32(h[12:]); flags != 0 {
		return 0, 0, 0, d.fail(ErrUnsupported, 12, "flags", "are %#x", flags)
	}
	n64, k64 := le.Uint64(h[16:]), le.Uint64(h[24:])
	sections = le.Uint32(h[32:])
	if n64 > maxWords {
		return 0, 0, 0, d.fail(ErrInvalid, 16, "N", "is %d, more than %d", n64, maxWords)
	}
	if k64 < 2 || k64 > n64 {
		return 0, 0, 0, d.fail(ErrInvalid, 24, "K", "is %d, not in [2, N = %d]", k64, n64)
	}
	if n64*k64 > math.MaxInt/8 { // both are below 2³¹
		return 0, 0, 0, d.fail(ErrInvalid, 24, "N·K", "%d·%d numbers are more than this machine can hold", n64, k64)
	}
	if sections > maxSections {
		return 0, 0, 0, d.fail(ErrInvalid, 32, "sections", "are %d, more than %d", sections, maxSections)
	}
	return int(n64), int(k64), sections, nil
}
