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
	shift := float64(psdShift * m.Trace)
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

// push appends j to P and its row to the factor. It returns false, with P as
// it was, where j depends affinely on P as far as rounding lets one tell.
func (s *activeSet) push(j int) bool {
	d := s.pivot(j)
	if len(s.idx) > 0 && d <= s.dep*s.diag(j) {
		return false
	}
	s.accept(j, d)
	return true
}

func (s *activeSet) diag(j int) float64 { return s.g[j*s.k+j] + s.sigma }

// pivot computes row |P| of l, L⁻¹h_P, for coordinate j, and returns the square
// of the diagonal entry.
func (s *activeSet) pivot(j int) float64 {
	k, m := s.k, len(s.idx)
	row := s.l[m*k : m*k+m]
	h := s.g[j*k : j*k+k]
	ss := 0.0
	for i, c := range s.idx {
		v := (h[c] + s.sigma - dot(s.l[i*k:i*k+i], row[:i])) * s.dinv[i]
		row[i] = v
		ss += float64(v * v)
	}
	return h[j] + s.sigma - ss
}

// accept appends j to P after pivot returned d.
func (s *activeSet) accept(j int, d float64) {
	k, m := s.k, len(s.idx)
	row := s.l[m*k : m*k+m+1]
	d = math.Sqrt(d)
	inv := 1 / d
	row[m] = d
	s.dinv[m] = inv
	s.z[m] = (s.f[j] - dot(row[:m], s.z)) * inv
	s.w[m] = (1 - dot(row[:m], s.w)) * inv
	s.cur[m] = 0
	s.idx = append(s.idx, j)
	s.in[j] = true
}

// remove takes the coordinate at position p out of P: the factor loses a row
// and is brought back to triangular form by rotations, one row at a time.
func (s *activeSet) remove(p int) {
	k, m := s.k, len(s.idx)
	s.in[s.idx[p]] = false
	copy(s.idx[p:], s.idx[p+1:])
	copy(s.cur[p:m-1], s.cur[p+1:m])
	s.idx = s.idx[:m-1]
	cs, sn := s.full[:m], s.x[:m] // scratch: x is solved for anew after every removal
	for r := p; r < m-1; r++ {
		row := s.l[r*k : r*k+r+2]
		copy(row, s.l[(r+1)*k:(r+1)*k+r+2])
		a := row[p]
		for c := p; c < r; c++ {
			b := row[c+1]
			row[c] = float64(cs[c]*a) + float64(sn[c]*b)
			a = float64(cs[c]*b) - float64(sn[c]*a)
		}
		b := row[r+1]
		h := math.Sqrt(float64(a*a) + float64(b*b))
		inv := 1 / h
		cs[r], sn[r] = a*inv, b*inv
		row[r] = h
		s.dinv[r] = inv
		z0, z1 := s.z[r], s.z[r+1]
		s.z[r], s.z[r+1] = float64(cs[r]*z0)+float64(sn[r]*z1), float64(cs[r]*z1)-float64(sn[r]*z0)
		w0, w1 := s.w[r], s.w[r+1]
		s.w[r], s.w[r+1] = float64(cs[r]*w0)+float64(sn[r]*w1), float64(cs[r]*w1)-float64(sn[r]*w0)
	}
}

// back solves Lᵀx = v up to the multiple of 1 in Lv with which the entries of x sum to sum.
func (s *activeSet) back(x, v []float64, sum float64) {
	k, w := s.k, s.w[:len(v)]
	nu := (dot(w, v) - sum) / dot(w, w)
	for i := range x {
		x[i] = v[i] - float64(nu*w[i])
	}
	for i := len(x) - 1; i >= 0; i-- {
		v := x[i] * s.dinv[i]
		x[i] = v
		axpy(x[:i], -v, s.l[i*k:i*k+i])
	}
}

// eps is the distance from 1 to the next number.
const eps = 0x1p-52

// activeSet is the state of a primal active-set method. From the best vertex, the
// coordinate with the most negative multiplier enters the set P of positive coordinates,
// the point moves to the minimum over {y : Σy = 1, y = 0 outside P}, and coordinates that
// reach zero on the way leave. That minimum follows from a Cholesky factor of G_PP + σ11ᵀ,
// which is positive definite where the columns of P are affinely independent, and is
// updated in O(|P|²). A coordinate that depends on P (equal columns of G, K above its rank)
// is exchanged along the null direction and never factored. The objective falls, and a
// coordinate that entered without a fall may not do so again before there is one, so the
// method ends. The point is then refined with its gradient.
type activeSet struct {
	k     int
	g     []float64 // K×K
	sigma float64   // the multiple of 11ᵀ added to G
	limit int
	dep   float64 // a pivot below dep times the diagonal means dependence

	f     []float64 // scaled and shifted
	shift float64   // what was taken from every entry of f
	tol   float64   // a multiplier above −tol counts as 0
	iter  int
	best  int // the best vertex

	idx  []int     // P, in the order of the factor
	in   []bool    // K: whether in P
	ban  []bool    // K: may not enter until the objective falls
	l    []float64 // Cholesky factor L of G_PP + σ11ᵀ, rows of stride K
	dinv []float64 // 1/L_ii
	z, w []float64 // L⁻¹f_P, L⁻¹1
	x    []float64 // the minimum over P, in the order of idx
	cur  []float64 // the current feasible point, in the order of idx
	grad []float64 // K: Gy − f

	full, trial, keepCur []float64 // K: scratch
	keep, index          []int     // K: scratch
}

func newActiveSet(k int, g []float64, gmax float64, limit int) *activeSet {
	s := &activeSet{k: k, g: g, limit: limit, sigma: 1, dep: float64(k+8) * eps, tol: 16 * eps * gmax}
	if gmax == 0 {
		s.dep = 0.5 // any two columns are the same
	}
	s.idx, s.keep, s.index = make([]int, 0, k), make([]int, 0, k), make([]int, k)
	s.in, s.ban = make([]bool, k), make([]bool, k)
	s.l = make([]float64, k*k)
	buf := make([]float64, 10*k)
	next := func() []float64 { b := buf[:k:k]; buf = buf[k:]; return b }
	s.f, s.dinv, s.z, s.w = next(), next(), next(), next()
	s.x, s.cur, s.grad, s.full = next(), next(), next(), next()
	s.trial, s.keepCur = next(), next()
	return s
}

func (s *activeSet) reset() {
	clear(s.in)
	clear(s.ban)
	s.idx = s.idx[:0]
	s.iter = 0
}

// load takes f and returns the best vertex, the lowest of several. On the simplex a
// constant added to f only adds to the objective: the entry of the best vertex becomes 0,
// so that those of any optimum are at most of the order of G, and a large f costs no
// accuracy.
func (s *activeSet) load(f []float64, scale float64) (best int) {
	low := math.Inf(1)
	for j, v := range f {
		s.f[j] = float64(v * scale)
		if o := float64(s.g[j*s.k+j]/2) - s.f[j]; o < low {
			low, best = o, j
		}
	}
	s.shift = s.f[best]
	for j := range s.f {
		s.f[j] -= s.shift
	}
	return best
}

func (s *activeSet) startVertex(j int) {
	s.reset()
	s.best = j
	s.push(j)
}

// startFrom begins with the support of y, largest entries first so that those
// likely to leave stand last in the factor.
func (s *activeSet) startFrom(y []float64, best int) {
	s.reset()
	keep := s.keep[:0]
	for j, v := range y {
		if v <= 0 {
			continue
		}
		i := len(keep)
		keep = append(keep, j)
		for ; i > 0 && y[keep[i-1]] < v; i-- {
			keep[i] = keep[i-1]
		}
		keep[i] = j
	}
	for _, j := range keep {
		s.push(j)
	}
	s.best = best
}
