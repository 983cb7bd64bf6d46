package sample

import (
	"fmt"
	"math"

	"github.com/jsmf-go/spectral/jsmf"
)

// Uncertainty returns what a bootstrap might find: every correlation of m may be 0.05 larger
// or smaller.
func Uncertainty(m *jsmf.Model) *jsmf.Uncertainty {
	u := &jsmf.Uncertainty{Warm: 100, Cold: 20, Level: 0.95}
	around := func(x, by float64) jsmf.Interval {
		return jsmf.Interval{Value: x, Low: max(-1, x-by), High: min(1, x+by)}
	}
	for k, share := range m.TopicShares() {
		t := jsmf.TopicUncertainty{Share: around(share, share/5), Stability: 1 - float64(k%4)/5, Kept: 1}
		for _, w := range m.TopWords(k, 5) {
			t.Words = append(t.Words, jsmf.WordUncertainty{Word: w.Word, Index: w.Index, Prob: around(w.Prob, w.Prob/10)})
		}
		u.Topics = append(u.Topics, t)
	}
	corr := make(map[[2]int]float64)
	for _, p := range m.CorrelatedPairs(-1) {
		corr[[2]int{min(p.K, p.L), max(p.K, p.L)}] = p.Correlation
	}
	for k := range m.K() {
		for l := k + 1; l < m.K(); l++ {
			u.Pairs = append(u.Pairs, jsmf.PairUncertainty{K: k, L: l, Correlation: around(corr[[2]int{k, l}], 0.05)})
		}
	}
	return u
}

// Sweep returns what a sweep to choose among 5 to 80 topics might find of documents held
// out: 28 is recommended, and 20 to 57 are as likely. There are no models.
func Sweep() *jsmf.Sweep {
	s := new(jsmf.Sweep)
	for _, k := range []int{5, 7, 10, 14, 20, 28, 40, 57, 80} {
		h := &jsmf.HeldOutScore{Behind: 0.03 * math.Pow(math.Log(float64(k)/40), 2), AsLikely: k >= 20 && k <= 57, Why: fmt.Sprintf("this is %d", k)}
		h.PerWord, h.Error = -7.1-h.Behind, 0.004*math.Abs(math.Log(float64(k)/40))
		if h.AsLikely {
			h.Chosen = 0.25
		}
		s.Points = append(s.Points, jsmf.SweepPoint{K: k, HeldOut: h})
	}
	s.Recommendation = &jsmf.Recommendation{K: 28, Low: 20, High: 57, Chosen: 0.25, Best: 40, Documents: 700, Words: 9000, Why: "A made-up reason."}
	return s
}
