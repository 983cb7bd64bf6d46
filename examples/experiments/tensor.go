package main

import (
	"context"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/experiments/internal/rivals"
)

// The methods that the papers compare with, of package rivals.
const (
	tensorName = "Tensor"
	tensorLow  = "Tensor, α₀ = 0.1"
	tensorHigh = "Tensor, α₀ = 5"
	// trimmed, after the name of a method, is without the documents of which one
	// word is more than half.
	trimmed   = ", trimmed"
	oviName   = "OVI"
	oviMore   = "OVI, 10 passes"
	ctmName   = "CTM"
	ctmLonger = "CTM, to 10⁻⁵"
)

// rival fits topics to a corpus.
type rival interface {
	Fit(ctx context.Context, c *corpus.Corpus) (*rivals.Model, error)
}

// rivalOf returns a method by its name. The papers name the programs they ran and few
// settings. OVI has those of the package of lee-2020 when nothing is said: batches of
// 2,000 documents, one pass, priors 1/K. CTM stops when the bound grows by less than a
// thousandth, as its authors' program does.
func rivalOf(name string, k int, seed uint64) rival {
	tensor := rivals.Tensor{K: k, AlphaSum: 1, Restarts: 10, Steps: 100, Seed: seed}
	ovi := rivals.OnlineLDA{K: k, Alpha: 1 / float64(k), Eta: 1 / float64(k), Batch: 2000, Tau: 1, Kappa: 0.5, Passes: 1, Seed: seed}
	switch name {
	case tensorName, tensorName + trimmed:
		return tensor
	case tensorLow:
		tensor.AlphaSum = 0.1
		return tensor
	case tensorHigh:
		tensor.AlphaSum = 5
		return tensor
	case oviName:
		return ovi
	case oviMore:
		ovi.Batch, ovi.Passes = 256, 10
		return ovi
	case ctmName:
		return rivals.CTM{K: k, Iterations: 100, Tolerance: 1e-3, Seed: seed}
	case ctmLonger:
		return rivals.CTM{K: k, Iterations: 100, Tolerance: 1e-5, Seed: seed}
	}
	return nil
}

var tensorGroup = &group{
	name: "tensor", version: 1,
	labels:   []string{"corpus", "method", "k"},
	measures: slices.Clone(measured),
	seconds:  []string{"seconds"},
}

var tensorMethods = []string{tensorName, tensorLow, tensorHigh, tensorName + trimmed, oviName, oviMore}

// planTensor takes Baseline, AP and Gibbs from the cells of curves, with ExpGrad as in
// lee-2020 Figure 3, and AP also with ADMM.
func planTensor(ctx context.Context, l *lab) ([]cell, error) {
	x := *l
	x.topics = slices.DeleteFunc(slices.Clone(l.topics), func(k int) bool { return k > l.maxSlow })
	x.methods, x.recoverers = []string{baseline, "AP", gibbs}, []string{"ExpGrad"}
	out, err := planCurves(ctx, &x)
	if err != nil {
		return nil, err
	}
	y := x
	y.methods, y.recoverers = []string{"AP"}, []string{"ADMM"}
	more, err := planCurves(ctx, &y)
	if err != nil {
		return nil, err
	}
	out = append(out, more...)
	for _, name := range l.corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		for _, k := range x.topics {
			for _, method := range tensorMethods {
				set := settings("corpus", name, "method", method, "k", k, "n", l.words, "rival", rivalOf(method, k, l.seed), "input", s.digest)
				cost := 0.5
				if method == oviMore {
					cost += float64(k) / 2
				}
				out = append(out, cell{tensorGroup, set, cost, func(ctx context.Context) ([]row, error) { return l.rivalCurve(ctx, s, k, method) }})
			}
		}
	}
	return out, nil
}

// countFor counts a corpus for a method, trimmed if it asks for that.
func (l *lab) countFor(ctx context.Context, s *source, method string) (*cooc.Moments, error) {
	d, err := s.countUnbiased(ctx, l.words, l.workers)
	if err != nil || !strings.HasSuffix(method, trimmed) {
		return d, err
	}
	c := d.Info().Corpus
	var keep []int
	for m := range c.NumDocs() {
		if _, counts := c.Doc(m); len(counts) > 0 && 2*int64(slices.Max(counts)) <= c.DocLen(m) {
			keep = append(keep, m)
		}
	}
	if c, err = c.Select(keep, nil); err != nil {
		return nil, err
	}
	return cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true, Workers: l.workers})
}

// rivalCurve fits and measures one model.
func (l *lab) rivalCurve(ctx context.Context, s *source, k int, method string) ([]row, error) {
	d, err := l.countFor(ctx, s, method)
	if err != nil {
		return nil, err
	}
	begun := cpuSeconds()
	m, err := rivalOf(method, k, l.seed).Fit(ctx, d.Info().Corpus)
	if err != nil {
		return nil, err
	}
	took := cpuSeconds() - begun
	rep, err := evaluate(ctx, d, m.B, wordTopics(m.B, m.A), m.A, l.workers)
	if err != nil {
		return nil, err
	}
	r := row{"corpus": s.name, "method": method}
	r.set("k", k).set("seconds", took)
	measures(r, rep)
	return []row{r}, nil
}
