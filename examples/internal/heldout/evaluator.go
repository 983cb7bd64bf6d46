package heldout

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/metrics"
)

const (
	// TopWords is the length of the lists of top words.
	TopWords = 20

	smoothing = 0.01  // share of the unigram distribution in the topics
	alphaSum  = 5.0   // of the prior of the fold-in
	steps     = 100   // of the fold-in
	tol       = 1e-15 // steps are taken until nothing moves at all
)

// Evaluator scores topics over the vocabulary of a Split. It is safe for concurrent
// use.
type Evaluator struct {
	split   Split
	unigram []float64 // of the training tokens, with half a token more for each word
	opt     infer.Options
}

// NewEvaluator prepares to score topics on s, which Check finds in order. workers
// bounds the goroutines (0: GOMAXPROCS); it changes no score.
func NewEvaluator(s Split, workers int) *Evaluator {
	e := &Evaluator{split: s, unigram: make([]float64, s.Train.NumWords()), opt: infer.Options{Workers: workers}}
	total := float64(s.Train.Tokens()) + 0.5*float64(len(e.unigram))
	for i, n := range s.Train.WordCounts() {
		e.unigram[i] = (float64(n) + 0.5) / total
	}
	return e
}

// Unigram returns the log-likelihood of a hidden token under the unigram
// distribution: what topics must exceed.
func (e *Evaluator) Unigram() float64 {
	sum := 0.0
	for i, n := range e.split.Held.WordCounts() {
		sum += float64(n) * math.Log(e.unigram[i])
	}
	return sum / float64(e.split.Held.Tokens())
}

// LogLikelihood returns the mean of ln p(token) over the hidden tokens. b (N×K) is
// scaled as by Normalise and mixed with 1 % of the unigram distribution. The topic
// proportions of a document are found in the observed half, by 100 steps of
//
//	θ_k ∝ α_k + Σ_w n_w φ_wk,  φ_wk = θ_k b_wk / Σ_l θ_l b_wl,
//
// from those of α, which they remain in a document without observed tokens. alpha
// holds K numbers above 0; nil means 5/K for each topic.
func (e *Evaluator) LogLikelihood(ctx context.Context, b *mat.Dense, alpha []float64) (float64, error) {
	b, err := e.normalise(b)
	if err != nil {
		return 0, err
	}
	smooth, err := infer.Smooth(b, e.unigram, smoothing)
	if err != nil {
		return 0, err
	}
	if alpha == nil {
		_, k := b.Dims()
		alpha = slices.Repeat([]float64{alphaSum / float64(k)}, k)
	}
	fold, err := infer.MAP{EM: true, Steps: steps, Tol: tol}.Prepare(ctx, infer.Topics{B: smooth, Alpha: alpha}, e.opt)
	if err != nil {
		return 0, err
	}
	h, err := infer.Completion(ctx, fold, smooth, e.split.Observed, e.split.Held, e.opt)
	if err != nil {
		return 0, err
	}
	return h.PerToken, nil
}

// Words returns two measures of the 20 words of each topic with the largest weights
// in b (N×K): the mean NPMI of their pairs in the training documents, by documents
// that hold both words, −1 for a pair that is in none; and how many of the 20 are in
// no other topic's list. Both are means over topics. Of equal weights that of the
// word with the lower number comes first.
func (e *Evaluator) Words(ctx context.Context, b *mat.Dense) (npmi, unique float64, err error) {
	if b, err = e.normalise(b); err != nil {
		return 0, 0, err
	}
	pairs, err := cooc.CountPairs(ctx, e.split.Train, metrics.TopUnion(b, TopWords))
	if err != nil {
		return 0, 0, err
	}
	r, err := metrics.Evaluate(ctx, metrics.Factors{B: b, Pairs: pairs, TopN: TopWords})
	if err != nil {
		return 0, 0, err
	}
	return r.NPMI.Mean, r.Dissimilarity.Mean, nil
}

func (e *Evaluator) normalise(b *mat.Dense) (*mat.Dense, error) {
	if n, _ := b.Dims(); n != len(e.unigram) {
		return nil, fmt.Errorf("topics over %d words for a vocabulary of %d", n, len(e.unigram))
	}
	return Normalise(b), nil
}

// Normalise returns a copy of b with 0 for what is negative or no number, and with
// columns that sum to 1; all words are equally probable in a column without any.
func Normalise(b *mat.Dense) *mat.Dense {
	n, k := b.Dims()
	out, sums := mat.NewDense(n, k, nil), make([]float64, k)
	for i := range n {
		to := out.RawRowView(i)
		for t, v := range b.RawRowView(i) {
			if v > 0 {
				to[t] = v
				sums[t] += v
			}
		}
	}
	for i := range n {
		row := out.RawRowView(i)
		for t, s := range sums {
			if s > 0 {
				row[t] /= s
			} else {
				row[t] = 1 / float64(n)
			}
		}
	}
	return out
}
