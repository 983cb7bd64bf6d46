package main

import (
	"context"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/experiments/internal/rivals"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
)

// freeGroup is fu-2018 Tables 4 to 12 and 17: draws of classes.
var freeGroup = &group{
	name: "anchorfree", version: 2,
	labels:   []string{"corpus", "classes", "k", "weights", "method"},
	measures: []string{"coherence", "simcount", "clustacc", "nmi"},
	seconds:  []string{"seconds"},
}

// manyGroup is fu-2018 Tables 13 to 16: many topics, no classes.
var manyGroup = &group{
	name: "anchorfree-many", version: 2,
	labels:   []string{"corpus", "words", "k", "method"},
	measures: []string{"coherence", "simcount", "npmi", "specificity"},
	seconds:  []string{"seconds"},
}

// storyGroup is fu-2018 Table 1: the words of the topics themselves.
var storyGroup = &group{
	name: "anchorfree-words", version: 1,
	labels:   []string{"corpus", "method", "topic", "words"},
	measures: []string{"own"}, // of the top words, those of no other topic
}

// The rows of fu-2018's tables. PDS is named with its tolerance: the paper does not
// say its own, and its time hangs on it.
const (
	fastAnchor = "FastAnchor"
	spa        = "SPA"
	snpa       = "SNPA"
	xray       = "XRAY"
	rawSPA     = "SPA on C"
	freeLP     = "AnchorFree-LP"
	pds        = "PDS 1e-4"
	exactPDS   = "PDS 1e-7" // the library's default
)

// finder is a way to anchors.
type finder struct {
	name   string
	finder anchor.Finder
}

// finders are the ways to anchors of fu-2018 §6.3. SPA divides the rows of C by their
// sums (§2) and is pivoted QR; XRAY does not (§2), and with rows so divided it finds
// SNPA's anchors. Any word may be an anchor.
var finders = []finder{
	{fastAnchor, anchor.Projected{MinDocs: 1}},
	{spa, anchor.SPA{MinDocs: 1}},
	{snpa, anchor.SNPA{MinDocs: 1}},
	{xray, anchor.XRAY{Unnormalised: true, MinDocs: 1}},
}

// learners are those that need no anchors.
var learners = []struct {
	name    string
	learner anchorfree.Learner
}{
	{freeLP, anchorfree.LP{}},
	{pds, anchorfree.PDS{Tol: 1e-4}},
	{exactPDS, anchorfree.PDS{}},
}

// free is a row of the tables of fu-2018: a pipeline without rectification.
type free struct {
	name string
	p    func(k int) jsmf.Pipeline
}

// freeMethods are those of fu-2018 §6.3, and SPA on the rows of C as they are.
func freeMethods() []free {
	var out []free
	for _, f := range append(slices.Clone(finders), finder{rawSPA, anchor.SPA{Unnormalised: true, MinDocs: 1}}) {
		out = append(out, free{f.name, func(k int) jsmf.Pipeline {
			return asPublished(k).Rectify(rectifier(baseline)).Anchors(f.finder).Recover(recovery.L2())
		}})
	}
	for _, x := range learners {
		out = append(out, free{x.name, func(k int) jsmf.Pipeline {
			return asPublished(k).Rectify(rectifier(baseline)).AnchorFree(x.learner)
		}})
	}
	return out
}

// preparation is what becomes of the counts before topics are sought.
type preparation struct {
	name    string
	weights cooc.Weighting
	rectify string
}

var (
	asTFIDF     = preparation{"tf-idf", cooc.TFIDF, baseline}
	asCounts    = preparation{"counts", cooc.Unbiased, baseline}
	asRectified = preparation{"counts, AP", cooc.Unbiased, "AP"}
)

// draws returns all sets of k of the names, in their order.
func draws(names []string, k int) [][]string {
	if k == 0 {
		return [][]string{nil}
	}
	var out [][]string
	for i := range names {
		for _, rest := range draws(names[i+1:], k-1) {
			out = append(out, append([]string{names[i]}, rest...))
		}
	}
	return out
}

const (
	minClasses, maxClasses = 3, 5
	// Numbers of topics beyond which a method takes too long.
	maxLP, maxExact, maxCones = 50, 30, 100
	manySweeps                = 100 // most of Gibbs sampling's, with many topics
)

// manyTopics are those of fu-2018 Tables 13 to 16.
var manyTopics = []int{10, 30, 50, 100, 200}

// planDraws makes the cells of draws of classes, and those of Gibbs sampling.
func planDraws(l *lab, sampled bool, preparations ...preparation) ([]cell, error) {
	if l.classes == "" {
		return nil, nil
	}
	s, names, err := l.labelled()
	if err != nil {
		return nil, err
	}
	var out []cell
	for k := minClasses; k <= min(maxClasses, len(names)); k++ {
		for _, d := range draws(names, k) {
			set := settings("corpus", s.name, "classes", strings.Join(d, "+"), "k", k, "seed", l.seed, "input", s.digest)
			for _, p := range preparations {
				out = append(out, cell{freeGroup, append(slices.Clone(set), settings("weights", p.name)...), 1.5,
					func(ctx context.Context) ([]row, error) { return l.draw(ctx, s, d, p) }})
			}
			if sampled {
				out = append(out, cell{freeGroup, append(slices.Clone(set), settings("weights", asCounts.name, "method", gibbs, "sweeps", l.sweeps)...), gibbsCost(k, l.sweeps) / 5,
					func(ctx context.Context) ([]row, error) { return l.gibbsDraw(ctx, s, d) }})
			}
		}
	}
	return out, nil
}

func planFree(_ context.Context, l *lab) ([]cell, error) {
	out, err := planDraws(l, true, asTFIDF)
	if err != nil {
		return nil, err
	}
	if l.classes != "" {
		s, names, err := l.labelled()
		if err != nil {
			return nil, err
		}
		k := len(names)
		for _, m := range freeMethods() {
			if m.name == fastAnchor || m.name == freeLP {
				set := settings("corpus", s.name, "method", m.name, "k", k, "seed", l.seed, "input", s.digest)
				out = append(out, cell{storyGroup, set, 0.3, func(ctx context.Context) ([]row, error) { return l.stories(ctx, s, k, m) }})
			}
		}
	}
	for _, name := range l.large {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		for _, n := range slices.Compact([]int{l.small, l.words}) {
			out = append(out, planMany(l, s, n)...)
		}
	}
	return out, nil
}

// planMany makes the cells of many topics of the n best words. Fewer words than the
// most are for fewer topics.
func planMany(l *lab, s *source, n int) []cell {
	var out []cell
	for _, k := range manyTopics {
		if 4*k > n || n < l.words && k > maxLP {
			continue
		}
		set := settings("corpus", s.name, "words", n, "k", k, "seed", l.seed, "input", s.digest)
		for _, m := range freeMethods() {
			if m.name == freeLP && k > maxLP || m.name == exactPDS && k > maxExact || (m.name == snpa || m.name == xray) && k > maxCones {
				continue
			}
			cost := float64(k*n) / 1e5
			if m.name == freeLP || m.name == exactPDS {
				cost = float64(k*k*n) / 1e6
			}
			out = append(out, cell{manyGroup, append(slices.Clone(set), settings("method", m.name, "stages", m.p(k))...), cost,
				func(ctx context.Context) ([]row, error) { return l.many(ctx, s, n, k, m) }})
		}
		if sweeps := min(manySweeps, l.sweeps); k <= l.maxSlow && n == l.words {
			out = append(out, cell{manyGroup, append(slices.Clone(set), settings("method", gibbs, "sweeps", sweeps)...), gibbsCost(k, sweeps),
				func(ctx context.Context) ([]row, error) { return l.gibbsMany(ctx, s, n, k, sweeps) }})
		}
	}
	return out
}

// drawnClasses returns the moments of the documents of some classes.
func (l *lab) drawnClasses(ctx context.Context, s *source, classes []string, of cooc.Weighting) (*cooc.Moments, error) {
	c, err := s.curate(ctx, every)
	if err != nil {
		return nil, err
	}
	var docs []int
	for m := range c.NumDocs() {
		if slices.Contains(classes, c.Label(m)) {
			docs = append(docs, m)
		}
	}
	if c, err = c.Select(docs, nil); err != nil {
		return nil, err
	}
	return cooc.NewMoments(ctx, c, cooc.Options{Weighting: of, DropUnused: true, Workers: l.workers})
}

// draw fits all methods to the documents of some classes.
func (l *lab) draw(ctx context.Context, s *source, classes []string, prep preparation) ([]row, error) {
	d, err := l.drawnClasses(ctx, s, classes, prep.weights)
	if err != nil {
		return nil, err
	}
	// The lengths of the rows are found once, and are no method's time.
	if _, err := d.RowNorms2(ctx, l.workers); err != nil {
		return nil, err
	}
	k := len(classes)
	var rows []row
	for _, m := range freeMethods() {
		r := row{"corpus": s.name, "classes": strings.Join(classes, "+"), "weights": prep.name, "method": m.name}
		r.set("k", k)
		rows = append(rows, r)
		p := m.p(k).Rectify(rectifier(prep.rectify)).Seed(l.seed).Workers(l.workers)
		begun := cpuSeconds()
		fit, err := p.Fit(ctx, d)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			r["error"] = err.Error()
			continue
		}
		r.set("seconds", cpuSeconds()-begun)
		if err := l.measureDraw(ctx, r, d, mat.DenseCopyOf(fit.Topics()), prep.weights); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// gibbsDraw draws topics of the documents of some classes, from their counts.
func (l *lab) gibbsDraw(ctx context.Context, s *source, classes []string) ([]row, error) {
	d, err := l.drawnClasses(ctx, s, classes, asCounts.weights)
	if err != nil {
		return nil, err
	}
	begun := cpuSeconds()
	m, err := sample(ctx, d.Info().Corpus, len(classes), l.sweeps, l.seed)
	if err != nil {
		return nil, err
	}
	r := row{"corpus": s.name, "classes": strings.Join(classes, "+"), "weights": asCounts.name, "method": gibbs}
	r.set("k", len(classes)).set("seconds", cpuSeconds()-begun)
	return []row{r}, l.measureDraw(ctx, r, d, m.b, asCounts.weights)
}

// measureDraw notes the measures of topics and the clusters of documents by them.
func (l *lab) measureDraw(ctx context.Context, r row, d *cooc.Moments, b *mat.Dense, of cooc.Weighting) error {
	if err := l.topWords(ctx, r, d, b); err != nil {
		return err
	}
	c := d.Info().Corpus
	w, err := leastSquares(ctx, b, c, of, l.workers)
	if err != nil {
		return err
	}
	a, err := rivals.ClustAcc(ctx, w, labelsOf(c), rivals.KMeans{Seed: l.seed, Workers: l.workers})
	if err != nil {
		return err
	}
	r.set("clustacc", a.Accuracy).set("nmi", a.NMI)
	return nil
}

// topWords notes how top words go together and how many topics share.
func (l *lab) topWords(ctx context.Context, r row, d *cooc.Moments, b *mat.Dense) error {
	rep, err := evaluate(ctx, d, b, nil, nil, l.workers)
	if err != nil {
		return err
	}
	r.set("coherence", rep.Coherence.Mean).set("npmi", rep.NPMI.Mean).set("specificity", rep.Specificity.Mean)
	lists, err := metrics.TopLists(b, 0)
	if err != nil {
		return err
	}
	total, err := metrics.SimCount(lists)
	if err != nil {
		return err
	}
	r.set("simcount", total)
	return nil
}

// stories notes the top words of the topics of all classes.
func (l *lab) stories(ctx context.Context, s *source, k int, m free) ([]row, error) {
	d, err := s.count(ctx, every, cooc.TFIDF, l.workers)
	if err != nil {
		return nil, err
	}
	fit, err := m.p(k).Seed(l.seed).Workers(l.workers).Fit(ctx, d)
	if err != nil {
		return nil, err
	}
	lists, err := metrics.TopLists(mat.DenseCopyOf(fit.Topics()), topWords)
	if err != nil {
		return nil, err
	}
	in := make(map[int]int) // how many topics
	for _, list := range lists {
		for _, i := range list {
			in[i]++
		}
	}
	var rows []row
	for topic, list := range lists {
		own, words := 0, make([]string, len(list))
		for j, i := range list {
			words[j] = fit.Word(i)
			if in[i] == 1 {
				own++
			}
		}
		r := row{"corpus": s.name, "method": m.name, "words": strings.Join(words, " ")}
		rows = append(rows, r.set("topic", topic).set("own", own))
	}
	return rows, nil
}

// many fits one method with many topics.
func (l *lab) many(ctx context.Context, s *source, n, k int, m free) ([]row, error) {
	d, err := s.count(ctx, curation(n), cooc.TFIDF, l.workers)
	if err != nil {
		return nil, err
	}
	if _, err := d.RowNorms2(ctx, l.workers); err != nil { // as in draw
		return nil, err
	}
	begun := cpuSeconds()
	fit, err := m.p(k).Seed(l.seed).Workers(l.workers).Fit(ctx, d)
	if err != nil {
		return nil, err
	}
	r := row{"corpus": s.name, "method": m.name}
	r.set("words", n).set("k", k).set("seconds", cpuSeconds()-begun)
	return []row{r}, l.topWords(ctx, r, d, mat.DenseCopyOf(fit.Topics()))
}

// gibbsMany draws many topics from the counts.
func (l *lab) gibbsMany(ctx context.Context, s *source, n, k, sweeps int) ([]row, error) {
	d, err := s.count(ctx, curation(n), cooc.TFIDF, l.workers)
	if err != nil {
		return nil, err
	}
	begun := cpuSeconds()
	m, err := sample(ctx, d.Info().Corpus, k, sweeps, l.seed)
	if err != nil {
		return nil, err
	}
	r := row{"corpus": s.name, "method": gibbs}
	r.set("words", n).set("k", k).set("seconds", cpuSeconds()-begun)
	return []row{r}, l.topWords(ctx, r, d, m.b)
}
