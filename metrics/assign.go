package metrics

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Assign matches the rows of gain, n×m with n ≤ m, with different columns so
// that the sum of the matched entries is as large as can be, and returns the
// column of each row. It settles which topic of one model is which of another:
// gain may hold the cosines of their columns, or their distances times −1.
//
// It is the Hungarian method with shortest augmenting paths (Kuhn 1955, Munkres
// 1957; Jonker and Volgenant 1987), exact to rounding, O(n²m) time and O(m)
// memory. Among equally good assignments the one found depends on the order of
// rows and columns only. Errors: more rows than columns (*ShapeError), an entry that is
// not finite (*ValueError).
func Assign(gain mat.Matrix) ([]int, error) {
	n, m := 0, 0
	if gain != nil {
		n, m = gain.Dims()
	}
	if n == 0 || n > m {
		return nil, &ShapeError{"gain", n, m, n, max(n, 1)}
	}
	for i := range n {
		for j := range m {
			if v := gain.At(i, j); !finite(v) {
				return nil, &ValueError{"gain", i, j, v, "is not finite"}
			}
		}
	}
	// Prices u of rows and v of columns keep every reduced cost
	// −gain_ij − u_i − v_j ≥ 0, and that of matched entries 0. Row n and column m
	// stand for none.
	u, v := make([]float64, n+1), make([]float64, m+1)
	row := make([]int, m+1) // the row matched with each column
	for j := range row {
		row[j] = n
	}
	from := make([]int, m+1) // the column before each on its shortest path
	dist, done := make([]float64, m+1), make([]bool, m+1)
	for i := range n {
		for j := range dist {
			dist[j], done[j] = math.Inf(1), false
		}
		at := m // a column that is matched with the row to be placed
		row[m] = i
		for row[at] != n {
			done[at] = true
			r, next, least := row[at], m, math.Inf(1)
			for j := range m {
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
		for at != m { // every column on the path takes the row of the one before
			row[at] = row[from[at]]
			at = from[at]
		}
	}
	col := make([]int, n)
	for j, i := range row[:m] {
		if i < n {
			col[i] = j
		}
	}
	return col, nil
}
