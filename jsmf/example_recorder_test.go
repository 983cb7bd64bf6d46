package jsmf_test

import (
	"fmt"
	"os"
	"time"

	"github.com/jsmf-go/spectral/jsmf"
)

// A Printer on something that is not a terminal writes plain lines. A Pipeline
// sends such events to its Recorder; a program can send its own.
func ExamplePrinter() {
	p := jsmf.NewPrinter(os.Stdout)
	p.Record(jsmf.Event{Stage: "read", Kind: jsmf.EventStart, Message: "docword.txt.gz"})
	for i := 1; i <= 1000; i++ {
		p.Record(jsmf.Event{
			Stage: "read", Kind: jsmf.EventProgress, Done: i, Total: 1000,
			Elapsed: time.Duration(i) * 2 * time.Millisecond,
		})
	}
	p.Record(jsmf.Event{Stage: "read", Kind: jsmf.EventEnd, Elapsed: 2 * time.Second, Message: "1000 documents"})
	if err := p.Err(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// read: docword.txt.gz
	// read: 250/1000  500/s  1.5s left
	// read: 500/1000  500/s  1s left
	// read: 750/1000  500/s  500ms left
	// read: 1000/1000  500/s
	// read: done in 2s: 1000 documents
}

// Any function can be a Recorder, and a Pipeline has as many as are added.
func ExampleRecorderFunc() {
	last := 0.0
	note := jsmf.RecorderFunc(func(e jsmf.Event) {
		if e.Kind == jsmf.EventProgress && e.Name == "change" {
			last = e.Value
		}
	})
	p := jsmf.New(50).Record(note).Record(jsmf.NewPrinter(os.Stderr)) // p.Fit tells both
	fmt.Println(p.Validate())
	note.Record(jsmf.Event{Stage: jsmf.StageRectify, Kind: jsmf.EventProgress, Done: 1, Total: 15, Name: "change", Value: 0.025, Elapsed: time.Second})
	fmt.Println("last change:", last)
	// Output:
	// <nil>
	// last change: 0.025
}
