package refine_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/recover/refine"
)

// boats are documents on the sea and on sailing.
func boats() *corpus.Corpus {
	var b corpus.Builder
	for range 30 { // sea and ship in some documents, wind and sail in others, both words in few
		for _, text := range []string{"sea sea ship sea ship", "wind sail wind sail sail", "ship sea sea sea", "sail wind wind sail", "sea ship wind sail"} {
			if err := b.Add(corpus.Document{Tokens: strings.Fields(text)}); err != nil {
				log.Fatal(err)
			}
		}
	}
	c, err := b.Corpus()
	if err != nil {
		log.Fatal(err)
	}
	return c
}

// Topics that are slightly wrong, and documents to correct them.
func ExamplePasses() {
	c := boats()
	start := mat.NewDense(4, 2, []float64{ // sail, sea, ship, wind
		0.2, 0.3,
		0.3, 0.2,
		0.3, 0.1,
		0.2, 0.4,
	})
	r, err := refine.Passes{}.Refine(context.Background(), c.Source(), refine.Start{B: start}, refine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Vocabulary())
	fmt.Printf("%.2f\n", mat.Formatted(r.B))
	fmt.Printf("log-likelihood a token %.3f, then %.3f\n", r.History[0].LogLik, r.History[r.Passes].LogLik)
	// Output:
	// [sail sea ship wind]
	// ⎡0.00  0.55⎤
	// ⎢0.64  0.00⎥
	// ⎢0.36  0.00⎥
	// ⎣0.00  0.45⎦
	// log-likelihood a token -1.303, then -0.959
}

// A start with one topic more than asked for: two that are nearly the same become one.
func ExamplePasses_merge() {
	c := boats()
	start := mat.NewDense(4, 3, []float64{ // sail, sea, ship, wind
		0.1, 0.5, 0.1,
		0.6, 0.0, 0.3,
		0.3, 0.0, 0.6,
		0.0, 0.5, 0.0,
	})
	r, err := refine.Passes{N: 20}.Refine(context.Background(), c.Source(), refine.Start{B: start}, refine.Options{K: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Vocabulary(), "topics", r.From)
	fmt.Printf("%.2f\n", mat.Formatted(r.B))
	// Output:
	// [sail sea ship wind] topics [0 1]
	// ⎡0.00  0.55⎤
	// ⎢0.64  0.00⎥
	// ⎢0.36  0.00⎥
	// ⎣0.00  0.45⎦
}

// On one machine Batch gives what it gives on many, to the bit.
func ExampleBatch() {
	c := boats()
	start := mat.NewDense(4, 2, []float64{ // sail, sea, ship, wind
		0.2, 0.3,
		0.3, 0.2,
		0.3, 0.1,
		0.2, 0.4,
	})
	r, err := refine.Batch{N: 30}.Refine(context.Background(), c.Source(), refine.Start{B: start}, refine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Vocabulary())
	fmt.Printf("%.2f\n", mat.Formatted(r.B))
	// Output:
	// [sail sea ship wind]
	// ⎡0.00  0.55⎤
	// ⎢0.64  0.00⎥
	// ⎢0.36  0.00⎥
	// ⎣0.00  0.45⎦
}
