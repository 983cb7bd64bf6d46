package jsmf

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/nanjson"
	"github.com/jsmf-go/spectral/internal/spread"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Uncertainty is what the replicates of a Bootstrap say about a model. It is written to and read
// from JSON by encoding/json.
//
// The spread of a number over the warm replicates, or over the cold ones if there are no others, says
// how far it depends on the documents. The drawn replicates say how far it is off: the mean of their
// errors is its bias, and is taken off, for a correlation once more by the part that is lost of it (1 − Found),
// where a t-test of level 0.95 tells it from 0 (indirect inference, Kuk 1995). The interval has room for
// the larger spread of the two, for a bias as large as what is taken off or would be (Armstrong and Kolesár
// 2020), and for the part c/(1−c) of the number where c is TopicUncertainty.Changed: the model is
// more certain of its topics than it should be, and drawn documents inherit that. It is cut off where
// the number can be no larger or smaller. It leaves out replicates in which a topic has no match.
//
// An interval is withheld (NaN) where nothing can be said: with fewer than two replicates, where c > 1/2, for a
// correlation where c > 1/3 for one of its topics, where the topics have no match in more than half of
// the drawn replicates, and where it would hold every possible number. [Results] count how often intervals
// hold what was planted: those of correlations hold it less often than Level says where topics are learned badly,
// from few documents that are short or repeat their words.
//
// [Results]: ../examples/experiments/results/doubt/README.md#doubt
type Uncertainty struct {
	Warm  int     `json:"warm"` // replicates
	Cold  int     `json:"cold"`
	Drawn int     `json:"drawn"`
	Level float64 `json:"level"` // the probability of the intervals

	// Found is the part of the correlations in drawn documents that is found there: the slope of those
	// of the models on those that the documents have. In the given documents it may be far less, since
	// correlated topics are learned as mixtures of each other, and a model of mixtures has smaller
	// correlations to lose. NaN without drawn replicates.
	Found float64 `json:"found"`
	// Repeat is the part of the tokens that repeat an earlier one of their document beyond what the topics
	// say, in the given documents as in the drawn ones. NaN without drawn replicates.
	Repeat float64 `json:"repeat"`

	Topics []TopicUncertainty `json:"topics"` // K
	// Pairs are all pairs of topics, and of a model with a Tree those within a group of its finest level,
	// by K and then L.
	Pairs []PairUncertainty `json:"pairs"`
}

// TopicUncertainty is the uncertainty of one topic.
type TopicUncertainty struct {
	Share Interval `json:"share"` // p(topic): see Model.TopicShares
	// Changed is the part of its words by which the topic differs where it is found again in drawn
	// documents: half the ℓ₁ distance, in the mean. NaN if it never is.
	Changed float64 `json:"changed"`
	// Stability is the share of the cold replicates in which the topic has a match better than
	// chance, and Kept that of the warm ones: see Replicate.Matched. NaN without any.
	Stability float64 `json:"stability"`
	Kept      float64 `json:"kept"`
	// Moves is how far the topic moves by itself when documents are resampled: the total variation distance
	// to its match that the part Level of the warm replicates stays within, and MovesAnew that of the cold ones.
	// NaN or 0 where it is not known.
	Moves     float64 `json:"moves,omitempty"`
	MovesAnew float64 `json:"moves_anew,omitempty"`
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

// Interval is a number and an interval for it: see Uncertainty.
type Interval struct {
	Value float64 `json:"value"` // that of the model less Bias, cut off where it can be no larger or smaller
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Bias is what was taken off the number of the model: 0 where no bias is sure, NaN without drawn
	// replicates.
	Bias float64 `json:"bias"`
}

// Withheld reports whether there is a number without an interval: too little is known of it.
func (x Interval) Withheld() bool {
	return !math.IsNaN(x.Value) && (math.IsNaN(x.Low) || math.IsNaN(x.High))
}

// Text writes the number, with its unit, and the interval, "12.0 % (10.1 to 14.2)", numbers by write. It
// says so where too little is known for an interval, and is "–" for a number that is not known.
func (x Interval) Text(write func(float64) string, unit string) string {
	switch {
	case math.IsNaN(x.Value):
		return "–"
	case x.Withheld():
		return write(x.Value) + unit + " (too little is known for an interval)"
	}
	return fmt.Sprintf("%s%s (%s to %s)", write(x.Value), unit, write(x.Low), write(x.High))
}

// Recovery says in words which part of the correlations is found in documents drawn from the model, and
// how far these repeat words. documents is what they are called. "" without drawn replicates.
func (u *Uncertainty) Recovery(documents string) string {
	if u.Drawn == 0 || math.IsNaN(u.Found) {
		return ""
	}
	return fmt.Sprintf("In %s drawn from this model, which repeat %.0f %% of their tokens as the given ones do, %.0f %% of a correlation between topics is found; in the given ones it may be less.", documents, 100*u.Repeat, 100*u.Found)
}

// Stable reports whether the topic comes back in three of four cold replicates or more.
func (t TopicUncertainty) Stable() bool { return t.Stability >= 0.75 }

// Judges reports whether there are ten cold replicates, which it takes to call topics stable: of topics that
// come back in every second fit, 5 % are then stable by chance, and 31 % with four replicates.
func (u *Uncertainty) Judges() bool { return u != nil && u.Cold >= 10 }

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
		if err := sum.add(ctx, r); err != nil {
			return nil, err
		}
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
	of     []int           // the family of each topic: correlations are of pairs within one
	cold   bool            // whether numbers are those of cold replicates
	out    *Uncertainty    // Kept, Stability and Split are counts of replicates until the end
	merges [][]float64     // of each topic, the cold replicates in which it is one with another
	apart  []float64       // of each topic, the ℓ₁ distance of its Parts
	values []spread.Number // of each of numbers, over the replicates that count
	moves  [2][][]float64  // of each topic, half its distance in warm replicates, and in cold ones
	lost   []spread.Spread // of each topic, half its distance in drawn replicates that have it
	pairs  spread.Line     // the correlations of drawn replicates on those of their documents
}

func newTally(m *Model, o Bootstrap) *tally {
	k := m.k
	s := &tally{
		m: m, of: m.families(), cold: o.Warm == 0, out: &Uncertainty{Level: o.Level, Topics: make([]TopicUncertainty, k)},
		merges: make([][]float64, k), moves: [2][][]float64{make([][]float64, k), make([][]float64, k)}, apart: make([]float64, k), lost: make([]spread.Spread, k),
	}
	for t, words := range vec.TopRows(m.n, k, o.Words, func(i, t int) float64 { return m.topics[i*k+t] }) {
		s.merges[t] = make([]float64, k)
		for _, w := range words {
			s.out.Topics[t].Words = append(s.out.Topics[t].Words, WordUncertainty{Word: m.Word(w), Index: w})
		}
	}
	for _, v := range s.numbers(m, slices.Repeat([]bool{true}, k)) {
		s.values = append(s.values, spread.Number{Value: v})
	}
	return s
}

// add takes over a replicate.
func (s *tally) add(ctx context.Context, r *Replicate) error {
	switch {
	case r.Drawn != nil:
		return s.addDrawn(ctx, r)
	case r.Cold:
		s.addCold(r)
	default:
		s.out.Warm++
		for t, ok := range r.Matched {
			if ok {
				s.out.Topics[t].Kept++
			}
		}
	}
	if r.Cold == s.cold {
		for i, v := range s.numbers(r.Model, r.Matched) {
			s.values[i].Again.Add(v)
		}
	}
	kind := 0
	if r.Cold {
		kind = 1
	}
	for t, d := range r.Distance {
		s.moves[kind][t] = append(s.moves[kind][t], d/2)
	}
	return nil
}

// addDrawn compares a drawn replicate with the documents that it was fitted to.
func (s *tally) addDrawn(ctx context.Context, r *Replicate) error {
	k := s.m.k
	words := 0
	for _, x := range s.out.Topics {
		words += len(x.Words)
	}
	w := mat.DenseCopyOf(r.Drawn.Proportions)
	for i, v := range r.Drawn.Documents.Weights() {
		floats.Scale(math.Sqrt(v), w.RawRowView(i))
	}
	truth := &Model{n: s.m.n, k: k, vocab: s.m.vocab, topics: s.m.topics, corr: make([]float64, k*k)}
	if err := linalg.Gram(ctx, w.RawMatrix(), mat.NewDense(k, k, truth.corr).RawMatrix(), 0); err != nil {
		return err
	}
	s.out.Drawn++
	s.out.Repeat += r.Drawn.Repeat
	want := s.numbers(truth, slices.Repeat([]bool{true}, k))
	for i, v := range s.numbers(r.Model, r.Matched) {
		s.values[i].Off.Add(v - want[i])
		if i >= k && i < len(want)-words {
			s.pairs.Add(want[i], v)
		}
	}
	for t, d := range r.Distance {
		if r.Matched[t] {
			s.lost[t].Add(float64(d / 2))
		}
	}
	return nil
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
		if s.of[x.K] != s.of[x.L] {
			continue
		}
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

// pairChanged is the most that a topic may change for its correlations.
const pairChanged = 1.0 / 3

// uncertainty finishes the counts and makes the intervals.
func (s *tally) uncertainty() *Uncertainty {
	u := s.out
	next := 0
	// interval is that of the next number, see spread.Doubt.
	interval := func(lost, hidden, lowest, highest float64) Interval {
		x := s.values[next].Interval(spread.Doubt{Level: u.Level, Units: math.MaxInt, Drawn: u.Drawn, Lost: lost, Hidden: hidden})
		next++
		value, low, high := x.Within(lowest, highest)
		return Interval{value, low, high, x.Bias}
	}
	u.Found, _ = s.pairs.Slope()
	for t := range u.Topics {
		u.Topics[t].Changed = s.lost[t].Mean()
		u.Topics[t].Share = interval(0, spread.Hidden(u.Topics[t].Changed), 0, 1)
	}
	u.Pairs = pairsWithin(s.of)
	for i, x := range u.Pairs {
		c, d := u.Topics[x.K].Changed, u.Topics[x.L].Changed
		hidden := spread.Hidden(1 - math.Sqrt((1-c)*(1-d)))
		if max(c, d) > pairChanged {
			hidden = math.Inf(1)
		}
		u.Pairs[i].Correlation = interval(1-u.Found, hidden, -1, 1)
	}
	u.Repeat /= float64(u.Drawn)
	warm, cold := float64(u.Warm), float64(u.Cold)
	for t := range u.Topics {
		x := &u.Topics[t]
		for kind, to := range []*float64{&x.Moves, &x.MovesAnew} {
			if moves := s.moves[kind][t]; len(moves) > 1 {
				slices.Sort(moves)
				*to = stat.Quantile(u.Level, stat.Empirical, moves, nil)
			}
		}
		x.Kept, x.Stability, x.Split = x.Kept/warm, x.Stability/cold, x.Split/cold
		for other := range s.merges[t] {
			s.merges[t][other] /= cold
		}
		x.setMerges(s.merges[t])
		for i := range x.Words {
			x.Words[i].Prob = interval(0, spread.Hidden(x.Changed), 0, 1)
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
func (u *Uncertainty) check(n int, families []int) error {
	if u == nil {
		return nil
	}
	if u.Warm < 0 || u.Cold < 0 || u.Drawn < 0 || !(u.Level > 0 && u.Level < 1) {
		return fmt.Errorf("%d warm, %d cold and %d drawn replicates, level %v", u.Warm, u.Cold, u.Drawn, u.Level)
	}
	k := len(families)
	if len(u.Topics) != k {
		return fmt.Errorf("%d topics, want %d", len(u.Topics), k)
	}
	for t, x := range u.Topics {
		for _, s := range []float64{x.Stability, x.Kept, x.Split, x.Changed, x.Moves, x.MovesAnew} {
			if s < 0 || s > 1 {
				return fmt.Errorf("a share of the replicates or words of topic %d is %v", t, s)
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
	want := pairsWithin(families)
	if len(u.Pairs) != len(want) {
		return fmt.Errorf("%d pairs, want %d", len(u.Pairs), len(want))
	}
	for i, x := range want {
		if got := u.Pairs[i]; got.K != x.K || got.L != x.L {
			return fmt.Errorf("pair %d is of topics %d and %d, want %d and %d", i, got.K, got.L, x.K, x.L)
		}
	}
	return nil
}

// renumbered returns the uncertainty of the topics of m, which were renumbered or merged. Of those that
// were merged nothing is known but their numbers in m.
func (u *Uncertainty) renumbered(p merging, m *Model) *Uncertainty {
	if u == nil {
		return nil
	}
	k, nan := len(p.first), math.NaN()
	parts := p.parts()
	shares, pairs := m.TopicShares(), m.pairs()
	out := &Uncertainty{Warm: u.Warm, Cold: u.Cold, Drawn: u.Drawn, Level: u.Level, Found: u.Found, Repeat: u.Repeat, Topics: make([]TopicUncertainty, k)}
	for l, t := range p.first {
		x := u.Topics[t]
		merges := make([]float64, k)
		for _, v := range x.Merges {
			merges[p.to[v.Topic]] = max(merges[p.to[v.Topic]], v.Share)
		}
		x.Words, x.Parts = slices.Clone(x.Words), slices.Clone(x.Parts)
		if parts[l] > 1 {
			x = TopicUncertainty{Share: Interval{shares[l], nan, nan, nan}, Changed: nan, Stability: nan, Kept: nan, Moves: nan, MovesAnew: nan, Split: nan}
			for _, w := range vec.Top(m.n, len(u.Topics[t].Words), func(i int) float64 { return m.topics[i*k+l] }) {
				x.Words = append(x.Words, WordUncertainty{m.Word(w), w, Interval{m.topics[w*k+l], nan, nan, nan}})
			}
			merges = nil
		}
		x.setMerges(merges)
		out.Topics[l] = x
	}
	out.Pairs = pairsWithin(m.families())
	for i, x := range out.Pairs {
		out.Pairs[i].Correlation = Interval{pairs[x.K*(2*k-x.K-1)/2+x.L-x.K-1].Correlation, nan, nan, nan}
		if at, ok := u.pair(p.first[x.K], p.first[x.L]); ok && parts[x.K] == 1 && parts[x.L] == 1 {
			out.Pairs[i].Correlation = u.Pairs[at].Correlation
		}
	}
	return out
}

// pairsWithin returns the pairs of topics of one family, without correlations.
func pairsWithin(families []int) (out []PairUncertainty) {
	for i, f := range families {
		for j := i + 1; j < len(families); j++ {
			if families[j] == f {
				out = append(out, PairUncertainty{K: i, L: j})
			}
		}
	}
	return out
}

// pair returns the place of the pair of two topics, if it is there.
func (u *Uncertainty) pair(i, j int) (int, bool) {
	return slices.BinarySearchFunc(u.Pairs, PairUncertainty{K: min(i, j), L: max(i, j)}, func(a, b PairUncertainty) int {
		return cmp.Or(cmp.Compare(a.K, b.K), cmp.Compare(a.L, b.L))
	})
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
