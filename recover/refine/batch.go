package refine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/sums"
)

// Batch fits latent Dirichlet allocation by passes that keep nothing of the documents, unless
// Carry is set. The zero value is ready for use. It is for documents on many machines (package
// jsmf/beam), where [Passes] cannot go; on one machine it gives the same result to the bit on
// the same type of CPU, at two to three times the time of Passes.
//
// A pass goes over all documents with the same topics. It finds each document's topic counts
// from the shares of the topics by a few over-relaxed steps: one of EM, and from then on with a
// token left out of the document's counts, as CVB0Document does it, but in the first pass. Then
// it shares out the document's tokens in the same way. Each responsibility is rounded to a whole
// multiple of a small number, 2⁻⁴⁰ where a word has fewer than four million tokens, before it is
// added up. So sums do not depend on the order of the documents or on who adds up which.
//
// The topics are over-relaxed too, but for the first pass and the last two: the tokens by word
// and topic move 1.8 times as far as the documents say, no number below a tenth of what they
// say.
//
// All the rest is as with Passes: the start, topics that are merged, documents that are watched,
// the end of the passes, and the last read, which finds topic counts by more steps. What merging
// costs is found in the pass before. Weights of documents count as with Passes; documents on
// other machines have none.
//
// Cost: nnz·K·(Steps+1) times a few operations a pass. Documents that are neither encoded
// (corpus.Encoded) nor on other machines are encoded first, in memory. Memory beside that:
// 36·N·K bytes, and 8·N·K for each goroutine, of which there are eight at most. Carry takes
// 8·N·K and, on this machine, 8·K for each document besides.
type Batch struct {
	// N is the largest number of passes; 0 means 60.
	N int

	// Steps is the number of steps that find the topic counts of a document; 0 means 3. With 2
	// a pass takes a tenth less, and the log-likelihood of a token loses some thousandths of a
	// nat.
	Steps int

	// Carry keeps the topic weights of each document from one pass to the next, 4·K bytes for
	// a document. Passes then take no steps but for ten in the first one: they share out the
	// tokens by the weights of the pass before, over-relaxed, and so does the last read. That
	// saves a third of the time on one machine, and less on Beam. On three corpora the log-likelihood of a token was up to .015
	// nats lower than without, but as high as that of Passes, and held-out tokens gained or lost
	// up to .007. Steps must be 0, and documents have no weights.
	Carry bool

	// Alpha, Beta and Gain are those of Passes.
	Alpha, Beta, Gain float64
}

const (
	// relaxed is how much farther than to what the documents say the topics move, as a share of
	// the way there, and leastLeft the share of that number which is left of it at least.
	relaxed, leastLeft = 0.8, 0.1
	// lastSteps find the topic counts of a document that is read the last time.
	lastSteps = 10
)

func (b Batch) withDefaults() Batch {
	p := b.passes().withDefaults()
	b.N, b.Beta, b.Gain = p.N, p.Beta, p.Gain
	if b.Steps == 0 {
		b.Steps = 3
		if b.Carry {
			b.Steps = foldIn
		}
	}
	return b
}

// passes returns the settings that Passes has too.
func (b Batch) passes() Passes { return Passes{N: b.N, Alpha: b.Alpha, Beta: b.Beta, Gain: b.Gain} }

// Validate reports all settings that are out of range, joined into one error.
func (b Batch) Validate() error {
	err := b.passes().Validate()
	if b.Carry && b.Steps != 0 {
		err = errors.Join(err, fmt.Errorf("refine: Steps = %d with Carry; want 0", b.Steps))
	}
	if d := (Batch{}).withDefaults(); b.Steps < 0 || b.Steps > mostSteps {
		err = errors.Join(err, fmt.Errorf("refine: Steps = %d; want 0 for %d, or from 1 to %d", b.Steps, d.Steps, mostSteps))
	}
	return err
}

const mostSteps = 1000

// String names the method and what it was set to.
func (b Batch) String() string {
	b = b.withDefaults()
	if b.Carry {
		return fmt.Sprintf("Batch(%d, carry, %v)", b.N, prior{b.Alpha, b.Beta, b.Gain})
	}
	return fmt.Sprintf("Batch(%d of %d steps, %v)", b.N, b.Steps, prior{b.Alpha, b.Beta, b.Gain})
}

// Hides implements Refiner. It is false where Gain is negative.
func (b Batch) Hides() bool { return b.passes().Hides() }

// Takes implements Refiner. Batch takes all documents.
func (b Batch) Takes(corpus.Source) error { return nil }

// Bytes implements Refiner. What other machines hold is not counted, but as if they were this
// one.
func (b Batch) Bytes(docs, words int, nonzeros int64, k int) int64 {
	d, n, nnz, K := float64(docs), float64(words), float64(nonzeros), float64(k)
	padded := float64(estep.Padded(k))
	// The counts by word and topic, B, p(topic | word) and a sum for each goroutine and the one
	// before; the topics in float32.
	x := 1<<16 + 8*n*K*(4+mostSlots) + 4*n*padded + 60*n + 4*n*mostSlots
	x += pairBytes(K) + encodedBytes(d, n, nnz)
	x += mostSlots * (60*min(corpus.MaxBlockNonzeros, nnz) + 64*min(corpus.MaxBlockDocs, d) + 16*K*K + 200*padded)
	if b.Carry {
		x += 8*d*K + 8*n*K // weights of two passes, and an encoded plan
	}
	return int64(min(x, math.MaxInt64/8))
}

// Refine implements Refiner. Errors are those of Passes.Refine, but for the scratch file; and
// those of the machines that the documents are on.
func (b Batch) Refine(ctx context.Context, docs corpus.Source, start Start, opt Options) (*Result, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	if docs == nil {
		return nil, errors.New("refine: no documents")
	}
	f := &batch{Batch: b.withDefaults()}
	res, err := f.refine(ctx, docs, start, opt)
	if errors.Is(err, sums.ErrLost) { // the documents' weights; they can be made again, once
		res, err = f.refine(ctx, docs, start, opt)
	}
	return res, err
}

// refine makes the whole refinement.
func (f *batch) refine(ctx context.Context, docs corpus.Source, start Start, opt Options) (*Result, error) {
	*f = batch{Batch: f.Batch}
	var err error
	if f.topics, err = newTopics(prior{f.Alpha, f.Beta, f.Gain}, start, opt); err != nil {
		return nil, err
	}
	if err := f.begin(ctx, docs, start); err != nil {
		return nil, fmt.Errorf("refine: %w", err)
	}
	res := &Result{Beta: f.beta, Docs: f.learned.docs, Watched: f.seen.Watched, Tokens: f.learned.tokens}
	return f.fit(ctx, res, f.N, opt, f.pass, f.finish)
}

// batch is the state of one refinement.
type batch struct {
	Batch
	topics
	docs   sums.Documents
	info   corpus.Info // of docs
	seen   *sums.Counts
	counts []int64 // the tokens of each word
	watch  bool    // documents are watched

	weights []float64 // of the documents as shares of the largest; nil: 1 each
	unit    float64   // the largest weight
	learned learned

	// With Carry: the pass that left the documents' weights, and what its topics are now.
	after   sums.Key
	columns []int32
}

// learned is what there is in the documents that are not empty and have a weight.
type learned struct {
	docs             int
	tokens, nonzeros int64

	// Each document times its weight, as a share of the largest.
	weight    float64
	words, df []float64 // the tokens and the documents of each word
}

// begin counts the documents and makes the first topics.
func (f *batch) begin(ctx context.Context, src corpus.Source, start Start) error {
	docs, elsewhere := src.(sums.Documents)
	if !elsewhere {
		e, err := encoded(ctx, src, f.n)
		if err != nil {
			return err
		}
		docs = sums.NewLocal(e, run.Workers(f.workers, mostSlots))
	}
	f.docs, f.info = docs, docs.Info()
	if err := within(f.info, f.n); err != nil {
		return err
	}
	census, err := sums.NewCensus(f.info.DocFrequencies, nil)
	if err != nil {
		return err
	}
	sum, err := docs.Sum(ctx, census)
	if err != nil {
		return err
	}
	if f.seen, err = census.Counts(sum); err != nil {
		return err
	}
	if f.seen.Tokens == 0 {
		return errNoTokens
	}
	if f.watch = f.Hides() && holdout.Enough(f.seen.Hidden); !f.watch {
		f.seen.Watched = 0
	}
	f.counts = make([]int64, f.n)
	copy(f.counts, f.seen.Words)
	if err := f.weigh(ctx); err != nil {
		return err
	}
	if f.learned.tokens == 0 {
		return errNoTokens
	}
	floats.Scale(f.unit, f.learned.words)
	return f.make(ctx, start, f.learned.words)
}

// weigh finds what there is in the documents that have a weight.
func (f *batch) weigh(ctx context.Context) (err error) {
	if f.weights, f.unit, err = bag.Relative(f.docs, f.info.Documents); err != nil {
		return err
	}
	if f.Carry && f.weights != nil {
		return errors.New("the documents have weights, which Carry does not take")
	}
	l := &f.learned
	l.words, l.df = make([]float64, f.n), make([]float64, f.n)
	if f.weights == nil {
		l.docs, l.tokens, l.nonzeros, l.weight = f.seen.Docs, f.seen.Tokens, f.info.Nonzeros, float64(f.seen.Docs)
		for i, x := range f.counts {
			l.words[i] = float64(x)
		}
		for i, x := range f.info.DocFrequencies[:min(f.n, len(f.info.DocFrequencies))] {
			l.df[i] = float64(x)
		}
		return nil
	}
	e, err := encoded(ctx, f.docs, f.n)
	if err != nil {
		return err
	}
	// In fixed point, so that the order of the documents does not matter.
	scale := math.Ldexp(1, 61-bits.Len64(uint64(f.seen.Tokens)))
	fixed := func(x float64) int64 { return int64(math.RoundToEven(x * scale)) }
	words, df, weight := make([]int64, f.n), make([]int64, f.n), int64(0)
	var b corpus.Block
	for i := range e.Blocks() {
		if err := cmp.Or(ctx.Err(), e.Block(i, &b)); err != nil {
			return err
		}
		for d := range b.Docs() {
			share := f.weights[b.First+d]
			ids, counts := b.Doc(d)
			if len(ids) == 0 || share == 0 {
				continue
			}
			l.docs++
			l.nonzeros += int64(len(ids))
			weight += fixed(share)
			for t, w := range ids {
				l.tokens += int64(counts[t])
				words[w] += fixed(float64(counts[t]) * share)
				df[w] += fixed(share)
			}
		}
	}
	l.weight = float64(weight) / scale
	for i := range words {
		l.words[i], l.df[i] = float64(words[i])/scale, float64(df[i])/scale
	}
	return nil
}

// plan returns a pass with the topics that there are.
func (f *batch) plan(task sums.Task, steps int) *sums.Pass {
	p := &sums.Pass{
		Task: task, Topics: f.rows, Alpha: float32(f.alpha), Begin: make([]float32, f.k), Steps: steps,
		Form: estep.LeaveDocument, Floor: leastWeight, Unigram: f.unigram, Smoothing: smoothing, Scored: 1,
		Every: sample(f.info.Nonzeros), Totals: f.totals, Words: f.counts, Docs: int64(f.seen.Docs), Weights: f.weights,
	}
	if len(f.columns) > 0 {
		p.After, p.Columns, p.Steps = f.after, f.columns, 0
	}
	for t, v := range f.totals {
		p.Begin[t] = float32(max(v/f.unit, 1) / float64(f.seen.Tokens))
	}
	return p
}

// sum adds up a plan.
func (f *batch) sum(ctx context.Context, p *sums.Pass) (*sums.Answer, error) {
	sum, err := f.docs.Sum(ctx, p)
	if err != nil {
		return nil, err
	}
	return p.Read(sum)
}

// pass makes pass number t of end, counted from 0, and merges topics after it.
func (f *batch) pass(ctx context.Context, t, end int) (Score, error) {
	closing := t >= end-closingPasses
	p := f.plan(sums.Learn, f.Steps)
	p.Keep = f.Carry
	p.Hide = f.watch && !closing
	if t == 0 {
		p.Form = estep.Plain
	}
	if f.seen.Docs >= manyDocs {
		p.Scored = scoredOf
	}
	merge := f.mergesAfter(t, end)
	var pairs []merged
	if merge && t > 0 { // the topics of the start have no tokens by which to tell
		var err error
		if pairs, err = f.similar(ctx, mergeTried*(len(f.alive)-f.want)); err != nil {
			return Score{}, err
		}
		p.Pairs = bare(pairs)
	}
	a, err := f.sum(ctx, p)
	if err != nil {
		return Score{}, err
	}
	if err := f.leave(p); err != nil {
		return Score{}, err
	}
	if err = f.take(ctx, a, t > 0 && !closing); err == nil {
		err = f.learn(ctx)
	}
	if err == nil && merge {
		price(pairs, a)
		err = f.merge(ctx, pairs, t == end-1)
	}
	return scoreOf(a), err
}

// take sets the sums to the counts of a pass, over-relaxed if relax.
func (f *batch) take(ctx context.Context, a *sums.Answer, relax bool) error {
	return run.Chunks(ctx, f.n, rowsAtOnce, f.workers, func(_, _, lo, hi int) error {
		fresh := make([]float64, f.k)
		for i := lo; i < hi; i++ {
			a.Counts(i, fresh)
			floats.Scale(f.unit, fresh)
			row := linalg.Row(f.sums, i)
			for t, v := range fresh {
				if relax {
					v = max(v+relaxed*(v-row[t]), leastLeft*v)
				}
				row[t] = v
			}
		}
		return nil
	})
}

// finish scores the final state and fills in the result.
func (f *batch) finish(ctx context.Context, res *Result) error {
	var err error
	if res.B, err = f.probabilities(ctx); err != nil {
		return err
	}
	a, err := f.sum(ctx, f.plan(sums.Finish, max(lastSteps, f.Steps)))
	if err != nil {
		return err
	}
	res.History = append(res.History, scoreOf(a))
	res.A = a.Moments()
	res.A.Scale(1/mat.Sum(res.A), res.A)
	if err := f.take(ctx, a, false); err != nil { // the sums are those of reading from here on
		return err
	}
	l := &f.learned
	return f.describe(ctx, res, longEnough(l.nonzeros, l.docs), l.weight, l.df)
}
