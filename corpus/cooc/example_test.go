package cooc_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Three short documents, and the probability that two of their words, drawn
// from one document, are a given pair.
func Example() {
	var b corpus.Builder
	for _, text := range []string{"ship sea sea", "sea wind", "wind ship wind"} {
		if err := b.AddText("", "", text); err != nil {
			log.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		log.Fatal(err)
	}
	m, err := cooc.NewMoments(context.Background(), c, cooc.Options{MinTokens: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Vocabulary())
	row := make([]float64, m.Dim())
	for i := range row {
		m.RowTo(row, i)
		fmt.Printf("%.4f\n", row)
	}
	fmt.Printf("p(word) %.4f\n", m.Marginals())
	// Output:
	// [sea ship wind]
	// [0.1111 0.1111 0.1667]
	// [0.1111 0.0000 0.1111]
	// [0.1667 0.1111 0.1111]
	// p(word) [0.3889 0.2222 0.3889]
}

// Documents in which words occur together, for a chosen few of them.
func ExampleCountPairs() {
	var b corpus.Builder
	for _, text := range []string{"ship sea sea", "sea wind", "wind ship wind"} {
		if err := b.AddText("", "", text); err != nil {
			log.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		log.Fatal(err)
	}
	sea, _ := c.Index("sea")
	wind, _ := c.Index("wind")
	p, err := cooc.CountPairs(context.Background(), c, []int{sea, wind})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.D1(sea), "documents hold sea,", p.At(sea, wind), "wind too,", p.At(sea, sea), "sea twice")
	// Output: 2 documents hold sea, 1 wind too, 1 sea twice
}

// A matrix of one's own: a factor, the form in which rectified matrices come.
func ExampleNewLowRankSparse() {
	y := mat.NewDense(3, 1, []float64{0.5, 0.3, 0.2})
	c, err := cooc.NewLowRankSparse(y, 0, nil)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := c.LAW(context.Background(), 0)
	if err != nil {
		log.Fatal(err)
	}
	// Of rank 1: the rows p(word | the other word) are held as numbers on a line,
	// with the same inner products.
	n, d := rows.Dims()
	norms, err := rows.Norms2(context.Background(), 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("p(word) %.2f\n", rows.Marginals())
	fmt.Printf("%d rows in %d dimension, squared lengths %.2f\n", n, d, norms)
	// Output:
	// p(word) [0.50 0.30 0.20]
	// 3 rows in 1 dimension, squared lengths [0.38 0.38 0.38]
}
