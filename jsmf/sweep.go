package jsmf

import (
	"cmp"
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
)

// Sweep holds models of the same documents with different numbers of topics, and which number to
// take: see Grid.
type Sweep struct {
	// Points holds a point for each K, in the order given, or ascending.
	Points []SweepPoint

	// Recommendation is the number of topics to take. If it is nil, RecommendationErr says why.
	Recommendation    *Recommendation
	RecommendationErr error

	// Once is the time of what was done once for all K: counting and the pairs of top words. Shared
	// products count for the fit that made them. Total is the time of everything.
	Once, Total time.Duration
}

// Recommended returns the model of the recommended K, nil if there is no recommendation or no model
// of this K.
func (s *Sweep) Recommended() *Model {
	for _, x := range s.Points {
		if s.Recommendation != nil && x.K == s.Recommendation.K {
			return x.Model
		}
	}
	return nil
}

// SweepPoint is one K of a Sweep.
type SweepPoint struct {
	K       int
	Model   *Model          // nil if the fit failed
	Report  *metrics.Report // as of Pipeline.Evaluate; nil if not measured
	HeldOut *HeldOutScore   // of held-out documents; nil if there is none

	// Diversity and SimCount are those of the 20 top words of each topic: see metrics.Diversity and
	// metrics.SimCount.
	Diversity float64
	SimCount  int

	// Fit, Evaluate and Score are the times of the model, of its measures, and of the score with the
	// fit it needs.
	Fit, Evaluate, Score time.Duration

	// Err says why there is no Model, such as a *anchor.RankError if the data has too few
	// dimensions, MeasureErr why there is a Model but no Report, such as a *MemoryLimitError, and
	// ScoreErr why there is no score though other K have one.
	Err, MeasureErr, ScoreErr error
}

// Grid fits a model for each of some numbers of topics, measures each as Evaluate does, and
// recommends one number. The zero value chooses the numbers.
type Grid struct {
	// K are the numbers of topics, distinct and at least 2. Without any, they are 5, 7, 10, 14, 20
	// and so on by the factor √2, until two in a row score worse than the best by more than two
	// standard errors, but no more topics than a twentieth of the documents; then the numbers
	// between the one chosen and its neighbours.
	K []int
}

// Run makes the Sweep of the stages of p, which must have K = 0: New(0).
//
// The recommendation comes from held-out documents: one in three, chosen by id (by place where
// there is none), the same for each K. A model of each K is fitted to the others, without From. It
// sees every second word of a held-out document, and predicts the hidden ones, each counted once;
// weights of documents do not matter to the score. A co-occurrence matrix has no documents to hold
// out, and documents on other machines are not read: then there is no recommendation, and
// RecommendationErr says why.
//
// The models in Points are those of Fit to all documents, to the bit, and the measures those of
// Evaluate. The documents are counted once, and the two thirds once more (under New the matrix is
// made again for a K that has more words in it: see Words). Rectifiers that begin with an
// eigenproblem (AP, DR, ENN, PALM, TruncatedEig) share its products. So each K costs less than two
// fits, the inference of a third of the documents, and its measures.
//
// If a fit fails, its [SweepPoint] has the error and the others go on. Errors: those of Validate, a
// Pipeline with a K, a bad number, those of counting, ctx's, that of the first K if all fits fail,
// and RecommendationErr's where the numbers were to be chosen. Memory: that of the fit with the
// largest K, all models, and the documents three times as Evaluate reads them.
func (g Grid) Run(ctx context.Context, p Pipeline, in Input) (*Sweep, error) {
	begun := time.Now()
	if err := p.unset("sweep"); err != nil {
		return nil, err
	}
	ks, given := g.K, len(g.K) > 0
	if !given {
		ks = []int{gridFrom}
	}
	p, err := p.forSweep(ks)
	if err != nil {
		return nil, err
	}
	tr := &tracker{recorders: p.recorders}
	pr, err := p.count(ctx, in, tr)
	if err != nil {
		return nil, err
	}
	if n, k := pr.words(), slices.Max(ks); k > n {
		return nil, tooMany(k, n)
	}
	s := &Sweep{Once: time.Since(begun)}
	if s.Points, s.Recommendation, err = p.recommend(ctx, pr.in, ks, given, tr); err != nil {
		if ctx.Err() != nil || !given {
			return nil, errorf("sweep: no recommendation: %w", err)
		}
		s.RecommendationErr = errorf("sweep: no recommendation: %w", err)
	}
	if err := p.fitAll(ctx, pr, s, tr); err != nil {
		return nil, err
	}
	if err := p.measureAll(ctx, pr, s); err != nil {
		return nil, err
	}
	if s.largest() == nil {
		return nil, s.Points[0].Err
	}
	s.Total = time.Since(begun)
	return s, nil
}

// unset returns an error if the Pipeline has a number of topics, which what sets itself.
func (p Pipeline) unset(what string) error {
	if p.k != 0 {
		return errorf("%s: the Pipeline has K = %d, and a %[1]s sets K itself: give it one with K(0)", what, p.k)
	}
	return nil
}

// fitAll fits the model of each point.
func (p Pipeline) fitAll(ctx context.Context, pr *problem, s *Sweep, tr *tracker) error {
	shared := spectrum.New(pr.c)
	for i := range s.Points {
		x := &s.Points[i]
		p.k = x.K
		at := time.Now()
		x.Err = tr.run(nil, StageSweep, fmt.Sprintf("K = %d, %d of %d", x.K, i+1, len(s.Points)), func() (outcome string, err error) {
			if err = cmp.Or(carried(p.k, pr.size.docs), p.affordable(pr.size)); err == nil {
				x.Model, err = p.fitOf(ctx, &pr, &shared, at)
			}
			return fmt.Sprintf("K = %d", x.K), err
		})
		x.Fit = time.Since(at)
		if x.Err != nil && ctx.Err() != nil {
			return x.Err
		}
	}
	return nil
}

// forSweep returns p with the smallest K, if all settings are right.
func (p Pipeline) forSweep(ks []int) (Pipeline, error) {
	var errs []error
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
	return p, errors.Join(append(errs, p.validate())...)
}

// largest returns the model with the most topics, nil if there is no model.
func (s *Sweep) largest() (m *Model) {
	for _, x := range s.Points {
		if x.Model != nil && (m == nil || x.Model.k > m.k) {
			m = x.Model
		}
	}
	return m
}

// fitOf fits one K of a sweep. If it needs a matrix of other words than the last one, that takes
// its place.
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
	largest := s.largest()
	if largest == nil {
		return nil
	}
	c, ok := pr.all.(cooc.Matrix)
	if !ok {
		var err error
		if c, err = p.measured(ctx, largest, pr.in); err != nil {
			for i := range s.Points {
				if x := &s.Points[i]; x.Err == nil {
					x.MeasureErr = errorf("sweep: not measured: %w", err)
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
			x.MeasureErr = errorf("sweep: not measured: %w", err)
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

// topPairs counts the pairs of the top words of all models at once. It returns nil if these are too
// many, or if there are no documents.
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
