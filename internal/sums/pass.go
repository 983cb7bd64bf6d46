package sums

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/estep"
)

// Pass is a pass over all documents with given topics: what their tokens say about the next
// topics. A document's weights of the topics begin in proportion to Begin, and Steps over-relaxed
// steps, of which the first is one of EM, make topic counts of them.
type Pass struct {
	Task   Task
	Topics *estep.Rows // N×K: p(word | topic)
	Alpha  float32     // prior count of each topic in a document
	Begin  []float32   // K, above 0
	Steps  int
	// Least is how many tokens of a block of topics (estep.BlockSize) a document has that keeps it; 0:
	// documents have all topics. Tokens by block come from Steps steps with each block as a topic.
	Least float32
	Leave bool // docstep.Rule's, of the steps after the first one
	// Hide hides half of the tokens of the documents that package holdout chooses, and scores
	// them.
	Hide    bool
	Unigram []float32 // N: p(word)
	Scored  int64     // one document in Scored has its log-likelihood added up
	// Pairs are topics that may become one. One document in Every adds to the costs of that;
	// Totals are the tokens of each topic and its prior.
	Pairs  []docstep.Pair
	Every  int64
	Totals []float64 // K
	Words  []int64   // N: the tokens of each word, which bound the sums
	Docs   int64     // how many documents are not empty
	// Weights are those of the documents in their order, at most 1 each; nil: all weigh 1.
	Weights documentWeights

	// Under a prior of families (Correlated): that of each topic, and how many there are.
	of       []int
	families int
}

// Task is what a Pass adds up besides scores and the costs of pairs.
type Task byte

// The tasks.
const (
	Learn   Task = iota // the tokens of each word by topic
	Compare             // nothing, and no scores
	Finish              // the documents of each word by topic, and E[θθᵀ]
)

// A sum of a Pass has the counts by word, N×K; the K shares of leading topics; the upper triangle of the
// moments by rows or, where documents have some topics or topics are in families, a sum of Thetas; the costs
// of pairs; and these.
const (
	atLogLik = iota
	atHidden
	atScored
	atHiddenScored
	atTokens       // without weights
	atHiddenTokens // without weights
	passTail
)

// maxNats bounds |ln p| of a token: p is Σ t_k·B_wk / Σ t_k, and neither 1/p nor p exceeds
// 2·MaxFloat32·K/estep.Least.
const maxNats = 256

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
	if t := p.thetas(); t != nil {
		return p.Topics.K + t.Len()
	}
	return p.Topics.K + triangle(p.Topics.K)
}

// second returns the second moments of a sum.
func (p *Pass) second(sum []int64) []int64 {
	return sum[p.counts()+p.Topics.K:][:p.moments()-p.Topics.K]
}

// thetas returns the moments where documents have some topics or topics are in families, and nil otherwise.
func (p *Pass) thetas() *Thetas {
	if p.Task != Finish || p.Least == 0 && p.of == nil {
		return nil
	}
	return NewThetas(p.Topics.K, p.of, p.families, float64(p.Alpha), p.Docs)
}

// triangle returns how many entries have two of n numbers, regardless of their order.
func triangle(n int) int { return n * (n + 1) / 2 }

func (p *Pass) Shared() bool { return false }

func (p *Pass) Len() int { return p.counts() + p.moments() + len(p.Pairs) + passTail }

// tokens returns the tokens of all words.
func (p *Pass) tokens() int64 {
	sum := int64(0)
	for _, x := range p.Words {
		sum += x
	}
	return sum
}

// maxShift is the largest shift of a pass. Products of counts up to some 2000 are then below
// exact.
const maxShift = 40

// wordShift is the shift of the counts of word i.
func (p *Pass) wordShift(i int) int { return min(maxShift, shift(p.Words[i])) }

// docShift is the shift of moments, of which a document adds 1 at most.
func (p *Pass) docShift() int { return shift(p.Docs) }

// scoreShift is the shift of log-likelihoods and costs.
func (p *Pass) scoreShift() int { return min(maxShift, shift(maxNats*p.tokens())) }

// tokenShift is the shift of numbers of tokens.
func (p *Pass) tokenShift() int { return shift(p.tokens()) }

// rule returns what a step of a document takes.
func (p *Pass) rule() docstep.Rule {
	columns := make([]int, p.Topics.K)
	for t := range columns {
		columns[t] = t
	}
	r := docstep.NewRule(p.Topics, p.Alpha, columns, p.Unigram)
	r.Leave = p.Leave
	if p.of != nil {
		r.Families = docstep.NewFamilies(p.of, p.families, r.Prior)
	}
	return r
}

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

// Counts sets to to what belongs to word i, by topic.
func (a *Answer) Counts(i int, to []float64) {
	k := a.p.Topics.K
	scale := power(-a.p.wordShift(i))
	for t, v := range a.sum[i*k:][:k] {
		to[t] = float64(v) * scale
	}
}

// Moments returns Σ E[θθᵀ] of the documents, K×K. No topic has the weight 0, so that entries
// are at least what they are rounded to a multiple of.
func (a *Answer) Moments() *mat.Dense {
	from := a.p.second(a.sum)
	if t := a.p.thetas(); t != nil {
		return t.Read(from)
	}
	k, s := a.p.Topics.K, a.p.docShift()
	square := mat.NewDense(k, k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			v := unfix(max(from[j-i], 1), s)
			square.Set(i, j, v)
			square.Set(j, i, v)
		}
		from = from[k-i:]
	}
	return square
}

// Alone returns for each topic the sum of its shares of the documents in which it has more than half of the
// tokens.
func (a *Answer) Alone() []float64 {
	out := make([]float64, a.p.Topics.K)
	for t, v := range a.sum[a.p.counts():][:len(out)] {
		out[t] = unfix(v, a.p.docShift())
	}
	return out
}

// Cost returns the log-likelihood that the sample loses if pair i becomes one topic.
func (a *Answer) Cost(i int) float64 {
	return unfix(a.sum[a.p.counts()+a.p.moments()+i], a.p.scoreShift())
}
