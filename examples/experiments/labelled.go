package main

import (
	"context"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

// labelledGroup is how well labels that some documents have tell those of the others.
var labelledGroup = &group{
	name: "labelled", version: 1,
	labels: []string{"corpus", "k", "method", "oneof"},
	// accuracy is the part of the other documents whose label is right, on average over the draws of those with labels.
	measures: []string{"accuracy"},
	seconds:  []string{"learn"},
}

const (
	labelsMethod   = "Labels"
	givenMethod    = "p(label | topic)"
	wordsMethod    = "words"
	labelledDraws  = 2 // of the documents with labels
	labelledSweeps = 30
)

var (
	labelledTopics = []int{5, 20, 50}
	labelledOneOf  = []int{2, 10, 40} // documents have a label
)

func planLabelled(_ context.Context, l *lab) ([]cell, error) {
	if l.classes == "" {
		return nil, nil
	}
	s, _, err := l.labelled()
	if err != nil {
		return nil, err
	}
	var out []cell
	for _, k := range append([]int{0}, labelledTopics...) {
		set := settings("corpus", s.name, "k", k, "seed", l.seed, "input", s.digest)
		out = append(out, cell{labelledGroup, set, 10, func(ctx context.Context) ([]row, error) { return l.tellLabels(ctx, s, k) }})
	}
	return out, nil
}

// tellLabels tells hidden labels by a model of k topics; 0: by words alone.
func (l *lab) tellLabels(ctx context.Context, s *source, k int) ([]row, error) {
	c, err := s.curate(ctx, corpus.Curation{Score: corpus.TFIDF})
	if err != nil {
		return nil, err
	}
	truth, ids := labelsOf(c), make([]string, c.NumDocs())
	for d := range ids {
		ids[d] = strconv.Itoa(d)
	}
	if c, err = corpus.FromCSR(c.Counts(), c.Vocabulary(), ids, nil); err != nil {
		return nil, err
	}
	names := slices.Compact(slices.Sorted(slices.Values(truth)))
	methods := []string{wordsMethod}
	var m *jsmf.Model
	if k > 0 {
		methods = []string{labelsMethod, givenMethod}
		if m, err = jsmf.New(k).Workers(l.workers).Fit(ctx, c); err != nil {
			return nil, err
		}
	}
	var out []row
	for _, oneOf := range labelledOneOf {
		right, seconds := make([]float64, len(methods)), 0.
		for draw := range labelledDraws {
			begun := cpuSeconds()
			scores := make([]*mat.Dense, len(methods))
			if m == nil {
				scores[0] = byWords(c, truth, names, func(d int) bool { return d%oneOf == draw })
			} else {
				x, err := m.Labels(ctx, c.Source(), func(doc corpus.Document) []string {
					if d, _ := strconv.Atoi(doc.ID); d%oneOf == draw {
						return []string{truth[d]}
					}
					return nil
				})
				if err != nil {
					return nil, err
				}
				if scores[0], err = x.Scores(ctx, c.Source()); err != nil {
					return nil, err
				}
				w, err := m.Transform(ctx, c.Source())
				if err != nil {
					return nil, err
				}
				scores[1] = new(mat.Dense)
				scores[1].Mul(w.W, x.Given.T())
			}
			seconds += (cpuSeconds() - begun) / labelledDraws
			for i, of := range scores {
				hits, all := 0., 0.
				for d, label := range truth {
					if d%oneOf == draw {
						continue
					}
					if all++; names[floats.MaxIdx(of.RawRowView(d))] == label {
						hits++
					}
				}
				right[i] += hits / all / labelledDraws
			}
		}
		for i, method := range methods {
			r := row{"corpus": s.name, "method": method}.set("k", k).set("oneof", oneOf)
			out = append(out, r.set("accuracy", right[i]).set("learn", seconds))
		}
	}
	return out, nil
}

// byWords is a plain linear classifier of documents by tf-idf, one label against the others: dual coordinate descent
// for the squared hinge loss.
func byWords(c *corpus.Corpus, truth, names []string, known func(d int) bool) *mat.Dense {
	docs, idf := make([]map[int32]float64, c.NumDocs()), c.IDF()
	for d := range docs {
		docs[d] = map[int32]float64{int32(c.NumWords()): 1} // for the bias
		words, counts := c.Doc(d)
		norm := 0.
		for i, w := range words {
			x := (1 + math.Log(float64(counts[i]))) * idf[w]
			docs[d][w] = x
			norm += x * x
		}
		for _, w := range words {
			docs[d][w] /= math.Sqrt(norm)
		}
	}
	order := func(d int) []int32 { // so that sums are always the same
		words, _ := c.Doc(d)
		return append(slices.Clone(words), int32(c.NumWords()))
	}
	out := mat.NewDense(len(docs), len(names), nil)
	for l, name := range names {
		weight, alpha := make([]float64, c.NumWords()+1), make([]float64, len(docs))
		dot := func(d int) (sum float64) {
			for _, w := range order(d) {
				sum += weight[w] * docs[d][w]
			}
			return sum
		}
		for range labelledSweeps {
			for d := range docs {
				if !known(d) {
					continue
				}
				y := -1.
				if truth[d] == name {
					y = 1
				}
				next := max(0, alpha[d]-(y*dot(d)-1+alpha[d]/2)/(2+0.5))
				for _, w := range order(d) {
					weight[w] += y * (next - alpha[d]) * docs[d][w]
				}
				alpha[d] = next
			}
		}
		for d := range docs {
			out.Set(d, l, dot(d))
		}
	}
	return out
}
