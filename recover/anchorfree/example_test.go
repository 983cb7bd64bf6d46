package anchorfree_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/recover/anchorfree"
)

// Every word is in two of three topics, so that none is an anchor. The topics
// come back from the co-occurrence all the same.
func ExampleLP() {
	b := mat.NewDense(6, 3, []float64{
		0.4, 0.1, 0.0,
		0.1, 0.4, 0.0,
		0.0, 0.4, 0.1,
		0.0, 0.1, 0.4,
		0.4, 0.0, 0.1,
		0.1, 0.0, 0.4,
	})
	a := mat.NewDense(3, 3, []float64{
		0.30, 0.10, 0.05,
		0.10, 0.20, 0.04,
		0.05, 0.04, 0.12,
	})
	var c mat.Dense
	c.Product(b, a, b.T())
	d, err := cooc.NewDense(&c)
	if err != nil {
		log.Fatal(err)
	}
	r, err := anchorfree.LP{}.Learn(context.Background(), d, 3, anchorfree.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("p(word | topic)\n%.3f\n", mat.Formatted(r.B))
	fmt.Printf("p(topic, topic)\n%.3f\n", mat.Formatted(r.A))
	// Output:
	// p(word | topic)
	// ⎡0.400  0.100  0.000⎤
	// ⎢0.100  0.400  0.000⎥
	// ⎢0.000  0.400  0.100⎥
	// ⎢0.000  0.100  0.400⎥
	// ⎢0.400  0.000  0.100⎥
	// ⎣0.100  0.000  0.400⎦
	// p(topic, topic)
	// ⎡0.300  0.100  0.050⎤
	// ⎢0.100  0.200  0.040⎥
	// ⎣0.050  0.040  0.120⎦
}
