package jsmf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/spectrum"
	"github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// problem is what the stages from C on work on.
type problem struct {
	c     cooc.Matrix
	vocab []string       // of all words, or nil
	keep  []int          // the numbers of the words of c among all n; nil: all
	n     int            // used with keep only
	docs  corpus.Source  // the documents behind c, or nil
	state *rectify.State // of the rectification of c, or nil
	size  size           // for estimates of memory

	shared *spectrum.Shared // by fits to the same c, or nil
}

// word returns the number among all words of word i of c.
func (p *problem) word(i int) int {
	if p.keep == nil || i < 0 || i >= len(p.keep) {
		return i
	}
	return p.keep[i]
}

// names returns the words of c: those of the vocabulary, or, where some words
// take no part and there is no vocabulary, their numbers.
func (p *problem) names() []string {
	if p.keep == nil {
		return p.vocab
	}
	names := make([]string, len(p.keep))
	for i, w := range p.keep {
		if p.vocab != nil {
			names[i] = p.vocab[w]
		} else {
			names[i] = strconv.Itoa(w)
		}
	}
	return names
}

// name returns word i of c, or its number where there is no vocabulary.
func (p *problem) name(i int) string {
	if p.vocab != nil {
		return p.vocab[p.word(i)]
	}
	return strconv.Itoa(p.word(i))
}

// expand returns a matrix of a row for each word of c with zero rows added for
// the others.
func (p *problem) expand(a *mat.Dense) *mat.Dense {
	if p.keep == nil {
		return a
	}
	_, k := a.Dims()
	all := mat.NewDense(p.n, k, nil)
	for i, w := range p.keep {
		all.SetRow(w, a.RawRowView(i))
	}
	return all
}

// expandMarginals returns those that a method has left, or else the given ones, with
// zeros for the words that c does not have.
func (p *problem) expandMarginals(left, given []float64) []float64 {
	if left == nil { // a method of the caller's own
		left = given
	}
	left = slices.Clone(left)
	if p.keep == nil {
		return left
	}
	return p.expand(mat.NewDense(len(left), 1, left)).RawMatrix().Data
}

// fitting is a fit at work: what the stages from C on are given, and what they have
// come to.
type fitting struct {
	Pipeline
	pr    problem
	tr    *tracker
	st    Stats
	begun time.Time

	before []int  // the word of the model before for each row: see Pipeline.before
	anew   string // why the fit is to begin from nothing after all

	rect *rectify.Result
	rows cooc.Rows // of rect.C
	find anchor.Options
	anch *anchor.Result
	rec  *recovery.Result
}

// fit runs the stages from C on.
func (p Pipeline) fit(ctx context.Context, pr problem, tr *tracker, st Stats, begun time.Time) (*Model, error) {
	f := &fitting{Pipeline: p, pr: pr, tr: tr, st: st, begun: begun}
	f.st.Warnings = slices.Clip(st.Warnings) // st is wanted again for a second start
	var err error
	if f.before, err = p.before(&pr); err != nil {
		return nil, wrap(err)
	}
	if err := f.rectify(ctx); err != nil {
		return nil, wrap(err)
	}
	if p.learner != nil {
		return f.learn(ctx)
	}
	if err := f.findAnchors(ctx); err != nil {
		return nil, wrap(err)
	}
	if err := f.recover(ctx); err != nil {
		return nil, wrap(err)
	}
	if f.anew != "" {
		p.cold = f.anew
		return p.fit(ctx, pr, tr, st, begun)
	}
	return f.anchored(ctx)
}

func (f *fitting) warn(format string, args ...any) {
	f.Pipeline.warn(f.tr, &f.st, fmt.Sprintf(format, args...))
}

// rectify makes f.rect.
func (f *fitting) rectify(ctx context.Context) (err error) {
	start, cold := f.start(f.before)
	_, limit := f.estimate(f.pr.size)
	c, st := f.pr.c, &f.st.Rectify
	st.Duration, err = f.tr.run(StageRectify, f.rectifier.String(), func() (string, error) {
		res, err := f.rectifier.Rectify(ctx, c, f.k, rectify.Options{
			Workers: f.workers, Seed: f.seed, MemoryLimit: limit, Keep: f.resumable, From: start, Shared: f.pr.shared,
			Progress: func(done, total int, change float64) { f.tr.progress(done, total, "change", change) },
		})
		if err != nil {
			return "", err
		}
		if res == nil || res.C == nil || res.C.Dim() != c.Dim() {
			return "", fmt.Errorf("%v returned no matrix of %d rows", f.rectifier, c.Dim())
		}
		if res.Warm && start == nil {
			return "", fmt.Errorf("%v says that it started from a state, and there was none", f.rectifier)
		}
		f.rect = res
		return fmt.Sprintf("%d iterations, %v", res.Iterations, res.Status), nil
	})
	if err != nil {
		return err
	}
	res := f.rect
	st.Method, st.Reason = cmp.Or(res.Method, f.rectifier.String()), res.Reason
	st.Iterations, st.Status = res.Iterations, res.Status.String()
	st.Changes, st.Eigenvalues, st.NNZ = res.Changes, res.Eigenvalues, res.Nonzeros
	st.Shift, st.Products = res.Shift, res.Products
	st.Passes, st.Clipped = res.Passes, res.Clipped
	if res.Clipped > 0 {
		f.warn("%d of the %d largest eigenpairs are not positive and were left out: more passes or a wider block may find better ones, or the data has fewer topics", res.Clipped, f.k)
	}
	if f.from != nil {
		f.st.Refit.Start = startedBy(res, start, cold, f.rectifier)
	}
	f.pr.state = res.State
	return nil
}

// findAnchors makes f.rows and f.anch.
func (f *fitting) findAnchors(ctx context.Context) (err error) {
	f.find = anchor.Options{
		Workers: f.workers, Seed: f.seed, Vocabulary: f.pr.names(), Numbers: f.pr.keep,
		Prefer: f.prefer(f.before), PreferTol: anchorHysteresis,
		Progress: func(done, total int, norm float64) { f.tr.progress(done, total, "norm", norm) },
	}
	if m, ok := f.pr.c.(interface{ DocFrequencies() []int }); ok {
		f.find.DocFrequencies = m.DocFrequencies()
	}
	switch m := f.pr.c.(type) {
	case interface{ Docs() int }:
		f.find.Docs = m.Docs()
	case interface{ Docs() int64 }:
		f.find.Docs = int(m.Docs())
	}
	f.st.Anchors.Duration, err = f.tr.run(StageAnchors, f.finder.String(), func() (string, error) {
		rows, err := cooc.NewRowsContext(ctx, f.rect.C, f.workers)
		if err != nil {
			return "", err
		}
		anch, err := f.finder.Find(ctx, rows, f.k, f.find)
		if err != nil {
			return "", err
		}
		if anch == nil || len(anch.Anchors) < 2 {
			return "", fmt.Errorf("%v found fewer than the 2 anchors a model needs", f.finder)
		}
		if anch.ChoseK {
			if len(anch.Anchors) > f.k {
				f.warn("%d topics, as many as %v found anchors; the matrix was rectified for %d", len(anch.Anchors), f.finder, f.k)
			}
		} else if len(anch.Anchors) < f.k {
			f.warn("%d topics instead of the %d asked for: the data has no more", len(anch.Anchors), f.k)
		}
		f.rows, f.anch = rows, anch
		return fmt.Sprintf("%d anchors of %d candidates", len(anch.Anchors), anch.Candidates), nil
	})
	return err
}

// recover makes f.rec, and sets f.anew where a warm start has led to what does not fit.
func (f *fitting) recover(ctx context.Context) (err error) {
	f.st.Recover.Duration, err = f.tr.run(StageRecover, f.recoverer.String(), func() (string, error) {
		rec, err := f.recoverFrom(ctx, f.anch)
		if err != nil {
			return "", err
		}
		if len(f.find.Prefer) > 0 && misfit(mat.Sum(rec.A)) > maxMisfit {
			if rec, err = f.recoverAfresh(ctx, rec); err != nil {
				return "", err
			}
		}
		if before := mat.Sum(rec.A); !(misfit(before) <= mostMisfit) {
			if rec, err = f.replace(ctx, rec); err != nil {
				return "", err
			}
			if names := f.st.Anchors.Replaced; len(names) > 0 {
				f.warn("the topic correlations summed to %.4g and not to about 1; they sum to %.4g with other anchors in place of %d (Stats.Anchors.Replaced), such as %q", before, mat.Sum(rec.A), len(names), names[0])
			}
		}
		f.rec = rec
		sum := mat.Sum(rec.A)
		if f.rect.Warm {
			f.st.Refit.ColdSum = f.from.coldSum()
			if misfit(sum) > misfit(f.st.Refit.ColdSum)+maxMisfit {
				f.anew = fmt.Sprintf("the sum of A came to %.4g, and was %.4g when a model was last fitted from nothing", sum, f.st.Refit.ColdSum)
				return f.anew, nil
			}
		}
		if !(misfit(sum) <= mostMisfit) {
			f.warn("the topic correlations sum to %.4g and not to about 1: the model does not fit; anchors that are in very few documents do that, which anchor.QR's MinDocs or a smaller vocabulary prevents", sum)
		}
		if rec.Limited > 0 {
			f.warn("the solver hit its iteration limit for %d of %d words; the largest gap to the optimum is %.2g", rec.Limited, rec.Words, rec.MaxGap)
		}
		for _, w := range rec.Warnings {
			f.warn("%s", w)
		}
		return fmt.Sprintf("%d words, mean objective %.4g", rec.Words, rec.Objective), nil
	})
	return err
}

func (f *fitting) recoverFrom(ctx context.Context, anch *anchor.Result) (*recovery.Result, error) {
	rec, err := f.recoverer.Recover(ctx, f.rows, anch.Anchors, recovery.Options{Workers: f.workers, Points: anch.Points, Progress: func(done, total int) {
		f.tr.progress(done, total, "", 0)
	}})
	if err != nil {
		var ae *recovery.AnchorError
		if vocab := f.pr.vocab; errors.As(err, &ae) && vocab != nil && f.pr.word(ae.Word) >= 0 && f.pr.word(ae.Word) < len(vocab) {
			err = fmt.Errorf("%w (%q)", err, vocab[f.pr.word(ae.Word)])
		}
		return nil, err
	}
	if rec == nil || rec.B == nil || rec.Breve == nil || rec.A == nil {
		return nil, fmt.Errorf("%v returned no model", f.recoverer)
	}
	return rec, nil
}

// recoverAfresh finds anchors without the model before, for words that were good
// anchors need not be so for ever, and takes them if they fit better than rec.
func (f *fitting) recoverAfresh(ctx context.Context, rec *recovery.Result) (*recovery.Result, error) {
	opt := f.find
	opt.Prefer, opt.Progress = nil, nil
	fresh, err := f.finder.Find(ctx, f.rows, f.k, opt)
	if err != nil {
		return nil, err
	}
	if slices.Equal(fresh.Anchors, f.anch.Anchors) {
		return rec, nil
	}
	again, err := f.recoverFrom(ctx, fresh)
	if err != nil {
		return nil, err
	}
	if misfit(mat.Sum(again.A)) < misfit(mat.Sum(rec.A)) {
		f.anch, rec, f.find.Prefer = fresh, again, nil
	}
	return rec, nil
}

// replace takes other anchors in place of those that do not fit, if there are any
// with which the sum of A is nearer to 1: see Pipeline.ReplaceAnchors.
func (f *fitting) replace(ctx context.Context, rec *recovery.Result) (*recovery.Result, error) {
	opt, given := f.find, f.anch
	opt.Progress = nil
	best := rec
	anch := given
	barred := make([]bool, f.pr.c.Dim())
	for range f.rounds {
		bad := f.misfits(anch, rec)
		if len(bad) == 0 {
			break
		}
		most := -1 // documents of a word given up
		for _, w := range bad {
			barred[w] = true
			if df := opt.DocFrequencies; df != nil {
				most = max(most, df[w])
			}
		}
		for w, df := range opt.DocFrequencies {
			barred[w] = barred[w] || df <= most
		}
		opt.Exclude = nil
		for w, out := range barred {
			if out {
				opt.Exclude = append(opt.Exclude, w)
			}
		}
		next, err := f.finder.Find(ctx, f.rows, f.k, opt)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || next == nil || len(next.Anchors) != len(given.Anchors) || slices.Equal(next.Anchors, anch.Anchors) {
			break // there are no others, or it is a finder that cannot do without a word
		}
		anch = next
		if rec, err = f.recoverFrom(ctx, anch); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			break
		}
		if misfit(mat.Sum(rec.A)) < misfit(mat.Sum(best.A)) {
			f.anch, best = anch, rec
		}
		if misfit(mat.Sum(best.A)) <= mostMisfit {
			break
		}
	}
	if f.anch == given {
		return best, nil
	}
	for _, w := range given.Anchors {
		if !slices.Contains(f.anch.Anchors, w) && barred[w] {
			f.st.Anchors.Replaced = append(f.st.Anchors.Replaced, f.pr.name(w))
		}
	}
	return best, nil
}

// misfits returns the anchors of the topics whose row of A sums to a share that is
// far from p(topic) by B̆ and the words' own.
func (f *fitting) misfits(anch *anchor.Result, rec *recovery.Result) []int {
	marg := rec.Marginals
	if marg == nil { // a recovery of the caller's own
		marg = f.rows.Marginals()
	}
	n, k := rec.Breve.Dims()
	share := make([]float64, k)
	for i := range n {
		floats.AddScaled(share, marg[i], rec.Breve.RawRowView(i))
	}
	var bad []int
	for t, w := range anch.Anchors {
		if !(misfit(floats.Sum(rec.A.RawRowView(t))/share[t]) <= mostMisfit) {
			bad = append(bad, w)
		}
	}
	return bad
}

// anchored makes the model of f.anch and f.rec.
func (f *fitting) anchored(ctx context.Context) (*Model, error) {
	anch, rec, pr, st := f.anch, f.rec, &f.pr, &f.st
	st.Anchors.Method, st.Anchors.Requested, st.Anchors.K = f.finder.String(), f.k, len(anch.Anchors)
	st.Anchors.Candidates, st.Anchors.Norms = anch.Candidates, anch.Norms
	r := &st.Recover
	r.Method, r.Solved, r.MeanObjective = f.recoverer.String(), rec.Words, rec.Objective
	r.MeanIterations, r.MaxIterations, r.MaxGap = rec.MeanIterations, rec.MaxIterations, rec.MaxGap
	all := pr.c.Dim() // the words that are in no topic count as 0
	if pr.keep != nil {
		all = pr.n
		r.MeanObjective *= float64(pr.c.Dim()) / float64(all)
	}
	for _, v := range rec.Residuals {
		r.MeanResidual += v / float64(all)
		r.MaxResidual = max(r.MaxResidual, v)
	}
	r.Converged, r.Limited, r.Stalled = rec.Words-rec.Limited-rec.Stalled, rec.Limited, rec.Stalled
	anchors := slices.Clone(anch.Anchors)
	groups := cloneGroups(anch.Groups)
	for _, group := range groups {
		for i, w := range group {
			group[i] = pr.word(w)
		}
	}
	if pr.keep != nil {
		for t, w := range anchors {
			anchors[t] = pr.word(w)
		}
	}
	parts := modelParts{
		Vocabulary: pr.vocab, Topics: pr.expand(rec.B), WordTopics: pr.expand(rec.Breve), Correlations: rec.A,
		Anchors: anchors, AnchorGroups: groups, Marginals: pr.expandMarginals(rec.Marginals, f.rows.Marginals()),
	}
	f.rect, f.rows, f.rec = nil, nil, nil // room for what follows
	return f.model(ctx, parts, f.finder.String(), f.recoverer.String())
}

// model refines the parts where that was asked for, and makes them a Model.
// methods are those after the rectification.
func (f *fitting) model(ctx context.Context, parts modelParts, methods ...string) (*Model, error) {
	stages := append([]string{f.st.Rectify.Method}, methods...)
	if f.refiner != nil {
		stages = append(stages, f.refiner.String())
		r, err := f.refine(ctx, parts.Topics, parts.Correlations)
		if err != nil {
			return nil, wrap(err)
		}
		parts.Spectral = &spectralParts{parts.Topics, parts.WordTopics, parts.Correlations}
		parts.Topics, parts.WordTopics, parts.Correlations, parts.Alpha = r.B, r.Breve, r.A, r.Alpha
	}
	usable := infer.Topics{B: parts.Topics, A: parts.Correlations, Breve: parts.WordTopics, Alpha: parts.Alpha}
	if err := usable.Validate(); err != nil {
		f.warn("the model cannot infer the topics of documents: %v", err)
	}
	f.st.Total = time.Since(f.begun)
	parts.Stats, parts.Provenance = f.st, newProvenance(linalg.KernelName(), f.seed, stages)
	if s := f.pr.state; s != nil {
		all := *s
		all.Vectors, all.Product = f.pr.expand(s.Vectors), f.pr.expand(s.Product)
		parts.State = &all
	}
	m, err := newModel(parts)
	if err != nil {
		return nil, wrap(err)
	}
	if f.from != nil {
		if m, err = m.follow(ctx, f.from, f.workers); err != nil {
			return nil, wrap(err)
		}
		m.stats.Total = time.Since(f.begun)
	}
	return m, nil
}

// learn runs the stage that takes no anchors, and makes the model of it.
func (f *fitting) learn(ctx context.Context) (*Model, error) {
	var res *anchorfree.Result
	var status string
	var err error
	c, pr, method := f.rect.C, &f.pr, f.learner.String()
	f.st.AnchorFree.Duration, err = f.tr.run(StageTopics, method, func() (string, error) {
		res, err = f.learner.Learn(ctx, c, f.k, anchorfree.Options{Workers: f.workers, Progress: func(done, total int, v float64) {
			f.tr.progress(done, total, "value", v)
		}})
		if err != nil {
			var ie *anchorfree.InfeasibleError
			if errors.As(err, &ie) && pr.vocab != nil && pr.word(ie.Word) < len(pr.vocab) {
				err = fmt.Errorf("%w (%q)", err, pr.vocab[pr.word(ie.Word)])
			}
			return "", err
		}
		if res == nil || res.B == nil || res.Breve == nil || res.A == nil {
			return "", fmt.Errorf("%s returned no model", method)
		}
		if sum := mat.Sum(res.A); !(sum >= 0.5 && sum <= 2) {
			f.warn("the topic correlations sum to %.4g and not to about 1: the model does not fit", sum)
		}
		if status = "converged"; res.Limited {
			status = "iteration limit"
			f.warn("%s stopped at its iteration limit", method)
		}
		if res.Negative > 1e-6 {
			f.warn("%d probabilities of words were below zero, by %.2g in sum in the worst topic, and were set to 0", res.Clipped, res.Negative)
		}
		if res.NegativeShares > 0 {
			f.warn("%d topics have a share below zero; p(topic | word) is 0 for them", res.NegativeShares)
		}
		return fmt.Sprintf("%d iterations, %s", res.Iterations, status), nil
	})
	if err != nil {
		return nil, wrap(err)
	}
	a := &f.st.AnchorFree
	a.Method, a.Iterations, a.Rounds, a.Programs, a.Pivots = method, res.Iterations, res.Rounds, res.Programs, res.Pivots
	a.Status, a.LogDet, a.Eigenvalues, a.Products = status, res.LogDet, res.Eigenvalues, res.Products
	a.Clipped, a.Negative, a.NegativeShares, a.Empty = res.Clipped, res.Negative, res.NegativeShares, res.Empty
	parts := modelParts{
		Vocabulary: pr.vocab, Topics: pr.expand(res.B), WordTopics: pr.expand(res.Breve), Correlations: res.A,
		Marginals: pr.expandMarginals(res.Marginals, c.Marginals()),
	}
	f.rect = nil // room for what follows
	return f.model(ctx, parts, method)
}

// refine runs the last stage, on the topics of all words.
func (f *fitting) refine(ctx context.Context, b, a *mat.Dense) (r *refine.Result, err error) {
	var ended string // why
	f.st.Refine.Duration, err = f.tr.run(StageRefine, f.refiner.String(), func() (string, error) {
		r, err = f.refiner.Refine(ctx, f.pr.docs, refine.Start{B: b, A: a}, refine.Options{
			Workers:  f.workers,
			Progress: func(done, total int, loglik float64) { f.tr.progress(done, total, "loglik", loglik) },
		})
		if err != nil {
			return "", err
		}
		if r == nil || r.B == nil || r.Breve == nil || r.A == nil {
			return "", fmt.Errorf("%v returned no model", f.refiner)
		}
		n, k := b.Dims()
		if rows, cols := r.B.Dims(); rows != n || cols != k {
			return "", fmt.Errorf("%v returned topics of %d×%d instead of %d×%d", f.refiner, rows, cols, n, k)
		}
		if ended = "pass limit"; r.Early {
			ended = "held-out gain"
		}
		out := fmt.Sprintf("%d passes, %s", r.Passes, ended)
		if r.Swaps > 0 {
			out += fmt.Sprintf(", %d swaps", r.Swaps)
		}
		if h := r.History; len(h) > 0 {
			out += fmt.Sprintf(", log-likelihood %.4f a token", h[len(h)-1].LogLik)
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	s := &f.st.Refine
	s.Method, s.Passes, s.Swaps, s.Status = f.refiner.String(), r.Passes, r.Swaps, ended
	s.Docs, s.Held, s.Tokens, s.Beta = r.Docs, r.Held, r.Tokens, r.Beta
	for _, h := range r.History {
		s.LogLik = append(s.LogLik, h.LogLik)
		if !math.IsNaN(h.Objective) {
			s.Objective = append(s.Objective, h.Objective)
		}
		if !math.IsNaN(h.HeldOut) {
			s.HeldOut = append(s.HeldOut, h.HeldOut)
		}
	}
	return r, nil
}
