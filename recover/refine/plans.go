package refine

import (
	"context"

	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/sums"
)

// plans are documents that are added up in whole numbers, wherever they are, by plans of package
// sums.
type plans struct {
	*topics
	Batch
	docs   sums.Documents
	priced []merged // with the costs that the last pass found; nil: none
}

// plan returns a pass with the topics that there are.
func (f *plans) plan(task sums.Task, steps int) *sums.Pass {
	p := &sums.Pass{
		Task: task, Topics: f.rows, Alpha: float32(f.alpha), Begin: make([]float32, f.k), Steps: steps,
		Leave: true, Least: f.least(), Unigram: f.unigram, Scored: 1, Every: f.sample(), Totals: f.totals,
		Words: f.seen.allWords, Docs: int64(f.seen.all.Docs), Weights: f.seen.weights,
	}
	for t, v := range f.totals {
		p.Begin[t] = float32(max(v/f.seen.unit, 1) / float64(f.seen.all.Tokens))
	}
	return p
}

// least returns the tokens with which a document keeps a block of topics; 0: it has all.
func (f *plans) least() float32 {
	if f.groups == nil || !f.sparse() {
		return 0
	}
	return f.leastOfBlock()
}

// sum adds up a plan.
func (f *plans) sum(ctx context.Context, p *sums.Pass) (*sums.Answer, error) {
	sum, err := f.docs.Sum(ctx, p)
	if err != nil {
		return nil, err
	}
	return p.Read(sum)
}

// scoreOf returns the score of the topics before a pass. HeldOut is NaN without hidden tokens.
func scoreOf(a *sums.Answer) Score {
	return Score{LogLik: a.LogLik / a.Scored, HeldOut: a.Hidden / a.HiddenScored}
}

// pass implements documents. A pass is one plan, with what merging will cost.
func (f *plans) pass(ctx context.Context, t turn) (Score, error) {
	p := f.plan(sums.Learn, f.Steps)
	p.Hide, p.Leave = f.seen.hides && !t.closing, !t.first
	if f.seen.all.Docs >= manyDocs {
		p.Scored = scoredOf
	}
	var pairs []merged
	if t.merge && !t.first { // the topics of the start have no tokens by which to tell
		var err error
		if pairs, err = f.similar(ctx, mergeTried*(len(f.alive)-f.want)); err != nil {
			return Score{}, err
		}
		p.Pairs = bare(pairs)
	}
	a, err := f.sum(ctx, p)
	if err == nil {
		err = f.take(ctx, a, !t.begins && !t.closing)
	}
	if err != nil {
		return Score{}, err
	}
	f.priced = price(pairs, a)
	return scoreOf(a), f.learn(ctx)
}

// split implements documents.
func (f *plans) split(ctx context.Context, k int) error {
	pass := f.plan(sums.Compare, f.Steps)
	pass.Hide = f.seen.hides
	children, err := f.divided(ctx, k, pass, func(p *sums.Parts) ([]int64, error) { return f.docs.Sum(ctx, p) })
	if err != nil {
		return err
	}
	before := f.totals
	by, err := f.grow(ctx, children)
	for t, v := range before {
		for _, c := range by.below[t] {
			f.totals[c] = v * by.shares[c]
		}
	}
	return err
}

// take sets the sums to the counts of a pass, over-relaxed if far.
func (f *plans) take(ctx context.Context, a *sums.Answer, far bool) error {
	return parallel.Chunks(ctx, f.n, rowsAtOnce, f.workers, func(_, _, lo, hi int) error {
		fresh := make([]float64, f.k)
		for i := lo; i < hi; i++ {
			a.Counts(i, fresh)
			row := f.sums.Row(i)
			for t, v := range fresh {
				if far {
					v = relax(float64(row[t]), v)
				}
				row[t] = float32(v)
			}
		}
		return nil
	})
}

// price sets the costs of the pairs to those that a plan found.
func price(pairs []merged, a *sums.Answer) []merged {
	for i := range pairs {
		pairs[i].cost = a.Cost(i)
	}
	return pairs
}

// candidates implements documents. Costs that the pass has not found take a plan.
func (f *plans) candidates(ctx context.Context, n int) (pairs []merged, err error) {
	if pairs, f.priced = f.priced, nil; pairs != nil {
		return pairs, nil
	}
	if pairs, err = f.similar(ctx, n); err != nil {
		return nil, err
	}
	p := f.plan(sums.Compare, f.Steps)
	p.Pairs = bare(pairs)
	a, err := f.sum(ctx, p)
	if err != nil {
		return nil, err
	}
	return price(pairs, a), nil
}

// joined implements documents. Columns of topics that are gone are dropped at once.
func (f *plans) joined(context.Context, []merged, bool) error {
	f.compact()
	return nil
}

// last implements documents.
func (f *plans) last(ctx context.Context, res *Result) (score Score, err error) {
	steps := max(lastSteps, f.Steps)
	var a *sums.Answer
	switch {
	case f.normal == nil:
		a, err = f.sum(ctx, f.plan(sums.Finish, steps))
	case f.family == nil:
		a, _, err = f.read(ctx, f.correlatedPlan(sums.Finish, correlatedLastSteps, -1))
	default:
		a, _, err = f.read(ctx, f.correlatedPlan(sums.Finish, steps, -1))
	}
	if err != nil {
		return Score{}, err
	}
	res.A, res.Alone = a.Moments(), a.Alone()
	return scoreOf(a), f.take(ctx, a, false)
}
