package metrics

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

// stochastic is how far the sum of a distribution may be from 1. Rounding over a
// million words stays below 1e-10; counts and transposed matrices are far above.
const stochastic = 1e-6

// wrongShape reports a matrix of the wrong size. A wanted 0 is any size of at
// least 1.
func wrongShape(what string, rows, cols, wantRows, wantCols int) error {
	size := func(n int) string {
		if n == 0 {
			return "(≥ 1)"
		}
		return fmt.Sprint(n)
	}
	return fmt.Errorf("metrics: %s is %d×%d, needs %s×%s", what, rows, cols, size(wantRows), size(wantCols))
}

// wrongValue reports the entry [row, col] of a matrix that no model can have.
func wrongValue(what string, row, col int, v float64, reason string) error {
	return fmt.Errorf("metrics: %s[%d, %d]: %v %s", what, row, col, v, reason)
}

// dims returns the size of m, 0×0 for nil.
func dims(m *mat.Dense) (r, c int) {
	if m == nil || m.IsEmpty() {
		return 0, 0
	}
	return m.Dims()
}

// checkDense checks the size of m and that all its entries are finite.
func checkDense(what string, m *mat.Dense, wantRows, wantCols int) error {
	r, c := dims(m)
	if r == 0 || c == 0 || wantRows > 0 && r != wantRows || wantCols > 0 && c != wantCols {
		return wrongShape(what, r, c, wantRows, wantCols)
	}
	for i := range r {
		for j, v := range m.RawRowView(i) {
			if !vec.Finite(v) {
				return wrongValue(what, i, j, v, "is not finite")
			}
		}
	}
	return nil
}

// checkRows checks that m is of the size and that each row is a distribution or
// all zeros, which means what the last argument says.
func checkRows(what string, m *mat.Dense, wantRows, wantCols int, zeros string) error {
	if err := checkDense(what, m, wantRows, wantCols); err != nil {
		return err
	}
	rows, _ := m.Dims()
	for i := range rows {
		sum := 0.0
		for j, v := range m.RawRowView(i) {
			if v < 0 {
				return wrongValue(what, i, j, v, "is negative")
			}
			sum += v
		}
		if sum != 0 && !(math.Abs(sum-1) <= stochastic) {
			return fmt.Errorf("metrics: row %s[%d] sums to %.9g, not to 1 (or 0 for %s)", what, i, sum, zeros)
		}
	}
	return nil
}

func checkBreve(breve *mat.Dense, n, k int) error {
	return checkRows("B̆", breve, n, k, "a word without topics")
}

// denseA checks A and returns it as a K×K Dense, a copy unless it is one.
func denseA(a mat.Matrix, k int) (*mat.Dense, error) {
	d, ok := a.(*mat.Dense)
	if !ok {
		d = mat.DenseCopyOf(a)
	}
	return d, checkDense("A", d, k, k)
}

// checkMarginals checks c, which is proportional to p(word) for n words, and returns its sum.
func checkMarginals(what string, c []float64, n int) (sum float64, err error) {
	if len(c) != n {
		return 0, fmt.Errorf("metrics: %d marginals given, %d needed", len(c), n)
	}
	for i, v := range c {
		if !vec.Finite(v) {
			return 0, fmt.Errorf("metrics: %s[%d]: %v is not finite", what, i, v)
		}
	}
	if sum = vec.Sum(c); !(sum > 0) {
		return 0, fmt.Errorf("metrics: the marginals sum to %.9g, which is not positive", sum)
	}
	return sum, nil
}

func checkAnchors(anchors []int, n, k int) error {
	if len(anchors) != k {
		return fmt.Errorf("metrics: %d anchors given, %d needed", len(anchors), k)
	}
	for i, s := range anchors {
		if s < 0 || s >= n {
			return fmt.Errorf("metrics: anchors[%d]: %d is not in [0, %d)", i, s, n)
		}
	}
	return nil
}

// topN returns the length of lists of top words: n, 20 for 0.
func topN(n int) (int, error) {
	if n < 0 {
		return 0, fmt.Errorf("metrics: lists of %d top words", n)
	}
	return cmp.Or(n, 20), nil
}

// topics is a checked B: finite, nonnegative, every column a distribution or
// empty (all zeros).
type topics struct {
	b     *mat.Dense
	n, k  int
	empty []bool // by topic
}

func checkTopics(b *mat.Dense) (*topics, error) { return checkTopicsOf("B", b) }

// checkTopicsOf is checkTopics with another name for B in errors.
func checkTopicsOf(what string, b *mat.Dense) (*topics, error) {
	if err := checkDense(what, b, 0, 0); err != nil {
		return nil, err
	}
	n, k := b.Dims()
	t := &topics{b, n, k, make([]bool, k)}
	sums := make([]float64, k)
	for i := range n {
		for j, v := range b.RawRowView(i) {
			if v < 0 {
				return nil, wrongValue(what, i, j, v, "is negative")
			}
			sums[j] += v
		}
	}
	for j, s := range sums {
		switch {
		case s == 0:
			t.empty[j] = true
		case !(math.Abs(s-1) <= stochastic):
			return nil, fmt.Errorf("metrics: %s, column %d sums to %.9g, not to 1 (or 0 for an empty topic)", what, j, s)
		}
	}
	return t, nil
}

// topicsAndTop checks B and the length of the lists of top words.
func topicsAndTop(b *mat.Dense, n int) (*topics, int, error) {
	t, err := checkTopics(b)
	if err != nil {
		return nil, 0, err
	}
	n, err = topN(n)
	return t, n, err
}
