package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
)

// freeGroup is fu-2018 Tables 4 to 12: draws of classes.
var freeGroup = &group{
	name: "anchorfree", version: 1,
	labels:   []string{"corpus", "classes", "k", "method"},
	measures: []string{"coherence", "simcount", "clustacc", "nmi"},
	seconds:  []string{"seconds"},
}

// manyGroup is fu-2018 Tables 13 to 16: many topics, no classes.
var manyGroup = &group{
	name: "anchorfree-many", version: 1,
	labels:   []string{"corpus", "k", "method"},
	measures: []string{"coherence", "simcount", "npmi", "specificity"},
	seconds:  []string{"seconds"},
}

// free is a row of the tables of fu-2018: a pipeline on tf-idf weights without
// rectification.
type free struct {
	name string
	p    func(k int) jsmf.Pipeline
}

// freeMethods are those of fu-2018 §6.3, SPA on the rows of C as there, and QR.
// pds tells whether the slower of the two anchor-free methods is among them.
func freeMethods(pds bool) []free {
	var out []free
	for _, f := range finders() {
		out = append(out, free{f.name, func(k int) jsmf.Pipeline {
			return asPublished(k).Rectify(rectifier(baseline)).Anchors(f.finder).Recover(recovery.L2())
		}})
	}
	learners := []struct {
		name string
		l    anchorfree.Learner
	}{{"AnchorFree-LP", anchorfree.LP{}}, {"AnchorFree-PDS", anchorfree.PDS{}}}
	if !pds {
		learners = learners[:1]
	}
	for _, x := range learners {
		out = append(out, free{x.name, func(k int) jsmf.Pipeline {
			return asPublished(k).Rectify(rectifier(baseline)).AnchorFree(x.l)
		}})
	}
	return out
}

// draws returns all sets of k of the names, in their order.
func draws(names []string, k int) [][]string {
	if k == 0 {
		return [][]string{nil}
	}
	var out [][]string
	for i := range names {
		for _, rest := range draws(names[i+1:], k-1) {
			out = append(out, append([]string{names[i]}, rest...))
		}
	}
	return out
}

const (
	leastClasses, mostClasses = 3, 5
	// Numbers of topics beyond which a method takes too long.
	mostPDS, mostCones = 30, 100
)

// manyTopics are those of fu-2018 Tables 13 to 16.
var manyTopics = []int{10, 30, 50, 100, 200}

// labelled returns the corpus of -classes, and the class of each document.
func (l *lab) labelled() (*source, []string, error) {
	s, err := l.source(l.classes)
	if err != nil {
		return nil, nil, err
	}
	if s.labels == "" {
		return nil, nil, fmt.Errorf("corpus %s has no labels.txt; -classes names one that has, or none", s.name)
	}
	labels, err := s.classes()
	return s, labels, err
}

func planFree(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	if l.classes != "" {
		s, labels, err := l.labelled()
		if err != nil {
			return nil, err
		}
		names := slices.Clone(labels)
		slices.Sort(names)
		names = slices.Compact(names)
		for k := leastClasses; k <= min(mostClasses, len(names)); k++ {
			for _, d := range draws(names, k) {
				set := settings("corpus", s.name, "classes", strings.Join(d, "+"), "k", k, "seed", l.seed, "input", s.digest)
				out = append(out, cell{freeGroup, set, 8, func(ctx context.Context) ([]row, error) { return l.draw(ctx, s, d) }})
			}
		}
	}
	if l.large != "" {
		s, err := l.source(l.large)
		if err != nil {
			return nil, err
		}
		for _, k := range manyTopics {
			if 4*k > l.small {
				continue
			}
			for _, m := range freeMethods(k <= mostPDS) {
				if m.name == "AnchorFree-LP" && k > l.mostFree || (m.name == "SNPA" || m.name == "XRAY") && k > mostCones {
					continue
				}
				set := settings("corpus", s.name, "k", k, "method", m.name, "stages", m.p(k), "n", l.small, "seed", l.seed, "input", s.digest)
				cost := 0.2 + float64(k)/50
				if strings.HasPrefix(m.name, "AnchorFree") {
					cost = float64(k*k*k) / 1e4
				}
				out = append(out, cell{manyGroup, set, cost, func(ctx context.Context) ([]row, error) { return l.many(ctx, s, k, m) }})
			}
		}
	}
	return out, nil
}

// every is a curation that keeps all words but stop words and those in all
// documents.
var every = corpus.Curation{Score: corpus.TFIDF}

// draw fits all methods to the documents of some classes.
func (l *lab) draw(ctx context.Context, s *source, classes []string) ([]row, error) {
	c, err := s.curate(ctx, every)
	if err != nil {
		return nil, err
	}
	var docs []int
	for m := range c.NumDocs() {
		if slices.Contains(classes, c.Label(m)) {
			docs = append(docs, m)
		}
	}
	if c, err = c.Select(docs, nil); err != nil {
		return nil, err
	}
	k := len(classes)
	d, err := cooc.NewMoments(ctx, c, cooc.Options{Weighting: cooc.TFIDF, DropUnused: true, Workers: l.workers})
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, m := range freeMethods(true) {
		r := row{"corpus": s.name, "classes": strings.Join(classes, "+"), "method": m.name}
		r.set("k", k)
		rows = append(rows, r)
		p := m.p(k).Seed(l.seed).Workers(l.workers)
		begun := cpuSeconds()
		fit, err := p.Fit(ctx, d)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			r["error"] = err.Error()
			continue
		}
		r.set("seconds", cpuSeconds()-begun)
		if err := l.topWords(ctx, r, d, fit); err != nil {
			return nil, err
		}
		w, err := leastSquares(ctx, fit, d.Info().Corpus, l.workers)
		if err != nil {
			return nil, err
		}
		a, err := metrics.ClustAcc(ctx, w, labelsOf(d.Info().Corpus), metrics.KMeans{Seed: l.seed, Workers: l.workers})
		if err != nil {
			return nil, err
		}
		r.set("clustacc", a.Accuracy).set("nmi", a.NMI)
	}
	return rows, nil
}

func labelsOf(c *corpus.Corpus) []string {
	out := make([]string, c.NumDocs())
	for m := range out {
		out[m] = c.Label(m)
	}
	return out
}

// topWords notes how top words go together and how many topics share.
func (l *lab) topWords(ctx context.Context, r row, d *cooc.Moments, m *jsmf.Model) error {
	b := mat.DenseCopyOf(m.Topics())
	rep, err := evaluate(ctx, d, b, nil, nil, l.workers)
	if err != nil {
		return err
	}
	r.set("coherence", rep.Coherence.Mean).set("npmi", rep.NPMI.Mean).set("specificity", rep.Specificity.Mean)
	lists, err := metrics.TopLists(b, 0)
	if err != nil {
		return err
	}
	total, _, err := metrics.SimCount(lists)
	if err != nil {
		return err
	}
	r.set("simcount", total)
	return nil
}

// leastSquares returns the weights of the topics in the tf-idf vector of each
// document, scaled to sum 1, as fu-2018 §6.2 has it, but over the simplex.
func leastSquares(ctx context.Context, m *jsmf.Model, c *corpus.Corpus, workers int) (*mat.Dense, error) {
	in, err := m.Inferer(ctx, infer.LeastSquares{}, infer.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	idf := c.IDF()
	w := mat.NewDense(c.NumDocs(), m.K(), nil)
	var weights []float64
	for i := range c.NumDocs() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		words, counts := c.Doc(i)
		weights = weights[:0]
		for j, id := range words {
			weights = append(weights, float64(counts[j])*idf[id])
		}
		if _, err := in.InferWeightsTo(w.RawRowView(i), words, weights); err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
	}
	return w, nil
}

// many fits one method with many topics.
func (l *lab) many(ctx context.Context, s *source, k int, m free) ([]row, error) {
	d, err := s.count(ctx, curation(l.small), cooc.TFIDF, l.workers)
	if err != nil {
		return nil, err
	}
	begun := cpuSeconds()
	fit, err := m.p(k).Seed(l.seed).Workers(l.workers).Fit(ctx, d)
	if err != nil {
		return nil, err
	}
	r := row{"corpus": s.name, "method": m.name}
	r.set("k", k).set("seconds", cpuSeconds()-begun)
	return []row{r}, l.topWords(ctx, r, d, fit)
}

var clustersGroup = &group{
	name: "clusters", version: 1,
	labels: []string{"corpus", "method", "topic", "words", "class"},
	// weight is the mean weight of the topic in the documents of the class; the
	// others are of the method as a whole.
	measures: []string{"weight", "clustacc", "nmi", "main_topic"},
	seconds:  []string{"seconds"},
}

var clusterMethods = []string{baseline, "AP", "ENN", passes, "AnchorFree-LP", gibbs}

func planClusters(_ context.Context, l *lab) ([]cell, error) {
	if l.classes == "" {
		return nil, nil
	}
	s, labels, err := l.labelled()
	if err != nil {
		return nil, err
	}
	slices.Sort(labels)
	k := len(slices.Compact(labels))
	var out []cell
	for _, m := range clusterMethods {
		set := refined(settings("corpus", s.name, "method", m, "k", k, "seed", l.seed, "input", s.digest), m)
		if m == gibbs {
			set = append(set, settings("sweeps", l.sweeps)...)
		}
		out = append(out, cell{clustersGroup, set, 3, func(ctx context.Context) ([]row, error) { return l.cluster(ctx, s, k, m) }})
	}
	return out, nil
}

// cluster fits as many topics as there are classes and clusters the documents by
// their compositions.
func (l *lab) cluster(ctx context.Context, s *source, k int, method string) ([]row, error) {
	weights := cooc.Unbiased
	if method == "AnchorFree-LP" {
		weights = cooc.TFIDF
	}
	d, err := s.count(ctx, every, weights, l.workers)
	if err != nil {
		return nil, err
	}
	c := d.Info().Corpus
	begun := cpuSeconds()
	var w, b *mat.Dense
	if method == gibbs {
		m, err := sample(ctx, c, k, l.sweeps, l.seed)
		if err != nil {
			return nil, err
		}
		w, b = m.w, m.b
	} else {
		p := asPublished(k).Rectify(rectifier(method)).Refine(refiner(method)).Seed(l.seed).Workers(l.workers)
		if method == "AnchorFree-LP" {
			p = p.Rectify(rectifier(baseline)).AnchorFree(anchorfree.LP{})
		}
		m, err := p.Fit(ctx, d)
		if err != nil {
			return nil, err
		}
		b = mat.DenseCopyOf(m.Topics())
		if weights == cooc.TFIDF {
			w, err = leastSquares(ctx, m, c, l.workers)
		} else {
			var docs *jsmf.Compositions
			if docs, err = m.TransformBy(ctx, c.Source(), nil, infer.Options{Workers: l.workers}); err == nil {
				w = docs.W
			}
		}
		if err != nil {
			return nil, err
		}
	}
	took := cpuSeconds() - begun
	labels := labelsOf(c)
	a, err := metrics.ClustAcc(ctx, w, labels, metrics.KMeans{Seed: l.seed, Workers: l.workers})
	if err != nil {
		return nil, err
	}
	t, err := metrics.Associate(w, labels)
	if err != nil {
		return nil, err
	}
	top, err := metrics.TopLists(b, 6)
	if err != nil {
		return nil, err
	}
	var rows []row
	for topic := range k {
		var words []string
		for _, i := range top[topic] {
			words = append(words, c.Word(i))
		}
		for j, class := range t.Labels {
			r := row{"corpus": s.name, "method": method, "class": class, "words": strings.Join(words, " ")}
			r.set("topic", topic).set("weight", t.Weight.At(topic, j))
			r.set("clustacc", a.Accuracy).set("nmi", a.NMI).set("main_topic", t.Main.Accuracy).set("seconds", took)
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// meanOf returns the mean of the numbers of a column, NaN where there is none.
func meanOf(rows []row, column string) float64 {
	sum, n := 0.0, 0
	for _, r := range rows {
		if v := r.num(column); !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}
