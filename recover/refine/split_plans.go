package refine

import (
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/sums"
)

// momentBytes bounds what the sum of a plan takes that counts words together, unless that of one topic
// takes more.
const momentBytes = 128 << 20

// partSums are the parts that topics have of the documents, as plans add them up.
type partSums struct {
	*plans
	pass  *sums.Pass // by which documents have their tokens by topic
	least float64
	plan  *sums.Parts // that counted the words of the parts
	sum   []int64
	words [][]int32 // of each topic, those that are counted together
	of    []counted
}

// counted is the sum of a moment; nil: none.
type counted struct {
	*sums.Moment
	sum []int64
}

// split implements documents. A plan counts the words of the parts of the documents that topics have, and
// others count those together that tell the documents of a part apart.
func (f *plans) split(ctx context.Context, k int) (err error) {
	p := &partSums{plans: f, pass: f.plan(sums.Compare, f.Steps), words: make([][]int32, f.k), of: make([]counted, f.k)}
	p.pass.Hide = f.seen.hides
	p.plan = p.asks()
	if p.sum, err = f.docs.Sum(ctx, p.plan); err != nil {
		return err
	}
	tokens := make([]float64, f.k)
	for t := range tokens {
		tokens[t] = p.frequencies(t).tokens
	}
	children, err := f.children(ctx, tokens, k, func(asked []int) error { return p.count(ctx, asked) }, func(t, k int) ([]child, error) { return p.divide(ctx, t, k) })
	if err != nil {
		return err
	}
	before := f.totals
	first, shares, err := f.grow(ctx, children)
	for t, v := range before {
		for c := first[t]; c < first[t+1]; c++ {
			f.totals[c] = v * shares[c]
		}
	}
	return err
}

// asks returns a plan of parts.
func (p *partSums) asks() *sums.Parts { return &sums.Parts{Pass: p.pass, Least: p.leastTokens()} }

// frequencies returns those of a topic.
func (p *partSums) frequencies(t int) *frequencies {
	out := &frequencies{df: make([]float64, p.n), shares: make([]float64, p.n)}
	out.docs, out.tokens = p.plan.Frequencies(p.sum, t, out.df, out.shares)
	times := max(1, p.seen.unit) // documents of small weights alone are documents nevertheless
	out.docs *= times
	floats.Scale(times, out.df)
	floats.Scale(times, out.shares)
	return out
}

// count counts the words together of the topics that are to be divided into so many, 0: not, where that is
// not known yet.
func (p *partSums) count(ctx context.Context, asked []int) error {
	df := append(slices.Clone(p.info.DocFrequencies), make([]int, p.n)...)[:p.n]
	plan, size := p.asks(), 0
	sum := func() error {
		if len(plan.Of) == 0 {
			return nil
		}
		sum, err := p.docs.Sum(ctx, plan)
		if err != nil {
			return err
		}
		for i, sum := range plan.Sums(sum) {
			p.of[plan.Of[i].Topic] = counted{plan.Of[i].Moment, sum}
		}
		plan, size = p.asks(), 0
		return nil
	}
	for t, k := range asked {
		if k == 0 {
			continue
		}
		words, idf := p.frequencies(t).telling(k)
		if len(words) < 2*fewWords || slices.Equal(words, p.words[t]) {
			continue
		}
		p.words[t] = words
		m, err := sums.NewMoment(df, idf, words, false, nil)
		if err != nil {
			return err
		}
		if size += 8 * m.Len(); size > momentBytes {
			if err := sum(); err != nil {
				return err
			}
			size = 8 * m.Len()
		}
		plan.Of = append(plan.Of, sums.PartMoment{Topic: t, Moment: m})
	}
	return sum()
}

// divide finds at most k topics of the part of a topic.
func (p *partSums) divide(ctx context.Context, t, k int) ([]child, error) {
	c := p.of[t]
	if c.Moment == nil {
		return nil, nil
	}
	x, _, err := c.Matrix(c.sum)
	if errors.Is(err, cooc.ErrNoDocuments) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return divide(ctx, x, p.words[t], k)
}
