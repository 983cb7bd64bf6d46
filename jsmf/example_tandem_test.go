package jsmf_test

import (
	"context"
	"fmt"
	"log"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

// Interactive topic modelling: the user names some topics by a few words each,
// and the rest is found. "onion" alone would be a poor anchor, for it is of the
// kitchen and of the garden; together with "soup" it is of the kitchen.
func Example_tandem() {
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
	m, err := jsmf.Published(3).Anchors(anchor.Tandem{
		Groups:   [][]string{{"onion", "soup"}, {"wind", "wave"}},
		Complete: anchor.QR{},
	}).Fit(context.Background(), c)
	if err != nil {
		log.Fatal(err)
	}
	groups := m.AnchorGroups()
	for k, w := range m.Anchors() {
		fmt.Printf("topic %d, ", k)
		if groups[k] == nil {
			fmt.Printf("anchor %s:", m.Word(w))
		} else {
			fmt.Print("facet")
			for _, w := range groups[k] {
				fmt.Print(" ", m.Word(w))
			}
			fmt.Print(":")
		}
		for _, w := range m.TopWords(k, 6) {
			fmt.Printf(" %s %.2f", w.Word, w.Prob)
		}
		fmt.Println()
	}
	// Output:
	// topic 0, facet onion soup: water 0.15 onion 0.14 recipe 0.12 butter 0.11 flour 0.11 evening 0.11
	// topic 1, facet wind wave: rope 0.13 harbour 0.13 sail 0.13 water 0.12 wind 0.12 morning 0.12
	// topic 2, anchor rose: spade 0.14 rose 0.14 morning 0.14 soil 0.14 hedge 0.13 seed 0.13
}
