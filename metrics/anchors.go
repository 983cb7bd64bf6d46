package metrics

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/run"
)

// BasisRank is the rank of each anchor in its own topic, 1 for the most probable
// word, ties by lowest number, and its mean over topics (lee-2018 §1.4, which counts
// from 0). Lower is better: a reader sees the anchor.
//
// b is N×K; anchors are K numbers of words. One value a topic, NaN for an empty one.
func BasisRank(b *mat.Dense, anchors []int) (Stat, error) {
	t, err := checkTopics(b)
	if err != nil {
		return Stat{}, err
	}
	if err := checkAnchors(anchors, t.n, t.k); err != nil {
		return Stat{}, err
	}
	return t.basisRank(anchors), nil
}

func (t *topics) basisRank(anchors []int) Stat {
	values := make([]float64, t.k)
	for k, s := range anchors {
		values[k] = math.NaN()
		if t.empty[k] {
			continue
		}
		rank, v := 1.0, t.b.At(s, k)
		for i := range t.n {
			if p := t.b.At(i, k); p > v || p == v && i < s {
				rank++
			}
		}
		values[k] = rank
	}
	return NewStat(values)
}

// SoftBasisRank is ln(max_n B_nk/B_{s_k k}), the log ratio of the probabilities of
// the first word of a topic and its anchor, and its mean over topics (lee-2018
// eq. 1.11). It is at least 0, where the anchor is the first word; lower is better.
//
// Arguments as for BasisRank. One value a topic, NaN for an empty one and for one in
// which the anchor has probability 0.
func SoftBasisRank(b *mat.Dense, anchors []int) (Stat, error) {
	t, err := checkTopics(b)
	if err != nil {
		return Stat{}, err
	}
	if err := checkAnchors(anchors, t.n, t.k); err != nil {
		return Stat{}, err
	}
	return t.softBasisRank(anchors), nil
}

func (t *topics) softBasisRank(anchors []int) Stat {
	top := make([]float64, t.k)
	for i := range t.n {
		for k, p := range t.b.RawRowView(i) {
			top[k] = math.Max(top[k], p)
		}
	}
	values := make([]float64, t.k)
	for k, s := range anchors {
		values[k] = math.NaN()
		if p := t.b.At(s, k); p > 0 {
			values[k] = math.Log(top[k] / p)
		}
	}
	return NewStat(values)
}

// BasisQuality is the mean rank of each anchor in the other topics (1 for the most
// probable word, ties by lowest number), and the mean of that over topics; the
// papers' program calls it AnchorQuality. It is in [1, N]; higher is better: an anchor
// should be improbable in other topics. Words of probability 0 are ranked by their
// numbers.
//
// Arguments as for BasisRank; workers bounds the goroutines (0: GOMAXPROCS). One value
// a topic, the mean over the other topics that are not empty, and NaN if there are
// none. O(NK log K).
func BasisQuality(ctx context.Context, b *mat.Dense, anchors []int, workers int) (Stat, error) {
	t, err := checkTopics(b)
	if err != nil {
		return Stat{}, err
	}
	if err := checkAnchors(anchors, t.n, t.k); err != nil {
		return Stat{}, err
	}
	return t.basisQuality(ctx, anchors, workers)
}

func (t *topics) basisQuality(ctx context.Context, anchors []int, workers int) (Stat, error) {
	// ranks[l][k] is the rank of anchor k in topic l.
	ranks := make([][]int, t.k)
	err := run.Chunks(ctx, t.k, 4, workers, func(_, _, lo, hi int) error {
		for l := lo; l < hi; l++ {
			if !t.empty[l] {
				ranks[l] = t.ranks(l, anchors)
			}
		}
		return nil
	})
	if err != nil {
		return Stat{}, err
	}
	values := make([]float64, t.k)
	for k := range values {
		sum, n := 0, 0
		for l, r := range ranks {
			if l != k && r != nil {
				sum += r[k]
				n++
			}
		}
		values[k] = math.NaN()
		if n > 0 {
			values[k] = float64(sum) / float64(n)
		}
	}
	return NewStat(values), nil
}

// ranks returns the ranks in topic l of the given words: with them sorted, each
// word of the vocabulary raises by one the ranks of all those it precedes, which
// are the tail from a place found by bisection.
func (t *topics) ranks(l int, words []int) []int {
	before := func(pi float64, i int, pj float64, j int) bool { return pi > pj || pi == pj && i < j }
	order := make([]int, len(words)) // positions in words
	vals := make([]float64, len(words))
	for k, s := range words {
		order[k], vals[k] = k, t.b.At(s, l)
	}
	slices.SortFunc(order, func(x, y int) int {
		switch {
		case before(vals[x], words[x], vals[y], words[y]):
			return -1
		case before(vals[y], words[y], vals[x], words[x]):
			return 1
		}
		return 0 // the same word
	})
	ahead := make([]int, len(words)+1)
	for i := range t.n {
		p := t.b.At(i, l)
		lo, hi := 0, len(order)
		for lo < hi {
			m := (lo + hi) / 2
			if x := order[m]; before(p, i, vals[x], words[x]) {
				hi = m
			} else {
				lo = m + 1
			}
		}
		ahead[lo]++
	}
	ranks, sum := make([]int, len(words)), 0
	for pos, k := range order {
		sum += ahead[pos]
		ranks[k] = sum + 1
	}
	return ranks
}
