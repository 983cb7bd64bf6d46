package infer_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
)

// Two topics over four words, and what three short documents are about.
func Example() {
	ctx := context.Background()
	topics := infer.Topics{
		B: mat.NewDense(4, 2, []float64{
			0.6, 0.0, // sail
			0.3, 0.1, // water
			0.1, 0.4, // onion
			0.0, 0.5, // oven
		}),
		A: mat.NewDense(2, 2, []float64{
			0.4, 0.1,
			0.1, 0.4,
		}),
	}
	p, err := infer.MAP{}.Prepare(ctx, topics, infer.Options{})
	if err != nil {
		log.Fatal(err)
	}
	w := make([]float64, p.K())
	for _, d := range []struct {
		name        string
		ids, counts []int32
	}{
		{"at sea", []int32{0, 1}, []int32{5, 3}},
		{"galley", []int32{0, 1, 2, 3}, []int32{3, 2, 1, 3}},
		{"empty", nil, nil},
	} {
		doc, err := p.InferTo(w, d.ids, d.counts)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %.2f, %.0f tokens, %v\n", d.name, w, doc.Tokens, doc.Status)
	}
	// Output:
	// at sea: [0.96 0.04], 8 tokens, converged
	// galley: [0.52 0.48], 9 tokens, converged
	// empty: [0.50 0.50], 0 tokens, no tokens
}

// meals are topics of sailing and of cooking over the words sail, water, onion and oven.
func meals() infer.Topics {
	return infer.Topics{
		B: mat.NewDense(4, 2, []float64{
			0.6, 0.0,
			0.3, 0.1,
			0.1, 0.4,
			0.0, 0.5,
		}),
		A: mat.NewDense(2, 2, []float64{
			0.4, 0.1,
			0.1, 0.4,
		}),
	}
}

// notes are documents over the words of meals.
func notes(docs ...[]string) *corpus.Corpus {
	b := corpus.Builder{Vocabulary: []string{"sail", "water", "onion", "oven"}}
	for _, words := range docs {
		if err := b.Add(corpus.Document{Tokens: words}); err != nil {
			log.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		log.Fatal(err)
	}
	return c
}

// Many documents at once, on all processors. Row m of W belongs to document m.
func ExampleInferer_Infer() {
	ctx := context.Background()
	p, err := infer.LeastSquares{}.Prepare(ctx, meals(), infer.Options{})
	if err != nil {
		log.Fatal(err)
	}
	docs := notes(
		[]string{"sail", "sail", "water", "sail"},
		[]string{"oven", "onion", "oven", "onion", "water"},
		nil,
	)
	batch, err := p.Infer(ctx, docs, infer.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f\n", mat.Formatted(batch.W))
	fmt.Println(batch.Count(infer.NoTokens), "without words")
	// Output:
	// ⎡1.0  0.0⎤
	// ⎢0.1  0.9⎥
	// ⎣0.5  0.5⎦
	// 1 without words
}

// How well does a model predict the rest of a document from a part of it?
func ExampleCompletion() {
	ctx := context.Background()
	topics := meals()
	p, err := infer.MAP{}.Prepare(ctx, topics, infer.Options{})
	if err != nil {
		log.Fatal(err)
	}
	observed := notes([]string{"sail", "water", "sail"}, []string{"oven", "onion"})
	held := notes([]string{"sail", "water"}, []string{"oven", "oven"})
	h, err := infer.Completion(ctx, p, topics.B, observed, held, infer.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d tokens, ln p(token) %.2f on average\n", h.Tokens, h.PerToken)
	// Output:
	// 4 tokens, ln p(token) -0.90 on average
}

// The method of lee-2018 learns from a collection once, and then takes single documents.
func ExamplePADD() {
	ctx := context.Background()
	topics := meals()
	docs := notes(
		[]string{"sail", "sail", "water", "sail"},
		[]string{"sail", "sail", "water"},
		[]string{"oven", "onion", "oven", "onion"},
		[]string{"onion", "oven", "oven"},
		[]string{"sail", "oven", "sail", "onion"},
	)
	learned, err := infer.PADD{}.Learn(ctx, topics, docs, infer.Options{})
	if err != nil {
		log.Fatal(err)
	}
	topics.Dual = learned.Dual
	p, err := infer.PADD{}.Prepare(ctx, topics, infer.Options{})
	if err != nil {
		log.Fatal(err)
	}
	w := make([]float64, p.K())
	if _, err := p.InferTo(w, []int32{0, 3}, []int32{9, 1}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("learned from %d documents: %.1f\n", learned.Documents, w)
	// Output:
	// learned from 5 documents: [0.9 0.1]
}
