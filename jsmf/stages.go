package jsmf

import (
	"errors"
	"fmt"
	"reflect"
	"time"
)

// tracker reports the stages of one fit and times them.
type tracker struct {
	recorders []func(Event)
	stage     Stage
	begun     time.Time
}

func (t *tracker) record(e Event) {
	e.Stage = t.stage
	if e.Kind != EventStart {
		e.Elapsed = time.Since(t.begun)
	}
	for _, f := range t.recorders {
		f(e)
	}
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

// warn adds a warning to the statistics and reports it.
func (t *tracker) warn(st *Stats, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	st.Warnings = append(st.Warnings, message)
	t.record(Event{Kind: EventWarning, Message: message})
}

// Validator is a stage whose settings can be checked before it runs.
// Pipeline.Validate calls the method of stages that have it.
type Validator interface{ Validate() error }

// validate checks the stages that are there.
func validate(stages ...any) error {
	var errs []error
	for _, s := range stages {
		if v, ok := s.(Validator); ok && !missing(s) {
			errs = append(errs, v.Validate())
		}
	}
	return errors.Join(errs...)
}

// missing tells whether an interface holds nothing, or a nil pointer.
func missing(x any) bool {
	v := reflect.ValueOf(x)
	return x == nil || v.Kind() == reflect.Pointer && v.IsNil()
}
