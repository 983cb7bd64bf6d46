package main

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	recovery "github.com/jsmf-go/spectral/recover"
)

var timeGroup = &group{
	name: "time", version: 1,
	labels:   []string{"corpus", "method", "documents", "k", "words"},
	measures: []string{"tokens"},
	seconds:  []string{"seconds_cooc", "seconds_fit", "seconds"},
}

// The documents that time is taken on, drawn as in semi. Gibbs sampling is taken
// at its number of sweeps.
var timeDocs = []int{1000, 3000, 10000, 30000}

const (
	timeTokens = 100
	timeSweeps = 100 // most of Gibbs sampling's; its time is scaled up to -gibbs-sweeps
)

// timeMethods are L2 of arora-2013 without rectification, on C formed as there and
// on the counts, and ours.
var timeMethods = []string{formedL2, "L2", "AP", "LR", passes, gibbs}

const formedL2 = "L2, C formed"

// planTime takes the times against K from the cells of curves, and has its own
// against the number of documents.
func planTime(ctx context.Context, l *lab) ([]cell, error) {
	out, err := planCurves(ctx, l)
	if err != nil {
		return nil, err
	}
	s, err := l.source(l.corpora[0])
	if err != nil {
		return nil, err
	}
	k := l.some()[0]
	for _, docs := range timeDocs {
		set := settings("corpus", s.name, "documents", docs, "k", k, "n", l.small, "methods", timeMethods, "tokens", timeTokens,
			"sweeps", l.sweeps, "seed", l.seed, "input", s.digest)
		set = refined(set, passes)
		cost := 5 + float64(docs)/1000
		out = append(out, cell{timeGroup, set, cost, func(ctx context.Context) ([]row, error) { return l.timeDocs(ctx, s, k, docs) }})
	}
	return out, nil
}

func (l *lab) timeDocs(ctx context.Context, s *source, k, docs int) ([]row, error) {
	t, err := l.trueModel(ctx, s, k)
	if err != nil {
		return nil, err
	}
	g := corpus.Generator{Topics: t.b, Prior: corpus.SymmetricDirichlet(k, semiAlpha), Docs: docs, Lengths: []int{timeTokens}, Vocabulary: t.vocab, Seed: l.seed, Workers: l.workers}
	c, _, err := g.Generate(ctx)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, method := range timeMethods {
		r := row{"corpus": s.name, "method": method}
		r.set("documents", docs).set("k", k).set("words", c.NumWords()).set("tokens", c.Tokens())
		rows = append(rows, r)
		begun := cpuSeconds()
		if method == gibbs {
			sweeps := min(timeSweeps, l.sweeps)
			if docs > 10000 {
				sweeps = max(2, sweeps*10000/docs)
			}
			if _, err := sample(ctx, c, k, sweeps, l.seed); err != nil {
				return nil, err
			}
			r.set("seconds", (cpuSeconds()-begun)*float64(l.sweeps)/float64(sweeps))
			continue
		}
		p := asPublished(k).Rectify(rectifier(method)).Refine(refiner(method)).Seed(l.seed).Workers(l.workers)
		if method == "L2" || method == formedL2 {
			p = p.Rectify(rectifier(baseline)).Recover(recovery.L2())
		}
		d, err := l.counts(ctx, c, method == formedL2)
		if err != nil {
			return nil, err
		}
		before := cpuSeconds() - begun
		if _, err := p.Fit(ctx, d); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			r["error"] = err.Error()
			continue
		}
		total := cpuSeconds() - begun
		r.set("seconds_cooc", before).set("seconds_fit", math.Max(0, total-before)).set("seconds", total)
	}
	return rows, nil
}

// counts counts the documents, and forms C of the counts if it is asked to.
func (l *lab) counts(ctx context.Context, c *corpus.Corpus, form bool) (cooc.Operator, error) {
	d, err := cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true, Workers: l.workers})
	if err != nil || !form {
		return d, err
	}
	m := mat.NewDense(d.Dim(), d.Dim(), nil)
	for i := range d.Dim() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d.RowTo(m.RawRowView(i), i)
	}
	return cooc.NewDense(m)
}
