package jsmf_test

import (
	"context"
	"fmt"
	"log"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

// The user asks for topics by some of their words; the third is free. Of the second, one word is not
// in the notes.
func ExamplePipeline_Seeds() {
	var b corpus.Builder
	for _, text := range notes() {
		if err := b.AddText("", "", text); err != nil {
			log.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		log.Fatal(err)
	}
	m, err := jsmf.New(3).Seeds(
		jsmf.Seed{Name: "the kitchen", Words: []string{"onion", "soup"}},
		jsmf.Seed{Name: "the sea", Words: []string{"wind", "waves", "sail"}},
	).Fit(context.Background(), c)
	if err != nil {
		log.Fatal(err)
	}
	for k, name := range m.Names() {
		fmt.Printf("%s:", name)
		for _, w := range m.TopWords(k, 6) {
			fmt.Print(" ", w.Word)
		}
		fmt.Println()
	}
	for _, w := range m.Stats().Warnings[1:] { // the first is about notes that are alike
		fmt.Println("warning:", w)
	}
	// Output:
	// the kitchen: butter recipe flour oven soup evening
	// the sea: sail harbour rope wind wave anchor
	// rose · seed · hedge: rose seed hedge soil spade onion
	// warning: seeds of topic 1 ("the sea"): not in the vocabulary: "waves" (near: "wave")
}
