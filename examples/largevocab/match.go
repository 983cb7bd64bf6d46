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

// assign matches the rows of the square matrix gain with its columns, one to
// one, so that the sum of the matched entries is as large as can be, and
// returns the column of each row. It is the Hungarian method with shortest
// augmenting paths (Kuhn, Munkres; Jonker and Volgenant 1987), O(n³).
func assign(gain *mat.Dense) []int {
	n, _ := gain.Dims()
	// Prices u of rows and v of columns keep every reduced cost
	// −gain_ij − u_i − v_j ≥ 0, and that of matched entries 0. Row and column n
	// stand for none.
	u, v := make([]float64, n+1), make([]float64, n+1)
	row := make([]int, n+1) // the row matched with each column
	for j := range row {
		row[j] = n
	}
	from := make([]int, n+1) // the column before each on its shortest path
	dist, done := make([]float64, n+1), make([]bool, n+1)
	for i := range n {
		for j := range dist {
			dist[j], done[j] = math.Inf(1), false
		}
		at := n // a column that is matched with the row to be placed
		row[n] = i
		for row[at] != n {
			done[at] = true
			r, next, least := row[at], n, math.Inf(1)
			for j := range n {
				if done[j] {
					continue
				}
				if d := -gain.At(r, j) - u[r] - v[j]; d < dist[j] {
					dist[j], from[j] = d, at
				}
				if dist[j] < least {
					next, least = j, dist[j]
				}
			}
			for j := range done {
				if done[j] {
					u[row[j]] += least
					v[j] -= least
				} else {
					dist[j] -= least
				}
			}
			at = next
		}
		for at != n { // every column on the path takes the row of the one before
			row[at] = row[from[at]]
			at = from[at]
		}
	}
	col := make([]int, n)
	for j, i := range row[:n] {
		col[i] = j
	}
	return col
}
