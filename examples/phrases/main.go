// Phrases finds the phrases of a book, such as "angle of incidence", and names topics by them.
//
//	go run ./examples/phrases "$(go env GOROOT)/src/testdata/Isaac.Newton-Opticks.txt"
package main

import (
	"context"
	"fmt"
	"iter"
	"log"
	"os"
	"strings"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
	"github.com/jsmf-go/spectral/jsmf"
)

func main() {
	ctx := context.Background()
	book, err := os.ReadFile(os.Args[1])
	check(err)
	// A source of documents that a tokenizer splits: it is read once to learn, and once to fit.
	paragraphs := func(tok text.Tokenizer) corpus.Source {
		docs := func(yield func(corpus.Document, error) bool) {
			for p := range strings.SplitSeq(string(book), "\n\n") {
				if !yield(corpus.Document{Tokens: tok.Tokenize(nil, strings.ReplaceAll(p, "_", ""))}, nil) {
					return
				}
			}
		}
		set := tok.Setting()
		return corpus.FromSeq(iter.Seq2[corpus.Document, error](docs), corpus.Description{Text: &set})
	}

	// Function words of other languages than English: stopwords.For("de").
	fmt.Println("function words:", strings.Join(stopwords.English()[:5], " "))
	tok, err := corpus.LearnPhrases(ctx, nil, paragraphs, text.Learning{})
	check(err)
	for _, p := range tok.Setting().Phrases.List[:5] {
		fmt.Printf("%s: %d times\n", strings.Join(p.Words, " "), p.Count)
	}

	c, err := corpus.Read(ctx, paragraphs(tok))
	check(err)
	c, _, err = corpus.Curate(c, corpus.Curation{MinDocs: 5, StopWords: stopwords.English()})
	check(err)
	m, err := jsmf.New(6).Fit(ctx, c)
	check(err)
	for _, name := range m.Names() {
		fmt.Println(name)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
