package metrics

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Stat is one measure: its value for every word or every topic, with their
// mean and spread.
type Stat struct {
	Mean float64 // over the defined values; NaN when there is none
	Std  float64 // sample standard deviation (n−1) of the defined values; 0 for a single one, NaN for none

	// Values holds one value a word or a topic, as the measure says, NaN where
	// the measure is not defined for it. nil: the measure was not computed.
	Values []float64

	// Undefined counts the NaN in Values; Mean and Std leave them out.
	Undefined int
}

// NewStat summarises values, of which it takes ownership. NaN stands for "not
// defined here": it is counted and left out of the mean and the deviation.
//
// A measure over some of the words is the Stat of a part of its Values: the
// thesis' BaseRecovery over the first n words is NewStat(r.Values[:n:n]).Mean.
func NewStat(values []float64) Stat {
	s := Stat{Values: values}
	n := 0
	for _, v := range values {
		if math.IsNaN(v) {
			s.Undefined++
			continue
		}
		s.Mean += v
		n++
	}
	if n == 0 {
		s.Mean, s.Std = math.NaN(), math.NaN()
		return s
	}
	s.Mean /= float64(n)
	if n == 1 {
		return s
	}
	for _, v := range values {
		if !math.IsNaN(v) {
			d := v - s.Mean
			s.Std += d * d
		}
	}
	s.Std = math.Sqrt(s.Std / float64(n-1))
	return s
}

// ShapeError reports a matrix or a list whose size does not fit the others.
type ShapeError struct {
	What               string // "B", "B̆", "A", "anchors", "marginals"
	Rows, Cols         int    // as given
	WantRows, WantCols int    // as needed; 0: any size of at least 1
}

func (e *ShapeError) Error() string {
	dim := func(n int) string {
		if n == 0 {
			return "(≥ 1)"
		}
		return fmt.Sprint(n)
	}
	if e.What == "anchors" || e.What == "marginals" {
		return fmt.Sprintf("metrics: %d %s given, %s needed", e.Rows, e.What, dim(e.WantRows))
	}
	return fmt.Sprintf("metrics: %s is %d×%d, needs %s×%s", e.What, e.Rows, e.Cols, dim(e.WantRows), dim(e.WantCols))
}

// ValueError reports an entry that no model can have.
type ValueError struct {
	What     string  // "B", "B̆", "A", "C", "anchors", "marginals", "top words"
	Row, Col int     // the place; Col is −1 for a whole row (or an element of a list), Row −1 for a whole column
	Value    float64 // what stands there
	Reason   string  // what is wrong with it
}

func (e *ValueError) Error() string {
	switch {
	case e.Row < 0 && e.Col < 0:
		return fmt.Sprintf("metrics: %s: %v %s", e.What, e.Value, e.Reason)
	case e.Col < 0:
		return fmt.Sprintf("metrics: %s[%d]: %v %s", e.What, e.Row, e.Value, e.Reason)
	case e.Row < 0:
		return fmt.Sprintf("metrics: %s, column %d: %v %s", e.What, e.Col, e.Value, e.Reason)
	}
	return fmt.Sprintf("metrics: %s[%d, %d]: %v %s", e.What, e.Row, e.Col, e.Value, e.Reason)
}

// tolStochastic is how far a distribution's sum may be from 1. Rounding over a
// million words stays below 1e-10; counts or a transposed matrix are far above.
const tolStochastic = 1e-6

func finite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

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
		return &ShapeError{what, r, c, wantRows, wantCols}
	}
	for i := range r {
		for j, v := range m.RawRowView(i) {
			if !finite(v) {
				return &ValueError{what, i, j, v, "is not finite"}
			}
		}
	}
	return nil
}

// denseA checks A and returns it as a K×K Dense (a copy unless it is one); k 0
// means any size.
func denseA(a mat.Matrix, k int) (*mat.Dense, error) {
	if a == nil {
		return nil, &ShapeError{"A", 0, 0, k, k}
	}
	d, ok := a.(*mat.Dense)
	if !ok {
		if r, c := a.Dims(); r == 0 || c == 0 {
			return nil, &ShapeError{"A", r, c, k, k}
		}
		d = mat.DenseCopyOf(a)
	}
	if r, c := dims(d); k == 0 {
		k = r
		if r != c {
			return nil, &ShapeError{"A", r, c, r, r}
		}
	}
	if err := checkDense("A", d, k, k); err != nil {
		return nil, err
	}
	return d, nil
}

func checkMarginals(what string, c []float64, n int) error {
	if len(c) != n {
		return &ShapeError{"marginals", len(c), 1, n, 1}
	}
	for i, v := range c {
		if !finite(v) {
			return &ValueError{what, i, -1, v, "is not finite"}
		}
	}
	return nil
}

func checkAnchors(anchors []int, n, k int) error {
	if len(anchors) != k {
		return &ShapeError{"anchors", len(anchors), 1, k, 1}
	}
	for i, s := range anchors {
		if s < 0 || s >= n {
			return &ValueError{"anchors", i, -1, float64(s), fmt.Sprintf("is not in [0, %d)", n)}
		}
	}
	return nil
}

// topics is a checked B: finite, nonnegative, every column a distribution or
// empty (all zeros).
type topics struct {
	b     *mat.Dense
	n, k  int
	empty []bool // by topic
}

func checkTopics(b *mat.Dense) (*topics, error) {
	if err := checkDense("B", b, 0, 0); err != nil {
		return nil, err
	}
	n, k := b.Dims()
	t := &topics{b, n, k, make([]bool, k)}
	sums := make([]float64, k)
	for i := range n {
		for j, v := range b.RawRowView(i) {
			if v < 0 {
				return nil, &ValueError{"B", i, j, v, "is negative"}
			}
			sums[j] += v
		}
	}
	for j, s := range sums {
		switch {
		case s == 0:
			t.empty[j] = true
		case !(math.Abs(s-1) <= tolStochastic):
			return nil, &ValueError{"B", -1, j, s, "is its sum, which must be 1 (or 0 for an empty topic)"}
		}
	}
	return t, nil
}

// checkBreve checks that every row of B̆ is a distribution or all zeros.
func checkBreve(breve *mat.Dense, n, k int) error {
	if err := checkDense("B̆", breve, n, k); err != nil {
		return err
	}
	n, _ = breve.Dims()
	for i := range n {
		s := 0.0
		for j, v := range breve.RawRowView(i) {
			if v < 0 {
				return &ValueError{"B̆", i, j, v, "is negative"}
			}
			s += v
		}
		if s != 0 && !(math.Abs(s-1) <= tolStochastic) {
			return &ValueError{"B̆", i, -1, s, "is the sum of the row, which must be 1 (or 0 for a word without topics)"}
		}
	}
	return nil
}
