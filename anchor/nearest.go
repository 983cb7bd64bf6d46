package anchor

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

// nearest finds the point of a hull nearest to a given one by Wolfe's
// algorithm (1976): a simplex of vertices whose affine hull's nearest point
// lies inside, changed by one vertex at a time.
type nearest struct {
	q      *mat.Dense // the vertices relative to the point
	active []int
	weight []float64
	want   []float64
	x      []float64
	basis  []float64 // orthonormal, rows of length d
	tri    []float64 // the triangle that goes with it
	valid  int       // how many rows of both are those of the active vertices
}

// find reports whether the hull of the points set of x, without the one at
// position skip, has a point within 1.25·tol of point p; if not, it returns a
// direction in which p is more than tol beyond all of them. The direction is
// valid until the next call.
func (w *nearest) find(x *mat.Dense, set []int, skip, p int, tol float64) (u []float64, inside bool, err error) {
	_, d := x.Dims()
	if w.q == nil || w.q.RawMatrix().Rows < len(set) {
		w.q = mat.NewDense(2*len(set), d, nil)
		w.x = make([]float64, d)
		w.basis, w.tri = make([]float64, d*d), make([]float64, d*(d+1))
	}
	to := x.RawRowView(p)
	start, least := -1, 0.0
	for k, s := range set {
		q := floats.SubTo(w.q.RawRowView(k), x.RawRowView(s), to)
		if l := vec.Dot(q, q); k != skip && (start < 0 || l < least) {
			start, least = k, l
		}
	}
	if start < 0 {
		return nil, false, fmt.Errorf("no hull to compare point %d with", p)
	}
	w.active, w.weight, w.valid = append(w.active[:0], start), append(w.weight[:0], 1), 0
	copy(w.x, w.q.RawRowView(start))
	for range 1000 + 100*d {
		l := vec.Norm(w.x)
		if l <= tol {
			return nil, true, nil
		}
		next, lowest := -1, math.Inf(1)
		for k := range set {
			if v := vec.Dot(w.x, w.q.RawRowView(k)); k != skip && v < lowest {
				next, lowest = k, v
			}
		}
		// The hull lies beyond lowest/l in direction x.
		if lowest/l > tol {
			for j := range w.x {
				w.x[j] /= -l
			}
			return w.x, false, nil
		}
		if l-lowest/l <= tol/4 {
			return nil, true, nil
		}
		if slices.Contains(w.active, next) || len(w.active) > d {
			break // rounding
		}
		w.active, w.weight = append(w.active, next), append(w.weight, 0)
		for !w.step() {
		}
	}
	return nil, false, fmt.Errorf("the distance of point %d from the hull of %d others was not found to %g of the size of the whole; the points are too close to a flat, ask for a larger tolerance or fewer dimensions", p, len(set), tol)
}

// step moves to the point of the affine hull of the active vertices that is
// nearest to the origin, or towards it until a weight is zero, whose vertex is
// then dropped. It reports whether it got there.
func (w *nearest) step() bool {
	m := len(w.active)
	d := len(w.x)
	w.want = slices.Grow(w.want[:0], m)[:m]
	base := w.q.RawRowView(w.active[0])
	copy(w.x, base)
	// Gram–Schmidt, twice, of the edges from the first vertex, and of the
	// vertex itself, whose remainder is the nearest point.
	rhs := w.tri[d*d:]
	for a := w.valid + 1; a < m; a++ {
		b := w.basis[(a-1)*d : a*d]
		floats.SubTo(b, w.q.RawRowView(w.active[a]), base)
		r := w.tri[(a-1)*d : a*d]
		clear(r)
		for range 2 {
			for c := range a - 1 {
				bc := w.basis[c*d : (c+1)*d]
				h := vec.Dot(b, bc)
				r[c] += h
				floats.AddScaled(b, -h, bc)
			}
		}
		l := vec.Norm(b)
		r[a-1] = l
		for j := range b {
			b[j] /= l
		}
	}
	w.valid = m - 1
	clear(rhs[:m-1])
	for range 2 {
		for c := range m - 1 {
			bc := w.basis[c*d : (c+1)*d]
			h := vec.Dot(w.x, bc)
			rhs[c] += h
			floats.AddScaled(w.x, -h, bc)
		}
	}
	// base + Σ y_a·edge_a = x: back substitution.
	sum := 0.0
	for a := m - 1; a >= 1; a-- {
		v := -rhs[a-1]
		for b := a + 1; b < m; b++ {
			v -= w.want[b] * w.tri[(b-1)*d+a-1]
		}
		w.want[a] = v / w.tri[(a-1)*d+a-1]
		sum += w.want[a]
	}
	w.want[0] = 1 - sum
	theta, out := 1.0, -1
	for a, v := range w.want {
		if v <= 0 {
			if t := w.weight[a] / (w.weight[a] - v); out < 0 || t < theta {
				theta, out = t, a
			}
		}
	}
	if out < 0 {
		copy(w.weight, w.want)
		return true
	}
	if w.weight[out] == 0 && w.want[out] == 0 {
		theta = 0
	}
	for a := range w.weight {
		w.weight[a] = max(w.weight[a]+theta*(w.want[a]-w.weight[a]), 0)
	}
	w.active, w.weight = slices.Delete(w.active, out, out+1), slices.Delete(w.weight, out, out+1)
	w.valid = max(out-1, 0)
	return false
}
