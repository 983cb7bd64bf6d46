package infer

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// sumTol is how far a column of B may be from summing to 1.
const sumTol = 1e-6

// rows are the rows of B without their zeros: with topics from anchors most
// words are in few of them.
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

// checked is a Topics found to be in order.
type checked struct {
	Topics
	n, k int
	rows *rows
	mean []float64  // K: the topic shares, sum 1
	a    *mat.Dense // A scaled to sum 1; nil without A
}

func dims(m *mat.Dense) (r, c int) {
	if m == nil || m.IsEmpty() {
		return 0, 0
	}
	return m.Dims()
}

// check validates t. O(NK).
func check(t Topics) (*checked, error) {
	n, k := dims(t.B)
	if n == 0 || k == 0 {
		return nil, &TopicsError{"B", -1, -1, "is nil or empty"}
	}
	c := &checked{Topics: t, n: n, k: k}
	sums := make([]float64, k)
	for i := range n {
		for j, v := range t.B.RawRowView(i) {
			if !(v >= 0) || math.IsInf(v, 1) {
				return nil, &TopicsError{"B", i, j, fmt.Sprintf("is %g, no probability", v)}
			}
			sums[j] += v
		}
	}
	for j, s := range sums {
		if !(math.Abs(s-1) <= sumTol) {
			return nil, &TopicsError{"B", -1, j, fmt.Sprintf("sums to %g over the words, not 1", s)}
		}
	}
	c.rows = newRows(t.B)
	if t.Breve != nil {
		if r, cc := dims(t.Breve); r != n || cc != k {
			return nil, &TopicsError{"Breve", -1, -1, fmt.Sprintf("is %d×%d, must be N×K = %d×%d", r, cc, n, k)}
		}
		for i := range n {
			for j, v := range t.Breve.RawRowView(i) {
				if !(v >= 0) || math.IsInf(v, 1) {
					return nil, &TopicsError{"Breve", i, j, fmt.Sprintf("is %g, no probability", v)}
				}
			}
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
	if t.A != nil {
		a, err := scaledToOne("A", t.A, k)
		if err != nil {
			return nil, err
		}
		c.a = a
	}
	if t.Dual != nil {
		if d := t.Dual.SymmetricDim(); d != k {
			return nil, &TopicsError{"Dual", -1, -1, fmt.Sprintf("is %d×%d, must be K×K = %d×%d", d, d, k, k)}
		}
		for i := range k {
			for j := range i + 1 {
				if v := t.Dual.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
					return nil, &TopicsError{"Dual", i, j, fmt.Sprintf("is %g", v)}
				}
			}
		}
	}
	c.mean = c.shares()
	return c, nil
}

// scaledToOne returns a symmetric copy of a matrix of joint probabilities,
// divided by its sum.
func scaledToOne(field string, a *mat.Dense, k int) (*mat.Dense, error) {
	if r, cc := dims(a); r != k || cc != k {
		return nil, &TopicsError{field, -1, -1, fmt.Sprintf("is %d×%d, must be K×K = %d×%d", r, cc, k, k)}
	}
	sum, scale := 0.0, 0.0
	for i := range k {
		for j, v := range a.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
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

// shares returns the mean composition: that of Alpha, else the row sums of A
// (negative ones count as 0), else all alike.
func (c *checked) shares() []float64 {
	a := make([]float64, c.k)
	switch {
	case c.Alpha != nil:
		copy(a, c.Alpha)
	case c.a != nil:
		for i := range a {
			for _, v := range c.a.RawRowView(i) {
				a[i] += v
			}
			a[i] = max(a[i], 0)
		}
	default:
		for i := range a {
			a[i] = 1
		}
	}
	normalise(a)
	return a
}

// normalise divides x, which is non-negative and not all 0, by its sum.
func normalise(x []float64) {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	for i := range x {
		x[i] /= sum
	}
}

// Bounds of what alpha returns, for matrices A that no Dirichlet has.
const (
	alphaSumMin   = 0.1
	alphaSumMax   = 1e4
	alphaShareMin = 1e-4 // of the mean share 1/K
)

// alpha returns the parameters of the Dirichlet distribution.
//
// With α = α₀a, E[wwᵀ] = (1−t)aaᵀ + t·diag(a) with t = 1/(1+α₀): linear in t, so
// that the least-squares fit to A is one division.
func (c *checked) alpha(method string) ([]float64, error) {
	if c.Alpha != nil {
		return c.Alpha, nil
	}
	if c.a == nil {
		return nil, &TopicsError{"Alpha", -1, -1, "and A are nil: " + method + " needs one of them"}
	}
	a := make([]float64, c.k)
	for i, v := range c.mean {
		a[i] = max(v, alphaShareMin/float64(c.k))
	}
	normalise(a)
	if c.k == 1 {
		return []float64{1}, nil
	}
	num, den := 0.0, 0.0
	for i := range a {
		for j := range a {
			d := -a[i] * a[j]
			if i == j {
				d += a[i]
			}
			num += d * (c.a.At(i, j) - a[i]*a[j])
			den += d * d
		}
	}
	sum := alphaSumMax
	if t := num / den; t > 0 {
		sum = min(max(1/t-1, alphaSumMin), alphaSumMax)
	}
	for i := range a {
		a[i] *= sum
	}
	return a, nil
}

// DirichletAlpha returns the α that methods use for t: Alpha itself, or the
// moment match to A described there. α₀ = Σα is kept in [0.1, 10⁴], and no share
// below 10⁻⁴/K. O(NK) for the checks.
func DirichletAlpha(t Topics) ([]float64, error) {
	c, err := check(t)
	if err != nil {
		return nil, err
	}
	a, err := c.alpha("DirichletAlpha")
	if err != nil {
		return nil, err
	}
	return append([]float64(nil), a...), nil
}
