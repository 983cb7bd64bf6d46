package jsmf

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/internal/bag"
)

// From makes Fit a refit, which keeps the numbers of the topics of prev, a model of nearly the same
// documents. nil, the default, fits without a previous model.
//
// Finders that take preferences ([anchor.QR], SPA and Projected) keep an anchor of prev unless
// another word is farther by more than a tenth. If ΣA is then off by more than a tenth, the anchors
// found without prev are used if they fit better.
//
// Topics are matched with those of prev by Align and numbered accordingly. A name that the user gave
// a topic ([Additions].Names) stays, unless the topic is in Stats.Refit.New. Words are matched by
// name, or by number if neither model has a vocabulary; if only one has, or the numbers of words
// differ, Fit returns an error. Stats.Refit has the drift of each topic and the words that came and
// went. The model is not bit for bit that of a fit without prev.
func (p Pipeline) From(prev *Model) Pipeline { p.from = prev; return p }

// anchorHysteresis is by how much farther a word must be to replace an anchor of the previous
// model.
const anchorHysteresis = 0.1

// maxMisfit is the misfit of A above which anchors that were kept are compared with those found
// without the previous model.
const maxMisfit = 0.1

// noFit is the misfit of A above which a model does not fit: a factor of 2.
const noFit = math.Ln2

// misfit returns |ln ΣA|.
func misfit(sum float64) float64 {
	if sum > 0 {
		return math.Abs(math.Log(sum))
	}
	return math.Inf(1)
}

// before returns the word of the previous model for each row of the problem, −1 for none; nil if
// there is no previous model. If a word is repeated, its first row is matched with the first row
// there, and so on, so that equal vocabularies match row by row.
func (p Pipeline) before(pr *problem) ([]int, error) {
	prev := p.from
	if prev == nil {
		return nil, nil
	}
	rows := make([]int, pr.c.Dim())
	for i := range rows {
		rows[i] = pr.word(i)
	}
	switch names := pr.info.Vocabulary; {
	case names == nil && prev.vocab == nil && pr.n == prev.n:
		return rows, nil
	case names == nil || prev.vocab == nil:
		return nil, fmt.Errorf("From: %d words cannot be matched with the %d of the previous model: not both have names", pr.n, prev.n)
	}
	at, err := bag.Index(bag.Unique(prev.vocab))
	if err != nil {
		return nil, fmt.Errorf("From: %w", err)
	}
	for i, w := range bag.Unique(pr.names()) {
		rows[i] = -1
		if j, ok := at[w]; ok {
			rows[i] = int(j)
		}
	}
	return rows, nil
}

// prefer returns the rows of the anchors of the previous model, in the order of its topics.
func (p Pipeline) prefer(rows []int) (anchors []int) {
	if p.from == nil || p.from.groups != nil {
		return nil
	}
	for _, w := range p.from.anchors {
		if i := slices.Index(rows, w); i >= 0 {
			anchors = append(anchors, i)
		}
	}
	return anchors
}

// follow returns the model with its topics numbered, and named by the user, as those of the
// previous model, and fills in Stats.Refit.
func (m *Model) follow(ctx context.Context, prev *Model, workers int) (*Model, error) {
	al, err := Align(ctx, prev, m, workers)
	if err != nil {
		return nil, errorf("the previous model: %w", err)
	}
	order := al.Order()
	out := m.reordered(order)
	out.nameAs(prev, al, order)
	s := &out.stats.Refit
	s.Drift = permuted(al.Drift, order)
	for t, l := range order {
		if slices.Contains(al.New, l) {
			s.New = append(s.New, t)
		}
	}
	s.Vanished = al.Vanished
	if m.vocab != nil && prev.vocab != nil {
		s.Joined, s.Left = m.wordsNotIn(prev), prev.wordsNotIn(m)
	}
	return out, nil
}

// wordsNotIn returns the words that another model does not have.
func (m *Model) wordsNotIn(other *Model) (words []string) {
	for _, w := range m.vocab {
		if _, ok := other.Index(w); !ok {
			words = append(words, w)
		}
	}
	return words
}
