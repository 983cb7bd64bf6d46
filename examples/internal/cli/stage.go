package cli

import (
	"io"
	"time"

	"github.com/jsmf-go/spectral/jsmf"
)

// Progress returns a function that shows the progress of a program on stderr, nil with -quiet.
func Progress(quiet bool, stderr io.Writer) func(jsmf.Event) {
	if quiet {
		return nil
	}
	show := jsmf.NewPrinter(stderr)
	return func(e jsmf.Event) {
		e.Message, e.Err = Flags(e.Message), FlagError(e.Err)
		show(e)
	}
}

// Stage runs f as a stage of the program's own, such as reading, and reports it
// to rec, if that is not nil, as a Pipeline reports its stages. f returns its
// outcome in a few words. Stage returns the time f took, and its error.
func Stage(rec func(jsmf.Event), name string, f func() (outcome string, err error)) (time.Duration, error) {
	if rec == nil {
		rec = func(jsmf.Event) {}
	}
	s, begun := jsmf.Stage(name), time.Now()
	rec(jsmf.Event{Stage: s, Kind: jsmf.EventStart})
	outcome, err := f()
	d := time.Since(begun)
	rec(jsmf.Event{Stage: s, Kind: jsmf.EventEnd, Elapsed: d, Message: outcome, Err: err})
	return d, err
}
