// Readme is the program that README.md shows: it fits ten topics to a corpus in
// UCI form, given its counts, its words and a stop list.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

func main() {
	ctx := context.Background()
	raw, err := corpus.ReadUCI(ctx, os.Args[1], os.Args[2])
	check(err)
	stop, err := corpus.ReadStopWords(ctx, os.Args[3]) // or text.EnglishStopWords()
	check(err)
	c, _, err := corpus.Curate(raw, corpus.Curation{StopWords: stop, Words: 600})
	check(err)
	m, err := jsmf.New(10).Fit(ctx, c)
	check(err)
	for k, share := range m.TopicShares() {
		fmt.Printf("%d %4.1f%% %-11s", k, 100*share, m.AnchorWords()[k])
		for _, w := range m.TopWords(k, 5) {
			fmt.Printf("  %s %.3f", w.Word, w.Prob)
		}
		fmt.Println()
	}
	for _, p := range m.CorrelatedPairs(3) {
		fmt.Printf("topics %d and %d correlate by %+.2f\n", p.K, p.L, p.Correlation)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
