package jsmf_test

import (
	"os"
	"time"

	"github.com/jsmf-go/spectral/jsmf"
)

// On something that is not a terminal plain lines are written. A Pipeline sends such
// events to the functions given to Record; a program can send its own.
func ExampleNewPrinter() {
	show := jsmf.NewPrinter(os.Stdout)
	show(jsmf.Event{Stage: "read", Kind: jsmf.EventStart, Message: "docword.txt.gz"})
	for i := 1; i <= 1000; i++ {
		show(jsmf.Event{
			Stage: "read", Kind: jsmf.EventProgress, Done: i, Total: 1000,
			Elapsed: time.Duration(i) * 2 * time.Millisecond,
		})
	}
	show(jsmf.Event{Stage: "read", Kind: jsmf.EventEnd, Elapsed: 2 * time.Second, Message: "1000 documents"})
	// Output:
	// read: docword.txt.gz
	// read: 250/1000  500/s  1.5s left
	// read: 500/1000  500/s  1s left
	// read: 1000/1000  500/s
	// read: done in 2s: 1000 documents
}
