package jsmf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strings"
)

// ReadModel reads a model that WriteTo wrote, and checks everything in it. It
// reads no further than the end of the model. Wrap a source that is slow with
// small reads in a bufio.Reader.
//
// Errors wrap a *FormatError, or an error of r with the place added. The memory
// taken is in proportion to the bytes in r, whatever sizes they claim.
func ReadModel(r io.Reader) (*Model, error) {
	size := int64(-1)
	switch r := r.(type) { // these know what is left in them
	case *bytes.Reader:
		size = int64(r.Len())
	case *bytes.Buffer:
		size = int64(r.Len())
	case *strings.Reader:
		size = int64(r.Len())
	}
	d := &decoder{r: r, size: size}
	m, err := d.model()
	if err != nil {
		return nil, errorf("read model: %w", err)
	}
	return m, nil
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
	return &FormatError{Kind: kind, Section: d.section, Field: field, Offset: off, Detail: fmt.Sprintf(format, args...)}
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

func (d *decoder) add(b []byte) {
	d.all = crc32.Update(d.all, d.table, b)
	d.part = crc32.Update(d.part, d.table, b)
}

// bytes fills b and adds it to the checksums.
func (d *decoder) bytes(b []byte) error {
	if err := d.raw(b); err != nil {
		return err
	}
	d.add(b)
	return nil
}

// sum reads a checksum and compares it with what came since the last one, which
// began at byte start.
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

// chunks reads n bytes and hands them to f in pieces of at most chunkLen, all
// but the last of exactly that length. f may be nil.
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

// grow returns s with room for at least one more chunk of elements of the given
// size, by doubling up to the final count, or at once if the input is known to
// hold all of it: memory stays in proportion to the bytes there are.
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

// model reads a whole model. Its errors do not name the package.
func (d *decoder) model() (*Model, error) {
	d.section, d.table = "header", castagnoli()
	n, k, sections, err := d.header()
	if err != nil {
		return nil, err
	}
	p := &parts{d: d, n: n, k: k, at: make(map[string]int64)}
	for range sections {
		if err := p.section(); err != nil {
			return nil, err
		}
	}

	d.section = "trailer"
	start := d.off
	var t [trailerLen]byte
	if err := d.bytes(t[:4]); err != nil {
		return nil, err
	}
	if string(t[:4]) != trailerTag {
		return nil, d.fail(ErrInvalid, start, "", "begins with %q, want %q", t[:4], trailerTag)
	}
	if err := d.raw(t[4:]); err != nil {
		return nil, err
	}
	if got, want := d.all, binary.LittleEndian.Uint32(t[4:]); got != want {
		return nil, d.fail(ErrChecksum, 0, "whole file", "CRC-32C is %08x, the file says %08x", got, want)
	}
	return p.model()
}

// header reads the header. The magic is looked at first, so that a short file of
// another kind is called that and not truncated.
func (d *decoder) header() (n, k int, sections uint32, err error) {
	le := binary.LittleEndian
	var h [headerLen]byte
	got, err := io.ReadFull(d.r, h[:len(formatMagic)])
	d.off = int64(got)
	if string(h[:got]) != formatMagic[:got] {
		return 0, 0, 0, d.fail(ErrNotModel, 0, "magic", "begins with %q", h[:got])
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return 0, 0, 0, d.fail(ErrTruncated, d.off, "", "at least %d more bytes expected", headerLen-got)
	} else if err != nil {
		return 0, 0, 0, fmt.Errorf("section %q, byte %d: %w", d.section, d.off, err)
	}
	d.add(h[:got])
	if err := d.bytes(h[8:12]); err != nil {
		return 0, 0, 0, err
	}
	if v := le.Uint32(h[8:]); v != formatVersion {
		return 0, 0, 0, d.fail(ErrUnsupported, 8, "version", "is %d, this library reads %d", v, formatVersion)
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
