package main

import (
	"context"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/plotter"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// rectifiedGroup is lee-2018 Figures 2.1 and 2.4 in numbers.
var rectifiedGroup = &group{
	name: "rectified", version: 1,
	labels: []string{"corpus", "method", "k"},
	// Of A: its least entry, its sum, what is off the diagonal as a share of all
	// absolute values, and its least eigenvalue as a share of the largest. Of the
	// anchors, in the plane of the first two principal components of C̄ and of the
	// rectified C̄: the share of the words in their hull, and the share of the area of
	// the hull of all words that it has.
	measures: []string{"least", "sum", "off_diagonal", "least_eigenvalue", "inside_original", "inside_rectified", "area_original", "area_rectified"},
}

// correlationsGroup holds the entries of the A of Figure 2.4.
var correlationsGroup = &group{
	name: "rectified-a", version: 1,
	labels:   []string{"corpus", "method", "topic", "other"},
	measures: []string{"a"},
}

// rectifiedTopicsGroup is lee-2018 Table 2.2.
var rectifiedTopicsGroup = &group{
	name: "rectified-topics", version: 1,
	labels: []string{"corpus", "method", "topic"},
	// frequent is how many of the words are among the most frequent 20 of the corpus.
	measures: []string{"words", "frequent"},
}

const (
	probabilistic = "Baseline, A by (2.5)"
	pictured      = 5  // topics of the figures and of the table
	maxRectified  = 25 // the largest K in numbers
	tableWords    = 7  // of a topic in the table
	longAP        = 150
)

// rectifiedWays are the panels of Figure 2.4: arora-2013's A by least squares, that of
// the anchors alone (lee-2018 eq. 2.5), and the latter after rectification.
var rectifiedWays = []string{baseline, probabilistic, "AP"}

// rectifiedBy returns the rectification of a way: none, or AP with the iterations of
// lee-2018.
func rectifiedBy(way string) rectify.Rectifier {
	if way == "AP" {
		return rectify.AP{Iterations: longAP}
	}
	return rectify.None{}
}

// planRectified makes the cells of a corpus × K, and of the figures and the table.
func planRectified(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	for i, name := range l.corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		set := func(more ...any) []setting {
			return settings(append([]any{"corpus", name, "n", l.words, "iterations", longAP, "seed", l.seed, "input", s.digest}, more...)...)
		}
		for _, k := range l.topics {
			if k <= maxRectified {
				out = append(out, cell{rectifiedGroup, set("k", k), 3, func(ctx context.Context) ([]row, error) { return l.cover(ctx, s, k) }})
			}
		}
		for _, way := range rectifiedWays {
			out = append(out, cell{correlationsGroup, set("method", way, "k", pictured), 2, func(ctx context.Context) ([]row, error) { return l.correlations(ctx, s, way) }})
		}
		for _, way := range []string{baseline, "AP"} {
			out = append(out, cell{rectifiedTopicsGroup, set("method", way, "k", pictured), 2, func(ctx context.Context) ([]row, error) {
				m, d, err := l.rectifiedFit(ctx, s, way, pictured, rectifiedBy(way))
				if err != nil {
					return nil, err
				}
				return topicRows(s.name, way, d.Info().Corpus, mat.DenseCopyOf(m.Topics()))
			}})
		}
		out = append(out, cell{rectifiedTopicsGroup, set("method", gibbs, "k", pictured, "sweeps", l.sweeps), 5, func(ctx context.Context) ([]row, error) {
			d, err := s.countUnbiased(ctx, l.words, l.workers)
			if err != nil {
				return nil, err
			}
			m, err := sample(ctx, d.Info().Corpus, pictured, l.sweeps, l.seed)
			if err != nil {
				return nil, err
			}
			return topicRows(s.name, gibbs, d.Info().Corpus, m.b)
		}})
		if i == 0 {
			out = append(out, cell{pointsGroup, set("spaces", pictured, "points", maxPoints), 3, func(ctx context.Context) ([]row, error) { return l.spacePoints(ctx, s) }})
		}
	}
	return out, nil
}

// rectifiedFit fits a model by one of rectifiedWays.
func (l *lab) rectifiedFit(ctx context.Context, s *source, way string, k int, r rectify.Rectifier) (*jsmf.Model, *cooc.Moments, error) {
	d, err := s.countUnbiased(ctx, l.words, l.workers)
	if err != nil {
		return nil, nil, err
	}
	p := asPublished(k).Rectify(r).Seed(l.seed).Workers(l.workers)
	if way == baseline {
		p = p.Recover(recovery.L2())
	}
	m, err := p.Fit(ctx, d)
	return m, d, err
}

// space is the plane of the first two principal components of the rows of a matrix.
type space struct {
	name    string
	at      *mat.Dense // of all words
	hull    []int      // words
	anchors []int      // by QR in all dimensions
}

// spaces returns the plane of C̄ and that of C̄ rectified by ap.
func (l *lab) spaces(ctx context.Context, d *cooc.Moments, k int, ap rectify.Rectifier) ([]space, error) {
	var out []space
	for _, x := range []struct {
		name string
		by   rectify.Rectifier
	}{{"original", rectify.None{}}, {"rectified", ap}} {
		rows, err := rowsOf(ctx, x.by, d, k, l.seed, l.workers)
		if err != nil {
			return nil, err
		}
		plane, err := anchor.Hull{Dims: 2}.Find(ctx, rows, 0, anchor.Options{Workers: l.workers})
		if err != nil {
			return nil, err
		}
		found, err := anchor.QR{}.Find(ctx, rows, k, anchor.Options{Workers: l.workers})
		if err != nil {
			return nil, err
		}
		out = append(out, space{x.name, plane.Embedding, plane.Anchors, found.Anchors})
	}
	return out, nil
}

// places are those of some words, of all where words is nil.
func (s space) places(words []int) plotter.XYs {
	n, _ := s.at.Dims()
	var out plotter.XYs
	for i := range n {
		if p := s.at.RawRowView(i); (words == nil || slices.Contains(words, i)) && !math.IsNaN(p[0]) {
			out = append(out, plotter.XY{X: p[0], Y: p[1]})
		}
	}
	return out
}

// cover measures A and the anchors without rectification and with it.
func (l *lab) cover(ctx context.Context, s *source, k int) ([]row, error) {
	var rows []row
	ap := &lastRectified{Rectifier: rectifiedBy("AP")}
	for _, way := range rectifiedWays {
		by := rectifiedBy(way)
		if way == "AP" {
			by = ap
		}
		m, _, err := l.rectifiedFit(ctx, s, way, k, by)
		if err != nil {
			return nil, err
		}
		r := row{"corpus": s.name, "method": way}
		rows = append(rows, describe(r.set("k", k), m.Correlations()))
	}
	d, err := s.countUnbiased(ctx, l.words, l.workers)
	if err != nil {
		return nil, err
	}
	spaces, err := l.spaces(ctx, d, k, ap)
	if err != nil {
		return nil, err
	}
	for i, way := range []string{baseline, "AP"} {
		for _, r := range where(rows, "method", way) {
			for _, in := range spaces {
				all := in.places(nil)
				hull := outline(in.places(spaces[i].anchors))
				n := 0
				for _, p := range all {
					if inside(hull, p) {
						n++
					}
				}
				r.set("inside_"+in.name, float64(n)/float64(len(all))).set("area_"+in.name, area(hull)/area(outline(all)))
			}
		}
	}
	return rows, nil
}

// describe sets the measures of a matrix of correlations.
func describe(r row, a mat.Matrix) row {
	k, _ := a.Dims()
	sym := mat.NewSymDense(k, nil)
	off, all := 0.0, 0.0
	for i := range k {
		for j := range k {
			v := a.At(i, j)
			all += math.Abs(v)
			if i != j {
				off += math.Abs(v)
			}
			if i <= j {
				sym.SetSym(i, j, (v+a.At(j, i))/2)
			}
		}
	}
	r.set("least", mat.Min(a)).set("sum", mat.Sum(a)).set("off_diagonal", off/all)
	var e mat.EigenSym
	if e.Factorize(sym, false) {
		v := e.Values(nil)
		r.set("least_eigenvalue", v[0]/v[k-1])
	}
	return r
}

// correlations are the entries of an A.
func (l *lab) correlations(ctx context.Context, s *source, way string) ([]row, error) {
	m, _, err := l.rectifiedFit(ctx, s, way, pictured, rectifiedBy(way))
	if err != nil {
		return nil, err
	}
	a, anchors := m.Correlations(), m.Anchors()
	var rows []row
	for i := range pictured {
		for j := range pictured {
			r := row{"corpus": s.name, "method": way, "topic": m.Word(anchors[i]), "other": m.Word(anchors[j])}
			rows = append(rows, r.set("a", a.At(i, j)))
		}
	}
	return rows, nil
}

// topicRows are the top words of topics, and how many are frequent ones.
func topicRows(name, way string, c *corpus.Corpus, b *mat.Dense) ([]row, error) {
	lists, err := metrics.TopLists(b, tableWords)
	if err != nil {
		return nil, err
	}
	counts := c.WordCounts()
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(counts[j] - counts[i]) })
	frequent := order[:min(topWords, len(order))]
	var rows []row
	for j, list := range lists {
		n := 0
		for _, i := range list {
			if slices.Contains(frequent, i) {
				n++
			}
		}
		r := row{"corpus": name, "method": way, "words": listed(c, list)}
		rows = append(rows, r.set("topic", j+1).set("frequent", n))
	}
	return rows, nil
}

// spacePoints are the points of Figure 2.1. Anchors found in one space are marked in
// both.
func (l *lab) spacePoints(ctx context.Context, s *source) ([]row, error) {
	d, err := s.countUnbiased(ctx, l.words, l.workers)
	if err != nil {
		return nil, err
	}
	spaces, err := l.spaces(ctx, d, pictured, rectifiedBy("AP"))
	if err != nil {
		return nil, err
	}
	mark := make(map[int]string)
	for i, way := range []string{baseline, "AP"} {
		for _, w := range spaces[i].anchors {
			mark[w] = strings.TrimPrefix(mark[w]+"+"+way, "+")
		}
	}
	var rows []row
	for _, x := range spaces {
		rows = append(rows, pointRows(s.name, x.name, x.at, d.Info().Corpus.Word, mark, x.hull)...)
	}
	return rows, nil
}
