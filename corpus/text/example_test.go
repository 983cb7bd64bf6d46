package text_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/corpus/text"
)

// The default splits plain text and HTML in most languages.
func Example() {
	t := text.Default()
	fmt.Println(t.Tokenize(nil, "<p>Ann's café sold 20 X-ray films &amp; C++ books in 1984.</p>"))
	// Output:
	// [ann café sold x-ray films c++ books in]
}

// A setting for e-mails, whose header, quoted lines and addresses say nothing of their subject.
func ExampleSetting() {
	s := text.Setting{DropHeaders: true, DropQuotes: true, DropURLs: true, FoldAccents: true, Numbers: text.KeepNumbers}
	t, err := s.Tokenizer()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Tokenize(nil, "From: ann@example.com\nSubject: The café\n\nBob wrote:\n> When?\nAt 12, see https://example.com."))
	// Output:
	// [the cafe at 12 see]
}

// A tokenizer of one's own. Models are saved with its name.
func ExampleOwn() {
	t := text.Own("fields", func(dst []string, s string) []string {
		return append(dst, strings.Fields(s)...)
	})
	fmt.Println(t.Tokenize(nil, "GATTACA TAG"), t.Setting().Own)
	// Output:
	// [GATTACA TAG] fields
}

// pairs splits words of Han characters into pairs.
type pairs struct{}

func (pairs) Name() string      { return "pairs/1" }
func (pairs) Scripts() []string { return []string{"Han"} }
func (pairs) Segment(dst []string, run string) []string {
	for pair := range slices.Chunk([]rune(run), 2) {
		dst = append(dst, string(pair))
	}
	return dst
}

// A segmenter splits scripts that are written without blanks. Without one their characters
// become overlapping pairs.
func ExampleSegmenter() {
	t, err := text.Setting{Segmenters: []string{pairs{}.Name()}}.Tokenizer(pairs{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Tokenize(nil, "机器学习 in Go"))
	fmt.Println(text.Default().Tokenize(nil, "机器学习 in Go"))
	// Output:
	// [机器 学习 in go]
	// [机器 器学 学习 in go]
}

// Words that stand together far more often than by chance become one.
func ExampleLearn() {
	docs := func(t text.Tokenizer) iter.Seq2[[]string, error] {
		return func(yield func([]string, error) bool) {
			for _, subject := range []string{"vision", "speech", "traffic", "weather", "music"} {
				for _, verb := range []string{"improves", "explains", "serves", "changes"} {
					if !yield(t.Tokenize(nil, "Machine learning "+verb+" "+subject+"."), nil) {
						return
					}
				}
			}
		}
	}
	t, err := text.Learn(context.Background(), text.Default(), docs, text.Learning{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range t.Setting().Phrases.List {
		fmt.Println(p, p.Count)
	}
	fmt.Println(t.Tokenize(nil, "On learning machine learning"))
	// Output:
	// machine_learning 20
	// [on learning machine_learning]
}
