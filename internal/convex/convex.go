// Package convex computes convex hulls in any dimension: which points are the
// vertices, and the facets between them.
//
// The vertices are found first, without the facets, whose number grows with the
// power ⌊d/2⌋ of theirs: a point that is farther than a tolerance from the hull
// of the vertices known so far shows a direction in which another one lies
// (Clarkson 1994; Dulá and Helgason 1996). The facets are then built from the
// vertices alone, one after the other (beneath-beyond), and all decisions on
// that way are the signs of determinants that are computed exactly wherever
// floating point does not tell.
package convex

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	// DefaultTol is the tolerance where none is given.
	DefaultTol = 1e-9
	// MinTol is the least tolerance: below it distances are rounding.
	MinTol = 1e-12
	// DefaultMaxFacets bounds the facets where no bound is given; they take
	// some 100 bytes each and dimension.
	DefaultMaxFacets = 500_000
)

// Options say how a hull is computed.
type Options struct {
	// Tol is the distance, as a fraction of that of the farthest point from
	// the mean, up to which a point counts as lying in the hull of the others.
	// In [MinTol, 0.1]; 0 means DefaultTol.
	Tol float64
	// MaxFacets bounds how many facets may exist at a time; 0 means
	// DefaultMaxFacets.
	MaxFacets int
	// NoFacets leaves the facets out. The vertices alone take polynomial time
	// in any dimension.
	NoFacets bool
}

// Hull is the convex hull of a set of points.
type Hull struct {
	// Vertices are the numbers of the points that are vertices, ascending. Of
	// points within a fifth of the tolerance of each other the first counts.
	Vertices []int
	// Facets are simplices of d vertices each, by point number; a facet with
	// more than d vertices comes in several. In the plane they are the edges
	// in counterclockwise order, the first begins at the vertex of the lowest
	// number; in space the vertices of a triangle run counterclockwise as seen
	// from outside. In more dimensions det(v₁−v₀, …, v_{d−1}−v₀, x) > 0 for x
	// that points outside. Sorted, and nil with NoFacets.
	Facets [][]int
}

// DimensionError says that the points lie in a flat of fewer dimensions than
// they have coordinates.
type DimensionError struct {
	Dims, Found int // coordinates, and affine dimension of the points
	Points      int
	// Residual is the distance of the next point from that flat, Size that of
	// the farthest point from the mean.
	Residual, Size float64
}

func (e *DimensionError) Error() string {
	if e.Found == 0 {
		return fmt.Sprintf("convex: all %d points are the same, so that they have no hull in %d dimensions (they are at most %.3g from their mean)", e.Points, e.Dims, e.Size)
	}
	return fmt.Sprintf("convex: the %d points lie in a flat of %d dimensions, so that they have no hull in %d (the next point is %.3g from the flat, the farthest %.3g from the mean)", e.Points, e.Found, e.Dims, e.Residual, e.Size)
}

// FacetError says that the hull has too many facets.
type FacetError struct {
	Dims, Vertices int
	Facets, Max    int // how many there were when Added vertices were in
	Added          int
}

func (e *FacetError) Error() string {
	return fmt.Sprintf("convex: the hull of %d vertices in %d dimensions has too many facets: %d with the first %d of the vertices, at most %d are allowed", e.Vertices, e.Dims, e.Facets, e.Added, e.Max)
}

// New computes the convex hull of the rows of x, N×d.
//
// Every point is within Tol of the hull of Vertices, and no vertex within a
// fifth of Tol of the hull of the others; both is verified at the end. The
// facets are those of the exact hull of Vertices. The result depends on
// nothing but the points and settings.
//
// Cost: N·H·d operations times a small number for H vertices, and H times the
// number of facets. Errors: settings out of range, a coordinate that is not
// finite, *DimensionError, *FacetError, ctx's.
func New(ctx context.Context, x *mat.Dense, o Options) (*Hull, error) {
	n, d := x.Dims()
	if n == 0 || d == 0 {
		return nil, fmt.Errorf("convex: %d points of %d dimensions", n, d)
	}
	if o.Tol != 0 && !(o.Tol >= MinTol && o.Tol <= 0.1) {
		return nil, fmt.Errorf("convex: tolerance %g is not in [%g, 0.1]", o.Tol, MinTol)
	}
	if o.MaxFacets < 0 {
		return nil, fmt.Errorf("convex: at most %d facets", o.MaxFacets)
	}
	if o.Tol == 0 {
		o.Tol = DefaultTol
	}
	if o.MaxFacets == 0 {
		o.MaxFacets = DefaultMaxFacets
	}
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("convex: coordinate %d of point %d is %g", j, i, v)
			}
		}
	}
	f, err := newFinder(ctx, x, o.Tol)
	if err != nil {
		return nil, err
	}
	if err := f.find(); err != nil {
		return nil, err
	}
	h := &Hull{Vertices: f.set}
	slices.Sort(h.Vertices)
	if !o.NoFacets {
		if h.Facets, err = facets(ctx, f.x, h.Vertices, o.MaxFacets); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// finder finds the vertices. Points are moved to have their mean at the origin
// and divided by the largest distance from it, so that tolerances are absolute.
type finder struct {
	ctx  context.Context
	x    *mat.Dense
	n, d int
	tol  float64
	set  []int  // the vertices found so far
	in   []bool // whether a point is among them
	near nearest
}

// newFinder scales the points and makes sure that they span all dimensions.
func newFinder(ctx context.Context, x *mat.Dense, tol float64) (*finder, error) {
	n, d := x.Dims()
	f := &finder{ctx: ctx, x: mat.DenseCopyOf(x), n: n, d: d, tol: tol, in: make([]bool, n)}
	// Against overflow: a power of two that brings the largest below 1.
	_, e := math.Frexp(max(mat.Max(x), -mat.Min(x)))
	mean := make([]float64, d)
	for i := range n {
		row := f.x.RawRowView(i)
		for j := range row {
			row[j] = math.Ldexp(row[j], -e)
			mean[j] += row[j] / float64(n)
		}
	}
	size := 0.0
	for i := range n {
		row := f.x.RawRowView(i)
		for j := range row {
			row[j] -= mean[j]
		}
		size = max(size, vec.Norm(row))
	}
	full := math.Ldexp(1, e) // of one unit now
	// What is left of points far from the origin that differ by rounding.
	if size <= 1e-14*math.Max(vec.Norm(mean), math.SmallestNonzeroFloat64) || size == 0 {
		return nil, &DimensionError{Dims: d, Points: n, Size: size * full}
	}
	for i := range n {
		row := f.x.RawRowView(i)
		for j := range row {
			row[j] /= size
		}
	}
	found, left := affineDimension(f.x, tol)
	if found < d {
		return nil, &DimensionError{Dims: d, Found: found, Points: n, Residual: left * size * full, Size: size * full}
	}
	return f, nil
}

// affineDimension returns how many dimensions the points span, one after the
// other that is farthest from the flat of those before it, and the distance of
// the first that is within tol.
func affineDimension(x *mat.Dense, tol float64) (dims int, left float64) {
	s, left := simplex(x, nil, tol)
	return len(s) - 1, left
}

// simplex returns up to d+1 of the given points (nil: all) no one of which is
// within tol of the flat of those before it, and how far the next one is.
func simplex(x *mat.Dense, points []int, tol float64) ([]int, float64) {
	n, d := x.Dims()
	if points == nil {
		points = make([]int, n)
		for i := range points {
			points[i] = i
		}
	}
	res := mat.NewDense(len(points), d, nil) // what is left of the points
	for i, p := range points {
		res.SetRow(i, x.RawRowView(p))
	}
	first := farthest(res)
	out := []int{points[first]}
	base := slices.Clone(res.RawRowView(first))
	for i := range points {
		row := res.RawRowView(i)
		for j := range row {
			row[j] -= base[j]
		}
	}
	for {
		s := farthest(res)
		q := slices.Clone(res.RawRowView(s))
		l := vec.Norm(q)
		if l <= tol || len(out) > d {
			return out, l
		}
		out = append(out, points[s])
		for j := range q {
			q[j] /= l
		}
		for i := range points {
			row := res.RawRowView(i)
			for pass := 0; pass < 2; pass++ {
				h := vec.Dot(row, q)
				for j := range row {
					row[j] -= h * q[j]
				}
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
func (f *finder) find() error {
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
	return fmt.Errorf("convex: the vertices of the hull of %d points do not settle to %g of its size; ask for a larger tolerance", f.n, f.tol)
}

func (f *finder) add(i int) {
	f.set = append(f.set, i)
	f.in[i] = true
}

// cover adds vertices until every point is within tol of their hull.
func (f *finder) cover(tol float64) error {
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

// support returns the point that lies farthest in direction u. Of those that
// are equally far, to rounding, it is the one farthest from the mean, which is
// a vertex where they form a face; of these the first.
func (f *finder) support(u []float64) int {
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
func (f *finder) firstTwins(tol float64) {
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

// prune takes out vertices within tol of the hull of the others: those that
// were chosen for a direction across an edge before its ends were known. Of
// two the later goes.
func (f *finder) prune(tol float64) error {
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

// find tells whether the hull of the points set of x, without the one at
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
		q := w.q.RawRowView(k)
		for j, v := range x.RawRowView(s) {
			q[j] = v - to[j]
		}
		if l := vec.Dot(q, q); k != skip && (start < 0 || l < least) {
			start, least = k, l
		}
	}
	if start < 0 {
		return nil, false, fmt.Errorf("convex: no hull to compare point %d with", p)
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
	return nil, false, fmt.Errorf("convex: the distance of point %d from the hull of %d others was not found to %g of the size of the whole; the points are too close to a flat, ask for a larger tolerance or fewer dimensions", p, len(set), tol)
}

// step moves to the point of the affine hull of the active vertices that is
// nearest to the origin, or towards it until a weight is zero, whose vertex is
// then dropped. It says whether it got there.
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
		for j, v := range w.q.RawRowView(w.active[a]) {
			b[j] = v - base[j]
		}
		r := w.tri[(a-1)*d : a*d]
		clear(r)
		for pass := 0; pass < 2; pass++ {
			for c := range a - 1 {
				bc := w.basis[c*d : (c+1)*d]
				h := vec.Dot(b, bc)
				r[c] += h
				for j := range b {
					b[j] -= h * bc[j]
				}
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
	for pass := 0; pass < 2; pass++ {
		for c := range m - 1 {
			bc := w.basis[c*d : (c+1)*d]
			h := vec.Dot(w.x, bc)
			rhs[c] += h
			for j := range w.x {
				w.x[j] -= h * bc[j]
			}
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
