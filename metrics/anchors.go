package metrics

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"github.com/jsmf-go/spectral/internal/parallel"
)

// basisRank is Report.BasisRank.
func (t *topics) basisRank(anchors []int) Stat {
	values := make([]float64, t.k)
	for k, s := range anchors {
		values[k] = math.NaN()
		if t.empty[k] {
			continue
		}
		v := t.b.At(s, k)
		values[k] = 1
		for i := range t.n {
			if p := t.b.At(i, k); p > v || p == v && i < s {
				values[k]++
			}
		}
	}
	return NewStat(values)
}

// softBasisRank is Report.SoftBasisRank.
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

// basisQuality returns Report.BasisQuality and Report.BasisQualityShare. O(NK log K).
func (t *topics) basisQuality(ctx context.Context, anchors []int, workers int) (quality, share Stat, err error) {
	places := make([][]place, t.k) // places[l][k] is that of anchor k in topic l
	err = parallel.Chunks(ctx, t.k, 4, workers, func(_, _, lo, hi int) error {
		for l := lo; l < hi; l++ {
			if !t.empty[l] {
				places[l] = t.places(l, anchors)
			}
		}
		return nil
	})
	if err != nil {
		return Stat{}, Stat{}, err
	}
	mean := func(value func(place) float64) Stat {
		values := make([]float64, t.k)
		for k := range values {
			sum, n := 0.0, 0.0
			for l, p := range places {
				if l == k || p == nil || math.IsNaN(value(p[k])) {
					continue
				}
				sum += value(p[k])
				n++
			}
			values[k] = sum / n // NaN if there is none
		}
		return NewStat(values)
	}
	return mean(func(p place) float64 { return float64(p.rank) }), mean(place.share), nil
}

// place is the rank of a word in a topic.
type place struct {
	rank        int // from 1, ties by lowest number
	above, tied int // other words more probable and as probable
	of          int // other words of probability above 0
}

// share is the share of the topic's other words that are more probable, half of those
// as probable: 1 for a word that the topic lacks, NaN for its only one.
func (p place) share() float64 {
	if p.above == p.of && p.of > 0 {
		return 1
	}
	return (float64(p.above) + float64(p.tied)/2) / float64(p.of)
}

// places returns the places of the given words in topic l.
func (t *topics) places(l int, words []int) []place {
	order := make([]int, len(words)) // positions in words, by rank
	vals := make([]float64, len(words))
	for k, s := range words {
		order[k], vals[k] = k, t.b.At(s, l)
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(vals[y], vals[x]), cmp.Compare(words[x], words[y]))
	})
	// Each word of the vocabulary comes before the tail of order for which a
	// condition holds, whose begin is found by bisection.
	rank, above, atLeast := make([]int, len(words)+1), make([]int, len(words)+1), make([]int, len(words)+1)
	positive := 0
	for i := range t.n {
		p := t.b.At(i, l)
		if p > 0 {
			positive++
		}
		rank[sort.Search(len(order), func(m int) bool { x := order[m]; return p > vals[x] || p == vals[x] && i < words[x] })]++
		above[sort.Search(len(order), func(m int) bool { return p > vals[order[m]] })]++
		atLeast[sort.Search(len(order), func(m int) bool { return p >= vals[order[m]] })]++
	}
	out := make([]place, len(words))
	r, a, e := 1, 0, -1 // without the word itself
	for m, k := range order {
		r, a, e = r+rank[m], a+above[m], e+atLeast[m]
		out[k] = place{rank: r, above: a, tied: e - a, of: positive}
		if vals[k] > 0 {
			out[k].of--
		}
	}
	return out
}
