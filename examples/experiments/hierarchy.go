package main

import (
	"context"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/rectify"
)

var hierarchyGroup = &group{
	name: "hierarchy", version: 2,
	// model is the number of topics of one run, or both numbers of a recursive one.
	labels: []string{"corpus", "model", "topic", "class"},
	// share is p(topic). above is the topic above that a topic of the larger run is
	// most likely of, and belongs how likely. genre is the mean p(class | word) of the
	// top words. common is how many of the top words of a topic above other topics the
	// run of as few topics has in the most alike of its own.
	measures: []string{"share", "above", "belongs", "genre", "common", "words"},
}

// levels returns the numbers of topics: the largest up to 25, and the smallest above
// those.
func (l *lab) levels() (below, above int) {
	for _, k := range l.topics {
		if k <= 25 {
			below = k
		}
	}
	return below, l.topics[0]
}

func planHierarchy(_ context.Context, l *lab) ([]cell, error) {
	below, above := l.levels()
	if below <= above {
		return nil, nil
	}
	var out []cell
	for _, name := range []string{l.classes, l.artists} {
		if name == "" {
			continue
		}
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		if name == l.classes && s.labels == "" {
			return nil, fmt.Errorf("corpus %s has no labels.txt", name)
		}
		set := settings("corpus", name, "k", below, "above", above, "n", l.small, "classes", name == l.classes,
			"rectify", rectify.AP{}, "solver", recoverer("ADMM"), "top", topWords, "seed", l.seed, "input", s.digest)
		out = append(out, cell{hierarchyGroup, set, 10, func(ctx context.Context) ([]row, error) { return l.hierarchy(ctx, s, below, above) }})
	}
	return out, nil
}

// hierarchy fits topics, topics above them, and as few topics by one run.
func (l *lab) hierarchy(ctx context.Context, s *source, below, above int) ([]row, error) {
	c, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	cur := curation(l.small)
	if s.name == l.classes { // no artist is a stop word
		if cur.StopWords, err = s.stopWords(ctx); err != nil {
			return nil, err
		}
	}
	if c, _, err = corpus.Curate(c, cur); err != nil {
		return nil, err
	}
	d, err := cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true, Workers: l.workers})
	if err != nil {
		return nil, err
	}
	c = d.Info().Corpus
	pipeline := func(k int) jsmf.Pipeline {
		return asPublished(k).Rectify(rectify.AP{}).Recover(recoverer("ADMM")).Seed(l.seed).Workers(l.workers)
	}
	m, err := pipeline(below).Fit(ctx, d)
	if err != nil {
		return nil, err
	}
	h, err := pipeline(below).Hierarchy(ctx, m, above)
	if err != nil {
		return nil, err
	}
	one, err := pipeline(above).Fit(ctx, d)
	if err != nil {
		return nil, err
	}
	classes, word := []string{""}, (*mat.Dense)(nil)
	if s.name == l.classes {
		classes, word, _ = classShares(c)
	}
	var rows []row
	add := func(model string, shares []float64, top func(topic int) []jsmf.WordProb, more func(r row, topic int)) {
		for topic, share := range shares {
			var names []string
			for _, w := range top(topic) {
				names = append(names, w.Word)
			}
			for j, class := range classes {
				r := row{"corpus": s.name, "model": model, "class": class, "words": strings.Join(names, " ")}
				r.set("topic", topic).set("share", share)
				if word != nil {
					sum := 0.0
					for _, w := range names {
						i, _ := c.Index(w)
						sum += word.At(i, j)
					}
					r.set("genre", sum/float64(len(names)))
				}
				more(r, topic)
				rows = append(rows, r)
			}
		}
	}
	words := func(m *jsmf.Model) func(topic int) []jsmf.WordProb {
		return func(topic int) []jsmf.WordProb { return m.TopWords(topic, topWords) }
	}
	add(fmt.Sprint(above), one.TopicShares(), words(one), func(row, int) {})
	supers := func(topic int) []jsmf.WordProb { return h.TopWords(1, topic, topWords) }
	add(fmt.Sprintf("%d:%d", below, above), h.Model(1).TopicShares(), supers, func(r row, topic int) {
		most := 0
		for k := range one.K() {
			most = max(most, inBoth(supers(topic), one.TopWords(k, topWords)))
		}
		r.set("common", most)
	})
	parents := make([]jsmf.Edge, below) // the likeliest topic above each
	for _, e := range h.Edges(1, 0) {
		if e.Share > parents[e.Child].Share {
			parents[e.Child] = e
		}
	}
	add(fmt.Sprint(below), m.TopicShares(), words(m), func(r row, topic int) {
		r.set("above", parents[topic].Parent).set("belongs", parents[topic].Share)
	})
	return rows, nil
}

// inBoth counts the words that are in both lists.
func inBoth(a, b []jsmf.WordProb) int {
	in := make(map[string]bool)
	for _, w := range a {
		in[w.Word] = true
	}
	n := 0
	for _, w := range b {
		if in[w.Word] {
			n++
		}
	}
	return n
}
