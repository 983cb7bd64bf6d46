// Package simplex minimises convex quadratic functions over the probability
// simplex {y : y ≥ 0, Σy = 1}, exactly and one at a time, and projects onto it.
package simplex

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

// Status is how the work on one problem ended.
type Status uint8

// The ways to end.
const (
	Converged Status = iota
	Limit            // the limit of iterations came first
	Stalled          // rounding allows no further progress
)

// Outcome is how the work on one problem ended.
type Outcome struct {
	Objective  float64 // ½ yᵀGy − fᵀy
	Gap        float64 // the primal-dual gap, see Gap
	Iterations int     // equality-constrained solves
	Status     Status
}

// Matrix is a checked G, K×K: finite and, up to rounding, positive semidefinite.
type Matrix struct {
	K     int
	Data  []float64 // by rows
	Trace float64
}

// psdShift times the trace is how negative an eigenvalue of G may be.
const psdShift = 1e-10

// Check copies G and reports whether it is finite and positive semidefinite. O(K³).
func Check(g mat.Symmetric) (*Matrix, error) {
	if g == nil || g.SymmetricDim() == 0 {
		return nil, errors.New("the matrix G is nil or empty")
	}
	k := g.SymmetricDim()
	m := &Matrix{K: k, Data: make([]float64, k*k)}
	for i := range k {
		for j := range k {
			v := g.At(i, j)
			if !vec.Finite(v) {
				return nil, fmt.Errorf("the matrix G: row %d, entry %d, is not finite: %g", i, j, v)
			}
			m.Data[i*k+j] = v
		}
		d := m.Data[i*k+i]
		if d < 0 {
			return nil, fmt.Errorf("the matrix G: row %d, entry %d, is a negative diagonal entry: %g", i, i, d)
		}
		m.Trace += d
		if math.IsInf(m.Trace, 0) {
			return nil, fmt.Errorf("the matrix G: row %d, entry %d, is too large for the trace to be finite: %g", i, i, d)
		}
	}
	shift := psdShift * m.Trace
	a := mat.NewSymDense(k, slices.Clone(m.Data))
	for i := range k {
		v := a.At(i, i) + shift
		if v == 0 { // only where G = 0
			v = 1
		}
		a.SetSym(i, i, v)
	}
	var c mat.Cholesky
	if !c.Factorize(a) {
		return nil, fmt.Errorf("the matrix G is not positive semidefinite: it has an eigenvalue below %.3g (its trace is %.3g)", -shift, m.Trace)
	}
	return m, nil
}

// Quadratic is a family of functions ½ yᵀGy − fᵀy with one G. It never changes
// and is safe for concurrent use.
type Quadratic struct {
	k            int
	scaled       []float64 // K×K
	scale, gmax  float64
	limit        int
	largestInput float64 // |f| up to which nothing overflows
}

// Quadratic prepares for solving. limit bounds the equality-constrained solves of one
// problem, to within the K of a last step; 0 means 20K + 200, far above what is needed.
// largest is the largest |f_k| to come where that is out of proportion to G, else 0.
func (m *Matrix) Quadratic(limit int, largest float64) *Quadratic {
	q := &Quadratic{k: m.K, scaled: make([]float64, len(m.Data)), scale: scale(m.K, m.Trace, largest), limit: limit}
	if q.limit == 0 {
		q.limit = 20*q.k + 200
	}
	for i, v := range m.Data {
		q.scaled[i] = v * q.scale
		q.gmax = max(q.gmax, math.Abs(q.scaled[i]))
	}
	q.largestInput = min(math.Ldexp(1, top)/q.scale, math.MaxFloat64)
	return q
}

// top is the binary exponent up to which scaled entries of f may go.
const top = 512

// scale returns the power of two that brings the mean of G's diagonal to the order of 1,
// or one small enough for f not to overflow.
func scale(k int, trace, largest float64) float64 {
	e := 0
	if trace > 0 {
		_, e = math.Frexp(trace / float64(k))
	}
	if largest > 0 {
		_, ef := math.Frexp(largest)
		e = max(e, ef-top)
	}
	return math.Ldexp(1, max(-e, -1022))
}

// Solver solves problems with one G, one after the other and without
// allocating. It must not be used by two goroutines at once. Memory: 8K² bytes.
type Solver struct {
	q *Quadratic
	s *activeSet
}

// Solver returns a new solver.
func (q *Quadratic) Solver() *Solver {
	return &Solver{q, newActiveSet(q.k, q.scaled, q.gmax, q.limit)}
}

// Solve minimises ½ yᵀGy − fᵀy over the simplex. y and f have length K and must
// not share memory. With warm, y holds a starting point on entry: y ≥ 0 and
// Σy = 1 to 1e-6. The result depends on G, f and the start alone, to the bit.
// Errors: slices of other lengths, entries that are not finite, a bad start.
func (w *Solver) Solve(y, f []float64, warm bool) (Outcome, error) {
	q, s := w.q, w.s
	if len(f) != q.k || len(y) != q.k {
		return Outcome{}, fmt.Errorf("f has %d entries and y %d, both must have %d", len(f), len(y), q.k)
	}
	for j, v := range f {
		if !(math.Abs(v) <= q.largestInput) {
			return Outcome{}, fmt.Errorf("f, entry %d, is not finite or above %.3g: %g", j, q.largestInput, v)
		}
	}
	if warm {
		if err := CheckStart(y); err != nil {
			return Outcome{}, fmt.Errorf("y%w", err)
		}
	}
	best := s.load(f, q.scale)
	if warm {
		s.startFrom(y, best)
	} else {
		s.startVertex(best)
	}
	status := s.solve(y)
	obj, gap := Gap(s.grad, s.f, y)
	return Outcome{(obj - s.shift) / q.scale, gap / q.scale, s.iter, status}, nil
}

// CheckStart reports whether y is in the simplex, to 1e-6. The error continues a
// sentence that begins with the name of y.
func CheckStart(y []float64) error {
	sum := 0.0
	for j, v := range y {
		if !(v >= -1e-6) || math.IsInf(v, 1) {
			return fmt.Errorf(", entry %d, is no starting value (must be ≥ 0): %g", j, v)
		}
		sum += v
	}
	if !(math.Abs(sum-1) <= 1e-6) {
		return fmt.Errorf(" is no starting point (must sum to 1): %g", sum)
	}
	return nil
}
