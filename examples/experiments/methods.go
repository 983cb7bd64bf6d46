package main

import (
	"context"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/jsmf"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/recover/scls"
	"github.com/jsmf-go/spectral/rectify"
)

// The methods of -methods, in the order of the figures.
const (
	baseline = "Baseline" // no rectification
	passes   = "AP+passes"
	gibbs    = "Gibbs"
)

var methodNames = []string{baseline, "DC", "AP", "DR", "ENN", "PALM", "LR", passes, gibbs}

// asPublished returns a pipeline that takes any word for an anchor and keeps the first anchors it
// finds, as the papers' do, whether the model fits or not.
func asPublished(k int) jsmf.Pipeline {
	return jsmf.Published(k).Anchors(anchor.QR{MinDocs: 1})
}

// rectifier returns the rectification of a method, nil for Gibbs sampling. The
// settings are the papers', with two exceptions: AP and DR make 15 iterations and not 150
// (lee-2020 §4 finds little difference, and -run iterations measures it), and DC is the
// median of 10 halvings and not 30.
func rectifier(method string) rectify.Rectifier {
	switch method {
	case baseline:
		return rectify.None{}
	case "DC":
		return rectify.DC{Halvings: 10}
	case "AP", passes:
		return rectify.AP{}
	case "DR":
		return rectify.DR{}
	case "ENN":
		return rectify.ENN{Iterations: 50}
	case "PALM":
		return rectify.PALM{}
	case "LR":
		return rectify.LR{ENN: rectify.ENN{Iterations: 50}}
	}
	return nil
}

// refiner returns the passes of a method that makes some, those of the library by itself,
// or nil.
func refiner(method string) refine.Refiner {
	if method == passes {
		return refine.Passes{}
	}
	return nil
}

// refined appends to the settings of a cell how its method refines, if it does.
func refined(set []setting, method string) []setting {
	if r := refiner(method); r != nil {
		return append(set, settings("refine", r)...)
	}
	return set
}

// The ways of recovery of -recover. ADMM and ExpGrad have the papers' settings.
var recovererNames = []string{"ExpGrad", "ADMM", "ActiveSet"}

func recoverer(name string) recovery.Recoverer {
	switch name {
	case "ExpGrad":
		return recovery.SCLS{Solver: scls.PaperExpGrad()}
	case "ADMM":
		return recovery.SCLS{Solver: scls.PaperADMM()}
	case "ActiveSet":
		return recovery.SCLS{}
	}
	return nil
}

// lastRectified is a Rectifier that remembers its last result: cells that differ
// in the recovery only follow each other. It is for one goroutine.
type lastRectified struct {
	rectify.Rectifier
	c       cooc.Operator
	k       int
	seed    uint64
	res     *rectify.Result
	seconds float64 // of CPU that it took
}

func (l *lastRectified) Rectify(ctx context.Context, c cooc.Operator, k int, opt rectify.Options) (*rectify.Result, error) {
	if l.res != nil && l.c == c && l.k == k && l.seed == opt.Seed {
		return l.res, nil
	}
	begun := cpuSeconds()
	res, err := l.Rectifier.Rectify(ctx, c, k, opt)
	if err != nil {
		return nil, err
	}
	l.c, l.k, l.seed, l.res, l.seconds = c, k, opt.Seed, res, cpuSeconds()-begun
	return res, nil
}
