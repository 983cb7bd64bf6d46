package jsmf

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/nanjson"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

// parts gathers the sections of a file.
type parts struct {
	d    *decoder
	n, k int
	at   map[string]int64 // where each section begins

	vocab                    []string
	topics, wordTopics, corr []float64
	anchors                  []int
	groups                   [][]int
	marginals                []float64
	stats                    Stats
	prov                     Provenance
	dual, alpha              []float64
	text                     *text.Setting
	state                    []float64 // all of its numbers, the first two integers as bits
	reading                  []float64
	background               []bool
	names                    []string
	docs                     *Compositions
	unsure                   *Uncertainty
	verdicts                 []metrics.Verdict
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
	decode, err := p.payload(tag, flags, start, length)
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

// payload reads the payload of a section that begins at byte start. decode, which
// may be nil, does what has to wait until the checksum is known to be right.
func (p *parts) payload(tag string, flags uint32, start int64, length uint64) (decode func() error, err error) {
	d, at := p.d, p.d.off
	if f, ok := p.floats()[tag]; ok {
		if length != 8*uint64(f.count) {
			return nil, d.fail(ErrInvalid, start, "length", "is %d, want %d", length, 8*uint64(f.count))
		}
		*f.dst, err = d.floats(f.count)
		return nil, err
	}
	if tag == tagState {
		if length%8 != 0 || length < 8*5 || length/8 > math.MaxInt {
			return nil, d.fail(ErrInvalid, start, "length", "is %d", length)
		}
		p.state, err = d.floats(int(length / 8))
		return nil, err
	}
	var parse func(b []byte, at int64) error
	switch tag {
	case tagVocabulary:
		parse = p.texts(&p.vocab, p.n, "vocabulary", "word")
	case tagAnchors:
		if length != 8*uint64(p.k) {
			return nil, d.fail(ErrInvalid, start, "length", "is %d, want %d", length, 8*uint64(p.k))
		}
		parse = p.anchorWords
	case tagBackground:
		if length != uint64(p.k) {
			return nil, d.fail(ErrInvalid, start, "length", "is %d, want %d", length, p.k)
		}
		parse = p.backgroundFlags
	case tagNames:
		parse = p.texts(&p.names, p.k, "names", "name")
	case tagDocuments:
		parse = p.documents
	case tagUncertainty:
		p.unsure = new(Uncertainty)
		parse = p.object(p.unsure)
	case tagVerdicts:
		parse = p.object(&p.verdicts)
	case tagAnchorGroups:
		parse = p.anchorGroups
	case tagProvenance:
		parse = p.object(&p.prov)
	case tagStats:
		parse = p.object(&p.stats)
	case tagText:
		parse = p.textSetting
	default:
		if flags&flagRequired != 0 {
			return nil, d.fail(ErrUnsupported, start, "", "a required section of an unknown kind")
		}
		return nil, d.chunks(length, nil)
	}
	b, err := d.blob(length)
	return func() error { return parse(b, at) }, err
}

// floatSection is where the numbers of a section go, and how many they are.
type floatSection struct {
	dst   *[]float64
	count int
}

// floats returns the sections that hold nothing but numbers, by their tags.
func (p *parts) floats() map[string]floatSection {
	nk, kk := p.n*p.k, p.k*p.k
	return map[string]floatSection{
		tagTopics: {&p.topics, nk}, tagWordTopics: {&p.wordTopics, nk}, tagCorrelations: {&p.corr, kk},
		tagMarginals: {&p.marginals, p.n}, tagDual: {&p.dual, kk}, tagAlpha: {&p.alpha, p.k}, tagReading: {&p.reading, nk},
	}
}

// object returns a function that parses JSON into dst.
func (p *parts) object(dst any) func(b []byte, at int64) error {
	return func(b []byte, at int64) error {
		if err := nanjson.Unmarshal(b, dst); err != nil {
			return p.d.fail(ErrInvalid, at, "", "%v", err)
		}
		return nil
	}
}

// textSetting parses the payload of the text setting, which begins at byte at.
func (p *parts) textSetting(b []byte, at int64) error {
	if err := json.Unmarshal(b, &p.text); err != nil {
		return p.d.fail(ErrInvalid, at, "text", "%v", err)
	}
	return nil
}

// anchorWords parses the payload of the anchors, which begins at byte at.
func (p *parts) anchorWords(b []byte, at int64) error {
	p.anchors = make([]int, p.k)
	for j := range p.anchors {
		s := binary.LittleEndian.Uint64(b[8*j:])
		if s >= uint64(p.n) {
			return p.d.fail(ErrInvalid, at+int64(8*j), "anchors", "word %d of topic %d is not in [0, %d)", s, j, p.n)
		}
		p.anchors[j] = int(s)
	}
	return nil
}

// texts returns a function that parses the payload of a list of texts, count of
// them, into dst. field and one name the list and one of it in errors.
func (p *parts) texts(dst *[]string, count int, field, one string) func(b []byte, at int64) error {
	return func(b []byte, at int64) error {
		if len(b)/4 < count { // each text takes at least its length
			return p.d.fail(ErrInvalid, at, field, "%d bytes are too few for %d %ss", len(b), count, one)
		}
		all := string(b) // one string, which all share
		list := make([]string, 0, count)
		off := 0
		for i := range count {
			if len(b)-off < 4 {
				return p.d.fail(ErrInvalid, at+int64(off), field, "ends before %s %d of %d", one, i, count)
			}
			size := binary.LittleEndian.Uint32(b[off:])
			off += 4
			if uint64(size) > uint64(len(b)-off) {
				return p.d.fail(ErrInvalid, at+int64(off), field, "%s %d has %d bytes, %d are left", one, i, size, len(b)-off)
			}
			list = append(list, all[off:off+int(size)])
			off += int(size)
		}
		if off != len(b) {
			return p.d.fail(ErrInvalid, at+int64(off), field, "%d bytes after the last %s", len(b)-off, one)
		}
		*dst = list
		return nil
	}
}

// documents parses the payload of the documents, which begins at byte at.
func (p *parts) documents(b []byte, at int64) error {
	var err error
	if p.docs, err = readCompositions(b, p.k); err != nil {
		return p.d.fail(ErrInvalid, at, "documents", "%v", err)
	}
	return nil
}

// backgroundFlags parses the payload of the background topics, which begins at byte at.
func (p *parts) backgroundFlags(b []byte, at int64) error {
	p.background = make([]bool, p.k)
	for j, x := range b {
		if x > 1 {
			return p.d.fail(ErrInvalid, at+int64(j), "background", "the flag of topic %d is %d, not 0 or 1", j, x)
		}
		p.background[j] = x == 1
	}
	return nil
}

// anchorGroups parses the payload of the anchor groups, which begins at byte at.
func (p *parts) anchorGroups(b []byte, at int64) error {
	if len(b)/4 < p.k { // each topic takes at least its count
		return p.d.fail(ErrInvalid, at, "anchor_groups", "%d bytes are too few for %d topics", len(b), p.k)
	}
	le := binary.LittleEndian
	p.groups = make([][]int, p.k)
	off := 0
	for j := range p.groups {
		if len(b)-off < 4 {
			return p.d.fail(ErrInvalid, at+int64(off), "anchor_groups", "end before topic %d of %d", j, p.k)
		}
		count := le.Uint32(b[off:])
		off += 4
		if uint64(count) > uint64(len(b)-off)/8 {
			return p.d.fail(ErrInvalid, at+int64(off), "anchor_groups", "topic %d has %d words, %d bytes are left", j, count, len(b)-off)
		}
		for range count {
			w := le.Uint64(b[off:])
			if w >= uint64(p.n) {
				return p.d.fail(ErrInvalid, at+int64(off), "anchor_groups", "word %d of topic %d is not in [0, %d)", w, j, p.n)
			}
			p.groups[j] = append(p.groups[j], int(w))
			off += 8
		}
	}
	if off != len(b) {
		return p.d.fail(ErrInvalid, at+int64(off), "anchor_groups", "%d bytes after the last topic", len(b)-off)
	}
	return nil
}

// rectified makes the state of the rectification, or nil where there is none.
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
	var reading *mat.Dense
	if p.reading != nil {
		reading = mat.NewDense(p.n, p.k, p.reading)
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
		AnchorGroups: p.groups,
		Marginals:    p.marginals,
		Stats:        p.stats,
		Provenance:   p.prov,
		Dual:         dual,
		Alpha:        p.alpha,
		Text:         p.text,
		State:        state,
		Reading:      reading,
		Background:   p.background,
		Names:        p.names,
		Documents:    p.docs,
		Uncertainty:  p.unsure,
		Verdicts:     p.verdicts,
	})
	var pe *partError
	if errors.As(err, &pe) {
		tag := map[string]string{
			"vocabulary": tagVocabulary, "topics": tagTopics, "word_topics": tagWordTopics, "correlations": tagCorrelations,
			"anchors": tagAnchors, "anchor_groups": tagAnchorGroups, "marginals": tagMarginals, "stats": tagStats,
			"reading": tagReading, "background": tagBackground, "names": tagNames, "documents": tagDocuments, "uncertainty": tagUncertainty, "verdicts": tagVerdicts,
			"dual": tagDual, "alpha": tagAlpha, "text": tagText, "state": tagState,
		}[pe.field]
		d.section = tag
		return nil, d.fail(ErrInvalid, p.at[tag], pe.field, "%s", pe.detail)
	}
	return m, err
}
