package jsmf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/input"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/splitmix"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/recover/refine"
)

// Bootstrap finds how far a model depends on which documents happened to be there. It fits the
// model again and again to the same documents with random weights: the Bayesian bootstrap (Rubin
// 1981), in which each weight is drawn from Exp(1). The zero value is the default.
//
// Warm replicates start from the topics of the model and make a few passes ([refine.Passes]). They
// are cheap and keep the model's topics apart, so that the spread of a number over them is its
// uncertainty, or most of it. Cold replicates are fits from the beginning. They may find other topics, and so show
// which topics come back, which are split and which are merged. Replicate i has the same weights in
// both.
//
// Drawn replicates show the bias that neither of these can see. Documents as long as the given ones are
// drawn from the model, with topic proportions from their posterior distribution ([infer.Draw]), and the
// pipeline fits them from the beginning. How far a number comes back from what it was in these documents
// is taken for its bias in the given ones. Tokens repeat an earlier one of their document as often as in
// the given ones. The model has topics more distinct than the true ones, so the bias found is a lower bound.
//
// An interval says how sure a number of these topics is, and Stability whether they come back.
//
// A weight depends on Seed, the number of the replicate and the document's id, or its place where
// it has none. So neither the number of goroutines nor that of replicates changes a bit, nor does
// the order of documents that are in memory and all have ids.
type Bootstrap struct {
	// Warm, Cold and Drawn are the numbers of replicates. 0 means 100 warm, 20 cold and 8 drawn ones; a
	// negative number none. Warm replicates need a model that was refined by passes, drawn ones a model
	// with a vocabulary.
	Warm, Cold, Drawn int

	// Cluster names a column of the documents' metadata. Documents with the same value get one
	// weight together, as those of an author should; a document without a value gets its own. "":
	// each document gets its own.
	Cluster string

	// Level is the probability of the intervals, in (0, 1); 0 means 0.95.
	Level float64

	// Words is the number of words of each topic whose probabilities get intervals; 0 means 10.
	Words int

	// Seed chooses the weights.
	Seed uint64
}

// Replicate is a model of the documents with random weights, or of documents drawn from the reference.
type Replicate struct {
	// Number counts the warm, the cold and the drawn replicates from 0.
	Number int
	Cold   bool
	Drawn  *Drawn // nil for warm and cold ones

	// Model has its topics numbered as those of the reference that they match.
	Model *Model

	// Weights are those that the documents had, in their order: the random ones times those that
	// the documents have of their own. Warm and cold replicates with the same number share them.
	// Drawn replicates have the documents' own, nil for 1 each.
	Weights []float64

	// Matched reports for each topic whether its match is better than chance: nearer, by the ℓ₁
	// distance of the probabilities of words, than all other topics of the reference, and nearer
	// than 1.6.
	Matched []bool
	// Distance is the ℓ₁ distance of each topic of the reference to its match, in [0, 2].
	Distance []float64

	// Into holds for a topic of the reference without a match the topic that it was merged with:
	// that whose match is the nearest topic of the replicate, if it is nearer than chance. −1
	// otherwise.
	Into []int
	// Part holds for a topic of the replicate that is no match the topic of the reference of which
	// it is a part: the nearest, if it is nearer than chance. −1 otherwise.
	Part []int
}

// Drawn are documents drawn from a model: of the lengths, weights and metadata of those that the model
// was fitted to, over the model's words. They are in the order of their ids where documents in memory all
// have ids, else in the given order.
type Drawn struct {
	Documents   *corpus.Corpus
	Proportions *mat.Dense // of the topics, M×K, from which the words were drawn
	Repeat      float64    // the probability that a token is an earlier one of its document: see corpus.Generator
}

func (o Bootstrap) withDefaults() Bootstrap {
	o.Warm, o.Cold, o.Drawn = max(cmp.Or(o.Warm, 100), 0), max(cmp.Or(o.Cold, 20), 0), max(cmp.Or(o.Drawn, 8), 0)
	o.Level, o.Words = cmp.Or(o.Level, 0.95), cmp.Or(o.Words, 10)
	return o
}

// Validate reports all settings that are out of range, joined into one error.
func (o Bootstrap) Validate() error {
	var errs []error
	if !(o.Level >= 0 && o.Level < 1) {
		errs = append(errs, errorf("bootstrap: Level = %v; want 0 for 0.95, or a probability in (0, 1)", o.Level))
	}
	if o.Words < 0 {
		errs = append(errs, errorf("bootstrap: Words = %d; want 0 for 10, or more", o.Words))
	}
	if o.Warm < 0 && o.Cold < 0 {
		errs = append(errs, errors.New("jsmf: bootstrap: neither warm nor cold replicates; drawn ones alone make no intervals"))
	}
	return errors.Join(errs...)
}

// Replicates makes the replicates of m, the model that p has made of in: first the warm, then the cold
// and then the drawn ones, in order. Each is of the K topics of m. The sequence ends with the first error.
// Settings of p such as Workers and MemoryLimit hold; its recorders get [StageBootstrap] once for each
// kind, with the number done. Words of documents that m lacks are left out of warm and drawn replicates.
//
// Up to 8 warm replicates are made at the same time, each by one goroutine, and others one after
// another. Memory is that of the documents, encoded, of 8 refinements ([refine.Bytes]), and of a fit;
// it does not grow with the number of replicates. Drawn replicates take that of the drawn documents and
// 16·M·K bytes in addition.
//
// Errors: settings out of range; no model; documents on other machines; no column of the name of
// Cluster; a model without passes, for warm replicates, or without names of words, for warm and drawn
// ones; a cold replicate with another number of topics than the model, as after merging ([Model.Edit]);
// those of Fit, and ctx's.
func (o Bootstrap) Replicates(ctx context.Context, p Pipeline, m *Model, in Input) iter.Seq2[*Replicate, error] {
	return func(yield func(*Replicate, error) bool) {
		b, err := o.begin(ctx, p, m, in)
		if err != nil {
			yield(nil, err)
			return
		}
		stopped := false
		for _, kind := range []kind{{"warm", b.o.Warm, b.wave(), b.warm}, {"cold", b.o.Cold, 1, b.cold}, {"drawn", b.o.Drawn, 1, b.drawn}} {
			if kind.total == 0 || stopped {
				continue
			}
			done := 0
			err := b.tr.run(nil, StageBootstrap, fmt.Sprintf("%d %s replicates", kind.total, kind.name), func() (string, error) {
				err := kind.each(ctx, func(r *Replicate) bool {
					done++
					b.tr.progress(done, kind.total, "", 0)
					stopped = !yield(r, nil)
					return !stopped
				})
				return fmt.Sprintf("%d %s replicates", done, kind.name), err
			})
			if err != nil && !stopped {
				yield(nil, errorf("bootstrap: %w", err))
				return
			}
		}
	}
}

// kind is how one kind of replicates is made.
type kind struct {
	name        string
	total, wave int // replicates, and how many are made at the same time
	one         func(ctx context.Context, number int) (*Replicate, error)
}

// each calls f for each replicate in order, until it returns false.
func (k kind) each(ctx context.Context, f func(*Replicate) bool) error {
	for lo := 0; lo < k.total; lo += k.wave {
		made := make([]*Replicate, min(k.wave, k.total-lo))
		err := parallel.Chunks(ctx, len(made), 1, k.wave, func(_, i, _, _ int) (err error) {
			if made[i], err = k.one(ctx, lo+i); err != nil {
				err = errorf("%s replicate %d: %w", k.name, lo+i, err)
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, r := range made {
			if !f(r) {
				return nil
			}
		}
	}
	return nil
}

// bootstrap makes the replicates of a model.
type bootstrap struct {
	o      Bootstrap
	p      Pipeline // without recorders
	m      *Model
	docs   resampled
	start  refine.Start // of warm replicates
	chance []float64    // for each topic, the distance from which on a match is no better than chance
	tr     *tracker
}

// begin checks what is given, and reads the documents.
func (o Bootstrap) begin(ctx context.Context, p Pipeline, m *Model, in Input) (_ *bootstrap, err error) {
	if err := errors.Join(o.Validate(), p.validate()); err != nil {
		return nil, err
	}
	defer while("bootstrap", &err)
	o = o.withDefaults()
	if m == nil {
		return nil, errors.New("no model")
	}
	if err := p.suits(in); err != nil {
		return nil, err
	}
	if o.Warm > 0 && (m.stats.Refine.Passes == 0 || len(m.alpha) == 0) {
		return nil, errors.New("warm replicates need a model that was refined by passes; set Warm to −1 for none")
	}
	if (o.Warm > 0 || o.Drawn > 0) && m.vocab == nil {
		return nil, errors.New("warm and drawn replicates need a model with a vocabulary; set Warm and Drawn to −1 for cold ones alone")
	}
	b := &bootstrap{o: o, p: p, m: m, tr: &tracker{recorders: p.recorders}}
	b.p.recorders, b.p.from = nil, nil
	if b.docs, err = o.read(ctx, m, in); err != nil {
		return nil, err
	}
	own, err := match(ctx, m, m, p.workers)
	if err != nil {
		return nil, err
	}
	b.chance = make([]float64, m.k)
	for t := range b.chance {
		b.chance[t] = 2 * newTopic
		for s, d := range own.Distances.RawRowView(t) {
			if s != t {
				b.chance[t] = min(b.chance[t], d)
			}
		}
	}
	if o.Warm > 0 {
		err = b.warmUp(ctx)
	}
	return b, err
}

// wave returns how many warm replicates are made at the same time.
func (b *bootstrap) wave() int {
	return parallel.Workers(b.p.workers, min(runtime.GOMAXPROCS(0), maxWarm))
}

// maxWarm is how many warm replicates are made at the same time at most.
const maxWarm = 8

// warmPasses and warmCorrelated are the numbers of passes of a warm replicate, and of one under a
// logistic-normal prior, which moves more slowly: correlations then spread 0.96 times as far as after 40
// where topics are planted, and 0.83 times on bbc and kos with 20 topics.
const (
	warmPasses     = 3
	warmCorrelated = 8
)

// passes are those of the model, except for their number, with the mean of its α where topics were
// merged. Under a logistic-normal prior all of them are, from the model's own prior.
func (b *bootstrap) passes(n int) refine.Passes {
	p := refine.Passes{N: n, Alpha: vec.Sum(b.m.alpha) / float64(b.m.k), Beta: b.m.stats.Refine.Beta, Gain: -1}
	if b.m.logits != nil {
		p.Correlated = n
	}
	return p
}

// warmUp sets what warm replicates start from: the topics of the model, and the topic counts that a
// pass without weights finds.
func (b *bootstrap) warmUp(ctx context.Context) error {
	docs, err := b.docs.words.WithWeights(nil)
	if err != nil {
		return err
	}
	all := cmp.Or(b.m.all, b.m)
	b.start.B, b.start.Prior, b.start.Tree = all.denseTopics(), all.logits, all.tree
	x, err := b.passes(1).Refine(ctx, docs, b.start, refine.Options{Workers: b.p.workers})
	if err != nil {
		return err
	}
	b.start.Counts = x.Counts
	return nil
}

// warm makes a warm replicate.
func (b *bootstrap) warm(ctx context.Context, number int) (*Replicate, error) {
	if b.m.logits != nil {
		return b.refit(ctx, number, warmCorrelated)
	}
	return b.refit(ctx, number, warmPasses)
}

// refit makes a warm replicate by n passes.
func (b *bootstrap) refit(ctx context.Context, number, n int) (*Replicate, error) {
	m, weights := b.m, b.docs.weights(b.o.Seed, number)
	docs, err := b.docs.words.WithWeights(b.docs.In(weights))
	if err != nil {
		return nil, err
	}
	x, err := b.passes(n).Refine(ctx, docs, b.start, refine.Options{Workers: 1})
	if err != nil {
		return nil, err
	}
	made := &Model{vocab: m.vocab, marginals: m.marginals, tree: b.start.Tree, prov: m.prov}
	if err := made.setRefined(x); err != nil {
		return nil, err
	}
	if made, err = newModel(made); err != nil {
		return nil, err
	}
	made = made.showing(func(t int) bool { return t < m.k })
	made.anchors, made.groups, made.background = m.anchors, m.groups, m.background
	return b.aligned(ctx, &Replicate{Number: number, Model: made, Weights: weights})
}

// cold makes a cold replicate.
func (b *bootstrap) cold(ctx context.Context, number int) (*Replicate, error) {
	weights := b.docs.weights(b.o.Seed, number)
	in, err := b.docs.weighted(weights)
	if err != nil {
		return nil, err
	}
	made, err := b.p.Fit(ctx, in)
	if err != nil {
		return nil, err
	}
	if made.k != b.m.k {
		return nil, fmt.Errorf("%d topics, and the model has %d", made.k, b.m.k)
	}
	return b.aligned(ctx, &Replicate{Number: number, Cold: true, Model: made, Weights: weights})
}

// drawn makes a drawn replicate.
func (b *bootstrap) drawn(ctx context.Context, number int) (*Replicate, error) {
	seed := splitmix.Step(splitmix.Step(b.o.Seed) + uint64(number))
	found, err := b.m.TransformBy(ctx, b.docs.words, infer.Draw{Seed: seed}, infer.Options{Workers: b.p.workers})
	if err != nil {
		return nil, err
	}
	g := corpus.Generator{
		Topics: b.m.denseTopics(), Proportions: found.W, Lengths: make([]int, len(found.Docs)), Vocabulary: b.m.vocab, Seed: seed, Workers: b.p.workers,
	}
	for m, d := range found.Docs {
		if g.Lengths[m] = int(d.Tokens + d.Unknown); b.m.all != nil {
			g.Lengths[m] = int(d.Tokens) // without those of topics that were dropped
		}
	}
	docs, proportions, err := repetitive(ctx, &g, b.docs.words.Info().Nonzeros)
	if err != nil {
		return nil, err
	}
	if docs, err = docs.WithMetadata(b.docs.words.Metadata()); err != nil {
		return nil, err
	}
	if b.docs.own != nil {
		if docs, err = docs.WithWeights(b.docs.In(b.docs.own)); err != nil {
			return nil, err
		}
	}
	made, err := b.p.K(b.m.k).Fit(ctx, docs)
	if err != nil {
		return nil, err
	}
	return b.aligned(ctx, &Replicate{Number: number, Drawn: &Drawn{docs, proportions, g.Repeat}, Model: made, Weights: b.docs.own})
}

// aligned numbers the topics of the replicate as those of the reference, and compares them.
func (b *bootstrap) aligned(ctx context.Context, r *Replicate) (*Replicate, error) {
	workers := b.p.workers
	if !r.Cold && r.Drawn == nil { // one of several at the same time
		workers = 1
	}
	found, err := match(ctx, b.m, r.Model, workers)
	if err != nil {
		return nil, err
	}
	k := b.m.k
	if !slices.IsSorted(found.Of) {
		r.Model = r.Model.reordered(found.Of)
	}
	r.Distance, r.Matched = found.L1.Values, make([]bool, k)
	r.Into, r.Part = make([]int, k), make([]int, k)
	for t, d := range r.Distance {
		r.Matched[t], r.Into[t], r.Part[t] = d < b.chance[t], -1, -1
	}
	at := func(t, s int) float64 { return found.Distances.At(t, found.Of[s]) } // of topic s of the replicate
	for t, ok := range r.Matched {
		if ok {
			continue
		}
		into, part := 0, 0 // the nearest
		for s := range k {
			if at(t, s) < at(t, into) {
				into = s
			}
			if at(s, t) < at(part, t) {
				part = s
			}
		}
		if at(t, into) < b.chance[t] && r.Matched[into] {
			r.Into[t] = into
		}
		if at(part, t) < b.chance[part] && r.Matched[part] {
			r.Part[t] = part
		}
	}
	return r, nil
}

// resampled are the documents of a bootstrap.
type resampled struct {
	*input.Ordered
	words *corpus.Encoded // over the words of the model; nil without warm and drawn replicates
	keys  []uint64        // of the documents as given, one for those of a cluster
	own   []float64       // their own weights; nil: 1 each
}

// read reads the documents behind an input.
func (o Bootstrap) read(ctx context.Context, m *Model, in Input) (d resampled, err error) {
	if d.Ordered, err = input.Order(ctx, in); err != nil {
		return d, err
	}
	var meta *corpus.Metadata
	if given := in.Info().Corpus; given != nil {
		meta, d.own = given.Metadata(), given.Weights()
		for m := range given.NumDocs() {
			d.keys = append(d.keys, bag.Key(given.ID(m), m+1))
		}
	} else {
		meta, d.own = d.Encoded.Metadata(), d.Encoded.Weights()
		var b corpus.Block
		for i := range d.Encoded.Blocks() {
			if err := cmp.Or(ctx.Err(), d.Encoded.Block(i, &b)); err != nil {
				return d, err
			}
			for m := range b.Docs() {
				d.keys = append(d.keys, b.Key(m))
			}
		}
	}
	if o.Cluster != "" {
		if err := d.cluster(meta, o.Cluster); err != nil {
			return d, err
		}
	}
	if o.Warm > 0 || o.Drawn > 0 {
		if err := d.encode(ctx, m); err != nil {
			return d, err
		}
	}
	return d, nil
}

// cluster gives the documents with one value in a column one key.
func (d *resampled) cluster(meta *corpus.Metadata, column string) error {
	var names []string
	for _, c := range meta.Columns() {
		names = append(names, c.Name)
	}
	at := slices.Index(names, column)
	if at < 0 {
		return fmt.Errorf("there is no column %q to weigh documents by; the columns are %q", column, names)
	}
	for m := range d.keys {
		if v := meta.Value(m, at); v != (corpus.Value{}) {
			d.keys[m] = bag.Key(column+"\x00"+v.String(), 0)
		}
	}
	return nil
}

// encode encodes the documents over the words of the model.
func (d *resampled) encode(ctx context.Context, m *Model) (err error) {
	if d.Corpus != nil {
		c, unknown, err := d.Corpus.Reindex(m.vocab)
		if err != nil {
			return err
		}
		if unknown == d.Corpus.Tokens() {
			return errors.New("no word of the documents is one of the model")
		}
		d.words, err = corpus.Encode(ctx, c.Source())
		return err
	}
	d.words = d.Encoded
	if !slices.Equal(d.words.Info().Vocabulary, m.vocab) {
		d.words = d.Encoded.DropUnused()
	}
	if !slices.Equal(d.words.Info().Vocabulary, m.vocab) {
		return errors.New("the documents have other words than the model; it must be one of the same documents, or these in memory (corpus.Read)")
	}
	return nil
}

// weights draws the weights of a replicate.
func (d *resampled) weights(seed uint64, replicate int) []float64 {
	w := make([]float64, len(d.keys))
	for m, key := range d.keys {
		w[m] = exponential(seed, replicate, key)
		if d.own != nil {
			w[m] *= d.own[m]
		}
	}
	return w
}

// exponential draws the weight of a document with a key from Exp(1).
func exponential(seed uint64, replicate int, key uint64) float64 {
	bits := splitmix.Step(splitmix.Step(splitmix.Step(seed)+uint64(replicate)) ^ key)
	return -arith.Log((float64(bits>>11) + 0.5) / (1 << 53)) // of a number in (0, 1), never 0 or 1
}

// weighted returns the documents with these weights as the input of a fit.
func (d *resampled) weighted(w []float64) (Input, error) {
	if d.Corpus != nil {
		return d.Corpus.WithWeights(d.In(w))
	}
	return d.Encoded.WithWeights(w)
}

// repetitive draws documents that have as few pairs of a document and a word as are given, and sets g.Repeat.
func repetitive(ctx context.Context, g *corpus.Generator, pairs int64) (*corpus.Corpus, *mat.Dense, error) {
	docs, proportions, err := g.Generate(ctx)
	if err == nil {
		g.Repeat = repeated(docs, pairs)
		docs, proportions, err = g.Generate(ctx)
	}
	return docs, proportions, err
}

// repeated returns with what probability tokens of documents must repeat an earlier one, so that
// documents drawn as those of c, of which none does, have as few pairs of a document and a word as are
// given: corpus.Generator.Repeat. A word that c has n times among the L tokens of a document stays out
// with the probability (1 − n/L)·pⁿ, since the first token is new and each of the others with 1 − p.
func repeated(c *corpus.Corpus, pairs int64) float64 {
	once, first := map[int32]float64{}, map[int32]float64{} // by n: words, and Σ n/L
	for m := range c.NumDocs() {
		_, counts := c.Doc(m)
		length := float64(c.DocLen(m))
		for _, n := range counts {
			once[n]++
			first[n] += float64(n) / length
		}
	}
	lo, hi := 0.0, 1.0
	for range 40 {
		p, left := (lo+hi)/2, float64(c.NNZ())
		for _, n := range slices.Sorted(maps.Keys(once)) {
			left -= float64((once[n] - first[n]) * arith.Pow(p, float64(n)))
		}
		if left > float64(pairs) {
			lo = p
		} else {
			hi = p
		}
	}
	return lo
}
