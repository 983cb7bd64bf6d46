package cooc_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"maps"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Documents that are never held: one pass counts words, by which a vocabulary
// is chosen, and each product with C is another.
func ExampleStream() {
	ctx := context.Background()
	docs := corpus.JSONL{In: corpus.FileFromBytes("ships.jsonl", []byte(`{"text": "the ship and the sea and the sea"}
{"text": "the sea the wind and the wind"}
{"text": "wind and ship and wind and sea"}
`))}
	counts := make(map[string]int)
	for d, err := range docs.Docs(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		for _, w := range d.Tokens {
			counts[w]++
		}
	}
	delete(counts, "the")
	delete(counts, "and")
	vocab := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})

	c, err := cooc.NewStream(ctx, docs, cooc.Options{Vocabulary: vocab, MinTokens: 2})
	if err != nil {
		log.Fatal(err)
	}
	y := mat.NewDense(3, 1, nil)
	if err := c.MulTo(ctx, y, mat.NewDense(3, 1, []float64{1, 1, 1}), 0); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Info().Vocabulary)
	fmt.Printf("row sums %.4f, product with ones %.4f\n", c.Marginals(), y.RawMatrix().Data)
	fmt.Println(c.Info().Documents, "documents,", c.Passes(), "passes")
	// Output:
	// [sea wind ship]
	// row sums [0.4167 0.3889 0.1944], product with ones [0.4167 0.3889 0.1944]
	// 3 documents, 2 passes
}
