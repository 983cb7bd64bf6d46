// Effects tells in which of the three books of Newton's Opticks a topic is more common.
//
//	go run ./examples/effects "$(go env GOROOT)/src/testdata/Isaac.Newton-Opticks.txt"
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
	"github.com/jsmf-go/spectral/jsmf/effects"
)

func main() {
	ctx := context.Background()
	text, err := os.ReadFile(os.Args[1])
	check(err)
	b := corpus.Builder{Columns: []corpus.Column{{Name: "book", Kind: corpus.Category}}}
	book := "first"
	for i, p := range strings.Split(string(text), "\n\n") {
		switch { // headings
		case strings.Contains(p, "SECOND BOOK"):
			book = "second"
		case strings.Contains(p, "THIRD BOOK"):
			book = "third"
		}
		check(b.AddText(fmt.Sprint(i), "", strings.ReplaceAll(p, "_", ""), corpus.CategoryOf(book)))
	}
	c, err := b.Corpus()
	check(err)
	c, _, err = corpus.Curate(c, corpus.Curation{StopWords: stopwords.English(), MinDocs: 10})
	check(err)
	p := jsmf.New(8)
	m, err := p.Fit(ctx, c)
	check(err)

	study := effects.Study{Terms: []effects.Term{effects.Category("book")}, Bootstrap: jsmf.Bootstrap{Warm: 20, Drawn: 4}}
	found, err := study.Run(ctx, p, m, c)
	check(err)
	for i, point := range found.Terms[0].Points {
		for k, x := range found.Terms[0].Differences[i][:m.K()] {
			if x.Low > 0 { // the interval leaves out zero
				fmt.Printf("%s book, %d paragraphs: more of %s\n", point.Label, point.Documents, m.Name(k))
			}
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
