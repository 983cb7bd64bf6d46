package main

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/metrics"
	recovery "github.com/jsmf-go/spectral/recover"
)

var syntheticGroup = &group{
	name: "synthetic", version: 1,
	labels: []string{"corpus", "k", "tokens", "topics", "variance", "rho", "documents", "method", "trial"},
	// b_std is the standard deviation of the distance over topics, impossible the share
	// of held-out documents with a word, of those in the training documents, that no
	// topic has.
	measures: []string{"b_l1", "b_std", "held_out", "impossible", "coherence", "dissimilarity"},
	seconds:  []string{"seconds"},
}

// The documents drawn: those of arora-2013 §5.1.
const (
	syntheticTokens = 300 // a document of NYTimes
	syntheticShort  = 70  // an abstract of NIPS
	syntheticSweeps = 200 // of Gibbs sampling for the true topics
	syntheticHeld   = 300 // documents held out
)

// infinite stands for the number of documents where C is the true one.
const infinite = "infinite"

// syntheticDocs are the numbers of documents. The quick methods have 20 trials, the
// slow ones fewer, and Gibbs sampling fewer still.
var syntheticDocs = []struct{ docs, quick, slow, gibbs int }{
	{500, 20, 2, 2}, {2000, 20, 2, 1}, {8000, 20, 1, 1}, {32000, 3, 1, 1},
}

const (
	rhoDocs     = 8000    // documents with other correlations than the paper's
	gibbsTokens = 2300000 // at most, by Gibbs sampling
)

// syntheticMethods are those of arora-2013 except Gibbs sampling. L2 is solved exactly;
// L2+ExpGrad is the paper's solver.
var syntheticMethods = []struct {
	name string
	by   recovery.Recoverer
	slow bool
}{
	{"inverse", heldRecoverer("inverse"), false},
	{"L2", recovery.SCLS{}, false},
	{"L2+ExpGrad", recovery.L2(), true},
	{"KL", recovery.KL{}, true},
}

// planSynthetic draws short documents from the first corpus, for Figure 3, and all the
// others from the second; of a single corpus, only the others.
func planSynthetic(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	names := l.corpora[:min(2, len(l.corpora))]
	for i, name := range names {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		ways := drawings()
		if i+1 < len(names) {
			ways = []drawing{{tokens: syntheticShort}}
		}
		x := &knownTopics{lab: l, source: s, k: l.some()[len(l.some())-1]}
		for _, d := range ways {
			set := func(docs, method any) []setting {
				return settings("corpus", name, "k", x.k, "documents", docs, "method", method, "tokens", d.tokens, "topics", d.topics(), "variance", d.variance, "rho", d.rho,
					"alpha", semiAlpha, "n", l.small, "truth", syntheticSweeps, "seed", l.seed, "input", s.digest)
			}
			if !d.few {
				out = append(out, cell{syntheticGroup, set(infinite, "all"), 8, func(ctx context.Context) ([]row, error) { return x.limit(ctx, d) }})
			}
			for _, m := range syntheticDocs {
				if d.few {
					if m.docs != rhoDocs {
						continue
					}
					m.slow, m.gibbs = 0, 0
				}
				cost := float64(m.quick*m.docs)/7000 + float64(m.slow)*8
				out = append(out, cell{syntheticGroup, append(set(m.docs, "spectral"), settings("trials", m.quick, "slow", m.slow)...), cost, func(ctx context.Context) ([]row, error) {
					return x.trials(ctx, d, m.docs, m.quick, func(ctx context.Context, t *drawnDocs) ([]row, error) { return x.spectral(ctx, t, t.number < m.slow) })
				}})
				if m.gibbs > 0 && m.docs*d.tokens <= gibbsTokens {
					cost := float64(m.gibbs*m.docs*d.tokens) * float64(l.sweeps) * 6e-8
					out = append(out, cell{syntheticGroup, append(set(m.docs, gibbs), settings("trials", m.gibbs, "sweeps", l.sweeps)...), cost, func(ctx context.Context) ([]row, error) {
						return x.trials(ctx, d, m.docs, m.gibbs, x.sampled)
					}})
				}
			}
		}
	}
	return out, nil
}

// knownTopics draws documents from the topics of Gibbs sampling on a corpus.
type knownTopics struct {
	*lab
	source *source
	k      int
	made   *mat.Dense // N×K; nil until it is wanted
}

// topics returns the true ones.
func (x *knownTopics) topics(ctx context.Context, d drawing) (*mat.Dense, error) {
	if x.made == nil {
		c, err := x.source.countUnbiased(ctx, x.small, x.workers)
		if err != nil {
			return nil, err
		}
		m, err := sample(ctx, c.Info().Corpus, x.k, syntheticSweeps, x.seed)
		if err != nil {
			return nil, err
		}
		x.made = m.b
	}
	if d.anchors {
		return plantAnchors(x.made), nil
	}
	return x.made, nil
}

// row begins a row of results.
func (x *knownTopics) row(d drawing, docs any, method string, trial any) row {
	r := row{"corpus": x.source.name, "topics": d.topics()}
	if d.variance != 0 {
		r.set("variance", fmt.Sprint(d.variance)).set("rho", fmt.Sprint(d.rho))
	}
	return r.set("k", x.k).set("tokens", d.tokens).set("documents", docs).set("method", method).set("trial", trial)
}

// distance notes how far the topics are from the true ones, matched as well as can be.
func (x *knownTopics) distance(ctx context.Context, r row, want, got *mat.Dense) error {
	match, err := metrics.Match(ctx, want, got, metrics.MatchOptions{Workers: x.workers})
	if err != nil {
		return err
	}
	r.set("b_l1", match.L1.Mean).set("b_std", stat.StdDev(match.L1.Values, nil))
	return nil
}

// limit recovers the topics from the true C, BABᵀ. It also measures the
// distance of the true topics from the uniform distribution, that is, of a guess.
func (x *knownTopics) limit(ctx context.Context, d drawing) ([]row, error) {
	b, err := x.topics(ctx, d)
	if err != nil {
		return nil, err
	}
	a, err := d.moments(x.k, x.seed)
	if err != nil {
		return nil, err
	}
	c, err := product(b, a)
	if err != nil {
		return nil, err
	}
	n, k := b.Dims()
	guess := x.row(d, infinite, "uniform", 0)
	if err := x.distance(ctx, guess, b, mat.NewDense(n, k, filled(n*k, 1/float64(n)))); err != nil {
		return nil, err
	}
	rows, err := x.recovered(ctx, d, infinite, 0, c, anchor.QR{}, anchor.Options{Workers: x.workers}, true, func(r row, got *mat.Dense) error { return x.distance(ctx, r, b, got) })
	return append(rows, guess), err
}

// recovered finds anchors, recovers the topics by each method and measures them.
func (x *knownTopics) recovered(ctx context.Context, d drawing, docs any, number int, c cooc.Matrix, find anchor.Finder, opt anchor.Options, slow bool, measure func(r row, got *mat.Dense) error) ([]row, error) {
	begun := cpuSeconds()
	points, err := cooc.NewRows(c)
	if err != nil {
		return nil, err
	}
	found, err := find.Find(ctx, points, x.k, opt)
	if err != nil {
		return nil, err
	}
	before := cpuSeconds() - begun
	var out []row
	for _, m := range syntheticMethods {
		if m.slow && !slow {
			continue
		}
		r := x.row(d, docs, m.name, number)
		out = append(out, r)
		begun := cpuSeconds()
		res, err := m.by.Recover(ctx, points, found.Anchors, recovery.Options{Workers: x.workers})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			r["error"] = err.Error()
			continue
		}
		r.set("seconds", before+cpuSeconds()-begun)
		if err := measure(r, res.B); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// drawnDocs are the documents of a trial.
type drawnDocs struct {
	drawing
	docs, number int
	truth        *mat.Dense
	split               // held out are documents of their own
	words        []bool // those in the training documents
}

// trials draws documents several times.
func (x *knownTopics) trials(ctx context.Context, d drawing, docs, n int, fit func(ctx context.Context, t *drawnDocs) ([]row, error)) ([]row, error) {
	var out []row
	for i := range n {
		t, err := x.draw(ctx, d, docs, i)
		if err != nil {
			return nil, err
		}
		rows, err := fit(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// draw draws documents, and others to hold out. Those of one trial have the same random
// numbers with any method, and as far as can be with any prior.
func (x *knownTopics) draw(ctx context.Context, d drawing, docs, number int) (*drawnDocs, error) {
	b, err := x.topics(ctx, d)
	if err != nil {
		return nil, err
	}
	seed := x.seed + uint64(number)<<32
	g := corpus.Generator{Topics: b, Prior: d.prior(x.k), Docs: docs, Lengths: []int{d.tokens}, Seed: seed, Workers: x.workers}
	c, _, err := g.Generate(ctx)
	if err != nil {
		return nil, err
	}
	t := &drawnDocs{drawing: d, docs: docs, number: number, truth: b}
	if t.train, err = cooc.NewMoments(ctx, c, cooc.Options{Workers: x.workers}); err != nil {
		return nil, err
	}
	g.Docs, g.Seed = syntheticHeld, seed+1<<31
	held, _, err := g.Generate(ctx)
	if err != nil {
		return nil, err
	}
	if t.observed, t.hidden, err = held.SplitTokens(heldTokens, seed); err != nil {
		return nil, err
	}
	n, _ := b.Dims()
	t.unigram, t.words = make([]float64, n), make([]bool, n)
	for i, count := range c.WordCounts() {
		t.words[i] = count > 0
		// Words that were not drawn count as one half of a token.
		t.unigram[i] = max(float64(count), 0.5)
	}
	floats.Scale(1/floats.Sum(t.unigram), t.unigram)
	return t, nil
}

// spectral recovers the topics of the drawn documents.
func (x *knownTopics) spectral(ctx context.Context, t *drawnDocs, slow bool) ([]row, error) {
	c := t.train.Info().Corpus
	opt := anchor.Options{DocFrequencies: c.DocFrequencies(), Docs: t.docs, Workers: x.workers}
	return x.recovered(ctx, t.drawing, t.docs, t.number, t.train, anchor.QR{MinDocFraction: heldMinDocs}, opt, slow, func(r row, got *mat.Dense) error {
		return x.measure(ctx, r, t, got, slow)
	})
}

// sampled samples the topics of the drawn documents.
func (x *knownTopics) sampled(ctx context.Context, t *drawnDocs) ([]row, error) {
	begun := cpuSeconds()
	m, err := sample(ctx, t.train.Info().Corpus, x.k, x.sweeps, x.seed)
	if err != nil {
		return nil, err
	}
	r := x.row(t.drawing, t.docs, gibbs, t.number)
	r.set("seconds", cpuSeconds()-begun)
	return []row{r}, x.measure(ctx, r, t, m.b, true)
}

// measure notes the distance of the topics from the true ones and, if all is set, the
// measures of Figures 9 to 13.
func (x *knownTopics) measure(ctx context.Context, r row, t *drawnDocs, got *mat.Dense, all bool) error {
	if err := x.distance(ctx, r, t.truth, got); err != nil || !all {
		return err
	}
	rep, err := evaluate(ctx, t.train, got, nil, nil, x.workers)
	if err != nil {
		return err
	}
	r.set("coherence", rep.Coherence.Mean).set("dissimilarity", rep.Dissimilarity.Mean)
	ll, err := x.completion(ctx, &t.split, got)
	if err != nil {
		return err
	}
	impossible := 0
	for m := range t.hidden.NumDocs() {
		words, _ := t.hidden.Doc(m)
		for _, w := range words {
			if t.words[w] && floats.Max(got.RawRowView(int(w))) == 0 {
				impossible++
				break
			}
		}
	}
	r.set("held_out", ll).set("impossible", float64(impossible)/float64(t.hidden.NumDocs()))
	return nil
}
