// Package refine improves topics by passes over the documents, from the topics
// that anchors gave.
package refine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/linalg"
)

// Refiner improves topics by going back to the documents.
type Refiner interface {
	// Refine returns the topics that the given ones become. docs yields
	// documents whose Words are the row numbers of start.B, the same ones each
	// time it is asked. The result is the same to the bit for any opt.Workers.
	Refine(ctx context.Context, docs corpus.Source, start Start, opt Options) (*Result, error)
	// String names the method and its settings.
	String() string
}

// Start is what a refinement begins with. It is not written to.
type Start struct {
	B *mat.Dense // N×K, topics: no entry negative, each column sums to 1
	A *mat.Dense // K×K, their correlations, for the first α; nil: not known
}

// Options are what every method takes beside its own settings.
type Options struct {
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
	// Breve is N×K: row n holds p(topic | word n) by Bayes' rule from B and the
	// topics' shares, the row sums of A. Anchors have no unit rows any more.
	Breve *mat.Dense
	// A is K×K: the mean over documents that are not empty of E[θθᵀ], θ having
	// the Dirichlet distribution that the document's counts by topic and α give.
	// It is symmetric, positive definite, positive, and sums to 1.
	A *mat.Dense
	// Alpha is the Dirichlet prior of a document's topics, length K.
	Alpha []float64
	// Beta is the Dirichlet prior of a topic's words, one number for all.
	Beta float64
	// Passes is how many were made.
	Passes int
	// Swaps is how often two topics were merged and a third was split.
	Swaps int
	// Early tells that the held-out likelihood gained too little for more.
	Early bool
	// History has Passes+1 entries: the state before each pass, and the final one.
	History []Score
	// Docs is how many documents topics were learned from, without empty ones
	// and those held out; Held how many were held out; Tokens the sum of the counts
	// of the first.
	Docs, Held int
	Tokens     int64
}

// Score is how well topics explain documents at some point.
type Score struct {
	// LogLik is the mean of ln p(token) over the tokens of the documents that
	// topics are learned from, p = Σ_k θ_k B_wk with the document's current θ, its
	// mean under α.
	LogLik float64 `json:"loglik"`
	// Objective is, for MAPEM, what cold passes never lower: LogLik and the
	// log-densities of the priors (their constants left out), a token. NaN for
	// CVB0, which climbs no such function.
	Objective float64 `json:"objective"`
	// HeldOut is the mean of ln p(token) over the hidden half of the documents
	// held out; NaN where there are none.
	HeldOut float64 `json:"held_out"`
	// AlphaSum is Σα.
	AlphaSum float64 `json:"alpha_sum"`
}

// Method is a form of the pass.
type Method uint8

// The forms of the pass.
const (
	// CVB0 is collapsed variational Bayes of order zero (Asuncion, Welling, Smyth
	// and Teh 2009, eq. 7): θ_d and B are integrated out, and each token's topic
	// is weighed by the counts that all the others have. The default.
	CVB0 Method = iota
	// MAPEM is expectation–maximisation for the most probable θ_d and B under
	// Dirichlet priors with the parameters 1+α and 1+β (Asuncion et al. 2009,
	// eq. 4, with 1+ added): θ_d ∝ α + Σ_w n_dw φ_dw, B_w ∝ β + Σ_d n_dw φ_dw,
	// φ_dwk ∝ θ_dk B_wk. No cold pass lowers the objective. α stays as it is.
	MAPEM
)

func (m Method) String() string {
	switch m {
	case CVB0:
		return "cvb0"
	case MAPEM:
		return "map-em"
	}
	return fmt.Sprintf("Method(%d)", uint8(m))
}

// Defaults of Passes.
const (
	defaultPasses      = 10
	defaultBeta        = 0.05
	defaultSmoothing   = 0.01
	defaultTemperature = 1.4
	defaultFoldIn      = 10
	defaultGain        = 5e-4
)

// flatAlpha is the first α of each topic where A says nothing.
const flatAlpha = 0.1

// mostHot bounds the hot passes: more of them gain nothing.
const mostHot = 24

// leastAlpha keeps the prior of a topic that hardly any document has proper.
const leastAlpha = 1e-3

// Passes refines topics by a few passes over the documents: latent Dirichlet
// allocation, fitted by a deterministic method that starts at the spectral
// solution. The papers on anchor words do not have this step. On documents of KOS
// that were held out, the log-likelihood of a token rises from −7.265 to −7.144 by
// ten passes and to −7.130 by thirty, NPMI from .133 to .163 and .165 (K = 50;
// a Gibbs sampler of a thousand iterations: −7.160 and .186; ten passes with
// Swaps: −7.139 and .180).
//
// Before the first pass each document's topic counts are found by FoldIn steps
// of EM with B fixed, B mixed with a little of the unigram distribution, since
// spectral topics have zeros. The first ⌊0.8·N⌋ passes, but at most 24, are hot:
// their responsibilities are φ_dwk ∝ (θ_dk B_wk)^(1/T), where the temperature T
// falls from Temperature to 1, which lets words leave the topics that the anchors
// gave them (deterministic annealing: Ueda and Nakano 1998). A hot pass, or the first, is
// one of MAPEM for both methods. In the others CVB0 leaves out of the counts, for
// every pair of document and word, one token's responsibilities, those that the
// counts themselves give it (so that none have to be kept: 8·nnz·K bytes), and takes
// a step of Minka's fixed point for α. (Hot counts would make α too large.)
//
// Cost: nnz·K times a few operations a pass, two or three times as much in the
// cold passes of CVB0, and N·K powers in a hot one, in N + 2 reads of the
// documents: one counts, the last finds the final likelihood and A.
// Memory: 8·K·M bytes for the topic counts of M documents, in memory or, with
// Scratch, in a file; 32·N·K bytes and the result, and for a chunk of documents at
// most 32 kB·K, and 8·K·max(16384, N) bytes more for CVB0. The documents are not held.
//
// Topics keep their numbers, but for Swaps. Passes is a value that any number of goroutines may
// use.
type Passes struct {
	// N is the largest number of passes, from 1; 0 means 10. Likelihood still
	// grows from 10 to 30, coherence hardly.
	N int

	// Method is the form of the pass; the zero value is CVB0.
	Method Method

	// Beta is the prior count of each word in each topic, in tokens, above 0; 0
	// means 0.05.
	Beta float64

	// Temperature is T of the first pass, from 1, which makes no pass hot, to 10;
	// 0 means 1.4. Under other values than 1 a hot pass may lower MAPEM's
	// objective.
	Temperature float64

	// Damping is the power, in (0, 1], that counts are raised to before anything
	// else; 0 means 1, the counts themselves. Less makes words that crowd in few
	// documents count less, so that the top words of a topic meet in more
	// documents: coherence grows and the likelihood of documents falls. Log-
	// likelihoods of History, but for HeldOut, weigh tokens as damped.
	Damping float64

	// Alpha is the prior count of each topic in each document, in tokens, above
	// 0. 0 means: from A by the method of moments (see momentAlpha), or 0.1 each
	// where A is not known or gives nothing. The result hardly depends on it.
	Alpha float64

	// FixedAlpha keeps the first α in CVB0. MAPEM always does.
	FixedAlpha bool

	// Smoothing is the share of the unigram distribution in the first B, in
	// (0, 1); 0 means 0.01.
	Smoothing float64

	// FoldIn is the number of steps that find the first topic counts of a
	// document, from 1; 0 means 10.
	FoldIn int

	// Swaps is how often, at most, two topics are merged and a third one is split,
	// at least 0, which leaves all topics as they are. K/10 is a good value.
	//
	// A spectral start may give one topic to what a tenth of all tokens have in
	// common and two to what hardly any have, and passes do not move topics so far.
	// After three quarters of the hot passes (N = 10: the sixth; N < 3: never) every
	// topic is cut in two by documents. The cheapest merge of two topics is made,
	// with the best split of a third, then the next ones, as long as a split
	// gains more than the merge costs. Both are differences of the log-probability
	// of the topics' tokens as draws from distributions with the prior
	// Dirichlet(Beta): where the start is good, nothing is swapped. (After
	// split-and-merge EM: Ueda, Nakano, Ghahramani and Hinton 2000, who choose by
	// other measures.) Of two merged topics the one with the lower number keeps
	// it, the other number goes to a part of the one that is split: an anchor says
	// nothing of such topics. The first α of a merged topic is the sum, that of a
	// part the half, even with FixedAlpha. MAPEM's objective may fall.
	//
	// On KOS, ten or thirty passes, K = 25, 50, 100, it adds .004 to .015 to the
	// log-likelihood of a held-out token and .010 to .027 to NPMI; where there is
	// little to swap it does little: −.003 to .000 and .000 to .007 on news of the
	// BBC, .000 to .003 and −.002 to .000 on NIPS papers. Much of the gain on KOS
	// is of topics of page footers, which the start lumps and samplers have several
	// of; without those above .35 NPMI grows by .003 to .011. With N = 30 and
	// Damping 0.5, K = 50 and 100 reach −7.139 and −7.088, and NPMI .197 and .173 (a
	// Gibbs sampler −7.160 and −7.122, .186 and .167).
	//
	// Cost: eight reads of the documents, each of about as many operations as a
	// cold pass; 32·N·K bytes, and for a chunk those that CVB0 takes.
	Swaps int

	// HeldOut is the share of documents that are not learned from but watched,
	// in [0, 0.5]; 0: none. From one half of the tokens of each, their θ is found,
	// and the likelihood of the other half is what History tells. They are spread
	// evenly over the corpus. The passes end when the likelihood of a token gained
	// less than Gain in a cold pass.
	HeldOut float64

	// Gain is the least gain of held-out log-likelihood a token and pass, in
	// nats, at least 0; 0 means 5e-4. Without HeldOut it has no use.
	Gain float64

	// Scratch names a folder for a temporary file that holds the topic counts
	// of the documents, 8·K·M bytes, for corpora whose counts do not fit in
	// memory. "": they are held in memory. The result is the same to the bit.
	Scratch string
}

func (p Passes) withDefaults() Passes {
	if p.N == 0 {
		p.N = defaultPasses
	}
	if p.Beta == 0 {
		p.Beta = defaultBeta
	}
	if p.Temperature == 0 {
		p.Temperature = defaultTemperature
	}
	if p.Damping == 0 {
		p.Damping = 1
	}
	if p.Smoothing == 0 {
		p.Smoothing = defaultSmoothing
	}
	if p.FoldIn == 0 {
		p.FoldIn = defaultFoldIn
	}
	if p.Gain == 0 {
		p.Gain = defaultGain
	}
	return p
}

// Validate reports all settings that are out of range, joined into one error.
func (p Passes) Validate() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("refine: "+format, args...))
		}
	}
	bad(p.N < 0, "N = %d; want 0 for %d, or at least 1", p.N, defaultPasses)
	bad(p.Method > MAPEM, "no method %v", p.Method)
	bad(!(p.Beta >= 0) || math.IsInf(p.Beta, 1), "Beta = %v; want 0 for %v, or above it and finite", p.Beta, defaultBeta)
	bad(p.Temperature != 0 && !(p.Temperature >= 1 && p.Temperature <= 10), "Temperature = %v; want 0 for %v, or in [1, 10]", p.Temperature, defaultTemperature)
	bad(!(p.Damping >= 0 && p.Damping <= 1), "Damping = %v; want 0 for 1, or in (0, 1]", p.Damping)
	bad(!(p.Alpha >= 0) || math.IsInf(p.Alpha, 1), "Alpha = %v; want 0 for that of A, or above it and finite", p.Alpha)
	bad(!(p.Smoothing >= 0 && p.Smoothing < 1), "Smoothing = %v; want 0 for %v, or in (0, 1)", p.Smoothing, defaultSmoothing)
	bad(p.FoldIn < 0, "FoldIn = %d; want 0 for %d, or at least 1", p.FoldIn, defaultFoldIn)
	bad(!(p.HeldOut >= 0 && p.HeldOut <= 0.5), "HeldOut = %v; want 0 for none, or at most 0.5", p.HeldOut)
	bad(p.Swaps < 0, "Swaps = %d; want at least 0", p.Swaps)
	bad(!(p.Gain >= 0) || math.IsInf(p.Gain, 1), "Gain = %v; want 0 for %v, or above it and finite", p.Gain, defaultGain)
	return errors.Join(errs...)
}

// String names the method and what it was set to.
func (p Passes) String() string {
	p = p.withDefaults()
	alpha := "of A"
	if p.Alpha > 0 {
		alpha = fmt.Sprint(p.Alpha)
	}
	if p.Method == CVB0 && !p.FixedAlpha {
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

// momentAlpha returns the parameters of the Dirichlet distribution whose mean is
// a, the row sums of A over its sum, and whose second moments have A's trace:
// α = α₀a with α₀ = (1 − ΣA_kk)/(ΣA_kk − Σa_k²) of the scaled A. ok is false
// where there is none: where A has no positive sum or a row sum that is not
// positive, or where its trace is not between Σa_k² and 1.
func momentAlpha(a mat.Matrix) (alpha []float64, ok bool) {
	k, _ := a.Dims()
	alpha = make([]float64, k)
	sum, trace, square := 0.0, 0.0, 0.0
	for i := range k {
		for j := range k {
			alpha[i] += a.At(i, j)
		}
		sum += alpha[i]
		trace += a.At(i, i)
	}
	for i, v := range alpha {
		if alpha[i] = v / sum; !(sum > 0 && v > 0) || math.IsInf(v, 1) {
			return nil, false
		}
		square += alpha[i] * alpha[i]
	}
	trace /= sum
	total := (1 - trace) / (trace - square)
	if !(total > 0) || math.IsInf(total, 1) {
		return nil, false
	}
	for i := range alpha {
		alpha[i] *= total
	}
	return alpha, true
}

// Refine implements Refiner. Errors: settings out of range, a start that is no
// set of topics, documents with words outside [0, N), with tokens instead of
// numbers, or with negative counts, which are named; no tokens at all; documents
// that change between reads (cooc.ErrSourceChanged); those of docs, of the
// scratch file, and ctx's.
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
		// What the last pass but one gained, that pass having been cold.
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
	res.Breve = mat.NewDense(f.n, f.k, nil)
	shares := make([]float64, f.k)
	for i := range f.k {
		for _, v := range a.RawRowView(i) {
			shares[i] += v
		}
	}
	for i := range f.n {
		row, out, sum := linalg.Row(f.b, i), res.Breve.RawRowView(i), 0.0
		for t, v := range row {
			out[t] = v * shares[t]
			sum += out[t]
		}
		for t := range out {
			out[t] /= sum
		}
	}
	return res, ctx.Err()
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
	if s.A != nil {
		if r, c := s.A.Dims(); r != k || c != k {
			return fmt.Errorf("refine: A is %d×%d for %d topics", r, c, k)
		}
	}
	return nil
}

// fitter is the state of one refinement.
type fitter struct {
	Passes
	workers int
	src     corpus.Source
	n, k    int
	seen    census
	counted bool    // the first read is over
	weight  float64 // the sum of the damped counts that topics are learned from

	alpha    []float64
	alphaSum float64
	b        blas64.General // N×K, the topics
	hot      blas64.General // N×K, B to the power 1/T; no data without hot passes
	counts   blas64.General // N×K, CVB0 after the first pass: β + tokens by word and topic
	totals   []float64      // K, the column sums of counts
	sums     blas64.General // N×K, what a pass adds up
	state    docState
	score    Score
	buf      chunkBuffers
}

// begin counts the documents and makes the first α and B.
func (f *fitter) begin(ctx context.Context, start Start) error {
	words := make([]float64, f.n)
	err := f.read(ctx, func(held bool, ws []int32, xs []float64) error {
		if !held {
			for t, w := range ws {
				x := f.damped(xs[t])
				words[w] += x
				f.weight += x
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if f.seen.tokens == 0 {
		return errors.New("the documents hold no tokens")
	}
	if err := f.state.open(f.seen.docs, f.k, f.Scratch); err != nil {
		return err
	}
	f.alpha = make([]float64, f.k)
	first := f.Alpha
	if first == 0 {
		first = flatAlpha
	}
	for t := range f.alpha {
		f.alpha[t] = first
	}
	if f.Alpha == 0 && start.A != nil {
		if a, ok := momentAlpha(start.A); ok {
			for t, v := range a {
				f.alpha[t] = max(v, leastAlpha)
			}
		}
	}
	for _, v := range f.alpha {
		f.alphaSum += v
	}
	f.b, f.sums = linalg.NewGeneral(f.n, f.k), linalg.NewGeneral(f.n, f.k)
	for i := range f.n {
		row, from := linalg.Row(f.b, i), start.B.RawRowView(i)
		// A word of held-out documents alone needs a probability too.
		unigram := (words[i] + f.Beta) / (f.weight + f.Beta*float64(f.n))
		for t := range row {
			row[t] = (1-f.Smoothing)*from[t] + f.Smoothing*unigram
		}
	}
	if f.temperature(0) > 1 {
		f.hot = linalg.NewGeneral(f.n, f.k)
	}
	if f.Method == CVB0 && f.N > 1 {
		f.counts, f.totals = linalg.NewGeneral(f.n, f.k), make([]float64, f.k)
	}
	return nil
}

// damped returns what a count is taken for.
func (f *fitter) damped(x float64) float64 {
	if f.Damping == 1 {
		return x
	}
	return math.Pow(x, f.Damping)
}

// hotPasses returns how many passes may be hot.
func (f *fitter) hotPasses() int { return min(4*f.N/5, mostHot) }

// temperature returns T of pass t, counted from 0.
func (f *fitter) temperature(t int) float64 {
	hot := f.hotPasses()
	if t >= hot {
		return 1
	}
	return 1 + (f.Temperature-1)*(1-float64(t)/float64(hot))
}

// update makes the topics of the sums of a pass. After a plain pass they lack
// the factor B, or what stood for it in a hot one.
func (f *fitter) update(factor *blas64.General) error {
	totals := make([]float64, f.k)
	for i := range f.n {
		row, sum := linalg.Row(f.b, i), linalg.Row(f.sums, i)
		for t, v := range sum {
			if factor != nil {
				v *= factor.Data[i*factor.Stride+t]
			}
			row[t] = v + f.Beta
			totals[t] += row[t]
		}
	}
	for t, v := range totals {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("topic %d has %v tokens", t, v)
		}
	}
	if f.totals != nil {
		copy(f.counts.Data, f.b.Data)
		copy(f.totals, totals)
	}
	for i := range f.n {
		for t, row := 0, linalg.Row(f.b, i); t < f.k; t++ {
			row[t] /= totals[t]
		}
	}
	return nil
}
