package jsmf

import (
	"context"
	"errors"
	"time"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/rectify"
)

// Rectifier gives the co-occurrence matrix the structure that topics give it.
// Package rectify has several; anything with these methods will do.
type Rectifier interface {
	Rectify(ctx context.Context, c cooc.Matrix, k int, opt rectify.Options) (*rectify.Result, error)
	String() string
}

// AnchorFinder finds one anchor word a topic. Package anchor has several;
// anything with these methods will do.
type AnchorFinder interface {
	Find(ctx context.Context, rows cooc.Rows, k int, opt anchor.Options) (*anchor.Result, error)
	String() string
}

// Recoverer learns topics and correlations from the anchors. Package recovery
// (folder recover) has several; anything with these methods will do.
type Recoverer interface {
	Recover(ctx context.Context, rows cooc.Rows, anchors []int, opt recovery.Options) (*recovery.Result, error)
	String() string
}

// Learner learns topics and correlations without anchors, in place of an
// AnchorFinder and a Recoverer. Package anchorfree (folder recover/anchorfree)
// has two; anything with these methods will do.
type Learner interface {
	Learn(ctx context.Context, c cooc.Matrix, k int, opt anchorfree.Options) (*anchorfree.Result, error)
	String() string
}

// tracker reports the stages of one fit to a Recorder and times them.
type tracker struct {
	rec   Recorder
	stage Stage
	begun time.Time
}

func (t *tracker) record(e Event) {
	if t.rec == nil {
		return
	}
	e.Stage = t.stage
	if e.Kind != EventStart {
		e.Elapsed = time.Since(t.begun)
	}
	t.rec.Record(e)
}

// run performs one stage; f returns its outcome in words.
func (t *tracker) run(s Stage, message string, f func() (string, error)) (time.Duration, error) {
	t.stage, t.begun = s, time.Now()
	t.record(Event{Kind: EventStart, Message: message})
	outcome, err := f()
	d := time.Since(t.begun)
	t.record(Event{Kind: EventEnd, Message: outcome, Err: err})
	return d, err
}

func (t *tracker) progress(done, total int, name string, v float64) {
	t.record(Event{Kind: EventProgress, Done: done, Total: total, Name: name, Value: v})
}

// validator is what settings implement that can be checked before they are
// used.
type validator interface{ Validate() error }

func validate(stages ...any) error {
	var errs []error
	for _, s := range stages {
		if v, ok := s.(validator); ok {
			errs = append(errs, v.Validate())
		}
	}
	return errors.Join(errs...)
}
