package jsmf

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/metrics"
)

// Resampling says how documents are drawn to measure the stability of a model.
// The zero value is the default.
type Resampling struct {
	// Draws is the number of corpora drawn; 0: 10.
	Draws int
	// Share is the part of the documents in each draw, in (0, 1), drawn without
	// replacement. 0: the bootstrap, as many documents as there are, with
	// replacement.
	Share float64
	// Seed chooses the documents; draw d uses Seed + d.
	Seed uint64
	// Workers bounds the goroutines of the alignments; 0: GOMAXPROCS. It does not
	// change the result.
	Workers int
}

// Stability tells how well the topics of a model come back when it is fitted to
// other draws of the documents. Lists have a value for each of its K topics.
type Stability struct {
	// Matchings match the topics of the model with those of each draw.
	Matchings []*metrics.Matching
	// L1 is the mean over the draws of the ℓ₁ distance between a topic and its
	// match, in [0, 2], and Overlap that of the share of top words they have in
	// common. NaN for a topic without a match in any draw.
	L1, Overlap metrics.Stat
	// Matched is the share of the draws in which the topic had a match: 1 unless
	// models of draws have fewer topics.
	Matched []float64
	// AnchorKept is the share of the draws in which the topic's anchor was the
	// match's, and AnchorFound that in which it was the anchor of any topic; nil
	// for a model without anchors.
	AnchorKept, AnchorFound []float64
}

// Measure draws documents of c, fits a model to each draw and aligns it with m,
// the model of c itself. fit is normally the Fit of the Pipeline that made m. It
// gets corpora with the vocabulary of c, some words of which may not occur. Words
// are matched by name, or by number if m has no vocabulary; the models must then
// have as many words.
//
// The cost is that of the fits. Errors: settings out of range, those of fit, and
// a model that cannot be compared with m.
func (o Resampling) Measure(ctx context.Context, m *Model, c *corpus.Corpus, fit func(context.Context, Input) (*Model, error)) (*Stability, error) {
	var errs []error
	if m == nil || c == nil || fit == nil {
		errs = append(errs, errors.New("jsmf: stability: no model, no corpus or no fit"))
	}
	if o.Draws < 0 {
		errs = append(errs, errorf("stability: %d draws", o.Draws))
	}
	if !(o.Share >= 0 && o.Share < 1) {
		errs = append(errs, errorf("stability: a share of %g of the documents; want it in (0, 1), or 0 for the bootstrap", o.Share))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	draws := o.Draws
	if draws == 0 {
		draws = 10
	}
	k := m.K()
	s := &Stability{Matched: make([]float64, k)}
	l1, overlap := make([]float64, k), make([]float64, k)
	if m.anchors != nil {
		s.AnchorKept, s.AnchorFound = make([]float64, k), make([]float64, k)
	}
	lists, err := m.Labels(metrics.ByProbability{}, 0) // the most that can overlap
	if err != nil {
		return nil, errorf("stability: %w", err)
	}
	for d := range draws {
		again, err := o.refit(ctx, c, fit, d)
		if err != nil {
			return nil, errorf("stability: draw %d: %w", d, err)
		}
		a, err := match(ctx, m, again, o.Workers)
		if err != nil {
			return nil, errorf("stability: draw %d: %w", d, err)
		}
		s.Matchings = append(s.Matchings, a)
		found := make(map[string]bool)
		for _, w := range again.AnchorWords() {
			found[w] = true
		}
		for j, w := range m.anchors {
			if found[m.Word(w)] {
				s.AnchorFound[j]++
			}
		}
		for t, l := range a.Of {
			if l < 0 {
				continue
			}
			s.Matched[t]++
			l1[t] += a.L1.Values[t]
			overlap[t] += float64(a.Overlap[t]) / float64(max(len(lists[t]), 1))
			if m.anchors != nil && again.anchors != nil && again.Word(again.anchors[l]) == m.Word(m.anchors[t]) {
				s.AnchorKept[t]++
			}
		}
	}
	for j := range k {
		l1[j] /= s.Matched[j] // NaN without a match
		overlap[j] /= s.Matched[j]
	}
	for _, counts := range [][]float64{s.Matched, s.AnchorKept, s.AnchorFound} {
		floats.Scale(1/float64(draws), counts)
	}
	s.L1, s.Overlap = metrics.NewStat(l1), metrics.NewStat(overlap)
	return s, nil
}

// refit fits a model to draw d.
func (o Resampling) refit(ctx context.Context, c *corpus.Corpus, fit func(context.Context, Input) (*Model, error), d int) (*Model, error) {
	seed := o.Seed + uint64(d)
	if o.Share == 0 {
		return fit(ctx, c.Bootstrap(seed))
	}
	x, _, err := c.Split(1-o.Share, seed)
	if err != nil {
		return nil, err
	}
	return fit(ctx, x)
}
