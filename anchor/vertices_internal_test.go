package anchor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/internal/vec"
)

var ctx = context.Background()

func verticesOf(t testing.TB, x *mat.Dense) []int {
	t.Helper()
	v, _, err := hullVertices(ctx, x, 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// extreme reports, by a linear program, whether point i is no convex combination
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
func TestVerticesAgainstLinearPrograms(t *testing.T) {
	testutil.NotWithRace(t)
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for _, shape := range []string{"normal", "sphere", "stretched", "grid", "cross"} {
		for _, d := range []int{2, 3, 4} {
			for seed := range seeds {
				n := 60
				x := cloud(shape, n, d, seed)
				got := verticesOf(t, x)
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
				if !slices.Equal(got, want) {
					t.Errorf("%s, %d dimensions, seed %d: vertices %v, by linear programs %v", shape, d, seed, got, want)
				}
			}
		}
	}
}

// The cube and the cross-polytope, with all kinds of degenerate points put
// among them, have their vertices only.
func TestVerticesOfSolids(t *testing.T) {
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
		v := verticesOf(t, x)
		if want := 1 << d; len(v) != want || v[want-1] != want-1 {
			t.Fatalf("cube of %d dimensions: vertices %v", d, v)
		}

		x = mat.NewDense(2*d+1, d, nil)
		for j := range d {
			x.Set(2*j, j, 1)
			x.Set(2*j+1, j, -1)
		}
		if v := verticesOf(t, x); len(v) != 2*d {
			t.Errorf("cross-polytope of %d dimensions: %d vertices", d, len(v))
		}
	}
}

// Points that are off the faces of a simplex by rounding are no vertices; with
// a tolerance below the rounding they may be.
func TestVerticesTolerance(t *testing.T) {
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
		if v := verticesOf(t, x); !slices.Equal(v, at) {
			t.Errorf("%d dimensions: vertices %v, want %v", d, v, at)
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
		if v := verticesOf(t, x); !slices.Equal(v, []int{0, 1, 2, 3}) {
			t.Errorf("wobble %g: vertices %v", wobble, v)
		}
	}
}

// Renaming the points renames the vertices.
func TestVerticesEquivariance(t *testing.T) {
	for _, d := range []int{2, 3, 5} {
		x := cloud("normal", 150, d, 8)
		want := verticesOf(t, x)
		order := rand.New(rand.NewPCG(2, 2)).Perm(150)
		y := mat.NewDense(150, d, nil)
		for i, o := range order {
			y.SetRow(i, x.RawRowView(o))
		}
		got := verticesOf(t, y)
		for k, v := range got {
			got[k] = order[v]
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%d dimensions: vertices %v, want %v", d, got, want)
		}
	}
}

func TestVerticesOfLine(t *testing.T) {
	x := mat.NewDense(5, 1, []float64{0.3, 2, -1, 2, 0})
	if v := verticesOf(t, x); !slices.Equal(v, []int{1, 2}) {
		t.Errorf("%v", v)
	}
}

func TestVerticesDimensionError(t *testing.T) {
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
				if v, found, err := hullVertices(ctx, &x, 1e-8); err != nil || found != dim || v != nil {
					t.Errorf("a flat of %d in %d dimensions: %d dimensions, vertices %v, %v", dim, d, found, v, err)
				}
			}
		}
	}
	if _, found, err := hullVertices(ctx, mat.NewDense(1, 2, nil), 0); err != nil || found != 0 {
		t.Errorf("one point: %d dimensions, %v", found, err)
	}
	if _, found, err := hullVertices(ctx, mat.NewDense(2, 2, []float64{0, 1, 2, 3}), 0); err != nil || found != 1 {
		t.Errorf("two points: %d dimensions, %v", found, err)
	}
}

func TestVerticesBad(t *testing.T) {
	x := cloud("sphere", 60, 6, 1)
	if v := verticesOf(t, x); len(v) != 60 {
		t.Errorf("%d vertices of a sphere", len(v))
	}
	for _, c := range []struct {
		x    *mat.Dense
		want string
	}{
		{mat.NewDense(2, 2, []float64{0, 1, math.NaN(), 2}), "coordinate 0 of point 1 is NaN"},
		{mat.NewDense(2, 2, []float64{0, math.Inf(-1), 1, 2}), "coordinate 1 of point 0 is -Inf"},
	} {
		if _, _, err := hullVertices(ctx, c.x, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := hullVertices(cancelled, x, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Sizes near the ends of the range of floating point do not matter.
func TestVerticesScale(t *testing.T) {
	x := cloud("normal", 80, 3, 4)
	want := verticesOf(t, x)
	for _, s := range []float64{1e-300, 1e-20, 1e20, 1e307} {
		var y mat.Dense
		y.Scale(s, x)
		if v := verticesOf(t, &y); !slices.Equal(v, want) {
			t.Errorf("scale %g: vertices %v, want %v", s, v, want)
		}
	}
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
				var v []int
				for range b.N {
					v = verticesOf(b, x)
				}
				b.ReportMetric(float64(len(v)), "vertices")
			})
		}
	}
}
