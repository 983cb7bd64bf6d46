// Seeds asks for two topics by some of their words, beside four that are free.
//
//	go run ./examples/seeds "$(go env GOROOT)/src/testdata/Isaac.Newton-Opticks.txt"
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
	book, err := os.ReadFile(os.Args[1])
	check(err)
	var b corpus.Builder
	for _, p := range strings.Split(string(book), "\n\n") {
		check(b.AddText("", "", strings.ReplaceAll(p, "_", "")))
	}
	c, err := b.Corpus()
	check(err)
	c, _, err = corpus.Curate(c, corpus.Curation{StopWords: stopwords.English(), MinDocs: 10})
	check(err)
	m, err := jsmf.New(6).Seeds(
		jsmf.Seed{Name: "telescopes", Words: []string{"telescope", "glass", "object", "eye"}},
		jsmf.Seed{Name: "colours", Words: []string{"red", "yellow", "green", "blue"}},
	).Fit(context.Background(), c)
	check(err)
	for _, t := range m.Summary(4) {
		fmt.Print(t.Number, "  ", t.Name, ":")
		for _, w := range t.Words {
			fmt.Print(" ", w.Word)
		}
		fmt.Println()
	}
	for _, s := range m.Stats().Warnings { // seeds that the documents do not bear out
		fmt.Println("warning:", s)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
