package report_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
)

// A report on the topics of a few short texts, with the documents that show them
// best, and the same topics as a table.
func Example() {
	ctx := context.Background()
	var b corpus.Builder
	for range 10 {
		for _, text := range []string{
			"goal match team goal player team", "team player goal coach team match", "match coach team player goal team",
			"vote party law vote senate party", "senate law vote party minister vote", "party minister senate vote law vote",
			"vote party senate vote minister vote",
		} {
			if err := b.AddText("", "", text); err != nil {
				log.Fatal(err)
			}
		}
	}
	c, err := b.Corpus()
	if err != nil {
		log.Fatal(err)
	}
	m, err := jsmf.Published(2).Fit(ctx, c)
	if err != nil {
		log.Fatal(err)
	}
	docs, err := m.Transform(ctx, c.Source())
	if err != nil {
		log.Fatal(err)
	}
	var page bytes.Buffer
	if err := report.Write(&page, m, report.Options{Title: "Two topics", Documents: docs}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(page.String(), "<title>Two topics</title>"))
	var table strings.Builder
	if err := report.WriteTopicsCSV(&table, m, 2); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(table.String()) {
		f := strings.Split(line, ",")
		fmt.Println(f[0], f[5], f[6])
	}
	// Output:
	// true
	// topic rank word
	// 0 1 vote
	// 0 2 party
	// 1 1 team
	// 1 2 goal
}

// A matrix of a model for NumPy: numpy.load reads it.
func ExampleWriteNPY() {
	b := mat.NewDense(3, 2, []float64{
		0.5, 0.0,
		0.5, 0.2,
		0.0, 0.8,
	})
	var file bytes.Buffer
	if err := report.WriteNPY(&file, b); err != nil {
		log.Fatal(err)
	}
	header, _, _ := strings.Cut(file.String()[10:], "}")
	fmt.Println(header + "}")
	// Output:
	// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }
}
