package anchor_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Two topics: word 0 occurs in the first only, word 3 in the second only, the
// others in both.
func ExampleQR() {
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
	r, err := anchor.QR{}.Find(context.Background(), rows, 2, anchor.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("anchors %v, norms %.3f\n", r.Anchors, r.Norms)

	// There is no third topic.
	_, err = anchor.QR{}.Find(context.Background(), rows, 3, anchor.Options{})
	var rank *anchor.RankError
	if errors.As(err, &rank) {
		fmt.Println("rank", rank.Rank)
	}
	// Output:
	// anchors [3 0], norms [0.561 0.345]
	// rank 2
}

// corpusRows is the co-occurrence of two topics, boats and money, which have
// the word "bank" in common.
func corpusRows() (cooc.Rows, []string) {
	words := []string{"sail", "river", "bank", "loan", "interest", "water"}
	b := mat.NewDense(6, 2, []float64{
		0.3, 0.0,
		0.2, 0.0,
		0.2, 0.2,
		0.0, 0.4,
		0.0, 0.3,
		0.3, 0.1,
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
	return rows, words
}

// The user gives one anchor and has QR find the other; a word that is not there
// is an error that names near ones.
func ExampleFixed() {
	rows, words := corpusRows()
	opt := anchor.Options{Vocabulary: words}
	r, err := anchor.Fixed{Words: []string{"river"}, Complete: anchor.QR{}}.Find(context.Background(), rows, 2, opt)
	if err != nil {
		log.Fatal(err)
	}
	for _, w := range r.Anchors {
		fmt.Println(words[w])
	}
	_, err = anchor.Fixed{Words: []string{"rivers", "loan"}}.Find(context.Background(), rows, 2, opt)
	fmt.Println(err)
	// Output:
	// river
	// loan
	// anchor: not in the vocabulary: "rivers" (near: "river")
}
