package main

import (
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/npy"
	"github.com/jsmf-go/spectral/jsmf"
)

// saveTopics writes B with one row for each word of the vocabulary file.
func saveTopics(path string, m *jsmf.Model, in *input) error {
	b := mat.DenseCopyOf(m.Topics())
	row := make([]int, in.fileWords) // the model's word, counted from 1
	for i, j := range in.fileIndex {
		row[j] = i + 1
	}
	zero := make([]float64, m.K())
	return npy.WriteFile(path, in.fileWords, m.K(), func(i int) []float64 {
		if row[i] == 0 {
			return zero
		}
		return b.RawRowView(row[i] - 1)
	})
}
