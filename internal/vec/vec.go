// Package vec holds small functions over slices. Its sums add their terms from the
// first to the last, in one chain, while the order in gonum's floats depends on the
// architecture: their bits are the same on every CPU (internal/arith).
package vec

import (
	"cmp"
	"math"
	"slices"
)

// Sum returns Σ x_i.
func Sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// Dot returns Σ x_i·y_i. y must be at least as long as x.
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	s := 0.0
	for i, v := range x {
		s += float64(v * y[i])
	}
	return s
}

// Norm returns the Euclidean norm of x. Squares may overflow.
func Norm(x []float64) float64 { return math.Sqrt(Dot(x, x)) }

// Distance returns the Euclidean norm of x − y. y must be at least as long as x.
func Distance(x, y []float64) float64 {
	y = y[:len(x)]
	s := 0.0
	for i, v := range x {
		s += float64((v - y[i]) * (v - y[i]))
	}
	return math.Sqrt(s)
}

// Normalise divides x by its sum.
func Normalise(x []float64) {
	sum := Sum(x)
	for i := range x {
		x[i] /= sum
	}
}

// Posterior sets dst to likelihood times prior divided by its sum, by Bayes' rule, and
// returns the sum; if that is 0, so is dst. The slices have the same length.
func Posterior(dst, likelihood, prior []float64) float64 {
	likelihood, prior = likelihood[:len(dst)], prior[:len(dst)]
	sum := 0.0
	for i, v := range likelihood {
		dst[i] = float64(v * prior[i])
		sum += dst[i]
	}
	if sum == 0 {
		return 0
	}
	for i := range dst {
		dst[i] /= sum
	}
	return sum
}

// Finite reports whether v is neither NaN nor infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// NotFinite returns the first index of a number that is NaN or infinite, or −1.
func NotFinite(x []float64) int {
	for i, v := range x {
		if !Finite(v) {
			return i
		}
	}
	return -1
}

// Resize returns a slice of length n with undefined contents. It reuses s if that is
// large enough; a new slice has room for an eighth more.
func Resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}

// Order returns 0…n−1 by falling value, NaN last, ties by number.
func Order(n int, value func(i int) float64) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
	return out
}

// Top returns the first n of Order(count, value), all if there are fewer, without sorting the others.
func Top(count, n int, value func(i int) float64) []int {
	return TopRows(count, 1, n, func(i, _ int) float64 { return value(i) })[0]
}

// TopRows returns, for each column of a matrix, what Top returns for its rows. It reads the matrix row by row.
func TopRows(rows, cols, n int, value func(i, k int) float64) [][]int {
	out := make([][]int, cols)
	if n = max(0, min(n, rows)); n > rows/16 {
		for k := range out {
			out[k] = Order(rows, func(i int) float64 { return value(i, k) })[:n]
		}
		return out
	}
	// Insertion into short sorted lists: once they hold large values, almost every other fails the
	// first comparison.
	least := make([]float64, cols)
	for i := range rows {
		for k, top := range out {
			x := value(i, k)
			if n == 0 || len(top) == n && !cmp.Less(least[k], x) {
				continue
			}
			at := len(top)
			for at > 0 && cmp.Less(value(top[at-1], k), x) {
				at--
			}
			top = slices.Insert(top, at, i)
			out[k] = top[:min(len(top), n)]
			least[k] = value(out[k][len(out[k])-1], k)
		}
	}
	return out
}

// AddScaled adds a·x to to, which is at least as long as x.
func AddScaled(to []float64, a float64, x []float64) {
	to = to[:len(x)]
	for i, v := range x {
		to[i] += float64(a * v)
	}
}

// Taxicab returns Σ |x_i − y_i|. y must be at least as long as x.
func Taxicab(x, y []float64) float64 {
	y = y[:len(x)]
	s := 0.0
	for i, v := range x {
		s += math.Abs(v - y[i])
	}
	return s
}
