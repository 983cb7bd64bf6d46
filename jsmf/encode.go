package jsmf

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/jsmf-go/spectral/internal/nanjson"
	"github.com/jsmf-go/spectral/rectify"
)

// WriteTo writes the model to w in the format of FORMAT.md and returns how many
// bytes w took. A model gives the same bytes on every machine. Durations are not
// written. A file takes 16·N·K bytes, the vocabulary, some kilobytes, and what the
// documentation of Model adds.
func (m *Model) WriteTo(w io.Writer) (int64, error) {
	e := &encoder{w: w, buf: make([]byte, 0, chunkLen), table: castagnoli()}
	if err := m.encode(e); err != nil {
		return e.n, errorf("write model: %w", err)
	}
	return e.n, nil
}

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

// words writes word numbers.
func (e *encoder) words(ws []int) {
	for _, w := range ws {
		e.uint64(uint64(w))
	}
}

// texts writes the lengths and the bytes of texts.
func (e *encoder) texts(list []string) {
	for _, s := range list {
		e.uint32(uint32(len(s)))
		e.text(s)
	}
}

// sizeOfTexts returns how many bytes texts writes.
func sizeOfTexts(list []string) (size int, err error) {
	for i, s := range list {
		if len(s) > math.MaxInt32 {
			return 0, fmt.Errorf("%d has %d bytes", i, len(s))
		}
		size += 4 + len(s)
	}
	return size, nil
}

// flags writes a byte for each flag, 1 for true.
func (e *encoder) flags(list []bool) {
	b := make([]byte, len(list))
	for i, on := range list {
		if on {
			b[i] = 1
		}
	}
	e.bytes(b)
}

// state writes the state of a rectification with a number of vectors.
func (e *encoder) state(s *rectify.State, vectors int) {
	e.uint64(uint64(s.K))
	e.uint64(uint64(vectors))
	e.floats([]float64{s.Beyond, s.Drift, s.Change})
	e.floats(s.Values)
	e.floats(packed(s.Vectors))
	e.floats(packed(s.Product))
}

// sum writes the checksum of what came since the last one.
func (e *encoder) sum() {
	e.raw(binary.LittleEndian.AppendUint32(nil, e.part))
	e.part = 0
}

// section is one section of a file: size bytes that put writes.
type section struct {
	tag   string
	flags uint32
	size  int
	put   func()
}

// encode writes the whole file.
func (m *Model) encode(e *encoder) error {
	sections, err := m.sections(e)
	if err != nil {
		return err
	}
	e.text(formatMagic)
	e.uint32(formatVersion)
	e.uint32(0)
	e.uint64(uint64(m.n))
	e.uint64(uint64(m.k))
	e.uint32(uint32(len(sections)))
	e.sum()
	for _, s := range sections {
		e.text(s.tag)
		e.uint32(s.flags)
		e.uint64(uint64(s.size))
		e.sum()
		s.put()
		e.sum()
	}
	e.text(trailerTag)
	e.raw(binary.LittleEndian.AppendUint32(nil, e.all))
	e.flush()
	return e.err
}

// sections returns the sections of the model's file in their order.
func (m *Model) sections(e *encoder) ([]section, error) {
	var out []section
	add := func(tag string, flags uint32, size int, put func()) {
		out = append(out, section{tag, flags, size, put})
	}
	floats := func(tag string, flags uint32, xs []float64) {
		if xs != nil {
			add(tag, flags, 8*len(xs), func() { e.floats(xs) })
		}
	}
	object := func(tag string, v any) error {
		b, err := nanjson.Marshal(v)
		add(tag, 0, len(b), func() { e.bytes(b) })
		return err
	}

	texts := func(tag string, flags uint32, list []string) error {
		size, err := sizeOfTexts(list)
		if list != nil {
			add(tag, flags, size, func() { e.texts(list) })
		}
		return err
	}

	if err := texts(tagVocabulary, flagRequired, m.vocab); err != nil {
		return nil, fmt.Errorf("vocabulary: word %w", err)
	}
	floats(tagTopics, flagRequired, m.topics)
	floats(tagWordTopics, flagRequired, m.wordTopics)
	floats(tagCorrelations, flagRequired, m.corr)
	if m.anchors != nil {
		add(tagAnchors, flagRequired, 8*m.k, func() { e.words(m.anchors) })
	}
	if m.groups != nil {
		size := 0
		for _, g := range m.groups {
			size += 4 + 8*len(g)
		}
		add(tagAnchorGroups, 0, size, func() {
			for _, g := range m.groups {
				e.uint32(uint32(len(g)))
				e.words(g)
			}
		})
	}
	floats(tagMarginals, flagRequired, m.marginals)
	floats(tagAlpha, 0, m.alpha)
	prov := m.prov
	prov.FormatVersion = formatVersion
	if err := object(tagProvenance, prov); err != nil {
		return nil, fmt.Errorf("provenance: %w", err)
	}
	if err := object(tagStats, m.stats); err != nil {
		return nil, fmt.Errorf("stats: %w", err)
	}
	floats(tagDual, 0, m.dual)
	if m.text != nil {
		b, err := json.Marshal(m.text)
		if err != nil {
			return nil, fmt.Errorf("text setting: %w", err)
		}
		add(tagText, flagRequired, len(b), func() { e.bytes(b) })
	}
	if s := m.state; s != nil {
		_, cols := s.Vectors.Dims()
		add(tagState, 0, 8*(5+cols*(1+2*m.n)), func() { e.state(s, cols) })
	}
	floats(tagReading, 0, m.reading)
	if m.background != nil {
		add(tagBackground, 0, m.k, func() { e.flags(m.background) })
	}
	if err := texts(tagNames, 0, m.given); err != nil {
		return nil, fmt.Errorf("name of topic %w", err)
	}
	if m.docs != nil {
		b, err := m.docs.bytes()
		if err != nil {
			return nil, fmt.Errorf("documents: %w", err)
		}
		add(tagDocuments, 0, len(b), func() { e.bytes(b) })
	}
	if m.unsure != nil {
		if err := object(tagUncertainty, *m.unsure); err != nil {
			return nil, fmt.Errorf("uncertainty: %w", err)
		}
	}
	if m.verdicts != nil {
		if err := object(tagVerdicts, m.verdicts); err != nil {
			return nil, fmt.Errorf("verdicts: %w", err)
		}
	}
	return out, nil
}
