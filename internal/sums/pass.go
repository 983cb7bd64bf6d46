package sums

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/estep"
)

// Pass is a pass over all documents with given topics: what the tokens of the documents say
// about the next topics. A document's weights of the topics begin in proportion to Begin, or are
// those that an earlier pass has left, and Steps over-relaxed steps make topic counts of them.
// The first step from Begin is one of EM.
type Pass struct {
	Task   Task
	Topics *estep.Rows // N×K: p(word | topic)
	Alpha  float32     // prior count of each topic in a document
	Begin  []float32   // K, above 0
	Steps  int
	// After is the key of a pass that has left weights of the topics in each document, and
	// Columns says which topic each of its topics is now. Zero: weights begin with Begin.
	After   Key
	Columns []int32
	// Keep leaves the weights for a later pass: where sharing out the tokens multiplies one by r,
	// this multiplies it by r². It is for Learn.
	Keep bool
	// Form is that of the steps after the first one, among them that which counts tokens: Plain
	// or LeaveDocument, whose least weight is Floor. Documents with hidden tokens take Plain.
	Form  estep.Form
	Floor float32
	// Hide hides half of the tokens of the documents that are watched (package holdout). They
	// are scored, with a share Smoothing of Unigram in p.
	Hide      bool
	Unigram   []float32 // N: p(word)
	Smoothing float64
	// One document in Scored has its log-likelihood added up.
	Scored int64
	// Pairs are topics that may become one. Of one document in Every it is found what
	// becoming one costs; Totals are the tokens of each topic and its prior.
	Pairs  []Pair
	Every  int64
	Totals []float64 // K
	// Words are the tokens of each word, and Docs is how many documents are not empty. They
	// bound the sums.
	Words []int64 // N
	Docs  int64
	// Weights are those of the documents in their order, at most 1 each, by which all is
	// multiplied that is added up; nil: all weigh 1.
	Weights documentWeights
}

// Task is what a Pass adds up beside scores and the costs of pairs.
type Task byte

// The tasks.
const (
	Learn   Task = iota // the tokens of each word by topic
	Compare             // nothing, and no scores
	Finish              // the documents of each word by topic, and E[θθᵀ]
)

// A sum of a Pass has the counts by word, N×K; the upper triangle of the moments by rows; the
// costs of pairs; and these.
const (
	atLogLik = iota
	atHidden
	atScored
	atHiddenScored
	atTokens       // without weights
	atHiddenTokens // without weights
	passTail
)

// mostNats bounds |ln p| of a token: p is Σ t_k·B_wk / Σ t_k, and neither 1/p nor p exceeds
// 2·MaxFloat32·K/estep.Least.
const mostNats = 256

// counts returns how many of the numbers are counts by word and topic.
func (p *Pass) counts() int {
	if p.Task == Compare {
		return 0
	}
	return p.Topics.N * p.Topics.K
}

// moments returns how many of the numbers are moments.
func (p *Pass) moments() int {
	if p.Task != Finish {
		return 0
	}
	return p.Topics.K * (p.Topics.K + 1) / 2
}

// Shared implements Plan.
func (p *Pass) Shared() bool { return false }

// Carry implements Plan.
func (p *Pass) Carry() Carry {
	c := Carry{After: p.After, Old: len(p.Columns), Last: p.Task != Compare}
	if p.Keep {
		c.New = p.Topics.K
	}
	return c
}

// Len implements Plan.
func (p *Pass) Len() int { return p.counts() + p.moments() + len(p.Pairs) + passTail }

// tokens returns the tokens of all words.
func (p *Pass) tokens() int64 {
	sum := int64(0)
	for _, x := range p.Words {
		sum += x
	}
	return sum
}

// mostShift is the largest shift of a pass: a millionth of a millionth of a token or a document
// is fine enough. Products of counts up to some 2000 are then below exact.
const mostShift = 40

// wordShift is the shift of the counts of word i, of whose tokens no document adds more than it
// has.
func (p *Pass) wordShift(i int) int { return min(mostShift, shift(p.Words[i])) }

// docShift is the shift of moments, of which a document adds 1 at most.
func (p *Pass) docShift() int { return shift(p.Docs) }

// scoreShift is the shift of log-likelihoods and costs.
func (p *Pass) scoreShift() int { return min(mostShift, shift(mostNats*p.tokens())) }

// tokenShift is the shift of numbers of tokens.
func (p *Pass) tokenShift() int { return shift(p.tokens()) }

// Answer is what a Pass found.
type Answer struct {
	// LogLik is the log-likelihood of Scored tokens, Hidden that of HiddenScored.
	LogLik, Hidden       float64
	Scored, HiddenScored float64

	p   *Pass
	sum []int64
}

// Read reads a sum of p. It is an error if the documents were not those that p was made for.
func (p *Pass) Read(sum []int64) (*Answer, error) {
	if len(sum) != p.Len() {
		return nil, fmt.Errorf("a pass has %d sums, want %d", len(sum), p.Len())
	}
	end := sum[len(sum)-passTail:]
	if n, want := end[atTokens]+end[atHiddenTokens], p.tokens(); p.Task != Compare && n != want {
		return nil, fmt.Errorf("the documents have %d tokens, and had %d before", n, want)
	}
	s, t := p.scoreShift(), p.tokenShift()
	return &Answer{
		LogLik: unfix(end[atLogLik], s), Hidden: unfix(end[atHidden], s),
		Scored: unfix(end[atScored], t), HiddenScored: unfix(end[atHiddenScored], t), p: p, sum: sum,
	}, nil
}

// unfix returns x·2^−s.
func unfix(x int64, s int) float64 { return math.Ldexp(float64(x), -s) }

// Counts sets to to what belongs to word i, by topic.
func (a *Answer) Counts(i int, to []float64) {
	k := a.p.Topics.K
	scale := math.Ldexp(1, -a.p.wordShift(i))
	for t, v := range a.sum[i*k:][:k] {
		to[t] = float64(v) * scale
	}
}

// Moments returns Σ E[θθᵀ] of the documents, K×K. As no topic has the weight 0, no entry is 0,
// but at least what it is rounded to a multiple of.
func (a *Answer) Moments() *mat.Dense {
	k, s := a.p.Topics.K, a.p.docShift()
	m := mat.NewDense(k, k, nil)
	from := a.sum[a.p.counts():]
	for i := range k {
		for j := i; j < k; j++ {
			v := unfix(max(from[j-i], 1), s)
			m.Set(i, j, v)
			m.Set(j, i, v)
		}
		from = from[k-i:]
	}
	return m
}

// Cost returns the log-likelihood that the sample loses if pair i becomes one topic.
func (a *Answer) Cost(i int) float64 {
	return unfix(a.sum[a.p.counts()+a.p.moments()+i], a.p.scoreShift())
}
