package main

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/synth"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
)

// scatteredGroup is fu-2018 §5: topics that are made, with anchors or without.
var scatteredGroup = &group{
	name: "scattered", version: 1,
	labels: []string{"anchors", "k", "method"},
	// found is the share of the trials with both errors below scatteredLimit; the errors
	// are medians, and so are seconds.
	measures: []string{"trials", "found", "err_b", "err_a"},
	seconds:  []string{"seconds"},
}

const (
	scatteredWords  = 1000
	scatteredTrials = 20
	scatteredLimit  = 1e-8
)

var (
	scatteredTopics  = []int{5, 10, 15, 20, 25, 30}
	scatteredAnchors = []int{0, 15} // Tables 2 and 3
)

// expGradSPA is SPA with the program of arora-2013 for RecoverL2.
const expGradSPA = "SPA, RecoverL2"

// scatteredMethod learns B and A from C.
type scatteredMethod struct {
	name  string
	learn func(ctx context.Context, c cooc.Matrix, k, workers int) (b, a *mat.Dense, err error)
}

// scatteredMethods are those of fu-2018 §5. Anchors are followed by exact
// least squares: RecoverL2 of arora-2013 would stop short of the errors asked for.
func scatteredMethods() []scatteredMethod {
	var out []scatteredMethod
	for _, f := range finders {
		out = append(out, scatteredMethod{f.name, byAnchors(f.finder, recovery.SCLS{})})
	}
	out = append(out, scatteredMethod{expGradSPA, byAnchors(anchor.SPA{}, recovery.L2())})
	for _, x := range learners {
		out = append(out, scatteredMethod{x.name, func(ctx context.Context, c cooc.Matrix, k, workers int) (b, a *mat.Dense, err error) {
			r, err := x.learner.Learn(ctx, c, k, anchorfree.Options{Workers: workers})
			if err != nil {
				return nil, nil, err
			}
			return r.B, r.A, nil
		}})
	}
	return out
}

// byAnchors finds anchors and recovers the topics from them.
func byAnchors(f anchor.Finder, by recovery.Recoverer) func(ctx context.Context, c cooc.Matrix, k, workers int) (b, a *mat.Dense, err error) {
	return func(ctx context.Context, c cooc.Matrix, k, workers int) (b, a *mat.Dense, err error) {
		rows, err := cooc.NewRows(c)
		if err != nil {
			return nil, nil, err
		}
		found, err := f.Find(ctx, rows, k, anchor.Options{Workers: workers})
		if err != nil {
			return nil, nil, err
		}
		r, err := by.Recover(ctx, rows, found.Anchors, recovery.Options{Workers: workers})
		if err != nil {
			return nil, nil, err
		}
		return r.B, r.A, nil
	}
}

func planScattered(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	for _, anchors := range scatteredAnchors {
		for _, k := range scatteredTopics {
			var names []string
			for _, m := range scatteredMethods() {
				names = append(names, m.name)
			}
			set := settings("anchors", anchors, "k", k, "n", scatteredWords, "trials", scatteredTrials, "methods", names, "seed", l.seed)
			out = append(out, cell{scatteredGroup, set, float64(k*k) / 30, func(ctx context.Context) ([]row, error) {
				return l.scatter(ctx, scatteredWords, k, anchors, scatteredTrials)
			}})
		}
	}
	return out, nil
}

// scatter makes models of k topics over n words, of which at most the given number have
// anchors, and learns each by all methods from C = BABᵀ. What a method cannot do counts
// as a trial in which nothing is found.
func (l *lab) scatter(ctx context.Context, n, k, anchors, trials int) ([]row, error) {
	type outcome struct {
		found               int
		errB, errA, seconds []float64
		failure             error
	}
	methods := scatteredMethods()
	outcomes := make([]outcome, len(methods))
	for trial := range trials {
		b, a := synth.Scattered(n, k, min(k, anchors), l.seed+uint64(trial))
		c, err := cooc.NewDense(synth.Cooccurrence(b, a))
		if err != nil {
			return nil, err
		}
		for i, m := range methods {
			o := &outcomes[i]
			begun := cpuSeconds()
			gotB, gotA, err := m.learn(ctx, c, k, l.workers)
			o.seconds = append(o.seconds, cpuSeconds()-begun)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				o.failure = err
				continue
			}
			errB, errA, err := synth.Errors(b, a, gotB, gotA)
			if err != nil {
				return nil, err
			}
			o.errB, o.errA = append(o.errB, errB), append(o.errA, errA)
			if errB < scatteredLimit && errA < scatteredLimit {
				o.found++
			}
		}
	}
	var rows []row
	for i, m := range methods {
		o := outcomes[i]
		r := row{"method": m.name}
		r.set("anchors", anchors).set("k", k).set("trials", trials).set("found", float64(o.found)/float64(trials))
		r.set("err_b", median(o.errB)).set("err_a", median(o.errA)).set("seconds", median(o.seconds))
		if o.failure != nil {
			r["error"] = o.failure.Error()
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// median returns the middle one of the numbers, the mean of the middle two, or NaN.
func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
