package jsmf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/console"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/metrics"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// Fit learns a model. The simplest Input is a [*corpus.Corpus].
//
// Under New all documents that have a word take part, and all words that occur in them. Published
// leaves out documents with fewer than 5 tokens, and words that occur in none of the others.
// Stats.Corpus names what was left out. The words of the Model are the words that remain, in the
// order of the documents' vocabulary.
//
// A co-occurrence matrix must sum to 1 (to 1e-6), and no row may sum to less than zero. Words with
// an empty row keep their number but are in no topic until passes put them there (Refine).
//
// The same input and settings give the same model to the bit on every CPU, whatever
// GOMAXPROCS and Workers. Errors: those of Validate, K > N, [*MemoryLimitError],
// [cooc.ErrNoDocuments], those of the stages, such as [*anchor.RankError] if the data has fewer
// dimensions than the spectral solution has topics, or that of [refine.Passes] if topics cannot be
// split into K, and ctx's. When ctx ends, each goroutine finishes its chunk of work; none is
// left when Fit returns.
func (p Pipeline) Fit(ctx context.Context, in Input) (*Model, error) {
	begun := time.Now()
	if err := p.validate(); err != nil {
		return nil, err
	}
	tr := &tracker{recorders: p.recorders}
	pr, err := p.count(ctx, in, tr)
	if err != nil {
		return nil, err
	}
	return p.fit(ctx, pr, tr, begun)
}

// run is the state of one pass through the stages.
type run struct {
	ask   Pipeline // the settings
	pr    *problem
	tr    *tracker
	st    Stats
	begun time.Time

	before []int // the word of the previous model for each word: see Pipeline.before
	as     []int // the topic of the previous model that each topic began as, −1: none; nil: it is matched

	rect *rectify.Result
	rows cooc.Rows // of rect.C
	find anchor.Options
	anch *anchor.Result
	rec  *recovery.Result

	topics int      // of the spectral solution
	seeds  *seeding // nil without Pipeline.Seeds
}

// fit runs the stages from the matrix on.
func (p Pipeline) fit(ctx context.Context, pr *problem, tr *tracker, begun time.Time) (*Model, error) {
	before, err := p.before(pr)
	if err != nil {
		return nil, wrap(err)
	}
	if docs := pr.info.Documents; docs > 0 && p.k > max(2, docs/wellCarried) {
		tr.warn(&pr.stats, "%d topics of %d documents are many%s", p.k, docs, advice(docs))
	}
	r := &run{ask: p, pr: pr, tr: tr, st: pr.stats.clone(), begun: begun, before: before, topics: p.startTopics(pr.c.Dim(), pr.size.nnz)}
	if err := r.rectify(ctx); err != nil {
		return nil, wrap(err)
	}
	if p.carries() && p.seeds == nil {
		r.ask.seeds = p.from.asked(p.parts)
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
	return r.anchored(ctx)
}

func (r *run) warn(format string, args ...any) {
	r.tr.warn(&r.st, format, args...)
}

// rectify sets r.rect.
func (r *run) rectify(ctx context.Context) error {
	p, c := r.ask, r.pr.c
	_, limit := p.estimate(r.pr.size)
	err := r.tr.run(&r.st, StageRectify, p.rectifier.String(), func() (string, error) {
		res, err := p.rectifier.Rectify(ctx, c, r.topics, rectify.Options{
			Workers: p.workers, Seed: p.seed, MemoryLimit: limit,
			Progress: func(done, total int, change float64) { r.tr.progress(done, total, "change", change) },
		})
		if err != nil {
			return "", err
		}
		if res == nil || res.C == nil || res.C.Dim() != c.Dim() {
			return "", fmt.Errorf("%v returned no matrix of %d rows", p.rectifier, c.Dim())
		}
		r.rect = res
		return fmt.Sprintf("%d iterations, %v", res.Iterations, res.Status), nil
	})
	if err != nil {
		return err
	}
	res := r.rect
	st := &r.st.Rectify
	*st = res.Stats
	st.Method = cmp.Or(st.Method, p.rectifier.String())
	if res.Clipped > max(0, r.topics-p.k) {
		r.warn("%d of the %d largest eigenpairs are not positive and were left out: more passes or a wider block may find better ones, or the data has fewer topics", res.Clipped, r.topics)
	}
	return nil
}

// anchored makes the model of r.anch and r.rec.
func (r *run) anchored(ctx context.Context) (*Model, error) {
	r.describeAnchors()
	m := &Model{anchors: slices.Clone(r.anch.Anchors), groups: cloneGroups(r.anch.Groups)}
	for _, words := range append(m.groups, m.anchors) {
		for i, w := range words {
			words[i] = r.pr.word(w)
		}
	}
	rec, given := r.rec, r.rows.Marginals()
	r.rows, r.rec = nil, nil
	return r.finish(ctx, m, factors{rec.B, rec.WordTopics, rec.A, rec.Marginals, given}, r.ask.finder.String(), r.ask.recoverer.String())
}

// factors are what a spectral solution has found for the words of r.pr.c.
type factors struct {
	b, wordTopics, a *mat.Dense
	marginals, given []float64 // by the method, nil if it returned none, and those of the matrix
}

// describeAnchors fills in the statistics of anchors and topics.
func (r *run) describeAnchors() {
	a, st := &r.st.Anchors, &r.st.Recover
	*a = r.anch.Stats
	a.Method, a.Requested, a.K = cmp.Or(a.Method, r.ask.finder.String()), r.ask.k, len(r.anch.Anchors)
	*st = r.rec.Stats
	st.Method = cmp.Or(st.Method, r.ask.recoverer.String())
	if pr := r.pr; pr.keep != nil { // the words that are in no topic count as 0
		part := float64(len(pr.keep)) / float64(pr.n)
		st.Objective *= part
		st.MeanResidual *= part
	}
}

// finish makes m, which has its anchors, the model of a spectral solution by these methods, refines
// it if that was asked for, and makes it ready for use.
func (r *run) finish(ctx context.Context, m *Model, f factors, methods ...string) (*Model, error) {
	p, pr := r.ask, r.pr
	m.vocab, m.marginals = pr.info.Vocabulary, pr.expandMarginals(f.marginals, f.given)
	if err := m.setFactors(pr.expand(f.b), pr.expand(f.wordTopics), f.a); err != nil {
		return nil, wrap(err)
	}
	r.rect = nil // room for what follows
	stages := append([]string{r.st.Rectify.Method}, methods...)
	var of []int // the topic of the start that each topic was
	if p.refiner != nil {
		stages = append(stages, p.refiner.String())
		x, err := r.refine(ctx, m.denseTopics(), mat.NewDense(m.k, m.k, m.corr))
		if err != nil {
			return nil, wrap(err)
		}
		if x.From != nil && p.seeds == nil {
			m.anchors, m.groups = permuted(m.anchors, x.From), permuted(m.groups, x.From)
			r.st.Anchors.Norms = permuted(r.st.Anchors.Norms, x.From)
		}
		if x.Tree != nil || p.seeds != nil || r.as != nil {
			m.anchors, m.groups, r.st.Anchors.Norms = nil, nil, nil
		}
		if err := m.setRefined(x); err != nil {
			return nil, wrap(err)
		}
		begun := time.Now()
		m.markBackground(r.pr.info, x.Alone)
		took := time.Since(begun)
		r.st.Refine.LastRead += took
		r.st.took(StageRefine, took)
		of = x.From
	}
	if err := m.inferTopics().Validate(); err != nil {
		r.warn("the model cannot infer the topics of documents: %v", err)
	}
	m.stats, m.prov = r.st, newProvenance(p.seed, stages, r.pr.info.Text)
	m, err := newModel(m)
	if err != nil {
		return nil, wrap(err)
	}
	if !slices.IsSorted(of) {
		m = m.reordered(ascending(of))
	}
	if r.seeds != nil {
		if err := r.seeds.judge(ctx, m); err != nil {
			return nil, err
		}
		for _, s := range m.stats.Seeds {
			if s.Doubt != "" {
				r.tr.warn(&m.stats, "seeds of topic %d, which is not called %.40q: %s", s.Topic, s.Name, s.Doubt)
			}
		}
	}
	if p.from != nil {
		if m, err = m.follow(ctx, p.from, r.as, p.workers); err != nil {
			return nil, wrap(err)
		}
	}
	if err := r.warnDead(ctx, m); err != nil {
		return nil, wrap(err)
	}
	m.stats.Total = time.Since(r.begun)
	return m, nil
}

// warnDead names the topics that the model would not miss.
func (r *run) warnDead(ctx context.Context, m *Model) error {
	dead, err := metrics.DeadTopics(ctx, m.denseTopics(), m.TopicShares(), r.ask.workers)
	if err != nil || len(dead) == 0 {
		return err
	}
	which := make([]string, len(dead))
	for i, d := range dead {
		if which[i] = fmt.Sprintf("%d (%s) has a share of %.2g", d.Topic, m.Name(d.Topic), d.Share); d.Twin >= 0 {
			which[i] = fmt.Sprintf("%d (%s) is of the same subject as %d (cosine %.2f)", d.Topic, m.Name(d.Topic), d.Twin, d.Cosine)
		}
	}
	r.tr.warn(&m.stats, "fewer topics would do: topic %s", strings.Join(which, ", "))
	return nil
}

// learn runs StageTopics, and makes the model.
func (r *run) learn(ctx context.Context) (*Model, error) {
	var res *anchorfree.Result
	c, pr, method := r.rect.C, r.pr, r.ask.learner.String()
	err := r.tr.run(&r.st, StageTopics, method, func() (_ string, err error) {
		res, err = r.ask.learner.Learn(ctx, c, r.ask.k, anchorfree.Options{Workers: r.ask.workers, Progress: func(done, total int, v float64) {
			r.tr.progress(done, total, "value", v)
		}})
		if err != nil {
			if e, ok := errors.AsType[*anchorfree.InfeasibleError](err); ok && pr.info.Vocabulary != nil {
				err = fmt.Errorf("%w (%q)", err, pr.name(e.Word))
			}
			return "", err
		}
		if res == nil || res.B == nil || res.WordTopics == nil || res.A == nil {
			return "", fmt.Errorf("%s returned no model", method)
		}
		r.st.Sum = linalg.Sum(res.A)
		if !(misfit(r.st.Sum) <= noFit) {
			r.warn("the topic correlations sum to %.4g and not to about 1: the model does not fit", r.st.Sum)
		}
		if res.Limited {
			r.warn("%s stopped at its iteration limit", method)
		}
		if res.Negative > 1e-6 {
			r.warn("%d probabilities of words were below zero, by %.2g in sum in the worst topic, and were set to 0", res.Clipped, res.Negative)
		}
		if res.NegativeShares > 0 {
			r.warn("%d topics have a share below zero; p(topic | word) is 0 for them", res.NegativeShares)
		}
		return fmt.Sprintf("%d iterations", res.Iterations), nil
	})
	if err != nil {
		return nil, wrap(err)
	}
	r.st.AnchorFree = res.Stats
	r.st.AnchorFree.Method = cmp.Or(res.Method, method)
	return r.finish(ctx, new(Model), factors{res.B, res.WordTopics, res.A, res.Marginals, c.Marginals()}, method)
}

// refine runs StageRefine on the topics of all words.
func (r *run) refine(ctx context.Context, b, a *mat.Dense) (x *refine.Result, err error) {
	err = r.tr.run(&r.st, StageRefine, r.ask.refiner.String(), func() (string, error) {
		if r.ask.seeds != nil {
			if r.seeds, err = r.seed(ctx); err != nil {
				return "", err
			}
		}
		switch o := (refine.Options{K: r.ask.k}); {
		case r.ask.carries():
			x, err = r.carry(ctx, b)
		case r.seeds != nil:
			o.Seeds = r.seeds.words
			x, err = r.pass(ctx, withFree(r.seeds.b, b, o.K), nil, o)
		default:
			if _, start := b.Dims(); r.topics == o.K || r.topics > o.K && start < o.K {
				o.K = start // fewer were found
			}
			x, err = r.pass(ctx, b, a, o)
		}
		if err != nil {
			return "", err
		}
		out := fmt.Sprintf("%d passes, %s", x.Passes, x.Status())
		if h := x.History; len(h) > 0 {
			out += ", log-likelihood " + console.Number("%.4f", h[len(h)-1].LogLik) + " a token"
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	r.st.Refine = x.Stats
	r.st.Refine.Method = cmp.Or(x.Method, r.ask.refiner.String())
	return x, nil
}

// pass runs the refiner from topics b with correlations a.
func (r *run) pass(ctx context.Context, b, a *mat.Dense, o refine.Options) (*refine.Result, error) {
	o.Function, o.Workers = r.pr.function, r.ask.workers
	o.Progress = func(done, total int, loglik float64) { r.tr.progress(done, total, "loglik", loglik) }
	x, err := r.ask.refiner.Refine(ctx, r.pr.info.Source, refine.Start{B: b, A: a}, o)
	if err != nil {
		return nil, err
	}
	if x == nil || x.B == nil || x.A == nil {
		return nil, fmt.Errorf("%v returned no model", r.ask.refiner)
	}
	n, start := b.Dims()
	if rows, cols := x.B.Dims(); rows != n || cols != o.K {
		return nil, fmt.Errorf("%v returned topics of %d×%d instead of %d×%d", r.ask.refiner, rows, cols, n, o.K)
	}
	if x.Tree != nil {
		x.From = nil
	} else if err := checkFrom(x.From, o.K, start); err != nil {
		return nil, fmt.Errorf("%v: %w", r.ask.refiner, err)
	}
	return x, nil
}

// checkFrom checks that each of the k topics that a refiner made is of another topic of the start.
func checkFrom(of []int, k, start int) error {
	if of == nil && k == start {
		return nil // each is of its own
	}
	if len(of) != k {
		return fmt.Errorf("Result.From has %d numbers for %d topics of a start with %d", len(of), k, start)
	}
	if err := distinct(of, start); err != nil {
		return fmt.Errorf("Result.From: %w", err)
	}
	return nil
}
