package cli

import (
	"context"
	"iter"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

// Watch returns a Source that reports to rec, if that is not nil, how many documents have
// been read, as the stage "read".
func Watch(src corpus.Source, rec func(jsmf.Event)) corpus.Source { return reporting{src, rec} }

type reporting struct {
	corpus.Source
	rec func(jsmf.Event)
}

func (s reporting) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		begun, n := time.Now(), 0
		for d, err := range s.Source.Docs(ctx) {
			if err == nil && s.rec != nil {
				n++
				s.rec(jsmf.Event{Stage: "read", Kind: jsmf.EventProgress, Done: n, Elapsed: time.Since(begun)})
			}
			if !yield(d, err) {
				return
			}
		}
	}
}
