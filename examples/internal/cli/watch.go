package cli

import (
	"context"
	"iter"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/jsmf"
)

// Watch returns a Source that reports to rec, if that is not nil, how many documents have
// been read, as the stage "read". It knows of the documents what src knows.
func Watch(src corpus.Source, rec func(jsmf.Event)) corpus.Source { return watched{src, rec} }

type watched struct {
	corpus.Source
	rec func(jsmf.Event)
}

func (s watched) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
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

var (
	_ corpus.Described = watched{}
	_ corpus.FromText  = watched{}
)

// Columns implements corpus.Described.
func (s watched) Columns() []corpus.Column {
	if d, ok := s.Source.(corpus.Described); ok {
		return d.Columns()
	}
	return nil
}

// TextSetting implements corpus.FromText.
func (s watched) TextSetting() *text.Setting {
	if t, ok := s.Source.(corpus.FromText); ok {
		return t.TextSetting()
	}
	return nil
}

// Stemmer implements corpus.FromText.
func (s watched) Stemmer() text.Stemmer {
	if t, ok := s.Source.(corpus.FromText); ok {
		return t.Stemmer()
	}
	return nil
}
