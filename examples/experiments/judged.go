package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/experiments/internal/rivals"
	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// The methods of judged and reranked.
const (
	byDefault = "New"
	nmf       = "NMF"
	kMeans    = "k-means"
)

// nmfIterations is the most that NMF makes, and nmfTolerance when it ends.
const (
	nmfIterations = 200
	nmfTolerance  = 1e-4
)

// mixtures are topics, with their proportions in the documents.
type mixtures struct {
	b, w    *mat.Dense
	reading *mat.Dense  // of byDefault: the weights of its reading words
	model   *jsmf.Model // the same
}

// mix fits k topics by a method.
func (l *lab) mix(ctx context.Context, c *corpus.Corpus, method string, k int, seed uint64) (*mixtures, error) {
	switch method {
	case nmf:
		m, err := rivals.NMF{K: k, Iterations: nmfIterations, Tolerance: nmfTolerance, Seed: seed}.Fit(ctx, c)
		if err != nil {
			return nil, err
		}
		return &mixtures{b: m.B, w: m.W}, nil
	case gibbs:
		m, err := sample(ctx, c, k, l.sweeps, seed)
		if err != nil {
			return nil, err
		}
		return &mixtures{b: m.b, w: m.w}, nil
	}
	m, err := jsmf.New(k).Workers(l.workers).Fit(ctx, c)
	if err != nil {
		return nil, err
	}
	docs, err := m.Transform(ctx, c.Source())
	if err != nil {
		return nil, err
	}
	out := &mixtures{b: mat.NewDense(c.NumWords(), m.K(), nil), reading: mat.NewDense(c.NumWords(), m.K(), nil), w: docs.W, model: m}
	for i := range c.NumWords() {
		if at, ok := m.Index(c.Word(i)); ok {
			for t := range m.K() {
				out.b.Set(i, t, m.Topics().At(at, t))
				out.reading.Set(i, t, m.Reading().At(at, t))
			}
		}
	}
	return out, nil
}

// rankedWords returns the N×K weights by which the library ranks the words of a topic, for topics b with
// proportions w: see refine.Result.Reading.
func rankedWords(c *corpus.Corpus, b, w *mat.Dense) *mat.Dense {
	n, k := b.Dims()
	if c.NNZ() < docstep.Shortest*c.NumDocs() {
		return b
	}
	x, p := mat.NewDense(n, k, nil), make([]float64, k)
	for m := range c.NumDocs() {
		ids, _ := c.Doc(m)
		for _, i := range ids {
			floats.MulTo(p, w.RawRowView(m), b.RawRowView(int(i)))
			if sum := floats.Sum(p); sum > 0 {
				floats.AddScaled(x.RawRowView(int(i)), 1/sum, p)
			}
		}
	}
	shares := make([]float64, k)
	for i := range n {
		floats.Add(shares, x.RawRowView(i))
	}
	all, df := floats.Sum(shares), c.DocFrequencies()
	for i := range n {
		row := x.RawRowView(i)
		of := floats.Sum(row)
		for t, v := range row {
			row[t] = docstep.Weight(v, v/of*all/shares[t], math.Log(float64(c.NumDocs())/float64(df[i])))
		}
	}
	return x
}

var judgedGroup = &group{
	name: "judged", version: 1,
	labels:   []string{"corpus", "k", "method", "draw"},
	measures: []string{"ari", "ami", "purity", "harmonic", "nmi"},
	seconds:  []string{"seconds"},
}

// judgedTopics has the topics of byDefault: purity is the share of the documents with most of the topic that
// have their most frequent class, and documents how many these are.
var judgedTopics = &group{
	name: "judged-topics", version: 1,
	labels:   []string{"corpus", "k", "topic", "words", "class", "verdict"},
	measures: []string{"documents", "purity", "share", "npmi", "exclusivity"},
}

// Judged fits as many topics as there are classes, times each of these. Methods that begin at random are
// drawn so many times.
var judgedTimes = []int{1, 3, 10}

const judgedDraws = 5

func planJudged(_ context.Context, l *lab) ([]cell, error) {
	if l.classes == "" {
		return nil, nil
	}
	s, names, err := l.labelled()
	if err != nil {
		return nil, err
	}
	var out []cell
	for _, times := range judgedTimes {
		k := times * len(names)
		set := settings("corpus", s.name, "k", k, "input", s.digest)
		out = append(out, cell{judgedTopics, set, 3, func(ctx context.Context) ([]row, error) { return l.judgeTopics(ctx, s, k) }})
		for _, method := range []string{byDefault, nmf, kMeans, gibbs} {
			draws := 1
			if method == kMeans || method == gibbs {
				draws = judgedDraws
			}
			for d := range draws {
				set := settings("corpus", s.name, "k", k, "method", method, "draw", d, "seed", l.seed, "input", s.digest)
				if method == gibbs {
					set = append(set, settings("sweeps", l.sweeps)...)
				}
				out = append(out, cell{judgedGroup, set, 3, func(ctx context.Context) ([]row, error) { return l.judge(ctx, s, k, method, d) }})
			}
		}
	}
	return out, nil
}

// judge compares the largest topic of each document, or its cluster, with its class.
func (l *lab) judge(ctx context.Context, s *source, k int, method string, draw int) ([]row, error) {
	c, err := s.curate(ctx, every)
	if err != nil {
		return nil, err
	}
	begun, seed, labels := cpuSeconds(), l.seed+uint64(draw), labelsOf(c)
	var a *metrics.Agreement
	if method == kMeans {
		a, err = rivals.ClustAcc(ctx, rivals.TFIDF(c).Dense(), labels, rivals.KMeans{K: k, Restarts: 10, Seed: seed, Workers: l.workers})
	} else {
		var x *mixtures
		if x, err = l.mix(ctx, c, method, k, seed); err == nil {
			a, err = metrics.Agree(largest(x.w), labels)
		}
	}
	if err != nil {
		return nil, err
	}
	r := row{"corpus": s.name, "method": method}
	r.set("k", k).set("draw", draw).set("ari", a.ARI).set("ami", a.AMI).set("purity", a.Purity).set("harmonic", a.HarmonicPurity).set("nmi", a.NMI)
	return []row{r.set("seconds", cpuSeconds()-begun)}, nil
}

// largest returns the topic of most weight in each document, −1 in one without any.
func largest(w *mat.Dense) []int {
	docs, _ := w.Dims()
	out := make([]int, docs)
	for m := range out {
		if out[m] = floats.MaxIdx(w.RawRowView(m)); w.At(m, out[m]) == 0 {
			out[m] = -1
		}
	}
	return out
}

// judgeTopics compares the topics of the default with the classes.
func (l *lab) judgeTopics(ctx context.Context, s *source, k int) ([]row, error) {
	c, err := s.curate(ctx, every)
	if err != nil {
		return nil, err
	}
	x, err := l.mix(ctx, c, byDefault, k, l.seed)
	if err != nil {
		return nil, err
	}
	verdicts, err := jsmf.New(k).Workers(l.workers).Verdicts(ctx, x.model, c)
	if err != nil {
		return nil, err
	}
	a, err := metrics.Agree(largest(x.w), labelsOf(c))
	if err != nil {
		return nil, err
	}
	top, err := metrics.TopLists(x.reading, 6)
	if err != nil {
		return nil, err
	}
	var rows []row
	for t, v := range verdicts {
		r := row{"corpus": s.name, "words": listed(c, top[t]), "verdict": v.Quality.String()}
		r.set("k", k).set("topic", t).set("share", v.Share).set("npmi", v.NPMI).set("exclusivity", v.Exclusivity).set("documents", 0)
		if t < len(a.Counts) {
			n, most := 0, 0
			for j, of := range a.Counts[t] {
				if n += of; of > a.Counts[t][most] {
					most = j
				}
			}
			r.set("documents", n).set("purity", float64(a.Counts[t][most])/float64(n))
			r["class"] = a.Labels[most]
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// rankCorrelation is Spearman's: the correlation of the ranks, the mean of them for equal values.
func rankCorrelation(x, y []float64) float64 {
	return stat.Correlation(ranks(x), ranks(y), nil)
}

func ranks(x []float64) []float64 {
	sorted := slices.Sorted(slices.Values(x))
	out := make([]float64, len(x))
	for i, v := range x {
		first, _ := slices.BinarySearch(sorted, v)
		last := first
		for last < len(sorted) && sorted[last] == v {
			last++
		}
		out[i] = float64(first+last-1) / 2
	}
	return out
}

var rerankedGroup = &group{
	name: "reranked", version: 1,
	labels: []string{"corpus", "k", "method"},
	// The NPMI of the 20 most probable words of a topic, and of those that rankedWords puts first, with how many of
	// each are in no other topic's list.
	measures: []string{"probable", "reading", "probable_unique", "reading_unique"},
	seconds:  []string{"seconds"},
}

func planReranked(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	for _, name := range l.corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		for _, k := range l.topics {
			for _, method := range []string{byDefault, nmf, gibbs} {
				set, cost := settings("corpus", name, "k", k, "method", method, "seed", l.seed, "input", s.digest), float64(k)/10
				if method == gibbs {
					if k > l.maxSlow {
						continue
					}
					set, cost = append(set, settings("sweeps", l.sweeps)...), gibbsCost(k, l.sweeps)
				}
				out = append(out, cell{rerankedGroup, set, cost, func(ctx context.Context) ([]row, error) { return l.rerank(ctx, s, k, method) }})
			}
		}
	}
	return out, nil
}

// rerank measures the words of topics ranked in both ways.
func (l *lab) rerank(ctx context.Context, s *source, k int, method string) ([]row, error) {
	c, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	begun := cpuSeconds()
	x, err := l.mix(ctx, c, method, k, l.seed)
	if err != nil {
		return nil, err
	}
	took, reading := cpuSeconds()-begun, x.reading
	if reading == nil {
		reading = rankedWords(c, x.b, x.w)
	}
	r := row{"corpus": s.name, "method": method}
	r.set("k", k).set("seconds", took)
	for name, weights := range map[string]*mat.Dense{"probable": x.b, "reading": withWords(reading, x.b)} {
		pairs, err := cooc.CountPairs(ctx, c, metrics.TopUnion(weights, topWords))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		rep, err := metrics.Evaluate(ctx, metrics.Factors{B: weights, Pairs: pairs, TopN: topWords})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.set(name, rep.NPMI.Mean).set(name+"_unique", rep.Dissimilarity.Mean)
	}
	return []row{r}, nil
}

// withWords returns weights with columns that sum to 1: those of b where there are none.
func withWords(weights, b *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(weights)
	_, k := out.Dims()
	for t := range k {
		col := mat.Col(nil, t, out)
		if floats.Sum(col) == 0 {
			mat.Col(col, t, b)
		}
		floats.Scale(1/floats.Sum(col), col)
		out.SetCol(t, col)
	}
	return out
}
