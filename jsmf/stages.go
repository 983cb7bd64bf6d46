package jsmf

import (
	"errors"
	"time"
)

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

// Validator is what a stage may have beside the methods of its interface: settings
// that can be checked. Pipeline.Validate asks for it.
type Validator interface{ Validate() error }

func validate(stages ...any) error {
	var errs []error
	for _, s := range stages {
		if v, ok := s.(Validator); ok {
			errs = append(errs, v.Validate())
		}
	}
	return errors.Join(errs...)
}
