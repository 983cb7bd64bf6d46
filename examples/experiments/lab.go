package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/metrics"
)

// lab holds the settings and the corpora that were read so far. It runs one cell at
// a time.
type lab struct {
	options
	sources map[string]*source
}

// source returns a corpus of the data folder.
func (l *lab) source(name string) (*source, error) {
	if s := l.sources[name]; s != nil {
		return s, nil
	}
	s, err := findSource(l.data, name, l.stop)
	if err != nil {
		return nil, err
	}
	if l.sources == nil {
		l.sources = make(map[string]*source)
	}
	l.sources[name] = s
	return s, nil
}

// group is a table of results. Experiments may share one.
type group struct {
	name string
	// version is part of the key of a cell. Raise it when the code changes
	// results.
	version int
	// labels identify a row; measures and seconds are its results. A column for
	// an error follows them.
	labels, measures, seconds []string
}

// cell is a piece of work that is recorded as a whole.
type cell struct {
	group    *group
	settings []setting // all that the result depends on; those with the name of a label fill it in
	cost     float64   // about the seconds it takes, for the time left
	run      func(ctx context.Context) ([]row, error)
}

func (c cell) key() string { return cellKey(c.group.name, c.group.version, c.settings) }

func (c cell) String() string {
	out := []string{c.group.name}
	for _, s := range c.settings {
		if s.Value != "" && slices.Contains(c.group.labels, s.Name) {
			out = append(out, s.Name+"="+s.Value)
		}
	}
	return strings.Join(out, " ")
}

// settings makes a list of pairs of name and value.
func settings(pairs ...any) []setting {
	var out []setting
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, setting{pairs[i].(string), fmt.Sprint(pairs[i+1])})
	}
	return out
}

// experiment is one of -run.
type experiment struct {
	name, title string
	repeats     []string // labels of the figures and tables of the papers
	what        string   // what was done and what is shown, for the page
	groups      []*group
	plan        func(ctx context.Context, l *lab) ([]cell, error)
	figures     func(l *lab, t *tables) []figure
	claims      []claim
	tables      func(l *lab, t *tables) []table
}

// experiments are all there are, in the order of the page.
var experiments = []experiment{
	curves,
	crossed,
	admm,
	iterations,
	pruning,
	convergence,
	semi,
	gaps,
	synthetic,
	runtimes,
	heldout,
	pairs,
	inference,
	vocabulary,
	titles,
	hierarchy,
	scattered,
	anchorFree,
	weights,
	clusters,
	hulls,
	rectified,
	tensors,
	genres,
	lists,
	doubt,
	number,
	steered,
	labelledView,
	wording,
	planted,
	judged,
	reranked,
	score,
}

// measured are the measures of metrics.Report that go into tables, by their keys.
var measured = []string{"recovery", "approximation", "legality", "validity", "dominancy", "dominancy_diag", "entropy", "sparsity", "specificity", "dissimilarity", "coherence", "npmi", "basis_rank", "basis_quality"}

// measures puts the means of a report into a row.
func measures(r row, rep *metrics.Report) {
	for _, m := range rep.Keyed() {
		r.set(m.Key, m.Mean)
	}
}

// evaluate measures topics that are no model of the library.
func evaluate(ctx context.Context, d *cooc.Moments, b, breve *mat.Dense, a mat.Matrix, workers int) (*metrics.Report, error) {
	pairs, err := countPairs(ctx, d.Info().Corpus, b, 20)
	if err != nil {
		return nil, err
	}
	return metrics.Evaluate(ctx, metrics.Factors{C: d, B: b, WordTopics: breve, A: a, Pairs: pairs, Workers: workers})
}

// countPairs counts in how many documents the top words of the topics meet.
func countPairs(ctx context.Context, c *corpus.Corpus, b *mat.Dense, top int) (*cooc.Pairs, error) {
	return cooc.CountPairs(ctx, c, metrics.TopUnion(b, top))
}

// curation is the usual one, of n words.
func curation(n int) corpus.Curation { return corpus.Curation{Words: n} }
