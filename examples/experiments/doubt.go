package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
)

// doubtGroup is how often intervals hold what was planted.
var doubtGroup = &group{
	name: "doubt", version: 3,
	labels: []string{"topics", "prior", "words", "tokens", "documents", "k", "what", "draw"},
	// Of the numbers of a corpus, told is the share of those with an interval, held that of the
	// intervals that hold the truth, and clear that of those without 0. width is the median of half
	// the widths, and rms the root of the mean square error of the values with an interval. found is
	// what the model says of its recovery, the mean over topics for effects, and repeat what it says of
	// words that documents repeat. known is the width with the true topics.
	measures: []string{"numbers", "told", "held", "clear", "width", "rms", "found", "known", "repeat"},
}

// The words of documents of doubt: independent given the topics, or, as in real documents, a part of
// them repeats an earlier word of the document.
const (
	independent = "independent"
	bursty      = "bursty"

	burstyPart = 0.3
)

// The numbers of doubt.
const (
	doubtShare       = "share"
	doubtCorrelation = "correlation"
	doubtDifference  = "difference"
	doubtSlope       = "slope"
	doubtPermuted    = "permuted"
)

// doubtCells are the kinds of corpora. Topics learned from a corpus are those of one of the first two.
func doubtCells(learned []string) []plantedCell {
	out := []plantedCell{
		{separated, dirichlet, 100, 1000, 10, 0},
		{separated, correlatedLogits, 100, 1000, 10, 0},
		{separated, correlatedLogits, 30, 8000, 10, 0},
		{separated, correlatedLogits, 100, 8000, 10, 0},
		{separated, correlatedLogits, 100, 8000, 10, burstyPart},
		{separated, correlatedLogits, 400, 1000, 30, 0},
		{overlapping, correlatedLogits, 100, 8000, 10, 0},
		{overlapping, dirichlet, 400, 1000, 10, 0},
		// Three in which topics are learned badly, by which no rule was chosen.
		{overlapping, correlatedLogits, 30, 1000, 10, 0},
		{overlapping, correlatedLogits, 100, 1000, 10, burstyPart},
		{separated, correlatedLogits, 30, 1000, 10, burstyPart},
	}
	for i, name := range learned {
		out = append(out, plantedCell{name, correlatedLogits, 100, 8000, 10, 0})
		if i%2 == 0 {
			out = append(out, plantedCell{name, dirichlet, 100, 1000, 10, burstyPart})
		} else {
			out = append(out, plantedCell{name, correlatedLogits, 400, 1000, 10, 0})
		}
	}
	return out
}

// words says how the words of a cell's documents are drawn.
func (c plantedCell) words() string {
	if c.repeat > 0 {
		return bursty
	}
	return independent
}

func planDoubt(_ context.Context, l *lab) ([]cell, error) {
	x := &doubtLab{plantedLab: plantedLab{lab: l}}
	all, draws := doubtCells(l.corpora[:min(2, len(l.corpora))]), l.doubt
	if l.quick {
		all, draws = all[:1], 1
	}
	var out []cell
	for draw := range draws { // a run that is stopped has as many of each kind
		for _, c := range all {
			input := ""
			if s, err := x.learnedFrom(c.topics); err != nil {
				return nil, err
			} else if s != nil {
				input = s.digest
			}
			set := settings("topics", c.topics, "prior", c.prior, "words", c.words(), "tokens", c.tokens, "documents", c.docs, "k", c.k, "draw", draw,
				"n", l.words, "warm", doubtWarm, "seed", l.seed, "input", input)
			cost := 20 + float64(c.docs*c.tokens*c.k)/5e5
			out = append(out, cell{doubtGroup, set, cost, func(ctx context.Context) ([]row, error) { return x.measure(ctx, c, draw) }})
		}
	}
	return out, nil
}

// doubtLab holds what the cells at hand share.
type doubtLab struct {
	plantedLab
	truths map[string]*doubtTruth
}

// doubtTruth are the numbers of a prior.
type doubtTruth struct {
	share, half, slope []float64     // half of the difference of the groups
	correlation        *mat.SymDense // K×K
}

// doubtWarm is the number of warm replicates.
const doubtWarm = 40

// doubtDraws is how many proportions stand for a prior.
const doubtDraws = 400000

// truth returns the numbers of a prior of k topics.
func (x *doubtLab) truth(prior string, k int) (*doubtTruth, error) {
	key := fmt.Sprint(prior, k)
	if t := x.truths[key]; t != nil {
		return t, nil
	}
	p := newPlantedPrior(prior, k)
	draw, err := p.Sampler(k)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(x.seed, 0xd0b7))
	t := &doubtTruth{share: make([]float64, k)}
	a := mat.NewSymDense(k, nil)
	xx, xy := mat.NewSymDense(3, nil), mat.NewDense(3, k, nil)
	theta := make([]float64, k)
	for i := range doubtDraws {
		draw(theta, rng)
		of := mat.NewVecDense(k, theta)
		floats.AddScaled(t.share, 1.0/doubtDraws, theta)
		a.SymRankOne(a, 1, of)
		z := mat.NewVecDense(3, []float64{1, float64(p.groups[i]), p.times[i]})
		xx.SymRankOne(xx, 1, z)
		xy.RankOne(xy, 1, z, of)
	}
	var beta mat.Dense
	if err := beta.Solve(xx, xy); err != nil {
		return nil, err
	}
	t.half, t.slope = mat.Row(nil, 1, &beta), mat.Row(nil, 2, &beta)
	floats.Scale(0.5, t.half)
	t.correlation = correlationsOf(a)
	if x.truths == nil {
		x.truths = make(map[string]*doubtTruth)
	}
	x.truths[key] = t
	return t, nil
}

// documents draws those of a cell, with permuted copies of the columns.
func (x *doubtLab) documents(ctx context.Context, c plantedCell, draw int) (*plantedCorpus, error) {
	d, err := x.corpus(ctx, c, draw)
	if err != nil {
		return nil, err
	}
	docs := d.docs
	rng := rand.New(rand.NewPCG(x.seed<<32+uint64(draw), 0xb57))
	var values [][]corpus.Value
	meta := d.docs.Metadata()
	for m, other := range rng.Perm(docs.NumDocs()) {
		values = append(values, []corpus.Value{meta.Value(m, 0), meta.Value(m, 1), meta.Value(other, 0), meta.Value(other, 1)})
	}
	columns := meta.Columns()
	for _, c := range meta.Columns() {
		c.Name = "permuted " + c.Name
		columns = append(columns, c)
	}
	if meta, err = corpus.NewMetadata(columns, values); err != nil {
		return nil, err
	}
	if docs, err = docs.WithMetadata(meta); err != nil {
		return nil, err
	}
	out := *d
	out.docs = docs
	return &out, nil
}

// measure fits a model to a corpus and compares its intervals with what was planted.
func (x *doubtLab) measure(ctx context.Context, c plantedCell, draw int) ([]row, error) {
	truth, err := x.truth(c.prior, c.k)
	if err != nil {
		return nil, err
	}
	d, err := x.documents(ctx, c, draw)
	if err != nil {
		return nil, err
	}
	p := jsmf.New(c.k).Words(x.words).Workers(x.workers)
	m, err := x.fit(ctx, d, p, row{})
	if err != nil {
		return nil, err
	}
	study := effects.Study{
		Terms: []effects.Term{effects.Category("group"), effects.Spline("time", 1), effects.Category("permuted group"), effects.Spline("permuted time", 1)},
	}
	e, err := study.Begin(ctx, m, d.docs)
	if err != nil {
		return nil, err
	}
	u, err := jsmf.Bootstrap{Warm: doubtWarm, Cold: -1, Seed: uint64(draw)}.Run(ctx, p, m, d.docs, e.Add)
	if err != nil {
		return nil, err
	}
	found := e.Effects()
	known, err := knownWidths(d, uint64(draw))
	if err != nil {
		return nil, err
	}
	var all []doubtOf
	in := func(what string, found float64) *doubtOf {
		all = append(all, doubtOf{what: what, found: found, known: known[what]})
		return &all[len(all)-1]
	}
	of := in(doubtShare, math.NaN())
	for t, v := range u.Topics {
		of.add(v.Share, truth.share[t])
	}
	of = in(doubtCorrelation, u.Found)
	for _, v := range u.Pairs {
		of.add(v.Correlation, truth.correlation.At(v.K, v.L))
	}
	told := slices.DeleteFunc(slices.Clone(found.Found), math.IsNaN)
	of = in(doubtDifference, stat.Mean(told, nil))
	one := slices.IndexFunc(found.Terms[0].Points, func(p effects.Point) bool { return p.Label == "1" })
	for _, n := range []int{0, 1} { // raw and adjusted, which are the same in the prior
		for t, v := range found.Terms[n].Differences[one] {
			of.add(v, truth.half[t])
		}
	}
	of = in(doubtSlope, math.NaN())
	for _, n := range []int{2, 3} {
		for t, v := range found.Terms[n].Slopes {
			of.add(v, truth.slope[t])
		}
	}
	of = in(doubtPermuted, math.NaN())
	for t := range c.k {
		for n := range 2 {
			of.add(found.Terms[4+n].Differences[0][t], 0)
			of.add(found.Terms[6+n].Slopes[t], 0)
		}
	}
	var rows []row
	for _, of := range all {
		r := row{"topics": c.topics, "prior": c.prior, "words": c.words(), "what": of.what}
		r.set("tokens", c.tokens).set("documents", c.docs).set("k", c.k).set("draw", draw).set("repeat", u.Repeat)
		rows = append(rows, of.set(r))
	}
	return rows, nil
}

// doubtOf collects intervals of one kind of number.
type doubtOf struct {
	what        string
	found       float64
	known       float64
	n           int
	held, clear int
	widths      []float64
	squares     float64
}

func (o *doubtOf) add(x jsmf.Interval, truth float64) {
	o.n++
	if math.IsNaN(x.Low) {
		return
	}
	if x.Low <= truth && truth <= x.High {
		o.held++
	}
	if x.Low > 0 || x.High < 0 {
		o.clear++
	}
	o.widths = append(o.widths, (x.High-x.Low)/2)
	o.squares += (x.Value - truth) * (x.Value - truth)
}

// set sets the measures of a row.
func (o *doubtOf) set(r row) row {
	told := float64(len(o.widths))
	slices.Sort(o.widths)
	width := math.NaN()
	if told > 0 {
		width = stat.Quantile(0.5, stat.Empirical, o.widths, nil)
	}
	return r.set("numbers", o.n).set("told", told/float64(o.n)).set("held", float64(o.held)/told).set("clear", float64(o.clear)/told).
		set("width", width).set("rms", math.Sqrt(o.squares/told)).set("found", o.found).set("known", o.known)
}
