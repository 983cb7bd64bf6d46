package jsmf

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
)

// WithUncertainty returns a copy of the model that holds what a Bootstrap says of it; nil:
// nothing. The file of the model keeps it. u is copied. It is an error if u is not of a model
// with as many topics and words.
func (m *Model) WithUncertainty(u *Uncertainty) (*Model, error) {
	if u != nil {
		if err := u.check(m.n, m.k); err != nil {
			return nil, errorf("uncertainty: %w", err)
		}
	}
	out := *m
	out.unsure = u.clone()
	return &out, nil
}

// Uncertainty returns a copy of what WithUncertainty was given, with the topics numbered as in
// the model; nil if it was not called.
func (m *Model) Uncertainty() *Uncertainty { return m.unsure.clone() }

// clone returns a deep copy.
func (u *Uncertainty) clone() *Uncertainty {
	if u == nil {
		return nil
	}
	out := *u
	deepCopy(reflect.ValueOf(&out).Elem())
	return &out
}

// check tells whether the parts are those of a model of n words and k topics.
func (u *Uncertainty) check(n, k int) error {
	if u.Warm < 0 || u.Cold < 0 || !(u.Level > 0 && u.Level < 1) {
		return fmt.Errorf("%d warm and %d cold replicates, level %v", u.Warm, u.Cold, u.Level)
	}
	if len(u.Topics) != k || len(u.Pairs) != k*(k-1)/2 {
		return fmt.Errorf("%d topics and %d pairs, want %d and %d", len(u.Topics), len(u.Pairs), k, k*(k-1)/2)
	}
	for t, x := range u.Topics {
		for _, s := range []float64{x.Stability, x.Kept, x.Split} {
			if s < 0 || s > 1 {
				return fmt.Errorf("a share of the replicates of topic %d is %v", t, s)
			}
		}
		for _, v := range x.Merges {
			if v.Topic < 0 || v.Topic >= k || v.Topic == t || !(v.Share >= 0 && v.Share <= 1) {
				return fmt.Errorf("topic %d is one with topic %d in %v of the replicates", t, v.Topic, v.Share)
			}
		}
		for _, w := range x.Words {
			if w.Index < 0 || w.Index >= n {
				return fmt.Errorf("word %d of topic %d is not in [0, %d)", w.Index, t, n)
			}
		}
	}
	next := 0
	for i := range k {
		for j := i + 1; j < k; j++ {
			if x := u.Pairs[next]; x.K != i || x.L != j {
				return fmt.Errorf("pair %d is of topics %d and %d, want %d and %d", next, x.K, x.L, i, j)
			}
			next++
		}
	}
	return nil
}

// renumbered returns the uncertainty of topics that were renumbered or merged. m is the model
// with those that were merged, of which nothing is known but their numbers in m; nil if none
// was.
func (u *Uncertainty) renumbered(p merging, m *Model) *Uncertainty {
	if u == nil {
		return nil
	}
	k, nan := len(p.first), math.NaN()
	parts, value := make([]int, k), make(map[[2]int]float64)
	for _, l := range p.to {
		parts[l]++
	}
	var shares []float64
	if m != nil {
		shares = m.TopicShares()
		for _, x := range m.CorrelatedPairs(-1) {
			value[[2]int{x.K, x.L}] = x.Correlation
		}
	}
	out := &Uncertainty{Warm: u.Warm, Cold: u.Cold, Level: u.Level, Topics: make([]TopicUncertainty, k)}
	for l, t := range p.first {
		x := u.Topics[t]
		merges := make(map[int]float64)
		for _, v := range x.Merges {
			merges[p.to[v.Topic]] = max(merges[p.to[v.Topic]], v.Share)
		}
		x.Words, x.Parts = slices.Clone(x.Words), slices.Clone(x.Parts)
		if parts[l] > 1 {
			x = TopicUncertainty{Share: Interval{shares[l], nan, nan}, Stability: nan, Kept: nan, Split: nan}
			for _, w := range largest(m.topics, m.n, k, l, len(u.Topics[t].Words)) {
				x.Words = append(x.Words, WordUncertainty{m.Word(w), w, Interval{m.topics[w*k+l], nan, nan}})
			}
			merges = nil
		}
		x.setMerges(merges)
		out.Topics[l] = x
	}
	for i := range k {
		for j := i + 1; j < k; j++ {
			x := PairUncertainty{i, j, Interval{value[[2]int{i, j}], nan, nan}}
			if parts[i] == 1 && parts[j] == 1 {
				x.Correlation = u.pair(p.first[i], p.first[j]).Correlation
			}
			out.Pairs = append(out.Pairs, x)
		}
	}
	return out
}

// pair returns the pair of two topics.
func (u *Uncertainty) pair(i, j int) PairUncertainty {
	i, j = min(i, j), max(i, j)
	return u.Pairs[i*(2*len(u.Topics)-i-1)/2+j-i-1]
}

// setMerges sets Merges to the shares of other topics, the largest first.
func (x *TopicUncertainty) setMerges(shares map[int]float64) {
	x.Merges = nil
	for _, t := range slices.Sorted(maps.Keys(shares)) {
		x.Merges = append(x.Merges, Merge{t, shares[t]})
	}
	slices.SortStableFunc(x.Merges, func(a, b Merge) int { return cmp.Compare(b.Share, a.Share) })
}
