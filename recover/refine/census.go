package refine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/sums"
)

var errNoTokens = errors.New("the documents hold no tokens")

// census is what there is in the documents that are not empty and have a weight.
type census struct {
	docs, heldOut    int
	tokens, nonzeros int64
	hides            bool // documents are held out

	// Each document times its weight, as a share of the largest.
	weights   []float64 // of all documents, in order; nil: 1 each
	unit      float64   // the largest weight
	weight    float64
	halves    [2]float64 // tokens by half of the documents, without hidden ones
	words, df []float64  // tokens and documents of each word

	// Of all documents, whatever their weight.
	all      *sums.Counts
	allWords []int64 // tokens of each word
}

// learned returns the tokens that are not hidden, times the weights.
func (c *census) learned() float64 { return c.halves[0] + c.halves[1] }

// share returns the weight of document d of all, as a share of the largest.
func (c *census) share(d int) float64 {
	if c.weights == nil {
		return 1
	}
	return c.weights[d]
}

// takeCensus counts documents with n words. With hide some are held out, if they have enough
// tokens to measure a gain.
func takeCensus(ctx context.Context, docs sums.Documents, n int, hide bool) (*census, error) {
	info := docs.Info()
	plan, err := sums.NewCensus(info.DocFrequencies, nil)
	if err != nil {
		return nil, err
	}
	sum, err := docs.Sum(ctx, plan)
	if err != nil {
		return nil, err
	}
	c := &census{words: make([]float64, n), df: make([]float64, n), allWords: make([]int64, n)}
	if c.all, err = plan.Counts(sum); err != nil {
		return nil, err
	}
	copy(c.allWords, c.all.Words)
	desc, err := docs.Describe(ctx)
	if err != nil {
		return nil, err
	}
	if c.weights, c.unit, err = bag.Relative(desc.Weights, info.Documents); err != nil {
		return nil, err
	}
	if c.weights == nil {
		c.docs, c.heldOut, c.tokens, c.nonzeros, c.weight = c.all.Docs, c.all.HeldOut, c.all.Tokens, info.Nonzeros, float64(c.all.Docs)
		for i, x := range c.allWords {
			c.words[i] = float64(x)
		}
		for i, x := range info.DocFrequencies[:min(n, len(info.DocFrequencies))] {
			c.df[i] = float64(x)
		}
		c.hide(hide, c.all.Hidden, c.all.Halves, c.all.HiddenHalves, 1)
	} else if err := c.weigh(ctx, docs, n, hide); err != nil {
		return nil, err
	}
	if c.tokens == 0 {
		return nil, errNoTokens
	}
	return c, nil
}

// hide decides whether documents are held out, which would hide tokens. halves has the tokens by
// half of the documents and hidden those of them to hide, times scale.
func (c *census) hide(asked bool, tokens int64, halves, hidden [2]int64, scale float64) {
	if c.hides = asked && holdout.Enough(tokens); !c.hides {
		c.heldOut, hidden = 0, [2]int64{}
	}
	for h := range halves {
		c.halves[h] = float64(halves[h]-hidden[h]) / scale
	}
}

// weigh counts documents with weights, in fixed point, so that their order does not matter.
func (c *census) weigh(ctx context.Context, docs sums.Documents, n int, hide bool) error {
	e, err := encoded(ctx, docs, n)
	if err != nil {
		return err
	}
	scale := math.Ldexp(1, 61-bits.Len64(uint64(c.all.Tokens)))
	fixed := func(x float64) int64 { return int64(math.RoundToEven(x * scale)) }
	words, df, weight := make([]int64, n), make([]int64, n), int64(0)
	var halves, hidden [2]int64
	hides := int64(0)
	var b corpus.Block
	for i := range e.Blocks() {
		if err := cmp.Or(ctx.Err(), e.Block(i, &b)); err != nil {
			return err
		}
		for d := range b.Docs() {
			share := c.weights[b.First+d]
			ids, counts := b.Doc(d)
			if len(ids) == 0 || share == 0 {
				continue
			}
			c.docs++
			c.nonzeros += int64(len(ids))
			weight += fixed(share)
			tokens := int64(0)
			for t, w := range ids {
				tokens += int64(counts[t])
				words[w] += fixed(float64(counts[t]) * share)
				df[w] += fixed(share)
			}
			c.tokens += tokens
			key := b.Key(d)
			halves[holdout.Half(key)] += fixed(float64(tokens) * share)
			if x := holdout.Hidden(tokens); x > 0 && holdout.HeldOut(key) {
				c.heldOut++
				hides += x
				hidden[holdout.Half(key)] += fixed(float64(x) * share)
			}
		}
	}
	c.weight = float64(weight) / scale
	for i := range words {
		c.words[i], c.df[i] = float64(words[i])/scale, float64(df[i])/scale
	}
	c.hide(hide, hides, halves, hidden, scale)
	return nil
}
