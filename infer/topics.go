package infer

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/internal/vec"
	recovery "github.com/jsmf-go/spectral/recover"
)

// Topics is what inference needs to know of a model. jsmf.Model.Inferer fills it in.
// The matrices are only read, and must not change while an Inferer made from them is in use.
type Topics struct {
	// B is N×K: column k is p(word | topic k). It is required, non-negative, and
	// each column sums to 1 to within 1e-6. A word with an empty row is in no topic:
	// its tokens are left out and counted as Doc.Unknown.
	B *mat.Dense

	// A is K×K and symmetric: p(topic, topic) of two words of a document. Its scale
	// does not matter. PADD.Learn needs it. Where Alpha is nil, it is estimated from A;
	// where WordTopics is nil, it follows from B and the topic shares by Bayes' rule.
	//
	// The topic shares, which documents without a known token get, are A·1 scaled to sum 1
	// (negative ones count as 0), without A those of Alpha, and without either all alike.
	A *mat.Dense

	// WordTopics is N×K: row n is p(topic | word n), non-negative. Only SPI uses it.
	// nil: by Bayes' rule from B and the topic shares.
	WordTopics *mat.Dense

	// Alpha holds the K parameters, above 0, of a Dirichlet prior of the topic
	// proportions. MAP and Gibbs use it. nil: recovery.FitAlpha of A.
	Alpha []float64

	// Logits is a logistic-normal prior of the topic proportions, of which MAP makes use in place of
	// Alpha or, where it is one of families, besides Alpha; nil: none.
	Logits *recovery.LogisticNormal

	// Dual is Λ/M, K×K: the dual variables that PADD.Learn found, divided by the
	// number of documents. Only PADD uses it.
	Dual *mat.SymDense

	// Hidden says that the last so many of the K topics, fewer than all, are in no result. Documents may have them:
	// proportions are those of the other topics alone, with sum 1, and the tokens of hidden ones count as Doc.Unknown.
	Hidden int
}

// Validate reports what makes every method refuse t, as a [*TopicsError]: B missing,
// with an entry that is no probability or a column that does not sum to 1; another
// field of the wrong shape, not finite or negative; A not symmetric, or without a
// positive sum to scale it by. O(NK).
func (t Topics) Validate() error {
	_, err := check(t)
	return errs.Wrap("infer", err)
}

// TopicsError reports what is wrong with a Topics.
type TopicsError struct {
	Field    string // of Topics
	Row, Col int    // the place; −1 where a whole row, column or the field is meant
	Reason   string
}

func (e *TopicsError) Error() string {
	s := "Topics." + e.Field
	switch {
	case e.Row >= 0 && e.Col >= 0:
		s += fmt.Sprintf("[%d, %d]", e.Row, e.Col)
	case e.Row >= 0:
		s += fmt.Sprintf(", row %d", e.Row)
	case e.Col >= 0:
		s += fmt.Sprintf(", topic %d", e.Col)
	}
	return s + " " + e.Reason
}

// sumTol is how far a column of B may be from summing to 1.
const sumTol = 1e-6

// rows are the rows of B without their zeros. With topics from anchors most words
// are in few topics.
type rows struct {
	ptr []int // N+1
	idx []int32
	val []float64
}

func (r *rows) row(w int32) ([]int32, []float64) {
	lo, hi := r.ptr[w], r.ptr[w+1]
	return r.idx[lo:hi:hi], r.val[lo:hi:hi]
}

func (r *rows) empty(w int32) bool { return r.ptr[w] == r.ptr[w+1] }

// tiny is what counts as zero, so that products of probabilities do not
// underflow.
const tiny = 1e-250

func newRows(m *mat.Dense) *rows {
	n, _ := m.Dims()
	r := &rows{ptr: make([]int, n+1)}
	for i := range n {
		for k, v := range m.RawRowView(i) {
			if v > tiny {
				r.idx, r.val = append(r.idx, int32(k)), append(r.val, v)
			}
		}
		r.ptr[i+1] = len(r.idx)
	}
	return r
}

// checked is a Topics without errors.
type checked struct {
	Topics
	n, k   int
	known  []bool     // N: the word is in a topic
	sparse *rows      // of B; nil before rows is called
	mean   []float64  // K: the topic shares, sum 1
	a      *mat.Dense // A scaled to sum 1; nil without A
}

func dims(m *mat.Dense) (r, c int) {
	if m == nil || m.IsEmpty() {
		return 0, 0
	}
	return m.Dims()
}

// check validates t and prepares what all methods use.
func check(t Topics) (*checked, error) {
	n, k := dims(t.B)
	if n == 0 || k == 0 {
		return nil, &TopicsError{"B", -1, -1, "is nil or empty"}
	}
	c := &checked{Topics: t, n: n, k: k, known: make([]bool, n)}
	if err := checkProbabilities("B", t.B); err != nil {
		return nil, err
	}
	sums := make([]float64, k)
	for i := range n {
		for j, v := range t.B.RawRowView(i) {
			sums[j] += v
			c.known[i] = c.known[i] || v > tiny
		}
	}
	if t.Hidden < 0 || t.Hidden >= k {
		return nil, &TopicsError{"Hidden", -1, -1, fmt.Sprintf("is %d, must be in [0, K = %d)", t.Hidden, k)}
	}
	for j, s := range sums {
		if !(math.Abs(s-1) <= sumTol) {
			return nil, &TopicsError{"B", -1, j, fmt.Sprintf("sums to %g over the words, not 1", s)}
		}
	}
	if t.WordTopics != nil {
		if err := checkShape("WordTopics", t.WordTopics, "N×K", n, k); err != nil {
			return nil, err
		}
		if err := checkProbabilities("WordTopics", t.WordTopics); err != nil {
			return nil, err
		}
	}
	if t.Alpha != nil {
		if len(t.Alpha) != k {
			return nil, &TopicsError{"Alpha", -1, -1, fmt.Sprintf("has %d values, must have K = %d", len(t.Alpha), k)}
		}
		for j, v := range t.Alpha {
			if !(v > 0) || math.IsInf(v, 1) {
				return nil, &TopicsError{"Alpha", -1, j, fmt.Sprintf("is %g, must be positive and finite", v)}
			}
		}
	}
	if t.Logits != nil {
		if err := t.Logits.Validate(k); err != nil {
			return nil, &TopicsError{"Logits", -1, -1, err.Error()}
		}
	}
	if t.A != nil {
		var err error
		if c.a, err = scaledToOne("A", t.A, k); err != nil {
			return nil, err
		}
	}
	if t.Dual != nil {
		if err := checkShape("Dual", t.Dual, "K×K", k, k); err != nil {
			return nil, err
		}
		for i := range k {
			for j := range i + 1 {
				if v := t.Dual.At(i, j); !vec.Finite(v) {
					return nil, &TopicsError{"Dual", i, j, fmt.Sprintf("is %g", v)}
				}
			}
		}
	}
	c.mean = c.shares()
	return c, nil
}

// rows returns the rows of B without their zeros. Not for concurrent use.
func (c *checked) rows() *rows {
	if c.sparse == nil {
		c.sparse = newRows(c.B)
	}
	return c.sparse
}

// checkShape refuses a matrix that is not n×k, which the shape says in letters.
func checkShape(field string, m mat.Matrix, shape string, n, k int) error {
	if r, c := m.Dims(); r != n || c != k {
		return &TopicsError{field, -1, -1, fmt.Sprintf("is %d×%d, must be %s = %d×%d", r, c, shape, n, k)}
	}
	return nil
}

// checkProbabilities refuses entries that are negative or not finite.
func checkProbabilities(field string, m *mat.Dense) error {
	if i, j, ok := improbable(m); ok {
		return &TopicsError{field, i, j, fmt.Sprintf("is %g, no probability", m.At(i, j))}
	}
	return nil
}

// improbable finds an entry that is negative or not finite.
func improbable(m *mat.Dense) (i, j int, ok bool) {
	n, _ := dims(m)
	for i := range n {
		for j, v := range m.RawRowView(i) {
			if !(v >= 0) || math.IsInf(v, 1) {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// scaledToOne returns a symmetric copy of a matrix of joint probabilities,
// divided by its sum.
func scaledToOne(field string, a *mat.Dense, k int) (*mat.Dense, error) {
	if err := checkShape(field, a, "K×K", k, k); err != nil {
		return nil, err
	}
	sum, scale := 0.0, 0.0
	for i := range k {
		for j, v := range a.RawRowView(i) {
			if !vec.Finite(v) {
				return nil, &TopicsError{field, i, j, fmt.Sprintf("is %g", v)}
			}
			sum += v
			scale = max(scale, math.Abs(v))
		}
	}
	if !(sum > 0) || math.IsInf(sum, 1) || !(scale/sum < 1e12) {
		return nil, &TopicsError{field, -1, -1, fmt.Sprintf("sums to %g: these are no joint probabilities", sum)}
	}
	out := mat.NewDense(k, k, nil)
	for i := range k {
		for j := range k {
			if d := math.Abs(a.At(i, j) - a.At(j, i)); d > 1e-6*scale {
				return nil, &TopicsError{field, i, j, fmt.Sprintf("is %g, but %g the other way round", a.At(i, j), a.At(j, i))}
			}
			out.Set(i, j, (a.At(i, j)+a.At(j, i))/(2*sum))
		}
	}
	return out, nil
}

// shares returns the topic shares as Topics.A defines them.
func (c *checked) shares() []float64 {
	a := make([]float64, c.k)
	switch {
	case c.a != nil:
		for i := range a {
			a[i] = max(vec.Sum(c.a.RawRowView(i)), 0)
		}
	case c.Alpha != nil:
		copy(a, c.Alpha)
	default:
		for i := range a {
			a[i] = 1
		}
	}
	vec.Normalise(a)
	return a
}

// checkPrior is check with the parameters of the Dirichlet prior.
func checkPrior(t Topics) (c *checked, alpha []float64, err error) {
	if c, err = check(t); err != nil || c.Alpha != nil {
		return c, t.Alpha, err
	}
	if c.a == nil {
		return nil, nil, &TopicsError{"Alpha", -1, -1, "and A are nil: the Dirichlet prior needs one of them"}
	}
	alpha, err = recovery.FitAlpha(c.a)
	return c, alpha, err
}
