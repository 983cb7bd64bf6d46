package refine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/estep"
)

// Passes fits latent Dirichlet allocation, and then a correlated topic model, by deterministic
// passes over the documents. The zero value is ready for use.
//
// First, each document's topic counts are found by ten steps of EM with B fixed, unless the
// start has them; B is mixed with a hundredth of the unigram distribution, because spectral
// topics have zeros. A pass then shares out the tokens of every document by its own topic
// counts and the topics, and makes both anew. This is collapsed variational Bayes of order
// zero (Asuncion, Welling, Smyth and Teh 2009, eq. 7) on the documents' side: from the second
// pass on, for every word one token's responsibilities, as the counts themselves give them,
// are left out of the document's counts. At least 1e-8 of a topic's weight in a document is
// left. The counts of words and topics stay whole.
//
// A pass is made in two halves of the documents, and the topics move after each, to ¾ of what
// the half says about all documents and ¼ of what was known before. The first pass, passes
// after which topics are merged, and the last two take all documents at once.
//
// If the start has surplus topics (Options.K), half of them are merged after the sixth pass
// and every second pass from then on, at least K/32 at a time, and after pass N the rest. A pair costs the
// log-likelihood that a sample of the documents loses; the cheapest are merged. A start with a
// quarter more topics leaves better ones, because two anchors often belong to one subject,
// and one anchor to several.
//
// If the start has fewer topics than Options.K, they are split into a quarter more than K, and
// then merged as above, but only within one topic of the start. There are two levels where more
// than twenty are asked for of each topic, and one otherwise, with ten passes before each. The
// tokens of a topic, in the documents that have ten of it or a quarter of the mean length, are a
// corpus of its own, whose topics are found by anchors: from the second moments of tf-idf of its
// best words, 400 or 20 for each topic. A topic gets new ones in proportion to the 0.8th power of
// its tokens; one that cannot be split leaves its share to others. If all together cannot be split
// that far, Refine fails. Result.Tree says which topic was split from which.
//
// Once topics were split, or with Start.Tree, documents keep few topics: of the blocks of 16
// neighbours in the tree those of which they have two tokens, or K/100 if that is less, and one in
// any case. A block that is lost does not come back. That is an approximation: tokens of topics
// that a document hardly has go to those it keeps. Where documents have fewer than ten distinct
// words on average they keep all of up to 300 topics, they keep all where they have two thirds of the
// blocks when the last topics have been merged, and under a logistic-normal prior of up to 128 topics
// they have all. In passes under a Dirichlet prior a document's tokens by topic then move twice as far,
// in logarithms, as the pass says, but for the first and the last two.
//
// The last passes have a logistic-normal prior of the topic proportions, θ = softmax(η) with
// η ~ N(μ, Σ) (Blei and Lafferty, A correlated topic model of Science, 2007), and learn μ and Σ;
// from 17 topics on Σ has 16 factors and a variance for each topic. In such a pass η takes a step
// of Newton from the document's tokens by topic, which are shared out in proportion to θ, half a
// token's responsibilities left out. Of 500,000 tokens and more the topics move after each quarter of
// the documents. N(η, V), with V from the curvature there, stands for the
// posterior distribution; what V adds to Σ and to A comes from one vector of noise for each
// document and pass, which depends on the document's id and on the numbers of the topics alone.
//
// Of more than 128 topics that were split, or with such a Start.Prior, it is a prior of families, the
// groups of the coarsest level of the tree: θ_k = φ_f·ψ_k, where φ has the logistic-normal prior, and
// ψ, the proportions within a family, the Dirichlet prior with Alpha (see [recovery.LogisticNormal]).
// A document's tokens are shared out in proportion to φ_f·(n_k + α)/(n_f + Σα), one token's
// responsibilities left out, so that documents keep few topics.
//
// Topics that will be split learn from a part of many documents, which their ids choose: one of 2, 4, 8 …
// that has two million tokens and 8000 for each topic, in 4000 documents and 20 for each topic. After the
// last split all take part.
//
// A twentieth of the documents are held out: half of their tokens are hidden until the last
// two passes, which begin when the likelihood of the hidden tokens grows by less than Gain.
// Until then no token is left out of the counts of these documents. Which documents are held
// out, in which half or in a sample depends on their ids alone, or on their numbers if they
// have no ids.
//
// Tokens are shared out and added up in float32, with the same bits on every CPU.
//
// Documents with weights ([corpus.Corpus.WithWeights]) count that often in the topics, in A,
// in Reading and in all scores. What topics a document has does not depend on its weight. One
// of weight 0 is not read, and a weight below 2⁻⁴⁰ of the largest is 0.
//
// Cost: nnz·K times a few operations a pass; where documents keep few topics, nnz times 16 for
// each block that a document has. Documents that are not encoded ([corpus.Encoded]) are encoded
// first, in memory. Memory besides that: 4·K·M bytes for the topic counts of M documents, or 66
// for each block that a document has, in memory or, with Scratch, in a file, and twice the former while
// merged topics are dropped; 8·N·K bytes for the topics, and 4·N·K for each goroutine, of which there are at
// most eight. In the end 20·N·K take their place, and 12 for each word of a topic. While topics are split,
// each takes 16·N bytes, and .6 MB for its words that are counted together.
type Passes struct {
	// N is the largest number of passes under a Dirichlet prior, besides those before topics are
	// split; 0 means 60.
	N int
	// Alpha is the prior count of each topic in each document, in tokens; 0 means 2.5/K.
	Alpha float64
	// Beta is the prior count of each word in each topic, in tokens; 0 means 0.02.
	Beta float64
	// Gain is the least gain of log-likelihood for each hidden token and pass, in nats, as
	// the mean of four passes; 0 means 1e-4. It counts from the twelfth pass on, the 24th where
	// none are correlated and topics are not split, after those before topics are split, and from the
	// eighth after topics were merged. Once topics were split it counts twice, as documents move twice
	// as far. If fewer than 2000 tokens
	// would be hidden, no document is held out, and Gain is that of all tokens. If it is negative,
	// none is held out either, and all passes are made.
	Gain float64
	// Correlated is the number of passes under a logistic-normal prior, after those under a Dirichlet
	// prior. The correlations A are then those of its posteriors. 0 means at most 16, which Gain ends, too,
	// from the fourth on, as the mean of two, where tokens are hidden; but none where documents have fewer
	// than ten tokens on average, there are more than 200 logits, or there are more than 200 topics and fewer
	// than ten documents for each. Below 0 means none. Hidden tokens soon gain little while correlations
	// still grow: 48 passes find more of them, at up to twice the time of a fit.
	Correlated int
	// Scratch names a folder for temporary files that hold the topic counts of the
	// documents; "" holds them in memory. The result is the same to the bit.
	Scratch string
}

func (p Passes) withDefaults() Passes {
	p.N, p.Beta, p.Gain = cmp.Or(p.N, 60), cmp.Or(p.Beta, 0.02), cmp.Or(p.Gain, 1e-4)
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
	bad(!(p.Alpha >= 0) || math.IsInf(p.Alpha, 1), "Alpha = %v; want 0 for %v/K, or above it and finite", p.Alpha, alphaSum)
	bad(!(p.Beta >= 0) || math.IsInf(p.Beta, 1), "Beta = %v; want 0 for %v, or above it and finite", p.Beta, d.Beta)
	bad(math.IsNaN(p.Gain) || math.IsInf(p.Gain, 0), "Gain = %v; want 0 for %v, or a finite number", p.Gain, d.Gain)
	return errors.Join(errs...)
}

// String names the method and what it was set to.
func (p Passes) String() string {
	p = p.withDefaults()
	return fmt.Sprintf("Passes(%d, %s)", p.N, p.settings())
}

// settings names those of the priors and of the end.
func (p Passes) settings() string {
	s := prior{p.Alpha, p.Beta, p.Gain}.String()
	switch {
	case p.Correlated > 0:
		s += fmt.Sprintf(", %d correlated", p.Correlated)
	case p.Correlated < 0:
		s += ", none correlated"
	}
	return s
}

func (p Passes) bytes(docs, words, nonzeros, k float64) float64 {
	padded := float64(estep.Padded(int(k)))
	// In float32 the topics, the tokens by word and topic, and slots, which are more than the topics, the reading
	// weights and what both are made from in the end.
	b := 1<<16 + 4*words*padded*(2+maxSlots) + 8*words*(3+maxSlots)
	b += pairBytes(k) + encodedBytes(docs, words, nonzeros)
	// By goroutine: a block, encoded and decoded, and θ of its documents.
	b += maxSlots * (60*min(corpus.MaxBlockNonzeros, nonzeros) + min(corpus.MaxBlockDocs, docs)*(8*k+64) + 16*k*k)
	b += splitBytes(words, k)
	b += p.correlatedBytes(k) + maxSlots*min(corpus.MaxBlockDocs, docs)*8*k // a second θ of each
	if k > ofTopics && p.Correlated >= 0 {                                  // logits of families, and their moments
		b += (4*docs + 8*k*(maxSlots+1)) * mostCorrelated
	}
	if p.Scratch == "" {
		return b + 8*docs*k // twice for a moment, when topics have been merged
	}
	return b + 16*maxSlots*min(corpus.MaxBlockDocs, docs)*k
}

// splitBytes is what splitting takes of a start with half of k topics at most: how often words are in
// their parts of the documents, words that are counted together, and the solutions.
func splitBytes(words, k float64) float64 {
	n := min(words, dividedWords)
	return k/2*(16*words+4*n*n) + maxSlots*32*float64(max(dividedWords*dividedWords, 4*manyWords*manyWords*widest*widest))
}

// correlatedBytes is what the moments of logits take, their eigenvectors, the prior, and space for
// a document of each goroutine.
func (p Passes) correlatedBytes(k float64) float64 {
	if p.Correlated < 0 || p.Correlated == 0 && k > mostCorrelated {
		return 0
	}
	return 8*k*k*(maxSlots+12) + maxSlots*(200*k+1<<13)
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

// Refine implements Refiner. Errors: settings out of range; a start that is no set of
// topics; documents with words outside [0, N), with tokens instead of numbers, or with
// negative counts; no tokens at all; an Alpha or Beta beyond what a float32 holds, which
// leaves words to no topic; those of docs, of the scratch file, and ctx's.
func (p Passes) Refine(ctx context.Context, docs corpus.Source, start Start, opt Options) (_ *Result, err error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	p = p.withDefaults()
	f, err := p.begin(ctx, docs, start, opt)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := errors.Join(f.state.close(), f.logits.close()); e != nil && err == nil {
			err = fmt.Errorf("refine: %w", e)
		}
	}()
	return f.fit(ctx, f, p.N, p.Correlated, opt)
}

// begin counts the documents and makes the first topics.
func (p Passes) begin(ctx context.Context, docs corpus.Source, start Start, opt Options) (*stripes, error) {
	f := &stripes{scratch: p.Scratch, have: noDocuments}
	var err error
	if f.topics, err = newTopics(prior{p.Alpha, p.Beta, p.Gain}, docs, start, opt); err != nil {
		return nil, err
	}
	if f.docs, err = encoded(ctx, docs, f.n); err == nil {
		err = f.begin(ctx, f.local(f.docs), start)
	}
	if err == nil && f.surplus() > f.k {
		f.thinnest = f.seen.thinnest
	}
	if err == nil {
		err = f.cut(start.Counts)
	}
	if err != nil {
		return nil, fmt.Errorf("refine: %w", err)
	}
	return f, nil
}
