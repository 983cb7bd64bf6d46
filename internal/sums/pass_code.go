package sums

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/jsmf-go/spectral/internal/estep"
)

// The body of a Pass: the header, Begin, Totals, Words, Unigram, Columns, Pairs, Topics.
// Numbers are little-endian, as wide as in memory; pairs are of two uint32.

// passHeader is what stands before the slices.
type passHeader struct {
	Task, Form          uint8
	Hide, Keep          bool
	N, K, Steps, Pairs  uint32
	Columns, _          uint32
	After               Key
	Every, Scored, Docs int64
	Alpha, Floor        float32
	Smoothing           float64
}

// size returns the bytes of a body with such a header.
func (h *passHeader) size() (head, all uint64) {
	head = uint64(binary.Size(h))
	n, k := uint64(h.N), uint64(h.K)
	return head, head + 12*k + 12*n + 8*uint64(h.Pairs) + 4*uint64(h.Columns) + 4*n*k
}

// MarshalBinary implements Plan.
func (p *Pass) MarshalBinary() ([]byte, error) {
	if p.Weights != nil {
		return nil, errWeights
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	n, k := p.Topics.N, p.Topics.K
	h := passHeader{
		Task: uint8(p.Task), Form: uint8(p.Form), Hide: p.Hide, Keep: p.Keep, After: p.After, Columns: uint32(len(p.Columns)),
		N: uint32(n), K: uint32(k), Steps: uint32(p.Steps), Pairs: uint32(len(p.Pairs)),
		Every: p.Every, Scored: p.Scored, Docs: p.Docs, Alpha: p.Alpha, Floor: p.Floor, Smoothing: p.Smoothing,
	}
	_, size := h.size()
	b, err := binary.Append(make([]byte, 0, size), binary.LittleEndian, &h)
	for _, x := range []any{p.Begin, p.Totals, p.Words, p.Unigram, p.Columns} {
		if err == nil {
			b, err = binary.Append(b, binary.LittleEndian, x)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, x := range p.Pairs {
		b = binary.LittleEndian.AppendUint32(b, uint32(x.Into))
		b = binary.LittleEndian.AppendUint32(b, uint32(x.From))
	}
	for i := range n {
		for _, v := range p.Topics.Row(i) {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	return seal(kindPass, b), nil
}

// readPass decodes a body.
func readPass(b []byte) (*Pass, error) {
	var h passHeader
	if _, err := binary.Decode(b, binary.LittleEndian, &h); err != nil {
		return nil, errors.New("the header of a pass is cut off")
	}
	const most = 1 << 31
	head, size := h.size()
	switch {
	case h.N >= most || h.K >= most || h.Pairs >= most || h.Columns >= most || h.Steps >= most:
		return nil, fmt.Errorf("a pass has %d words, %d topics, %d pairs and %d steps", h.N, h.K, h.Pairs, h.Steps)
	case size != uint64(len(b)):
		return nil, fmt.Errorf("a pass with %d words and %d topics has %d bytes, want %d", h.N, h.K, len(b), size)
	}
	p := &Pass{
		Task: Task(h.Task), Form: estep.Form(h.Form), Hide: h.Hide, Keep: h.Keep, Steps: int(h.Steps), After: h.After,
		Every: h.Every, Scored: h.Scored, Docs: h.Docs,
		Alpha: h.Alpha, Floor: h.Floor, Smoothing: h.Smoothing,
		Topics: estep.NewRows(int(h.N), int(h.K)), Begin: make([]float32, h.K), Totals: make([]float64, h.K),
		Words: make([]int64, h.N), Unigram: make([]float32, h.N), Columns: make([]int32, h.Columns),
	}
	b = b[head:]
	for _, x := range []any{p.Begin, p.Totals, p.Words, p.Unigram, p.Columns} {
		n, err := binary.Decode(b, binary.LittleEndian, x)
		if err != nil {
			return nil, err
		}
		b = b[n:]
	}
	if h.Pairs > 0 {
		p.Pairs = make([]Pair, h.Pairs)
	}
	for i := range p.Pairs {
		p.Pairs[i] = Pair{int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))}
		b = b[8:]
	}
	for i := range p.Topics.N {
		row := p.Topics.Row(i)
		for t := range row {
			row[t] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*t:]))
		}
		b = b[4*len(row):]
	}
	return p, p.check()
}

// check reports what is out of range.
func (p *Pass) check() error {
	switch {
	case p.Topics.N < 1 || p.Topics.K < 1:
		return fmt.Errorf("a pass has %d words and %d topics", p.Topics.N, p.Topics.K)
	case p.Task > Finish:
		return fmt.Errorf("a pass has the task %d", p.Task)
	case p.Form > estep.LeaveDocument:
		return fmt.Errorf("a pass has the form %d", p.Form)
	case (p.After == Key{}) != (len(p.Columns) == 0) || p.Keep && p.Task != Learn:
		return fmt.Errorf("a pass of task %d takes %d numbers of a document, keep is %v", p.Task, len(p.Columns), p.Keep)
	case p.Steps < 0 || p.Steps == 0 && len(p.Columns) == 0 || p.Every < 1 || p.Scored < 1 || p.Docs < 0:
		return fmt.Errorf("a pass has %d steps, samples of one in %d and one in %d, %d documents", p.Steps, p.Every, p.Scored, p.Docs)
	}
	n, k := p.Topics.N, p.Topics.K
	if len(p.Begin) != k || len(p.Totals) != k || len(p.Words) != n || len(p.Unigram) != n {
		return fmt.Errorf("a pass has %d, %d, %d and %d numbers for %d topics and %d words", len(p.Begin), len(p.Totals), len(p.Words), len(p.Unigram), k, n)
	}
	for _, x := range p.Pairs {
		if x.Into < 0 || x.Into >= x.From || x.From >= p.Topics.K {
			return fmt.Errorf("topics %d and %d of %d are no pair", x.Into, x.From, p.Topics.K)
		}
	}
	for i, c := range p.Columns {
		if c < 0 || int(c) >= k {
			return fmt.Errorf("topic %d of an earlier pass is topic %d of %d", i, c, k)
		}
	}
	sum := uint64(0)
	for i, x := range p.Words {
		if sum += uint64(x); x < 0 || sum > mostTokens {
			return fmt.Errorf("word %d has %d tokens; all words may have %d", i, x, int64(mostTokens))
		}
	}
	return nil
}

// mostTokens is how many tokens the documents may have: that many, and scores in whole nats,
// still fit into a sum.
const mostTokens = 1 << 52
