package cooc_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Documents that are never held: one pass counts words, by which a vocabulary
// is chosen, and each product with C is another.
func ExampleStream() {
	ctx := context.Background()
	docs := corpus.JSONL{In: corpus.Bytes("ships.jsonl", []byte(`{"text": "the ship and the sea and the sea"}
{"text": "the sea the wind and the wind"}
{"text": "wind and ship and wind and sea"}
`))}
	// A Sketch without columns: counts and sums by word.
	var counts cooc.Sketch
	if err := counts.AddSource(ctx, docs, nil); err != nil {
		log.Fatal(err)
	}
	vocab := slices.DeleteFunc(counts.Vocabulary(), func(w string) bool { return w == "the" || w == "and" })
	slices.SortStableFunc(vocab, func(a, b string) int { return cmp.Compare(counts.Word(b).Tokens, counts.Word(a).Tokens) })

	c, err := cooc.NewStream(ctx, docs, cooc.StreamOptions{Vocabulary: vocab, Options: cooc.Options{MinTokens: 2}})
	if err != nil {
		log.Fatal(err)
	}
	y := mat.NewDense(3, 1, nil)
	if err := c.MulTo(ctx, y, mat.NewDense(3, 1, []float64{1, 1, 1}), 0); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Vocabulary())
	fmt.Printf("row sums %.4f, product with ones %.4f\n", c.Marginals(), y.RawMatrix().Data)
	fmt.Println(c.Docs(), "documents,", c.Passes(), "passes")
	// Output:
	// [sea wind ship]
	// row sums [0.4167 0.3889 0.1944], product with ones [0.4167 0.3889 0.1944]
	// 3 documents, 2 passes
}

// Two parts of a corpus, with words of their own, are accumulated apart, one is
// sent as bytes, and they are merged.
func ExampleSketch() {
	o := cooc.SketchOptions{Columns: 8, MinTokens: 2}
	part := func(texts ...[]string) *cooc.Sketch {
		s, err := cooc.NewSketch(o)
		if err != nil {
			log.Fatal(err)
		}
		for _, t := range texts {
			if err := s.Add(corpus.Document{Tokens: t}); err != nil {
				log.Fatal(err)
			}
		}
		return s
	}
	here := part([]string{"ship", "sea", "sea"})
	data, err := part([]string{"sea", "wind"}, []string{"wind", "ship", "wind"}).MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	var there cooc.Sketch
	if err := there.UnmarshalBinary(data); err != nil {
		log.Fatal(err)
	}
	if err := here.Merge(&there); err != nil {
		log.Fatal(err)
	}
	c, err := here.Matrix(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	row := make([]float64, c.Dim())
	for i, w := range c.Vocabulary() {
		c.RowTo(row, i)
		for j, v := range row {
			row[j] = float64(int(1e4*v+0.5)) / 1e4
		}
		fmt.Printf("%-5s %.4f\n", w, row)
	}
	fmt.Println(here.Docs(), "documents;", here.Word("wind").Docs, "hold wind")
	// Output:
	// sea   [0.1111 0.1111 0.1667]
	// ship  [0.1111 0.0000 0.1111]
	// wind  [0.1667 0.1111 0.1111]
	// 3 documents; 2 hold wind
}
