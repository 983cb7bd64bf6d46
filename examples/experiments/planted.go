package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/experiments/internal/priors"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/recover/refine"
)

// plantedGroup is how near models come to what documents were drawn from.
var plantedGroup = &group{
	name: "planted", version: 3,
	labels: []string{"topics", "prior", "tokens", "documents", "k", "method", "draw"},
	// slope is that of the least-squares line through the correlations of all pairs of topics,
	// estimated against those of the prior, and rmse the root of their mean square difference.
	// moment_slope and moment_rmse are of the moment of the counts by the same topics. b_l1 is the
	// distance of the topics, a_sum the sum of A as recovered. difference and trend are the slopes
	// of the lines through 0 and the effects of the columns, estimated against those on the true
	// proportions.
	measures: []string{"slope", "rmse", "moment_slope", "moment_rmse", "b_l1", "a_sum", "difference", "trend"},
	seconds:  []string{"seconds"},
}

// The kinds of cells of planted, and of what they are made. The topics are the synthetic kinds
// and those learned from the corpora of -corpora.
var (
	plantedTopics = []string{separated, overlapping}
	plantedPriors = []string{dirichlet, correlatedLogits}
	plantedTokens = []int{100, 400}
	plantedDocs   = []int{1000, 8000}
	plantedK      = []int{10, 30}
)

const (
	separated        = "separated"
	overlapping      = "half overlapping"
	dirichlet        = "Dirichlet"
	correlatedLogits = "logistic-normal"
)

const (
	plantedSpread  = 0.7    // standard deviation of the logarithm of a length
	plantedLearned = 500000 // tokens of a corpus that topics are learned from, at most
	plantedSweeps  = 200    // of Gibbs sampling for these topics
	plantedSum     = 3      // Σα of the Dirichlet prior
	plantedLogitSD = 1.4    // of a logit
	plantedWithin  = 0.7    // correlation of the logits of a pair of topics
	plantedBetween = -0.4   // and of those of two pairs
	givenTopics    = "true topics"
)

// plantedMethods are compared. Another way to fit is one more line.
var plantedMethods = []struct {
	name string
	fit  func(k int) jsmf.Pipeline // nil: the topics are the true ones
}{
	{givenTopics, nil},
	{"New", jsmf.New},
	{"New with a Dirichlet prior alone", func(k int) jsmf.Pipeline { return jsmf.New(k).Refine(refine.Passes{Correlated: -1}) }},
	{"New with 48 passes under the correlated prior", func(k int) jsmf.Pipeline { return jsmf.New(k).Refine(refine.Passes{Correlated: 48}) }},
	{"Published", jsmf.Published},
	{"Published with any anchors", func(k int) jsmf.Pipeline {
		return jsmf.Published(k).Anchors(anchor.QR{MinDocs: 1})
	}},
	{"Published with anchors in 2 %", func(k int) jsmf.Pipeline {
		return jsmf.Published(k).Anchors(anchor.QR{MinDocFraction: 0.02})
	}},
	{"Published with anchors in 5 %", func(k int) jsmf.Pipeline {
		return jsmf.Published(k).Anchors(anchor.QR{MinDocFraction: 0.05})
	}},
}

// plantedCell is what the corpora of some cells have in common.
type plantedCell struct {
	topics, prior   string
	tokens, docs, k int
	repeat          float64 // corpus.Generator.Repeat
}

func planPlanted(_ context.Context, l *lab) ([]cell, error) {
	x := &plantedLab{lab: l}
	var all []plantedCell
	for _, topics := range append(plantedTopics, l.corpora[:min(2, len(l.corpora))]...) {
		for _, prior := range plantedPriors {
			for _, k := range plantedK {
				for _, docs := range plantedDocs {
					for _, tokens := range plantedTokens {
						all = append(all, plantedCell{topics, prior, tokens, docs, k, 0})
					}
				}
			}
		}
	}
	draws := l.planted
	if l.quick {
		all, draws = []plantedCell{{separated, correlatedLogits, 100, 1000, 10, 0}}, 1
	}
	var out []cell
	for _, c := range all {
		input := ""
		if s, err := x.learnedFrom(c.topics); err != nil {
			return nil, err
		} else if s != nil {
			input = s.digest
		}
		for draw := range draws {
			for _, m := range plantedMethods {
				set := settings("topics", c.topics, "prior", c.prior, "tokens", c.tokens, "documents", c.docs, "k", c.k, "method", m.name, "draw", draw,
					"n", l.words, "seed", l.seed, "input", input)
				cost := float64(c.docs*c.tokens*c.k) / 2e6
				out = append(out, cell{plantedGroup, set, cost, func(ctx context.Context) ([]row, error) { return x.measure(ctx, c, draw, m.name, m.fit) }})
			}
		}
	}
	return out, nil
}

// plantedLab holds what the cells at hand share. Cells of one corpus follow each other.
type plantedLab struct {
	*lab
	cell  plantedCell
	draw  int
	drawn *plantedCorpus // nil until it is wanted
	b     map[string]*mat.Dense
	truth map[string]*mat.SymDense // correlations, by prior and K
}

// learnedFrom returns the corpus that topics are learned from, or nil.
func (x *plantedLab) learnedFrom(topics string) (*source, error) {
	if topics == separated || topics == overlapping {
		return nil, nil
	}
	return x.source(topics)
}

// topics returns the topics, words × K.
func (x *plantedLab) topics(ctx context.Context, c plantedCell) (*mat.Dense, error) {
	key := fmt.Sprint(c.topics, c.k)
	if b := x.b[key]; b != nil {
		return b, nil
	}
	s, err := x.learnedFrom(c.topics)
	if err != nil {
		return nil, err
	}
	b := plantedZipf(x.words, c.k, c.topics == overlapping, x.seed)
	if s != nil {
		if b, err = x.learn(ctx, s, c.k); err != nil {
			return nil, err
		}
	}
	if x.b == nil {
		x.b = make(map[string]*mat.Dense)
	}
	x.b[key] = b
	return b, nil
}

// learn returns topics by Gibbs sampling, which no method here favours.
func (x *plantedLab) learn(ctx context.Context, s *source, k int) (*mat.Dense, error) {
	c, err := s.curate(ctx, curation(x.words))
	if err != nil {
		return nil, err
	}
	if all := c.Tokens(); all > plantedLearned {
		if c, err = c.Select(evenly(int(int64(c.NumDocs())*plantedLearned/all), c.NumDocs()), nil); err != nil {
			return nil, err
		}
	}
	m, err := sample(ctx, c, k, plantedSweeps, x.seed)
	if err != nil {
		return nil, err
	}
	return m.b, nil
}

// plantedZipf makes topics over n words whose frequencies follow Zipf's law. Each topic has words
// of its own, chosen at random among frequent and rare ones. Nine tenths of the probability of a
// separated topic are on these. Of an overlapping one four tenths are, and a half is on words that
// it shares with the topic before or after it. A tenth is on all words alike.
func plantedZipf(n, k int, overlap bool, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 0x21bf))
	blocks := 2 * k // those of one topic have even numbers, those of two odd ones
	block := make([]int, n)
	for i, at := range rng.Perm(n) {
		block[at] = i % blocks
		if !overlap {
			block[at] = 2 * (i % k)
		}
	}
	b := mat.NewDense(n, k, nil)
	p := make([]float64, n)
	for t := range k {
		add := func(share float64, in func(word int) bool) {
			for i := range p {
				if p[i] = 0; in(i) {
					p[i] = 1 / float64(i+1)
				}
			}
			floats.Scale(share/floats.Sum(p), p)
			for i, v := range p {
				b.Set(i, t, b.At(i, t)+v)
			}
		}
		of := func(number int) func(int) bool {
			return func(i int) bool { return block[i] == (number+blocks)%blocks }
		}
		add(0.1, func(int) bool { return true })
		if !overlap {
			add(0.9, of(2*t))
			continue
		}
		add(0.4, of(2*t))
		add(0.25, of(2*t-1))
		add(0.25, of(2*t+1))
	}
	return b
}

// plantedPrior is the prior of the documents' proportions. A group, one of two, and a time in
// [0, 1] move the logits of all topics. It remembers them: documents are drawn in order.
type plantedPrior struct {
	mean, group, trend []float64     // of the logits
	cov                *mat.SymDense // of the logits; nil: a Dirichlet prior whose α_k go as their exponentials
	groups             []int
	times              []float64
}

// newPlantedPrior makes a prior of k topics.
func newPlantedPrior(name string, k int) *plantedPrior {
	rng := rand.New(rand.NewPCG(uint64(k), 0x9a1))
	draw := func(sd float64) []float64 {
		out := make([]float64, k)
		for i := range out {
			out[i] = sd * rng.NormFloat64()
		}
		return out
	}
	p := &plantedPrior{mean: draw(0.5), group: draw(0.3), trend: draw(0.5)}
	if name == dirichlet {
		return p
	}
	p.cov = mat.NewSymDense(k, nil)
	at := rng.Perm(k) // topics with words in common are not those that are correlated
	for i := range k {
		for j := range i + 1 {
			rho := 0.0
			switch {
			case i == j:
				rho = 1
			case i/2 == j/2:
				rho = plantedWithin
			case i/4 == j/4:
				rho = plantedBetween
			}
			p.cov.SetSym(at[i], at[j], rho*plantedLogitSD*plantedLogitSD)
		}
	}
	return p
}

// Sampler implements corpus.TopicPrior.
func (p *plantedPrior) Sampler(k int) (func([]float64, *rand.Rand), error) {
	var normal func([]float64, *rand.Rand)
	if p.cov != nil {
		var err error
		if normal, err = (priors.LogisticNormal{Mean: p.mean, Covariance: p.cov}).Sampler(k); err != nil {
			return nil, err
		}
	}
	return func(theta []float64, rng *rand.Rand) {
		group, time := rng.IntN(2), rng.Float64()
		p.groups, p.times = append(p.groups, group), append(p.times, time)
		tilt := func(t int) float64 { return math.Exp((float64(group)-0.5)*p.group[t] + (time-0.5)*p.trend[t]) }
		if normal != nil {
			normal(theta, rng)
			for t := range theta {
				theta[t] *= tilt(t)
			}
		} else {
			for t := range theta {
				theta[t] = math.Exp(p.mean[t]) * tilt(t)
			}
			floats.Scale(plantedSum/floats.Sum(theta), theta)
			for t, alpha := range theta {
				theta[t] = distuv.Gamma{Alpha: alpha, Beta: 1, Src: rng}.Rand()
			}
		}
		floats.Scale(1/floats.Sum(theta), theta)
	}, nil
}

// correlations returns those of the prior.
func (x *plantedLab) correlations(prior string, k int) (*mat.SymDense, error) {
	key := fmt.Sprint(prior, k)
	if r := x.truth[key]; r != nil {
		return r, nil
	}
	a, err := drawnMoments(newPlantedPrior(prior, k), k, x.seed)
	if err != nil {
		return nil, err
	}
	if x.truth == nil {
		x.truth = make(map[string]*mat.SymDense)
	}
	x.truth[key] = correlationsOf(a)
	return x.truth[key], nil
}

// correlationsOf returns the correlations of proportions with the second moment a, scaled to
// sum 1. They are 0 with a topic whose variance is not positive.
func correlationsOf(a mat.Matrix) *mat.SymDense {
	k, _ := a.Dims()
	sum := mat.Sum(a)
	p := make([]float64, k)
	cov, out := mat.NewSymDense(k, nil), mat.NewSymDense(k, nil)
	for i := range k {
		for j := range k {
			p[i] += a.At(i, j) / sum
		}
	}
	for i := range k {
		for j := range i + 1 {
			cov.SetSym(i, j, a.At(i, j)/sum-p[i]*p[j])
		}
	}
	for i := range k {
		for j := range i + 1 {
			if v := cov.At(i, i) * cov.At(j, j); cov.At(i, i) > 0 && cov.At(j, j) > 0 {
				out.SetSym(i, j, cov.At(i, j)/math.Sqrt(v))
			}
		}
	}
	return out
}

// plantedCorpus are documents that were drawn, with the columns group and time.
type plantedCorpus struct {
	b          *mat.Dense // words × K
	docs       *corpus.Corpus
	moments    *cooc.Moments
	difference []float64 // of the true proportions of the two groups, by topic
	trend      []float64
}

// corpus draws the documents, unless they are those of the last call.
func (x *plantedLab) corpus(ctx context.Context, c plantedCell, draw int) (*plantedCorpus, error) {
	if x.drawn != nil && x.cell == c && x.draw == draw {
		return x.drawn, nil
	}
	b, err := x.topics(ctx, c)
	if err != nil {
		return nil, err
	}
	seed := x.seed<<32 + uint64(draw)
	rng := rand.New(rand.NewPCG(seed, 0x1e4))
	lengths := make([]int, c.docs)
	for m := range lengths {
		lengths[m] = max(5, int(float64(c.tokens)*math.Exp(plantedSpread*rng.NormFloat64()-plantedSpread*plantedSpread/2)))
	}
	prior := newPlantedPrior(c.prior, c.k)
	docs, theta, err := corpus.Generator{Topics: b, Prior: prior, Lengths: lengths, Repeat: c.repeat, Seed: seed, Workers: 1}.Generate(ctx)
	if err != nil {
		return nil, err
	}
	values := make([][]corpus.Value, c.docs)
	design := mat.NewDense(c.docs, 3, nil)
	for m := range values {
		values[m] = []corpus.Value{corpus.CategoryOf(fmt.Sprint(prior.groups[m])), corpus.NumberOf(prior.times[m])}
		design.SetRow(m, []float64{1, float64(prior.groups[m]), prior.times[m]})
	}
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "group", Kind: corpus.Category}, {Name: "time", Kind: corpus.Number}}, values)
	if err != nil {
		return nil, err
	}
	if docs, err = docs.WithMetadata(meta); err != nil {
		return nil, err
	}
	var beta mat.Dense
	if err := beta.Solve(design, theta); err != nil {
		return nil, err
	}
	moments, err := cooc.NewMoments(ctx, docs, cooc.Options{Workers: x.workers})
	if err != nil {
		return nil, err
	}
	x.cell, x.draw = c, draw
	x.drawn = &plantedCorpus{b, docs, moments, mat.Row(nil, 1, &beta), mat.Row(nil, 2, &beta)}
	return x.drawn, nil
}

// measure fits a model to a corpus, and compares it with what the documents were drawn from.
func (x *plantedLab) measure(ctx context.Context, c plantedCell, draw int, method string, fit func(k int) jsmf.Pipeline) ([]row, error) {
	want, err := x.correlations(c.prior, c.k)
	if err != nil {
		return nil, err
	}
	d, err := x.corpus(ctx, c, draw)
	if err != nil {
		return nil, err
	}
	r := row{"topics": c.topics, "prior": c.prior, "method": method}
	r.set("tokens", c.tokens).set("documents", c.docs).set("k", c.k).set("draw", draw)
	b := d.b
	if fit != nil {
		m, err := x.fit(ctx, d, fit(c.k), r)
		if err != nil {
			return nil, err
		}
		if b, err = overDrawn(m, d.docs.NumWords()); err != nil {
			return nil, err
		}
		r.set("a_sum", mat.Sum(m.Correlations()))
		slope, rmse := compareCorrelations(want, correlationsOf(m.Correlations()))
		r.set("slope", slope).set("rmse", rmse)
		if err := plantedEffects(ctx, d, m, r); err != nil {
			return nil, err
		}
	}
	a, err := momentOf(ctx, d.moments, b, x.workers)
	if err != nil {
		return nil, err
	}
	slope, rmse := compareCorrelations(want, correlationsOf(a))
	r.set("moment_slope", slope).set("moment_rmse", rmse)
	return []row{r}, nil
}

// fit returns the model with its topics in the order of the true ones.
func (x *plantedLab) fit(ctx context.Context, d *plantedCorpus, p jsmf.Pipeline, r row) (*jsmf.Model, error) {
	begun := cpuSeconds()
	m, err := p.Workers(x.workers).Fit(ctx, d.docs)
	if err != nil {
		return nil, err
	}
	r.set("seconds", cpuSeconds()-begun)
	b, err := overDrawn(m, d.docs.NumWords())
	if err != nil {
		return nil, err
	}
	match, err := metrics.Match(ctx, d.b, b, metrics.MatchOptions{Workers: x.workers})
	if err != nil {
		return nil, err
	}
	r.set("b_l1", match.L1.Mean)
	return m.Reorder(match.Of)
}

// overDrawn returns the topics over all n words of a corpus.Generator, which names them by
// their numbers.
func overDrawn(m *jsmf.Model, n int) (*mat.Dense, error) {
	b := mat.NewDense(n, m.K(), nil)
	for w := range m.N() {
		var i int
		if _, err := fmt.Sscanf(m.Word(w), "w%d", &i); err != nil {
			return nil, err
		}
		for k := range m.K() {
			b.Set(i, k, m.Topics().At(w, k))
		}
	}
	return b, nil
}

// compareCorrelations compares the correlations of all pairs of topics: the slope of the
// least-squares line, and the root of the mean square difference.
func compareCorrelations(want, got *mat.SymDense) (slope, rmse float64) {
	var x, y []float64
	for i := range want.SymmetricDim() {
		for j := range i {
			x, y = append(x, want.At(i, j)), append(y, got.At(i, j))
		}
	}
	_, slope = stat.LinearRegression(x, y, nil, false)
	return slope, floats.Distance(x, y, 2) / math.Sqrt(float64(len(x)))
}

// plantedEffects compares the effects of the columns with those on the true proportions.
func plantedEffects(ctx context.Context, d *plantedCorpus, m *jsmf.Model, r row) error {
	study := effects.Study{Terms: []effects.Term{effects.Category("group"), effects.Spline("time", 1)}}
	e, err := study.Begin(ctx, m, d.docs)
	if err != nil {
		return err
	}
	found := e.Effects()
	difference, trend := make([]float64, m.K()), make([]float64, m.K())
	for p, point := range found.Terms[1].Points { // adjusted for the other column, as what was planted
		sign := 1.0
		if point.Label == "0" {
			sign = -1
		}
		for t := range difference {
			difference[t] += sign * found.Terms[1].Differences[p][t].Value
		}
	}
	for t := range trend {
		trend[t] = found.Terms[3].Slopes[t].Value
	}
	_, s := stat.LinearRegression(d.difference, difference, nil, true)
	r.set("difference", s)
	_, s = stat.LinearRegression(d.trend, trend, nil, true)
	r.set("trend", s)
	return nil
}

// momentOf returns the second moment of proportions by the counts alone, given the topics:
// SᵀCS with S = DB(BᵀDB)⁻¹ and D = diag(1/p(word)), without its negative eigenvalues, scaled to
// sum 1. It is unbiased if the topics are right.
func momentOf(ctx context.Context, c cooc.Operator, b *mat.Dense, workers int) (*mat.SymDense, error) {
	n, k := b.Dims()
	db := mat.NewDense(n, k, nil)
	for i, p := range c.Marginals() {
		if p > 0 {
			floats.AddScaled(db.RawRowView(i), 1/p, b.RawRowView(i))
		}
	}
	var gram, s, cs, a mat.Dense
	gram.Mul(b.T(), db)
	if err := s.Solve(&gram, db.T()); err != nil { // K×words
		return nil, fmt.Errorf("the topics are dependent: %w", err)
	}
	st := mat.DenseCopyOf(s.T())
	cs.ReuseAs(n, k)
	if err := c.MulTo(ctx, &cs, st, workers); err != nil {
		return nil, err
	}
	a.Mul(&s, &cs)
	sym := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			sym.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	values, vectors, err := linalg.Eigen(sym)
	if err != nil {
		return nil, err
	}
	sym.Zero()
	for t, v := range values {
		if v > 0 {
			sym.SymRankOne(sym, v, vectors.ColView(t))
		}
	}
	sum := mat.Sum(sym)
	if !(sum > 0) {
		return nil, fmt.Errorf("the moment sums to %g", sum)
	}
	sym.ScaleSym(1/sum, sym)
	return sym, nil
}
