package main

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// crossed tells apart the two things of which Recovery is made, the anchors and the
// rows that B̆ was recovered from.
var crossed = experiment{
	name: "crossed", title: "Anchors and rows crossed",
	what: "Not in the papers: why Recovery prefers Baseline to AP in some cases above. Anchors are those of Baseline (rows of the original C) or of AP (rows of the rectified C); " +
		"B̆ is then recovered (ActiveSet) from the original or the rectified rows. Recovery is measured against the original rows in all four cases, as the papers measure it; " +
		"once as the mean over words, as they do, and once weighted by p(word).",
	groups: []*group{crossedGroup},
	plan:   planCrossed,
	tables: func(_ *lab, t *tables) []table {
		rows := t.rows["crossed"]
		x := table{caption: "Recovery, with the anchors and from the rows of:", head: []string{"corpus", "K", "Baseline, Baseline", "Baseline, AP", "AP, Baseline", "AP, AP", "weighted: Baseline, Baseline", "AP, AP"}}
		for _, c := range values(rows, "corpus") {
			for _, k := range values(rows, "k") {
				four := where(rows, "corpus", c, "k", k)
				if len(four) != 4 {
					continue
				}
				line := []string{c, k}
				for _, r := range four {
					line = append(line, fmt.Sprintf("%.4f", r.num("recovery")))
				}
				for _, r := range []row{four[0], four[3]} {
					line = append(line, fmt.Sprintf("%.4f", r.num("recovery_weighted")))
				}
				x.rows = append(x.rows, line)
			}
		}
		return []table{x}
	},
	claims: []claim{
		{"here", "AP's anchors recover the original rows better than Baseline's, if B̆ is recovered from the original rows for both", crossing(baseline, baseline, "recovery")},
		{"here", "with its own anchors and rows, weighted by p(word), AP recovers better than Baseline", crossing("AP", baseline, "recovery_weighted")},
	},
}

var crossedGroup = &group{
	name: "crossed", version: 1,
	labels:   []string{"corpus", "k", "anchors", "rows"},
	measures: []string{"recovery", "recovery_weighted"},
}

// crossing compares AP's anchors, with B̆ from the rows of one method, with Baseline's,
// with B̆ from those of another.
func crossing(ap, base, measure string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["crossed"]
		return compareRows(where(rows, "anchors", "AP", "rows", ap), where(rows, "anchors", baseline, "rows", base), []string{"corpus", "k"}, measure, less)
	}
}

func planCrossed(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	for _, name := range l.corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		for _, k := range l.topics {
			set := settings("corpus", name, "k", k, "n", l.words, "rectify", rectifier("AP"), "input", s.digest)
			out = append(out, cell{crossedGroup, set, 2*costs["AP"]*float64(k)/100 + 0.5, func(ctx context.Context) ([]row, error) { return l.cross(ctx, s, k) }})
		}
	}
	return out, nil
}

// cross fits with the anchors of both methods to the rows of both.
func (l *lab) cross(ctx context.Context, s *source, k int) ([]row, error) {
	d, err := s.countUnbiased(ctx, l.words, l.workers)
	if err != nil {
		return nil, err
	}
	both := []string{baseline, "AP"}
	models := make(map[string]*jsmf.Model)
	for _, method := range both {
		if models[method], err = asPublished(k).Rectify(rectifier(method)).Workers(l.workers).Fit(ctx, d); err != nil {
			return nil, err
		}
	}
	var out []row
	for _, from := range both {
		for _, rows := range both {
			m := models[rows]
			if from != rows {
				fixed := anchor.Fixed{Numbers: models[from].Anchors()}
				if m, err = asPublished(k).Rectify(rectifier(rows)).Anchors(fixed).Workers(l.workers).Fit(ctx, d); err != nil {
					return nil, err
				}
			}
			mean, weighted, err := recoveryOf(ctx, d, m, l.workers)
			if err != nil {
				return nil, err
			}
			r := row{"corpus": s.name, "anchors": from, "rows": rows}
			out = append(out, r.set("k", k).set("recovery", mean).set("recovery_weighted", weighted))
		}
	}
	return out, nil
}

// recoveryOf is the mean over words of the Recovery of a model, and that weighted by p(word).
func recoveryOf(ctx context.Context, c cooc.Matrix, m *jsmf.Model, workers int) (mean, weighted float64, err error) {
	r, err := metrics.Evaluate(ctx, metrics.Factors{
		C: c, B: mat.DenseCopyOf(m.Topics()), WordTopics: mat.DenseCopyOf(m.WordTopics()), Anchors: m.Anchors(), Workers: workers,
	})
	if err != nil {
		return 0, 0, err
	}
	stat := r.Recovery
	if stat.Undefined > 0 {
		return 0, 0, fmt.Errorf("%d words have no row", stat.Undefined)
	}
	for i, p := range c.Marginals() {
		weighted += p * stat.Values[i]
	}
	return stat.Mean, weighted, nil
}
