// Readme is the program that README.md shows: it fits eight topics to the
// paragraphs of a book.
//
//	go run ./examples/readme "$(go env GOROOT)/src/testdata/Isaac.Newton-Opticks.txt"
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
	for _, p := range strings.Split(string(book), "\n\n") { // a paragraph is a document
		check(b.AddText("", "", strings.ReplaceAll(p, "_", ""))) // _ marks italics
	}
	c, err := b.Corpus()
	check(err)
	c, _, err = corpus.Curate(c, corpus.Curation{StopWords: stopwords.English(), MinDocs: 10})
	check(err)
	m, err := jsmf.New(8).Fit(context.Background(), c)
	check(err)
	fmt.Println(m)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
