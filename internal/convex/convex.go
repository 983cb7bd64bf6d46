// Package convex finds the vertices of the convex hull of a set of points, in any
// dimension.
//
// A point that is farther than a tolerance from the hull of the vertices known so
// far shows a direction in which another one lies (Clarkson 1994; Dulá and Helgason
// 1996). Facets, whose number grows with the power ⌊d/2⌋ of that of the vertices, are
// not needed.
package convex

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

// MinTol is the least tolerance: below it distances are rounding.
const MinTol = 1e-12

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

// Vertices returns the numbers of the rows of x, N×d, that are vertices of their
// convex hull, ascending. tol is the distance, as a fraction of that of the farthest
// point from the mean, up to which a point counts as lying in the hull of the others,
// in [MinTol, 0.1]; 0 means 1e-9.
//
// Every point is within tol of the hull of the vertices, and no vertex within a fifth
// of tol of the hull of the others; both is verified at the end. Of points within a
// fifth of tol of each other the first counts. The result depends on nothing but the
// points and tol.
//
// Cost: N·H·d operations times a small number for H vertices. Errors: tol out of
// range, a coordinate that is not finite, *DimensionError, ctx's.
func Vertices(ctx context.Context, x *mat.Dense, tol float64) ([]int, error) {
	n, d := x.Dims()
	if n == 0 || d == 0 {
		return nil, fmt.Errorf("convex: %d points of %d dimensions", n, d)
	}
	if tol != 0 && !(tol >= MinTol && tol <= 0.1) {
		return nil, fmt.Errorf("convex: tolerance %g is not in [%g, 0.1]", tol, MinTol)
	}
	if tol == 0 {
		tol = 1e-9
	}
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if !vec.Finite(v) {
				return nil, fmt.Errorf("convex: coordinate %d of point %d is %g", j, i, v)
			}
		}
	}
	f, err := newFinder(ctx, x, tol)
	if err != nil {
		return nil, err
	}
	if err := f.find(); err != nil {
		return nil, err
	}
	slices.Sort(f.set)
	return f.set, nil
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

// affineDimension returns how many dimensions the points span, one after the other
// that is farthest from the flat of those before it, and the distance of the first
// that is within tol.
func affineDimension(x *mat.Dense, tol float64) (dims int, left float64) {
	n, d := x.Dims()
	res := mat.DenseCopyOf(x) // what is left of the points
	base := slices.Clone(res.RawRowView(farthest(res)))
	for i := range n {
		row := res.RawRowView(i)
		for j := range row {
			row[j] -= base[j]
		}
	}
	for {
		q := slices.Clone(res.RawRowView(farthest(res)))
		l := vec.Norm(q)
		if l <= tol || dims == d {
			return dims, l
		}
		dims++
		for j := range q {
			q[j] /= l
		}
		for i := range n {
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
