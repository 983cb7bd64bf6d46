package main

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// cosines returns the cosine of every column of a with every column of b over
// the rows that both have: row i of a is row at[i] of b. A column that has
// nothing in these rows has the cosine 0 with all.
func cosines(a, b *mat.Dense, at []int) *mat.Dense {
	_, ka := a.Dims()
	_, kb := b.Dims()
	dot := mat.NewDense(ka, kb, nil)
	na, nb := make([]float64, ka), make([]float64, kb)
	for i, j := range at {
		x, y := a.RawRowView(i), b.RawRowView(j)
		for k, v := range x {
			na[k] += v * v
			row := dot.RawRowView(k)
			for l, w := range y {
				row[l] += v * w
			}
		}
		for l, w := range y {
			nb[l] += w * w
		}
	}
	for k := range ka {
		row := dot.RawRowView(k)
		for l := range row {
			if n := math.Sqrt(na[k] * nb[l]); n > 0 {
				row[l] /= n
			}
		}
	}
	return dot
}
