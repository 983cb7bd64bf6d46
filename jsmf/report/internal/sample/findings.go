package sample

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
)

// Effects returns what a study of a model might find: of months of which one is empty and
// two are incomplete, of a number, of a category with a number of levels, the last of few documents, and
// of pairs of these, one of them also adjusted; with two sums of topics.
func Effects(m *jsmf.Model, levels int) *effects.Effects {
	k := m.K()
	e := &effects.Effects{Level: 0.95, Replicates: 100, Documents: 2225, Units: 2225, Missing: 12}
	for t, name := range m.Names() {
		e.Quantities = append(e.Quantities, effects.Quantity{Name: name, Topics: []int{t}})
	}
	e.Quantities = append(e.Quantities,
		effects.Quantity{Name: "both of the first", Topics: []int{0, 1}},
		effects.Quantity{Name: "the first and the third, both of which have names that are long", Topics: []int{0, 2}})
	s := &study{e: e, rng: rand.New(rand.NewPCG(uint64(k), uint64(levels))), shares: m.TopicShares()}
	e.Unmatched, e.Found = make([]int, len(e.Quantities)), make([]float64, len(e.Quantities))
	e.Unmatched[1], e.Unmatched[k] = 3, 3
	e.Shares = s.row(func(int) float64 { return 0 }, 2225, false)
	var months, names, parts, ages []effects.Point
	for i := range 24 {
		from := time.Date(2019, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC)
		months = append(months, effects.Point{Label: from.Format("2006-01"), From: from, To: from.AddDate(0, 1, 0), Documents: 90, Incomplete: i == 0 || i == 23})
	}
	months[9].Documents = 0
	for i := range levels {
		names = append(names, effects.Point{Label: fmt.Sprintf("%s %d", Words(7*i), i), Levels: []int{i}, Documents: 2225 / levels})
	}
	names[levels-1].Documents = 7
	for i := range 25 {
		ages = append(ages, effects.Point{Label: fmt.Sprint(18 + 3*i), Number: float64(18 + 3*i), Documents: 89})
	}
	for i := range 3 {
		for j := range 2 {
			parts = append(parts, pair(names[i%levels], effects.Point{Label: []string{"city", "country"}[j], Levels: []int{j}, Documents: 300}))
		}
	}
	s.add("month", "month", effects.Times, months)
	s.add("party", "", effects.Categories, names)
	s.add("age", "year", effects.Numbers, ages)
	s.add("party × place", "", effects.Interactions, parts, "party", "place")
	var trends []effects.Point
	for i := range 3 {
		for _, x := range months {
			trends = append(trends, pair(names[i%levels], x))
		}
	}
	s.add("party × month", "month", effects.Interactions, trends, "party", "month")
	s.add("party × month", "month", effects.Interactions, trends, "party", "month")
	e.Terms[5].AdjustedFor, e.Terms[5].Apart = []string{"age", "place"}, 0.3
	return e
}

type study struct {
	e      *effects.Effects
	rng    *rand.Rand
	shares []float64
}

func pair(a, b effects.Point) effects.Point {
	b.Label, b.Labels = a.Label+" × "+b.Label, []string{a.Label, b.Label}
	b.Levels = slices.Concat(a.Levels, b.Levels)
	b.Documents /= 3
	return b
}

// row returns a number for each quantity: the shares of topics with factors exp(f), or the
// difference that these make.
func (s *study) row(f func(topic int) float64, docs int, less bool) []jsmf.Interval {
	var out []jsmf.Interval
	k := len(s.shares)
	p := make([]float64, k)
	for t, share := range s.shares {
		p[t] = share * math.Exp(f(t))
	}
	add := func(v, base, wide float64) {
		if less {
			v -= base
		}
		wide *= 0.8 / math.Sqrt(float64(docs))
		if docs == 0 {
			v, wide = math.NaN(), math.NaN()
		}
		out = append(out, jsmf.Interval{Value: v, Low: v - wide, High: v + 1.1*wide})
	}
	for t, v := range p {
		add(v, s.shares[t], math.Sqrt(v))
	}
	add(p[0]+p[1], s.shares[0]+s.shares[1], math.Sqrt(p[0]+p[1]))
	add(p[0]+p[2], s.shares[0]+s.shares[2], math.Sqrt(p[0]+p[2]))
	return out
}

// add adds a term. Topics rise and fall along it, each at a pace of its own.
func (s *study) add(name, unit string, kind effects.Kind, points []effects.Point, columns ...string) {
	if columns == nil {
		columns = []string{name}
	}
	t := effects.TermEffects{Name: name, Columns: columns, Kind: kind, Unit: unit, Points: slices.Clone(points), Apart: 1}
	for i := range t.Points {
		t.Points[i].Units = t.Points[i].Documents
	}
	pace, phase := make([]float64, len(s.shares)), make([]float64, len(s.shares))
	for i := range pace {
		pace[i], phase[i] = 1.2*s.rng.NormFloat64(), 2*math.Pi*s.rng.Float64()
	}
	for i, x := range points {
		at := float64(i) / float64(len(points))
		f := func(topic int) float64 {
			if len(x.Levels) > 0 && x.From.IsZero() {
				return 0.7 * math.Sin(float64(x.Levels[0])+phase[topic]) * pace[topic]
			}
			return pace[topic]*(at-0.5) + 0.3*math.Sin(5*at+phase[topic])
		}
		docs := x.Documents
		if t.Points[i].Few() {
			docs = 0 // nothing is told
		}
		t.Predictions = append(t.Predictions, s.row(f, docs, false))
		t.Differences = append(t.Differences, s.row(f, docs, true))
	}
	if kind == effects.Numbers {
		for _, x := range s.row(func(topic int) float64 { return pace[topic] }, 2225, true) {
			t.Slopes = append(t.Slopes, jsmf.Interval{Value: x.Value / 75, Low: x.Low / 75, High: x.High / 75})
		}
	}
	s.e.Terms = append(s.e.Terms, t)
}

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
	for _, p := range m.CorrelatedPairs(-1) {
		u.Pairs = append(u.Pairs, jsmf.PairUncertainty{K: min(p.K, p.L), L: max(p.K, p.L), Correlation: around(p.Correlation, 0.05)})
	}
	slices.SortFunc(u.Pairs, func(p, q jsmf.PairUncertainty) int { return cmp.Or(p.K-q.K, p.L-q.L) })
	return u
}
