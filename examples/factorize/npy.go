package main

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/jsmf"
)

// save writes the model, B, A, the reading weights and the proportions of documents where the
// flags ask for them, all that can be.
func save(o options, m *jsmf.Model, theta *jsmf.Compositions, k int, in *input) error {
	var errs []error
	write := func(path string, write func(path string) error) {
		if path != "" {
			errs = append(errs, write(outputName(path, k, len(o.topics))))
		}
	}
	write(o.model, m.Save)
	write(o.topicsNPY, func(path string) error { return in.save(path, mat.DenseCopyOf(m.Topics())) })
	write(o.correlationsNPY, func(path string) error { return saveCorrelations(path, m) })
	write(o.readingNPY, func(path string) error {
		if r := m.Reading(); r != nil {
			return in.save(path, r)
		}
		return fmt.Errorf("-reading-npy %s: the model has no reading weights", path)
	})
	write(o.thetaNPY, func(path string) error { return cli.WriteNPY(path, len(theta.Docs), m.K(), theta.W.RawRowView) })
	return errors.Join(errs...)
}

// saveCorrelations writes A, scaled to sum 1.
func saveCorrelations(path string, m *jsmf.Model) error {
	a := mat.DenseCopyOf(m.Correlations())
	sum := mat.Sum(a)
	if !(sum > 0) {
		return fmt.Errorf("-correlations-npy %s: the topic correlations sum to %.4g and cannot be scaled to sum 1", path, sum)
	}
	a.Scale(1/sum, a)
	return cli.WriteNPY(path, m.K(), m.K(), a.RawRowView)
}

// save writes a matrix over the words of the model with one row for each word of the
// vocabulary file.
func (in *input) save(path string, b *mat.Dense) error {
	row := make([]int, in.fileWords) // the model's word, counted from 1
	for i, j := range in.fileIndex {
		row[j] = i + 1
	}
	_, k := b.Dims()
	zero := make([]float64, k)
	return cli.WriteNPY(path, in.fileWords, k, func(i int) []float64 {
		if row[i] == 0 {
			return zero
		}
		return b.RawRowView(row[i] - 1)
	})
}
