package jsmf

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/metrics"
)

// Verdicts judges each topic of a model by documents, normally those of the fit: see
// metrics.Verdicts. They are those of Evaluate's report, for a small part of its cost.
// Model.WithVerdicts makes them part of the model. Documents count and are read as by
// Evaluate. Errors: those of Evaluate, and input without documents.
func (p Pipeline) Verdicts(ctx context.Context, m *Model, in Input) ([]metrics.Verdict, error) {
	if m == nil || missing(in) {
		return nil, errors.New("jsmf: verdicts: no model, or no documents to judge it by")
	}
	c, err := p.measured(ctx, m, in)
	if err != nil {
		return nil, errorf("verdicts: %w", err)
	}
	docs := c.Info().Corpus
	if docs == nil {
		return nil, errorf("verdicts: a %T holds no documents, which tell what words meet", in)
	}
	reading := m.readingWeights()
	pairs, err := cooc.CountPairs(ctx, docs, metrics.TopUnion(reading, verdictWords))
	if err != nil {
		return nil, errorf("verdicts: %w", err)
	}
	out, err := metrics.Verdicts(ctx, metrics.Factors{
		B: m.denseTopics(), Breve: mat.NewDense(m.n, m.k, m.wordTopics), A: m.Correlations(), Pairs: pairs,
		Reading: reading, Background: m.Background(), Workers: p.workers,
	})
	if err != nil {
		return nil, errorf("verdicts: %w", err)
	}
	return out, nil
}

// verdictWords is how many words of a topic metrics.Verdicts looks at.
const verdictWords = 10

// WithVerdicts returns a copy of the model that holds a verdict for each topic, that of
// Pipeline.Verdicts or of metrics.Report; nil: none. Summary and the tables have them, and so
// does the model file. It is an error if they are not of K topics.
func (m *Model) WithVerdicts(v []metrics.Verdict) (*Model, error) {
	if err := checkVerdicts(v, m.k); err != nil {
		return nil, errorf("verdicts: %w", err)
	}
	out := *m
	out.verdicts = slices.Clone(v)
	return &out, nil
}

// Verdicts returns what WithVerdicts was given, with the topics numbered as in the model; nil
// if it was not called.
func (m *Model) Verdicts() []metrics.Verdict { return slices.Clone(m.verdicts) }

// checkVerdicts checks verdicts of k topics.
func checkVerdicts(list []metrics.Verdict, k int) error {
	if list == nil {
		return nil
	}
	if len(list) != k {
		return fmt.Errorf("are %d, want K = %d", len(list), k)
	}
	for t, v := range list {
		if v.Quality > metrics.FewDocuments || v.Twin < -1 || v.Twin >= k || v.Twin == t {
			return fmt.Errorf("that of topic %d is %+v", t, v)
		}
	}
	return nil
}
