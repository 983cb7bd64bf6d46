package refine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

const (
	leastAlpha = 1e-3    // keeps the prior of a topic that hardly any document has proper
	mostParts  = 8       // of a round, for as many goroutines
	mostTokens = 1 << 20 // of a part before it is drained: float32 still holds a hundredth of a token
	smoothing  = 0.01    // the share of the unigram distribution in the first B and in scores of hidden tokens
	foldIn     = 10      // steps that find the first topic counts of a document
	// leastWeight is what the weight of a topic in a document does not fall below when a
	// token is left out of it. It is far below α: a topic that no other token of the
	// document supports gets next to nothing of this one.
	leastWeight = 1e-8
	rowsAtOnce  = 256 // of a matrix, by a goroutine
)

// fitter is the state of one refinement.
type fitter struct {
	Passes
	workers int
	n, k    int   // k counts the columns of everything, those of merged topics among them
	want    int   // topics
	alive   []int // the columns of the topics that there are, ascending
	origin  []int // for each of them, the column of the start that has most of it
	settled int   // passes until the last merge

	docs   *corpus.Encoded
	info   corpus.Info // of docs
	rounds [][]int     // the blocks of docs by round and part
	watch  bool        // documents are watched
	seen   census
	keys   []uint64 // of the documents

	alpha    []float64
	alphaSum float64
	rows     *estep.Rows    // N×K, the topics
	sums     blas64.General // N×K, the tokens by word and topic that the topics are made from
	fresh    blas64.General // N×K, those that a sweep adds up
	unigram  []float32      // N: p(word)
	totals   []float64      // K: β·N + the tokens of each topic
	step     estep.Step     // of the pass, without the sums
	prior    []float32      // α, padded
	state    docState
	parts    []*estep.Rows // what the parts of a round add up until it is drained
	score    Score
	work     []worker // by goroutine
}

// census is what there is in the documents.
type census struct {
	docs    int       // that are not empty
	watched int       // of these
	tokens  int64     // of all
	hidden  int64     // of those watched
	words   []float64 // the tokens of each word
}

// begin counts the documents and makes the first α and B.
func (f *fitter) begin(ctx context.Context, docs corpus.Source, start Start) error {
	if err := f.open(ctx, docs); err != nil {
		return err
	}
	if err := f.count(ctx); err != nil {
		return err
	}
	if f.seen.tokens == 0 {
		return errors.New("the documents hold no tokens")
	}
	padded := estep.Padded(f.k)
	f.step = estep.Step{Floor: make([]float32, padded), Totals: make([]float32, padded), Beta: float32(f.Beta)}
	f.prior, f.alpha, f.totals = make([]float32, padded), make([]float64, f.k), make([]float64, f.k)
	f.alive, f.origin = make([]int, f.k), make([]int, f.k)
	first := f.Alpha
	if first == 0 {
		first = alphaSum / float64(f.want)
	}
	for t := range f.alpha {
		f.alive[t], f.origin[t], f.alpha[t] = t, t, first
	}
	f.sums, f.fresh = linalg.NewGeneral(f.n, f.k), linalg.NewGeneral(f.n, f.k)
	f.rows = estep.NewRows(f.n, f.k)
	all := float64(f.seen.tokens) + f.Beta*float64(f.n)
	f.unigram = make([]float32, f.n)
	for i := range f.n {
		row, from := f.rows.Row(i), start.B.RawRowView(i)
		unigram := (f.seen.words[i] + f.Beta) / all
		for t := range row {
			row[t] = float32((1-smoothing)*from[t] + smoothing*unigram)
		}
		f.unigram[i] = float32(unigram)
	}
	f.parts = make([]*estep.Rows, partCount(f.info.Nonzeros, f.n))
	for i := range f.parts {
		f.parts[i] = estep.NewRows(f.n, f.k)
	}
	return nil
}

// count takes the census of the documents, and decides whether some are watched.
func (f *fitter) count(ctx context.Context) error {
	f.watch = f.Gain >= 0
	f.keys = make([]uint64, f.info.Documents)
	parts := make([]census, partCount(f.info.Nonzeros, f.n))
	for i := range parts {
		parts[i].words = make([]float64, f.n)
	}
	err := f.sweep(ctx, func(w *worker, i int) error {
		p := parts[i] // the parts share lines of the cache
		for d := range w.block.Docs() {
			key := w.block.Key(d)
			f.keys[w.block.First+d] = key
			words, counts := w.block.Doc(d)
			if len(words) == 0 {
				continue
			}
			p.docs++
			for t, x := range counts {
				p.tokens += int64(x)
				p.words[words[t]] += float64(x)
			}
			if w.load(d, f.watches(key)); len(w.hidden.words) > 0 {
				p.watched++
				for _, x := range w.hidden.counts {
					p.hidden += int64(x)
				}
			}
		}
		parts[i] = p
		return nil
	}, nil)
	if err != nil {
		return err
	}
	f.seen = parts[0]
	for _, p := range parts[1:] {
		f.seen.docs += p.docs
		f.seen.watched += p.watched
		f.seen.tokens += p.tokens
		f.seen.hidden += p.hidden
		floats.Add(f.seen.words, p.words)
	}
	if !holdout.Enough(f.seen.hidden) {
		f.watch, f.seen.watched, f.seen.hidden = false, 0, 0
	}
	return nil
}

// partCount returns how many parts rounds are cut into, a power of two, so that as
// many goroutines are busy to the end. Each part costs 4·N·K bytes, and the time to add
// them up.
func partCount(nnz int64, n int) int {
	parts := 1
	for parts < mostParts && int64(parts)*32*int64(n) < nnz {
		parts *= 2
	}
	return parts
}

// prepare sets what a sweep needs: the topics, and as float32 numbers α and the totals.
func (f *fitter) prepare() {
	f.step.B = f.rows
	clear(f.prior)
	clear(f.step.Floor)
	for k := range f.step.Totals {
		f.step.Totals[k] = 1
	}
	f.alphaSum = 0
	for _, k := range f.alive {
		f.prior[k], f.step.Floor[k], f.step.Totals[k] = float32(f.alpha[k]), leastWeight, float32(f.totals[k])
		f.alphaSum += f.alpha[k]
	}
}

// drain moves what the parts hold to fresh.
func (f *fitter) drain(ctx context.Context) error {
	return run.Chunks(ctx, f.n, rowsAtOnce, f.workers, func(_, _, lo, hi int) error {
		estep.Drain(f.fresh.Data, f.fresh.Stride, f.parts, lo, hi)
		return nil
	})
}

// learn makes the sums from those before, times keep, and from fresh ones, times scale,
// and the topics from the sums. It clears the fresh ones.
func (f *fitter) learn(ctx context.Context, keep, scale float64) error {
	totals := linalg.NewGeneral(run.Count(f.n, rowsAtOnce), f.k)
	err := run.Chunks(ctx, f.n, rowsAtOnce, f.workers, func(_, chunk, lo, hi int) error {
		total := linalg.Row(totals, chunk)
		for i := lo; i < hi; i++ {
			sums, fresh := linalg.Row(f.sums, i), linalg.Row(f.fresh, i)[:f.k]
			for t, v := range sums {
				v = keep*v + scale*fresh[t]
				sums[t] = v
				total[t] += v
			}
			clear(fresh)
		}
		return nil
	})
	if err != nil {
		return err
	}
	clear(f.totals)
	for i := range totals.Rows {
		floats.Add(f.totals, linalg.Row(totals, i))
	}
	scales := make([]float64, f.k)
	for _, t := range f.alive {
		f.totals[t] += f.Beta * float64(f.n)
		if v := f.totals[t]; !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("topic %d has %v tokens", t, v)
		}
		scales[t] = 1 / f.totals[t]
	}
	return run.Chunks(ctx, f.n, rowsAtOnce, f.workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			row := f.rows.Row(i)[:f.k]
			for t, v := range linalg.Row(f.sums, i) {
				row[t] = float32((v + f.Beta) * scales[t])
			}
		}
		return nil
	})
}
