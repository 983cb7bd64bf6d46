package jsmf

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/spectrum"
	"github.com/jsmf-go/spectral/metrics"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// Fit learns a model. The simplest Input is a *corpus.Corpus.
//
// Under New all documents that have a word take part, and all words that occur in them.
// Published leaves out documents with fewer than 5 tokens, and words that occur in none of
// the others. Stats.Corpus names what was left out. The words of the Model are the words
// that remain, in the order of the documents' vocabulary.
//
// A co-occurrence matrix must sum to 1 (to 1e-6), and no row may sum to less than zero.
// Words with an empty row keep their number but are in no topic until passes put them there
// (Refine).
//
// The same input and settings give the same model to the bit on one type of CPU,
// whatever GOMAXPROCS and Workers. Errors: those of Validate, K > N,
// *MemoryLimitError, cooc.ErrNoDocuments, those of the stages, such as
// *anchor.RankError if the data has fewer than K dimensions, and ctx's. When ctx ends,
// each goroutine finishes its chunk of work; none is left when Fit returns.
func (p Pipeline) Fit(ctx context.Context, in Input) (*Model, error) {
	begun := time.Now()
	if err := p.Validate(); err != nil {
		return nil, err
	}
	tr := &tracker{recorders: p.recorders}
	pr, err := p.count(ctx, in, tr)
	if err != nil {
		return nil, err
	}
	return p.fit(ctx, pr, nil, tr, begun)
}

// run is the state of one pass through the stages. A warm start that is given up is a
// run of its own: only its events and the reason in Stats.Refit.Start remain.
type run struct {
	ask    Pipeline // the settings
	pr     *problem
	shared *spectrum.Shared // with other fits to the same matrix, or nil
	tr     *tracker
	st     Stats
	begun  time.Time

	before []int          // the word of the previous model for each row: see Pipeline.before
	start  *rectify.State // what the rectification starts from, or nil
	cold   string         // why there is no start, "" if none was asked for

	rect *rectify.Result
	rows cooc.Rows // of rect.C
	find anchor.Options
	anch *anchor.Result
	rec  *recovery.Result

	topics int    // of the spectral solution
	misfit string // why the warm start is given up, "" if it is not
}

// fit runs the stages from the matrix on.
func (p Pipeline) fit(ctx context.Context, pr *problem, shared *spectrum.Shared, tr *tracker, begun time.Time) (*Model, error) {
	before, err := p.before(pr)
	if err != nil {
		return nil, wrap(err)
	}
	start, cold := p.start(before)
	for {
		r := &run{ask: p, pr: pr, shared: shared, tr: tr, st: pr.stats.clone(), begun: begun, before: before, start: start, cold: cold, topics: p.startTopics(pr.c.Dim())}
		m, err := r.model(ctx)
		if err != nil || r.misfit == "" {
			return m, err
		}
		start, cold = nil, r.misfit // a cold start has none
	}
}

// model runs the stages. It returns nil if r.misfit asks for a cold start.
func (r *run) model(ctx context.Context) (*Model, error) {
	if err := r.rectify(ctx); err != nil {
		return nil, wrap(err)
	}
	if r.ask.learner != nil {
		return r.learn(ctx)
	}
	if err := r.findAnchors(ctx); err != nil {
		return nil, wrap(err)
	}
	if err := r.recover(ctx); err != nil {
		return nil, wrap(err)
	}
	if r.misfit != "" {
		return nil, nil
	}
	return r.anchored(ctx)
}

func (r *run) warn(format string, args ...any) {
	r.tr.warn(&r.st, format, args...)
}

// rectify sets r.rect.
func (r *run) rectify(ctx context.Context) (err error) {
	p, c, st := r.ask, r.pr.c, &r.st.Rectify
	_, limit := p.estimate(r.pr.size)
	st.Duration, err = r.tr.run(StageRectify, p.rectifier.String(), func() (string, error) {
		res, err := p.rectifier.Rectify(ctx, c, r.topics, rectify.Options{
			Workers: p.workers, Seed: p.seed, MemoryLimit: limit, Keep: p.resumable, From: r.start, Shared: r.shared,
			Progress: func(done, total int, change float64) { r.tr.progress(done, total, "change", change) },
		})
		if err != nil {
			return "", err
		}
		if res == nil || res.C == nil || res.C.Dim() != c.Dim() {
			return "", fmt.Errorf("%v returned no matrix of %d rows", p.rectifier, c.Dim())
		}
		if res.Warm && r.start == nil {
			return "", fmt.Errorf("%v says that it started from a state, and there was none", p.rectifier)
		}
		r.rect = res
		return fmt.Sprintf("%d iterations, %v", res.Iterations, res.Status), nil
	})
	if err != nil {
		return err
	}
	res := r.rect
	st.Method, st.Reason = cmp.Or(res.Method, p.rectifier.String()), res.Reason
	st.Iterations, st.Status = res.Iterations, res.Status.String()
	st.Changes, st.Eigenvalues, st.NNZ = res.Changes, res.Eigenvalues, res.Nonzeros
	st.Shift, st.Products = res.Shift, res.Products
	st.Passes, st.Clipped = res.Passes, res.Clipped
	if res.Clipped > r.topics-p.k {
		r.warn("%d of the %d largest eigenpairs are not positive and were left out: more passes or a wider block may find better ones, or the data has fewer topics", res.Clipped, r.topics)
	}
	if p.from != nil {
		if r.st.Refit.Start = r.startedBy(res); res.Warm {
			r.st.Refit.ColdSum = p.from.coldSum()
		}
	}
	return nil
}

// anchored makes the model of r.anch and r.rec.
func (r *run) anchored(ctx context.Context) (*Model, error) {
	anch, rec, pr := r.anch, r.rec, r.pr
	r.describeAnchors()
	anchors := slices.Clone(anch.Anchors)
	for t, w := range anchors {
		anchors[t] = pr.word(w)
	}
	groups := cloneGroups(anch.Groups)
	for _, group := range groups {
		for i, w := range group {
			group[i] = pr.word(w)
		}
	}
	parts := modelParts{
		Vocabulary: pr.info.Vocabulary, Topics: pr.expand(rec.B), WordTopics: pr.expand(rec.Breve), Correlations: rec.A,
		Anchors: anchors, AnchorGroups: groups, Marginals: pr.expandMarginals(rec.Marginals, r.rows.Marginals()),
	}
	state := r.rect.State
	r.rect, r.rows, r.rec = nil, nil, nil // room for what follows
	return r.finish(ctx, parts, state, r.ask.finder.String(), r.ask.recoverer.String())
}

// describeAnchors fills in the statistics of anchors and topics.
func (r *run) describeAnchors() {
	anch, rec := r.anch, r.rec
	a, st := &r.st.Anchors, &r.st.Recover
	a.Method, a.Requested, a.K = r.ask.finder.String(), r.ask.k, len(anch.Anchors)
	a.Candidates, a.Norms = anch.Candidates, anch.Norms
	st.Method, st.Solved = r.ask.recoverer.String(), rec.Words
	st.MeanIterations, st.MaxIterations, st.MaxGap = rec.MeanIterations, rec.MaxIterations, rec.MaxGap
	st.MeanObjective = rec.Objective
	if r.pr.keep != nil { // the words that are in no topic count as 0
		st.MeanObjective *= float64(len(r.pr.keep)) / float64(r.pr.n)
	}
	for _, v := range rec.Residuals {
		st.MeanResidual += v / float64(r.pr.n)
		st.MaxResidual = max(st.MaxResidual, v)
	}
	st.Converged, st.Limited, st.Stalled = rec.Words-rec.Limited-rec.Stalled, rec.Limited, rec.Stalled
}

// finish refines the parts if that was asked for, and makes a Model of them. state is
// that of the rectification, and methods are those of the stages after it.
func (r *run) finish(ctx context.Context, parts modelParts, state *rectify.State, methods ...string) (*Model, error) {
	p := r.ask
	stages := append([]string{r.st.Rectify.Method}, methods...)
	var of []int // the topic of the start that each topic was
	if p.refiner != nil {
		stages = append(stages, p.refiner.String())
		x, err := r.refine(ctx, parts.Topics, parts.Correlations)
		if err != nil {
			return nil, wrap(err)
		}
		if x.From != nil {
			parts.Anchors, parts.AnchorGroups = permuted(parts.Anchors, x.From), permuted(parts.AnchorGroups, x.From)
			r.st.Anchors.Norms = permuted(r.st.Anchors.Norms, x.From)
		}
		parts.Topics, parts.WordTopics, parts.Correlations, parts.Alpha = x.B, x.Breve, x.A, x.Alpha
		parts.Reading = x.Reading
		begun := time.Now()
		parts.markBackground(r.pr.info)
		took := time.Since(begun)
		r.st.Refine.Reading += took
		r.st.Refine.Duration += took
		of = x.From
	}
	usable := infer.Topics{B: parts.Topics, A: parts.Correlations, Breve: parts.WordTopics, Alpha: parts.Alpha}
	if err := usable.Validate(); err != nil {
		r.warn("the model cannot infer the topics of documents: %v", err)
	}
	parts.Text, parts.Stats, parts.Provenance = r.pr.info.Text, r.st, newProvenance(linalg.KernelName(), p.seed, stages)
	if state != nil {
		all := *state
		all.Vectors, all.Product = r.pr.expand(state.Vectors), r.pr.expand(state.Product)
		parts.State = &all
	}
	m, err := newModel(parts)
	if err != nil {
		return nil, wrap(err)
	}
	if !slices.IsSorted(of) {
		m = m.reordered(ascending(of))
	}
	if p.from != nil {
		if m, err = m.follow(ctx, p.from, p.workers); err != nil {
			return nil, wrap(err)
		}
	}
	if err := r.warnDead(ctx, m); err != nil {
		return nil, wrap(err)
	}
	m.stats.Total = time.Since(r.begun)
	return m, nil
}

// warnDead names the topics that the model would not miss. Those with the same function words
// are not alike: it looks at the words by which people recognise topics.
func (r *run) warnDead(ctx context.Context, m *Model) error {
	dead, err := metrics.DeadTopics(ctx, m.readingWeights(), m.TopicShares(), r.ask.workers)
	if err != nil || len(dead) == 0 {
		return err
	}
	which := make([]string, len(dead))
	for i, d := range dead {
		if which[i] = fmt.Sprintf("%d (%s) has a share of %.2g", d.Topic, m.Name(d.Topic), d.Share); d.Twin >= 0 {
			which[i] = fmt.Sprintf("%d (%s) is nearly the same as %d (cosine %.2f)", d.Topic, m.Name(d.Topic), d.Twin, d.Cosine)
		}
	}
	r.tr.warn(&m.stats, "fewer topics would do: topic %s", strings.Join(which, ", "))
	return nil
}
