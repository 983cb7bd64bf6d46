package jsmf

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/metrics"
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

// newTopic is the total variation distance above which a topic follows no other.
const newTopic = 0.8

// Alignment matches the topics of two models.
type Alignment struct {
	// Next holds for each topic of the first model its match in the second, −1 for none, and Prev
	// for each topic of the second its match in the first. All topics of the model with fewer
	// topics are matched.
	Next, Prev []int

	// Drift holds for each topic of the second model the total variation distance to its match,
	// ½Σ_w |b_w − b'_w|, in [0, 1]; NaN if it has none.
	Drift []float64

	// New are the topics of the second model that follow none: those with a Prev of −1 or a Drift
	// above 0.8, that is, with less than a fifth of the probability on the same words. Vanished are
	// those of the first model that none follows.
	New, Vanished []int
}

// Align matches the topics of two models one to one so that the sum of their distances is least;
// see [metrics.Match]. Words are matched by name, or by number if the models have the same
// vocabulary, or none and as many words. A word that is in one model only has probability 0 in the
// other. workers bounds the goroutines (0: GOMAXPROCS); the result does not depend on it. O(N·K·K'
// + K³). Errors: no model, words that cannot be matched, ctx's.
func Align(ctx context.Context, prev, m *Model, workers int) (*Alignment, error) {
	found, err := match(ctx, prev, m, workers)
	if err != nil {
		return nil, errorf("align: %w", err)
	}
	al := &Alignment{Next: found.Of, Prev: make([]int, m.k), Drift: make([]float64, m.k)}
	for l := range al.Prev {
		al.Prev[l], al.Drift[l] = -1, math.NaN()
	}
	for k, l := range found.Of {
		if l >= 0 {
			al.Prev[l], al.Drift[l] = k, min(found.L1.Values[k]/2, 1)
		}
	}
	for l, k := range al.Prev {
		if k < 0 || al.Drift[l] > newTopic {
			al.New = append(al.New, l)
		}
	}
	for k, l := range al.Next {
		if l < 0 || al.Drift[l] > newTopic {
			al.Vanished = append(al.Vanished, k)
		}
	}
	return al, nil
}

// match matches the topics of two models by metrics.Match.
func match(ctx context.Context, a, b *Model, workers int) (*metrics.Matching, error) {
	if a == nil || b == nil {
		return nil, fmt.Errorf("no model")
	}
	if (a.vocab == nil) != (b.vocab == nil) || a.vocab == nil && a.n != b.n {
		return nil, fmt.Errorf("models of %d and %d words, of which not both have names", a.n, b.n)
	}
	return matched(ctx, a.vocab, b.vocab, a.denseTopics(), b.denseTopics(), workers)
}

// matched matches the columns of two matrices over these words.
func matched(ctx context.Context, wordsA, wordsB []string, a, b *mat.Dense, workers int) (*metrics.Matching, error) {
	o := metrics.MatchOptions{Workers: workers}
	if !slices.Equal(wordsA, wordsB) {
		o.WordsA, o.WordsB = bag.Unique(wordsA), bag.Unique(wordsB)
	}
	return metrics.Match(ctx, a, b, o)
}

// Order returns the order with which [Model.Reorder] gives the topics of the second model the
// numbers of the first. Topics without a match come last. If the second model has fewer topics, the
// numbers close up.
func (a *Alignment) Order() []int {
	var order []int
	for _, l := range a.Next {
		if l >= 0 {
			order = append(order, l)
		}
	}
	for l, k := range a.Prev {
		if k < 0 {
			order = append(order, l)
		}
	}
	return order
}
