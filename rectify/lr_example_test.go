package rectify_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/rectify"
)

// From encoded documents, in memory or in a file, to YYᵀ without C: they are decoded once
// for their sums and once for each pass of LR.
func ExampleLR() {
	ctx := context.Background()
	var lines strings.Builder
	for i := range 30 {
		fmt.Fprintln(&lines, []string{
			`{"text": "ship sea wind sail sea sail"}`,
			`{"text": "bread oven flour yeast oven flour"}`,
			`{"text": "sea wind sail wind harbour"}`,
			`{"text": "flour yeast bread bread salt"}`,
		}[i%4])
	}
	docs := corpus.JSONL{In: corpus.FileFromBytes("docs.jsonl", []byte(lines.String()))}
	e, err := corpus.Encode(ctx, docs)
	if err != nil {
		log.Fatal(err)
	}
	c, err := cooc.FromEncoded(ctx, e, cooc.Options{})
	if err != nil {
		log.Fatal(err)
	}
	res, err := rectify.LR{}.Rectify(ctx, c, 2, rectify.Options{})
	if err != nil {
		log.Fatal(err)
	}
	y := res.C.(*cooc.LowRankSparse)
	fmt.Printf("rank %d of %d words, sum %.4f\n", y.Rank(), y.Dim(), floats.Sum(y.Marginals()))
	fmt.Println(c.Info().Documents, "documents,", res.Passes, "passes,", res.Clipped, "pairs clipped")
	// Output:
	// rank 2 of 10 words, sum 1.0000
	// 30 documents, 1 passes, 0 pairs clipped
}
