// Package refine improves topics by passes over the documents.
//
// The topics that anchor words give explain co-occurrence, not documents. [Passes] fits
// latent Dirichlet allocation from them: deterministic passes move words between topics
// until the documents are as likely as under a Gibbs sampler. The last passes fit a correlated
// topic model: they learn which topics go together. [Batch] does so on many machines, and keeps
// nothing of the documents. They are encoded once ([corpus.Encoded]), in memory or in a file,
// and each pass decodes them. The papers on anchor words do not have this step.
//
// Both find many topics by a divisive start: they split few topics into as many as are asked for
// (Options.K). Each document then keeps few of them, so that a pass costs by the topics that
// documents have.
package refine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	recovery "github.com/jsmf-go/spectral/recover"
)

// Refiner improves topics by going back to the documents.
type Refiner interface {
	// Refine improves the topics in start. docs yields documents whose Words are
	// row numbers of start.B, the same ones each time it is read. The result is
	// the same to the bit for any opt.Workers.
	Refine(ctx context.Context, docs corpus.Source, start Start, opt Options) (*Result, error)
	// String names the method and its settings.
	String() string
}

// Bytes returns an upper bound of the bytes that r holds at a time for the given numbers of
// documents, words, nonzero counts and topics, besides the documents and garbage that is not
// yet collected. A Refiner of another package counts as Passes{}.
func Bytes(r Refiner, docs, words int, nonzeros int64, k int) int64 {
	own, ok := r.(interface {
		bytes(docs, words, nonzeros, k float64) float64
	})
	if !ok {
		own = Passes{}
	}
	return int64(min(own.bytes(float64(docs), float64(words), float64(nonzeros), float64(k)), math.MaxInt64/8))
}

// Remote reports whether r takes documents on other machines ([corpus.Description].Remote), as
// Batch does.
func Remote(r Refiner) bool {
	switch r.(type) {
	case Batch, *Batch:
		return true
	}
	return false
}

// Splits reports whether r can make more topics than it starts with (Options.K), as Passes and Batch can.
func Splits(r Refiner) bool {
	switch r.(type) {
	case Passes, *Passes, Batch, *Batch:
		return true
	}
	return false
}

// Start is what a refinement begins with. It is not written to.
type Start struct {
	B *mat.Dense // N×K, topics: no entry negative, each column sums to 1
	A *mat.Dense // K×K, their correlations; nil if not known. Passes and Batch ignore it.
	// Prior is a logistic-normal prior of the K topics, to begin the passes under such a prior with
	// (Passes.Correlated). Where there are any, there are none under a Dirichlet prior. nil: none is
	// known.
	Prior *recovery.LogisticNormal
	// Tree says which topics were split from which; nil: none were. Passes then keep, of many
	// topics, those that a document has.
	Tree *recovery.Tree
	// Counts are the tokens of each document by topic, M×K, document by document, as in
	// Result.Counts; nil if not known. Passes then finds them itself; Batch ignores them.
	Counts []float32
}

// Options are what every Refiner takes besides its own settings.
type Options struct {
	// K is the number of topics of the result; 0 means as many as the start has. A Refiner chooses
	// what becomes of surplus topics. Passes and Batch take a start with fewer topics, which they
	// split, in all up to the number of words.
	K int
	// Function says of each of the N words whether it is a function word. These take no part in
	// finding the topics that another is split into, and have no weight in Result.Reading. nil: no word
	// is one.
	Function []bool
	// Seeds are words that the first topics of the start are to have, at most K topics: Seeds[t] those of
	// topic t. They have prior counts besides Beta, but not in the Result, which is what the documents say of
	// the topics that these words have made. Such topics are not merged with each other, nor split, and
	// remain the first; another topic may be merged into one. nil: none.
	Seeds [][]Seed
	// Without are words that the first topics of the start are not to have: Without[t] those of topic t. In passes
	// they are there a million times less likely than documents say, so that other topics take them. As with Seeds, these topics stay
	// apart, and the first. nil: none.
	Without [][]int
	// Workers bounds the goroutines; 0 means GOMAXPROCS.
	Workers int
	// Progress, if not nil, is called after each pass with the number done and the mean
	// log-likelihood of a token before that pass.
	Progress func(done, total int, loglik float64)
}

// Seed is a word of a topic.
type Seed struct {
	Word  int     // a row of Start.B
	Share float64 // its prior count in the topic, as a part of the topic's tokens: 0 to 1
}

// Result is a refined model. p(topic | word) follows from B and the topic shares, the row sums of A,
// by Bayes' rule. It belongs to the caller.
type Result struct {
	// B is N×K: column k holds p(word | topic k), all positive, and sums to 1.
	B *mat.Dense
	// A is K×K: the mean of E[θθᵀ] over the documents that are not empty, where the topic
	// proportions θ have the posterior distribution under Prior or, where that is nil, the
	// Dirichlet distribution of the document's topic counts plus α. A is symmetric, positive and,
	// to rounding, positive definite, and sums to 1.
	A *mat.Dense
	// Reading is N×K: column k ranks the words by which people recognise topic k. With
	// x_nk the number of documents that use word n in topic k, the sum of
	// p(topic k | word n, document) over the documents of the word, it is
	//
	//	max(x_nk − 2·√x_nk, 0) · max(ln(p(k|n)/p(k)), 0) · ln(M/df_n),
	//
	// p(k|n) and p(k) being shares of x, and df_n the documents of M with the word. Words of
	// most documents, of all topics alike or of a handful of documents have next to no
	// weight. Columns sum to 1. The words of a topic in which none has weight are ranked by B, without the
	// function words of Options; if Options name none, its column is zero. If documents have fewer than eight distinct words on
	// average, Reading is B, without the function words of Options.
	Reading *mat.Dense
	// Alone has for each of the K topics which part of Σ_d E[θ_dk] comes from documents d in which it has
	// more than half of the tokens: near 1 for a subject of documents of its own, 0 for what is only ever
	// mixed with others. nil: not known.
	Alone []float64
	// Prior is the logistic-normal prior of a document's topic proportions that the last passes
	// learned; nil without such passes.
	Prior *recovery.LogisticNormal
	// Tree says which topics were split from which; nil where none was split. Its topics are those
	// of B, in their order.
	Tree *recovery.Tree
	// Alpha is the Dirichlet prior of a document's topic proportions in the first passes, and of those
	// within a family where Prior has families: K equal numbers.
	Alpha []float64
	// From has for each of the K topics the number of the start's topic that it was, all
	// different; if two were merged, of the one with more tokens. nil: the topics of the
	// start, in order; or they were split, and Tree has them.
	From []int
	// Counts are the tokens of each document by topic, M×K, document by document, without
	// the document's weight; nil from Batch, with Passes.Scratch and where documents keep some
	// topics alone.
	Counts []float32

	Stats
}

// Stats says how topics were refined.
type Stats struct {
	// Method names what was run; if empty, a jsmf.Pipeline takes the Refiner's String.
	Method string `json:"method"`
	// Passes is the number of passes.
	Passes int `json:"passes"`
	// Correlated is how many of the passes had a logistic-normal prior.
	Correlated int `json:"correlated,omitempty"`
	// Early reports that the passes ended before their limit because the likelihood gained
	// too little: that of hidden tokens if there are any.
	Early bool `json:"early"`
	// Docs is how many documents the topics were learned from, without empty ones and those
	// of weight 0. HeldOut of these had half of their tokens hidden until the last passes.
	// Tokens is the sum of their counts.
	Docs    int   `json:"docs"`
	HeldOut int   `json:"watched"`
	Tokens  int64 `json:"tokens"`
	// Beta is the symmetric Dirichlet prior of a topic's words.
	Beta float64 `json:"beta"`
	// History has Passes+1 entries: the state before each pass, and the final one.
	History []Score `json:"history"`
	// LastRead is how long the read after the last pass took, which scores the documents
	// and finds A and Reading. It is not in a model file.
	LastRead time.Duration `json:"-"`
}

// LogLik returns Score.LogLik of the History.
func (s Stats) LogLik() []float64 {
	out := make([]float64, len(s.History))
	for i, h := range s.History {
		out[i] = h.LogLik
	}
	return out
}

// Status says why the passes ended.
func (s Stats) Status() string {
	if s.Early {
		return "held-out gain"
	}
	return "pass limit"
}

// Score is how well topics explain documents at some point.
type Score struct {
	// LogLik is the mean of ln p(token) over the tokens that are not hidden, p = Σ_k θ_k B_wk
	// with the posterior mean of the document's θ. In a pass by halves the second half is
	// scored by the topics that the first one left, and of 1000 documents or more one in
	// eight is scored besides those held out.
	LogLik float64 `json:"loglik"`
	// HeldOut is the mean of ln p(token) over the hidden tokens, with a hundredth of the
	// unigram distribution in p; NaN if there are none, as in the last two passes.
	HeldOut float64 `json:"held_out"`
}

// check reports what is wrong with a start.
func (s Start) check() error {
	const tol = 1e-6 // of the sum of a topic
	if s.B == nil || s.B.IsEmpty() {
		return errors.New("refine: no topics to start with")
	}
	n, k := s.B.Dims()
	sums := make([]float64, k)
	for i := range n {
		for t, v := range s.B.RawRowView(i) {
			if !(v >= 0) || math.IsInf(v, 1) {
				return fmt.Errorf("refine: p(word %d | topic %d) = %v is not a probability", i, t, v)
			}
			sums[t] += v
		}
	}
	for t, v := range sums {
		if !(math.Abs(v-1) <= tol) {
			return fmt.Errorf("refine: p(word | topic %d) sums to %.9g over the words, not 1", t, v)
		}
	}
	for _, v := range s.Counts {
		if !(v >= 0 && v <= math.MaxFloat32) {
			return fmt.Errorf("refine: a document has %v tokens of a topic", v)
		}
	}
	if s.Prior != nil {
		if err := s.Prior.Validate(k); err != nil {
			return fmt.Errorf("refine: the start's prior %w", err)
		}
	}
	if s.Tree != nil {
		if err := s.Tree.Validate(k); err != nil {
			return fmt.Errorf("refine: the start's %w", err)
		}
	}
	if s.A != nil {
		if r, c := s.A.Dims(); r != k || c != k {
			return fmt.Errorf("refine: A is %d×%d for %d topics", r, c, k)
		}
	}
	return nil
}
