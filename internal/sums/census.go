package sums

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/fields"
	"github.com/jsmf-go/spectral/internal/holdout"
)

// Census is a plan that counts words.
type Census struct {
	df      []int
	weights documentWeights
}

// NewCensus returns the plan for documents with these document frequencies of their
// words. weights are those of the documents in their order, at most 1 each; nil: all
// weigh 1.
func NewCensus(df []int, weights []float64) (*Census, error) {
	for w, n := range df {
		if n < 0 {
			return nil, fmt.Errorf("word %d is in %d documents", w, n)
		}
	}
	return &Census{df, weights}, documentWeights(weights).check()
}

// Counts is what a Census finds.
type Counts struct {
	Docs    int   // documents that are not empty
	HeldOut int   // of these, documents with hidden tokens: see holdout.HeldOut
	Tokens  int64 // of all documents
	Hidden  int64 // of these, tokens that are hidden if they are enough: see holdout.Enough
	// Tokens and Hidden by half of the documents: see holdout.Half.
	Halves, HiddenHalves [2]int64
	Words                []int64   // the tokens of each word
	Shares               []float64 // of each word the mean share in a document that is not empty
}

// The sum holds the tokens and the share of each word, and then these.
const (
	censusDocs = iota
	censusHeldOut
	censusTokens // by half
	_
	censusHidden // by half
	_
	censusWeight // of documents that are not empty
	censusTail
)

func (c *Census) Len() int { return 2*len(c.df) + censusTail }

func (c *Census) Shared() bool { return false }

// Counts returns what a sum says.
func (c *Census) Counts(sum []int64) (*Counts, error) {
	if err := checkSum(c, sum); err != nil {
		return nil, err
	}
	n := len(c.df)
	tail := sum[2*n:]
	out := &Counts{
		Docs: int(tail[censusDocs]), HeldOut: int(tail[censusHeldOut]),
		Halves: [2]int64(tail[censusTokens:]), HiddenHalves: [2]int64(tail[censusHidden:]),
		Words: make([]int64, n), Shares: make([]float64, n),
	}
	out.Tokens, out.Hidden = out.Halves[0]+out.Halves[1], out.HiddenHalves[0]+out.HiddenHalves[1]
	total := float64(out.Docs)
	if c.weights != nil {
		total = unfix(tail[censusWeight], c.weightShift())
	}
	for w, df := range c.df {
		out.Words[w] = sum[2*w]
		if sum[2*w+1] > 0 {
			out.Shares[w] = unfix(sum[2*w+1], shift(int64(df))) / total
		}
	}
	return out, nil
}

func (c *Census) weightShift() int { return shift(int64(len(c.weights))) }

func (c *Census) MarshalBinary() ([]byte, error) {
	if c.weights != nil {
		return nil, errWeights
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(c.df)))
	for _, n := range c.df {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return seal(kindCensus, b), nil
}

func readCensus(b []byte) (*Census, error) {
	r := fields.Reader{B: b}
	n := r.U64()
	if n > uint64(len(r.B)) {
		return nil, fmt.Errorf("%d words in %d bytes", n, len(b))
	}
	df := make([]int, n)
	for w := range df {
		x := r.Uvarint()
		if x > math.MaxInt {
			return nil, fmt.Errorf("word %d is in %d documents", w, x)
		}
		df[w] = int(x)
	}
	if err := r.End(); err != nil {
		return nil, err
	}
	return NewCensus(df, nil)
}

func (c *Census) Adder() Adder {
	a := &censusAdder{Census: c, scales: make([]float64, len(c.df))}
	for w, n := range c.df {
		a.scales[w] = power(shift(int64(n)))
	}
	return a
}

type censusAdder struct {
	*Census
	scales []float64
}

func (a *censusAdder) Add(_ context.Context, b *corpus.Block, sum []int64) error {
	n := len(a.df)
	tail := sum[2*n:]
	for d := range b.Docs() {
		words, counts := b.Doc(d)
		if len(words) == 0 {
			continue
		}
		if err := checkWords(b, d, n); err != nil {
			return err
		}
		weight, err := a.weights.of(b, d)
		if err != nil {
			return err
		}
		tokens := int64(0)
		for _, x := range counts {
			tokens += int64(x)
		}
		each := weight / float64(tokens)
		for i, w := range words {
			x := float64(counts[i])
			sum[2*w] += int64(counts[i])
			sum[2*w+1] += nearest(x * each * a.scales[w])
		}
		tail[censusDocs]++
		key := b.Key(d)
		half := holdout.Half(key)
		tail[censusTokens+half] += tokens
		if holdout.HeldOut(key) && holdout.Hidden(tokens) > 0 {
			tail[censusHeldOut]++
			tail[censusHidden+half] += holdout.Hidden(tokens)
		}
		if a.weights != nil {
			tail[censusWeight] += nearest(weight * power(a.weightShift()))
		}
	}
	return nil
}

func (a *censusAdder) Flush(context.Context, []int64) error { return nil }
