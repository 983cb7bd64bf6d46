package main

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/examples/internal/heldout"
	"github.com/jsmf-go/spectral/metrics"
)

// evaluator scores any topics over the corpus' vocabulary in the same way.
type evaluator struct {
	*heldout.Evaluator
	unigram []float64 // of the training tokens, never 0
}

func newEvaluator(d heldout.Split, workers int) *evaluator {
	tf := d.Train.WordCounts()
	e := &evaluator{heldout.NewEvaluator(d, workers), make([]float64, len(tf))}
	all := 0.0
	for i, x := range tf {
		e.unigram[i] = max(float64(x)/float64(d.Train.Tokens()), math.Nextafter(1, 2)-1)
		all += e.unigram[i]
	}
	for i := range e.unigram {
		e.unigram[i] /= all
	}
	return e
}

type scores struct{ ll, own, npmi, dissim, spec, hoyer, uniq1 float64 }

// score measures topics b (N×K) and, if alpha is not nil, the prior.
func (e *evaluator) score(ctx context.Context, b *mat.Dense, alpha []float64) (s scores, err error) {
	if s.npmi, s.dissim, err = e.Words(ctx, b); err != nil {
		return s, err
	}
	spec, err := metrics.Specificity(b, e.unigram)
	if err != nil {
		return s, err
	}
	hoyer, err := metrics.Sparsity(b)
	if err != nil {
		return s, err
	}
	s.spec, s.hoyer = spec.Mean, hoyer.Mean
	lists, err := metrics.TopLists(b, 1)
	if err != nil {
		return s, err
	}
	first := map[int]int{}
	for _, l := range lists {
		first[l[0]]++
	}
	for _, n := range first {
		if n == 1 {
			s.uniq1 += 1 / float64(len(lists))
		}
	}
	if s.ll, err = e.LogLikelihood(ctx, b, nil); err != nil {
		return s, err
	}
	s.own = math.NaN()
	if alpha != nil {
		s.own, err = e.LogLikelihood(ctx, b, alpha)
	}
	return s, err
}
