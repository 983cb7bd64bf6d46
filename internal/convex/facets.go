package convex

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

// facet is a simplex of d vertices with the hull on its negative side.
type facet struct {
	v  []int // positions among the vertices of the hull
	nb []int // nb[i] is the facet across the ridge without v[i]
	// The determinant of v₁−v₀, …, v_{d−1}−v₀, x−v₀ is Σ_j c_j·(x−v₀)_j, for c
	// known to within err.
	c, err []float64
	gone   bool
}

// builder builds the facets.
type builder struct {
	x      *mat.Dense // the vertices of the hull, H×d
	d      int
	facets []facet
	free   []int
	exact  exact
}

// facets returns the facets of the hull of the given points, all of which are
// vertices of it; points are numbered as in x.
func facets(ctx context.Context, x *mat.Dense, vertices []int, limit int) ([][]int, error) {
	_, d := x.Dims()
	if d == 1 {
		lo, hi := vertices[0], vertices[0]
		for _, v := range vertices {
			if x.At(v, 0) < x.At(lo, 0) {
				lo = v
			}
			if x.At(v, 0) > x.At(hi, 0) {
				hi = v
			}
		}
		return [][]int{{lo}, {hi}}, nil
	}
	b := &builder{x: mat.NewDense(len(vertices), d, nil), d: d}
	for i, v := range vertices {
		b.x.SetRow(i, x.RawRowView(v))
	}
	b.exact.x = b.x
	first, left := simplex(b.x, nil, 0)
	// Powers of two that make the axes equally long change no sign, and let
	// floating point decide where the points are flat along an axis.
	for j := range d {
		size := 0.0
		for i := range vertices {
			size = max(size, math.Abs(b.x.At(i, j)))
		}
		_, e := math.Frexp(size)
		for i := range vertices {
			b.x.Set(i, j, math.Ldexp(b.x.At(i, j), -e))
		}
	}
	if len(first) <= d {
		return nil, &DimensionError{Dims: d, Found: len(first) - 1, Points: len(vertices), Residual: left, Size: 1}
	}
	if err := b.begin(first); err != nil {
		return nil, err
	}
	used := make([]bool, len(vertices))
	for _, v := range first {
		used[v] = true
	}
	added := len(first)
	for p := range vertices {
		if used[p] {
			continue
		}
		if err := b.insert(ctx, p); err != nil {
			return nil, err
		}
		added++
		if count := len(b.facets) - len(b.free); count > limit {
			return nil, &FacetError{Dims: d, Vertices: len(vertices), Facets: count, Max: limit, Added: added}
		}
	}
	var out [][]int
	for _, f := range b.facets {
		if f.gone {
			continue
		}
		v := make([]int, d)
		for i, p := range f.v {
			v[i] = vertices[p]
		}
		out = append(out, v)
	}
	if d == 2 {
		return ring(out), nil
	}
	for _, v := range out {
		if sortParity(v) {
			v[d-2], v[d-1] = v[d-1], v[d-2]
		}
	}
	slices.SortFunc(out, slices.Compare)
	return out, nil
}

// ring orders edges, which run clockwise, into a counterclockwise ring from the
// lowest vertex.
func ring(edges [][]int) [][]int {
	next := make(map[int]int, len(edges))
	at := edges[0][0]
	for _, e := range edges {
		next[e[1]] = e[0]
		at = min(at, e[0])
	}
	out := make([][]int, len(edges))
	for i := range out {
		out[i] = []int{at, next[at]}
		at = next[at]
	}
	return out
}

// sortParity sorts v and says whether that took an odd number of exchanges.
func sortParity(v []int) (odd bool) {
	for i := range v {
		for j := i; j > 0 && v[j] < v[j-1]; j-- {
			v[j], v[j-1] = v[j-1], v[j]
			odd = !odd
		}
	}
	return odd
}

// begin makes the facets of the simplex of d+1 vertices.
func (b *builder) begin(s []int) error {
	for k, opposite := range s {
		f := facet{}
		for i, v := range s {
			if i != k {
				f.v, f.nb = append(f.v, v), append(f.nb, i)
			}
		}
		b.plane(&f)
		side := b.side(&f, opposite)
		if side == 0 {
			return fmt.Errorf("convex: the vertices %v lie in a plane", s)
		}
		if side > 0 {
			f.v[0], f.v[1] = f.v[1], f.v[0]
			f.nb[0], f.nb[1] = f.nb[1], f.nb[0]
			b.plane(&f)
		}
		b.facets = append(b.facets, f)
	}
	return nil
}

// insert replaces the facets that p can see by the cone from p over their
// horizon. A facet in whose plane p lies counts as not seen: the cone goes on
// in the plane.
func (b *builder) insert(ctx context.Context, p int) error {
	var seen []int
	for i := range b.facets {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if f := &b.facets[i]; !f.gone && b.side(f, p) > 0 {
			seen = append(seen, i)
		}
	}
	if seen == nil {
		return fmt.Errorf("convex: vertex %d sees no facet", p)
	}
	visible := make(map[int]bool, len(seen))
	for _, i := range seen {
		visible[i] = true
	}
	type side struct{ facet, slot int }
	open := map[string]side{} // ridges of the cone that wait for their other facet
	key := make([]byte, 0, 4*b.d)
	var made []int
	for _, i := range seen {
		for k := range b.d {
			g := b.facets[i].nb[k]
			if visible[g] {
				continue
			}
			// The vertex that p replaces is on the other side of the new
			// facet, as p is of the old one, so that the order of the others
			// keeps the hull on the negative side.
			f := facet{v: slices.Clone(b.facets[i].v), nb: make([]int, b.d)}
			f.v[k] = p
			f.nb[k] = g
			b.plane(&f)
			at := b.put(f)
			made = append(made, at)
			b.facets[g].nb[slices.Index(b.facets[g].nb, i)] = at
		}
	}
	for _, at := range made {
		f := &b.facets[at]
		for k, v := range f.v {
			if v == p {
				continue
			}
			key = ridgeKey(key[:0], f.v, k)
			if o, ok := open[string(key)]; ok {
				f.nb[k] = o.facet
				b.facets[o.facet].nb[o.slot] = at
				delete(open, string(key))
			} else {
				open[string(key)] = side{at, k}
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("convex: %d ridges of vertex %d were left open", len(open), p)
	}
	for _, i := range seen {
		b.facets[i] = facet{gone: true}
		b.free = append(b.free, i)
	}
	return nil
}

// put stores a facet and returns its number.
func (b *builder) put(f facet) int {
	if k := len(b.free); k > 0 {
		at := b.free[k-1]
		b.free = b.free[:k-1]
		b.facets[at] = f
		return at
	}
	b.facets = append(b.facets, f)
	return len(b.facets) - 1
}

// ridgeKey appends the vertices but the one at skip, in ascending order.
func ridgeKey(key []byte, v []int, skip int) []byte {
	var ids [16]int
	s := ids[:0]
	for i, p := range v {
		if i != skip {
			s = append(s, p)
		}
	}
	slices.Sort(s)
	for _, p := range s {
		key = append(key, byte(p), byte(p>>8), byte(p>>16), byte(p>>24))
	}
	return key
}

const eps = 0x1p-53

// plane computes the coefficients of f's determinant, and how far each may be
// off.
func (b *builder) plane(f *facet) {
	d := b.d
	f.c, f.err = make([]float64, d), make([]float64, d)
	base := b.x.RawRowView(f.v[0])
	m := make([]float64, (d-1)*(d-1))
	for j := range d {
		for i := range d - 1 {
			row := b.x.RawRowView(f.v[i+1])
			t := 0
			for c := range d {
				if c != j {
					m[i*(d-1)+t] = row[c] - base[c]
					t++
				}
			}
		}
		f.c[j], f.err[j] = determinant(m, d-1)
		if (d-1+j)%2 == 1 {
			f.c[j] = -f.c[j]
		}
	}
}

// determinant returns the determinant of an n×n matrix, which is overwritten,
// and a bound of its error, where the entries are off by half an ulp
// themselves. By Wilkinson's analysis the result is that of a matrix that
// differs by at most 3n·ε·g in each entry, g being the largest that occurs
// on the way, and by Hadamard's inequality the change of the determinant is at
// most the sum over the rows of the length of the change times the lengths of
// the other rows.
func determinant(a []float64, n int) (det, bound float64) {
	scale, lengths := 1.0, 1.0
	for i := range n {
		row := a[i*n : (i+1)*n]
		big := 0.0
		for _, v := range row {
			big = max(big, math.Abs(v))
		}
		if big == 0 {
			return 0, 0
		}
		_, e := math.Frexp(big)
		s := math.Ldexp(1, -e)
		for j := range row {
			row[j] *= s
		}
		scale = math.Ldexp(scale, e)
		lengths *= vec.Norm(row) * (1 + 1e-9)
	}
	det = 1
	growth := 1.0
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i*n+k]) > math.Abs(a[p*n+k]) {
				p = i
			}
		}
		if p != k {
			for j := k; j < n; j++ {
				a[k*n+j], a[p*n+j] = a[p*n+j], a[k*n+j]
			}
			det = -det
		}
		pivot := a[k*n+k]
		det *= pivot
		if pivot == 0 {
			break
		}
		for i := k + 1; i < n; i++ {
			l := a[i*n+k] / pivot
			for j := k + 1; j < n; j++ {
				a[i*n+j] -= l * a[k*n+j]
				growth = max(growth, math.Abs(a[i*n+j]))
			}
		}
	}
	// Rows are at least 1/2 long, their change at most √n·3n·ε·g; twice that
	// for the products of several changes.
	nf := float64(n)
	bound = 2 * nf * 2 * math.Sqrt(nf) * 3 * nf * eps * growth * lengths
	return det * scale, (bound+2*nf*eps*math.Abs(det))*scale + math.SmallestNonzeroFloat64*0x1p60
}

// side returns the sign of the determinant of f and point p: 1 where p sees f,
// −1 where it is behind f, 0 in the plane of f.
func (b *builder) side(f *facet, p int) int {
	base, row := b.x.RawRowView(f.v[0]), b.x.RawRowView(p)
	s, bound := 0.0, 0.0
	k := float64(b.d + 6)
	for j, c := range f.c {
		x := row[j] - base[j]
		s += c * x
		bound += (f.err[j] + k*eps*math.Abs(c)) * math.Abs(x)
	}
	bound += math.SmallestNonzeroFloat64 * 0x1p60
	if s > bound*(1+1e-9) {
		return 1
	}
	if s < -bound*(1+1e-9) {
		return -1
	}
	return b.exact.side(f.v, p)
}

// exact computes signs of determinants in integers.
type exact struct {
	x    *mat.Dense
	ints []*big.Int // the coordinates times a power of two
}

// side is the sign of the determinant of v₁−v₀, …, v_{d−1}−v₀, p−v₀.
func (e *exact) side(v []int, p int) int {
	n, d := e.x.Dims()
	if e.ints == nil {
		least := math.MaxInt
		for i := range n {
			for _, c := range e.x.RawRowView(i) {
				if c != 0 {
					_, ex := math.Frexp(c)
					least = min(least, ex)
				}
			}
		}
		e.ints = make([]*big.Int, n*d)
		for i := range n {
			for j, c := range e.x.RawRowView(i) {
				fr, ex := math.Frexp(c)
				z := big.NewInt(int64(math.Ldexp(fr, 53)))
				if c != 0 {
					z.Lsh(z, uint(ex-least))
				}
				e.ints[i*d+j] = z
			}
		}
	}
	m := make([]*big.Int, d*d)
	row := func(r, p int) {
		for j := range d {
			m[r*d+j] = new(big.Int).Sub(e.ints[p*d+j], e.ints[v[0]*d+j])
		}
	}
	for i := 1; i < d; i++ {
		row(i-1, v[i])
	}
	row(d-1, p)
	return bareiss(m, d)
}

// bareiss returns the sign of the determinant of an n×n matrix of integers,
// which is overwritten, by elimination without fractions (Bareiss 1968).
func bareiss(m []*big.Int, n int) int {
	sign := 1
	last := big.NewInt(1)
	var t big.Int
	for k := range n - 1 {
		p := k
		for p < n && m[p*n+k].Sign() == 0 {
			p++
		}
		if p == n {
			return 0
		}
		if p != k {
			for j := k; j < n; j++ {
				m[k*n+j], m[p*n+j] = m[p*n+j], m[k*n+j]
			}
			sign = -sign
		}
		for i := k + 1; i < n; i++ {
			for j := k + 1; j < n; j++ {
				z := m[i*n+j]
				z.Mul(z, m[k*n+k])
				z.Sub(z, t.Mul(m[i*n+k], m[k*n+j]))
				z.Quo(z, last)
			}
		}
		last = m[k*n+k]
	}
	return sign * m[n*n-1].Sign()
}
