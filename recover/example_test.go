package recovery_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	recovery "github.com/jsmf-go/spectral/recover"
)

// The topics and correlations that a matrix was made of come back from it,
// given that words 0 and 3 are the anchors.
func ExampleSCLS() {
	b := mat.NewDense(4, 2, []float64{
		0.4, 0.0,
		0.4, 0.2,
		0.2, 0.5,
		0.0, 0.3,
	})
	a := mat.NewDense(2, 2, []float64{
		0.4, 0.1,
		0.1, 0.4,
	})
	var c mat.Dense
	c.Product(b, a, b.T())
	d, err := cooc.NewDense(&c)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := cooc.NewRows(d)
	if err != nil {
		log.Fatal(err)
	}
	r, err := recovery.SCLS{}.Recover(context.Background(), rows, []int{0, 3}, recovery.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("p(word | topic)\n%.3f\n", mat.Formatted(r.B))
	fmt.Printf("p(topic, topic)\n%.3f\n", mat.Formatted(r.A))
	// Output:
	// p(word | topic)
	// ⎡0.400  0.000⎤
	// ⎢0.400  0.200⎥
	// ⎢0.200  0.500⎥
	// ⎣0.000  0.300⎦
	// p(topic, topic)
	// ⎡0.400  0.100⎤
	// ⎣0.100  0.400⎦
}

// The second moments of the Dirichlet prior with α = (0.2, 0.3, 0.5).
func ExampleFitAlpha() {
	a := mat.NewSymDense(3, []float64{
		0.12, 0.03, 0.05,
		0.03, 0.195, 0.075,
		0.05, 0.075, 0.375,
	})
	alpha, err := recovery.FitAlpha(a)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", alpha)
	// Output:
	// [0.200 0.300 0.500]
}
