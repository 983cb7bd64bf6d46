// Outofcore fits topics to documents that are not held in memory: they are encoded once, to a file
// that every pass reads anew.
//
//	go run ./examples/outofcore "$(go env GOROOT)/src/testdata/Isaac.Newton-Opticks.txt"
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

func main() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "outofcore")
	check(err)
	defer os.RemoveAll(dir)
	lines := corpus.Lines{In: corpus.File{Name: os.Args[1]}} // or corpus.JSONL, CSV, UCI, Dir
	docs, err := corpus.EncodeFile(ctx, lines, filepath.Join(dir, "lines"))
	check(err)
	defer docs.Close()
	m, err := jsmf.New(5).Fit(ctx, docs)
	check(err)
	fmt.Println(m.Stats().Corpus.Documents, "lines,", m.K(), "topics")
	for _, name := range m.Names() {
		fmt.Println(name)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
