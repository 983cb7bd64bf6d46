package sums

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/fields"
)

// Parts is a plan that adds up the parts that topics have of the documents (docstep.Document.Parts):
// how often words are in each or, of some topics, how often words are together. A document counts for
// a topic of which it has Least tokens.
type Parts struct {
	Pass  *Pass // finds the tokens by topic; its task is Compare, and it has no Pairs
	Least float64
	// Of are topics with their words that are counted together; none: words of all topics are counted.
	Of []PartMoment
}

// PartMoment is a Moment of the part of a topic, with document frequencies that bound those of the part.
type PartMoment struct {
	Topic int
	*Moment
}

// Without Of the sum has for each topic two numbers of each word: of its documents, and its shares of their
// tokens; and then the documents of the topic, and its tokens.

func (p *Parts) Len() int {
	if len(p.Of) == 0 {
		return p.Pass.Topics.K * p.words()
	}
	n := 0
	for _, m := range p.Of {
		n += m.Len()
	}
	return n
}

// words is how many of the numbers without Of belong to a topic.
func (p *Parts) words() int { return 2*p.Pass.Topics.N + 2 }

func (p *Parts) Shared() bool { return true }

// Tokens returns how many tokens a topic has.
func (p *Parts) Tokens(sum []int64, topic int) float64 {
	return unfix(sum[(topic+1)*p.words()-1], p.Pass.tokenShift())
}

// Frequencies sets df and shares, of each word, to how many documents of a topic have it and to the sum of
// its shares of their tokens, and returns how many documents the topic has.
func (p *Parts) Frequencies(sum []int64, topic int, df, shares []float64) (docs float64) {
	from := sum[topic*p.words():]
	for i := range df {
		s := p.Pass.wordShift(i)
		df[i], shares[i] = unfix(from[2*i], s), unfix(from[2*i+1], s)
	}
	return unfix(from[2*len(df)], p.Pass.docShift())
}

// Sums returns the sum of each of Of.
func (p *Parts) Sums(sum []int64) (out [][]int64) {
	for _, m := range p.Of {
		out = append(out, sum[:m.Len():m.Len()])
		sum = sum[m.Len():]
	}
	return out
}

// PartsAdder adds documents to a sum of Parts.
type PartsAdder struct {
	*passAdder
	parts   *Parts
	without [passTail]int64 // tokens of documents without a weight, which nothing needs

	of    []*momentAdder
	ranks [][]partRank // of each word
	held  int          // nonzeros in the chunks of all
}

// partRank is the rank of a word in one of Of.
type partRank struct{ of, topic, rank int32 }

func (p *Parts) Adder() Adder { return p.PartsAdder() }

// PartsAdder returns scratch space to add documents with.
func (p *Parts) PartsAdder() *PartsAdder {
	a := &PartsAdder{passAdder: p.Pass.adder(), parts: p, ranks: make([][]partRank, p.Pass.Topics.N)}
	for i, m := range p.Of {
		a.of = append(a.of, m.adder())
		for rank, at := range m.order {
			w := m.words[at]
			a.ranks[w] = append(a.ranks[w], partRank{int32(i), int32(m.Topic), int32(rank)})
		}
	}
	return a
}

// Add implements Adder.
func (a *PartsAdder) Add(ctx context.Context, b *corpus.Block, sum []int64) error {
	return a.documents(ctx, b, a.without[:], func(uint64) error {
		if _, err := a.weigh(); err != nil {
			return err
		}
		return a.Document(ctx, a.doc, a.rule, a.byTopic(), a.weight, sum)
	})
}

// Document adds a document with a weight that has n tokens by topic.
func (a *PartsAdder) Document(ctx context.Context, d *docstep.Document, r *docstep.Rule, n []float32, weight float64, sum []int64) error {
	a.weight = weight
	err := d.Parts(r, n, func(t int, x *docstep.Part) {
		if len(a.of) > 0 {
			a.together(t, x)
		} else {
			a.frequencies(t, x, sum)
		}
	})
	if err == nil && a.held > momentNNZ {
		err = a.Flush(ctx, sum)
	}
	return err
}

// frequencies adds the part of a topic without Of. There are few numbers to add, so that one sum is enough
// for all goroutines.
func (a *PartsAdder) frequencies(t int, x *docstep.Part, sum []int64) {
	to := sum[t*a.parts.words():][:a.parts.words()]
	end := to[len(to)-2:]
	atomic.AddInt64(&end[1], nearest(x.Tokens*a.weight*a.tokens))
	if x.Tokens < a.parts.Least {
		return
	}
	atomic.AddInt64(&end[0], nearest(a.weight*a.counting))
	for i, w := range x.Words {
		c, scale := float64(x.Counts[i]), a.weight*float64(a.scales[w])
		atomic.AddInt64(&to[2*w], nearest(min(1, c)*scale))
		atomic.AddInt64(&to[2*w+1], nearest(c/x.Tokens*scale))
	}
}

// together adds the part of a topic to its chunk.
func (a *PartsAdder) together(t int, x *docstep.Part) {
	if x.Tokens < a.parts.Least {
		return
	}
	var m *momentAdder
	for i, w := range x.Words {
		for _, r := range a.ranks[w] {
			if int(r.topic) == t {
				m = a.of[r.of]
				m.put(r.rank, float64(x.Counts[i]))
			}
		}
	}
	if m != nil {
		before := len(m.vals)
		m.done(a.weight)
		a.held += len(m.vals) - before
	}
}

// Flush implements Adder.
func (a *PartsAdder) Flush(ctx context.Context, sum []int64) error {
	a.held = 0
	for i, sum := range a.parts.Sums(sum) {
		if err := a.of[i].Flush(ctx, sum); err != nil {
			return err
		}
	}
	return nil
}

// The body of Parts: Least, how many topics have their words counted together, and of each its number, the
// length of its plan, and its plan; and the Pass.

func (p *Parts) MarshalBinary() ([]byte, error) {
	le := binary.LittleEndian
	b := le.AppendUint32(le.AppendUint64(nil, math.Float64bits(p.Least)), uint32(len(p.Of)))
	for _, m := range p.Of {
		x, err := m.MarshalBinary()
		if err != nil {
			return nil, err
		}
		b = append(le.AppendUint64(le.AppendUint32(b, uint32(m.Topic)), uint64(len(x))), x...)
	}
	x, err := p.Pass.MarshalBinary()
	return seal(kindParts, append(b, x...)), err
}

func readParts(b []byte) (*Parts, error) {
	r := fields.Reader{B: b}
	p := &Parts{Least: r.F64()}
	for range r.U32() {
		topic := r.U32()
		plan, err := ReadPlan(r.Take(r.U64()))
		if err != nil {
			return nil, err
		}
		m, ok := plan.(*Moment)
		if !ok {
			return nil, errors.New("the words of a topic are counted by another plan")
		}
		p.Of = append(p.Of, PartMoment{int(topic), m})
	}
	plan, err := ReadPlan(r.B)
	if err != nil {
		return nil, err
	}
	var ok bool
	if p.Pass, ok = plan.(*Pass); !ok || p.Pass.Task != Compare || len(p.Pass.Pairs) > 0 {
		return nil, errors.New("the tokens by topic are found by another plan")
	}
	seen := map[int]bool{}
	for _, m := range p.Of {
		if m.Topic >= p.Pass.Topics.K || seen[m.Topic] || m.all != p.Pass.Topics.N {
			return nil, fmt.Errorf("topic %d of %d, once or twice, with %d words of %d", m.Topic, p.Pass.Topics.K, m.all, p.Pass.Topics.N)
		}
		seen[m.Topic] = true
	}
	if !(p.Least >= 0) {
		return nil, fmt.Errorf("a document counts that has %v tokens", p.Least)
	}
	return p, nil
}
