// The vertices of the convex hull of a set of points, in any dimension.
//
// A point that is farther than a tolerance from the hull of the vertices known so
// far shows a direction in which another one lies (Clarkson 1994; Dulá and Helgason
// 1996). Facets, whose number grows with the power ⌊d/2⌋ of that of the vertices, are
// not needed.

package anchor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

// minTol is the least tolerance: below it distances are rounding.
const minTol = 1e-12

// hullVertices returns the numbers of the rows of x, N×d, that are vertices of their
// convex hull, ascending, and how many dimensions the points span; with fewer than d there
// are no vertices. tol is the distance, as a fraction of that of the farthest point from the
// mean, up to which a point counts as lying in the hull of the others, in [minTol, 0.1]; 0
// means 1e-9.
//
// Every point is within tol of the hull of the vertices, and no vertex within a fifth
// of tol of the hull of the others; both is verified at the end. Of points within a
// fifth of tol of each other the first counts. The result depends only on the points and tol.
//
// Cost: N·H·d operations times a small number for H vertices. Errors: a coordinate that is
// not finite, vertices that do not settle, ctx's.
func hullVertices(ctx context.Context, x *mat.Dense, tol float64) (vertices []int, dims int, err error) {
	n, d := x.Dims()
	for i := range n {
		if j := vec.NotFinite(x.RawRowView(i)); j >= 0 {
			return nil, 0, fmt.Errorf("coordinate %d of point %d is %g", j, i, x.At(i, j))
		}
	}
	f := &vertexFinder{ctx: ctx, x: mat.DenseCopyOf(x), n: n, d: d, tol: cmp.Or(tol, 1e-9), in: make([]bool, n)}
	if !f.scale() {
		return nil, 0, nil
	}
	if dims = affineDimension(f.x, f.tol); dims < d {
		return nil, dims, nil
	}
	err = f.find()
	slices.Sort(f.set)
	return f.set, dims, err
}

// vertexFinder finds the vertices. Points are moved to have their mean at the origin
// and divided by the largest distance from it, so that tolerances are absolute.
type vertexFinder struct {
	ctx  context.Context
	x    *mat.Dense
	n, d int
	tol  float64
	set  []int  // the vertices found so far
	in   []bool // whether a point is among them
	near nearest
}

// scale moves and divides the points. It reports whether they are not all the same.
func (f *vertexFinder) scale() bool {
	// Against overflow: a power of two that brings the largest below 1.
	_, e := math.Frexp(max(mat.Max(f.x), -mat.Min(f.x)))
	mean := make([]float64, f.d)
	for i := range f.n {
		row := f.x.RawRowView(i)
		for j := range row {
			row[j] = math.Ldexp(row[j], -e)
			mean[j] += row[j] / float64(f.n)
		}
	}
	size := 0.0
	for i := range f.n {
		floats.Sub(f.x.RawRowView(i), mean)
		size = max(size, vec.Norm(f.x.RawRowView(i)))
	}
	// What is left of points far from the origin that differ by rounding.
	if size <= 1e-14*math.Max(vec.Norm(mean), math.SmallestNonzeroFloat64) || size == 0 {
		return false
	}
	for i := range f.n {
		row := f.x.RawRowView(i)
		for j := range row {
			row[j] /= size
		}
	}
	return true
}

// affineDimension returns how many dimensions the points span, one after the other
// that is farthest from the flat of those before it, until the next is within tol.
func affineDimension(x *mat.Dense, tol float64) (dims int) {
	n, d := x.Dims()
	res := mat.DenseCopyOf(x) // what is left of the points
	base := slices.Clone(res.RawRowView(farthest(res)))
	for i := range n {
		floats.Sub(res.RawRowView(i), base)
	}
	for {
		q := slices.Clone(res.RawRowView(farthest(res)))
		l := vec.Norm(q)
		if l <= tol || dims == d {
			return dims
		}
		dims++
		for j := range q {
			q[j] /= l
		}
		for i := range n {
			row := res.RawRowView(i)
			for range 2 {
				vec.AddScaled(row, -vec.Dot(row, q), q)
			}
		}
	}
}

func farthest(x *mat.Dense) int {
	n, _ := x.Dims()
	best, s := -1.0, 0
	for i := range n {
		if l := vec.Norm(x.RawRowView(i)); l > best {
			best, s = l, i
		}
	}
	return s
}

// find fills in the set of vertices.
func (f *vertexFinder) find() error {
	u := make([]float64, f.d)
	for j := range f.d {
		for _, s := range []float64{1, -1} {
			clear(u)
			u[j] = s
			if v := f.support(u); !f.in[v] {
				f.add(v)
			}
		}
	}
	// Three parts of the tolerance: what is let pass here, what the choice
	// among twins moves, and what pruning leaves. The last pass is the check.
	part := f.tol / 5
	if err := f.cover(part); err != nil {
		return err
	}
	f.firstTwins(part)
	for range 10 {
		if err := f.prune(part); err != nil {
			return err
		}
		was := len(f.set)
		if err := f.cover(0.8 * f.tol); err != nil {
			return err
		}
		if len(f.set) == was {
			return nil
		}
	}
	return fmt.Errorf("the vertices of the hull of %d points do not settle to %g of its size; ask for a larger tolerance", f.n, f.tol)
}

func (f *vertexFinder) add(i int) {
	f.set = append(f.set, i)
	f.in[i] = true
}

// cover adds vertices until every point is within tol of their hull.
func (f *vertexFinder) cover(tol float64) error {
	for i := range f.n {
		if i%64 == 0 && f.ctx.Err() != nil {
			return f.ctx.Err()
		}
		for !f.in[i] {
			u, inside, err := f.near.find(f.x, f.set, -1, i, tol)
			if err != nil {
				return err
			}
			if inside {
				break
			}
			f.add(f.support(u))
		}
	}
	return nil
}

// support returns the point that lies farthest in direction u; of those equally far, to
// rounding, the first of those farthest from the mean, which is a vertex if they form a face.
func (f *vertexFinder) support(u []float64) int {
	const tie = 1e-13 // of a size of 1, below all tolerances
	best := math.Inf(-1)
	for i := range f.n {
		best = max(best, vec.Dot(f.x.RawRowView(i), u))
	}
	at, far := -1, 0.0
	for i := range f.n {
		row := f.x.RawRowView(i)
		if vec.Dot(row, u) >= best-tie {
			if l := vec.Norm(row); at < 0 || l > far+tie {
				at, far = i, l
			}
		}
	}
	return at
}

// firstTwins puts the first point within tol of a vertex in its place.
func (f *vertexFinder) firstTwins(tol float64) {
	for k, s := range f.set {
		row := f.x.RawRowView(s)
		for i := range s {
			if !f.in[i] && vec.Distance(f.x.RawRowView(i), row) <= tol {
				f.in[s], f.in[i] = false, true
				f.set[k] = i
				break
			}
		}
	}
}

// prune takes out vertices within tol of the hull of the others, chosen for a direction
// across an edge before its ends were known. Of two the later goes.
func (f *vertexFinder) prune(tol float64) error {
	slices.Sort(f.set)
	for k := len(f.set) - 1; k >= 0; k-- {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		s := f.set[k]
		_, inside, err := f.near.find(f.x, f.set, k, s, tol)
		if err != nil {
			return err
		}
		if inside {
			f.set = slices.Delete(f.set, k, k+1)
			f.in[s] = false
		}
	}
	return nil
}

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
				vec.AddScaled(b, -h, bc)
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
			vec.AddScaled(w.x, -h, bc)
		}
	}
	// base + Σ y_a·edge_a = x: back substitution.
	sum := 0.0
	for a := m - 1; a >= 1; a-- {
		v := -rhs[a-1]
		for b := a + 1; b < m; b++ {
			v -= float64(w.want[b] * w.tri[(b-1)*d+a-1])
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
		w.weight[a] = max(w.weight[a]+float64(theta*(w.want[a]-w.weight[a])), 0)
	}
	w.active, w.weight = slices.Delete(w.active, out, out+1), slices.Delete(w.weight, out, out+1)
	w.valid = max(out-1, 0)
	return false
}
