package infer_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

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
