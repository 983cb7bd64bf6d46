package main

import (
	"context"
	"fmt"
	"slices"
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
	// share is p(topic). above is the most probable topic above a topic of the larger run,
	// and belongs its probability. genre is the mean p(class | word) of the top words.
	// common is how many top words a topic above other topics shares with the most similar
	// topic of the run with the same number of topics.
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
		if name == l.classes {
			if _, _, err := l.labelled(); err != nil {
				return nil, err
			}
		}
		set := settings("corpus", name, "k", below, "above", above, "n", l.small, "classes", name == l.classes,
			"rectify", rectify.AP{}, "solver", recoverer("ADMM"), "top", topWords, "seed", l.seed, "input", s.digest)
		out = append(out, cell{hierarchyGroup, set, 10, func(ctx context.Context) ([]row, error) { return l.hierarchy(ctx, s, below, above) }})
	}
	return out, nil
}

// hierarchyMoments counts the best words of a corpus. No artist is a stop word.
func (l *lab) hierarchyMoments(ctx context.Context, s *source) (*cooc.Moments, error) {
	c, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	cur := curation(l.small)
	if s.name == l.classes {
		if cur.StopWords, err = s.stopWords(ctx); err != nil {
			return nil, err
		}
	}
	if c, _, err = corpus.Curate(c, cur); err != nil {
		return nil, err
	}
	return cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true, Workers: l.workers})
}

// hierarchy fits topics, topics above them, and as few topics by one run.
func (l *lab) hierarchy(ctx context.Context, s *source, below, above int) ([]row, error) {
	d, err := l.hierarchyMoments(ctx, s)
	if err != nil {
		return nil, err
	}
	pipeline := func(k int) jsmf.Pipeline {
		return asPublished(k).Rectify(rectify.AP{}).Recover(recoverer("ADMM")).Seed(l.seed).Workers(l.workers)
	}
	m, err := pipeline(below).Fit(ctx, d)
	if err != nil {
		return nil, err
	}
	h, err := jsmf.Levels{K: []int{above}}.Run(ctx, pipeline(below).K(0), m)
	if err != nil {
		return nil, err
	}
	one, err := pipeline(above).Fit(ctx, d)
	if err != nil {
		return nil, err
	}
	c := d.Info().Corpus
	classes, word := []string{""}, (*mat.Dense)(nil)
	if s.name == l.classes {
		classes, word, _ = classShares(c)
	}
	var rows []row
	add := func(model string, shares []float64, top func(topic int) []string, more func(r row, topic int)) {
		for topic, share := range shares {
			names := top(topic)
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
	words := func(m *jsmf.Model) func(topic int) []string {
		return func(topic int) []string { return wordsOf(m.TopWords(topic, topWords)) }
	}
	single := words(one)
	add(fmt.Sprint(above), one.TopicShares(), single, func(row, int) {})
	supers := func(topic int) []string { return wordsOf(h.TopWords(1, topic, topWords)) }
	add(fmt.Sprintf("%d:%d", below, above), h.Model(1).TopicShares(), supers, func(r row, topic int) {
		most := 0
		for k := range one.K() {
			most = max(most, inBoth(supers(topic), single(k)))
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

// wordsOf returns the words of a list.
func wordsOf(list []jsmf.WordProb) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = w.Word
	}
	return out
}

// inBoth counts the words of a that are in b.
func inBoth(a, b []string) int {
	n := 0
	for _, w := range a {
		if slices.Contains(b, w) {
			n++
		}
	}
	return n
}
