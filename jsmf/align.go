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
