package jsmf

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// Pipeline says how a model is fitted. It is a value: every setter returns a
// changed copy and leaves its receiver alone, so that variants can branch off
// a common beginning. Setters never fail; Validate and Fit report everything
// that is wrong at once. A Pipeline may be used by many goroutines, if its
// stages and its Recorder may.
type Pipeline struct {
	k         int
	rounds    int // of ReplaceAnchors
	rectifier Rectifier
	finder    AnchorFinder
	recoverer Recoverer
	learner   Learner // nil: by anchors
	weighting cooc.Weighting
	refiner   refine.Refiner // nil: none
	minTokens int
	seed      uint64
	workers   int
	rec       Recorder
	vocab     []string
	resumable bool
	from      *Model // nil: none
	cold      string // why a warm start was given up, "" where it was not
	memory    int64  // bytes; 0: no limit
}

// New returns a Pipeline for k topics, 2 ≤ k ≤ N. An anchor finder that chooses
// their number itself, as anchor.Hull{All: true} does, may return more or fewer;
// k is then the rank of the rectification only. The defaults: exact
// alternating projection while it fits in a gigabyte, low-rank rectification
// beyond (rectify.Auto), pivoted QR (anchor.QR), and exact least squares
// (recovery.SCLS).
func New(k int) Pipeline {
	return Pipeline{k: k, rectifier: rectify.Auto{}, finder: anchor.QR{}, recoverer: recovery.SCLS{}, rounds: DefaultReplacements}
}

// K sets another number of topics than New did, for the same settings.
func (p Pipeline) K(k int) Pipeline { p.k = k; return p }

// Rectify sets how the co-occurrence matrix is rectified. Default:
// rectify.Auto{}; Model.Stats says what it chose and why.
func (p Pipeline) Rectify(r Rectifier) Pipeline { p.rectifier = r; return p }

// Anchors sets how anchor words are found. Default: anchor.QR{}. anchor.Fixed and
// anchor.Tandem take them from the user, who calls them as the Model does; Tandem
// asks for rows with entries, as rectify.AP keeps them, and for recovery.SCLS.
func (p Pipeline) Anchors(f AnchorFinder) Pipeline { p.finder = f; return p }

// DefaultReplacements is how many times New's pipelines look for other anchors: see
// Pipeline.ReplaceAnchors.
const DefaultReplacements = 5

// ReplaceAnchors bounds how many times other anchors are looked for where the model
// does not fit: where ΣA, which should be 1, is above 2 or below ½. That is what
// a word of very few documents does as an anchor, whose own co-occurrence nobody can
// estimate. Given up are the anchors of those topics whose row of A sums to more
// than twice, or less than half, p(topic) as B̆ has it, and with them all words of
// no more documents than the most frequent of these; the finder looks among the
// others, and the topics are recovered anew. Of all rounds that with ΣA
// nearest to 1 is taken; a warning and Stats.Anchors.Replaced tell what was given up.
// A round costs what finding the anchors and recovering the topics cost; models
// that fit cost nothing and do not change. Finders that cannot do without a word
// (anchor.Fixed, Tandem, Hull, LP) keep their anchors. Default:
// DefaultReplacements. 0: never, as in the papers.
func (p Pipeline) ReplaceAnchors(rounds int) Pipeline { p.rounds = rounds; return p }

// Recover sets how topics and correlations are recovered. Default:
// recovery.SCLS{}, which solves exactly.
func (p Pipeline) Recover(r Recoverer) Pipeline { p.recoverer = r; return p }

// AnchorFree learns topics and correlations by l, without anchors, and skips the
// steps that Anchors and Recover set. The model has no anchor words. nil, the
// default, takes anchors. The matrix is rectified before as for anchors;
// fu-2018 does without: Rectify(rectify.None{}).
func (p Pipeline) AnchorFree(l Learner) Pipeline { p.learner = l; return p }

// Weighting sets how the words of a document weigh in the co-occurrence matrix
// that Fit and Prepare make of a corpus, and Evaluate measures against. Default:
// cooc.Unbiased. With cooc.TFIDF words in every document keep their number but
// are in no topic. FitMatrix ignores it.
func (p Pipeline) Weighting(w cooc.Weighting) Pipeline { p.weighting = w; return p }

// Refine adds a last step: topics and correlations are improved by passes over
// the documents, as by refine.Passes{N: 10}. The Model then holds the refined
// ones, and Model.Spectral those before. It works with Fit, with FitPrepared,
// and with FitMatrix on a *cooc.Stream. Default: nil, no such step.
func (p Pipeline) Refine(r refine.Refiner) Pipeline { p.refiner = r; return p }

// MinTokens leaves documents with fewer than n tokens out of the estimate of
// C. 0 means 5, as in the papers; the least is 2, for a single token holds no
// pair of words.
func (p Pipeline) MinTokens(n int) Pipeline { p.minTokens = n; return p }

// Seed sets the seed of every stage that draws random numbers. Each derives a
// stream of its own from it. The default stages draw none. Default: 0.
func (p Pipeline) Seed(seed uint64) Pipeline { p.seed = seed; return p }

// Workers bounds how many goroutines work at once; 0, the default, means
// GOMAXPROCS. It changes no bit of the result.
func (p Pipeline) Workers(n int) Pipeline { p.workers = n; return p }

// Record adds a Recorder, which is told of the progress of each stage.
func (p Pipeline) Record(r Recorder) Pipeline {
	switch {
	case r == nil:
	case p.rec == nil:
		p.rec = r
	default:
		p.rec = multiRecorder{p.rec, r}
	}
	return p
}

// Log adds a logger, to which stages are logged: their starts and ends at level
// Info, progress at Debug, warnings at Warn, and failures at Error. The message is
// "stage start", "stage progress", "stage end", "stage failed" or "stage
// warning"; the attributes are stage, done, total, the value under its own name,
// elapsed, message and error, each only where there is one. Nothing is logged by
// default; nil adds nothing.
func (p Pipeline) Log(l *slog.Logger) Pipeline {
	if l == nil {
		return p
	}
	return p.Record(&slogRecorder{l})
}

// Vocabulary names the words of a matrix given to FitMatrix: N strings, which
// are copied. Fit ignores it.
func (p Pipeline) Vocabulary(words []string) Pipeline { p.vocab = slices.Clone(words); return p }

// Validate reports all settings that are out of range, joined into one error.
func (p Pipeline) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if p.k < 2 {
		bad("K = %d topics; want at least 2", p.k)
	}
	if p.minTokens < 0 {
		bad("MinTokens(%d); want 0 for the default, or at least 2", p.minTokens)
	}
	if p.workers < 0 {
		bad("Workers(%d); want 0 for GOMAXPROCS, or more", p.workers)
	}
	if p.memory < 0 {
		bad("MemoryLimit(%d); want 0 for none, or more", p.memory)
	}
	if p.rounds < 0 {
		bad("ReplaceAnchors(%d); want 0 for none, or more rounds", p.rounds)
	}
	if p.rectifier == nil {
		bad("no rectifier; rectify.None{} leaves the matrix as it is")
	}
	if p.weighting < cooc.Unbiased || p.weighting > cooc.TFIDF {
		bad("Weighting(%d): no such weighting", int(p.weighting))
	}
	if p.learner != nil {
		errs = append(errs, validate(p.rectifier, p.learner))
	} else {
		if p.finder == nil {
			bad("no anchor finder")
		}
		if p.recoverer == nil {
			bad("no recovery")
		}
		errs = append(errs, validate(p.rectifier, p.finder, p.recoverer))
	}
	errs = append(errs, validate(p.refiner))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("jsmf: %w", err)
	}
	return nil
}

// TopicsError says that K does not fit the data.
type TopicsError struct{ K, Words int }

func (e *TopicsError) Error() string {
	return fmt.Sprintf("jsmf: %d topics of %d words; K must lie in [2, N]", e.K, e.Words)
}

// Fit learns a model from a corpus. The corpus should be curated before
// (corpus.Curate): without stop words and rare words the topics are better and
// the fit is faster.
//
// Documents with fewer tokens than MinTokens, and then words that occur in
// none of the others, are left out; Model.Stats names them, and the words of
// the Model are those that are left, in the order of the corpus.
//
// The same corpus and settings give the same model, to the bit on one type of
// CPU, whatever GOMAXPROCS and Workers. Errors: those of Validate, *TopicsError,
// cooc.ErrNoDocuments, those of the stages (among them *anchor.RankError where
// the data has fewer than K dimensions), and ctx's. After ctx ends each
// goroutine finishes the chunk of work it is at, and all have ended when Fit
// returns.
func (p Pipeline) Fit(ctx context.Context, c *corpus.Corpus) (*Model, error) {
	begun := time.Now()
	d, err := p.Prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	return p.fitPrepared(ctx, d, true, begun)
}

// Prepared is a corpus made ready for fits: the documents and words that take
// part, and their co-occurrence matrix. It serves any number of fits and
// evaluations, with different K or stages, and is safe for concurrent use. MinTokens
// and Weighting are those of the Pipeline that made it.
type Prepared struct {
	corpus *corpus.Corpus
	c      *cooc.Moments
	keep   []int // the words with a row in c; nil: all
	stats  Stats // the parts on corpus and matrix, and warnings
}

// Corpus returns the documents and words that take part.
func (d *Prepared) Corpus() *corpus.Corpus { return d.corpus }

// Moments returns their co-occurrence matrix.
func (d *Prepared) Moments() *cooc.Moments { return d.c }

// Prepare does the part of Fit that does not depend on K and the stages, once
// for all fits to the same corpus: see FitPrepared. O(nnz).
func (p Pipeline) Prepare(ctx context.Context, c *corpus.Corpus) (*Prepared, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if c == nil {
		return nil, errors.New("jsmf: no corpus")
	}
	return p.prepareWeighted(ctx, c, nil)
}

// PrepareSnapshot is Prepare for the documents that an accumulator held at the
// moment of a snapshot. Where they decay (cooc.AccumulatorOptions.HalfLife) the
// co-occurrence matrix counts each by its weight; Refine does not. O(nnz).
func (p Pipeline) PrepareSnapshot(ctx context.Context, s *cooc.Snapshot) (*Prepared, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if s == nil {
		return nil, errors.New("jsmf: no snapshot")
	}
	c, err := s.Corpus()
	if err != nil {
		return nil, wrap(err)
	}
	return p.prepareWeighted(ctx, c, s.Weights())
}

// prepareWeighted is Prepare with a weight for each document, nil for 1.
func (p Pipeline) prepareWeighted(ctx context.Context, c *corpus.Corpus, weights []float64) (*Prepared, error) {
	if err := p.affordable(size{docs: c.NumDocs(), words: c.NumWords(), nnz: int64(c.NNZ()), count: true}); err != nil {
		return nil, err
	}
	tr := &tracker{rec: p.rec}
	d := new(Prepared)
	st := &d.stats
	var err error
	duration, err := tr.run(StageCorpus, "", func() (string, error) {
		if d.corpus, weights, err = p.prepare(ctx, c, weights, &st.Corpus); err != nil {
			return "", err
		}
		for _, x := range st.Corpus.DroppedDocuments {
			p.warn(tr, st, fmt.Sprintf("%d of %d documents left out: %s", x.Count, c.NumDocs(), x.Reason))
		}
		for _, x := range st.Corpus.DroppedWords {
			p.warn(tr, st, fmt.Sprintf("%d of %d words left out: %s", x.Count, c.NumWords(), x.Reason))
		}
		if n := d.corpus.NumWords(); p.k > n {
			return "", &TopicsError{K: p.k, Words: n}
		}
		return fmt.Sprintf("%d documents, %d words, %d tokens", d.corpus.NumDocs(), d.corpus.NumWords(), d.corpus.Tokens()), nil
	})
	if err != nil {
		return nil, wrap(err)
	}
	st.Corpus.Duration = duration
	duration, err = tr.run(StageCooc, "moments", func() (string, error) {
		if d.c, err = cooc.NewWeighted(d.corpus, p.weighting, cooc.Options{MinTokens: p.minTokens, Workers: p.workers, DocWeights: weights}); err != nil {
			return "", err
		}
		st.Cooc = CoocStats{Form: "moments", N: d.c.Dim(), NNZ: d.c.NNZ()}
		if p.weighting != cooc.Unbiased {
			st.Cooc.Form = fmt.Sprintf("moments (%v)", p.weighting)
		}
		if p.weighting == cooc.TFIDF || weights != nil {
			if d.keep, err = filledRows(ctx, d.c, p.workers); err != nil {
				return "", err
			}
			if d.keep != nil {
				why := "are in every document and have no weight in tf-idf"
				if weights != nil {
					why = "have no weight, being in too old documents only or, under tf-idf, in all"
				}
				p.warn(tr, st, fmt.Sprintf("%d of %d words %s; they are in no topic", d.c.Dim()-len(d.keep), d.c.Dim(), why))
				if p.k > len(d.keep) {
					return "", &TopicsError{K: p.k, Words: len(d.keep)}
				}
			}
		}
		return fmt.Sprintf("N = %d, %d nonzeros", d.c.Dim(), d.c.NNZ()), ctx.Err()
	})
	if err != nil {
		return nil, wrap(err)
	}
	st.Cooc.Duration = duration
	return d, nil
}

// FitPrepared learns a model from what Prepare has made of a corpus. The model
// is that of Fit on the corpus; the MinTokens and Weighting that count are Prepare's. Its
// Stats.Total does not include the time of Prepare.
func (p Pipeline) FitPrepared(ctx context.Context, d *Prepared) (*Model, error) {
	begun := time.Now()
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if d == nil {
		return nil, errors.New("jsmf: nothing prepared")
	}
	if n := d.corpus.NumWords(); p.k > n {
		return nil, wrap(&TopicsError{K: p.k, Words: n})
	}
	if err := p.affordable(sizeOf(d.c)); err != nil {
		return nil, err
	}
	return p.fitPrepared(ctx, d, false, begun)
}

// fitPrepared fits to d, which counts under the memory limit if it was made for this
// fit.
func (p Pipeline) fitPrepared(ctx context.Context, d *Prepared, counted bool, begun time.Time) (*Model, error) {
	pr, err := d.problem()
	if err != nil {
		return nil, err
	}
	if n := pr.c.Dim(); p.k > n {
		return nil, wrap(&TopicsError{K: p.k, Words: n})
	}
	pr.size.count = counted
	return p.fit(ctx, pr, &tracker{rec: p.rec}, d.stats.clone(), begun)
}

// problem is what the stages after Prepare begin with.
func (d *Prepared) problem() (problem, error) {
	pr := problem{c: d.c, size: sizeOf(d.c), vocab: d.corpus.Vocabulary(), docs: d.corpus.Source()}
	if d.keep != nil {
		pr.n, pr.keep = d.c.Dim(), d.keep
		var err error
		if pr.c, err = cooc.Submatrix(d.c, d.keep); err != nil {
			return problem{}, wrap(err)
		}
	}
	return pr, nil
}

// FitMatrix learns a model from a co-occurrence matrix, whose entries must sum
// to 1 (to 1e-6) and none of whose rows may sum to less than zero. Words are
// called by their number unless Vocabulary names them, or the matrix does.
// Words with an empty row take no part: they keep their number, but are in no
// topic.
//
// This is also how documents are fitted that do not fit in memory: with a
// *cooc.Stream, which is read in a few passes. The document frequencies that anchor finders
// may ask for are known of these and of a *cooc.Moments. A Matrix of another package is tried on three vectors,
// which tells whether it is finite, symmetric and of the row sums it claims.
func (p Pipeline) FitMatrix(ctx context.Context, c cooc.Matrix) (*Model, error) {
	begun := time.Now()
	err := p.Validate()
	if c == nil {
		return nil, errors.Join(err, errors.New("jsmf: no matrix"))
	}
	if p.vocab != nil && len(p.vocab) != c.Dim() {
		err = errors.Join(err, errorf("a vocabulary of %d words for a matrix of %d rows", len(p.vocab), c.Dim()))
	}
	if err != nil {
		return nil, err
	}
	if p.k > c.Dim() {
		return nil, &TopicsError{K: p.k, Words: c.Dim()}
	}
	if err := p.affordable(sizeOf(c)); err != nil {
		return nil, err
	}
	tr := &tracker{rec: p.rec}
	var st Stats
	pr := problem{c: c, size: sizeOf(c), vocab: p.vocab, n: c.Dim()}
	if v, ok := c.(interface{ Vocabulary() []string }); ok && pr.vocab == nil {
		pr.vocab = v.Vocabulary()
	}
	if s, ok := c.(interface{ Source() corpus.Numbered }); ok {
		pr.docs = s.Source()
	} else if p.refiner != nil {
		return nil, errorf("%v needs documents, which a %T does not give: use Fit, FitPrepared, or a *cooc.Stream", p.refiner, c)
	}
	st.Cooc.Duration, err = tr.run(StageCooc, "", func() (string, error) {
		st.Cooc = CoocStats{Form: "caller's", N: c.Dim()}
		switch m := c.(type) {
		case *cooc.Moments:
			st.Cooc.Form, st.Cooc.NNZ = "moments", m.NNZ()
		case *cooc.Dense:
			st.Cooc.Form, st.Cooc.NNZ = "dense", m.Dim()*m.Dim()
		case *cooc.LowRankSparse:
			st.Cooc.Form, st.Cooc.NNZ = "low-rank + sparse", m.E().NNZ()
		case *cooc.Stream:
			st.Cooc.Form, st.Cooc.NNZ = "stream", int(m.NNZ())
			st.Corpus.Documents, st.Corpus.Words, st.Corpus.Tokens, st.Corpus.NNZ = m.Docs(), m.Dim(), m.Tokens(), int(m.NNZ())
		default:
			if err := probe(ctx, c, p.workers); err != nil {
				return "", err
			}
		}
		if err := checkMarginals(c.Marginals()); err != nil {
			return "", err
		}
		if pr.keep, err = filledRows(ctx, c, p.workers); err != nil {
			return "", err
		}
		if pr.keep != nil {
			p.warn(tr, &st, fmt.Sprintf("%d of %d rows of the matrix are empty; these words are in no topic", pr.n-len(pr.keep), pr.n))
			if p.k > len(pr.keep) {
				return "", &TopicsError{K: p.k, Words: len(pr.keep)}
			}
			if pr.c, err = cooc.Submatrix(c, pr.keep); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("N = %d", c.Dim()), ctx.Err()
	})
	if err != nil {
		return nil, wrap(err)
	}
	return p.fit(ctx, pr, tr, st, begun)
}

// sumTol is how far the sum of a caller's matrix may be from 1.
const sumTol = 1e-6

func checkMarginals(c []float64) error {
	sum := 0.0
	for i, v := range c {
		// A form that takes the sum of large terms may miss zero by rounding.
		if math.IsNaN(v) || math.IsInf(v, 0) || v < -1e-12 {
			return fmt.Errorf("row %d of the matrix sums to %g", i, v)
		}
		sum += v
	}
	if !(math.Abs(sum-1) <= sumTol) {
		return fmt.Errorf("the entries of the matrix sum to %g, not 1: divide them by their sum", sum)
	}
	return nil
}

// filledRows returns the numbers of the rows that are not empty, nil where all
// are filled. A row of sum zero may still hold numbers of both signs.
func filledRows(ctx context.Context, c cooc.Matrix, workers int) ([]int, error) {
	const rounding = 1e-14
	marg := c.Marginals()
	limit := rounding * slices.Max(marg)
	if slices.Min(marg) > limit {
		return nil, nil
	}
	if _, ok := c.(*cooc.Stream); ok { // its rows cost passes
		gone := 0
		for _, v := range marg {
			if v <= limit {
				gone++
			}
		}
		return nil, fmt.Errorf("%d of the %d words of the stream are in no document used; open it with DropUnused", gone, len(marg))
	}
	norms2, err := c.RowNorms2(ctx, workers)
	if err != nil {
		return nil, err
	}
	largest := slices.Max(norms2)
	var keep []int
	for i, v := range marg {
		if v > limit || norms2[i] > rounding*largest {
			keep = append(keep, i)
		}
	}
	if len(keep) == len(marg) {
		keep = nil
	}
	return keep, nil
}

// probe tries a Matrix that this module did not make on three vectors.
func probe(ctx context.Context, c cooc.Matrix, workers int) error {
	const tol = 1e-9
	n, marg := c.Dim(), c.Marginals()
	if len(marg) != n {
		return fmt.Errorf("the matrix has %d rows and %d row sums", n, len(marg))
	}
	x, y := mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil)
	for i := range n {
		_, u := math.Modf(float64(i+1) * math.Phi)
		_, v := math.Modf(float64(i+1) * math.Sqrt2)
		x.SetRow(i, []float64{1, u, v})
	}
	if err := c.MulTo(ctx, y, x, workers); err != nil {
		return err
	}
	largest, uCv, vCu, size := 0.0, 0.0, 0.0, 0.0
	for i := range n {
		for _, v := range y.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("row %d of the matrix times a vector gives %g", i, v)
			}
		}
		largest = max(largest, math.Abs(y.At(i, 0)))
		uCv += x.At(i, 1) * y.At(i, 2)
		vCu += x.At(i, 2) * y.At(i, 1)
		size += math.Abs(x.At(i, 1)*y.At(i, 2)) + math.Abs(x.At(i, 2)*y.At(i, 1))
	}
	for i, v := range marg {
		if !(math.Abs(v-y.At(i, 0)) <= tol*largest) {
			return fmt.Errorf("row %d of the matrix sums to %g, but its marginal is %g", i, y.At(i, 0), v)
		}
	}
	if math.Abs(uCv-vCu) > tol*size {
		return fmt.Errorf("the matrix is %w: for two vectors uᵀCv = %g but vᵀCu = %g", cooc.ErrNotSymmetric, uCv, vCu)
	}
	return nil
}

// Evaluate measures a model against a corpus, normally the one it was fitted
// to: all the metrics of package metrics, against the unrectified C of the
// corpus with the Pipeline's MinTokens and Weighting. A model without anchors has no
// Recovery and no Basis measures. The corpus must hold the words of the
// model, by name (by number, where the model has no vocabulary and the corpus
// has as many words); its other words are left out.
func (p Pipeline) Evaluate(ctx context.Context, m *Model, c *corpus.Corpus) (*metrics.Report, error) {
	if m == nil || c == nil {
		return nil, errors.New("jsmf: evaluate: no model or no corpus")
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	words := make([]int, m.N())
	same := m.N() == c.NumWords()
	for i := range words {
		w, ok := i, same && (m.vocab == nil || m.Word(i) == c.Word(i))
		if !ok {
			w, ok = c.Index(m.Word(i))
		}
		if !ok {
			return nil, errorf("evaluate: the corpus lacks the model's word %q", m.Word(i))
		}
		words[i], same = w, same && w == i
	}
	if !same {
		var err error
		if c, err = c.Select(nil, words); err != nil {
			return nil, errorf("evaluate: %w", err)
		}
	}
	// As in the fit, documents too short for C are not counted anywhere.
	var docs []int
	for d := range c.NumDocs() {
		if c.DocLen(d) >= p.leastTokens() {
			docs = append(docs, d)
		}
	}
	if len(docs) < c.NumDocs() {
		var err error
		if c, err = c.Select(docs, nil); err != nil {
			return nil, errorf("evaluate: %w", err)
		}
	}
	C, err := cooc.NewWeighted(c, p.weighting, cooc.Options{MinTokens: p.minTokens, Workers: p.workers})
	if err != nil {
		return nil, errorf("evaluate: %w", err)
	}
	return p.evaluate(ctx, m, c, C, nil)
}

// EvaluatePrepared is Evaluate against a corpus that was prepared; it must have
// the words of the model, in their order.
func (p Pipeline) EvaluatePrepared(ctx context.Context, m *Model, d *Prepared) (*metrics.Report, error) {
	if m == nil || d == nil {
		return nil, errors.New("jsmf: evaluate: no model or nothing prepared")
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if m.N() != d.corpus.NumWords() {
		return nil, errorf("evaluate: a model of %d words against a corpus of %d", m.N(), d.corpus.NumWords())
	}
	for i := range m.N() {
		if m.vocab != nil && m.Word(i) != d.corpus.Word(i) {
			return nil, errorf("evaluate: word %d is %q in the model and %q in the corpus", i, m.Word(i), d.corpus.Word(i))
		}
	}
	return p.evaluate(ctx, m, d.corpus, d.c, nil)
}

// evaluate measures m; pairs are those of its top words, nil where they are not
// counted yet.
func (p Pipeline) evaluate(ctx context.Context, m *Model, c *corpus.Corpus, C *cooc.Moments, pairs *cooc.Pairs) (*metrics.Report, error) {
	b := m.denseTopics()
	if pairs == nil {
		var err error
		if pairs, err = cooc.CountPairs(ctx, c, metrics.TopUnion(b, 0), p.workers); err != nil {
			return nil, errorf("evaluate: %w", err)
		}
	}
	r, err := metrics.Evaluate(ctx, metrics.Factors{
		C: C, Breve: mat.NewDense(m.n, m.k, m.wordTopics), B: b, A: m.Correlations(), Anchors: m.Anchors(),
		Pairs: pairs, Workers: p.workers,
	})
	if err != nil {
		return nil, errorf("evaluate: %w", err)
	}
	return r, nil
}

func (p Pipeline) leastTokens() int64 {
	if p.minTokens == 0 {
		return cooc.DefaultMinTokens
	}
	return int64(max(p.minTokens, 2))
}

// maxNames is how many documents are named that were left out; of a corpus of
// very many short ones the names would fill the model file.
const maxNames = 1000

// prepare leaves out documents that are too short or of weight 0 and words that
// are then gone. weights, nil or one a document, are returned for those left.
func (p Pipeline) prepare(ctx context.Context, c *corpus.Corpus, weights []float64, st *CorpusStats) (*corpus.Corpus, []float64, error) {
	least := p.leastTokens()
	var docs []int
	var short, light []string
	var left []float64
	seen := make([]bool, c.NumWords())
	for m := range c.NumDocs() {
		if m%4096 == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if c.DocLen(m) < least {
			short = append(short, c.ID(m))
			continue
		}
		if weights != nil {
			if weights[m] == 0 {
				light = append(light, c.ID(m))
				continue
			}
			left = append(left, weights[m])
		}
		docs = append(docs, m)
		words, _ := c.Doc(m)
		for _, w := range words {
			seen[w] = true
		}
	}
	if len(docs) == 0 {
		return nil, nil, fmt.Errorf("%w (%d documents, at least %d tokens asked for)", cooc.ErrNoDocuments, c.NumDocs(), least)
	}
	var words []int
	var gone []string
	for w, ok := range seen {
		if ok {
			words = append(words, w)
		} else {
			gone = append(gone, c.Word(w))
		}
	}
	used := c
	if len(docs) < c.NumDocs() || len(gone) > 0 {
		if len(gone) == 0 {
			words = nil
		}
		var err error
		if used, err = c.Select(docs, words); err != nil {
			return nil, nil, err
		}
	}
	st.Documents, st.Words, st.Tokens, st.NNZ = used.NumDocs(), used.NumWords(), used.Tokens(), used.NNZ()
	for _, x := range []struct {
		reason string
		names  []string
	}{{"fewer than " + strconv.FormatInt(least, 10) + " tokens", short}, {"of weight 0", light}} {
		if len(x.names) == 0 {
			continue
		}
		d := Dropped{Reason: x.reason, Count: len(x.names)}
		if len(x.names) <= maxNames {
			d.Names = x.names
		}
		st.DroppedDocuments = append(st.DroppedDocuments, d)
	}
	if len(gone) > 0 {
		st.DroppedWords = []Dropped{{Reason: "in no document that is left", Count: len(gone), Names: gone}}
	}
	return used, left, nil
}

func (p Pipeline) warn(tr *tracker, st *Stats, message string) {
	st.Warnings = append(st.Warnings, message)
	tr.record(Event{Kind: EventWarning, Message: message})
}
