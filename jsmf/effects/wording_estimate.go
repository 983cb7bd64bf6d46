package effects

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/internal/spread"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
)

// Wording finds the words that groups of documents use more than all others within the same topic of m, the
// model that p has made of in. The groups are the levels of a Category or the bins of a Time, each term for
// itself.
//
// A pass over the documents adds up the expected uses of words in topics, by the proportions that the model
// infers (infer.MAP). A word is judged in the topic of which p(topic | word) is at least 0.5. Of the tokens
// of the topic that a group has, the word is expected to be the same part as of those of all, so that
// a group with more of the topic does not seem to word it differently. What is beyond is tested by its variance over
// documents, or clusters of them: a word that one document repeats counts for little. There is room for proportions
// that are not exact: a standard deviation of 0.1 in the logarithm of the ratio. The test is one-sided, with Bonferroni's
// correction for all words and groups of a topic: where groups word nothing differently, words are found in
// 1 − Level of the topics at most.
//
// Ratio is a ratio of odds with an informative Dirichlet prior (Monroe, Colaresi and Quinn, Political
// Analysis 16, 2008): a group gets half a use, and as many tokens as words are judged, in the proportions of
// all. Its interval comes from documents and replicates, as those of Run do. It holds what the topics would be
// if they were learned again, and what drawn documents show, whose groups differ in shares alone. Words whose
// interval holds 1 are left out (TopicWording.Unsure). Words that stand out by chance are among those found,
// so that ratios are rather too large where a topic has few uses.
//
// A topic that is several subjects is worded differently by groups that take up one of them.
//
// Memory: the documents, encoded, 16·M·K bytes, and 24 for each count of a word that is judged. Time: that of
// Model.Transform, and where words are found once more for each replicate. Errors: those of Run, and terms
// of numbers or interactions.
func (s Study) Wording(ctx context.Context, p jsmf.Pipeline, m *jsmf.Model, in jsmf.Input) (*Wording, error) {
	e, err := s.BeginWording(ctx, m, in)
	if err == nil {
		err = s.replicate(ctx, p, m, in, e.docs, e.Add)
	}
	if err != nil {
		return nil, err
	}
	return e.Wording(), nil
}

// WordingEstimator finds the Wording of a Study from replicates that are made elsewhere, as an Estimator does
// its Effects. It is not safe for concurrent use.
type WordingEstimator struct {
	docs  *documents
	m     *jsmf.Model
	terms []*wordedTerm

	changed []spread.Spread // see summary
	made    Wording         // without terms
}

// wordedTerm is what is known of a term.
type wordedTerm struct {
	TermWording
	at       []int // of each document, its point; −1: it does not count
	compared int   // points that are not Few
	found    []foundWord
}

// foundWord is a word that a group uses more, as documents tell.
type foundWord struct {
	WordUse
	topic    int
	rate     float64       // of all documents
	number   spread.Number // the logarithm of the ratio
	variance float64       // of the same, by documents
}

const (
	judgedShare = 0.5 // the least p(topic | word) of a word that is judged
	judgedUnits = 40  // how many documents have to use it: of fewer a ratio of 3 would be missed
	leak        = 0.1 // of the logarithm of a ratio, the standard deviation that wrong shares make
)

// BeginWording reads the documents and finds the words that groups use more, without intervals. in is what the
// replicates are made of.
func (s Study) BeginWording(ctx context.Context, m *jsmf.Model, in jsmf.Input) (_ *WordingEstimator, err error) {
	defer func() { err = errs.Wrap("effects", err) }()
	docs, err := s.read(ctx, m, in)
	if err != nil {
		return nil, err
	}
	e := &WordingEstimator{docs: docs, m: m, changed: make([]spread.Spread, m.K())}
	e.made = Wording{Level: cmp.Or(s.Bootstrap.Level, 0.95), Topics: m.Names()}
	shares, topic := m.WordTopics(), slices.Repeat([]int{-1}, m.N())
	for w := range topic {
		for k := range m.K() {
			if shares.At(w, k) >= judgedShare {
				topic[w] = k
			}
		}
	}
	u, err := docs.countUses(ctx, m, topic)
	if err != nil {
		return nil, err
	}
	for i, t := range s.Terms {
		if len(t.parts) != 1 || t.parts[0].kind == Numbers {
			return nil, fmt.Errorf("term %d, %v: wording is compared between groups of documents; want a Category or a Time", i+1, t)
		}
		b := &builder{terms: s.Terms[i : i+1]}
		if err := b.read(docs.meta, docs.own, s.Bootstrap.Cluster); err != nil {
			return nil, err
		}
		term, err := e.compare(ctx, b, u)
		if err != nil {
			return nil, err
		}
		e.terms = append(e.terms, term)
	}
	return e, nil
}

// uses are the expected uses of words, each in one topic.
type uses struct {
	topic  []int      // of each word; −1: it is not counted
	words  [][]use    // of each word, in the documents that have it, in order
	tokens *mat.Dense // M×K, of each document in each topic
}

type use struct {
	word  int32
	doc   int
	count float64
}

// countUses counts the uses of words in the topics that are given for them, by the proportions that m infers.
func (d *documents) countUses(ctx context.Context, m *jsmf.Model, topic []int) (*uses, error) {
	by, err := m.Inferer(ctx, nil, infer.Options{})
	if err != nil {
		return nil, err
	}
	topics := mat.DenseCopyOf(m.Topics())
	parts := make([][]use, d.parts())
	out := &uses{topic: topic, words: make([][]use, m.N()), tokens: mat.NewDense(len(d.own), m.K(), nil)}
	err = d.each(ctx, func(_, part int, b *corpus.Block) error {
		theta, share := make([]float64, m.K()), make([]float64, m.K())
		var words, counts []int32 // that the model knows
		for i := range b.Docs() {
			words, counts, _ = d.known(words[:0], counts[:0], b, i)
			if _, err := by.InferTo(theta, words, counts); err != nil {
				return err
			}
			for j, w := range words {
				if vec.Posterior(share, topics.RawRowView(int(w)), theta) > 0 {
					floats.AddScaled(out.tokens.RawRowView(b.First+i), float64(counts[j]), share)
					if k := topic[w]; k >= 0 {
						parts[part] = append(parts[part], use{w, b.First + i, float64(counts[j]) * share[k]})
					}
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	})
	for _, list := range parts {
		for _, x := range list {
			out.words[x.word] = append(out.words[x.word], x)
		}
	}
	return out, err
}

// moments sum up the uses y of a word and the tokens n of its topic over units: documents, or clusters of
// them at one point.
type moments struct {
	units          int // with half a use or more
	y, yy, yn      float64
	tokens, square float64 // Σn and Σn²
}

func (a moments) plus(sign float64, b moments) moments {
	return moments{a.units + b.units, a.y + sign*b.y, a.yy + sign*b.yy, a.yn + sign*b.yn, a.tokens + sign*b.tokens, a.square + sign*b.square}
}

// off is Σ(y − rate·n)².
func (a moments) off(rate float64) float64 { return a.yy - 2*rate*a.yn + rate*rate*a.square }

// above returns by how many standard deviations a group uses the word more than is expected of all.
func (a moments) above(all moments) float64 {
	rate, part := all.y/all.tokens, a.tokens/all.tokens
	own, every := a.off(rate), all.off(rate)
	dealt := part * (1 - part) * every // where the documents are dealt out to groups at random
	found := (1-part)*(1-part)*own + part*part*(every-own)
	room := leak * part * (1 - part) * all.y
	return (a.y - rate*a.tokens) / math.Sqrt(max(dealt, found)+room*room)
}

// variance is that of the logarithm of the odds by units, at least that of independent uses.
func (a moments) variance() float64 {
	n := a.y + 0.5
	return max(a.off(a.y/a.tokens)/n, 1) / n
}

// compare finds the words that groups use more.
func (e *WordingEstimator) compare(ctx context.Context, b *builder, u *uses) (*wordedTerm, error) {
	c, k := b.columns[0], e.m.K()
	t := &wordedTerm{at: slices.Repeat([]int{-1}, len(e.docs.own))}
	t.TermWording = TermWording{Name: c.column, Kind: c.kind, Unit: c.unit, Points: c.points, Documents: len(b.docs), Topics: make([]TopicWording, k)}
	unit, weight, number := make([]int, len(t.at)), make([]float64, len(t.at)), map[[2]int]int{}
	var point []int // of each unit
	for i, doc := range b.docs {
		key := [2]int{b.unit[i], c.of[i]}
		if _, ok := number[key]; !ok {
			number[key] = len(point)
			point = append(point, c.of[i])
			t.Points[c.of[i]].Units++
		}
		t.at[doc], unit[doc], weight[doc] = c.of[i], number[key], b.weights[i]*float64(len(b.docs))
	}
	tokens := mat.NewDense(len(point), k, nil) // of each unit
	for _, doc := range b.docs {
		floats.AddScaled(tokens.RawRowView(unit[doc]), weight[doc], u.tokens.RawRowView(doc))
	}
	empty := make([][]moments, k) // of each topic and point, for a word without uses
	for j := range empty {
		empty[j] = make([]moments, len(t.Points))
		for i, p := range point {
			n := tokens.At(i, j)
			empty[j][p] = empty[j][p].plus(1, moments{tokens: n, square: n * n})
		}
	}
	for _, p := range t.Points {
		if !p.Few() {
			t.compared++
		}
	}
	judged := make([][][]moments, k) // of each topic: of each word, at each point
	words := make([][]int, k)
	held := make([]float64, len(point))
	for w, list := range u.words {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if u.topic[w] < 0 || t.compared < 2 {
			continue
		}
		j := u.topic[w]
		at, units := slices.Clone(empty[j]), 0
		for _, x := range list {
			if t.at[x.doc] >= 0 {
				held[unit[x.doc]] += weight[x.doc] * x.count
			}
		}
		for _, x := range list {
			i := unit[x.doc]
			if y := held[i]; t.at[x.doc] >= 0 && y > 0 {
				one := moments{y: y, yy: y * y, yn: y * tokens.At(i, j)}
				if y >= 0.5 {
					one.units = 1
				}
				at[point[i]], units, held[i] = at[point[i]].plus(1, one), units+one.units, 0
			}
		}
		if units >= judgedUnits {
			judged[j], words[j] = append(judged[j], at), append(words[j], w)
		}
	}
	for j := range t.Topics {
		if t.Topics[j].Judged = len(words[j]); words[j] == nil {
			continue
		}
		need := distuv.UnitNormal.Quantile(1 - (1-e.made.Level)/float64(len(words[j])*t.compared))
		for i, at := range judged[j] {
			t.judge(foundWord{WordUse: WordUse{Word: e.m.Word(words[j][i])}, topic: j}, at, need)
		}
	}
	return t, nil
}

// judge compares the groups by a word, of whose uses the moments are given.
func (t *wordedTerm) judge(f foundWord, at []moments, need float64) {
	var all moments
	for _, a := range at {
		all = all.plus(1, a)
	}
	f.rate = all.y / all.tokens
	for p, a := range at {
		if t.Points[p].Few() || !(a.above(all) > need) {
			continue
		}
		rest := all.plus(-1, a)
		f.Point, f.Uses, f.Expected, f.Documents = p, a.y, f.rate*a.tokens, a.units
		f.number.Value, f.variance = t.logRatio(&f, a, rest), a.variance()+rest.variance()
		t.found = append(t.found, f)
	}
}

// logRatio returns the logarithm of the ratio of the odds of a word in a group and in all others.
func (t *wordedTerm) logRatio(f *foundWord, a, rest moments) float64 {
	prior := float64(t.Topics[f.topic].Judged)
	odds := func(x moments) float64 {
		return math.Log((x.y + prior*f.rate + 0.5) / (x.tokens - x.y + prior*(1-f.rate) + 0.5))
	}
	return odds(a) - odds(rest)
}

// Add takes a replicate of the model into the intervals. Cold ones do not count.
func (e *WordingEstimator) Add(ctx context.Context, x *jsmf.Replicate) (err error) {
	docs, weights := e.docs, e.docs.own
	switch {
	case x.Cold:
		return nil
	case x.Drawn != nil:
		e.made.Drawn++
		for k, d := range x.Distance {
			if x.Matched[k] {
				e.changed[k].Add(d / 2)
			}
		}
		if docs, err = docs.redrawn(ctx, x.Model, x.Drawn.Documents); err != nil {
			return fmt.Errorf("drawn replicate %d: %w", x.Number, err)
		}
	default:
		e.made.Replicates++
		weights = e.docs.given.In(x.Weights)
	}
	topic, known := slices.Repeat([]int{-1}, x.Model.N()), false
	for _, t := range e.terms {
		for _, f := range t.found {
			if w, ok := x.Model.Index(f.Word); ok && x.Matched[f.topic] {
				topic[w], known = f.topic, true
			}
		}
	}
	if !known {
		return nil
	}
	u, err := docs.countUses(ctx, x.Model, topic)
	if err != nil {
		return fmt.Errorf("replicate %d: %w", x.Number, err)
	}
	for _, t := range e.terms {
		t.again(u, x, weights)
	}
	return nil
}

// again takes the ratios of the words found from the uses in a replicate.
func (t *wordedTerm) again(u *uses, x *jsmf.Replicate, weights []float64) {
	tokens := mat.NewDense(len(t.Points), len(t.Topics), nil)
	for doc, p := range t.at {
		if p >= 0 {
			floats.AddScaled(tokens.RawRowView(p), weights[doc], u.tokens.RawRowView(doc))
		}
	}
	for i := range t.found {
		f := &t.found[i]
		w, ok := x.Model.Index(f.Word)
		if !ok || !x.Matched[f.topic] {
			continue
		}
		all, own := moments{tokens: mat.Sum(tokens.ColView(f.topic))}, moments{tokens: tokens.At(f.Point, f.topic)}
		for _, use := range u.words[w] {
			if p, y := t.at[use.doc], weights[use.doc]*use.count; p >= 0 {
				all.y += y
				if p == f.Point {
					own.y += y
				}
			}
		}
		ratio := t.logRatio(f, own, all.plus(-1, own))
		if x.Drawn != nil {
			f.number.Off.Add(ratio)
		} else {
			f.number.Again.Add(ratio)
		}
	}
}

// Wording returns what is found, with intervals from the replicates that were added.
func (e *WordingEstimator) Wording() *Wording {
	out := e.made
	for _, t := range e.terms {
		made := t.TermWording
		made.Topics = slices.Clone(t.Topics)
		for _, f := range t.found {
			topic := &made.Topics[f.topic]
			x := f.number.Interval(spread.Doubt{
				Level: out.Level, Units: t.Points[f.Point].Units, Variance: max(f.variance-f.number.Again.Variance(), 0),
				Drawn: out.Drawn, Hidden: spread.Hidden(e.changed[f.topic].Mean()) / 2,
			})
			f.Ratio = jsmf.Interval{Value: math.Exp(x.Value), Low: math.Exp(x.Value - x.Half), High: math.Exp(x.Value + x.Half)}
			f.Ratio.Bias = math.Exp(f.number.Value) - f.Ratio.Value
			if out.Replicates > 0 && !(f.Ratio.Low > 1) {
				topic.Unsure++
				continue
			}
			topic.Words = append(topic.Words, f.WordUse)
		}
		for _, topic := range made.Topics {
			slices.SortFunc(topic.Words, func(x, y WordUse) int {
				return cmp.Or(cmp.Compare(y.Ratio.Low, x.Ratio.Low), cmp.Compare(y.Ratio.Value, x.Ratio.Value), cmp.Compare(x.Word, y.Word))
			})
		}
		out.Terms = append(out.Terms, made)
	}
	return &out
}
