package sums

import (
	"context"
	"fmt"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/holdout"
)

// passAdder has the scratch space of a Pass, which grows with the longest document alone.
type passAdder struct {
	p        *Pass
	all      docstep.Rule  // of all topics
	rule     *docstep.Rule // of those that doc has
	blocks   []uint16      // of them; nil: all
	doc      *docstep.Document
	begin    float32   // the sum of Begin
	weights  []float32 // of all topics, padded; or scratch space, once doc has its own
	costs    []float64
	scales   []float32 // by word: 2^shift
	scoring  float64   // 2^shift of scores
	counting float64   // of documents
	tokens   float64   // of numbers of tokens
	weight   float64   // of doc
	thetas   *ThetaAdder

	// With Least: the blocks of topics as topics of their own.
	coarse     *docstep.Document
	coarseRule docstep.Rule
	coarseT    []float32 // the weights to begin with
}

func (p *Pass) Adder() Adder { return p.adder() }

func (p *Pass) adder() *passAdder {
	k := p.Topics.K
	a := &passAdder{
		p: p, all: p.rule(), doc: docstep.NewDocument(k), weights: make([]float32, p.Topics.Stride),
		costs: make([]float64, len(p.Pairs)), scales: make([]float32, p.Topics.N),
		scoring: power(p.scoreShift()), counting: power(p.docShift()), tokens: power(p.tokenShift()),
	}
	for _, v := range p.Begin {
		a.begin += v
	}
	for i := range a.scales {
		a.scales[i] = float32(power(p.wordShift(i)))
	}
	if t := p.thetas(); t != nil {
		a.thetas = t.Adder()
	}
	if a.rule = &a.all; p.Least > 0 {
		a.coarsen()
	}
	return a
}

func (a *passAdder) Add(ctx context.Context, b *corpus.Block, sum []int64) error {
	to, end := docstep.Sums{Each: a.each(sum)}, sum[len(sum)-passTail:]
	return a.documents(ctx, b, end, func(key uint64) error {
		compare := len(a.p.Pairs) > 0 && holdout.Sampled(key, a.p.Every)
		if a.p.Task == Compare && !compare {
			return nil
		}
		return a.add(compare, holdout.Sampled(key, a.p.Scored), to, sum)
	})
}

// documents loads the documents of a block that are not empty one after the other and calls add for
// each with its key. Of those without a weight it counts the tokens alone.
func (a *passAdder) documents(ctx context.Context, b *corpus.Block, end []int64, add func(key uint64) error) error {
	for d := range b.Docs() {
		if err := ctx.Err(); err != nil {
			return err
		}
		words, counts := b.Doc(d)
		if len(words) == 0 {
			continue
		}
		if err := checkWords(b, d, a.p.Topics.N); err != nil {
			return err
		}
		var err error
		if a.weight, err = a.p.Weights.of(b, d); err != nil {
			return err
		}
		key := b.Key(d)
		a.doc.Load(words, counts, 1, a.p.Hide && holdout.HeldOut(key)) // each number added has the weight
		if a.weight == 0 {
			end[atTokens] += a.doc.Visible.Sum
			end[atHiddenTokens] += a.doc.Hidden.Sum
			continue
		}
		if err := add(key); err != nil {
			return fmt.Errorf("document %s: %w", b.Name(d), err)
		}
	}
	return nil
}

func (a *passAdder) Flush(context.Context, []int64) error { return nil }

// add adds a.doc, also to the costs of pairs if compare, and to the log-likelihood if score.
func (a *passAdder) add(compare, score bool, to docstep.Sums, sum []int64) error {
	p, end := a.p, sum[len(sum)-passTail:]
	total, err := a.weigh()
	if err != nil {
		return err
	}
	if compare {
		if err := a.compare(sum[p.counts()+p.moments():]); err != nil {
			return err
		}
	}
	var loglik, hidden float64
	switch p.Task {
	case Compare:
		return nil
	case Learn:
		loglik, hidden, err = a.doc.Learn(a.rule, to, total, score)
	case Finish:
		n := a.byTopic()
		a.leading(n, sum[p.counts():])
		if at := p.second(sum); a.thetas != nil {
			a.thetas.Document(n, a.blocks, [2][]float64{{1}, {0}}, a.weight, at)
		} else {
			a.moments(total, at)
		}
		loglik, err = a.doc.Finish(a.rule, &to, total)
	}
	if err != nil {
		return err
	}
	a.count(end, &a.doc.Visible, loglik, score, atTokens, atLogLik, atScored)
	a.count(end, &a.doc.Hidden, hidden, true, atHiddenTokens, atHidden, atHiddenScored)
	return nil
}

// count counts tokens, and if scored adds their log-likelihood.
func (a *passAdder) count(end []int64, x *docstep.Tokens, loglik float64, scored bool, atTokens, atLogLik, atScored int) {
	end[atTokens] += x.Sum
	if scored {
		end[atScored] += nearest(float64(x.Sum) * a.weight * a.tokens)
		end[atLogLik] += nearest(loglik * a.weight * a.scoring)
	}
}

// weigh sets the document's weights of the topics, and which blocks of them it keeps, and returns the
// sum of the weights.
func (a *passAdder) weigh() (total float64, err error) {
	p, t := a.p, a.weights[:a.p.Topics.K]
	all := a.total(len(t))
	if p.Least > 0 {
		if err := a.settleBlocks(t, all); err != nil {
			return 0, err
		}
		a.choose()
		all = a.total(a.topics())
		sum := float32(0)
		for _, v := range a.doc.T {
			sum += v
		}
		docstep.Rescale(a.doc.T, a.doc.T, all/sum)
	} else {
		docstep.Rescale(t, p.Begin, all/a.begin)
		copy(a.doc.T, t)
	}
	return float64(all), a.doc.Settle(a.rule, all, p.Steps)
}

// total returns the sum of the weights of a document with some topics.
func (a *passAdder) total(topics int) float32 {
	return float32(float64(a.doc.Visible.Sum) + float64(float64(a.p.Alpha)*float64(topics)))
}

// compare adds to the costs of pairs.
func (a *passAdder) compare(sum []int64) error {
	clear(a.costs)
	if err := a.doc.Compare(a.costs, a.rule, a.p.Pairs, a.p.Totals); err != nil {
		return err
	}
	for i, v := range a.costs {
		sum[i] += nearest(v * a.weight * a.scoring)
	}
	return nil
}

// ahead is how many words before its turn a row of a sum is fetched from memory.
const ahead = 6

// each adds the responsibilities of a word of the document, times its count and the document's
// weight, to the counts by word and topic.
func (a *passAdder) each(sum []int64) func(i int, out []float32, all float32) {
	k, v := a.p.Topics.K, &a.doc.Visible
	row := func(i int) []int64 { return sum[int(v.Words[i])*k:][:k] }
	return func(i int, out []float32, all float32) {
		x := float32(v.Counts[i] * float32(a.weight) * a.scales[v.Words[i]])
		to, next := row(i), row(min(i+ahead, len(v.Words)-1))
		if a.blocks == nil {
			addNearest(to, out, x/all, 2*x, &next[0])
			return
		}
		for j, b := range a.blocks {
			lo := estep.BlockSize * int(b)
			addNearest(to[lo:min(lo+estep.BlockSize, k)], out[estep.BlockSize*j:], x/all, 2*x, &next[lo])
		}
	}
}

// leading adds the share of the topic that has more than half of the document's tokens, n.
func (a *passAdder) leading(n []float32, at []int64) {
	if i, share := docstep.Leading(n); share > 0 {
		at[estep.Column(a.blocks, i)] += nearest(share * a.weight * a.counting)
	}
}

// moments adds the document's moments,
//
//	E[θθᵀ] = (s·θθᵀ + diag θ)/(s + 1)
//
// with s the document's tokens and Σα, total, and θ the weights divided by s.
func (a *passAdder) moments(total float64, at []int64) {
	theta := a.weights[:a.p.Topics.K]
	for t := range theta {
		theta[t] = float32(float64(a.doc.T[t]) / total)
	}
	scale := a.counting * a.weight / (total + 1)
	for t, v := range theta {
		addNearest(at[:len(theta)-t], theta[t:], float32(scale*total*float64(v)), float32(2*a.counting), &at[0])
		at[0] += nearest(scale * float64(v))
		at = at[len(theta)-t:]
	}
}
