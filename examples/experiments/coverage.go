package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/jsmf-go/spectral/corpus"
	parallel "github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
	"github.com/jsmf-go/spectral/metrics"
)

// coverageGroup is how often intervals hold the truth, on documents that are drawn.
var coverageGroup = &group{
	name: "coverage", version: 1,
	labels: []string{"topics", "tokens", "method", "measure"},
	// intervals is their number, and covered the share of them that hold the truth; bias is the
	// root of the mean square, over topics and levels, of the mean error; sd the mean standard
	// deviation of an estimate, and width the mean width of an interval.
	measures: []string{"intervals", "covered", "bias", "sd", "width"},
}

// The corpora of coverage.
const (
	coverageTopics = 5
	coverageWords  = 250
	coverageDocs   = 250
	coverageLevels = 3
	coverageSum    = 1   // Σα of a document's proportions
	coverageWarm   = 100 // replicates
)

var (
	coverageTokens = []int{30, 100, 400}
	coverageKinds  = []string{"separated", "overlapping"}
	// The expected proportions: the average, what each level adds to it, and what one unit
	// of the number does, which is uniform in [0, 1].
	coverageShares = []float64{0.3, 0.25, 0.2, 0.15, 0.1}
	coverageLevel  = [coverageLevels][]float64{{0.06, -0.04, 0, -0.05, 0.03}, {-0.06, 0.02, 0.05, 0.02, -0.03}, {0, 0.02, -0.05, 0.03, 0}}
	coverageSlope  = []float64{0.12, -0.1, 0.05, -0.08, 0.01}
)

// The methods of coverage, and what they measure.
const (
	byEffects = "effects"
	byMAP     = "MAP proportions"
)

var coverageMeasures = []string{"share", "difference", "slope", "permuted difference", "permuted slope"}

func planCoverage(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	for _, topics := range coverageKinds {
		for _, tokens := range coverageTokens {
			set := settings("topics", topics, "tokens", tokens, "k", coverageTopics, "n", coverageWords, "docs", coverageDocs, "draws", l.draws, "warm", coverageWarm, "seed", l.seed)
			cost := float64(l.draws) * (0.2 + float64(tokens)/1000)
			out = append(out, cell{coverageGroup, set, cost, func(ctx context.Context) ([]row, error) {
				return l.coverAll(ctx, topics, tokens, l.draws)
			}})
		}
	}
	return out, nil
}

// coverageB makes the topics. Each has words of its own, a fifth of all. Separated ones have
// nine tenths of their probability there, overlapping ones five sixteenths, and three
// sixteenths on the next topic's; the rest is on all words, by one distribution.
func coverageB(kind string) *mat.Dense {
	rng := rand.New(rand.NewPCG(7, 7))
	b := mat.NewDense(coverageWords, coverageTopics, nil)
	draw := func(weight func(block int) float64) []float64 {
		p := make([]float64, coverageWords)
		for i := range p {
			p[i] = weight(i*coverageTopics/coverageWords) * math.Exp(rng.NormFloat64())
		}
		floats.Scale(1/floats.Sum(p), p)
		return p
	}
	common := draw(func(int) float64 { return 1 })
	own, next := 0.9, 0.0
	if kind == "overlapping" {
		own, next = 0.5, 0.6
	}
	for k := range coverageTopics {
		p := draw(func(block int) float64 {
			switch block {
			case k:
				return 1
			case (k + 1) % coverageTopics:
				return next
			}
			return 0
		})
		for i := range p {
			b.Set(i, k, own*p[i]+(1-own)*common[i])
		}
	}
	return b
}

// coveragePrior is the prior of the documents' proportions. It draws the metadata of each
// document first, and remembers it: documents are drawn in order.
type coveragePrior struct {
	level  []int
	number []float64
}

// Sampler implements corpus.TopicPrior.
func (p *coveragePrior) Sampler(k int) (func([]float64, *rand.Rand), error) {
	return func(theta []float64, rng *rand.Rand) {
		level, number := rng.IntN(coverageLevels), rng.Float64()
		p.level, p.number = append(p.level, level), append(p.number, number)
		for k := range theta {
			mean := coverageShares[k] + coverageLevel[level][k] + coverageSlope[k]*(number-0.5)
			theta[k] = distuv.Gamma{Alpha: coverageSum * mean, Beta: 1, Src: rng}.Rand()
		}
		floats.Scale(1/floats.Sum(theta), theta)
	}, nil
}

// coverageCorpus draws documents with the columns level and number, and permuted copies.
func coverageCorpus(ctx context.Context, b *mat.Dense, tokens int, seed uint64) (*corpus.Corpus, *coveragePrior, error) {
	prior := new(coveragePrior)
	c, _, err := corpus.Generator{Topics: b, Prior: prior, Docs: coverageDocs, Lengths: []int{tokens}, Seed: seed, Workers: 1}.Generate(ctx)
	if err != nil {
		return nil, nil, err
	}
	var values [][]corpus.Value
	for m, other := range rand.New(rand.NewPCG(seed, 1)).Perm(coverageDocs) {
		values = append(values, []corpus.Value{
			levelOf(prior.level[m]), corpus.NumberOf(prior.number[m]), levelOf(prior.level[other]), corpus.NumberOf(prior.number[other]),
		})
	}
	meta, err := corpus.NewMetadata([]corpus.Column{
		{Name: "level", Kind: corpus.Category}, {Name: "number", Kind: corpus.Number},
		{Name: "permuted level", Kind: corpus.Category}, {Name: "permuted number", Kind: corpus.Number},
	}, values)
	if err != nil {
		return nil, nil, err
	}
	c, err = c.WithMetadata(meta)
	return c, prior, err
}

func levelOf(i int) corpus.Value { return corpus.CategoryOf(fmt.Sprint("level ", i)) }

// estimates are intervals of what there is to measure, and the truth.
type estimates struct {
	measure  []string
	truth    []float64
	interval []jsmf.Interval
}

func (e *estimates) add(measure string, truth float64, x jsmf.Interval) {
	e.measure, e.truth, e.interval = append(e.measure, measure), append(e.truth, truth), append(e.interval, x)
}

// coverAll draws a corpus draws times, fits a model to each, and counts the intervals that
// hold the truth.
func (l *lab) coverAll(ctx context.Context, topics string, tokens, draws int) ([]row, error) {
	b := coverageB(topics)
	all := make([]map[string]*estimates, draws)
	err := parallel.Chunks(ctx, draws, 1, l.workers, func(_, i, _, _ int) (err error) {
		all[i], err = coverOne(ctx, b, tokens, l.seed<<32+uint64(i))
		return err
	})
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, method := range []string{byEffects, byMAP} {
		for _, measure := range coverageMeasures {
			r := row{"topics": topics, "method": method, "measure": measure}
			rows = append(rows, r.set("tokens", tokens))
			intervals, covered, width, bias, sd, numbers := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
			for at, name := range all[0][method].measure {
				if name != measure {
					continue
				}
				var errs []float64
				for _, x := range all {
					e := x[method]
					v := e.interval[at]
					intervals++
					if v.Low <= e.truth[at] && e.truth[at] <= v.High {
						covered++
					}
					width += v.High - v.Low
					errs = append(errs, v.Value-e.truth[at])
				}
				mean, s := stat.MeanStdDev(errs, nil)
				bias, sd, numbers = bias+mean*mean, sd+s, numbers+1
			}
			r.set("intervals", int(intervals)).set("covered", covered/intervals).set("bias", math.Sqrt(bias/numbers)).set("sd", sd/numbers).set("width", width/intervals)
		}
	}
	return rows, nil
}

// coverOne measures one corpus by all methods.
func coverOne(ctx context.Context, b *mat.Dense, tokens int, seed uint64) (map[string]*estimates, error) {
	c, drawn, err := coverageCorpus(ctx, b, tokens, seed)
	if err != nil {
		return nil, err
	}
	p := jsmf.New(coverageTopics).Words(coverageWords).Workers(1)
	m, err := p.Fit(ctx, c)
	if err != nil {
		return nil, err
	}
	if m, err = asTruth(ctx, m, b); err != nil {
		return nil, err
	}
	study := effects.Study{
		Terms:     []effects.Term{effects.Category("level"), effects.Spline("number", 1), effects.Category("permuted level"), effects.Spline("permuted number", 1)},
		Bootstrap: jsmf.Bootstrap{Warm: coverageWarm, Seed: seed},
	}
	found, err := study.Run(ctx, p, m, c)
	if err != nil {
		return nil, err
	}
	out := map[string]*estimates{byEffects: {}, byMAP: {}}
	w, err := m.Transform(ctx, c.Source())
	if err != nil {
		return nil, err
	}
	shares, terms := bootstrapOf(w.W, drawn, c.Metadata(), seed)
	for method, x := range map[string]struct {
		shares []jsmf.Interval
		terms  []effects.TermEffects
	}{byEffects: {found.Shares, found.Terms}, byMAP: {shares, terms}} {
		out[method].take(x.shares, x.terms, drawn)
	}
	return out, nil
}

// asTruth numbers the topics as those of the documents.
func asTruth(ctx context.Context, m *jsmf.Model, b *mat.Dense) (*jsmf.Model, error) {
	got, err := overDrawn(m, coverageWords)
	if err != nil {
		return nil, err
	}
	match, err := metrics.Match(ctx, b, got, metrics.MatchOptions{Workers: 1})
	if err != nil {
		return nil, err
	}
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

// take notes the intervals of a method together with the truth. Differences are from the average
// over the documents at hand.
func (e *estimates) take(shares []jsmf.Interval, terms []effects.TermEffects, drawn *coveragePrior) {
	for k, x := range shares {
		e.add("share", coverageShares[k]+(coverageLevel[0][k]+coverageLevel[1][k]+coverageLevel[2][k])/coverageLevels, x)
	}
	for i, t := range terms {
		prefix, truth := "", 1.0
		if i >= 2 {
			prefix, truth = "permuted ", 0
		}
		if t.Kind == effects.Numbers {
			for k, x := range t.Slopes {
				e.add(prefix+"slope", truth*coverageSlope[k], x)
			}
			continue
		}
		for p, point := range t.Points {
			var level int
			fmt.Sscanf(point.Label, "level %d", &level)
			for k, x := range t.Differences[p] {
				mean := 0.0
				for _, l := range drawn.level {
					mean += coverageLevel[l][k] / coverageDocs
				}
				e.add(prefix+"difference", truth*(coverageLevel[level][k]-mean), x)
			}
		}
	}
}

// bootstrapOf measures given proportions as a study does, with percentiles of the Bayesian
// bootstrap for intervals.
func bootstrapOf(w *mat.Dense, drawn *coveragePrior, meta *corpus.Metadata, seed uint64) ([]jsmf.Interval, []effects.TermEffects) {
	other, _, _ := meta.Categories("permuted level")
	number, _, _ := meta.Numbers("permuted number")
	const columns = 1 + 2*coverageLevels
	x := mat.NewDense(coverageDocs, columns, nil)
	for m := range coverageDocs {
		row := x.RawRowView(m)
		row[0], row[coverageLevels], row[columns-1] = 1, drawn.number[m], number[m]
		if l := drawn.level[m]; l > 0 {
			row[l] = 1
		}
		if l := other[m]; l > 0 {
			row[coverageLevels+l] = 1
		}
	}
	rng := rand.New(rand.NewPCG(seed, 2))
	var all [][]float64
	weights := slices.Repeat([]float64{1}, coverageDocs)
	for range coverageWarm + 1 {
		all = append(all, regressed(x, w, weights))
		for m := range weights {
			weights[m] = rng.ExpFloat64()
		}
	}
	next := 0
	take := func() []jsmf.Interval {
		out := make([]jsmf.Interval, coverageTopics)
		for k := range out {
			var v []float64
			for _, r := range all[1:] {
				v = append(v, r[next])
			}
			slices.Sort(v)
			out[k] = jsmf.Interval{Value: all[0][next], Low: stat.Quantile(0.025, stat.LinInterp, v, nil), High: stat.Quantile(0.975, stat.LinInterp, v, nil)}
			next++
		}
		return out
	}
	shares := take()
	var terms []effects.TermEffects
	for range 2 {
		t := effects.TermEffects{Kind: effects.Categories}
		for l := range coverageLevels {
			t.Points, t.Differences = append(t.Points, effects.Point{Label: fmt.Sprint("level ", l)}), append(t.Differences, take())
		}
		terms = append(terms, t, effects.TermEffects{Kind: effects.Numbers, Slopes: take()})
	}
	return shares, terms
}

// regressed returns the averages of the columns of y, and by weighted least squares on x for
// each column of metadata the differences of its levels from the average, or the slope.
func regressed(x, y *mat.Dense, weights []float64) []float64 {
	var wx, wy, gram, right, beta mat.Dense
	by := mat.NewDiagDense(len(weights), weights)
	wx.Mul(by, x)
	wy.Mul(by, y)
	gram.Mul(x.T(), &wx)
	right.Mul(x.T(), &wy)
	if err := beta.Solve(&gram, &right); err != nil {
		return nil
	}
	total := floats.Sum(weights)
	var out []float64
	for k := range coverageTopics {
		out = append(out, floats.Sum(mat.Col(nil, k, &wy))/total)
	}
	for first := 1; first < 1+2*coverageLevels; first += coverageLevels {
		for l := range coverageLevels {
			for k := range coverageTopics {
				v := 0.0
				for j := 1; j < coverageLevels; j++ {
					share := floats.Sum(mat.Col(nil, first+j-1, &wx)) / total
					if l == j {
						share--
					}
					v -= share * beta.At(first+j-1, k)
				}
				out = append(out, v)
			}
		}
		out = append(out, beta.RawRowView(first+coverageLevels-1)...)
	}
	return out
}
