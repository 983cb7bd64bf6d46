package sums

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/estep"
)

// The body of a Pass: the header, Begin, Totals, Words, Unigram, Pairs, Topics.
// Numbers are little-endian, as wide as in memory; pairs are of two uint32.

// passHeader is what stands before the slices.
type passHeader struct {
	Task                uint8
	Leave, Hide         bool
	N, K, Steps, Pairs  uint32
	Least               float32
	Every, Scored, Docs int64
	Alpha               float32
}

// size returns the bytes of a body with such a header.
func (h *passHeader) size() (head, all uint64) {
	head = uint64(binary.Size(h))
	n, k := uint64(h.N), uint64(h.K)
	return head, head + 12*k + 12*n + 8*uint64(h.Pairs) + 4*n*k
}

func (p *Pass) MarshalBinary() ([]byte, error) {
	if p.Weights != nil {
		return nil, errWeights
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	n, k := p.Topics.N, p.Topics.K
	h := passHeader{
		Task: uint8(p.Task), Leave: p.Leave, Hide: p.Hide,
		N: uint32(n), K: uint32(k), Steps: uint32(p.Steps), Pairs: uint32(len(p.Pairs)),
		Every: p.Every, Scored: p.Scored, Docs: p.Docs, Alpha: p.Alpha, Least: p.Least,
	}
	var pairs []uint32
	for _, x := range p.Pairs {
		pairs = append(pairs, uint32(x.Into), uint32(x.From))
	}
	_, size := h.size()
	b := make([]byte, 0, size)
	for _, x := range append([]any{&h}, p.parts(pairs)...) {
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, x); err != nil {
			return nil, err
		}
	}
	return seal(kindPass, b), nil
}

// parts are the slices of the body in their order; pairs has two numbers for each of Pairs.
func (p *Pass) parts(pairs []uint32) []any {
	all := []any{p.Begin, p.Totals, p.Words, p.Unigram, pairs}
	for i := range p.Topics.N {
		all = append(all, p.Topics.Row(i))
	}
	return all
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
	case h.N >= most || h.K >= most || h.Pairs >= most || h.Steps >= most:
		return nil, fmt.Errorf("a pass has %d words, %d topics, %d pairs and %d steps", h.N, h.K, h.Pairs, h.Steps)
	case size != uint64(len(b)):
		return nil, fmt.Errorf("a pass with %d words and %d topics has %d bytes, want %d", h.N, h.K, len(b), size)
	}
	p := &Pass{
		Task: Task(h.Task), Leave: h.Leave, Hide: h.Hide, Steps: int(h.Steps),
		Every: h.Every, Scored: h.Scored, Docs: h.Docs,
		Alpha: h.Alpha, Least: h.Least,
		Topics: estep.NewRows(int(h.N), int(h.K)), Begin: make([]float32, h.K), Totals: make([]float64, h.K),
		Words: make([]int64, h.N), Unigram: make([]float32, h.N),
	}
	pairs := make([]uint32, 2*h.Pairs)
	b = b[head:]
	for _, x := range p.parts(pairs) {
		n, err := binary.Decode(b, binary.LittleEndian, x)
		if err != nil {
			return nil, err
		}
		b = b[n:]
	}
	for x := range slices.Chunk(pairs, 2) {
		p.Pairs = append(p.Pairs, docstep.Pair{Into: int(x[0]), From: int(x[1])})
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
	case p.Steps < 1 || p.Every < 1 || p.Scored < 1 || p.Docs < 0:
		return fmt.Errorf("a pass has %d steps, samples of one in %d and one in %d, %d documents", p.Steps, p.Every, p.Scored, p.Docs)
	}
	if !(p.Least >= 0 && p.Least <= math.MaxFloat32) {
		return fmt.Errorf("a document of a pass keeps blocks of %v tokens", p.Least)
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
	sum := uint64(0)
	for i, x := range p.Words {
		if sum += uint64(x); x < 0 || sum > maxTokens {
			return fmt.Errorf("word %d has %d tokens; all words may have %d", i, x, int64(maxTokens))
		}
	}
	return nil
}

// maxTokens is how many tokens the documents may have, so that sums of scores do not overflow.
const maxTokens = 1 << 52
