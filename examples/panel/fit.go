package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/examples/internal/heldout"
	"github.com/jsmf-go/spectral/internal/cputime"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/recover/refine"
)

// result is a fit, scored.
type result struct {
	Corpus     string     `json:"corpus"`
	K          int        `json:"k"`
	Program    string     `json:"program"`
	LL         cli.Number `json:"ll"`
	NPMI       cli.Number `json:"npmi"`       // of the most probable words
	Reading    cli.Number `json:"reading"`    // of the reading words
	Uniqueness cli.Number `json:"uniqueness"` // of 20 reading words
	Dead       []int      `json:"dead"`       // numbers of topics
	Background []int      `json:"background"` // the same
	Seconds    float64    `json:"seconds"`    // by the clock
	CPU        float64    `json:"cpu_seconds"`
	Stages     []stage    `json:"stages"`
	Rivals     []rival    `json:"rivals,omitempty"`
}

// arrays are what is saved of a fit, N×K with a row for each word of the corpus.
type arrays struct{ topics, reading *mat.Dense }

// measure fits k topics and scores them.
func (o options) measure(ctx context.Context, e *heldout.Evaluator, train *corpus.Corpus, k int) (r result, x arrays, err error) {
	p, name := o.pipeline(k)
	var watch stopwatch
	runtime.GC() // the garbage of what was before is not this fit's
	begun, cpu := time.Now(), seconds()
	m, err := p.Record(watch.record).Fit(ctx, train)
	if err != nil {
		return r, x, err
	}
	r = result{K: m.K(), Program: name, CPU: seconds() - cpu, Seconds: time.Since(begun).Seconds(), Dead: []int{}, Background: []int{}}
	r.Stages = watch.all(r.CPU)
	x.topics = heldout.InCorpus(m, mat.DenseCopyOf(m.Topics()), train)
	x.reading = heldout.InCorpus(m, shown(m), train)
	ll, err := e.LogLikelihood(ctx, x.topics, nil)
	if err != nil {
		return r, x, err
	}
	npmi, _, err := e.Words(ctx, x.topics)
	if err != nil {
		return r, x, err
	}
	reading, unique, err := e.Words(ctx, x.reading)
	if err != nil {
		return r, x, err
	}
	r.LL, r.NPMI, r.Reading, r.Uniqueness = cli.Number(ll), cli.Number(npmi), cli.Number(reading), cli.Number(unique)
	dead, err := metrics.DeadTopics(ctx, mat.DenseCopyOf(m.Topics()), m.TopicShares(), o.workers)
	if err != nil {
		return r, x, err
	}
	for _, d := range dead {
		r.Dead = append(r.Dead, d.Topic)
	}
	for t, is := range m.Background() {
		if is {
			r.Background = append(r.Background, t)
		}
	}
	return r, x, nil
}

// shown returns the weights that rank the words of a topic, as Model.TopWords does: those
// of Reading, or the probabilities in a topic without any.
func shown(m *jsmf.Model) *mat.Dense {
	b, r := mat.DenseCopyOf(m.Topics()), m.Reading()
	if r == nil {
		return b
	}
	for t := range m.K() {
		if col := mat.Col(nil, t, r); floats.Sum(col) > 0 {
			b.SetCol(t, col)
		}
	}
	return b
}

// pipeline returns what is measured, and a name for it.
func (o options) pipeline(k int) (jsmf.Pipeline, string) {
	p, name := jsmf.New(k), "default"
	if o.published {
		p, name = jsmf.Published(k), "published"
	}
	if o.refine > 0 {
		name += fmt.Sprintf(" +%d", o.refine)
		p = p.Refine(refine.Passes{N: o.refine})
	}
	if o.extra >= 0 {
		name += fmt.Sprintf(" extra %d", o.extra)
		p = p.Extra(o.extra)
	}
	return p.Workers(o.workers), name
}

// stage is a part of a fit.
type stage struct {
	Name string  `json:"name"`
	CPU  float64 `json:"cpu_seconds"`
}

// stopwatch measures the CPU time of the stages of one fit. A stage that comes
// several times is added up.
type stopwatch struct {
	stages []stage
	begun  float64
}

// record is for Pipeline.Record.
func (s *stopwatch) record(e jsmf.Event) {
	switch e.Kind {
	case jsmf.EventStart:
		s.begun = seconds()
	case jsmf.EventEnd:
		d := seconds() - s.begun
		i := slices.IndexFunc(s.stages, func(x stage) bool { return x.Name == string(e.Stage) })
		if i < 0 {
			i, s.stages = len(s.stages), append(s.stages, stage{Name: string(e.Stage)})
		}
		s.stages[i].CPU += d
	}
}

// all returns the stages in their order, and the rest of the total as "other".
func (s *stopwatch) all(total float64) []stage {
	rest := total
	for _, x := range s.stages {
		rest -= x.CPU
	}
	return append(s.stages, stage{"other", max(rest, 0)})
}

// seconds returns the CPU time of the process or, where that is not available, by
// the clock. Only differences mean anything.
func seconds() float64 {
	if cputime.Known {
		return cputime.Seconds()
	}
	return float64(time.Now().UnixNano()) * 1e-9
}
