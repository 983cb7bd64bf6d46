package effects

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/spread"
	"github.com/jsmf-go/spectral/jsmf"
)

// number is one number of Effects, with what replicates say of it.
type number struct {
	spread.Number
	borrowed   float64 // the variance that regression.borrowed adds
	difference bool    // whether it is one of TermEffects.Differences
}

// summary collects the numbers of Effects: of the model first, then of each replicate.
type summary struct {
	d          *design
	terms      []Term
	quantities []Quantity
	replicates int
	drawn      int
	unmatched  []int
	changed    []spread.Spread // of each topic, half its distance in drawn replicates that have it
	found      []spread.Line   // of each quantity, differences found in drawn documents on those that they have
	all        []number        // in the order in which numbers passes them
}

func newSummary(d *design, terms []Term, topics int, quantities []Quantity) *summary {
	return &summary{
		d: d, terms: terms, quantities: quantities, unmatched: make([]int, len(quantities)),
		changed: make([]spread.Spread, topics), found: make([]spread.Line, len(quantities)),
	}
}

// estimate takes the numbers of the model. Their proportions are bounded. Those of the replicates
// are bounded for ratios only: numbers that cannot pass a bound vary too little.
func (s *summary) estimate(ctx context.Context, r *regression) error {
	err := s.numbers(r, true, func(_ int, v float64) { s.all = append(s.all, number{Number: spread.Number{Value: v}}) })
	if err != nil {
		return err
	}
	share, err := r.mixture(r.share)
	if err != nil {
		return err
	}
	var factors [][]float64
	for _, q := range s.quantities {
		factors = append(factors, q.gradient(share))
	}
	variances, err := r.variances(ctx, factors)
	if err != nil {
		return err
	}
	next := s.all[len(variances):] // after the shares, which borrow almost nothing
	take := func(c []float64, difference bool) error {
		n, err := r.borrowed(c)
		for i, v := range variances {
			next[i].borrowed, next[i].difference = n*v, difference
		}
		next = next[len(variances):]
		return err
	}
	for _, t := range s.d.terms {
		for _, c := range t.predict {
			if c == nil {
				continue
			}
			difference := make([]float64, len(c))
			floats.SubTo(difference, c, s.d.mean)
			if err := errors.Join(take(c, false), take(difference, true)); err != nil {
				return err
			}
		}
		if t.slope != nil {
			if err := take(t.slope, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// add takes the numbers of a replicate, except of quantities whose topics it does not have.
func (s *summary) add(r *regression, matched []bool) error {
	s.replicates++
	ok := s.matched(matched)
	for i, matched := range ok {
		if !matched {
			s.unmatched[i]++
		}
	}
	at := 0
	return s.numbers(r, false, func(quantity int, v float64) {
		if ok[quantity] {
			s.all[at].Again.Add(v)
		}
		at++
	})
}

// matched returns which quantities have all of their topics.
func (s *summary) matched(topics []bool) []bool {
	ok := make([]bool, len(s.quantities))
	for i, q := range s.quantities {
		ok[i] = !slices.ContainsFunc(q.topics(), func(k int) bool { return !topics[k] })
	}
	return ok
}

// addDrawn takes the numbers of a drawn replicate, found, and what they should be, truth.
func (s *summary) addDrawn(found, truth *regression, x *jsmf.Replicate) error {
	s.drawn++
	for k, d := range x.Distance {
		if x.Matched[k] {
			s.changed[k].Add(d / 2)
		}
	}
	var want []float64
	if err := s.numbers(truth, false, func(_ int, v float64) { want = append(want, v) }); err != nil {
		return err
	}
	ok, at := s.matched(x.Matched), 0
	return s.numbers(found, true, func(quantity int, v float64) {
		if ok[quantity] {
			s.all[at].Off.Add(v - want[at])
			if s.all[at].difference {
				s.found[quantity].Add(want[at], v)
			}
		}
		at++
	})
}

// numbers calls f for each number: the shares of all quantities, then for each term the
// predictions and differences, point by point, and the slopes. Ratios are of bounded
// proportions, the other quantities only if bounded is set.
func (s *summary) numbers(r *regression, bounded bool, f func(quantity int, v float64)) error {
	ratios := slices.ContainsFunc(s.quantities, func(q Quantity) bool { return q.Over != nil })
	of := func(x []float64) (func(q Quantity) float64, []float64, error) {
		y := x
		if bounded || ratios {
			var err error
			if y, err = r.mixture(x); err != nil {
				return nil, nil, err
			}
		}
		return func(q Quantity) float64 {
			if bounded || q.Over != nil {
				return q.of(y)
			}
			return q.of(x)
		}, y, nil
	}
	average, _, err := of(r.share)
	if err != nil {
		return err
	}
	mean, at, err := of(r.at(s.d.mean))
	if err != nil {
		return err
	}
	for i, q := range s.quantities {
		f(i, average(q))
	}
	for _, t := range s.d.terms {
		for _, c := range t.predict {
			if c == nil {
				continue
			}
			x, _, err := of(r.at(c))
			if err != nil {
				return err
			}
			for i, q := range s.quantities {
				f(i, x(q))
			}
			for i, q := range s.quantities {
				f(i, x(q)-mean(q))
			}
		}
		if t.slope == nil {
			continue
		}
		rates := r.at(t.slope)
		for i, q := range s.quantities {
			f(i, floats.Dot(q.gradient(at), rates))
		}
	}
	return nil
}

// at returns cᵀβ, K numbers.
func (r *regression) at(c []float64) []float64 {
	var out mat.VecDense
	out.MulVec(r.beta.T(), mat.NewVecDense(len(c), c))
	return out.RawVector().Data
}

// topics returns the topics of q.
func (q Quantity) topics() []int { return slices.Concat(q.Plus, q.Minus, q.Over) }

// linear returns the numerator of q.
func (q Quantity) linear(x []float64) float64 {
	sum := 0.0
	for _, k := range q.Plus {
		sum += x[k]
	}
	for _, k := range q.Minus {
		sum -= x[k]
	}
	return sum
}

// over returns the denominator of q.
func (q Quantity) over(x []float64) float64 { return Quantity{Plus: q.Over}.linear(x) }

// of returns the value of q at the proportions x.
func (q Quantity) of(x []float64) float64 {
	if q.Over == nil {
		return q.linear(x)
	}
	return q.linear(x) / q.over(x)
}

// gradient returns the derivatives of q with respect to the proportions, at x.
func (q Quantity) gradient(x []float64) []float64 {
	out := make([]float64, len(x))
	for _, k := range q.Plus {
		out[k]++
	}
	for _, k := range q.Minus {
		out[k]--
	}
	if q.Over != nil {
		ratio, over := q.of(x), q.over(x)
		for _, k := range q.Over {
			out[k] -= ratio
		}
		floats.Scale(1/over, out)
	}
	return out
}

// effects returns the estimates with intervals of the given level.
func (s *summary) effects(level float64) *Effects {
	out := &Effects{Level: level, Replicates: s.replicates, Drawn: s.drawn, Quantities: s.quantities, Unmatched: s.unmatched}
	for i := range s.quantities {
		part, stdErr := s.found[i].Slope()
		if !(stdErr <= 0.1) {
			part = math.NaN()
		}
		out.Found = append(out.Found, part)
	}
	next := s.all
	// take returns the intervals of the next numbers, which rest on docs documents.
	take := func(docs int, what measure) []jsmf.Interval {
		list := make([]jsmf.Interval, len(s.quantities))
		for i, q := range s.quantities {
			x := next[i].Interval(spread.Doubt{
				Level: level, Units: docs + lenders, Variance: next[i].borrowed,
				Drawn: s.drawn, Hidden: s.hidden(q, what),
			})
			value, low, high := x.Within(q.bounds(what))
			list[i] = jsmf.Interval{Value: value, Low: low, High: high, Bias: x.Bias}
		}
		next = next[len(list):]
		return list
	}
	all := len(s.d.docs)
	out.Shares = take(all, share)
	for i, t := range s.d.terms {
		x := t.TermEffects
		for p, c := range t.predict {
			if c == nil {
				x.Predictions, x.Differences = append(x.Predictions, unknown(s.quantities)), append(x.Differences, unknown(s.quantities))
				continue
			}
			docs := s.terms[i].units(x.Points, p)
			x.Predictions = append(x.Predictions, take(docs, share))
			x.Differences = append(x.Differences, take(docs, difference))
		}
		switch {
		case t.slope != nil:
			x.Slopes = take(all, slope)
		case t.Kind == Numbers:
			x.Slopes = unknown(s.quantities)
		}
		out.Terms = append(out.Terms, x)
	}
	return out
}

// hidden returns what the topic of q that changes most in drawn documents may hide of a number. What
// is wrong with a topic is wrong with it everywhere: differences and slopes may hide half as much.
func (s *summary) hidden(q Quantity, what measure) float64 {
	most := 0.0
	for _, k := range q.topics() {
		most = max(most, spread.Hidden(s.changed[k].Mean()))
	}
	if what != share {
		most /= 2
	}
	return most
}

// measure is what a number is.
type measure int

const (
	share measure = iota // or a prediction
	difference
	slope
)

// bounds returns the least and the largest value.
func (q Quantity) bounds(what measure) (low, high float64) {
	switch {
	case q.Over != nil || what == slope:
		return math.Inf(-1), math.Inf(1)
	case q.Minus != nil && what == difference:
		return -2, 2
	case q.Minus == nil && what == share:
		return 0, 1
	}
	return -1, 1
}

// units returns the number of documents that an estimate at a point rests on: those at the point,
// or for a term with a number those of the same level.
func (t Term) units(points []Point, at int) int {
	if !slices.ContainsFunc(t.parts, func(p part) bool { return p.kind == Numbers }) {
		return points[at].Documents
	}
	sum := 0
	for _, p := range points {
		if slices.Equal(p.Levels, points[at].Levels) {
			sum += p.Documents
		}
	}
	return sum
}

// unknown returns intervals of NaN.
func unknown(quantities []Quantity) []jsmf.Interval {
	nan := math.NaN()
	return slices.Repeat([]jsmf.Interval{{Value: nan, Low: nan, High: nan}}, len(quantities))
}
