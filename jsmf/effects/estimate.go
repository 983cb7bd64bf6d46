package effects

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/jsmf"
)

// Measure finds the effects of the terms on the topics of m, the model that p has made of in.
//
// Proportions are not those of Model.Transform, which a prior pulls together. Those of a document
// with the words n are
//
//	(BᵀDB)⁻¹ BᵀD n/Σn,  D = diag(1/p(word)),
//
// weighted least squares without bounds, because they are right on average if the topics B
// are, however short the document. One alone says little. The terms explain them by a
// regression in which a document counts as its own weight says (corpus.Corpus.WithWeights),
// long and short ones alike. Shares and predictions are then the proportions, not negative
// and of sum 1, whose words are the nearest to those of the regression. Differences are
// between these, and slopes come from the regression itself.
//
// An interval is the estimate ± t·s, cut where shares end. s² is the variance over the warm
// replicates of the Bootstrap, each with topics of its own, so that their uncertainty counts.
// Few documents would seem too certain in three ways. So the distance of a document from the
// regression is enlarged in replicates by 1/(1 − its leverage), as in the standard errors HC3
// (MacKinnon and White 1985). The variance of n documents at a point counts n − 1 times, and that
// of all documents four times beside it, as in moderated t-statistics (Smyth 2004). And t is
// the quantile of Student's distribution with n + 3 degrees of freedom, or one less than the
// replicates if that is fewer. Documents that depend on each other, such as copies of one
// text, need Bootstrap.Cluster.
//
// Not in the intervals is that the passes learn topics that are too distinct, and of too equal
// shares, where topics have many words in common or documents are short. Shares bear it worst,
// differences and slopes well. The passes may also end before the topics have settled; more
// of them (refine.Passes.Gain) then make shares steadier. The results of
// examples/experiments (coverage) say how often intervals hold the truth on documents
// drawn from known topics.
//
// The result is the same to the bit for any number of goroutines, and for any order of
// documents that are in memory and all have ids. Cost: for each replicate, beside that of
// Bootstrap.Replicates, K times the nonzero counts, and P³ for P levels, bins and pairs of them.
// Memory: the documents, encoded, 24·N·K bytes, and with Documents 4·K bytes for each
// document. It does not grow with the number of replicates.
//
// Errors: settings out of range; a quantity with a topic that m lacks, or with the name of one;
// no documents, no metadata, or no document that counts; terms that cannot be told apart;
// topics that are linearly dependent; those of Bootstrap.Replicates, and ctx's.
func (s Study) Measure(ctx context.Context, p jsmf.Pipeline, m *jsmf.Model, in jsmf.Input) (*Effects, error) {
	out, err := s.measure(ctx, p, m, in)
	if err != nil {
		return nil, errs.Wrap("effects", err)
	}
	return out, nil
}

func (s Study) measure(ctx context.Context, p jsmf.Pipeline, m *jsmf.Model, in jsmf.Input) (*Effects, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, errors.New("no model")
	}
	if in == nil {
		return nil, errors.New("no documents")
	}
	s.Bootstrap.Cold = -1
	if s.Bootstrap.Level == 0 {
		s.Bootstrap.Level = 0.95
	}
	quantities, err := s.quantities(m)
	if err != nil {
		return nil, err
	}
	docs, err := readDocuments(ctx, m, in)
	if err != nil {
		return nil, err
	}
	d, err := newDesign(ctx, s.Terms, docs.meta, docs.own)
	if err != nil {
		return nil, err
	}
	if s.Documents {
		if err := docs.infer(ctx, m, s.Bootstrap.Seed); err != nil {
			return nil, err
		}
	}
	r, err := newRegression(docs, d)
	if err != nil {
		return nil, err
	}
	sum := newSummary(d, s.Terms, quantities)
	if err := r.of(ctx, mat.DenseCopyOf(m.Topics()), m.TopicShares(), docs.own, original); err != nil {
		return nil, err
	}
	if err := sum.estimate(ctx, r); err != nil {
		return nil, err
	}
	for x, err := range s.Bootstrap.Replicates(ctx, p, m, docs.in) {
		if err != nil {
			return nil, err
		}
		err := r.of(ctx, mat.DenseCopyOf(x.Model.Topics()), x.Model.TopicShares(), x.Weights, x.Number)
		if err == nil {
			err = sum.add(r, x.Matched)
		}
		if err != nil {
			return nil, fmt.Errorf("replicate %d: %w", x.Number, err)
		}
	}
	out := sum.effects(s.Bootstrap.Level)
	out.Documents, out.Missing = len(d.docs), len(docs.own)-len(d.docs)
	return out, nil
}

// quantities are the topics of m and those of the study.
func (s Study) quantities(m *jsmf.Model) ([]Quantity, error) {
	var out []Quantity
	for k, name := range m.Names() {
		out = append(out, Quantity{Name: name, Plus: []int{k}})
	}
	for _, q := range s.Quantities {
		for _, k := range slices.Concat(q.Plus, q.Minus, q.Over) {
			if k >= m.K() {
				return nil, fmt.Errorf("quantity %q has topic %d; the model has %d, numbered from 0", q.Name, k, m.K())
			}
		}
		if slices.ContainsFunc(out, func(x Quantity) bool { return x.Name == q.Name }) {
			return nil, fmt.Errorf("quantity %q has the name of a topic", q.Name)
		}
		out = append(out, q)
	}
	return out, nil
}
