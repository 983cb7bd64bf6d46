package refine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/estep"
)

// Method is a form of the pass.
type Method uint8

// The forms of the pass.
const (
	// CVB0Document is collapsed variational Bayes of order zero (Asuncion, Welling,
	// Smyth and Teh 2009, eq. 7) in which a token is left out of the counts of its
	// document, but not out of those of its word and topic. It is the default.
	CVB0Document Method = iota
	// CVB0 leaves a token out of the counts of its document, word and topic, as the
	// paper does. It takes half as long again, and is likelier only where words have few
	// tokens.
	CVB0
	// MAPEM is expectation–maximisation for the most probable θ_d and B under
	// Dirichlet priors with parameters 1+α and 1+β (Asuncion et al. 2009, eq. 4):
	// θ_d ∝ α + Σ_w n_dw φ_dw, B_w ∝ β + Σ_d n_dw φ_dw, φ_dwk ∝ θ_dk B_wk. No pass lowers
	// the objective.
	MAPEM
)

func (m Method) String() string {
	switch m {
	case CVB0Document:
		return "cvb0-document"
	case CVB0:
		return "cvb0"
	case MAPEM:
		return "map-em"
	}
	return fmt.Sprintf("Method(%d)", uint8(m))
}

// Passes fits latent Dirichlet allocation by deterministic passes over the documents.
// The zero value is ready for use.
//
// First, each document's topic counts are found by ten steps of EM with B fixed, unless the
// start has them; B is
// mixed with a hundredth of the unigram distribution, because spectral topics have zeros.
// A pass then shares out the tokens of every document by its own topic counts and the
// topics, and makes both anew. From the second pass on, CVB0 and CVB0Document leave out of
// the counts one token's responsibilities for every pair of document and word, those that
// the counts themselves give it, so that none need to be kept. What is left of a topic's
// weight in a document is at least 1e-8, of its tokens of a word β, and of all its tokens 1.
//
// Both make a pass in two halves of the documents. After each half the topics are made
// from ¾ of what it says about all documents and ¼ of what was known before. So topics
// move twice a pass. MAPEM, the first pass, passes after which topics are merged, and the
// two last passes take all documents at once.
//
// If the start has more topics than are asked for (Options.K), pairs of them are merged
// after the sixth pass and each second pass from then on, each time half of those too
// many, and after pass N what is left. A pair costs the log-likelihood that a sample of the
// documents loses; the cheapest go. A start with a quarter more topics leaves better ones,
// because two anchors often belong to one subject, and one anchor to several subjects.
//
// A twentieth of the documents are watched: half of their tokens are hidden until the
// two last passes, which begin when the likelihood of the hidden tokens grows by less
// than Gain. Until then nothing more is left out of the counts of these documents. Which
// documents are watched, which are in which half, and which make a sample depends on their
// ids alone, or on their numbers where they have no ids.
//
// Tokens are shared out in float32, by the kernel that KernelName in a model's
// provenance names; tokens by word and topic are added up in float64. Results of
// different kernels differ by rounding.
//
// If the documents have weights (corpus.Corpus.WithWeights), each counts as often as its weight
// says, in the topics, in A, in Reading and in all scores, hidden tokens among them; what
// topics a document has does not depend on its weight. One of weight 0 is not read, and a
// weight below 2⁻⁴⁰ of the largest is 0.
//
// Cost: nnz·K times a few operations a pass. Documents that are not encoded
// (corpus.Encoded) are encoded first, in memory. Memory beside that: 4·K·M bytes for the
// topic counts of M documents, in memory or, with Scratch, in a file, and twice that while
// merged topics are dropped; 28·N·K bytes for the topics with the result, and 4·N·K for
// each goroutine, of which there are eight at most.
type Passes struct {
	// N is the largest number of passes; 0 means 60.
	N int

	// Method is the form of the pass; the zero value is CVB0Document.
	Method Method

	// Alpha is the prior count of each topic in each document, in tokens; 0 means
	// 2.5/K.
	Alpha float64

	// Beta is the prior count of each word in each topic, in tokens; 0 means 0.02.
	Beta float64

	// Gain is the least gain of log-likelihood for each hidden token and pass, in nats, as
	// the mean of four passes; 0 means 1e-4. It counts from the 24th pass on, and from
	// the eighth after topics were merged. With a negative number no document is watched
	// and all passes are made, as they are where fewer than 2000 tokens would be hidden.
	Gain float64

	// Scratch names a folder for temporary files that hold the topic counts of the
	// documents; "" holds them in memory. The result is the same to the bit.
	Scratch string
}

func (p Passes) withDefaults() Passes {
	if p.N == 0 {
		p.N = 60
	}
	if p.Beta == 0 {
		p.Beta = 0.02
	}
	if p.Gain == 0 {
		p.Gain = 1e-4
	}
	return p
}

// alphaSum is Σα where Passes.Alpha is 0.
const alphaSum = 2.5

// Validate reports all settings that are out of range, joined into one error.
func (p Passes) Validate() error {
	d := Passes{}.withDefaults()
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("refine: "+format, args...))
		}
	}
	bad(p.N < 0, "N = %d; want 0 for %d, or at least 1", p.N, d.N)
	bad(p.Method > MAPEM, "no method %v", p.Method)
	bad(!(p.Alpha >= 0) || math.IsInf(p.Alpha, 1), "Alpha = %v; want 0 for %v/K, or above it and finite", p.Alpha, alphaSum)
	bad(!(p.Beta >= 0) || math.IsInf(p.Beta, 1), "Beta = %v; want 0 for %v, or above it and finite", p.Beta, d.Beta)
	bad(math.IsNaN(p.Gain) || math.IsInf(p.Gain, 0), "Gain = %v; want 0 for %v, or a finite number", p.Gain, d.Gain)
	return errors.Join(errs...)
}

// String names the method and what it was set to.
func (p Passes) String() string {
	p = p.withDefaults()
	return fmt.Sprintf("Passes(%d %v, %v)", p.N, p.Method, prior{p.Alpha, p.Beta, p.Gain})
}

// Hides implements Refiner. It is false where Gain is negative.
func (p Passes) Hides() bool { return p.Gain >= 0 }

// Bytes implements Refiner.
func (p Passes) Bytes(docs, words int, nonzeros int64, k int) int64 {
	d, n, nnz, K := float64(docs), float64(words), float64(nonzeros), float64(k)
	padded := float64(estep.Padded(k))
	parts := float64(mostSlots)
	// The tokens by word and topic, the topics and p(topic | word); the topics and slots in
	// float32.
	b := 1<<16 + 25*n*K + 4*n*padded*(1+mostSlots) + 8*n*(2+mostSlots)
	b += pairBytes(K) + encodedBytes(d, n, nnz)
	// By goroutine: a block, encoded and decoded, and θ of its documents.
	b += parts * (60*min(corpus.MaxBlockNonzeros, nnz) + min(corpus.MaxBlockDocs, d)*(8*K+64) + 16*K*K)
	if p.Scratch == "" {
		b += 8 * d * K // twice for a moment, when topics have been merged
	} else {
		b += 16 * parts * min(corpus.MaxBlockDocs, d) * K
	}
	return int64(min(b, math.MaxInt64/8))
}

// pairBytes is what the pairs of topics that may be merged take, and their likeness.
func pairBytes(k float64) float64 { return 32*k*k + 32*rowsAtOnce*k }

// encodedBytes is what encoded documents take at most, and their words.
func encodedBytes(docs, words, nonzeros float64) float64 {
	gap := 2.0
	if words > 1<<16 {
		gap = 4
	}
	return 1.2*((gap+4)*nonzeros+40*docs) + 40*words
}

// Refine implements Refiner. Errors: settings out of range; a start that is no
// set of topics; documents with words outside [0, N), with tokens instead of
// numbers, or with negative counts; no tokens at all; a word that no topic can have,
// which takes an Alpha or Beta beyond what a float32 holds; those of docs, of the scratch
// file, and ctx's.
func (p Passes) Refine(ctx context.Context, docs corpus.Source, start Start, opt Options) (_ *Result, err error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if docs == nil {
		return nil, errors.New("refine: no documents")
	}
	if err := p.Takes(docs); err != nil {
		return nil, err
	}
	p = p.withDefaults()
	f := &fitter{Passes: p}
	if f.topics, err = newTopics(prior{p.Alpha, p.Beta, p.Gain}, start, opt); err != nil {
		return nil, err
	}
	defer func() {
		if e := f.state.close(); e != nil && err == nil {
			err = fmt.Errorf("refine: %w", e)
		}
	}()
	if err := f.begin(ctx, docs, start); err != nil {
		return nil, fmt.Errorf("refine: %w", err)
	}
	res := &Result{Beta: f.beta, Docs: f.seen.docs, Watched: f.seen.watched, Tokens: f.seen.tokens}
	return f.fit(ctx, res, f.N, opt, func(ctx context.Context, t, end int) (Score, error) {
		closing, merge := t >= end-closingPasses, f.mergesAfter(t, end)
		if err := f.pass(ctx, t, merge || closing, closing); err != nil {
			return Score{}, err
		}
		if merge {
			if err := f.merge(ctx, t == end-1); err != nil {
				return Score{}, fmt.Errorf("merging topics: %w", err)
			}
		}
		return f.score, nil
	}, f.finish)
}
