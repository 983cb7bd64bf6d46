package text_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// No setting makes the rules of a text panic, go on after ctx, or take memory without end.
func TestExtremes(t *testing.T) {
	const line = "The operating system of the machine, 24 mini\u00adskirts and O'Neil's 日本語 in 1.5 °C\n"
	docs := strings.SplitAfter(strings.Repeat(line, 40), "\n")
	testutil.Extremes(t, text.Learning{}, func(ctx context.Context, o text.Learning) error {
		_, err := text.Learn(ctx, text.Default(), func(tk text.Tokenizer) iter.Seq2[[]string, error] {
			return func(yield func([]string, error) bool) {
				for _, s := range docs {
					if !yield(tk.Tokenize(nil, s), nil) {
						return
					}
				}
			}
		}, o)
		return err
	})
	set := text.Setting{
		Phrases:     &text.Phrases{List: []text.Phrase{{Words: []string{"operating", "system"}, Count: 10, Left: 12, Right: 13, G2: 30, NPMI: .5}}},
		Boilerplate: &text.Boilerplate{Lines: []text.Line{{Text: "a line", Documents: 10}}},
	}
	testutil.Extremes(t, set, func(_ context.Context, s text.Setting) error {
		tk, err := s.Tokenizer()
		if err == nil {
			tk.Tokenize(nil, line)
		}
		return err
	})
}
