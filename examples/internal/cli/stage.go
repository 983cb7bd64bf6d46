package cli

import (
	"io"
	"time"

	"github.com/jsmf-go/spectral/jsmf"
)

// Progress returns the Recorder of a program: one that prints to stderr, or nil
// with -quiet.
func Progress(quiet bool, stderr io.Writer) jsmf.Recorder {
	if quiet {
		return nil
	}
	return jsmf.NewPrinter(stderr)
}

// Stage runs f as a stage of the program's own, such as reading, and reports it
// to rec, if that is not nil, as a Pipeline reports its stages. f returns its
// outcome in a few words. Stage returns the time f took, and its error.
func Stage(rec jsmf.Recorder, name string, f func() (outcome string, err error)) (time.Duration, error) {
	if rec == nil {
		rec = jsmf.RecorderFunc(func(jsmf.Event) {})
	}
	s, begun := jsmf.Stage(name), time.Now()
	rec.Record(jsmf.Event{Stage: s, Kind: jsmf.EventStart})
	outcome, err := f()
	d := time.Since(begun)
	rec.Record(jsmf.Event{Stage: s, Kind: jsmf.EventEnd, Elapsed: d, Message: outcome, Err: err})
	return d, err
}
