package refine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/estep"
)

// Method is a form of the pass.
type Method uint8

// The forms of the pass.
const (
	// CVB0 is collapsed variational Bayes of order zero (Asuncion, Welling, Smyth
	// and Teh 2009, eq. 7): θ_d and B are integrated out, and each token's topic
	// is weighed by the counts of all other tokens. It is the default.
	CVB0 Method = iota
	// MAPEM is expectation–maximisation for the most probable θ_d and B under
	// Dirichlet priors with parameters 1+α and 1+β (Asuncion et al. 2009, eq. 4):
	// θ_d ∝ α + Σ_w n_dw φ_dw, B_w ∝ β + Σ_d n_dw φ_dw, φ_dwk ∝ θ_dk B_wk. Without
	// annealing no pass lowers the objective. α stays as it is.
	MAPEM
	// CVB0Document is CVB0 that leaves a token out of the counts of its document only,
	// not out of those of its word and topic. It is faster, and as good or better where
	// there are many tokens for each word and topic.
	CVB0Document
)

func (m Method) String() string {
	switch m {
	case CVB0:
		return "cvb0"
	case MAPEM:
		return "map-em"
	case CVB0Document:
		return "cvb0-document"
	}
	return fmt.Sprintf("Method(%d)", uint8(m))
}

// Passes fits latent Dirichlet allocation by a few deterministic passes over the
// documents. The zero value is ready for use.
//
// Before the first pass each document's topic counts are found by FoldIn steps
// of EM with B fixed; B is mixed with a little of the unigram distribution, because
// spectral topics have zeros. The first ⌊0.8·N⌋ passes, but at most 24, are
// annealed (deterministic annealing: Ueda and Nakano 1998): their responsibilities
// are φ_dwk ∝ (θ_dk B_wk)^(1/T), with a temperature T that falls from Temperature
// to 1, so that words can leave the topics that the anchors gave them.
//
// The first pass and the annealed ones take the form of MAPEM with any method. In the
// others CVB0 and CVB0Document leave out of the counts one token's responsibilities
// for every pair of document and word, those that the counts themselves give it, so
// that none need to be kept. They then take a step of Minka's fixed point for α.
// (Annealed counts would make α too large.)
//
// Topics keep their numbers, except those exchanged by Swaps.
//
// Tokens are shared out in float32, by the kernel that KernelName in a model's
// provenance names; tokens by word and topic are added up in float64. Results of
// different kernels differ by rounding.
//
// Cost: nnz·K times a few operations a pass, about one and a half times as much in the
// passes of CVB0 that are not annealed, and N·K powers in an annealed one. The
// documents are read N + 2 times. Memory: 4·K·M bytes for the topic counts of M
// documents, in memory or, with Scratch, in a file; for the topics 32·N·K bytes with
// the result, and 4·N·K for each 8·N nonzeros, at most 32·N·K, since the documents are
// shared out among as many goroutines; some 20 MB for a chunk of documents.
type Passes struct {
	// N is the largest number of passes; 0 means 10. Coherence hardly changes
	// after ten, the likelihood grows for some twenty more.
	N int

	// Method is the form of the pass; the zero value is CVB0.
	Method Method

	// Beta is the prior count of each word in each topic, in tokens; 0 means 0.05.
	Beta float64

	// Temperature is T of the first pass, in [1, 10]; 0 means 1.4, and 1 anneals
	// no pass. An annealed pass may lower MAPEM's objective.
	Temperature float64

	// Damping is the power, in (0, 1], that counts are raised to before anything
	// else; 0 means 1, the counts themselves. With less, words that crowd in few
	// documents count less, so that the top words of a topic occur together in
	// more documents: coherence grows and the likelihood of documents falls. The
	// log-likelihoods of History, except HeldOut, weigh tokens as damped.
	Damping float64

	// Alpha is the prior count of each topic in each document, in tokens; 0
	// takes recovery.FitAlpha of A, or 0.1 for each topic if A is nil or has no
	// positive sum.
	Alpha float64

	// FixedAlpha keeps the first α in both forms of CVB0. MAPEM always keeps it.
	FixedAlpha bool

	// Smoothing is the share of the unigram distribution in the first B, in
	// (0, 1); 0 means 0.01.
	Smoothing float64

	// FoldIn is the number of steps that find the first topic counts of a
	// document; 0 means 10.
	FoldIn int

	// Swaps is how many times, at most, two topics are merged and a third one is
	// split; 0 never does. K/10 is a good value.
	//
	// Anchors may give one topic to what a tenth of all tokens have in common and
	// two topics to what hardly any have, and passes do not move topics that far.
	// After three quarters of the annealed passes (never if N < 3) every topic is
	// cut in two by documents. The cheapest merge of two topics is made with the
	// best split of a third, then the next ones, as long as a split gains more than
	// the merge costs. Both are differences of the log-probability of the topics'
	// tokens as draws from distributions with the prior Dirichlet(Beta); where the
	// start is good, nothing is swapped. (After split–merge EM: Ueda, Nakano,
	// Ghahramani and Hinton 2000, who choose by other measures.)
	//
	// Of two merged topics the lower number is kept; the other number goes to a
	// part of the topic that is split, whose anchor then means nothing. The first α
	// of a merged topic is the sum, that of a part half of the whole, even with
	// FixedAlpha. MAPEM's objective may fall.
	//
	// Cost: eight reads of the documents, each several times as long as a pass, for
	// it is in float64; 32·N·K bytes, and 8·K·max(16384, N) for a chunk.
	Swaps int

	// HeldOut is the share of documents, in [0, 0.5], that are watched instead of
	// learned from. They are spread evenly over the corpus. θ is found from one
	// half of the tokens of each, and History holds the likelihood of the other
	// half. The passes end when a pass that is not annealed gains less than Gain.
	HeldOut float64

	// Gain is the least gain of held-out log-likelihood per token and pass, in
	// nats; 0 means 5e-4. It has no use without HeldOut.
	Gain float64

	// Scratch names a folder for a temporary file that holds the topic counts
	// of the documents, 4·K·M bytes; "" holds them in memory. The result is the
	// same to the bit.
	Scratch string
}

func (p Passes) withDefaults() Passes {
	if p.N == 0 {
		p.N = 10
	}
	if p.Beta == 0 {
		p.Beta = 0.05
	}
	if p.Temperature == 0 {
		p.Temperature = 1.4
	}
	if p.Damping == 0 {
		p.Damping = 1
	}
	if p.Smoothing == 0 {
		p.Smoothing = 0.01
	}
	if p.FoldIn == 0 {
		p.FoldIn = 10
	}
	if p.Gain == 0 {
		p.Gain = 5e-4
	}
	return p
}

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
	bad(p.Method > CVB0Document, "no method %v", p.Method)
	bad(!(p.Beta >= 0) || math.IsInf(p.Beta, 1), "Beta = %v; want 0 for %v, or above it and finite", p.Beta, d.Beta)
	bad(p.Temperature != 0 && !(p.Temperature >= 1 && p.Temperature <= 10), "Temperature = %v; want 0 for %v, or in [1, 10]", p.Temperature, d.Temperature)
	bad(!(p.Damping >= 0 && p.Damping <= 1), "Damping = %v; want 0 for 1, or in (0, 1]", p.Damping)
	bad(!(p.Alpha >= 0) || math.IsInf(p.Alpha, 1), "Alpha = %v; want 0 for that of A, or above it and finite", p.Alpha)
	bad(!(p.Smoothing >= 0 && p.Smoothing < 1), "Smoothing = %v; want 0 for %v, or in (0, 1)", p.Smoothing, d.Smoothing)
	bad(p.FoldIn < 0, "FoldIn = %d; want 0 for %d, or at least 1", p.FoldIn, d.FoldIn)
	bad(!(p.HeldOut >= 0 && p.HeldOut <= 0.5), "HeldOut = %v; want 0 for none, or at most 0.5", p.HeldOut)
	bad(p.Swaps < 0, "Swaps = %d; want at least 0", p.Swaps)
	bad(!(p.Gain >= 0) || math.IsInf(p.Gain, 1), "Gain = %v; want 0 for %v, or above it and finite", p.Gain, d.Gain)
	return errors.Join(errs...)
}

// String names the method and what it was set to.
func (p Passes) String() string {
	p = p.withDefaults()
	alpha := "of A"
	if p.Alpha > 0 {
		alpha = fmt.Sprint(p.Alpha)
	}
	if p.Method != MAPEM && !p.FixedAlpha {
		alpha += ", re-estimated"
	}
	s := fmt.Sprintf("Passes(%d %v, alpha %s, beta %v, temperature %v, smoothing %v, fold-in %d", p.N, p.Method, alpha, p.Beta, p.Temperature, p.Smoothing, p.FoldIn)
	if p.Damping != 1 {
		s += fmt.Sprintf(", damping %v", p.Damping)
	}
	if p.Swaps > 0 {
		s += fmt.Sprintf(", up to %d swaps", p.Swaps)
	}
	if p.HeldOut > 0 {
		s += fmt.Sprintf(", held out %v, gain %v", p.HeldOut, p.Gain)
	}
	return s + ")"
}

// Bytes implements Refiner.
func (p Passes) Bytes(docs, words int, nonzeros int64, k int) int64 {
	d, n, nnz, K := float64(docs), float64(words), float64(nonzeros), float64(k)
	padded := float64(estep.Padded(k))
	b := 24*n*K + 4*n*padded*float64(2+partCount(nonzeros, words))
	b += 32*min(max(passNNZ, n), nnz) + min(passDocs, d)*(8*K+64)
	if p.Swaps > 0 {
		b += 32*n*K + min(max(swapNNZ, n), nnz)*(60+8*K)
	}
	if p.Scratch == "" {
		b += 4 * d * K
	} else {
		b += 8 * min(passDocs, d) * K
	}
	return int64(min(b, math.MaxInt64/8))
}

// Refine implements Refiner. Errors: settings out of range; a start that is no
// set of topics; documents with words outside [0, N), with tokens instead of
// numbers, or with negative counts; no tokens at all; documents that change between
// reads (corpus.ErrSourceChanged); those of docs, of the scratch file, and ctx's.
func (p Passes) Refine(ctx context.Context, docs corpus.Source, start Start, opt Options) (_ *Result, err error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	p = p.withDefaults()
	if docs == nil {
		return nil, errors.New("refine: no documents")
	}
	if err := start.check(); err != nil {
		return nil, err
	}
	f := &fitter{Passes: p, workers: opt.Workers, src: docs}
	f.n, f.k = start.B.Dims()
	defer func() {
		if e := f.state.close(); e != nil && err == nil {
			err = fmt.Errorf("refine: %w", e)
		}
	}()
	if err := f.begin(ctx, start); err != nil {
		return nil, fmt.Errorf("refine: %w", err)
	}
	res := &Result{Beta: p.Beta, Docs: f.seen.docs - f.seen.empty - f.seen.held, Held: f.seen.held, Tokens: f.seen.tokens}
	for res.Passes < p.N && !res.Early {
		if err := f.pass(ctx, res.Passes); err != nil {
			return nil, fmt.Errorf("refine: pass %d: %w", res.Passes+1, err)
		}
		res.History = append(res.History, f.score)
		res.Passes++
		if res.Passes == f.swapAfter() {
			if res.Swaps, err = f.swap(ctx); err != nil {
				return nil, fmt.Errorf("refine: swaps after pass %d: %w", res.Passes, err)
			}
		}
		// The gain of the last pass but one counts if that was not annealed.
		if h := res.History; len(h) > 1 && f.temperature(len(h)-2) == 1 && h[len(h)-1].HeldOut-h[len(h)-2].HeldOut < p.Gain { // never with NaN
			res.Early = true
		}
		if opt.Progress != nil {
			opt.Progress(res.Passes, p.N, f.score.LogLik)
		}
	}
	a, err := f.finish(ctx)
	if err != nil {
		return nil, fmt.Errorf("refine: after the last: %w", err)
	}
	res.History = append(res.History, f.score)
	res.A, res.Alpha = a, f.alpha
	res.B = mat.NewDense(f.n, f.k, f.b.Data)
	res.Breve = bayes(res.B, a)
	return res, ctx.Err()
}

// bayes returns p(topic | word), N×K, for the topics B and the topic shares A·1.
func bayes(b, a *mat.Dense) *mat.Dense {
	n, k := b.Dims()
	breve, shares := mat.NewDense(n, k, nil), make([]float64, k)
	for i := range k {
		for _, v := range a.RawRowView(i) {
			shares[i] += v
		}
	}
	for i := range n {
		out, sum := breve.RawRowView(i), 0.0
		for t, v := range b.RawRowView(i) {
			out[t] = v * shares[t]
			sum += out[t]
		}
		for t := range out {
			out[t] /= sum
		}
	}
	return breve
}
