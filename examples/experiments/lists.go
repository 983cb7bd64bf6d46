package main

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

// listsGroup has a row for each topic.
var listsGroup = &group{
	name: "lists", version: 1,
	labels: []string{"corpus", "method", "topic", "words", "top"},
	// theory and probability are the means of p(topic | word) over the words of these
	// lists.
	measures: []string{"theory", "probability"},
	seconds:  []string{"seconds"},
}

const (
	listTopics = 5
	listBelow  = 25 // topics below those of the recursive model
	jsmfOne    = "JSMF-5"
	jsmfTwo    = "JSMF-25:5"
	gibbsFive  = "Gibbs-5"
)

var listMethods = []string{jsmfTwo, jsmfOne, gibbsFive, oviName, oviMore, tensorName, tensorLow, tensorHigh, jsmfTwo + trimmed, jsmfOne + trimmed, tensorName + trimmed}

// The words of the two topics that lee-2018 Table 3.1 finds in the recursive model only.
var (
	theoryWords      = []string{"bound", "threshold", "theorem", "class", "dimension", "polynomial", "proof"}
	probabilityWords = []string{"gaussian", "density", "likelihood", "noise", "mixture", "component", "prior"}
)

// planLists takes the first corpus, which is the papers' NIPS.
func planLists(_ context.Context, l *lab) ([]cell, error) {
	s, err := l.source(l.corpora[0])
	if err != nil {
		return nil, err
	}
	var out []cell
	for _, method := range listMethods {
		set := settings("corpus", s.name, "method", method, "n", l.words, "seed", l.seed, "input", s.digest)
		cost := 5.0
		switch method {
		case jsmfTwo, jsmfOne, jsmfTwo + trimmed, jsmfOne + trimmed:
			set = append(set, settings("rectify", rectify.AP{}, "solver", recoverer("ADMM"))...)
		case gibbsFive:
			set = append(set, settings("sweeps", l.sweeps)...)
			cost = gibbsCost(listTopics, l.sweeps)
		default:
			set = append(set, settings("rival", rivalOf(method, listTopics, l.seed))...)
		}
		out = append(out, cell{listsGroup, set, cost, func(ctx context.Context) ([]row, error) { return l.list(ctx, s, method) }})
	}
	return out, nil
}

// five fits five topics.
func (l *lab) five(ctx context.Context, d *cooc.Moments, method string) (b, a *mat.Dense, err error) {
	p := asPublished(listTopics).Rectify(rectify.AP{}).Recover(recoverer("ADMM")).Seed(l.seed).Workers(l.workers)
	switch method {
	case jsmfOne, jsmfOne + trimmed:
		m, err := p.Fit(ctx, d)
		if err != nil {
			return nil, nil, err
		}
		return mat.DenseCopyOf(m.Topics()), mat.DenseCopyOf(m.Correlations()), nil
	case jsmfTwo, jsmfTwo + trimmed:
		m, err := asPublished(listBelow).Rectify(rectify.AP{}).Recover(recoverer("ADMM")).Seed(l.seed).Workers(l.workers).Fit(ctx, d)
		if err != nil {
			return nil, nil, err
		}
		h, err := jsmf.Levels{K: []int{listTopics}}.Run(ctx, p.K(0), m)
		if err != nil {
			return nil, nil, err
		}
		return mat.DenseCopyOf(h.Topics(1)), mat.DenseCopyOf(h.Model(1).Correlations()), nil
	case gibbsFive:
		m, err := sample(ctx, d.Info().Corpus, listTopics, l.sweeps, l.seed)
		if err != nil {
			return nil, nil, err
		}
		return m.b, mat.DenseCopyOf(m.a), nil
	}
	m, err := rivalOf(method, listTopics, l.seed).Fit(ctx, d.Info().Corpus)
	if err != nil {
		return nil, nil, err
	}
	return m.B, mat.DenseCopyOf(m.A), nil
}

// list fits five topics and notes their top words.
func (l *lab) list(ctx context.Context, s *source, method string) ([]row, error) {
	d, err := l.countFor(ctx, s, method)
	if err != nil {
		return nil, err
	}
	c := d.Info().Corpus
	begun := cpuSeconds()
	b, a, err := l.five(ctx, d, method)
	if err != nil {
		return nil, err
	}
	took := cpuSeconds() - begun
	lists, err := metrics.TopLists(b, 20)
	if err != nil {
		return nil, err
	}
	shares := make([]float64, listTopics)
	for i := range shares {
		shares[i] = mat.Sum(a.RowView(i))
	}
	var rows []row
	for topic, list := range lists {
		r := row{"corpus": s.name, "method": method, "top": listed(c, list), "words": listed(c, prominent(b, d.Marginals(), topic, list))}
		r.set("topic", topic).set("seconds", took)
		for name, words := range map[string][]string{"theory": theoryWords, "probability": probabilityWords} {
			sum, known := 0.0, 0
			for _, w := range words {
				i, ok := c.Index(w)
				if !ok {
					continue
				}
				known++
				all := 0.0
				for t, share := range shares {
					all += b.At(i, t) * share
				}
				if all > 0 {
					sum += b.At(i, topic) * shares[topic] / all
				}
			}
			if known > 0 {
				r.set(name, sum/float64(known))
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// prominent returns, in their order, the seven of the top words whose probability in
// the topic is the largest multiple of that in the corpus.
func prominent(b *mat.Dense, unigram []float64, topic int, list []int) []int {
	by := slices.Clone(list)
	slices.SortStableFunc(by, func(i, j int) int {
		return cmp.Compare(b.At(j, topic)/unigram[j], b.At(i, topic)/unigram[i])
	})
	by = by[:min(7, len(by))]
	var out []int
	for _, i := range list {
		if slices.Contains(by, i) {
			out = append(out, i)
		}
	}
	return out
}
