package jsmf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/spectrum"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

// Sweep is what Pipeline.Sweep found: models of one corpus with different
// numbers of topics, and what speaks for which.
type Sweep struct {
	// Points holds a point for each K, in the order in which they were given.
	Points []SweepPoint

	// Spectrum holds the largest eigenvalues of C, before any rectification,
	// descending, as many as the largest K.
	Spectrum []float64

	// Pivots are the norms r_k of the anchors of the model with the most topics
	// (Model.AnchorNorms); nil where it has none.
	Pivots []float64

	// Suggestions say which K the spectrum, the pivots and the measures speak
	// for, and why. They need not agree, and none is more than a hint.
	Suggestions []Suggestion

	// Prepared is the corpus as the fits saw it, for more of them.
	Prepared *Prepared

	// Shared is the time of what was done once for all K: the corpus and its
	// co-occurrence matrix (not where SweepPrepared was given them), the
	// spectrum, and the counts of pairs of top words. The products of the first
	// eigenproblem are in the time of the fit that asked for them first.
	// Total is the time of all.
	Shared, Total time.Duration
}

// SweepPoint is one K of a Sweep.
type SweepPoint struct {
	K      int
	Model  *Model          // nil where the fit failed
	Report *metrics.Report // as by Pipeline.Evaluate
	// Diversity and SimCount are those of the 20 top words of the topics; see
	// metrics.Diversity and metrics.SimCount.
	Diversity float64
	SimCount  int
	// Fit and Evaluate are the times of the two.
	Fit, Evaluate time.Duration
	// Err says why there is no model with K topics, or why it could not be
	// measured: a *anchor.RankError, for example, where the data has fewer
	// dimensions.
	Err error
}

// Suggestion is a number of topics and what speaks for it.
type Suggestion struct {
	K int
	// By is what it is read from: "spectrum", "pivots", "coherence", "quality",
	// "approximation" or "legality".
	By string
	// Why says it in a sentence, with the numbers.
	Why string
}

// String returns the suggestion in one line.
func (s Suggestion) String() string { return fmt.Sprintf("K = %d (%s): %s", s.K, s.By, s.Why) }

// Sweep fits a model for each number of topics in ks, which are different and at
// least 2, measures it as Evaluate does, and says which K the spectrum of C, the
// pivots and the measures speak for. The K of the Pipeline is not used.
//
// The models are those of Fit, to the bit, and the measures those of Evaluate;
// but the corpus is prepared once, the products of the first eigenproblem are
// shared (AP, DR, ENN, PALM, TruncatedEig), and the row norms of C and its
// co-occurring top words are counted once. Rectification, most of
// the work, depends on K after the first eigenpairs. Where the method does not
// make these products (LR), the spectrum takes some 2K + 60 of the largest K.
//
// A K for which there is no model has an error in its SweepPoint; the others go
// on. Errors: those of Validate, no K or a bad one, *TopicsError, cooc.ErrNoDocuments,
// ctx's, and that of the first K where there is a model for none.
// Memory: that of the fit with the largest K, 8·N·(2K+60) bytes for the first
// eigenproblem, and all the models.
func (p Pipeline) Sweep(ctx context.Context, c *corpus.Corpus, ks []int) (*Sweep, error) {
	begun := time.Now()
	p, err := p.forSweep(ks)
	if err != nil {
		return nil, err
	}
	d, err := p.Prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	return p.sweep(ctx, d, ks, begun)
}

// SweepPrepared is Sweep on what Prepare has made of a corpus.
func (p Pipeline) SweepPrepared(ctx context.Context, d *Prepared, ks []int) (*Sweep, error) {
	begun := time.Now()
	p, err := p.forSweep(ks)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, errors.New("jsmf: nothing prepared")
	}
	if n := d.corpus.NumWords(); p.k > n {
		return nil, &TopicsError{K: p.k, Words: n}
	}
	return p.sweep(ctx, d, ks, begun)
}

// forSweep checks everything and gives p the largest K.
func (p Pipeline) forSweep(ks []int) (Pipeline, error) {
	var errs []error
	if len(ks) == 0 {
		errs = append(errs, errors.New("jsmf: sweep: no number of topics"))
	}
	p.k = 2
	for i, k := range ks {
		if k < 2 {
			errs = append(errs, errorf("sweep: K = %d topics; want at least 2", k))
		}
		if slices.Contains(ks[:i], k) {
			errs = append(errs, errorf("sweep: K = %d is there twice", k))
		}
		p.k = max(p.k, k)
	}
	return p, errors.Join(append(errs, p.Validate())...)
}

func (p Pipeline) sweep(ctx context.Context, d *Prepared, ks []int, begun time.Time) (*Sweep, error) {
	pr, err := d.problem()
	if err != nil {
		return nil, err
	}
	if n := pr.c.Dim(); p.k > n {
		return nil, &TopicsError{K: p.k, Words: n}
	}
	pr.shared = spectrum.New(pr.c)
	s := &Sweep{Points: make([]SweepPoint, len(ks)), Prepared: d, Shared: time.Since(begun)}
	tr := &tracker{rec: p.rec}
	for i, k := range ks {
		s.Points[i].K = k
		q := p
		q.k = k
		tr.stage = StageSweep
		tr.record(Event{Kind: EventStart, Message: fmt.Sprintf("K = %d, %d of %d", k, i+1, len(ks))})
		at := time.Now()
		var m *Model
		err := q.affordable(sizeOf(d.c))
		if err == nil {
			m, err = q.fit(ctx, pr, &tracker{rec: p.rec}, d.stats.clone(), at)
		}
		s.Points[i].Model, s.Points[i].Err, s.Points[i].Fit = m, err, time.Since(at)
		tr.begun = at
		tr.record(Event{Kind: EventEnd, Message: fmt.Sprintf("K = %d", k), Done: i + 1, Total: len(ks), Err: err})
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
	}
	pairs, took, err := p.sweepPairs(ctx, d, s.Points)
	if err != nil {
		return nil, err
	}
	s.Shared += took
	most := -1 // the point with the most topics
	for i := range s.Points {
		x := &s.Points[i]
		if x.Err != nil {
			continue
		}
		if most < 0 || x.Model.K() > s.Points[most].Model.K() {
			most = i
		}
		at := time.Now()
		if x.Err = p.measure(ctx, x, d, pairs); x.Err != nil && ctx.Err() != nil {
			return nil, x.Err
		}
		x.Evaluate = time.Since(at)
	}
	if most < 0 {
		return nil, s.Points[0].Err
	}
	s.Pivots = s.Points[most].Model.Stats().Anchors.Norms
	if s.Spectrum = pr.shared.Values(); len(s.Spectrum) < p.k {
		at := time.Now()
		r, err := (rectify.TruncatedEig{}).Rectify(ctx, pr.c, p.k, rectify.Options{Workers: p.workers, Shared: pr.shared})
		if err != nil {
			return nil, errorf("sweep: the spectrum: %w", err)
		}
		s.Spectrum = r.Eigenvalues
		s.Shared += time.Since(at)
	}
	s.suggest()
	s.Total = time.Since(begun)
	return s, nil
}

// measure fills in the measures of a point.
func (p Pipeline) measure(ctx context.Context, x *SweepPoint, d *Prepared, pairs *cooc.Pairs) (err error) {
	if x.Report, err = p.evaluate(ctx, x.Model, d.corpus, d.c, pairs); err != nil {
		return err
	}
	lists, err := metrics.TopLists(x.Model.denseTopics(), 0)
	if err != nil {
		return wrap(err)
	}
	if x.Diversity, err = metrics.Diversity(lists); err != nil {
		return wrap(err)
	}
	if x.SimCount, _, err = metrics.SimCount(lists); err != nil {
		return wrap(err)
	}
	return nil
}

// maxSweepPairs is how many words sweepPairs counts at once: 200 MB.
const maxSweepPairs = 10000

// sweepPairs counts the pairs of the top words of all models at once; nil where
// these are too many.
func (p Pipeline) sweepPairs(ctx context.Context, d *Prepared, points []SweepPoint) (*cooc.Pairs, time.Duration, error) {
	at := time.Now()
	var words []int
	for _, x := range points {
		if x.Err == nil {
			words = append(words, metrics.TopUnion(x.Model.denseTopics(), 0)...)
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	if len(words) > maxSweepPairs {
		return nil, 0, nil
	}
	pairs, err := cooc.CountPairs(ctx, d.corpus, words, p.workers)
	if err != nil {
		return nil, 0, errorf("sweep: %w", err)
	}
	return pairs, time.Since(at), nil
}

// suggest fills in the suggestions.
func (s *Sweep) suggest() {
	add := func(k int, by, format string, args ...any) {
		s.Suggestions = append(s.Suggestions, Suggestion{k, by, fmt.Sprintf(format, args...)})
	}
	if k, why := fall(s.Spectrum, "the eigenvalues of C fall", "dimensions"); k > 0 {
		add(k, "spectrum", "%s", why)
	}
	if k, why := fall(s.Pivots, "the distances of the anchors from those before fall", "corners"); k > 0 {
		add(k, "pivots", "%s", why)
	}
	var ps []SweepPoint
	for _, x := range s.Points {
		if x.Err == nil {
			ps = append(ps, x)
		}
	}
	slices.SortStableFunc(ps, func(a, b SweepPoint) int { return a.Model.K() - b.Model.K() })
	if len(ps) < 2 {
		return
	}
	// best returns the point with the largest value, the fewest topics among
	// equals, and the others in words.
	best := func(value func(SweepPoint) float64) (SweepPoint, float64, string) {
		at, others := -1, []string{}
		for i, x := range ps {
			if v := value(x); !math.IsNaN(v) && (at < 0 || v > value(ps[at])) {
				at = i
			}
		}
		if at < 0 {
			return SweepPoint{}, math.NaN(), ""
		}
		for i, x := range ps {
			if i != at {
				others = append(others, fmt.Sprintf("%.3g at %d", value(x), x.Model.K()))
			}
		}
		return ps[at], value(ps[at]), strings.Join(others, ", ")
	}
	npmi := func(x SweepPoint) float64 { return x.Report.NPMI.Mean }
	if x, v, others := best(npmi); x.Model != nil {
		add(x.Model.K(), "coherence", "the top words of its topics go together best: NPMI %.3g (%s); few broad topics often do", v, others)
	}
	quality := func(x SweepPoint) float64 { return x.Report.NPMI.Mean * x.Diversity }
	if x, v, others := best(quality); x.Model != nil && v > 0 {
		add(x.Model.K(), "quality", "its topics are coherent and different from each other: NPMI times the share of different words among the top words is %.3g (%s)", v, others)
	}
	// The fewest topics that explain C nearly as well as any.
	const nearly = 1.05
	least := math.Inf(1)
	for _, x := range ps {
		least = min(least, x.Report.Approximation)
	}
	for i, x := range ps {
		if x.Report.Approximation <= nearly*least {
			if i == len(ps)-1 {
				add(x.Model.K(), "approximation", "more topics explain C better to the end of the sweep: ‖C − BABᵀ‖ is %.3g, and %.3g at K = %d", x.Report.Approximation, ps[i-1].Report.Approximation, ps[i-1].Model.K())
			} else {
				add(x.Model.K(), "approximation", "more topics hardly explain C better: ‖C − BABᵀ‖ is %.3g, and no less than %.3g with more", x.Report.Approximation, least)
			}
			break
		}
	}
	// Where A is no distribution any more the model does not fit.
	const off = 0.1
	fits := func(x SweepPoint) bool { return math.Abs(x.Report.Legality-1) <= off }
	for i, x := range ps {
		if !fits(x) {
			if i > 0 {
				add(ps[i-1].Model.K(), "legality", "the largest K before the model stops to fit: ΣA is %.3g, and %.3g at K = %d, where it should be 1", ps[i-1].Report.Legality, x.Report.Legality, x.Model.K())
			}
			break
		}
	}
}

// fall reads a number of topics from a falling curve and says why: the place of
// its steepest fall if that stands out, or else where its logarithm bends most.
// 0 where the curve is too short.
func fall(curve []float64, what, of string) (k int, why string) {
	const (
		clear = 0.3   // the least fall that stands out,
		twice = 2     // and how many times any other its logarithm must be
		noise = 1e-12 // of the first value
	)
	if len(curve) < 3 {
		return 0, ""
	}
	end := len(curve)
	for i, v := range curve {
		if !(v > noise*curve[0]) {
			end = i
			break
		}
	}
	positive := slices.Clone(curve[:end])
	if end < len(curve) {
		positive = append(positive, 0) // the end is a fall, too
	}
	k, drop, err := anchor.SuggestK(positive)
	if err != nil {
		return 0, ""
	}
	second := 0.0
	for i := 1; i+1 < len(positive); i++ {
		if i+1 != k {
			second = max(second, (positive[i]-positive[i+1])/positive[i])
		}
	}
	if drop >= clear && math.Log1p(-drop) <= twice*math.Log1p(-second) { // both below 0
		return k, fmt.Sprintf("%s by %.0f %% after the %d%s, and by %.0f %% at most after any other but the first: as many %s stand out", what, 100*drop, k, ordinal(k), 100*second, of)
	}
	if positive = curve[:end]; len(positive) < 4 {
		return k, fmt.Sprintf("%s most, by %.0f %%, after the %d%s", what, 100*drop, k, ordinal(k))
	}
	// The place farthest below the line from the second value to the last.
	last := len(positive) - 1
	lo, hi := math.Log(positive[1]), math.Log(positive[last])
	most := math.Inf(-1)
	bend := 2
	for i := 1; i < last; i++ {
		if d := lo + (hi-lo)*float64(i-1)/float64(last-1) - math.Log(positive[i]); d > most {
			most, bend = d, i+1
		}
	}
	return bend, fmt.Sprintf("%s without a clear step (at most by %.0f %%, after the %d%s); the curve bends most at %d, after which each further one adds less", what, 100*drop, k, ordinal(k), bend)
}

func ordinal(k int) string {
	switch {
	case k%100 >= 11 && k%100 <= 13:
	case k%10 == 1:
		return "st"
	case k%10 == 2:
		return "nd"
	case k%10 == 3:
		return "rd"
	}
	return "th"
}
