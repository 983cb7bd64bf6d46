package main

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/metrics"
)

const (
	topWords = 20
	smooth   = 0.01 // share of the unigram distribution in the topics scored
	priorSum = 5.0  // Σα of the common fold-in
	steps    = 100  // of it
)

// evaluator scores any topics over the corpus' vocabulary in the same way.
type evaluator struct {
	data
	workers  int
	unigram  []float64 // of the training tokens, each word half a token more
	unsmooth []float64 // without that, but never 0
}

func newEvaluator(d data, workers int) (*evaluator, error) {
	e := &evaluator{data: d, workers: workers}
	if d.hidden.Tokens() == 0 {
		return nil, fmt.Errorf("the documents held out have no hidden tokens")
	}
	tf := d.train.WordCounts()
	e.unigram, e.unsmooth = make([]float64, len(tf)), make([]float64, len(tf))
	total, all := float64(d.train.Tokens())+0.5*float64(len(tf)), 0.0
	for i, x := range tf {
		e.unigram[i] = (float64(x) + 0.5) / total
		e.unsmooth[i] = max(float64(x)/float64(d.train.Tokens()), math.Nextafter(1, 2)-1)
		all += e.unsmooth[i]
	}
	for i := range e.unsmooth {
		e.unsmooth[i] /= all
	}
	return e, nil
}

func (e *evaluator) unigramLL() float64 {
	sum := 0.0
	for i, x := range e.hidden.WordCounts() {
		if x > 0 {
			sum += float64(x) * math.Log(e.unigram[i])
		}
	}
	return sum / float64(e.hidden.Tokens())
}

type scores struct{ ll, own, npmi, dissim, spec, hoyer, uniq1 float64 }

// score measures topics b (N×K) and, if alpha is not nil, the prior.
func (e *evaluator) score(ctx context.Context, b *mat.Dense, alpha []float64) (s scores, err error) {
	pairs, err := cooc.CountPairs(ctx, e.train, metrics.TopUnion(b, topWords))
	if err != nil {
		return s, err
	}
	npmi, err := metrics.NPMI(b, pairs, topWords)
	if err != nil {
		return s, err
	}
	dissim, err := metrics.Dissimilarity(b, topWords)
	if err != nil {
		return s, err
	}
	spec, err := metrics.Specificity(b, e.unsmooth)
	if err != nil {
		return s, err
	}
	hoyer, err := metrics.Sparsity(b)
	if err != nil {
		return s, err
	}
	s.npmi, s.dissim, s.spec, s.hoyer = npmi.Mean, dissim.Mean, spec.Mean, hoyer.Mean
	_, k := b.Dims()
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
			s.uniq1 += 1 / float64(k)
		}
	}
	p := mat.NewDense(len(e.unigram), k, nil)
	for i, u := range e.unigram {
		for t, v := range b.RawRowView(i) {
			p.Set(i, t, (1-smooth)*v+smooth*u)
		}
	}
	flat := make([]float64, k)
	for t := range flat {
		flat[t] = priorSum / float64(k)
	}
	s.ll = e.completion(p, flat, steps)
	s.own = math.NaN()
	if alpha != nil {
		s.own = e.completion(p, alpha, 30)
	}
	return s, ctx.Err()
}

// completion returns the log-likelihood of a hidden token. Documents are summed up
// in their order, whichever goroutine scored them.
func (e *evaluator) completion(p *mat.Dense, alpha []float64, steps int) float64 {
	docs := e.observed.NumDocs()
	lls := make([]float64, docs)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(max(e.workers, 2), docs) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			theta, sum := make([]float64, len(alpha)), make([]float64, len(alpha))
			for d := int(next.Add(1)) - 1; d < docs; d = int(next.Add(1)) - 1 {
				for t := range theta {
					theta[t] = 1 / float64(len(theta))
				}
				words, counts := e.observed.Doc(d)
				for range steps {
					clear(sum)
					for i, w := range words {
						row := p.RawRowView(int(w))
						z := float64(counts[i]) / vec.Dot(theta, row)
						for t, v := range row {
							sum[t] += z * v
						}
					}
					total := 0.0
					for t, v := range sum {
						theta[t] = alpha[t] + theta[t]*v
						total += theta[t]
					}
					for t := range theta {
						theta[t] /= total
					}
				}
				words, counts = e.hidden.Doc(d)
				for i, w := range words {
					lls[d] += float64(counts[i]) * math.Log(vec.Dot(theta, p.RawRowView(int(w))))
				}
			}
		}()
	}
	wg.Wait()
	total := 0.0
	for _, v := range lls {
		total += v
	}
	return total / float64(e.hidden.Tokens())
}
