// Package assign solves the assignment problem: which topic of one model is
// which of another.
package assign

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

// Best matches rows of gain (n×m) with different columns so that the sum of the matched
// entries is largest. It returns the column of each row; for n > m, −1 for those left over.
//
// It is the Hungarian method with shortest augmenting paths (Kuhn 1955, Munkres
// 1957; Jonker and Volgenant 1987): exact to rounding, O(min(n, m)²·max(n, m))
// time. The same gain gives the same answer; ties are broken by the order of rows
// and columns. Errors: no entries, an entry that is not finite.
func Best(gain mat.Matrix) ([]int, error) {
	n, m := 0, 0
	if gain != nil {
		n, m = gain.Dims()
	}
	if n == 0 || m == 0 {
		return nil, fmt.Errorf("assign: a matrix of %d×%d gains", n, m)
	}
	for i := range n {
		for j := range m {
			if v := gain.At(i, j); !vec.Finite(v) {
				return nil, fmt.Errorf("assign: the gain [%d, %d] is %v, which is not finite", i, j, v)
			}
		}
	}
	if n <= m {
		return wide(gain), nil
	}
	col := slices.Repeat([]int{-1}, n)
	for j, i := range wide(gain.T()) {
		col[i] = j
	}
	return col, nil
}

// wide is Best for n ≤ m.
func wide(gain mat.Matrix) []int {
	n, m := gain.Dims()
	// Prices u of rows and v of columns keep every reduced cost
	// −gain_ij − u_i − v_j ≥ 0, and that of matched entries 0. Row n and column m
	// stand for none.
	u, v := make([]float64, n+1), make([]float64, m+1)
	row := slices.Repeat([]int{n}, m+1) // the row matched with each column
	from := make([]int, m+1)            // the column before each on its shortest path
	dist, done := make([]float64, m+1), make([]bool, m+1)
	for i := range n {
		for j := range dist {
			dist[j], done[j] = math.Inf(1), false
		}
		at := m // a column matched with the row to be placed
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
	return col
}
