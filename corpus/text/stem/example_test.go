package stem_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/stem"
)

// The forms of a word are one word of the corpus, shown as the most frequent of them.
func Example() {
	en, err := stem.Snowball("en")
	if err != nil {
		panic(err)
	}
	tok, err := text.Setting{Stemmer: en.Name()}.Tokenizer(en)
	if err != nil {
		panic(err)
	}
	lines := `{"text": "Gardens want water. A gardener waters the garden."}
{"text": "She watered her gardens."}`
	c, err := corpus.Read(context.Background(), corpus.JSONL{In: corpus.FileFromBytes("lines", []byte(lines)), Tokenizer: tok})
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.Join(c.Vocabulary(), " "))
	// Output: gardens her she the want water
}
