package jsmf

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/jsmf-go/spectral/internal/nanjson"
	"github.com/jsmf-go/spectral/internal/spread"
)

// Uncertainty is what the replicates of a Bootstrap say about a model. It is written to and read
// from JSON by encoding/json.
//
// An interval is the number of the model, plus and minus t standard deviations of the replicates,
// cut off where the number can be no larger or smaller; t is the quantile of Student's distribution
// with one degree of freedom less than there are replicates. It leaves out the replicates in which
// a topic has no match, and is NaN without two. Intervals are over the warm replicates, or the cold
// ones if there are no others.
type Uncertainty struct {
	Warm  int     `json:"warm"` // replicates
	Cold  int     `json:"cold"`
	Level float64 `json:"level"` // the probability of the intervals

	Topics []TopicUncertainty `json:"topics"` // K
	Pairs  []PairUncertainty  `json:"pairs"`  // all pairs of topics, by K and then L
}

// TopicUncertainty is the uncertainty of one topic.
type TopicUncertainty struct {
	// Share is p(topic) (Model.TopicShares). The shares of a model are drawn towards equal ones by
	// its prior, the more the shorter the documents are, and the interval does not make up for it.
	// Package effects has shares that are not.
	Share Interval `json:"share"`
	// Stability is the share of the cold replicates in which the topic has a match better than
	// chance, and Kept that of the warm ones: see Replicate.Matched. NaN without any.
	Stability float64 `json:"stability"`
	Kept      float64 `json:"kept"`
	// Split is the share of the cold replicates in which another topic is a part of this one, and
	// Parts are the names of the two in the one in which they are farthest apart; nil without any.
	Split float64  `json:"split"`
	Parts []string `json:"parts"`
	// Merges are the topics with which this one is one in some cold replicates, the most frequent
	// first.
	Merges []Merge `json:"merges"`
	// Words are the most probable words of the topic, with p(word | topic).
	Words []WordUncertainty `json:"words"`
}

// Merge is a topic with which another is one, and in which share of the cold replicates.
type Merge struct {
	Topic int     `json:"topic"`
	Share float64 `json:"share"`
}

// WordUncertainty is a word of a topic.
type WordUncertainty struct {
	Word  string   `json:"word"`
	Index int      `json:"index"`
	Prob  Interval `json:"prob"`
}

// PairUncertainty is that of the correlation of two topics (TopicPair.Correlation), K < L.
type PairUncertainty struct {
	K           int      `json:"k"`
	L           int      `json:"l"`
	Correlation Interval `json:"correlation"`
}

// Interval is a number of a model and an interval about it: see Uncertainty.
type Interval struct {
	Value float64 `json:"value"` // of the model
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Stable reports whether the topic comes back in three of four cold replicates or more.
func (t TopicUncertainty) Stable() bool { return t.Stability >= 0.75 }

// Stable returns how many topics are stable. There are none without cold replicates.
func (u *Uncertainty) Stable() int {
	n := 0
	for _, t := range u.Topics {
		if t.Stable() {
			n++
		}
	}
	return n
}

// MarshalJSON implements json.Marshaler. A number that JSON lacks becomes the string "NaN".
func (u *Uncertainty) MarshalJSON() ([]byte, error) { return nanjson.Marshal(*u) }

// UnmarshalJSON implements json.Unmarshaler.
func (u *Uncertainty) UnmarshalJSON(b []byte) error { return wrap(nanjson.Unmarshal(b, u)) }

// Run makes the replicates of m, the model that p has made of in, and sums them up. Each of readers
// gets every replicate, too, such as effects.Estimator.Add, so that these need not be made for it
// again. Errors are those of Replicates and of readers.
func (o Bootstrap) Run(ctx context.Context, p Pipeline, m *Model, in Input, readers ...func(context.Context, *Replicate) error) (*Uncertainty, error) {
	var sum *tally
	for r, err := range o.Replicates(ctx, p, m, in) {
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = newTally(m, o.withDefaults())
		}
		sum.add(r)
		for _, read := range readers {
			if err := read(ctx, r); err != nil {
				return nil, err
			}
		}
	}
	return sum.uncertainty(), nil
}

// tally sums up replicates of a model.
type tally struct {
	m      *Model
	cold   bool            // whether numbers are those of cold replicates
	out    *Uncertainty    // Kept, Stability and Split are counts of replicates until the end
	merges [][]float64     // of each topic, the cold replicates in which it is one with another
	apart  []float64       // of each topic, the ℓ₁ distance of its Parts
	values []spread.Spread // of each of numbers, over the replicates that count
}

func newTally(m *Model, o Bootstrap) *tally {
	k := m.k
	s := &tally{
		m: m, cold: o.Warm == 0, out: &Uncertainty{Level: o.Level, Topics: make([]TopicUncertainty, k)},
		merges: make([][]float64, k), apart: make([]float64, k),
		values: make([]spread.Spread, k+k*(k-1)/2+k*min(o.Words, m.n)),
	}
	for t := range k {
		s.merges[t] = make([]float64, k)
		for _, w := range largest(m.topics, m.n, k, t, o.Words) {
			s.out.Topics[t].Words = append(s.out.Topics[t].Words, WordUncertainty{Word: m.Word(w), Index: w})
		}
	}
	return s
}

// add takes over a replicate.
func (s *tally) add(r *Replicate) {
	if r.Cold {
		s.addCold(r)
	} else {
		s.out.Warm++
		for t, ok := range r.Matched {
			if ok {
				s.out.Topics[t].Kept++
			}
		}
	}
	if r.Cold == s.cold {
		for i, v := range s.numbers(r.Model, r.Matched) {
			s.values[i].Add(v)
		}
	}
}

// addCold counts which topics came back, were split and were merged in a cold replicate.
func (s *tally) addCold(r *Replicate) {
	s.out.Cold++
	for t, ok := range r.Matched {
		if ok {
			s.out.Topics[t].Stability++
		}
	}
	split := make([]bool, s.m.k)
	for t, of := range r.Part {
		if of < 0 {
			continue
		}
		x := &s.out.Topics[of]
		if d := r.Model.apart(of, t); d > s.apart[of] {
			x.Parts, s.apart[of] = []string{r.Model.Name(of), r.Model.Name(t)}, d
		}
		if !split[of] {
			split[of] = true
			x.Split++
		}
	}
	for t, into := range r.Into {
		if into >= 0 {
			s.merges[t][into]++
			s.merges[into][t]++
		}
	}
}

// numbers are those of a model: the share of each topic, the correlations of its pairs, and the
// probabilities of its words; NaN for topics that are not matched.
func (s *tally) numbers(m *Model, matched []bool) []float64 {
	out := m.TopicShares()
	for _, x := range m.pairs() {
		if !matched[x.K] || !matched[x.L] {
			x.Correlation = math.NaN()
		}
		out = append(out, x.Correlation)
	}
	for t, x := range s.out.Topics {
		if !matched[t] {
			out[t] = math.NaN()
		}
		for _, w := range x.Words {
			v := 0.0
			if i := s.at(m, w.Index); i >= 0 {
				v = m.topics[i*m.k+t]
			}
			if !matched[t] {
				v = math.NaN()
			}
			out = append(out, v)
		}
	}
	return out
}

// apart returns the ℓ₁ distance of two topics.
func (m *Model) apart(k, l int) (sum float64) {
	for lo := 0; lo < len(m.topics); lo += m.k {
		sum += math.Abs(m.topics[lo+k] - m.topics[lo+l])
	}
	return sum
}

// at returns the number in another model of a word of the reference, −1 for none.
func (s *tally) at(m *Model, w int) int {
	if s.m.vocab == nil || w < m.n && m.vocab[w] == s.m.vocab[w] {
		return w
	}
	if i, ok := m.Index(s.m.vocab[w]); ok {
		return i
	}
	return -1
}

// uncertainty finishes the counts and makes the intervals.
func (s *tally) uncertainty() *Uncertainty {
	k, u := s.m.k, s.out
	value := s.numbers(s.m, slices.Repeat([]bool{true}, k))
	next := 0
	interval := func(lowest, highest float64) Interval {
		v, half := value[next], s.values[next].Half(u.Level, math.MaxInt, 0)
		next++
		return Interval{v, max(v-half, min(v, lowest)), min(v+half, max(v, highest))}
	}
	for t := range u.Topics {
		u.Topics[t].Share = interval(0, 1)
	}
	for i := range k {
		for j := i + 1; j < k; j++ {
			u.Pairs = append(u.Pairs, PairUncertainty{i, j, interval(-1, 1)})
		}
	}
	warm, cold := float64(u.Warm), float64(u.Cold)
	for t := range u.Topics {
		x := &u.Topics[t]
		x.Kept, x.Stability, x.Split = x.Kept/warm, x.Stability/cold, x.Split/cold
		for other := range s.merges[t] {
			s.merges[t][other] /= cold
		}
		x.setMerges(s.merges[t])
		for i := range x.Words {
			x.Words[i].Prob = interval(0, 1)
		}
	}
	return u
}

// clone returns a deep copy.
func (u *Uncertainty) clone() *Uncertainty {
	if u == nil {
		return nil
	}
	out := *u
	deepCopy(reflect.ValueOf(&out).Elem())
	return &out
}

// check reports whether the parts are those of a model of n words and k topics.
func (u *Uncertainty) check(n, k int) error {
	if u == nil {
		return nil
	}
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

// renumbered returns the uncertainty of topics that were renumbered or merged. m is the model with
// those that were merged, of which nothing is known but their numbers in m; nil if none was.
func (u *Uncertainty) renumbered(p merging, m *Model) *Uncertainty {
	if u == nil {
		return nil
	}
	k, nan := len(p.first), math.NaN()
	parts := make([]int, k)
	for _, l := range p.to {
		parts[l]++
	}
	var shares []float64
	var pairs []TopicPair
	if m != nil {
		shares, pairs = m.TopicShares(), m.pairs()
	}
	out := &Uncertainty{Warm: u.Warm, Cold: u.Cold, Level: u.Level, Topics: make([]TopicUncertainty, k)}
	for l, t := range p.first {
		x := u.Topics[t]
		merges := make([]float64, k)
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
			x := PairUncertainty{K: i, L: j}
			if parts[i] == 1 && parts[j] == 1 {
				x.Correlation = u.pair(p.first[i], p.first[j]).Correlation
			} else {
				x.Correlation = Interval{pairs[len(out.Pairs)].Correlation, nan, nan}
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

// setMerges sets Merges to the shares of other topics that are not 0, the largest first.
func (x *TopicUncertainty) setMerges(shares []float64) {
	x.Merges = nil
	for t, s := range shares {
		if s > 0 {
			x.Merges = append(x.Merges, Merge{t, s})
		}
	}
	slices.SortStableFunc(x.Merges, func(a, b Merge) int { return cmp.Compare(b.Share, a.Share) })
}
