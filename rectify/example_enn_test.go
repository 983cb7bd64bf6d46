package rectify_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/rectify"
)

// The same words as for AP. What is left of the matrix is Y, 4×2, and the
// anchors are found in two dimensions.
func ExampleENN() {
	c, err := cooc.NewDense(mat.NewDense(4, 4, []float64{
		0, 0.3, 0, 0,
		0.3, 0, 0, 0,
		0, 0, 0, 0.2,
		0, 0, 0.2, 0,
	}))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	res, err := rectify.ENN{Iterations: 100}.Rectify(ctx, c, 2, rectify.Options{})
	if err != nil {
		log.Fatal(err)
	}
	low := res.C.(*cooc.LowRankSparse)
	fmt.Printf("rank %d, row sums %.2f\n", low.Rank(), low.Marginals())
	rows, err := res.Rows(ctx, 0)
	if err != nil {
		log.Fatal(err)
	}
	_, d := rows.Dims()
	a, err := anchor.QR{}.Find(ctx, rows, 2, anchor.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d dimensions, anchors of lengths %.2f\n", d, a.Norms)
	// Output:
	// rank 2, row sums [0.30 0.30 0.20 0.20]
	// 2 dimensions, anchors of lengths [0.71 0.71]
}
