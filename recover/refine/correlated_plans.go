package refine

import (
	"context"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/sums"
)

// correlatedSteps are those of a document without families: those of a pass, and of the last read.
const correlatedSteps, correlatedLastSteps = 6, 12

// correlatedPlan returns a plan under the logistic-normal prior.
func (f *plans) correlatedPlan(task sums.Task, steps, turn int) *sums.Correlated {
	p := f.plan(task, steps)
	if f.family == nil {
		p.Least = 0
	}
	return &sums.Correlated{Pass: p, Prior: f.normal, Families: f.family, Turn: int32(turn), Informs: informs(f.seen.all.Docs)}
}

// correlated implements documents.
func (f *plans) correlated(ctx context.Context, t int, closing bool) (Score, logits, error) {
	steps := correlatedSteps
	if f.family != nil {
		steps = f.Steps
	}
	p := f.correlatedPlan(sums.Learn, steps, t)
	p.Pass.Hide = f.seen.hides && !closing
	if f.seen.all.Docs >= manyDocs {
		p.Pass.Scored = scoredOf
	}
	a, m, err := f.read(ctx, p)
	if err != nil {
		return Score{}, logits{}, err
	}
	k := f.normal.K()
	out := newLogits(k)
	out.weight, out.observed, out.full = m.Weight, m.Observed, m.Full
	copy(out.mean, m.Mean)
	for i := range k {
		for j := range k {
			linalg.Row(out.second, i)[j] = m.Second.At(i, j)
		}
	}
	err = f.take(ctx, a, false)
	if err == nil {
		err = f.learn(ctx)
	}
	return scoreOf(a), out, err
}

// read adds up a plan under the logistic-normal prior.
func (f *plans) read(ctx context.Context, p *sums.Correlated) (*sums.Answer, *sums.LogitMoments, error) {
	sum, err := f.docs.Sum(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	return p.Read(sum)
}
