package jsmf

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/metrics"
)

// newTopic is the total variation distance above which a topic follows no other.
const newTopic = 0.8

// Alignment matches the topics of two models.
type Alignment struct {
	// Next holds for each topic of the first model its match in the second, −1 for
	// none, and Prev for each topic of the second its match in the first. All topics
	// of the model with fewer topics are matched.
	Next, Prev []int

	// Drift holds for each topic of the second model the total variation distance to
	// its match, ½Σ_w |b_w − b'_w|, in [0, 1]; NaN if it has none.
	Drift []float64

	// New are the topics of the second model that follow none: those with a Prev of
	// −1 or a Drift above 0.8, that is, with less than a fifth of the probability on
	// the same words. Vanished are those of the first model that none follows.
	New, Vanished []int
}

// Align matches the topics of two models one to one so that the sum of their distances is
// least; see metrics.Match. Words are matched by name, or by number if the models have
// the same vocabulary, or none and as many words. A word that is in one model only has
// probability 0 in the other. workers bounds the goroutines (0: GOMAXPROCS); the result
// does not depend on it. O(N·K·K' + K³). Errors: no model, words that cannot be matched,
// ctx's.
func Align(ctx context.Context, prev, m *Model, workers int) (*Alignment, error) {
	al, err := align(ctx, prev, m, workers)
	if err != nil {
		return nil, errorf("align: %w", err)
	}
	return al, nil
}

func align(ctx context.Context, prev, m *Model, workers int) (*Alignment, error) {
	found, err := match(ctx, prev, m, workers)
	if err != nil {
		return nil, err
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
	o := metrics.MatchOptions{Workers: workers}
	if !slices.Equal(a.vocab, b.vocab) {
		o.WordsA, o.WordsB = bag.Unique(a.vocab), bag.Unique(b.vocab)
	}
	return metrics.Match(ctx, a.denseTopics(), b.denseTopics(), o)
}

// Order returns the order with which Model.Reorder gives the topics of the second model
// the numbers of the first. Topics without a match come last. If the second model has
// fewer topics, the numbers close up.
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

// Reorder returns the model with its topics in another order: topic t of the result is
// topic order[t] of m. order must hold each number from 0 to K − 1 once; anything else is
// an error. Names go with the topics, and the state of the rectification is kept. O(NK).
func (m *Model) Reorder(order []int) (*Model, error) {
	seen := make([]bool, m.k)
	if len(order) != m.k {
		return nil, errorf("reorder: %d numbers for %d topics", len(order), m.k)
	}
	for t, k := range order {
		if k < 0 || k >= m.k || seen[k] {
			return nil, errorf("reorder: number %d, that of topic %d, is not in [0, %d), or is there twice", k, t, m.k)
		}
		seen[k] = true
	}
	return m.reordered(order), nil
}

func (m *Model) reordered(order []int) *Model {
	out := *m
	columns := func(a []float64) []float64 {
		b := make([]float64, len(a))
		for lo := 0; lo < len(a); lo += m.k {
			for t, k := range order {
				b[lo+t] = a[lo+k]
			}
		}
		return b
	}
	both := func(a []float64) []float64 {
		if a == nil {
			return nil
		}
		a = columns(a)
		b := make([]float64, 0, len(a))
		for _, k := range order {
			b = append(b, a[k*m.k:(k+1)*m.k]...)
		}
		return b
	}
	out.topics, out.wordTopics = columns(m.topics), columns(m.wordTopics)
	if m.reading != nil {
		out.reading = columns(m.reading)
	}
	if m.docs != nil {
		out.docs = m.docs.clone()
		copy(out.docs.W.RawMatrix().Data, columns(m.docs.W.RawMatrix().Data))
	}
	back := make([]int, m.k) // from old numbers to new ones
	for t, k := range order {
		back[k] = t
	}
	out.unsure = m.unsure.renumbered(merging{first: order, to: back}, nil)
	out.verdicts = permuted(m.verdicts, order)
	for t, v := range out.verdicts {
		if v.Twin >= 0 {
			out.verdicts[t].Twin = back[v.Twin]
		}
	}
	out.background, out.given = permuted(m.background, order), permuted(m.given, order)
	out.names = sync.OnceValue(out.makeNames)
	out.corr, out.dual = both(m.corr), both(m.dual)
	out.anchors, out.groups, out.alpha = permuted(m.anchors, order), permuted(m.groups, order), permuted(m.alpha, order)
	out.stats = m.stats.clone()
	if s := &out.stats; len(s.Anchors.Norms) == m.k {
		s.Anchors.Norms = permuted(s.Anchors.Norms, order)
	}
	if s := &out.stats.Refit; len(s.Drift) == m.k {
		s.Drift = permuted(s.Drift, order)
		for i, k := range s.New {
			s.New[i] = back[k]
		}
		slices.Sort(s.New)
	}
	return &out
}

// ascending returns the order that sorts x.
func ascending(x []int) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	return order
}

// permuted returns a with entry order[t] at index t; nil for nil.
func permuted[T any](a []T, order []int) []T {
	if a == nil {
		return nil
	}
	b := make([]T, len(order))
	for t, k := range order {
		b[t] = a[k]
	}
	return b
}
