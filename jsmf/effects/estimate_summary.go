package effects

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/input"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
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
	terms      []termDesign // for each of the study the one without the others, then the one with them
	units      int
	lenders    int       // see design.lenders
	apart      []float64 // of each term, see TermEffects
	quantities []Quantity
	replicates int
	drawn      int
	unmatched  []int
	changed    []spread.Spread // of each topic, half its distance in drawn replicates that have it
	found      []spread.Line   // of each quantity, differences found in drawn documents on those that they have
	all        []number        // in the order in which numbers passes them
}

func newSummary(designs []*design, topics int, quantities []Quantity) *summary {
	s := &summary{
		units: designs[0].units, lenders: designs[0].lenders(), quantities: quantities, unmatched: make([]int, len(quantities)),
		changed: make([]spread.Spread, topics), found: make([]spread.Line, len(quantities)),
	}
	for i, adjusted := range designs[0].terms {
		raw := adjusted
		if len(designs) > 1 {
			raw = designs[1+i].terms[0]
			raw.in = 1 + i
		}
		s.terms = append(s.terms, raw)
		for _, other := range designs[0].terms {
			for _, c := range other.Columns {
				if !slices.Contains(adjusted.Columns, c) && !slices.Contains(adjusted.AdjustedFor, c) {
					adjusted.AdjustedFor = append(adjusted.AdjustedFor, c)
				}
			}
		}
		if adjusted.AdjustedFor != nil {
			s.terms = append(s.terms, adjusted)
		}
	}
	return s
}

// estimate takes the numbers of the model. Their proportions are bounded. Those of the replicates
// are not: numbers that cannot pass a bound vary too little.
func (s *summary) estimate(ctx context.Context, r *regression) error {
	err := s.numbers(r, true, func(_ int, v float64) { s.all = append(s.all, number{Number: spread.Number{Value: v}}) })
	if err != nil {
		return err
	}
	variances, err := r.variances(ctx, s.quantities)
	if err != nil {
		return err
	}
	next, raw := s.all[len(s.quantities):], 0.0 // after the shares, which borrow almost nothing
	for _, t := range s.terms {
		f, sum, documents := r.fits[t.in], 0.0, 0.0
		// take takes what the next numbers borrow, and the variance of cᵀβ, n times.
		take := func(c []float64, difference bool, n int) error {
			borrowed, all, err := f.borrowed(ctx, c)
			for i, v := range variances {
				next[i].borrowed, next[i].difference = borrowed*v, difference
			}
			next, sum, documents = next[len(s.quantities):], sum+float64(n)*all, documents+float64(n)
			return err
		}
		for p, c := range t.predict {
			if c == nil {
				continue
			}
			difference, n := make([]float64, len(c)), 0
			if floats.SubTo(difference, c, f.mean); t.slope == nil && !t.Points[p].Few() {
				n = t.Points[p].Documents
			}
			if err := errors.Join(take(c, false, 0), take(difference, true, n)); err != nil {
				return err
			}
		}
		if t.slope != nil {
			if err := take(t.slope, false, 1); err != nil {
				return err
			}
		}
		if t.AdjustedFor == nil {
			raw = sum / documents
		}
		s.apart = append(s.apart, min(raw*documents/sum, 1))
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
		ok[i] = !slices.ContainsFunc(q.Topics, func(k int) bool { return !topics[k] })
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
// predictions and differences, point by point, and the slopes. If bounded is set they are of
// proportions that are not negative.
func (s *summary) numbers(r *regression, bounded bool, f func(quantity int, v float64)) error {
	var err error
	of := func(x []float64) []float64 {
		if bounded && err == nil {
			x, err = r.mixture(x)
		}
		return x
	}
	add := func(x, less []float64) {
		for i, q := range s.quantities {
			v := q.of(x)
			if less != nil {
				v -= q.of(less)
			}
			f(i, v)
		}
	}
	add(of(r.share), nil)
	for _, t := range s.terms {
		mean := of(r.at(t.in, r.fits[t.in].mean))
		for _, c := range t.predict {
			if c != nil {
				x := of(r.at(t.in, c))
				add(x, nil)
				add(x, mean)
			}
		}
		if t.slope != nil {
			add(r.at(t.in, t.slope), nil)
		}
	}
	return err
}

// at returns cᵀβ of a fit, K numbers.
func (r *regression) at(fit int, c []float64) []float64 {
	out := make([]float64, r.docs.k)
	for i, v := range c {
		floats.AddScaled(out, v, linalg.Row(r.beta[fit], i))
	}
	return out
}

// of returns the sum of the proportions x of the topics.
func (q Quantity) of(x []float64) (sum float64) {
	for _, k := range q.Topics {
		sum += x[k]
	}
	return sum
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
	// take returns the intervals of the next numbers, which rest on so many units. Differences are 0 to 1
	// less a number with the interval from, slopes anything.
	take := func(units int, slopes bool, from []jsmf.Interval) []jsmf.Interval {
		list := unknown(s.quantities)
		for i, q := range s.quantities {
			x := next[i].Interval(spread.Doubt{
				Level: level, Units: units + s.lenders, Variance: next[i].borrowed,
				Drawn: s.drawn, Hidden: s.hidden(q, slopes || from[i] != (jsmf.Interval{})),
			})
			if few(units) {
				continue
			}
			lowest, highest := -from[i].High, 1-from[i].Low
			if from[i].Withheld() {
				lowest, highest = -1, 1
			}
			if slopes {
				lowest, highest = math.Inf(-1), math.Inf(1)
			} else {
				x.Value = min(max(x.Value, -from[i].Value), 1-from[i].Value)
			}
			value, low, high := x.Within(lowest, highest)
			list[i] = jsmf.Interval{Value: value, Low: low, High: high, Bias: x.Bias}
		}
		next = next[len(list):]
		return list
	}
	zero := make([]jsmf.Interval, len(s.quantities))
	out.Shares = take(s.units, false, zero)
	for i, t := range s.terms {
		x := t.TermEffects
		x.Apart = s.apart[i]
		for p, c := range t.predict {
			if c == nil {
				x.Predictions, x.Differences = append(x.Predictions, unknown(s.quantities)), append(x.Differences, unknown(s.quantities))
				continue
			}
			x.Predictions = append(x.Predictions, take(x.Points[p].Units, false, zero))
			x.Differences = append(x.Differences, take(x.Points[p].Units, false, out.Shares))
		}
		switch {
		case t.slope != nil:
			x.Slopes = take(s.units, true, zero)
		case t.Kind == Numbers:
			x.Slopes = unknown(s.quantities)
		}
		out.Terms = append(out.Terms, x)
	}
	return out
}

// hidden returns what the topic of q that changes most in drawn documents may hide of a number. What
// is wrong with a topic is wrong with it everywhere: differences and slopes may hide half as much.
func (s *summary) hidden(q Quantity, change bool) float64 {
	most := 0.0
	for _, k := range q.Topics {
		most = max(most, spread.Hidden(s.changed[k].Mean()))
	}
	if change {
		most /= 2
	}
	return most
}

// unknown returns intervals of NaN.
func unknown(quantities []Quantity) []jsmf.Interval {
	nan := math.NaN()
	return slices.Repeat([]jsmf.Interval{{Value: nan, Low: nan, High: nan}}, len(quantities))
}

// documents are those of a study, over the words of the model: those in memory in the order
// of their ids, others as they are read.
type documents struct {
	given   *input.Ordered
	encoded *corpus.Encoded
	to      []int32 // for each word, its number in the model, −1 for none
	meta    *corpus.Metadata
	own     []float64 // weights; 0 for documents that no topic explains
	length  []float64 // tokens that the model knows
	k       int       // topics of the model
}

// readDocuments reads the documents behind an input.
func readDocuments(ctx context.Context, m *jsmf.Model, in jsmf.Input) (*documents, error) {
	d := &documents{k: m.K()}
	var err error
	if d.given, err = input.Order(ctx, in); err != nil {
		return nil, err
	}
	if d.encoded, err = input.Encoded(ctx, d.given.Input()); err != nil {
		return nil, err
	}
	if d.meta = d.encoded.Metadata(); d.meta == nil {
		return nil, errors.New("the documents have no columns of metadata")
	}
	if err := d.count(ctx, m); err != nil {
		return nil, err
	}
	if d.own = slices.Clone(d.encoded.Weights()); d.own == nil {
		d.own = slices.Repeat([]float64{1}, len(d.length))
	}
	return d, d.leaveUnexplained(ctx, m)
}

// leaveUnexplained takes the weight of documents that no topic of m explains.
func (d *documents) leaveUnexplained(ctx context.Context, m *jsmf.Model) error {
	by, err := m.Inferer(ctx, nil, infer.Options{})
	if err != nil {
		return err
	}
	return d.each(ctx, func(_, _ int, b *corpus.Block) error {
		theta := make([]float64, d.k)
		var words, counts []int32 // that the model knows
		for i := range b.Docs() {
			var lacking float64
			words, counts, lacking = d.known(words[:0], counts[:0], b, i)
			x, err := by.InferTo(theta, words, counts)
			if err != nil {
				return err
			}
			if !x.Explained(lacking) {
				d.own[b.First+i] = 0
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	})
}

// known appends the words of document i of a block that the model knows, and their counts, and returns how many
// tokens it lacks.
func (d *documents) known(words, counts []int32, b *corpus.Block, i int) (_, _ []int32, lacking float64) {
	all, n := b.Doc(i)
	for j, w := range all {
		if at := d.to[w]; at >= 0 {
			words, counts = append(words, at), append(counts, n[j])
		} else {
			lacking += float64(n[j])
		}
	}
	return words, counts, lacking
}

// redrawn returns documents drawn in place of those of d, over the words of m.
func (d *documents) redrawn(ctx context.Context, m *jsmf.Model, c *corpus.Corpus) (*documents, error) {
	out := *d
	var err error
	if out.encoded, err = input.Encoded(ctx, c); err != nil {
		return nil, err
	}
	return &out, out.count(ctx, m)
}

// count sets the numbers of the words in m and the lengths of the documents.
func (d *documents) count(ctx context.Context, m *jsmf.Model) error {
	words := d.encoded.Info().Vocabulary
	d.to = make([]int32, len(words))
	for i, w := range words {
		d.to[i] = bag.Unknown
		if at, ok := m.Index(w); ok {
			d.to[i] = int32(at)
		}
	}
	d.length = make([]float64, d.encoded.Info().Documents)
	err := d.each(ctx, func(_, _ int, b *corpus.Block) error {
		for i := range b.Docs() {
			words, counts := b.Doc(i)
			for j, w := range words {
				if d.to[w] >= 0 {
					d.length[b.First+i] += float64(counts[j])
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(d.length, func(n float64) bool { return n > 0 }) {
		return errors.New("no word of the documents is one of the model")
	}
	return nil
}

// maxParts is in how many parts the documents are read at once at most.
const maxParts = 16

// parts returns the number of parts.
func (d *documents) parts() int { return parallel.Count(d.encoded.Blocks(), d.perPart()) }

// perPart returns the number of blocks in a part.
func (d *documents) perPart() int { return (d.encoded.Blocks() + maxParts - 1) / maxParts }

// each calls f for each block, those of a part in order.
func (d *documents) each(ctx context.Context, f func(worker, part int, b *corpus.Block) error) error {
	blocks := d.encoded.Blocks()
	if blocks == 0 {
		return errors.New("no documents")
	}
	held := make([]corpus.Block, parallel.Workers(0, d.parts()))
	return parallel.Chunks(ctx, blocks, d.perPart(), 0, func(worker, part, lo, hi int) error {
		b := &held[worker]
		for i := lo; i < hi; i++ {
			if err := d.encoded.Block(i, b); err != nil {
				return err
			}
			if err := f(worker, part, b); err != nil {
				return err
			}
		}
		return nil
	})
}
