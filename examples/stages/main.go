// Stages puts a stage of one's own into a fit: a finder of anchors that looks at words of some
// length only, and leaves the search to a finder of the library.
//
//	go run ./examples/stages "$(go env GOROOT)/src/testdata/Isaac.Newton-Opticks.txt"
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
	"github.com/jsmf-go/spectral/jsmf"
)

// long is an anchor.Finder whose anchors have at least so many letters.
type long struct{ letters int }

func (l long) Find(ctx context.Context, rows cooc.Rows, k int, opt anchor.Options) (*anchor.Result, error) {
	for i, word := range opt.Vocabulary {
		if len(word) < l.letters {
			opt.Exclude = append(opt.Exclude, i)
		}
	}
	return anchor.QR{}.Find(ctx, rows, k, opt)
}

func (l long) String() string { return fmt.Sprintf("long(%d letters)", l.letters) }

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
	m, err := jsmf.Published(6).Anchors(long{9}).Fit(context.Background(), c)
	check(err)
	for k, word := range m.Anchors() {
		fmt.Println(k, m.Word(word))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
