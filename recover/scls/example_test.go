package scls_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/recover/scls"
)

// Three anchors and two words in the plane: the first lies within the triangle
// of the anchors, the second outside of it, nearest to one of its sides.
func Example() {
	u := mat.NewDense(3, 2, []float64{ // one anchor a row
		0, 0,
		4, 0,
		0, 4,
	})
	v := mat.NewDense(2, 2, []float64{ // one word a row
		1, 2,
		3, 5,
	})
	g := mat.NewSymDense(3, nil)
	g.SymOuterK(1, u) // UᵀU in the notation of columns
	var f mat.Dense
	f.Mul(v, u.T())

	y := mat.NewDense(2, 3, nil)
	res, err := scls.ActiveSet{}.Solve(context.Background(), g, &f, y, scls.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 2 {
		half := mat.Dot(v.RowView(i), v.RowView(i)) / 2
		fmt.Printf("y = %.2f, ½‖Uy − v‖² = %.2f, %v\n", y.RawRowView(i), res.Objective[i]+half, res.Status[i])
	}
	// Output:
	// y = [0.25 0.25 0.50], ½‖Uy − v‖² = 0.00, converged
	// y = [0.00 0.25 0.75], ½‖Uy − v‖² = 4.00, converged
}
