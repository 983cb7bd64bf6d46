package main

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/npy"
	"github.com/jsmf-go/spectral/jsmf"
)

// saveArrays writes B and the reading weights where the flags ask for them.
func saveArrays(o options, m *jsmf.Model, k int, in *input) error {
	if o.topicsNPY != "" {
		if err := in.save(outputName(o.topicsNPY, k, len(o.topics)), mat.DenseCopyOf(m.Topics())); err != nil {
			return err
		}
	}
	if o.readingNPY == "" {
		return nil
	}
	r := m.Reading()
	if r == nil {
		return errors.New("-reading-npy: the model has no reading weights, which come with passes over the documents (-refine)")
	}
	return in.save(outputName(o.readingNPY, k, len(o.topics)), r)
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
	return npy.WriteFile(path, in.fileWords, k, func(i int) []float64 {
		if row[i] == 0 {
			return zero
		}
		return b.RawRowView(row[i] - 1)
	})
}
