package refine

import (
	"context"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/internal/sums"
)

// scoreOf returns the score of the topics before a pass.
func scoreOf(a *sums.Answer) Score {
	return Score{LogLik: a.LogLik / a.Scored, Objective: math.NaN(), HeldOut: a.Hidden / a.HiddenScored} // NaN without any
}

// price sets the costs of the pairs to those that a pass found.
func price(pairs []merged, a *sums.Answer) {
	for i := range pairs {
		pairs[i].cost = a.Cost(i)
	}
}

// merge merges half of the topics that are too many, by the costs of the pairs, or all if it is
// the last time; then sums that find nothing but costs are added up until that is done.
func (f *batch) merge(ctx context.Context, pairs []merged, last bool) error {
	for {
		left := len(f.alive) - f.want
		chosen := cheapest(pairs, (left+1)/2)
		if err := f.join(ctx, chosen); err != nil {
			return err
		}
		f.rename(chosen)
		if err := f.compact(ctx); err != nil {
			return err
		}
		if err := f.learn(ctx); err != nil {
			return err
		}
		if left = len(f.alive) - f.want; left == 0 || !last {
			return nil
		}
		var err error
		if pairs, err = f.similar(ctx, mergeTried*left); err != nil {
			return err
		}
		p := f.plan(sums.Compare, f.Steps)
		p.Pairs = bare(pairs)
		a, err := f.sum(ctx, p)
		if err != nil {
			return err
		}
		price(pairs, a)
	}
}

// leave notes that a pass has left weights of the documents.
func (f *batch) leave(p *sums.Pass) (err error) {
	if !p.Keep {
		return nil
	}
	f.after, _, err = sums.KeyOf(p)
	f.columns = make([]int32, f.k)
	for t := range f.columns {
		f.columns[t] = int32(t)
	}
	return err
}

// rename says what the topics of the pass before are after those of the pairs have become one.
func (f *batch) rename(pairs []merged) {
	for i, c := range f.columns {
		for _, p := range pairs {
			if int(c) == p.From {
				c = int32(p.Into)
			}
		}
		f.columns[i] = int32(slices.Index(f.alive, int(c)))
	}
}
