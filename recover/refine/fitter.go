package refine

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/run"
)

const (
	mostSlots  = 8       // for as many goroutines
	mostTokens = 1 << 20 // of a word in a part: float32 still holds a tenth of a token beside them
	foldIn     = 10      // steps that find the first topic counts of a document
	// leastWeight is what the weight of a topic in a document does not fall below when a
	// token is left out of it. It is far below α: a topic that no other token of the
	// document supports gets next to nothing of this one.
	leastWeight = 1e-8
)

// fitter is the state of one refinement.
type fitter struct {
	Passes
	topics

	docs  *corpus.Encoded
	info  corpus.Info // of docs
	cuts  []int       // the blocks of docs by part
	slots int         // how many parts are read at once
	watch bool        // documents are watched
	seen  census
	keys  []uint64 // of the documents

	weights []float64 // of the documents as shares of the largest; nil: 1 each
	unit    float64   // the largest weight
	first   []float32 // the topic counts to begin with, M×K; nil: to be found

	step   estep.Step // of the pass, without the sums
	alphas []float32  // α, padded
	state  docState
	parts  []*estep.Rows // by slot: what a sweep adds up until it is drained
	keep   float64       // what the next drain multiplies the sums by
	scale  float64       // and what it multiplies the parts by
	score  Score
	work   []worker // by goroutine
}

// census is what there is in the documents that are not empty and have a weight.
type census struct {
	docs     int
	watched  int   // of these
	tokens   int64 // of all
	hidden   int64 // of those watched
	nonzeros int64

	// Each document times its weight, as a share of the largest.
	weight float64
	all    [2]float64 // tokens by half of the documents
	halves [2]float64 // the same without hidden ones
	words  []float64  // the tokens of each word
	df     []float64  // the documents of each word
}

// learned returns the tokens that are not hidden, times the weights.
func (c *census) learned() float64 { return c.halves[0] + c.halves[1] }

// begin counts the documents and makes the first topics.
func (f *fitter) begin(ctx context.Context, docs corpus.Source, start Start) error {
	if err := f.open(ctx, docs); err != nil {
		return err
	}
	if err := f.count(ctx); err != nil {
		return err
	}
	if f.seen.tokens == 0 {
		return errNoTokens
	}
	if f.first = start.Counts; f.first != nil && len(f.first) != f.info.Documents*f.k {
		return fmt.Errorf("%d topic counts for %d documents and %d topics", len(f.first), f.info.Documents, f.k)
	}
	padded := estep.Padded(f.k)
	f.step = estep.Step{Floor: make([]float32, padded), Totals: make([]float32, padded), Beta: float32(f.beta)}
	f.alphas = make([]float32, padded)
	most := slices.Max(f.seen.words)
	floats.Scale(f.unit, f.seen.words)
	if err := f.make(ctx, start, f.seen.words); err != nil {
		return err
	}
	// A word has few enough tokens in a part for float32.
	f.share(max(partCount(f.info.Nonzeros, f.n), int(most/mostTokens)+1))
	f.parts = make([]*estep.Rows, f.slots)
	for i := range f.parts {
		f.parts[i] = estep.NewRows(f.n, f.k)
	}
	return nil
}

// count takes the census of the documents, and decides whether some are watched.
func (f *fitter) count(ctx context.Context) error {
	f.watch = f.Hides()
	f.keys = make([]uint64, f.info.Documents)
	f.share(partCount(f.info.Nonzeros, f.n))
	slots := make([]census, f.slots)
	for i := range slots {
		slots[i].words, slots[i].df = make([]float64, f.n), make([]float64, f.n)
	}
	f.seen.words, f.seen.df = make([]float64, f.n), make([]float64, f.n)
	err := f.sweep(ctx, func(w *worker, slot int) error {
		s := slots[slot] // a copy: counting in neighbouring slots would share cache lines
		for d := range w.block.Docs() {
			key := w.block.Key(d)
			f.keys[w.block.First+d] = key
			s.add(w, d, key, f.weight(w.block.First+d), f.watches(key))
		}
		slots[slot] = s
		return nil
	}, func(n int) error {
		for i := range slots[:n] {
			f.seen.merge(&slots[i])
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !holdout.Enough(f.seen.hidden) {
		f.watch, f.seen.watched, f.seen.hidden, f.seen.halves = false, 0, 0, f.seen.all
	}
	return nil
}

// add counts document d of a block.
func (c *census) add(w *worker, d int, key uint64, weight float64, watched bool) {
	words, counts := w.block.Doc(d)
	if len(words) == 0 || weight == 0 {
		return
	}
	c.docs++
	c.weight += weight
	c.nonzeros += int64(len(words))
	tokens, hidden := int64(0), int64(0)
	for t, x := range counts {
		tokens += int64(x)
		c.words[words[t]] += float64(x) * weight
		c.df[words[t]] += weight
	}
	if watched && tokens > 1 {
		c.watched++
		hidden = holdout.Hidden(tokens)
	}
	c.tokens += tokens
	c.hidden += hidden
	c.all[half(key)] += float64(tokens) * weight
	c.halves[half(key)] += float64(tokens-hidden) * weight
}

// merge adds what another census has counted, and empties that.
func (c *census) merge(o *census) {
	c.docs += o.docs
	c.watched += o.watched
	c.tokens += o.tokens
	c.hidden += o.hidden
	c.nonzeros += o.nonzeros
	c.weight += o.weight
	for h := range c.halves {
		c.halves[h] += o.halves[h]
		c.all[h] += o.all[h]
	}
	floats.Add(c.words, o.words)
	floats.Add(c.df, o.df)
	clear(o.words)
	clear(o.df)
	*o = census{words: o.words, df: o.df}
}

// partCount returns how many parts the documents are cut into at least, a power of two,
// for as many goroutines. More parts take longer to add up.
func partCount(nnz int64, n int) int {
	parts := 1
	for parts < mostSlots && int64(parts*parts*parts)*24*int64(n) < nnz {
		parts *= 2
	}
	return parts
}

// prepare sets what a sweep needs: the topics, and as float32 numbers α and the totals.
func (f *fitter) prepare() {
	f.step.B = f.rows
	clear(f.alphas)
	clear(f.step.Floor)
	for k := range f.step.Totals {
		f.step.Totals[k] = 1
	}
	for _, k := range f.alive {
		f.alphas[k], f.step.Floor[k] = float32(f.alpha), leastWeight
		// A topic may have less than the token that is left out of it.
		f.step.Totals[k] = float32(max(f.totals[k], 2))
	}
}

// drain adds what the first n parts hold to the sums.
func (f *fitter) drain(ctx context.Context, n int) error {
	err := run.Chunks(ctx, f.n, rowsAtOnce, f.workers, func(_, _, lo, hi int) error {
		estep.Drain(f.sums.Data, f.sums.Stride, f.keep, f.scale, f.parts[:n], lo, hi)
		return nil
	})
	f.keep = 1
	return err
}
