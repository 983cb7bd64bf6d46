// Package refine improves topics by passes over the documents.
//
// The topics that anchor words give explain co-occurrence, not documents. [Passes]
// fits latent Dirichlet allocation from them: a few deterministic passes move
// words between topics until the documents are as likely as under a Gibbs sampler. [Batch]
// does so where nothing can be kept of the documents, on many machines.
// The documents are read once and encoded (corpus.Encoded), in memory or in a file, and
// each pass decodes them. The papers on anchor words do not have this step.
package refine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
)

// Refiner improves topics by going back to the documents.
type Refiner interface {
	// Refine improves the topics in start. docs yields documents whose Words are
	// row numbers of start.B, the same ones each time it is read. The result is
	// the same to the bit for any opt.Workers.
	Refine(ctx context.Context, docs corpus.Source, start Start, opt Options) (*Result, error)
	// Takes returns an error if Refine cannot read such documents. It reads none of them.
	Takes(docs corpus.Source) error
	// Bytes returns an upper bound of the bytes that Refine holds at a time for so
	// many documents, words, nonzero counts and topics, beside the documents. Garbage
	// that is not yet collected comes on top.
	Bytes(docs, words int, nonzeros int64, k int) int64
	// Hides tells whether Refine learns only at its end from the tokens that Passes hides.
	// The start must then be made without them, so that they measure what was learned.
	Hides() bool
	// String names the method and its settings.
	String() string
}

// Start is what a refinement begins with. It is not written to.
type Start struct {
	B *mat.Dense // N×K, topics: no entry negative, each column sums to 1
	A *mat.Dense // K×K, their correlations, nil if not known; Passes does without

	// Counts are the tokens of each document by topic, M×K, document by document, as
	// Result.Counts has them; nil if not known. Passes then finds the first topic counts
	// itself. Batch does without.
	Counts []float32
}

// Options are what every Refiner takes besides its own settings.
type Options struct {
	// K is the number of topics of the result, at most those of the start; 0 means as
	// many. A Refiner chooses what becomes of the others.
	K int
	// Workers bounds the goroutines; 0 means GOMAXPROCS.
	Workers int
	// Progress, if not nil, is called after each pass with the number done and
	// the mean log-likelihood of a token before that pass.
	Progress func(done, total int, loglik float64)
}

// Result is a refined model.
type Result struct {
	// B is N×K: column k holds p(word | topic k), all positive, and sums to 1.
	B *mat.Dense
	// Breve is N×K: row n holds p(topic | word n), by Bayes' rule from B and the
	// topic shares, the row sums of A. Anchors no longer have unit rows.
	Breve *mat.Dense
	// A is K×K: the mean of E[θθᵀ] over the documents that are not empty, where
	// the topic proportions θ have the Dirichlet distribution given by the
	// document's topic counts and α. A is symmetric, positive and, to rounding,
	// positive definite, and sums to 1.
	A *mat.Dense
	// Reading is N×K: column k ranks the words by which people recognise topic k. With
	// x_nk the number of documents that use word n in topic k, the sum of
	// p(topic k | word n, document) over the documents of the word, it is
	//
	//	max(x_nk − 2·√x_nk, 0) · max(ln(p(k|n)/p(k)), 0) · ln(M/df_n),
	//
	// p(k|n) and p(k) being shares of x, df_n the documents of M that hold the word.
	// Words of most documents and words of all topics alike have next to no weight, and so
	// do those of a handful of documents. Columns sum to 1, or are zero for a topic without
	// such words. Where documents have fewer than eight distinct words on average, Reading is
	// B.
	Reading *mat.Dense
	// Alpha is the Dirichlet prior of a document's topic proportions: K equal numbers.
	Alpha []float64
	// Beta is the symmetric Dirichlet prior of a topic's words.
	Beta float64
	// From has for each of the K topics the number of the start's topic that it was, all
	// different. Where two were merged, it is that of the one with more tokens. nil means
	// that the topics are those of the start, in order.
	From []int
	// Passes is the number of passes.
	Passes int
	// Early reports that the passes ended before their limit because the likelihood of
	// hidden tokens gained too little.
	Early bool
	// LastRead is how long the read after the last pass took, which scores the documents
	// and finds A and Reading.
	LastRead time.Duration
	// History has Passes+1 entries: the state before each pass, and the final one.
	History []Score
	// Docs is how many documents the topics were learned from, without empty ones and those
	// of weight 0;
	// Watched is how many of these had half of their tokens hidden until the last
	// passes; Tokens is the sum of their counts.
	Docs, Watched int
	Tokens        int64
	// Counts are the tokens of each document by topic, M×K, document by document, without
	// the document's weight; nil from Batch, and where they are in a file (Passes.Scratch).
	Counts []float32
}

// Score is how well topics explain documents at some point.
type Score struct {
	// LogLik is the mean of ln p(token) over the tokens that are not hidden.
	// p = Σ_k θ_k B_wk with the document's current θ, its posterior mean. In a pass by
	// halves the second half is scored by the topics that the first one left, and where
	// there are 1000 documents or more, only one in eight and those that are watched.
	LogLik float64 `json:"loglik"`
	// Objective is the function that MAPEM never lowers, except where topics are merged
	// or the hidden tokens join the others: LogLik plus the log-densities of the priors per
	// token, without their constants. It is NaN with other methods, which maximise no such
	// function.
	Objective float64 `json:"objective"`
	// HeldOut is the mean of ln p(token) over the hidden tokens, with a hundredth of the
	// unigram distribution in p; NaN if there are none, as in the two last passes.
	HeldOut float64 `json:"held_out"`
}

// check tells whether the start is made of topics. Columns may miss the sum 1
// by rounding.
func (s Start) check() error {
	const tol = 1e-6
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
			return fmt.Errorf("refine: p(word | topic %d) sums to %v over the words, not 1", t, v)
		}
	}
	for _, v := range s.Counts {
		if !(v >= 0 && v <= math.MaxFloat32) {
			return fmt.Errorf("refine: a document has %v tokens of a topic", v)
		}
	}
	if s.A != nil {
		if r, c := s.A.Dims(); r != k || c != k {
			return fmt.Errorf("refine: A is %d×%d for %d topics", r, c, k)
		}
	}
	return nil
}
