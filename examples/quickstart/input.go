package main

import (
	"context"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
)

// input is what to read, which words to keep of it, and how to call it.
type input struct {
	source      corpus.Source
	curation    corpus.Curation
	what, title string
	describe    func(id string) report.Document // what the report shows of a document
}

// choose returns the folder of -dir, or the source of Go.
func choose(ctx context.Context, o options) (in input, err error) {
	in.curation.MinDocs = 3 // a word of fewer documents tells nothing about what goes together
	if o.dir != "" {
		dir := corpus.Dir{Path: o.dir, ReplaceInvalid: true}
		if o.ext != "" {
			dir.Ext = strings.Split(o.ext, ",")
		}
		in.source, in.what, in.title = dir, "text files in "+o.dir, "Topics of "+folderName(o.dir)
		in.describe = func(id string) report.Document { return textFile(o.dir, id) }
	} else {
		root := o.goroot
		if root == "" {
			if root, err = goroot(ctx); err != nil {
				return in, err
			}
		}
		root = filepath.Join(root, "src")
		tok, err := proseTokenizer()
		if err != nil {
			return in, err
		}
		in.source, in.what, in.title = goSource{root, tok}, "comments of the Go files in "+root, "Topics of Go’s standard library"
		in.describe = func(id string) report.Document { return goFile(root, id) }
		in.curation.MinTokens = 20 // less is not about anything yet
	}
	if o.stop != "" {
		if in.curation.StopWords, err = corpus.ReadStopWords(ctx, o.stop); err != nil {
			return in, err
		}
	}
	return in, nil
}

// watched is a Source that reports how many documents have been read.
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
