package rectify_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/rectify"
)

// A single topic makes C = ppᵀ with p = (6, 5, 4, 3, 1, 1)/20. The words came in
// bursts, and the diagonal is several times too large.
func ExampleDC() {
	p := []float64{0.30, 0.25, 0.20, 0.15, 0.05, 0.05}
	burst := []float64{2, 3, 1, 4, 5, 1}
	a := mat.NewDense(6, 6, nil)
	for i := range p {
		for j := range p {
			a.Set(i, j, p[i]*p[j])
		}
		a.Set(i, i, burst[i]*p[i]*p[i])
	}
	c, err := cooc.NewDense(a)
	if err != nil {
		log.Fatal(err)
	}
	res, err := rectify.DC{}.Rectify(context.Background(), c, 1, rectify.Options{})
	if err != nil {
		log.Fatal(err)
	}
	row := make([]float64, 6)
	for i := range row {
		res.C.RowTo(row, i)
		fmt.Printf("%.4f of %.4f\n", row[i], p[i]*p[i])
	}
	// Output:
	// 0.0900 of 0.0900
	// 0.0625 of 0.0625
	// 0.0400 of 0.0400
	// 0.0225 of 0.0225
	// 0.0025 of 0.0025
	// 0.0025 of 0.0025
}

// The factor of PALM has no negative entry, so that the matrix has none either.
func ExamplePALM() {
	c, err := cooc.NewDense(mat.NewDense(4, 4, []float64{
		0.16, 0.15, 0, 0,
		0.15, 0.14, 0, 0,
		0, 0, 0.09, 0.11,
		0, 0, 0.11, 0.09,
	}))
	if err != nil {
		log.Fatal(err)
	}
	res, err := rectify.PALM{}.Rectify(context.Background(), c, 2, rectify.Options{})
	if err != nil {
		log.Fatal(err)
	}
	y := res.C.(*cooc.LowRankSparse).Y()
	fmt.Printf("%.3f\n", mat.Formatted(y))
	fmt.Printf("J = %.5f, sum %.4f\n", res.Objectives[res.Iterations-1], 1+res.Violations.SumError)
	// Output:
	// ⎡0.400  0.000⎤
	// ⎢0.374  0.000⎥
	// ⎢0.000  0.316⎥
	// ⎣0.000  0.316⎦
	// J = 0.00020, sum 1.0000
}

// A method that forms N×N arrays refuses to form ones that are too large.
func ExampleMemoryError() {
	c, err := cooc.NewLowRankSparse(mat.NewDense(100_000, 1, nil), 1e-10, nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = rectify.DC{}.Rectify(context.Background(), c, 50, rectify.Options{})
	fmt.Println(err)
	// Output:
	// rectify: DC: N×N arrays for N = 100000 words would take 149 GiB (160000000000 bytes), more than the limit of 4 GiB (4294967296 bytes); use AP or DR, which form none, or raise the limit
}
