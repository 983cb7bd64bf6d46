package jsmf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/spectrum"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

// Sweep holds models of the same documents with different numbers of topics, and what
// speaks for which number: see Pipeline.Sweep.
type Sweep struct {
	// Points holds a point for each K, in the order given.
	Points []SweepPoint

	// Spectrum holds the largest eigenvalues of C before rectification, descending:
	// at least as many as the largest K.
	Spectrum []float64

	// Pivots are the norms r_k of the anchors (Stats.Anchors.Norms) of the model with
	// the most topics; nil if it has none.
	Pivots []float64

	// Suggestions are hints to the best K. They need not agree.
	Suggestions []Suggestion

	// Once is the time of what was done once for all K: counting, the spectrum and the
	// pairs of top words. Shared products count for the fit that made them. Total is
	// the time of everything.
	Once, Total time.Duration
}

// SweepPoint is one K of a Sweep.
type SweepPoint struct {
	K      int
	Model  *Model          // nil if the fit failed
	Report *metrics.Report // as of Pipeline.Evaluate; nil if not measured
	// Diversity and SimCount are those of the 20 top words of each topic: see
	// metrics.Diversity and metrics.SimCount.
	Diversity float64
	SimCount  int
	// Fit and Evaluate are the times of the two.
	Fit, Evaluate time.Duration
	// Err says why there is no Model, such as a *anchor.RankError if the data has fewer
	// than K dimensions.
	Err error
	// Unmeasured says why there is a Model but no Report, such as a *MemoryLimitError.
	Unmeasured error
}

// Suggestion is a number of topics and the reason for it.
type Suggestion struct {
	K int
	// By is the source: "spectrum", "pivots", "coherence", "quality", "approximation" or
	// "legality".
	By string
	// Why is the reason in a sentence, with numbers.
	Why string
}

// String returns the suggestion in one line.
func (s Suggestion) String() string { return fmt.Sprintf("K = %d (%s): %s", s.K, s.By, s.Why) }

// Sweep fits a model for each number of topics in ks, which must be distinct and at least
// 2, measures each as Evaluate does, and suggests numbers of topics. The K of the Pipeline
// is ignored.
//
// The models are those of Fit to the bit, and the measures those of Evaluate. The
// documents are counted once (under New the matrix is made again for a K that has more
// words in it: see Words), and rectifiers that begin with an eigenproblem (AP, DR,
// ENN, PALM, TruncatedEig) share its products. With other rectifiers the spectrum takes
// some 2K + 60 products for the largest K.
//
// If a fit fails, its SweepPoint has the error and the others go on. Errors: those of
// Validate, no K or a bad one, those of counting, ctx's, and that of the first K if all
// fits fail. Memory: that of the fit with the largest K, 8·N·(2K + 60) bytes for the
// spectrum, all models, and the documents as Evaluate reads them.
func (p Pipeline) Sweep(ctx context.Context, in Input, ks []int) (*Sweep, error) {
	begun := time.Now()
	p, err := p.forSweep(ks)
	if err != nil {
		return nil, err
	}
	tr := &tracker{recorders: p.recorders}
	pr, err := p.count(ctx, in, tr)
	if err != nil {
		return nil, err
	}
	if n, most := pr.words(), slices.Max(ks); most > n {
		return nil, tooMany(most, n)
	}
	shared := spectrum.New(pr.c)
	widest, its := pr, shared // of the matrix with the most words
	s := &Sweep{Points: make([]SweepPoint, len(ks)), Once: time.Since(begun)}
	for i, k := range ks {
		x := &s.Points[i]
		x.K, p.k = k, k
		tr.stage = StageSweep
		tr.record(Event{Kind: EventStart, Message: fmt.Sprintf("K = %d, %d of %d", k, i+1, len(ks))})
		at := time.Now()
		if x.Err = p.affordable(pr.size); x.Err == nil {
			x.Model, x.Err = p.fitOf(ctx, &pr, &shared, at)
		}
		if pr.c != nil && pr.c.Dim() > widest.c.Dim() {
			widest, its = pr, shared
		}
		x.Fit = time.Since(at)
		tr.begun = at
		tr.record(Event{Kind: EventEnd, Message: fmt.Sprintf("K = %d", k), Done: i + 1, Total: len(ks), Err: x.Err})
		if x.Err != nil && ctx.Err() != nil {
			return nil, x.Err
		}
	}
	if err := p.measureAll(ctx, pr, s); err != nil {
		return nil, err
	}
	most := s.largest()
	if most < 0 {
		return nil, s.Points[0].Err
	}
	s.Pivots = s.Points[most].Model.Stats().Anchors.Norms
	at := time.Now()
	if s.Spectrum, err = p.spectrum(ctx, widest, its, slices.Max(ks)); err != nil {
		return nil, err
	}
	s.Once += time.Since(at)
	s.suggest()
	s.Total = time.Since(begun)
	return s, nil
}

// forSweep returns p with the smallest K, if all settings are right.
func (p Pipeline) forSweep(ks []int) (Pipeline, error) {
	var errs []error
	if len(ks) == 0 {
		errs = append(errs, errors.New("jsmf: sweep: no number of topics"))
	}
	p.k = math.MaxInt
	for i, k := range ks {
		if k < 2 {
			errs = append(errs, errorf("sweep: K = %d topics; want at least 2", k))
		}
		if slices.Contains(ks[:i], k) {
			errs = append(errs, errorf("sweep: K = %d is there twice", k))
		}
		p.k = min(p.k, max(k, 2))
	}
	return p, errors.Join(append(errs, p.Validate())...)
}

// largest returns the point whose model has the most topics, −1 if there is no model.
func (s *Sweep) largest() int {
	most := -1
	for i, x := range s.Points {
		if x.Model != nil && (most < 0 || x.Model.K() > s.Points[most].Model.K()) {
			most = i
		}
	}
	return most
}

// spectrum returns at least the k largest eigenvalues of C.
func (p Pipeline) spectrum(ctx context.Context, pr *problem, shared *spectrum.Shared, k int) ([]float64, error) {
	if v := shared.Values(); len(v) >= k {
		return v, nil
	}
	r, err := (rectify.TruncatedEig{}).Rectify(ctx, pr.c, k, rectify.Options{Workers: p.workers, Shared: shared})
	if err != nil {
		return nil, errorf("sweep: the spectrum: %w", err)
	}
	return r.Eigenvalues, nil
}

// fitOf fits one K of a sweep. If it needs a matrix of other words than the last one, that
// takes its place.
func (p Pipeline) fitOf(ctx context.Context, pr **problem, shared **spectrum.Shared, begun time.Time) (*Model, error) {
	tr := &tracker{recorders: p.recorders}
	next, err := p.forK(ctx, *pr, tr)
	if err != nil {
		return nil, err
	}
	if next != *pr {
		*pr, *shared = next, spectrum.New(next.c)
	}
	return p.fit(ctx, next, *shared, tr, begun)
}

// measureAll fills in the measures of the points with a model.
func (p Pipeline) measureAll(ctx context.Context, pr *problem, s *Sweep) error {
	at := time.Now()
	most := s.largest()
	if most < 0 {
		return nil
	}
	c, ok := pr.all.(cooc.Matrix)
	if !ok {
		in := pr.in
		if pr.docs != nil && pr.docs.encoded != nil && in.Info().Corpus == nil {
			in = pr.docs.encoded // faster to read
		}
		var err error
		if c, err = p.measured(ctx, s.Points[most].Model, in); err != nil {
			for i := range s.Points {
				if x := &s.Points[i]; x.Err == nil {
					x.Unmeasured = errorf("sweep: not measured: %w", err)
				}
			}
			return ctx.Err()
		}
	}
	pairs, err := topPairs(ctx, c.Info().Corpus, s.Points)
	if err != nil {
		return errorf("sweep: %w", err)
	}
	s.Once += time.Since(at)
	for i := range s.Points {
		x := &s.Points[i]
		if x.Err != nil {
			continue
		}
		at := time.Now()
		if err := p.measure(ctx, x, c, pairs); err != nil {
			if ctx.Err() != nil {
				return wrap(err)
			}
			x.Unmeasured = errorf("sweep: not measured: %w", err)
		}
		x.Evaluate = time.Since(at)
	}
	return nil
}

// measure fills in the measures of a point, all or none.
func (p Pipeline) measure(ctx context.Context, x *SweepPoint, c cooc.Matrix, pairs *cooc.Pairs) error {
	report, err := p.evaluate(ctx, x.Model, c, pairs)
	if err != nil {
		return err
	}
	lists, err := metrics.TopLists(x.Model.denseTopics(), 0)
	if err != nil {
		return err
	}
	diversity, err := metrics.Diversity(lists)
	if err != nil {
		return err
	}
	count, _, err := metrics.SimCount(lists)
	if err != nil {
		return err
	}
	x.Report, x.Diversity, x.SimCount = report, diversity, count
	return nil
}

// maxPairs is the number of words of which topPairs counts the pairs: 200 MB.
const maxPairs = 10000

// topPairs counts the pairs of the top words of all models at once. It returns nil if
// these are too many, or if there are no documents.
func topPairs(ctx context.Context, docs *corpus.Corpus, points []SweepPoint) (*cooc.Pairs, error) {
	if docs == nil {
		return nil, nil
	}
	var words []int
	for _, x := range points {
		if x.Err == nil {
			words = append(words, x.Model.measuredWords()...)
		}
	}
	slices.Sort(words)
	if words = slices.Compact(words); len(words) > maxPairs {
		return nil, nil
	}
	return cooc.CountPairs(ctx, docs, words)
}
