// Package docstep is what a pass does with one document: it finds how much of each topic the
// document has, and shares out its tokens among the topics. There are two ways to add up what
// documents say: in float32 on one machine (package refine), and in whole numbers (package sums).
//
// A step of a document has three parts:
//
//   - the columns: the topics that it may have (Rule.Columns);
//   - the prior: turns the document's tokens by topic into weights of the topics (Prior);
//   - the kernel: shares out its tokens by weights and topics (package estep).
package docstep

import (
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	// Smoothing is the share of the unigram distribution in scores of hidden tokens.
	Smoothing = 0.01
	// MinWeight is the least weight of a topic in a document when a token is left out of
	// it. It is far below α: a topic that no other token supports gets next to nothing.
	MinWeight = 1e-8
)

// Rule is what a step takes from outside the document.
type Rule struct {
	Topics *estep.Rows // p(word | topic), N×K
	Prior  Prior
	// Columns has MinWeight for each column of Topics that is a topic, and 0 for those that
	// are none any more. It is padded as rows of Topics are.
	Columns []float32
	// Leave leaves each token out of the counts by which it is shared out, except in
	// documents with hidden tokens, whose score is one of the whole counts.
	Leave   bool
	Unigram []float32 // N: p(word)
	// Families are those of a logistic-normal prior of families; nil: it is one of topics, or none.
	Families *Families

	blocks []uint16 // of Within
}

// NewRule returns a rule with the Dirichlet prior α for the given columns of topics.
func NewRule(topics *estep.Rows, alpha float32, columns []int, unigram []float32) Rule {
	x := make([]float32, 2*topics.Stride)
	r := Rule{Topics: topics, Prior: x[:topics.Stride], Columns: x[topics.Stride:], Unigram: unigram}
	for _, k := range columns {
		r.Prior[k], r.Columns[k] = alpha, MinWeight
	}
	return r
}

// Prior turns tokens by topic into weights of topics: it has α of a Dirichlet prior for each
// column, padded; 0 where there is no topic.
type Prior []float32

// Weigh sets t to n + α and returns the sum.
func (p Prior) Weigh(t, n []float32) float64 {
	p, t = p[:len(n)], t[:len(n)]
	var a, b, c, d float32 // four sums do not wait for each other
	k := 0
	for ; k+4 <= len(n); k += 4 {
		n, p, t := n[k:k+4:k+4], p[k:k+4:k+4], t[k:k+4:k+4]
		t[0], t[1], t[2], t[3] = n[0]+p[0], n[1]+p[1], n[2]+p[2], n[3]+p[3]
		a, b, c, d = a+t[0], b+t[1], c+t[2], d+t[3]
	}
	for ; k < len(n); k++ {
		t[k] = n[k] + p[k]
		a += t[k]
	}
	return float64(a) + float64(b) + float64(c) + float64(d)
}

// maxRise bounds the factor of which Overrelax takes the square.
const maxRise = 4

// Overrelax sets to to weights that move twice as far as those of Weigh, in logarithms: where
// n + α is r times the weight t, this is r²·t, not below α; 0 where there is no topic. It returns the sum.
func (p Prior) Overrelax(to, t, n []float32) (sum float32) {
	p, t, n = p[:len(to)], t[:len(to)], n[:len(to)]
	for i, v := range n {
		if v += p[i]; v != 0 {
			v = max(v*min(v/t[i], maxRise), p[i])
		}
		to[i] = v
		sum += v
	}
	return sum
}

// Tokens are words of a document, and how often they occur.
type Tokens struct {
	Words  []int32
	Counts []float32
	Sum    int64 // of the counts
}

func (t *Tokens) add(word int32, count int64) {
	if count > 0 {
		t.Words, t.Counts = append(t.Words, word), append(t.Counts, float32(count))
		t.Sum += count
	}
}

// Document is a document with its weights of topics, T, and tokens by topic, N, and scratch
// space for the next one. A goroutine needs its own.
type Document struct {
	*estep.Worker
	Visible, Hidden Tokens // those that are learned from, and those that are held out
	// Times is what the counts were multiplied by.
	Times float64

	own   []int32   // the memory of the visible words of a document with hidden ones
	moved []float32 // by pair, of Compare: (t_j·R_i − t_i·R_j)/(R_i + R_j)
	near  []int     // the pairs of Compare of which the document has a topic
	all   []float32 // its weights, of all columns
	sums  []float32 // of Compare, by word
	parts []Part    // of Parts, by column

	some     Rule // of Within
	families Families
	shares   []float32 // of families
}

// NewDocument returns a Document for k columns.
func NewDocument(k int) *Document { return &Document{Worker: estep.NewWorker(k), Times: 1} }

// Within returns the rule of a document that has some blocks of columns alone (estep.Worker.Use): its
// numbers by topic are those of the blocks, one after the other. It is valid until the next call.
// nil is all columns.
func (d *Document) Within(r *Rule, blocks []uint16) *Rule {
	d.Use(blocks)
	if blocks == nil {
		return r
	}
	s := &d.some
	prior, columns := estep.Pick(s.Prior[:0], r.Prior, blocks), estep.Pick(s.Columns[:0], r.Columns, blocks)
	*s = *r
	s.Prior, s.Columns, s.blocks = prior, columns, blocks
	if f := r.Families; f != nil {
		d.families = Families{estep.Pick(d.families.Of[:0], f.Of, blocks), f.Prior}
		s.Families = &d.families
	}
	return s
}

// Load sets the document, with its counts times a weight, but not their sums. With heldOut half
// of its tokens are hidden; otherwise d.Visible.Words are the words given.
func (d *Document) Load(words, counts []int32, times float64, heldOut bool) {
	if d.Times = times; times == 0 {
		words, counts = nil, nil
	}
	v, h := &d.Visible, &d.Hidden
	*h = Tokens{h.Words[:0], h.Counts[:0], 0}
	if heldOut {
		*v = Tokens{d.own[:0], v.Counts[:0], 0}
		holdout.Split(counts, func(i int, visible, hidden int64) {
			v.add(words[i], visible)
			h.add(words[i], hidden)
		})
		d.own = v.Words
	} else {
		*v = Tokens{words, vec.Resize(v.Counts, len(counts)), 0}
		for i, x := range counts {
			v.Counts[i] = float32(x)
			v.Sum += int64(x)
		}
	}
	if times != 1 {
		for _, counts := range [...][]float32{d.Visible.Counts, d.Hidden.Counts} {
			for i := range counts {
				counts[i] *= float32(times)
			}
		}
	}
}

// Fold finds tokens by topic by steps of EM from those in n, which may be none.
func (d *Document) Fold(r *Rule, n []float32, steps int) error {
	step := estep.Step{B: r.Topics, NoLikelihood: true}
	for range steps {
		r.Prior.Weigh(d.T, n)
		if _, err := d.Step(&step, d.Visible.Words, d.Visible.Counts); err != nil {
			return err
		}
		d.Counted(n)
	}
	return nil
}

// LeastShared of a token is the least that counts as a word of a topic's part.
const LeastShared = 0.05

// Part is what a topic has of a document: words with parts of their counts, and the sum of these.
type Part struct {
	Words  []int32
	Counts []float32
	Tokens float64
}

// Parts shares out the visible tokens, without the document's weight, by n tokens by topic, and calls
// each for the topics that have some, ascending, with their parts, which it may not keep. Topics of less
// than LeastShared tokens have none, nor does a topic of a word of which it has less.
func (d *Document) Parts(r *Rule, n []float32, each func(topic int, p *Part)) error {
	clear(d.T)
	some := false
	for i, v := range n {
		if v >= LeastShared {
			d.T[i], some = v, true
		}
	}
	if !some { // few tokens that are of many topics alike
		return nil
	}
	for len(d.parts) < len(d.T) {
		d.parts = append(d.parts, Part{})
	}
	parts := d.parts[:len(d.T)]
	for i, p := range parts {
		parts[i] = Part{Words: p.Words[:0], Counts: p.Counts[:0]}
	}
	words, counts := d.Visible.Words, d.Visible.Counts
	step := estep.Step{B: r.Topics, NoLikelihood: true, Each: func(i int, out []float32, sum float32) {
		x := counts[i] / sum
		if d.Times != 1 && d.Times != 0 {
			x /= float32(d.Times)
		}
		for k, v := range out {
			if v *= x; v >= LeastShared {
				p := &parts[k]
				p.Words, p.Counts = append(p.Words, words[i]), append(p.Counts, v)
				p.Tokens += float64(v)
			}
		}
	}}
	if _, err := d.Step(&step, words, counts); err != nil {
		return err
	}
	for k := range parts {
		if p := &parts[k]; len(p.Words) > 0 {
			if r.blocks != nil {
				k = estep.Column(r.blocks, k)
			}
			each(k, p)
		}
	}
	return nil
}

// Counted sets n to the tokens by topic that the last step found, without the document's weight.
func (d *Document) Counted(n []float32) {
	copy(n, d.N)
	if d.Times != 1 && d.Times != 0 {
		for k := range n {
			n[k] /= float32(d.Times)
		}
	}
}

// Relax moves tokens by topic n that were counted by the weights, whose sum is total, twice as far
// from those that the weights were made of, in logarithms. The weights are not valid after it.
func (d *Document) Relax(r *Rule, n []float32, total float32) {
	t := d.T[:len(n)]
	scale := total / r.Prior.Overrelax(t, t, n)
	for k, p := range r.Prior[:len(n)] {
		n[k] = max(float32(scale*t[k])-p, 0)
	}
}

// Settle moves the weights to their fixed point by over-relaxed steps, of which the first is one of
// EM. Their sum stays total.
func (d *Document) Settle(r *Rule, total float32, steps int) error {
	t := d.T
	step := estep.Step{B: r.Topics, NoLikelihood: true, Floor: r.Columns}
	for i := range steps {
		if i > 0 {
			step.Form = d.form(r)
		}
		if _, err := d.Step(&step, d.Visible.Words, d.Visible.Counts); err != nil {
			return err
		}
		Rescale(t, t, total/r.Prior.Overrelax(t, t, d.N))
	}
	return nil
}

// Rescale sets to to from times c.
func Rescale(to, from []float32, c float32) {
	from = from[:len(to)]
	for i, v := range from {
		to[i] = v * c
	}
}

// form is how counts are formed that a token is shared out by.
func (d *Document) form(r *Rule) estep.Form {
	if r.Leave && d.Hidden.Sum == 0 {
		return estep.LeaveDocument
	}
	return estep.Plain
}

// Sums are where a document's tokens by word and topic go: one of the two.
type Sums struct {
	Rows *estep.Rows
	// Each is called for each visible word of the document, in order: word i has the share
	// out/sum of its count in each topic. With Count, Learn sets N nevertheless.
	Each  func(i int, out []float32, sum float32)
	Count bool
}

// Learn shares out the visible tokens by the weights, whose sum is total. It returns the
// log-likelihoods of the visible tokens, 0 without scored, and of the hidden ones, under the
// weights.
func (d *Document) Learn(r *Rule, to Sums, total float64, scored bool) (visible, hidden float64, err error) {
	if d.Hidden.Sum > 0 {
		hidden, err = d.ScoreMixed(r.Topics, r.Unigram, float32(Smoothing/(1-Smoothing)*total), d.Hidden.Words, d.Hidden.Counts)
		if err != nil {
			return 0, 0, err
		}
		hidden -= float64(d.tokens(d.Hidden.Sum) * arith.Log(total/(1-Smoothing)))
	}
	step := estep.Step{Form: d.form(r), B: r.Topics, Floor: r.Columns, Sums: to.Rows, Each: to.Each, Count: to.Count, NoLikelihood: !scored}
	visible, err = d.Step(&step, d.Visible.Words, d.Visible.Counts)
	if scored {
		visible -= float64(d.tokens(d.Visible.Sum) * arith.Log(total))
	}
	return visible, hidden, err
}

// Finish returns the log-likelihood of the visible tokens under the weights, whose sum is total,
// and, if there are sums, adds the document to the counts of documents by word and topic.
func (d *Document) Finish(r *Rule, to *Sums, total float64) (float64, error) {
	loglik, err := d.Score(r.Topics, d.Visible.Words, d.Visible.Counts)
	loglik -= float64(d.tokens(d.Visible.Sum) * arith.Log(total))
	if err != nil || to == nil {
		return loglik, err
	}
	for i := range d.Visible.Counts {
		d.Visible.Counts[i] = float32(d.Times)
	}
	step := estep.Step{B: r.Topics, Sums: to.Rows, Each: to.Each, NoLikelihood: true}
	_, err = d.Step(&step, d.Visible.Words, d.Visible.Counts)
	return loglik, err
}

// tokens returns n tokens times the weight of the document.
func (d *Document) tokens(n int64) float64 { return float64(n) * d.Times }

// Leading returns which of the numbers is more than half of their sum, and its part of that; 0, 0 if none
// is.
func Leading(n []float32) (at int, share float64) {
	sum := 0.0
	for i, v := range n {
		if sum += float64(v); v > n[at] {
			at = i
		}
	}
	if len(n) == 0 || !(2*float64(n[at]) > sum) {
		return 0, 0
	}
	return at, float64(n[at]) / sum
}
