package rectify_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/rectify"
)

// Two pairs of words that only meet among themselves. No word was seen twice
// in a document, so that the estimate has an empty diagonal, which no mixture
// of two topics could have. Rectification fills it in.
func ExampleAP() {
	c, err := cooc.NewDense(mat.NewDense(4, 4, []float64{
		0, 0.3, 0, 0,
		0.3, 0, 0, 0,
		0, 0, 0, 0.2,
		0, 0, 0.2, 0,
	}))
	if err != nil {
		log.Fatal(err)
	}
	res, err := rectify.AP{Iterations: 100}.Rectify(context.Background(), c, 2, rectify.Options{})
	if err != nil {
		log.Fatal(err)
	}
	row := make([]float64, 4)
	for i := range row {
		res.C.RowTo(row, i)
		for j, v := range row {
			row[j] = math.Round(100*v)/100 + 0 // no −0
		}
		fmt.Println(row)
	}
	fmt.Println(res.Status, "after", res.Iterations, "iterations")
	// Output:
	// [0.15 0.15 0 0]
	// [0.15 0.15 0 0]
	// [0 0 0.1 0.1]
	// [0 0 0.1 0.1]
	// iteration limit after 100 iterations
}
