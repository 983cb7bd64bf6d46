package convex

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/jsmf-go/spectral/internal/vec"
)

var ctx = context.Background()

func hull(t testing.TB, x *mat.Dense, o Options) *Hull {
	t.Helper()
	h, err := New(ctx, x, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// extreme tells by a linear program whether point i is no convex combination
// of the others: feasibility of Σ λ_j x_j = x_i, Σ λ_j = 1, λ ≥ 0. The points
// are moved so that x_i is the origin, and the program minimises the ℓ₁ norm of
// what is left, so that it is always feasible.
func extreme(t testing.TB, x *mat.Dense, i int) bool {
	t.Helper()
	n, d := x.Dims()
	a := mat.NewDense(d+1, n-1+2*d, nil)
	for j, at := 0, 0; j < n; j++ {
		if j == i {
			continue
		}
		for c := range d {
			a.Set(c, at, x.At(j, c)-x.At(i, c))
		}
		a.Set(d, at, 1)
		at++
	}
	cost := make([]float64, n-1+2*d)
	for c := range d {
		a.Set(c, n-1+2*c, 1)
		a.Set(c, n-1+2*c+1, -1)
		cost[n-1+2*c], cost[n-1+2*c+1] = 1, 1
	}
	b := make([]float64, d+1)
	b[d] = 1
	left, _, err := lp.Simplex(cost, a, b, 1e-12, nil)
	if err != nil {
		t.Fatalf("the linear program of point %d: %v", i, err)
	}
	return left > 1e-8 // points of a size of 1
}

// cloud draws points of several shapes. No one of them is nearly a vertex: the
// distances from the hull of the others are far above the tolerances.
func cloud(shape string, n, d int, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, uint64(d)))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		switch shape {
		case "sphere":
			l := vec.Norm(row)
			for j := range row {
				row[j] /= l
			}
		case "stretched": // as principal components are
			for j := range row {
				row[j] = row[j]*math.Pow(0.05, float64(j)) + 3
			}
		case "grid": // duplicates, collinear and coplanar points
			for j := range row {
				row[j] = float64(rng.IntN(4))
			}
		case "cross": // vertices on the axes, most points on the diagonals' planes
			l := 0.0
			for j := range row {
				row[j] = float64(rng.IntN(9) - 4)
				l += math.Abs(row[j])
			}
			for j := range row {
				row[j] *= 8 / max(l, 1)
			}
		}
	}
	return x
}

// The vertices are those of the linear programs, in 2, 3 and 4 dimensions.
// Duplicates: the first counts.
func TestAgainstLinearPrograms(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for _, shape := range []string{"normal", "sphere", "stretched", "grid", "cross"} {
		for _, d := range []int{2, 3, 4} {
			for seed := range seeds {
				n := 60
				x := cloud(shape, n, d, seed)
				h := hull(t, x, Options{})
				// The linear programs see distinct points.
				var first []int
				for i := range n {
					if !slices.ContainsFunc(first, func(j int) bool { return vec.Distance(x.RawRowView(i), x.RawRowView(j)) < 1e-12 }) {
						first = append(first, i)
					}
				}
				distinct := mat.NewDense(len(first), d, nil)
				for k, i := range first {
					distinct.SetRow(k, x.RawRowView(i))
				}
				var want []int
				for k, i := range first {
					if extreme(t, distinct, k) {
						want = append(want, i)
					}
				}
				if !slices.Equal(h.Vertices, want) {
					t.Errorf("%s, %d dimensions, seed %d: vertices %v, by linear programs %v", shape, d, seed, h.Vertices, want)
				}
				check(t, x, h)
			}
		}
	}
}

// check verifies the facets: no point is beyond one, each ridge lies between
// two, and in the plane and in space their number is what Euler says.
func check(t testing.TB, x *mat.Dense, h *Hull) {
	t.Helper()
	n, d := x.Dims()
	ridges := map[string]int{}
	for _, f := range h.Facets {
		if len(f) != d {
			t.Fatalf("facet %v in %d dimensions", f, d)
		}
		for i := range n {
			// Against the largest coordinate, and the length of the rows.
			v, size := orient(x, f, x.RawRowView(i), true)
			if v > 1e-8*size {
				t.Errorf("point %d is beyond facet %v by %g of %g", i, f, v, size)
			}
		}
		for k, v := range f {
			if !slices.Contains(h.Vertices, v) {
				t.Errorf("facet %v has a vertex that is none", f)
			}
			ridges[string(ridgeKey(nil, f, k))]++
		}
	}
	for _, c := range ridges {
		if c != 2 {
			t.Errorf("a ridge lies between %d facets", c)
		}
	}
	v, f := len(h.Vertices), len(h.Facets)
	if d == 2 && f != v || d == 3 && f != 2*v-4 {
		t.Errorf("%d vertices and %d facets in %d dimensions", v, f, d)
	}
}

// orient returns the determinant of the facet and a point p relative to its
// first vertex, or of the direction p, and the product of the lengths. In the
// plane facets run the other way.
func orient(x *mat.Dense, f []int, p []float64, point bool) (det, size float64) {
	d := len(f)
	m := mat.NewDense(d, d, nil)
	for k := 1; k < d; k++ {
		for j := range d {
			m.Set(k-1, j, x.At(f[k], j)-x.At(f[0], j))
		}
	}
	for j := range d {
		v := p[j]
		if point {
			v -= x.At(f[0], j)
		}
		m.Set(d-1, j, v)
	}
	size = 1
	for k := range d - 1 {
		size *= vec.Norm(m.RawRowView(k))
	}
	det = mat.Det(m)
	if d == 2 {
		det = -det
	}
	return det, size
}

// volume adds up the cones from the origin over the facets.
func volume(x *mat.Dense, h *Hull) float64 {
	_, d := x.Dims()
	sum, fact := 0.0, 1.0
	for i := range d {
		fact *= float64(i + 1)
	}
	for _, f := range h.Facets {
		m := mat.NewDense(d, d, nil)
		for k, v := range f {
			m.SetRow(k, x.RawRowView(v))
		}
		v := mat.Det(m) / fact
		if d == 2 {
			v = -v
		}
		if d%2 == 0 { // det of the edges and v₀ has v₀ in the last row
			v = -v
		}
		sum += v
	}
	return sum
}

// The cube and the cross-polytope, with all kinds of degenerate points put
// among them, have their vertices only, and the facets enclose their volume.
func TestSolids(t *testing.T) {
	most := 6
	if testing.Short() {
		most = 4
	}
	for d := 2; d <= most; d++ {
		var pts [][]float64
		for c := range 1 << d {
			p := make([]float64, d)
			for j := range p {
				p[j] = float64(c >> j & 1)
			}
			pts = append(pts, p)
		}
		rng := rand.New(rand.NewPCG(7, uint64(d)))
		for range 100 { // on faces of all dimensions
			p := make([]float64, d)
			for j := range p {
				p[j] = float64(rng.IntN(5)) / 4
			}
			pts = append(pts, p)
		}
		pts = append(pts, pts[0], pts[1])
		x := mat.NewDense(len(pts), d, nil)
		for i, p := range pts {
			x.SetRow(i, p)
		}
		h := hull(t, x, Options{})
		if want := 1 << d; len(h.Vertices) != want || h.Vertices[want-1] != want-1 {
			t.Fatalf("cube of %d dimensions: vertices %v", d, h.Vertices)
		}
		check(t, x, h)
		if v := volume(x, h); math.Abs(v-1) > 1e-12 {
			t.Errorf("cube of %d dimensions: volume %.15g", d, v)
		}

		x = mat.NewDense(2*d+1, d, nil)
		want := 1.0
		for j := range d {
			x.Set(2*j, j, 1)
			x.Set(2*j+1, j, -1)
			want *= 2 / float64(j+1)
		}
		h = hull(t, x, Options{})
		if len(h.Vertices) != 2*d || len(h.Facets) != 1<<d {
			t.Errorf("cross-polytope of %d dimensions: %d vertices, %d facets", d, len(h.Vertices), len(h.Facets))
		}
		if v := volume(x, h); math.Abs(v-want) > 1e-12 {
			t.Errorf("cross-polytope of %d dimensions: volume %.15g, want %.15g", d, v, want)
		}
	}
}

// Points that are off the faces of a simplex by rounding are no vertices; with
// a tolerance below the rounding they may be.
func TestTolerance(t *testing.T) {
	for _, d := range []int{2, 3, 9, 30} {
		if d == 30 && testing.Short() {
			continue
		}
		rng := rand.New(rand.NewPCG(9, uint64(d)))
		n := 300
		x := mat.NewDense(n, d, nil)
		at := rng.Perm(n)[:d+1]
		slices.Sort(at)
		for _, i := range at {
			for j := range d {
				x.Set(i, j, rng.NormFloat64())
			}
		}
		for i := range n {
			if slices.Contains(at, i) {
				continue
			}
			w, s := make([]float64, d+1), 0.0
			for _, k := range rng.Perm(d + 1)[:2] { // on an edge
				w[k] = 0.1 + rng.Float64()
				s += w[k]
			}
			for j := range d {
				v := 0.0
				for k, a := range at {
					v += w[k] / s * x.At(a, j)
				}
				x.Set(i, j, v+3e-12*rng.NormFloat64())
			}
		}
		h := hull(t, x, Options{})
		if !slices.Equal(h.Vertices, at) {
			t.Errorf("%d dimensions: vertices %v, want %v", d, h.Vertices, at)
		}
		if len(h.Facets) != d+1 {
			t.Errorf("a simplex of %d dimensions has %d facets", d, len(h.Facets))
		}
	}
	// Twins by rounding: the first counts, whichever is farther out.
	for _, wobble := range []float64{0, 1e-13, -1e-13} {
		x := mat.NewDense(8, 2, nil)
		for i := range 8 {
			a := float64(i%4) * math.Pi / 2
			r := 1 + wobble*float64(i)
			x.SetRow(i, []float64{r * math.Cos(a), r * math.Sin(a)})
		}
		if h := hull(t, x, Options{}); !slices.Equal(h.Vertices, []int{0, 1, 2, 3}) {
			t.Errorf("wobble %g: vertices %v", wobble, h.Vertices)
		}
	}
}

func TestRing(t *testing.T) {
	x := cloud("normal", 200, 2, 5)
	h := hull(t, x, Options{})
	if h.Facets[0][0] != h.Vertices[0] {
		t.Errorf("the ring begins with %v, the lowest vertex is %d", h.Facets[0], h.Vertices[0])
	}
	for i, e := range h.Facets {
		next := h.Facets[(i+1)%len(h.Facets)]
		if e[1] != next[0] {
			t.Fatalf("edge %v is followed by %v", e, next)
		}
		a, b, c := x.RawRowView(e[0]), x.RawRowView(e[1]), x.RawRowView(next[1])
		if (b[0]-a[0])*(c[1]-b[1])-(b[1]-a[1])*(c[0]-b[0]) <= 0 {
			t.Errorf("edges %v and %v do not turn left", e, next)
		}
	}
}

// Renaming the points renames the vertices and facets.
func TestEquivariance(t *testing.T) {
	for _, d := range []int{2, 3, 5} {
		x := cloud("normal", 150, d, 8)
		h := hull(t, x, Options{})
		rng := rand.New(rand.NewPCG(2, 2))
		order := rng.Perm(150)
		y := mat.NewDense(150, d, nil)
		for i, o := range order {
			y.SetRow(i, x.RawRowView(o))
		}
		g := hull(t, y, Options{})
		names := func(facets [][]int, order []int) map[string]bool {
			set := map[string]bool{}
			for _, f := range facets {
				v := slices.Clone(f)
				if order != nil {
					for i := range v {
						v[i] = order[v[i]]
					}
				}
				slices.Sort(v)
				set[fmt.Sprint(v)] = true
			}
			return set
		}
		a, b := names(h.Facets, nil), names(g.Facets, order)
		if len(a) != len(b) {
			t.Errorf("%d dimensions: %d and %d facets", d, len(a), len(b))
		}
		for k := range a {
			if !b[k] {
				t.Errorf("%d dimensions: facet %s has gone", d, k)
			}
		}
	}
}

func TestLine(t *testing.T) {
	x := mat.NewDense(5, 1, []float64{0.3, 2, -1, 2, 0})
	h := hull(t, x, Options{})
	if !slices.Equal(h.Vertices, []int{1, 2}) || len(h.Facets) != 2 || h.Facets[0][0] != 2 || h.Facets[1][0] != 1 {
		t.Errorf("%+v", h)
	}
}

func TestDimensionError(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, d := range []int{2, 3, 4} {
		for dim := range d {
			for _, far := range []float64{0, 1e6} {
				a, b := mat.NewDense(40, max(dim, 1), nil), mat.NewDense(max(dim, 1), d, nil)
				for i := range 40 {
					for j := range dim {
						a.Set(i, j, rng.NormFloat64())
					}
				}
				for i := range max(dim, 1) {
					for j := range d {
						b.Set(i, j, rng.NormFloat64())
					}
				}
				var x mat.Dense
				x.Mul(a, b)
				for i := range 40 {
					for j := range d {
						x.Set(i, j, x.At(i, j)+far)
					}
				}
				_, err := New(ctx, &x, Options{Tol: 1e-8})
				var de *DimensionError
				if !errors.As(err, &de) || de.Found != dim || de.Dims != d || de.Points != 40 {
					t.Errorf("a flat of %d in %d dimensions: %v", dim, d, err)
					continue
				}
				want := fmt.Sprintf("flat of %d dimensions", dim)
				if dim == 0 {
					want = "all 40 points are the same"
				}
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		}
	}
	var de *DimensionError
	if _, err := New(ctx, mat.NewDense(1, 2, nil), Options{}); !errors.As(err, &de) || de.Found != 0 {
		t.Errorf("one point: %v", err)
	}
	if _, err := New(ctx, mat.NewDense(2, 2, []float64{0, 1, 2, 3}), Options{}); !errors.As(err, &de) || de.Found != 1 {
		t.Errorf("two points: %v", err)
	}
}

func TestBad(t *testing.T) {
	x := cloud("sphere", 60, 6, 1)
	_, err := New(ctx, x, Options{MaxFacets: 100})
	var fe *FacetError
	if !errors.As(err, &fe) || fe.Dims != 6 || fe.Vertices != 60 || fe.Facets <= 100 || fe.Max != 100 {
		t.Errorf("too many facets: %v", err)
	}
	if h := hull(t, x, Options{NoFacets: true}); len(h.Vertices) != 60 || h.Facets != nil {
		t.Errorf("without facets: %+v", h)
	}
	for _, c := range []struct {
		x    *mat.Dense
		o    Options
		want string
	}{
		{x, Options{Tol: 1e-15}, "tolerance 1e-15"},
		{x, Options{Tol: math.NaN()}, "tolerance NaN"},
		{x, Options{Tol: 1}, "tolerance 1 "},
		{x, Options{MaxFacets: -1}, "-1 facets"},
		{mat.NewDense(2, 2, []float64{0, 1, math.NaN(), 2}), Options{}, "coordinate 0 of point 1 is NaN"},
		{mat.NewDense(2, 2, []float64{0, math.Inf(-1), 1, 2}), Options{}, "coordinate 1 of point 0 is -Inf"},
		{new(mat.Dense), Options{}, "0 points"},
	} {
		if _, err := New(ctx, c.x, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := New(cancelled, x, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Sizes near the ends of the range of floating point do not matter.
func TestScale(t *testing.T) {
	x := cloud("normal", 80, 3, 4)
	want := hull(t, x, Options{})
	for _, s := range []float64{1e-300, 1e-20, 1e20, 1e307} {
		var y mat.Dense
		y.Scale(s, x)
		if h := hull(t, &y, Options{}); !slices.Equal(h.Vertices, want.Vertices) {
			t.Errorf("scale %g: vertices %v, want %v", s, h.Vertices, want.Vertices)
		}
	}
}

// The floating-point determinant is within its bound of the exact one, and the
// sign of nearly singular ones is decided exactly.
func TestDeterminant(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	tight := 0
	for trial := range 400 {
		n := 1 + trial%5
		a := make([]float64, n*n)
		for i := range a {
			a[i] = rng.NormFloat64() * math.Pow(10, float64(rng.IntN(5)-2))
		}
		if trial%3 == 0 && n > 1 { // nearly dependent rows
			for j := range n {
				a[(n-1)*n+j] = a[j] * (1 + 1e-13*rng.NormFloat64())
			}
		}
		want, _ := detRat(a, n).Float64()
		got, bound := determinant(slices.Clone(a), n)
		if !(math.Abs(got-want) <= bound) {
			t.Fatalf("determinant %g, exactly %g, bound %g", got, want, bound)
		}
		if bound < 1e-10*math.Abs(want) {
			tight++
		}
	}
	if tight < 200 {
		t.Errorf("the bound decides only %d of 400", tight)
	}
	// A point one ulp from a plane.
	x := mat.NewDense(5, 3, []float64{0.1, 0.7, 0.3, 0.9, 0.2, 0.3, 0.4, 0.9, 0.3, 0.35, 0.6, 0.3, 0.5, 0.5, 0.9})
	b := &builder{x: x, d: 3}
	b.exact.x = x
	for _, c := range []struct {
		z    float64
		want int
	}{{0.3, 0}, {math.Nextafter(0.3, 1), -1}, {math.Nextafter(0.3, 0), 1}} {
		x.Set(3, 2, c.z)
		f := facet{v: []int{0, 1, 2}}
		b.exact.ints = nil
		b.plane(&f)
		up := b.side(&f, 4)
		if got := b.side(&f, 3); got != c.want*-up && got != 0 || (got == 0) != (c.want == 0) {
			t.Errorf("z = %.17g: side %d (point above has %d)", c.z, got, up)
		}
	}
}

// detRat is the determinant by expansion, exactly.
func detRat(a []float64, n int) *big.Rat {
	if n == 0 {
		return big.NewRat(1, 1)
	}
	sum := new(big.Rat)
	for j := range n {
		var minor []float64
		for i := 1; i < n; i++ {
			for c := range n {
				if c != j {
					minor = append(minor, a[i*n+c])
				}
			}
		}
		term := new(big.Rat).SetFloat64(a[j])
		term.Mul(term, detRat(minor, n-1))
		if j%2 == 1 {
			term.Neg(term)
		}
		sum.Add(sum, term)
	}
	return sum
}

func BenchmarkHull(b *testing.B) {
	for _, shape := range []string{"normal", "sphere"} {
		for _, d := range []int{2, 3, 4, 6} {
			n := 5000
			if shape == "sphere" && d > 3 {
				continue
			}
			b.Run(fmt.Sprintf("shape=%s/N=%d/d=%d", shape, n, d), func(b *testing.B) {
				x := cloud(shape, n, d, 1)
				var h *Hull
				for range b.N {
					h = hull(b, x, Options{})
				}
				b.ReportMetric(float64(len(h.Vertices)), "vertices")
				b.ReportMetric(float64(len(h.Facets)), "facets")
			})
		}
	}
}
