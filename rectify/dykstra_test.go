package rectify_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

func symmetric(rng *rand.Rand, n int) *mat.SymDense {
	c := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			c.SetSym(i, j, rng.NormFloat64()/float64(n))
		}
	}
	return c
}

// Where the positive semidefinite matrices are not in the way, the projection on
// {sum 1} ∩ {≥ 0} is the projection of the N² entries on the simplex, which has a
// closed form: max(c − τ, 0) with the τ that makes the sum one.
func TestDykstraSimplex(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	const n = 10
	c := symmetric(rng, n)
	for i := range n {
		c.SetSym(i, i, 3+rng.Float64()) // diagonally dominant, and so are the entries above any τ
	}
	var v []float64
	for i := range n {
		for j := range n {
			v = append(v, c.At(i, j))
		}
	}
	slices.Sort(v)
	slices.Reverse(v)
	tau, s := 0.0, 0.0
	for i, x := range v {
		s += x
		if q := (s - 1) / float64(i+1); x > q {
			tau = q
		}
	}
	want := each(c, func(v float64) float64 { return math.Max(v-tau, 0) })
	res, err := rectify.Dykstra{Iterations: 500}.Rectify(ctx, newDense(t, c), n, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := distance(t, res.C, newDense(t, want)); d > 1e-8 {
		t.Errorf("differs from the projection by %g after %d iterations", d, res.Iterations)
	}
}

// projection solves the dual of min ½‖X − C‖² over the intersection by an
// accelerated gradient method, an algorithm that has nothing in common with
// Dykstra's: X = Π_PSD(C + λ·eeᵀ + M) with λ free, M ≥ 0.
func projection(c *mat.SymDense, iterations int) *mat.SymDense {
	n := c.SymmetricDim()
	size := float64(n)
	lambda, lastL := 0.0, 0.0
	m, lastM := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	// The gradient's Lipschitz constant: ‖(λ, M) → λ·eeᵀ + M‖² ≤ N² + 1, with λ
	// in units of 1/N it is 2.
	const step = 0.5
	var x *mat.SymDense
	tk := 1.0
	for range iterations {
		next := (1 + math.Sqrt(1+4*tk*tk)) / 2
		w := (tk - 1) / next
		tk = next
		yl := lambda + w*(lambda-lastL)
		ym := sub(m, w, sub(m, -1, lastM))
		x = projectPSD(each(sub(c, 1, ym), func(v float64) float64 { return v + yl/size }), n)
		lastL, lastM = lambda, m
		lambda = yl + step*(1-mat.Sum(x))/size
		m = projectNN(sub(ym, -step, x))
	}
	return x
}

func TestDykstraConvex(t *testing.T) {
	testutil.NotWithRace(t)
	for _, n := range []int{5, 6, 9} {
		t.Run(fmt.Sprintf("N=%d", n), func(t *testing.T) {
			c := symmetric(rand.New(rand.NewPCG(52, uint64(n))), n)
			want := projection(c, 6000)
			// All three sets are active in these, or they prove little.
			zeros := 0
			for i := range n {
				for j := range n {
					if want.At(i, j) < 1e-9 {
						zeros++
					}
				}
			}
			var e mat.EigenSym
			e.Factorize(want, false)
			if zeros == 0 || e.Values(nil)[0] > 1e-9 {
				t.Fatalf("a weak instance: %d zeros, least eigenvalue %g", zeros, e.Values(nil)[0])
			}
			near(t, "sum of the dual solution", mat.Sum(want), 1, 1e-7)
			res, err := rectify.Dykstra{Iterations: 1500}.Rectify(ctx, newDense(t, c), n, rectify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d := distance(t, res.C, newDense(t, want)); d > 1e-6 {
				t.Errorf("differs from the projection by %g", d)
			}
			for i, row := 0, make([]float64, n); i < n; i++ {
				if res.C.RowTo(row, i); slices.Min(row) < 0 {
					t.Errorf("row %d has the entry %g", i, slices.Min(row))
				}
			}
			if v := res.Violations; math.Abs(v.SumError) > 1e-14 || v.RankResidual > 1e-6 {
				t.Errorf("violations %+v", v)
			}
			// AP ends elsewhere: the two differ, as they must.
			ap := denseAP(t, newDense(t, c), n, 300, 1e-10)
			if d := distance(t, ap.C, newDense(t, want)); d < 1e-3 {
				t.Errorf("AP ends in the projection too (%g): a weak instance", d)
			}
		})
	}
}

// naiveDykstra keeps a matrix of correction for each of the three sets.
func naiveDykstra(c *mat.SymDense, k, iterations int) (*mat.SymDense, []float64) {
	n := c.SymmetricDim()
	sets := []func(*mat.SymDense) *mat.SymDense{
		func(x *mat.SymDense) *mat.SymDense { return projectPSD(x, k) }, projectNOR, projectNN,
	}
	var p [3]*mat.SymDense
	for i := range p {
		p[i] = mat.NewSymDense(n, nil)
	}
	x := c
	var changes []float64
	for range iterations {
		last := x
		for i, project := range sets {
			z := sub(x, 1, p[i])
			y := project(z)
			p[i] = sub(z, -1, y)
			x = y
		}
		changes = append(changes, normOf(x, last))
	}
	out := sub(x, 0, x)
	out.ScaleSym(1/mat.Sum(out), out)
	return out, changes
}

func TestDykstraAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 1))
	for _, k := range []int{1, 4, 30} {
		c := noisy(rng, 30, 4)
		want, changes := naiveDykstra(c, k, 12)
		res, err := rectify.Dykstra{Iterations: 12, EigenTol: 1e-13}.Rectify(ctx, newDense(t, c), k, rectify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(t, res.C, newDense(t, want)); d > 1e-10 {
			t.Errorf("K=%d: differs by %g", k, d)
		}
		for i, v := range changes {
			near(t, "change", res.Changes[i], v, 1e-10*changes[0])
		}
	}
}

func TestMemoryError(t *testing.T) {
	m := moments(t, "tiny") // N = 25: 16·N² = 10 000 bytes
	_, err := rectify.Dykstra{}.Rectify(ctx, m, 4, rectify.Options{MemoryLimit: 9_999})
	var e *rectify.MemoryError
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	if e.Bytes != 10_000 || e.Limit != 9_999 || e.N != 25 || e.Method != "Dykstra" || !strings.Contains(e.Alternative, "AP") {
		t.Errorf("%+v", e)
	}
	for _, part := range []string{"rectify: Dykstra: ", "N = 25", "10000 bytes", "9999 bytes", "AP or DR"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if _, err := (rectify.Dykstra{Iterations: 1}).Rectify(ctx, m, 4, rectify.Options{MemoryLimit: 10_000}); err != nil {
		t.Error(err)
	}
}
