// Refit fits topics to the first two books of Newton's Opticks, and again when the third has come:
// topics keep their numbers, and what is new is told.
//
//	go run ./examples/refit "$(go env GOROOT)/src/testdata/Isaac.Newton-Opticks.txt"
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
	"github.com/jsmf-go/spectral/jsmf"
)

func main() {
	ctx := context.Background()
	text, err := os.ReadFile(os.Args[1])
	check(err)
	before, _, _ := strings.Cut(string(text), "THIRD BOOK")
	p := jsmf.New(6)
	m, err := p.Fit(ctx, paragraphs(before))
	check(err)
	next, err := p.From(m).Fit(ctx, paragraphs(string(text)))
	check(err)
	refit := next.Stats().Refit
	for k := range next.K() {
		fmt.Printf("%d  %s, before %s\n", k, next.Name(k), m.Name(k))
	}
	fmt.Println("new topics:", refit.New, "vanished:", refit.Vanished)
}

func paragraphs(text string) *corpus.Corpus {
	var b corpus.Builder
	for _, p := range strings.Split(text, "\n\n") {
		check(b.AddText("", "", strings.ReplaceAll(p, "_", "")))
	}
	c, err := b.Corpus()
	check(err)
	c, _, err = corpus.Curate(c, corpus.Curation{StopWords: stopwords.English(), MinDocs: 10})
	check(err)
	return c
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
