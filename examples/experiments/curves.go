package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

var stages = []string{"seconds_rectify", "seconds_anchors", "seconds_recover", "seconds_refine", "seconds"}

var curvesGroup = &group{
	name: "curves", version: 2,
	labels:   []string{"corpus", "method", "recover", "k"},
	measures: append(slices.Clone(measured), "objective"),
	seconds:  stages,
}

// costs are the seconds that a rectification takes on a corpus of the size of
// nips17, about, with K = 100, on one core.
var costs = map[string]float64{baseline: 0.3, "DC": 20, "AP": 3, "DR": 8, "ENN": 4, "PALM": 40, "LR": 4, passes: 8}

// planCurves makes the cells of a corpus × K × method × recovery.
func planCurves(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	for _, name := range l.corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		for _, k := range l.topics {
			for _, method := range l.methods {
				cost := costs[method] * (0.1 + float64(k)/100)
				if (method == gibbs || method == "DC") && k > l.maxSlow {
					continue
				}
				if method == gibbs {
					cost = gibbsCost(k, l.sweeps)
					set := settings("corpus", name, "method", method, "recover", "", "k", k, "n", l.words, "sweeps", l.sweeps, "seed", l.seed, "input", s.digest)
					out = append(out, cell{curvesGroup, set, cost, func(ctx context.Context) ([]row, error) { return l.gibbsCurve(ctx, s, k) }})
					continue
				}
				ways := l.recoverers
				if method == passes || method != "AP" && slices.Contains(ways, "ActiveSet") {
					ways = []string{"ActiveSet"} // the others are in no figure
				}
				last := &lastRectified{Rectifier: rectifier(method)}
				for i, way := range ways {
					set := settings("corpus", name, "method", method, "recover", way, "k", k, "n", l.words,
						"rectify", last.Rectifier, "solver", recoverer(way), "seed", l.seed, "input", s.digest)
					set = refined(set, method)
					c := cost
					if i > 0 {
						c = 0
					}
					if way != "ActiveSet" {
						c += 30 * float64(k*k) / 1e4
					}
					out = append(out, cell{curvesGroup, set, c + 0.2, func(ctx context.Context) ([]row, error) {
						return l.curve(ctx, s, k, method, last, way, i == len(ways)-1)
					}})
				}
			}
		}
	}
	return out, nil
}

// curve fits and measures one model.
func (l *lab) curve(ctx context.Context, s *source, k int, method string, rect *lastRectified, way string, end bool) ([]row, error) {
	if end {
		defer func() { rect.res = nil }() // the memory
	}
	d, err := s.countUnbiased(ctx, l.words, l.workers)
	if err != nil {
		return nil, err
	}
	p := asPublished(k).Rectify(rect).Recover(recoverer(way)).Refine(refiner(method)).Seed(l.seed).Workers(l.workers)
	took := make(stageTimes)
	m, rep, err := fitted(ctx, p.Record(took.Record), d)
	if err != nil {
		return nil, err
	}
	r := row{"corpus": s.name, "method": method, "recover": way}
	r.set("k", k)
	measures(r, rep)
	r.set("objective", m.Stats().Recover.Objective)
	r.set("seconds_rectify", rect.seconds).set("seconds_anchors", took[jsmf.StageAnchors])
	r.set("seconds_recover", took[jsmf.StageRecover]).set("seconds_refine", took[jsmf.StageRefine])
	r.set("seconds", rect.seconds+took[jsmf.StageAnchors]+took[jsmf.StageRecover]+took[jsmf.StageRefine])
	return []row{r}, nil
}

// stageTimes notes the CPU seconds of each stage.
type stageTimes map[jsmf.Stage]float64

func (t stageTimes) Record(e jsmf.Event) {
	switch e.Kind {
	case jsmf.EventStart:
		t[e.Stage] -= cpuSeconds()
	case jsmf.EventEnd:
		t[e.Stage] += cpuSeconds()
	}
}

func (l *lab) gibbsCurve(ctx context.Context, s *source, k int) ([]row, error) {
	d, err := s.countUnbiased(ctx, l.words, l.workers)
	if err != nil {
		return nil, err
	}
	begun := cpuSeconds()
	m, err := sample(ctx, d.Info().Corpus, k, l.sweeps, l.seed)
	if err != nil {
		return nil, err
	}
	took := cpuSeconds() - begun
	rep, err := evaluate(ctx, d, m.b, m.breve, m.a, l.workers)
	if err != nil {
		return nil, err
	}
	r := row{"corpus": s.name, "method": gibbs}
	r.set("k", k).set("seconds", took)
	measures(r, rep)
	return []row{r}, nil
}

var iterationsGroup = &group{
	name: "iterations", version: 1,
	labels:   []string{"corpus", "method", "k", "iterations"},
	measures: slices.Clone(measured),
	seconds:  []string{"seconds_rectify"},
}

// steps are the iterations looked at.
var steps = []int{1, 2, 3, 5, 10, 15, 20, 50, 150}

// some returns up to two of the K: the largest up to 50, and the largest up to a
// quarter of that.
func (l *lab) some() []int {
	small, large := l.topics[0], l.topics[0]
	for _, k := range l.topics {
		if k <= 50 {
			large = k
		}
	}
	for _, k := range l.topics {
		if 4*k <= large {
			small = k
		}
	}
	return slices.Compact([]int{small, large})
}

func planIterations(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	for _, name := range l.corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		for _, k := range l.some() {
			for _, t := range steps {
				for _, method := range []string{"AP", "DR"} {
					var r rectify.Rectifier = rectify.AP{Iterations: t}
					if method == "DR" {
						r = rectify.DR{Iterations: t}
					}
					set := settings("corpus", name, "method", method, "k", k, "iterations", t, "n", l.words, "rectify", r, "input", s.digest)
					cost := costs[method]*float64(k*t)/1500 + 0.2
					out = append(out, cell{iterationsGroup, set, cost, func(ctx context.Context) ([]row, error) {
						d, err := s.countUnbiased(ctx, l.words, l.workers)
						if err != nil {
							return nil, err
						}
						p := asPublished(k).Rectify(r).Workers(l.workers)
						took := make(stageTimes)
						_, rep, err := fitted(ctx, p.Record(took.Record), d)
						if err != nil {
							return nil, err
						}
						x := row{"corpus": name, "method": method}
						x.set("k", k).set("iterations", t).set("seconds_rectify", took[jsmf.StageRectify])
						measures(x, rep)
						return []row{x}, nil
					}})
				}
			}
		}
	}
	return out, nil
}

// fitted fits a model and measures it.
func fitted(ctx context.Context, p jsmf.Pipeline, d *cooc.Moments) (*jsmf.Model, *metrics.Report, error) {
	m, err := p.Fit(ctx, d)
	if err != nil {
		return nil, nil, err
	}
	rep, err := p.Evaluate(ctx, m, d)
	return m, rep, err
}

var pruningGroup = &group{
	name: "pruning", version: 1,
	labels:   []string{"corpus", "cutoff", "k"},
	measures: append([]string{"words"}, measured...),
}

// cutoffs are the shares of documents of Figure 1 beyond which words are removed.
var cutoffs = []float64{0.1, 0.5, 0.9}

func planPruning(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	for _, name := range l.corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		for _, share := range cutoffs {
			for _, k := range l.topics {
				p := asPublished(k).Rectify(rectify.AP{}).Workers(l.workers)
				set := settings("corpus", name, "cutoff", share, "k", k, "n", l.words, "rectify", rectify.AP{}, "input", s.digest)
				cost := costs["AP"]*float64(k)/100 + 0.2
				out = append(out, cell{pruningGroup, set, cost, func(ctx context.Context) ([]row, error) {
					cur := corpus.Curation{Words: l.words, MaxDocShare: share, Score: corpus.TFIDF}
					d, err := s.count(ctx, cur, cooc.Unbiased, l.workers)
					if err != nil {
						return nil, err
					}
					m, rep, err := fitted(ctx, p, d)
					if err != nil {
						return nil, err
					}
					r := row{"corpus": name}
					r.set("cutoff", fmt.Sprint(share)).set("k", k).set("words", m.N())
					measures(r, rep)
					return []row{r}, nil
				}})
			}
		}
	}
	return out, nil
}

var convergenceGroup = &group{
	name: "convergence", version: 1,
	labels:   []string{"corpus", "k", "iteration"},
	measures: []string{"change", "clipped", "rank_residual", "sum_error"},
}

// longest is how many iterations convergence runs AP for.
const longest = 150

func planConvergence(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	for _, name := range l.corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		for _, k := range l.some() {
			set := settings("corpus", name, "k", k, "n", l.words, "iterations", longest, "input", s.digest)
			out = append(out, cell{convergenceGroup, set, costs["AP"] * float64(k) / 1500 * 500, func(ctx context.Context) ([]row, error) {
				return l.converge(ctx, s, k)
			}})
		}
	}
	return out, nil
}

// converge lets AP run and notes the change of each iteration; how far the
// matrix is from having rank K is noted after some of them, by further runs that
// end there.
func (l *lab) converge(ctx context.Context, s *source, k int) ([]row, error) {
	d, err := s.countUnbiased(ctx, l.words, l.workers)
	if err != nil {
		return nil, err
	}
	// Eigenpairs to the default tolerance would hide small changes.
	ap := rectify.AP{Iterations: longest, EigenTol: 1e-8}
	whole, err := ap.Rectify(ctx, d, k, rectify.Options{Workers: l.workers})
	if err != nil {
		return nil, err
	}
	rows := make([]row, longest)
	for i := range rows {
		rows[i] = row{"corpus": s.name}
		rows[i].set("k", k).set("iteration", i+1).set("change", whole.Changes[i])
		if i < len(whole.Nonzeros) {
			n := float64(d.Dim())
			rows[i].set("clipped", float64(whole.Nonzeros[i])/(n*n))
		}
	}
	for _, t := range steps {
		res := whole
		if t < longest {
			ap.Iterations = t
			if res, err = ap.Rectify(ctx, d, k, rectify.Options{Workers: l.workers}); err != nil {
				return nil, err
			}
		}
		rows[t-1].set("rank_residual", res.Violations.RankResidual).set("sum_error", res.Violations.SumError)
	}
	return rows, nil
}
