package jsmf

import (
	"context"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/internal/nanjson"
	"github.com/jsmf-go/spectral/internal/spread"
)

// Uncertainty is what the replicates of a Bootstrap say about a model. It is written to and
// read from JSON by encoding/json.
//
// An interval is the number of the model, plus and minus t standard deviations of the
// replicates, cut off where the number can be no larger or smaller; t is the quantile of
// Student's distribution with one degree of freedom less than there are replicates. It leaves
// out the replicates in which a topic has no match, and is NaN without two.
type Uncertainty struct {
	Warm  int     `json:"warm"` // replicates
	Cold  int     `json:"cold"`
	Level float64 `json:"level"` // the probability of the intervals

	Topics []TopicUncertainty `json:"topics"` // K
	// Pairs are all pairs of topics, by K and then L.
	Pairs []PairUncertainty `json:"pairs"`
}

// TopicUncertainty is the uncertainty of one topic.
type TopicUncertainty struct {
	// Share is p(topic) (Model.TopicShares), with its interval over the warm replicates, or
	// the cold ones if there are no others, as all intervals here. The shares of a model are
	// drawn towards equal ones by its prior, the more the shorter the documents are, and the
	// interval does not make up for it. Package effects has shares that are not.
	Share Interval `json:"share"`
	// Stability is the share of the cold replicates in which the topic has a match better
	// than chance, and Kept that of the warm ones: see Replicate.Matched. NaN without any.
	Stability float64 `json:"stability"`
	Kept      float64 `json:"kept"`
	// Split is the share of the cold replicates in which another topic is a part of this one,
	// and Parts are the names of the two in the one in which they are farthest apart; nil
	// where there is none.
	Split float64  `json:"split"`
	Parts []string `json:"parts"`
	// Merges are the topics with which this one is one in some cold replicates, the most
	// frequent first.
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

// PairUncertainty is the Pearson correlation of two topics' proportions
// (TopicPair.Correlation), K < L.
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

// stable is the share of cold replicates in which a stable topic comes back, at least.
const stable = 0.75

// Stable tells whether the topic comes back in three of four cold replicates or more.
func (t TopicUncertainty) Stable() bool { return t.Stability >= stable }

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

// Measure makes the replicates of m, the model that p has made of in, and sums them up. Its
// errors are those of Replicates.
func (o Bootstrap) Measure(ctx context.Context, p Pipeline, m *Model, in Input) (*Uncertainty, error) {
	var s summary
	for r, err := range o.Replicates(ctx, p, m, in) {
		if err != nil {
			return nil, err
		}
		if s.m == nil {
			s.begin(m, o.withDefaults())
		}
		s.add(r)
	}
	return s.uncertainty(), nil
}

// summary collects what Uncertainty says.
type summary struct {
	m          *Model
	o          Bootstrap
	words      [][]int // the top words of each topic
	warm, cold int
	kept       []float64 // warm replicates in which each topic has a match
	stable     []float64 // cold ones
	split      []float64 // cold ones in which another topic is a part of it
	merges     [][]float64
	parts      [][]string // of each topic, nil: none yet
	apart      []float64  // the ℓ₁ distance of the parts

	// Of each number: the replicates that count.
	values []spread.Spread
}

func (s *summary) begin(m *Model, o Bootstrap) {
	k := m.k
	s.m, s.o = m, o
	s.kept, s.stable, s.split, s.merges = make([]float64, k), make([]float64, k), make([]float64, k), make([][]float64, k)
	for t := range k {
		s.merges[t] = make([]float64, k)
		s.words = append(s.words, largest(m.topics, m.n, m.k, t, o.Words))
	}
	s.parts, s.apart = make([][]string, k), make([]float64, k)
	s.values = make([]spread.Spread, k+k*(k-1)/2+k*min(o.Words, m.n))
}

// add takes over a replicate.
func (s *summary) add(r *Replicate) {
	found := s.kept
	if s.warm++; r.Cold {
		s.warm--
		s.cold++
		found = s.stable
	}
	for t, ok := range r.Matched {
		if ok {
			found[t]++
		}
	}
	if r.Cold {
		split := make([]bool, s.m.k)
		for t, of := range r.Part {
			if of < 0 {
				continue
			}
			if d := r.Model.apart(of, t); d > s.apart[of] {
				s.parts[of], s.apart[of] = []string{r.Model.Name(of), r.Model.Name(t)}, d
			}
			if !split[of] {
				split[of] = true
				s.split[of]++
			}
		}
		for t, into := range r.Into {
			if into >= 0 {
				s.merges[t][into]++
				s.merges[into][t]++
			}
		}
	}
	if !r.Cold || s.o.Warm == 0 {
		for i, v := range s.numbers(r.Model, r.Matched) {
			s.values[i].Add(v)
		}
	}
}

// numbers are those of a model: the share of each topic, the correlations of its pairs, and
// the probabilities of its words; NaN for topics that are not matched.
func (s *summary) numbers(m *Model, matched []bool) []float64 {
	out := m.TopicShares()
	k := m.k
	pairs := make([]float64, k*k)
	for _, x := range m.CorrelatedPairs(-1) {
		pairs[x.K*k+x.L] = x.Correlation
	}
	for i := range k {
		for j := i + 1; j < k; j++ {
			v := pairs[i*k+j]
			if !matched[i] || !matched[j] {
				v = math.NaN()
			}
			out = append(out, v)
		}
	}
	for t, words := range s.words {
		for _, w := range words {
			v := math.NaN()
			if i := s.at(m, w); matched[t] && i >= 0 {
				v = m.topics[i*k+t]
			} else if matched[t] {
				v = 0
			}
			out = append(out, v)
		}
		if !matched[t] {
			out[t] = math.NaN()
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
func (s *summary) at(m *Model, w int) int {
	if s.m.vocab == nil || w < m.n && m.vocab[w] == s.m.vocab[w] {
		return w
	}
	if i, ok := m.Index(s.m.vocab[w]); ok {
		return i
	}
	return -1
}

// uncertainty sums up.
func (s *summary) uncertainty() *Uncertainty {
	k := s.m.k
	u := &Uncertainty{Warm: s.warm, Cold: s.cold, Level: s.o.Level, Topics: make([]TopicUncertainty, k)}
	value := s.numbers(s.m, slices.Repeat([]bool{true}, k))
	next := 0
	interval := func(least, most float64) Interval {
		v, half := value[next], s.values[next].Half(s.o.Level, math.MaxInt, 0)
		next++
		return Interval{v, max(v-half, min(v, least)), min(v+half, max(v, most))}
	}
	for t := range u.Topics {
		u.Topics[t].Share = interval(0, 1)
	}
	for i := range k {
		for j := i + 1; j < k; j++ {
			u.Pairs = append(u.Pairs, PairUncertainty{i, j, interval(-1, 1)})
		}
	}
	warm, cold := float64(s.warm), float64(s.cold)
	for t := range u.Topics {
		x := &u.Topics[t]
		x.Kept, x.Stability, x.Split, x.Parts = s.kept[t]/warm, s.stable[t]/cold, s.split[t]/cold, s.parts[t]
		merges := make(map[int]float64)
		for other, n := range s.merges[t] {
			if n > 0 {
				merges[other] = n / cold
			}
		}
		x.setMerges(merges)
		for _, w := range s.words[t] {
			x.Words = append(x.Words, WordUncertainty{s.m.Word(w), w, interval(0, 1)})
		}
	}
	return u
}
