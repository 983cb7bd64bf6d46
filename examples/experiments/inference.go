package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/examples/experiments/internal/priors"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/rectify"
)

var inferenceGroup = &group{
	name: "inference", version: 1,
	labels: []string{"corpus", "setting", "variant", "documents", "part", "k", "method"},
	// square is the mean of Σw²: 1 for a single topic a document, 1/K for all alike.
	// zero is the share of documents of which TLI says nothing; they are in no mean.
	measures: []string{"precision", "recall", "f1", "l1", "linf", "kl", "hellinger", "non_support", "prior_distance", "square", "zero"},
	seconds:  []string{"seconds_prepare", "seconds_document"},
}

// The settings of lee-2018 §4.4.
const (
	semiSynthetic = "SS" // documents drawn with a Dirichlet prior
	semiReal      = "SR" // documents drawn with a logistic-normal prior
	fullyReal     = "FR" // real documents, with Gibbs sampling as the truth
)

// The parts of the documents: those that PADD learns from, and others.
const (
	training = "training"
	unseen   = "unseen"
)

const (
	inferenceHeld   = 0.1   // the share of real documents that no model is fitted to
	inferenceAlpha  = 5.0   // the sum of α of SS
	inferenceMoment = 50000 // compositions drawn for the second moment of a prior
)

// inferenceSize is how much a cell does.
type inferenceSize struct {
	Variant  string // "": as in lee-2018
	Settings []string
	Docs     int         // of SS and SR
	Tokens   int         // of each of them; 0: as many as in the corpus on average
	Real     int         // training documents of FR that are inferred
	Gibbs    infer.Gibbs // of SS and SR; without sweeps it is left out
	Truth    infer.Gibbs // the truth of FR
}

var (
	inferenceUsual = inferenceSize{Settings: []string{semiSynthetic, semiReal, fullyReal}, Docs: 1000, Real: 400,
		Gibbs: infer.Gibbs{BurnIn: 50, Sweeps: 150}, Truth: infer.Gibbs{BurnIn: 200, Sweeps: 1000}}
	// What more documents do, and shorter ones.
	inferenceMany  = inferenceSize{Variant: "many", Settings: []string{semiReal}, Docs: 10000}
	inferenceShort = []inferenceSize{
		{Variant: "10 tokens", Settings: []string{semiSynthetic}, Docs: 1000, Tokens: 10},
		{Variant: "30 tokens", Settings: []string{semiSynthetic}, Docs: 1000, Tokens: 30},
		{Variant: "100 tokens", Settings: []string{semiSynthetic}, Docs: 1000, Tokens: 100},
	}
)

func planInference(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	for _, name := range l.corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		add := func(k int, size inferenceSize, cost float64) {
			set := settings("corpus", name, "variant", size.Variant, "k", k, "n", l.words, "size", fmt.Sprintf("%+v", size), "seed", l.seed, "input", s.digest)
			out = append(out, cell{inferenceGroup, set, cost, func(ctx context.Context) ([]row, error) { return l.inference(ctx, s, k, size) }})
		}
		ks := doubling(l.topics)
		for _, k := range ks {
			add(k, inferenceUsual, 10+float64(k))
		}
		add(ks[len(ks)/2], inferenceMany, 10)
		for _, size := range inferenceShort {
			add(ks[3*len(ks)/4], size, 5)
		}
	}
	return out, nil
}

// doubling returns the first of some ascending numbers and then each that is at least
// twice the one before.
func doubling(all []int) []int {
	out := all[:1:1]
	for _, k := range all {
		if k >= 2*out[len(out)-1] {
			out = append(out, k)
		}
	}
	return out
}

// inference fits a model to most of the documents and compares the methods in each
// setting.
func (l *lab) inference(ctx context.Context, s *source, k int, size inferenceSize) ([]row, error) {
	c, err := s.curate(ctx, curation(l.words))
	if err != nil {
		return nil, err
	}
	train, held, err := l.holdDocs(ctx, c, inferenceHeld)
	if err != nil {
		return nil, err
	}
	m, err := asPublished(k).Rectify(rectify.AP{}).Seed(l.seed).Workers(l.workers).Fit(ctx, train)
	if err != nil {
		return nil, err
	}
	topics := infer.Topics{B: mat.DenseCopyOf(m.Topics()), A: mat.DenseCopyOf(m.Correlations()), WordTopics: mat.DenseCopyOf(m.WordTopics())}
	linear := l.prepare(ctx, infer.TLI{}, topics) // depends on B alone
	var rows []row
	for _, setting := range size.Settings {
		var x *trial
		if setting == fullyReal {
			x, err = l.realTrial(ctx, topics, train.Info().Corpus, held, size)
		} else {
			x, err = l.drawnTrial(ctx, setting, topics, train.Info().Corpus, size)
		}
		if err != nil {
			return nil, err
		}
		more, err := l.inferAll(ctx, x, linear)
		if err != nil {
			return nil, err
		}
		for _, r := range more {
			rows = append(rows, r.set("corpus", s.name).set("setting", setting).set("variant", size.Variant).set("k", k))
		}
	}
	return rows, nil
}

// trial is a setting for one K: documents, their true compositions, and what the
// methods know.
type trial struct {
	topics infer.Topics
	otherA *mat.Dense     // of SS and SR the model's A, of FR that of the truth
	learn  *corpus.Corpus // what PADD learns from
	parts  []part
	gibbs  infer.Gibbs // without sweeps it is left out
	drawn  bool        // not FR
}

// part is some documents of a trial.
type part struct {
	name  string
	docs  *corpus.Corpus
	truth *mat.Dense // a row a document
}

// drawnTrial draws documents from the topics: SS or SR.
func (l *lab) drawnTrial(ctx context.Context, setting string, topics infer.Topics, train *corpus.Corpus, size inferenceSize) (*trial, error) {
	_, k := topics.B.Dims()
	alpha := inferenceAlpha / float64(k)
	x := &trial{topics: topics, otherA: topics.A, gibbs: size.Gibbs, drawn: true}
	prior := corpus.SymmetricDirichlet(k, alpha)
	if setting == semiReal {
		got, err := l.infer(ctx, infer.MAP{}, topics, train)
		if err != nil {
			return nil, err
		}
		if prior, err = priors.Fit(got, 0); err != nil {
			return nil, err
		}
	} else {
		x.topics.Alpha = slices.Repeat([]float64{alpha}, k)
	}
	var err error
	if x.topics.A, err = priorMoment(prior, k, l.seed); err != nil {
		return nil, err
	}
	tokens := size.Tokens
	if tokens == 0 {
		tokens = int(train.Tokens()) / train.NumDocs()
	}
	g := corpus.Generator{Topics: topics.B, Prior: prior, Lengths: []int{tokens}, Docs: size.Docs, Seed: l.seed, Workers: l.workers}
	docs, w, err := g.Generate(ctx)
	if err != nil {
		return nil, err
	}
	x.learn, x.parts = docs, []part{{training, docs, w}}
	return x, nil
}

// realTrial is FR: some of the documents that the model was fitted to, evenly spread,
// and all others.
func (l *lab) realTrial(ctx context.Context, topics infer.Topics, train, held *corpus.Corpus, size inferenceSize) (*trial, error) {
	docs, err := train.Select(evenly(min(size.Real, train.NumDocs()), train.NumDocs()), nil)
	if err != nil {
		return nil, err
	}
	x := &trial{topics: topics, learn: train, parts: []part{{training, docs, nil}, {unseen, held, nil}}}
	for i := range x.parts {
		p := &x.parts[i]
		if p.truth, err = l.infer(ctx, size.Truth, topics, p.docs); err != nil {
			return nil, err
		}
	}
	x.otherA = moment(x.parts[0].truth)
	return x, nil
}

// infer returns compositions by a method of the library.
func (l *lab) infer(ctx context.Context, m infer.Method, t infer.Topics, c *corpus.Corpus) (*mat.Dense, error) {
	p, err := m.Prepare(ctx, t, infer.Options{Workers: l.workers})
	if err != nil {
		return nil, err
	}
	b, err := p.Infer(ctx, c, infer.Options{Workers: l.workers})
	if err != nil {
		return nil, err
	}
	return b.W, nil
}

// moment returns WᵀW/M for compositions with a row a document.
func moment(w *mat.Dense) *mat.Dense {
	var a mat.Dense
	a.Mul(w.T(), w)
	m, _ := w.Dims()
	a.Scale(1/float64(m), &a)
	return &a
}

// priorMoment returns E[wwᵀ] of a prior, by drawing from it.
func priorMoment(p corpus.TopicPrior, k int, seed uint64) (*mat.Dense, error) {
	draw, err := p.Sampler(k)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 0xa0))
	a, block := mat.NewDense(k, k, nil), mat.NewDense(inferenceMoment/100, k, nil)
	for range 100 {
		for i := range inferenceMoment / 100 {
			draw(block.RawRowView(i), rng)
		}
		a.Add(a, moment(block))
	}
	a.Scale(0.01, a)
	return a, nil
}

// inferenceRow compares compositions with the true ones.
func inferenceRow(x *trial, p part, w *mat.Dense) row {
	rep := compareCompositions(p.truth, w, x.topics.A)
	r := make(row)
	r.set("documents", p.docs.NumDocs()).set("part", p.name)
	r.set("precision", rep.Precision.Mean).set("recall", rep.Recall.Mean).set("f1", rep.F1.Mean)
	r.set("l1", rep.L1.Mean).set("linf", rep.LInf.Mean).set("kl", rep.KL.Mean).set("hellinger", rep.Hellinger.Mean)
	r.set("non_support", rep.NonSupport.Mean).set("prior_distance", rep.PriorDistance)
	r.set("square", mat.Trace(moment(w))).set("zero", float64(rep.L1.Undefined)/float64(p.docs.NumDocs()))
	return r
}
