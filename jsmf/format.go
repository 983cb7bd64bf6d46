package jsmf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/rectify"
)

// The file format is described in FORMAT.md; what stands there must not change
// for version 1.

const (
	formatMagic   = "\x89JSMF\r\n\x1a" // 8 bytes; a transfer as text breaks them
	formatVersion = 1

	headerLen        = 40
	sectionHeaderLen = 20
	trailerLen       = 8
	trailerTag       = "JEND"

	flagRequired = 1 // a reader that does not know the section must refuse the file

	maxSections = 1024
	maxWords    = math.MaxInt32

	// chunkLen is how many bytes are read or written at once, and, where the
	// length of the input is not known, how much memory is taken ahead of the
	// bytes that fill it. A multiple of 8.
	chunkLen = 64 << 10
)

// Tags of the sections, in the order in which they are written.
const (
	tagVocabulary   = "VOCB"
	tagTopics       = "BMAT"
	tagWordTopics   = "WTOP"
	tagCorrelations = "AMAT"
	tagAnchors      = "ANCH"
	tagFacets       = "FACT"
	tagAnchorNorms  = "NORM"
	tagMarginals    = "MARG"
	tagAlpha        = "ALPH"
	tagSpectralB    = "SPEB"
	tagSpectralW    = "SPEW"
	tagSpectralA    = "SPEA"
	tagProvenance   = "PROV"
	tagStats        = "STAT"
	tagDual         = "DUAL"
	tagTokenizer    = "TOKN"
	tagState        = "RECT"
)

// Kinds of corruption, for errors.Is. The error itself is a *FormatError.
var (
	// ErrNotModel: the file does not begin as a model file does.
	ErrNotModel = errors.New("not a model file")
	// ErrUnsupported: a later version of the format, or a section that must
	// be understood and is not.
	ErrUnsupported = errors.New("unsupported by this version of the library")
	// ErrTruncated: the file ends too early. Such errors also match
	// io.ErrUnexpectedEOF.
	ErrTruncated = errors.New("truncated")
	// ErrChecksum: bytes have changed since the file was written.
	ErrChecksum = errors.New("checksum mismatch")
	// ErrInvalid: the bytes are as they were written, but make no model.
	ErrInvalid = errors.New("invalid content")
)

// FormatError tells what is wrong with a model file, and where.
type FormatError struct {
	// Kind is one of ErrNotModel, ErrUnsupported, ErrTruncated, ErrChecksum
	// and ErrInvalid.
	Kind error
	// Section is "header", "trailer", or the tag of a section.
	Section string
	// Field names the part of the model or of the section; it may be empty.
	Field string
	// Offset is the byte, counted from 0 where the reading began, at which the
	// piece with the error begins; for ErrTruncated the number of bytes there
	// were.
	Offset int64
	// Detail says more; it may be empty.
	Detail string
}

// Error returns the whole in one line, without the name of the package.
func (e *FormatError) Error() string {
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
func (e *FormatError) Unwrap() []error {
	if e.Kind == ErrTruncated {
		return []error{e.Kind, io.ErrUnexpectedEOF}
	}
	return []error{e.Kind}
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // made once by hash/crc32

// WriteTo writes the model to w in the format of FORMAT.md and returns how many
// bytes w took. The same model gives the same bytes on every machine; wall-clock
// durations are not written. Size: 16·N·K bytes, the vocabulary, and some
// kilobytes.
func (m *Model) WriteTo(w io.Writer) (int64, error) {
	e := &encoder{w: w, buf: make([]byte, 0, chunkLen), table: castagnoli()}
	if err := m.encode(e); err != nil {
		return e.n, fmt.Errorf("jsmf: write model: %w", err)
	}
	return e.n, nil
}

// Interface kept by the compiler.
var _ io.WriterTo = (*Model)(nil)

// encoder writes with two running checksums: part since the last sum, all over
// everything but the checksums.
type encoder struct {
	w         io.Writer
	n         int64 // bytes w took
	buf       []byte
	scratch   []byte // of the small pieces
	table     *crc32.Table
	all, part uint32
	err       error
}

func (e *encoder) flush() {
	if e.err == nil && len(e.buf) > 0 {
		n, err := e.w.Write(e.buf)
		e.n += int64(n)
		if err == nil && n < len(e.buf) {
			err = io.ErrShortWrite
		}
		e.err = err
	}
	e.buf = e.buf[:0]
}

func (e *encoder) raw(b []byte) {
	for len(b) > 0 && e.err == nil {
		if len(e.buf) == cap(e.buf) {
			e.flush()
		}
		k := min(len(b), cap(e.buf)-len(e.buf))
		e.buf = append(e.buf, b[:k]...)
		b = b[k:]
	}
}

func (e *encoder) bytes(b []byte) {
	e.all = crc32.Update(e.all, e.table, b)
	e.part = crc32.Update(e.part, e.table, b)
	e.raw(b)
}

func (e *encoder) text(s string) {
	e.scratch = append(e.scratch[:0], s...)
	e.bytes(e.scratch)
}

func (e *encoder) uint32(x uint32) {
	e.scratch = binary.LittleEndian.AppendUint32(e.scratch[:0], x)
	e.bytes(e.scratch)
}

func (e *encoder) uint64(x uint64) {
	e.scratch = binary.LittleEndian.AppendUint64(e.scratch[:0], x)
	e.bytes(e.scratch)
}

func (e *encoder) floats(xs []float64) {
	b := make([]byte, 0, min(8*len(xs), chunkLen))
	for len(xs) > 0 && e.err == nil {
		k := min(len(xs), cap(b)/8)
		b = b[:0]
		for _, x := range xs[:k] {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		e.bytes(b)
		xs = xs[k:]
	}
}

// sum writes the checksum of what came since the last one.
func (e *encoder) sum() {
	e.raw(binary.LittleEndian.AppendUint32(nil, e.part))
	e.part = 0
}

func (e *encoder) section(tag string, flags uint32, length int, payload func()) {
	e.text(tag)
	e.uint32(flags)
	e.uint64(uint64(length))
	e.sum()
	payload()
	e.sum()
}

func (m *Model) encode(e *encoder) error {
	statsJSON, err := encodeJSON(m.stats)
	if err != nil {
		return fmt.Errorf("stats: %w", err)
	}
	prov := m.prov
	prov.FormatVersion = formatVersion
	provJSON, err := encodeJSON(prov)
	if err != nil {
		return fmt.Errorf("provenance: %w", err)
	}
	sections := 6
	var tokJSON []byte
	if m.tokenizer != nil {
		sections++
		if tokJSON, err = encodeJSON(tokenizerJSON(*m.tokenizer)); err != nil {
			return fmt.Errorf("tokenizer: %w", err)
		}
	}
	if m.dual != nil {
		sections++
	}
	if m.vocab != nil {
		sections++
	}
	if m.anchors != nil {
		sections++
	}
	if m.facets != nil {
		sections++
	}
	if m.norms != nil {
		sections++
	}
	if m.alpha != nil {
		sections++
	}
	if m.spectral != nil {
		sections += 3
	}
	if m.state != nil {
		sections++
	}

	e.text(formatMagic)
	e.uint32(formatVersion)
	e.uint32(0)
	e.uint64(uint64(m.n))
	e.uint64(uint64(m.k))
	e.uint32(uint32(sections))
	e.sum()

	if m.vocab != nil {
		size := 0
		for i, w := range m.vocab {
			if len(w) > math.MaxInt32 {
				return fmt.Errorf("vocabulary: word %d has %d bytes", i, len(w))
			}
			size += 4 + len(w)
		}
		e.section(tagVocabulary, flagRequired, size, func() {
			for _, w := range m.vocab {
				e.uint32(uint32(len(w)))
				e.text(w)
			}
		})
	}
	numbers := func(tag string, flags uint32, xs []float64) {
		e.section(tag, flags, 8*len(xs), func() { e.floats(xs) })
	}
	floats := func(tag string, xs []float64) { numbers(tag, flagRequired, xs) }
	floats(tagTopics, m.topics)
	floats(tagWordTopics, m.wordTopics)
	floats(tagCorrelations, m.corr)
	if m.anchors != nil {
		e.section(tagAnchors, flagRequired, 8*m.k, func() {
			for _, s := range m.anchors {
				e.uint64(uint64(s))
			}
		})
	}
	if m.facets != nil {
		size := 0
		for _, f := range m.facets {
			size += 4 + 8*len(f)
		}
		e.section(tagFacets, 0, size, func() {
			for _, f := range m.facets {
				e.uint32(uint32(len(f)))
				for _, w := range f {
					e.uint64(uint64(w))
				}
			}
		})
	}
	if m.norms != nil {
		floats(tagAnchorNorms, m.norms)
	}
	floats(tagMarginals, m.marginals)
	if m.alpha != nil {
		numbers(tagAlpha, 0, m.alpha)
	}
	if s := m.spectral; s != nil {
		numbers(tagSpectralB, 0, s.topics)
		numbers(tagSpectralW, 0, s.wordTopics)
		numbers(tagSpectralA, 0, s.corr)
	}
	e.section(tagProvenance, 0, len(provJSON), func() { e.bytes(provJSON) })
	e.section(tagStats, 0, len(statsJSON), func() { e.bytes(statsJSON) })
	if m.dual != nil {
		e.section(tagDual, 0, 8*len(m.dual), func() { e.floats(m.dual) })
	}
	if m.tokenizer != nil {
		e.section(tagTokenizer, 0, len(tokJSON), func() { e.bytes(tokJSON) })
	}
	if s := m.state; s != nil {
		_, cols := s.Vectors.Dims()
		e.section(tagState, 0, 8*(5+cols*(1+2*m.n)), func() {
			e.uint64(uint64(s.K))
			e.uint64(uint64(cols))
			e.floats([]float64{s.Beyond, s.Drift, s.Change})
			e.floats(s.Values)
			e.floats(packed(s.Vectors))
			e.floats(packed(s.Product))
		})
	}

	e.text(trailerTag)
	e.raw(binary.LittleEndian.AppendUint32(nil, e.all))
	e.flush()
	return e.err
}

// ReadModel reads a model that WriteTo wrote, and checks everything in it. It
// takes exactly the bytes of the model from r, without reading ahead, so that
// more may follow; wrap a source that is slow with small reads in a
// bufio.Reader.
//
// Errors wrap a *FormatError, or an error of r with the place added. Whatever r
// holds, ReadModel takes memory in proportion to the bytes that are there, not
// to the sizes they claim.
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
		return nil, fmt.Errorf("jsmf: read model: %w", err)
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
	le := binary.LittleEndian

	// Header. The magic is looked at first, so that a short file of another
	// kind is called that and not truncated.
	var h [headerLen]byte
	got, err := io.ReadFull(d.r, h[:len(formatMagic)])
	d.off = int64(got)
	if string(h[:got]) != formatMagic[:got] {
		return nil, d.fail(ErrNotModel, 0, "magic", "begins with %q", h[:got])
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, d.fail(ErrTruncated, d.off, "", "at least %d more bytes expected", headerLen-got)
	} else if err != nil {
		return nil, fmt.Errorf("section %q, byte %d: %w", d.section, d.off, err)
	}
	d.add(h[:got])
	if err := d.bytes(h[8:12]); err != nil {
		return nil, err
	}
	if v := le.Uint32(h[8:]); v != formatVersion {
		return nil, d.fail(ErrUnsupported, 8, "version", "is %d, this library reads %d", v, formatVersion)
	}
	if err := d.bytes(h[12 : headerLen-4]); err != nil {
		return nil, err
	}
	if err := d.sum(0, ""); err != nil {
		return nil, err
	}
	if flags := le.Uint32(h[12:]); flags != 0 {
		return nil, d.fail(ErrUnsupported, 12, "flags", "are %#x", flags)
	}
	n64, k64, sections := le.Uint64(h[16:]), le.Uint64(h[24:]), le.Uint32(h[32:])
	if n64 > maxWords {
		return nil, d.fail(ErrInvalid, 16, "N", "is %d, more than %d", n64, maxWords)
	}
	if k64 < 2 || k64 > n64 {
		return nil, d.fail(ErrInvalid, 24, "K", "is %d, not in [2, N = %d]", k64, n64)
	}
	if n64*k64 > math.MaxInt/8 { // both are below 2³¹
		return nil, d.fail(ErrInvalid, 24, "N·K", "%d·%d numbers are more than this machine can hold", n64, k64)
	}
	if sections > maxSections {
		return nil, d.fail(ErrInvalid, 32, "sections", "are %d, more than %d", sections, maxSections)
	}

	p := &parts{d: d, n: int(n64), k: int(k64), at: make(map[string]int64)}
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
	if got, want := d.all, le.Uint32(t[4:]); got != want {
		return nil, d.fail(ErrChecksum, 0, "whole file", "CRC-32C is %08x, the file says %08x", got, want)
	}
	return p.model()
}

// parts gathers the sections of a file.
type parts struct {
	d    *decoder
	n, k int
	at   map[string]int64 // where each section begins

	vocab                    []string
	topics, wordTopics, corr []float64
	anchors                  []int
	facets                   [][]int
	norms, marginals         []float64
	spectral                 [3][]float64 // B, B̆ and A before the model was refined
	stats                    Stats
	prov                     Provenance
	dual, alpha              []float64
	tokenizer                tokenizerJSON
	state                    []float64 // all of its numbers, the first two integers as bits
}

// tokenizerJSON is text.WordTokenizer as it stands in a file.
type tokenizerJSON struct {
	KeepCase       bool            `json:"keep_case"`
	MinLength      int             `json:"min_length"`
	MaxLength      int             `json:"max_length"`
	Numbers        text.NumberRule `json:"numbers"`
	KeepPossessive bool            `json:"keep_possessive"`
}

// section reads one section.
func (p *parts) section() error {
	d := p.d
	d.section = fmt.Sprintf("#%d", len(p.at)) // until its tag is known to be right
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
	if _, ok := p.at[tag]; ok {
		return d.fail(ErrInvalid, start, "", "comes twice")
	}
	p.at[tag] = start
	if length > math.MaxInt64-8 {
		return d.fail(ErrInvalid, start, "length", "is %d", length)
	}
	if err := d.need(int64(length) + 4); err != nil { // and its checksum
		return err
	}

	payload := d.off
	numbers := func(dst *[]float64, count int) error {
		if length != 8*uint64(count) {
			return d.fail(ErrInvalid, start, "length", "is %d, want %d", length, 8*uint64(count))
		}
		xs, err := d.floats(count)
		*dst = xs
		return err
	}
	var err error
	var decode func() error // what can only be understood once its checksum is right
	switch tag {
	case tagVocabulary:
		var b []byte
		b, err = d.blob(length)
		decode = func() error { return p.vocabulary(b, payload) }
	case tagTopics:
		err = numbers(&p.topics, p.n*p.k)
	case tagWordTopics:
		err = numbers(&p.wordTopics, p.n*p.k)
	case tagCorrelations:
		err = numbers(&p.corr, p.k*p.k)
	case tagAnchorNorms:
		err = numbers(&p.norms, p.k)
	case tagMarginals:
		err = numbers(&p.marginals, p.n)
	case tagDual:
		err = numbers(&p.dual, p.k*p.k)
	case tagAlpha:
		err = numbers(&p.alpha, p.k)
	case tagSpectralB:
		err = numbers(&p.spectral[0], p.n*p.k)
	case tagSpectralW:
		err = numbers(&p.spectral[1], p.n*p.k)
	case tagSpectralA:
		err = numbers(&p.spectral[2], p.k*p.k)
	case tagState:
		if length%8 != 0 || length < 8*5 || length/8 > math.MaxInt {
			return d.fail(ErrInvalid, start, "length", "is %d", length)
		}
		err = numbers(&p.state, int(length/8))
	case tagAnchors:
		if length != 8*uint64(p.k) {
			return d.fail(ErrInvalid, start, "length", "is %d, want %d", length, 8*uint64(p.k))
		}
		var b []byte
		b, err = d.blob(length)
		decode = func() error {
			p.anchors = make([]int, p.k)
			for j := range p.anchors {
				s := binary.LittleEndian.Uint64(b[8*j:])
				if s >= uint64(p.n) {
					return d.fail(ErrInvalid, payload+int64(8*j), "anchors", "word %d of topic %d is not in [0, %d)", s, j, p.n)
				}
				p.anchors[j] = int(s)
			}
			return nil
		}
	case tagFacets:
		var b []byte
		b, err = d.blob(length)
		decode = func() error { return p.facetWords(b, payload) }
	case tagProvenance, tagStats, tagTokenizer:
		var b []byte
		b, err = d.blob(length)
		var dst any = &p.stats
		switch tag {
		case tagProvenance:
			dst = &p.prov
		case tagTokenizer:
			dst = &p.tokenizer
		}
		decode = func() error {
			if err := decodeJSON(b, dst); err != nil {
				return d.fail(ErrInvalid, payload, "", "%v", err)
			}
			return nil
		}
	default:
		if flags&flagRequired != 0 {
			return d.fail(ErrUnsupported, start, "", "a required section of an unknown kind")
		}
		err = d.chunks(length, nil)
	}
	if err != nil {
		return err
	}
	if err := d.sum(payload, ""); err != nil {
		return err
	}
	if decode != nil {
		return decode()
	}
	return nil
}

// vocabulary splits the payload of its section, which begins at byte at.
func (p *parts) vocabulary(b []byte, at int64) error {
	if len(b)/4 < p.n { // each word takes at least its length
		return p.d.fail(ErrInvalid, at, "vocabulary", "%d bytes are too few for %d words", len(b), p.n)
	}
	words := string(b) // one string, which all words share
	p.vocab = make([]string, 0, p.n)
	off := 0
	for i := range p.n {
		if len(b)-off < 4 {
			return p.d.fail(ErrInvalid, at+int64(off), "vocabulary", "ends before word %d of %d", i, p.n)
		}
		size := binary.LittleEndian.Uint32(b[off:])
		off += 4
		if uint64(size) > uint64(len(b)-off) {
			return p.d.fail(ErrInvalid, at+int64(off), "vocabulary", "word %d has %d bytes, %d are left", i, size, len(b)-off)
		}
		p.vocab = append(p.vocab, words[off:off+int(size)])
		off += int(size)
	}
	if off != len(b) {
		return p.d.fail(ErrInvalid, at+int64(off), "vocabulary", "%d bytes after the last word", len(b)-off)
	}
	return nil
}

// facetWords splits the payload of the facets, which begins at byte at.
func (p *parts) facetWords(b []byte, at int64) error {
	if len(b)/4 < p.k { // each topic takes at least its count
		return p.d.fail(ErrInvalid, at, "facets", "%d bytes are too few for %d topics", len(b), p.k)
	}
	le := binary.LittleEndian
	p.facets = make([][]int, p.k)
	off := 0
	for j := range p.facets {
		if len(b)-off < 4 {
			return p.d.fail(ErrInvalid, at+int64(off), "facets", "end before topic %d of %d", j, p.k)
		}
		count := le.Uint32(b[off:])
		off += 4
		if uint64(count) > uint64(len(b)-off)/8 {
			return p.d.fail(ErrInvalid, at+int64(off), "facets", "topic %d has %d words, %d bytes are left", j, count, len(b)-off)
		}
		for range count {
			w := le.Uint64(b[off:])
			if w >= uint64(p.n) {
				return p.d.fail(ErrInvalid, at+int64(off), "facets", "word %d of topic %d is not in [0, %d)", w, j, p.n)
			}
			p.facets[j] = append(p.facets[j], int(w))
			off += 8
		}
	}
	if off != len(b) {
		return p.d.fail(ErrInvalid, at+int64(off), "facets", "%d bytes after the last topic", len(b)-off)
	}
	return nil
}

// rectified makes the state of the rectification, nil where there is none.
func (p *parts) rectified() (*rectify.State, error) {
	xs := p.state
	if xs == nil {
		return nil, nil
	}
	k, cols := math.Float64bits(xs[0]), math.Float64bits(xs[1])
	if cols < 1 || cols > uint64(p.n) || k < 1 || k > cols || uint64(len(xs)-5) != cols*(1+2*uint64(p.n)) {
		p.d.section = tagState
		return nil, p.d.fail(ErrInvalid, p.at[tagState], "state", "%d numbers for %d of %d vectors of length %d", len(xs), k, cols, p.n)
	}
	c := int(cols)
	size := p.n * c
	return &rectify.State{
		K: int(k), Beyond: xs[2], Drift: xs[3], Change: xs[4], Values: xs[5 : 5+c : 5+c],
		Vectors: mat.NewDense(p.n, c, xs[5+c:5+c+size:5+c+size]), Product: mat.NewDense(p.n, c, xs[5+c+size:]),
	}, nil
}

// model puts the parts together.
func (p *parts) model() (*Model, error) {
	d := p.d
	for _, tag := range []string{tagTopics, tagWordTopics, tagCorrelations, tagMarginals} {
		if _, ok := p.at[tag]; !ok {
			d.section = tag
			return nil, d.fail(ErrInvalid, d.off, "", "is missing")
		}
	}
	p.prov.FormatVersion = formatVersion
	var dual *mat.Dense
	if p.dual != nil {
		dual = mat.NewDense(p.k, p.k, p.dual)
	}
	var tok *text.WordTokenizer
	if _, ok := p.at[tagTokenizer]; ok {
		t := text.WordTokenizer(p.tokenizer)
		tok = &t
	}
	var spectral *spectralParts
	if x := p.spectral; x[0] != nil || x[1] != nil || x[2] != nil {
		for i, tag := range []string{tagSpectralB, tagSpectralW, tagSpectralA} {
			if x[i] == nil {
				d.section = tag
				return nil, d.fail(ErrInvalid, d.off, "", "is missing beside other spectral parts")
			}
		}
		spectral = &spectralParts{mat.NewDense(p.n, p.k, x[0]), mat.NewDense(p.n, p.k, x[1]), mat.NewDense(p.k, p.k, x[2])}
	}
	state, err := p.rectified()
	if err != nil {
		return nil, err
	}
	m, err := newModel(modelParts{
		Vocabulary:   p.vocab,
		Topics:       mat.NewDense(p.n, p.k, p.topics),
		WordTopics:   mat.NewDense(p.n, p.k, p.wordTopics),
		Correlations: mat.NewDense(p.k, p.k, p.corr),
		Anchors:      p.anchors,
		Facets:       p.facets,
		AnchorNorms:  p.norms,
		Marginals:    p.marginals,
		Stats:        p.stats,
		Provenance:   p.prov,
		Dual:         dual,
		Alpha:        p.alpha,
		Tokenizer:    tok,
		Spectral:     spectral,
		State:        state,
	})
	var pe *partError
	if errors.As(err, &pe) {
		tag := map[string]string{
			"vocabulary": tagVocabulary, "topics": tagTopics, "word_topics": tagWordTopics, "correlations": tagCorrelations,
			"anchors": tagAnchors, "facets": tagFacets, "anchor_norms": tagAnchorNorms, "marginals": tagMarginals,
			"dual": tagDual, "alpha": tagAlpha, "tokenizer": tagTokenizer, "state": tagState,
			"spectral_topics": tagSpectralB, "spectral_word_topics": tagSpectralW, "spectral_correlations": tagSpectralA,
		}[pe.field]
		d.section = tag
		return nil, d.fail(ErrInvalid, p.at[tag], pe.field, "%s", pe.detail)
	}
	return m, err
}
