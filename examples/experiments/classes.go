package main

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/experiments/internal/rivals"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/recover/anchorfree"
)

// labelled returns the corpus of -classes, and the classes in their order.
func (l *lab) labelled() (*source, []string, error) {
	s, err := l.source(l.classes)
	if err != nil {
		return nil, nil, err
	}
	if s.labels == "" {
		return nil, nil, fmt.Errorf("corpus %s has no labels.txt; -classes names one that has, or none", s.name)
	}
	labels, err := s.classes()
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(labels)
	return s, slices.Compact(labels), nil
}

// every is a curation that keeps all words but stop words and those in all
// documents.
var every = corpus.Curation{Score: corpus.TFIDF}

func labelsOf(c *corpus.Corpus) []string {
	out := make([]string, c.NumDocs())
	for m := range out {
		out[m] = c.Label(m)
	}
	return out
}

// leastSquares returns the weights of the topics b in the vector of each document,
// of counts or tf-idf weights as the moments have them and scaled to the sum 1, as
// fu-2018 §6.2 has it, but over the simplex.
func leastSquares(ctx context.Context, b *mat.Dense, c *corpus.Corpus, of cooc.Weighting, workers int) (*mat.Dense, error) {
	in, err := infer.LeastSquares{}.Prepare(ctx, infer.Topics{B: b}, infer.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	idf := c.IDF()
	if of != cooc.TFIDF {
		idf = filled(c.NumWords(), 1)
	}
	w := mat.NewDense(c.NumDocs(), b.RawMatrix().Cols, nil)
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

var clustersGroup = &group{
	name: "clusters", version: 1,
	labels: []string{"corpus", "method", "topic", "words", "class"},
	// weight is the mean weight of the topic in the documents of the class; the
	// others are of the method as a whole.
	measures: []string{"weight", "clustacc", "nmi", "main_topic"},
	seconds:  []string{"seconds"},
}

var clusterMethods = []string{baseline, "AP", "ENN", passes, freeLP, gibbs}

func planClusters(_ context.Context, l *lab) ([]cell, error) {
	if l.classes == "" {
		return nil, nil
	}
	s, names, err := l.labelled()
	if err != nil {
		return nil, err
	}
	k := len(names)
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
	if method == freeLP {
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
		if method == freeLP {
			p = p.Rectify(rectifier(baseline)).AnchorFree(anchorfree.LP{})
		}
		m, err := p.Fit(ctx, d)
		if err != nil {
			return nil, err
		}
		b = mat.DenseCopyOf(m.Topics())
		if weights == cooc.TFIDF {
			w, err = leastSquares(ctx, b, c, weights, l.workers)
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
	a, err := rivals.ClustAcc(ctx, w, labels, rivals.KMeans{Seed: l.seed, Workers: l.workers})
	if err != nil {
		return nil, err
	}
	main := largest(w)
	classes := map[string][]float64{} // the mean weights of the topics by class
	docs := map[string]float64{}
	for m, class := range labels {
		if main[m] < 0 {
			continue
		}
		if classes[class] == nil {
			classes[class] = make([]float64, k)
		}
		floats.Add(classes[class], w.RawRowView(m))
		docs[class]++
	}
	agreed, err := metrics.Agree(main, labels)
	if err != nil {
		return nil, err
	}
	top, err := metrics.TopLists(b, 6)
	if err != nil {
		return nil, err
	}
	var rows []row
	for topic := range k {
		for _, class := range agreed.Labels {
			r := row{"corpus": s.name, "method": method, "class": class, "words": listed(c, top[topic])}
			r.set("topic", topic).set("weight", classes[class][topic]/docs[class])
			r.set("clustacc", a.Accuracy).set("nmi", a.NMI).set("main_topic", agreed.Accuracy).set("seconds", took)
			rows = append(rows, r)
		}
	}
	return rows, nil
}
