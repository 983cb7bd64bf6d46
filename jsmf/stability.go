package jsmf

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/metrics"
)

// Resampling says how Stability draws documents. The zero value is the default.
type Resampling struct {
	// Draws is how many corpora are drawn; 0: 10.
	Draws int
	// Share is the part of the documents in each, in (0, 1), drawn without
	// replacement: 0.5 for halves. 0: the bootstrap, as many as there are, with
	// replacement.
	Share float64
	// Seed chooses the documents; draw d takes Seed + d.
	Seed uint64
	// Top is the length of the lists of top words; 0: 20.
	Top int
	// Workers bounds the goroutines of the alignments; 0: GOMAXPROCS. It changes
	// no bit. The fits have their own.
	Workers int
}

// Stability tells how much of a model would be there if other documents had been
// collected. Lists have a value for each of its K topics.
type Stability struct {
	// Matchings are those of the model with the model of each draw.
	Matchings []*metrics.Matching
	// L1 is the mean over the draws of the ℓ₁ distance between a topic and its
	// partner, in [0, 2], and Overlap that of the share of top words they have in
	// common. NaN for a topic that never had a partner.
	L1, Overlap metrics.Stat
	// Matched is the share of the draws in which the topic had a partner: 1, unless
	// models of draws have fewer topics.
	Matched []float64
	// AnchorKept is the share of the draws in which the topic's anchor was the
	// partner's, and AnchorFound that in which it was the anchor of any topic;
	// nil for a model without anchors.
	AnchorKept, AnchorFound []float64
	// Anchors counts in how many draws each word was an anchor, most often first;
	// words are numbers of the model, those it does not have left out.
	Anchors []anchor.Shared
}

// MeasureStability draws documents of c again and again, fits each draw and
// aligns the model with m, which was fitted to c itself. fit is normally the Fit
// of the Pipeline that gave m; it gets corpora with the vocabulary of c, in which
// some words may not occur. Words are matched by name (by number, where m has no
// vocabulary, and then the models must have as many words).
//
// The cost is that of the fits. Errors: settings out of range, and what went
// wrong in a draw: fit's error, or a model that cannot be compared.
func MeasureStability(ctx context.Context, m *Model, c *corpus.Corpus, fit func(context.Context, *corpus.Corpus) (*Model, error), o Resampling) (*Stability, error) {
	var errs []error
	if m == nil || c == nil || fit == nil {
		errs = append(errs, errors.New("jsmf: stability: no model, no corpus or no fit"))
	}
	if o.Draws < 0 {
		errs = append(errs, fmt.Errorf("jsmf: stability: %d draws", o.Draws))
	}
	if !(o.Share >= 0 && o.Share < 1) {
		errs = append(errs, fmt.Errorf("jsmf: stability: a share of %g of the documents; want it in (0, 1), or 0 for the bootstrap", o.Share))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	draws, top := o.Draws, o.Top
	if draws == 0 {
		draws = 10
	}
	if top == 0 {
		top = 20
	}
	k := m.K()
	s := &Stability{Matched: make([]float64, k)}
	l1, overlap := make([]float64, k), make([]float64, k)
	if m.HasAnchors() {
		s.AnchorKept, s.AnchorFound = make([]float64, k), make([]float64, k)
	}
	b := m.TopicsTo(nil)
	lists := m.TopLists(top) // the most that can overlap
	var sets [][]int
	for d := range draws {
		x, err := o.draw(c, d)
		if err != nil {
			return nil, fmt.Errorf("jsmf: stability: %w", err)
		}
		again, err := fit(ctx, x)
		if err != nil {
			return nil, fmt.Errorf("jsmf: stability: draw %d: %w", d, err)
		}
		if again.HasVocabulary() != m.HasVocabulary() {
			return nil, fmt.Errorf("jsmf: stability: draw %d: one of the models has a vocabulary and the other has none", d)
		}
		a, err := metrics.Match(ctx, b, again.TopicsTo(nil), metrics.MatchOptions{WordsA: m.vocab, WordsB: again.vocab, Top: top, Workers: o.Workers})
		if err != nil {
			return nil, fmt.Errorf("jsmf: stability: draw %d: %w", d, err)
		}
		s.Matchings = append(s.Matchings, a)
		found := make(map[int]bool)
		var set []int
		for _, w := range again.anchors {
			if i, ok := m.Index(again.Word(w)); ok {
				found[i] = true
				set = append(set, i)
			}
		}
		sets = append(sets, set)
		for t, l := range a.Of {
			if l < 0 {
				continue
			}
			s.Matched[t]++
			l1[t] += a.L1.Values[t]
			overlap[t] += float64(a.Overlap[t]) / float64(max(len(lists[t]), 1))
			if m.HasAnchors() && again.HasAnchors() && again.Word(again.anchors[l]) == m.Word(m.anchors[t]) {
				s.AnchorKept[t]++
			}
		}
		for j, w := range m.anchors {
			if found[w] {
				s.AnchorFound[j]++
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
	s.Anchors = anchor.SharedAnchors(sets, 1)
	return s, nil
}

// draw returns the corpus of draw d.
func (o Resampling) draw(c *corpus.Corpus, d int) (*corpus.Corpus, error) {
	seed := o.Seed + uint64(d)
	if o.Share == 0 {
		return c.Bootstrap(seed), nil
	}
	x, _, err := c.Split(1-o.Share, seed)
	return x, err
}
