package corpus

import (
	"context"
	"fmt"
	"iter"

	"github.com/jsmf-go/spectral/corpus/text"
)

// Learn finds lines of boilerplate and phrases in the documents that read reads, and returns
// the tokenizer t with these in its setting: text.Learn says what they are. t nil means the
// default. read returns a reader with the tokenizer that it is given:
//
//	read := func(t text.Tokenizer) corpus.Source { return corpus.Dir{Path: "texts", Tokenizer: t} }
//	t, err := corpus.Learn(ctx, nil, read, text.Learning{})
//	…
//	c, err := corpus.Read(ctx, read(t))
//
// The documents are read four times, and a fifth time to use the result. Errors: those of
// text.Learn and of the reader, and documents given as numbers or counts, which have no order.
func Learn(ctx context.Context, t text.Tokenizer, read func(text.Tokenizer) Source, o text.Learning) (text.Tokenizer, error) {
	return text.Learn(ctx, orDefault(t), func(t text.Tokenizer) iter.Seq2[[]string, error] {
		return func(yield func([]string, error) bool) {
			n := 0
			for d, err := range read(t).Docs(ctx) {
				n++
				if err == nil && (d.Words != nil || d.Counts != nil) {
					err = fmt.Errorf("corpus: learn: document %s is given by counts, which say nothing about the order of words", called(d.ID, n))
				}
				if !yield(d.Tokens, err) || err != nil {
					return
				}
			}
		}
	}, o)
}

// called returns what a document with an id, perhaps none, and a number from 1 is called.
func called(id string, n int) string {
	if id == "" {
		return fmt.Sprint(n)
	}
	return id
}
