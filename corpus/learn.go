package corpus

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strconv"

	"github.com/jsmf-go/spectral/corpus/text"
)

// LearnPhrases finds phrases and lines of boilerplate by [text.Learn], and returns the tokenizer t,
// nil meaning the default, with these in its setting. read returns a reader with the tokenizer
// that it is given:
//
//	read := func(t text.Tokenizer) corpus.Source { return corpus.Dir{Path: "texts", Tokenizer: t} }
//	t, err := corpus.LearnPhrases(ctx, nil, read, text.Learning{})
//	…
//	c, err := corpus.Read(ctx, read(t))
//
// The documents are read four times, and a fifth time to use the result. Errors: those of
// text.Learn and of the reader, and documents given as numbers or counts, which have no order.
func LearnPhrases(ctx context.Context, t text.Tokenizer, read func(text.Tokenizer) Source, o text.Learning) (text.Tokenizer, error) {
	return text.Learn(ctx, orDefault(t), func(t text.Tokenizer) iter.Seq2[[]string, error] {
		return func(yield func([]string, error) bool) {
			n := 0
			for d, err := range read(t).Docs(ctx) {
				n++
				if err == nil && (d.Words != nil || d.Counts != nil) {
					err = fmt.Errorf("corpus: learn: document %s is given by counts, which say nothing about the order of words", cmp.Or(d.ID, strconv.Itoa(n)))
				}
				if !yield(d.Tokens, err) || err != nil {
					return
				}
			}
		}
	}, o)
}
