// Find looks for the paragraphs of a book that are like a sentence, and for words like a word.
//
//	go run ./examples/find "$(go env GOROOT)/src/testdata/Isaac.Newton-Opticks.txt"
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
	"github.com/jsmf-go/spectral/jsmf/find"
)

func main() {
	ctx := context.Background()
	book, err := os.ReadFile(os.Args[1])
	check(err)
	var b corpus.Builder
	text := map[string]string{}
	for i, p := range strings.Split(string(book), "\n\n") {
		id := fmt.Sprint(i)
		text[id] = strings.Join(strings.Fields(strings.ReplaceAll(p, "_", "")), " ")
		check(b.AddText(id, "", text[id]))
	}
	c, err := b.Corpus()
	check(err)
	c, _, err = corpus.Curate(c, corpus.Curation{StopWords: stopwords.English(), MinDocs: 10})
	check(err)
	m, err := jsmf.New(8).Fit(ctx, c)
	check(err)

	// Paragraphs by meaning: those whose topics are like the topics of a sentence.
	all, err := m.Transform(ctx, c.Source())
	check(err)
	docs, err := find.NewDocuments(m, all)
	check(err)
	asked, err := m.Transform(ctx, m.Texts("Which rings of colours does a thin plate of air show?"))
	check(err)
	found, err := docs.SimilarTo(asked.W.RawRowView(0), 2, func(row int) bool { return all.Docs[row].Tokens > 20 })
	check(err)
	for _, d := range found {
		fmt.Printf("%.2f  %.60s…\n", d.Score, text[d.Name])
	}

	// Words of the same topics.
	words, err := find.NewWords(ctx, m)
	check(err)
	like, err := words.SimilarWords("telescopes", 4)
	check(err)
	for _, w := range like {
		fmt.Println(w.Name)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
