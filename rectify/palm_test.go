package rectify_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

// After a hundred steps from the same eigenvectors the whole matrix agrees with
// the reference's to 1e-10, more than the 1e-5 that is asked for.
func TestPALMGoldenTiny(t *testing.T) {
	g := golden.ReadTiny(t)
	m := moments(t, "tiny")
	res, err := rectify.PALM{EigenTol: 1e-13}.Rectify(ctx, m, g.K, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, g.N)
	for i := range g.N {
		res.C.RowTo(row, i)
		for j, v := range row {
			near(t, "XXᵀ", v, g.Low.PALM.YYt[i][j], 1e-10)
		}
	}
	y := res.C.(*cooc.LowRankSparse).Y()
	for i, r := range g.Low.PALM.Y {
		for j, v := range r {
			near(t, "X", y.At(i, j), v, 1e-9)
		}
	}
	for i, v := range g.Low.PALM.Values[0] {
		near(t, "change", res.Changes[i], v, 1e-9*g.Low.PALM.Values[0][0])
	}
}

func TestPALMGolden(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	for _, name := range []string{"synth", "kos1000"} {
		t.Run(name, func(t *testing.T) {
			m := moments(t, name)
			for _, g := range golden.Rows(t, name) {
				if g.Rectifier != "PALM100" || g.K > 10 && testing.Short() {
					continue
				}
				t.Run(fmt.Sprintf("K=%d", g.K), func(t *testing.T) {
					res, err := rectify.PALM{EigenTol: 1e-12}.Rectify(ctx, m, g.K, rectify.Options{Workers: 1})
					if err != nil {
						t.Fatal(err)
					}
					for i, it := range g.ValuesIters {
						near(t, "change", res.Changes[it-1], g.Values1[i], 1e-5*g.Values1[0])
					}
					// The objective, from the reference's ‖C − XYᵀ‖ and ‖X − Y‖.
					j := 0.5*g.Rect.XYResid*g.Rect.XYResid + 0.5*1e-4*g.Rect.XYDiff*g.Rect.XYDiff
					near(t, "objective", res.Objectives[99], j, 1e-5*j)
					sameRect(t, res.C, g, 1e-5)
					near(t, "sum − 1", res.Violations.SumError, g.Rect.Sum-1, 1e-5)
					if name == "synth" {
						anchors(t, res, g.K, g.S0, g.DiagR, 1e-7)
					}
				})
			}
		})
	}
}

// naivePALM is Algorithm 4 of dong-2019 with whole matrices.
func naivePALM(c *mat.SymDense, start *mat.Dense, s float64, iterations int) (*mat.Dense, []float64) {
	step := func(a, b *mat.Dense) *mat.Dense {
		var g, e, grad, tie, next mat.Dense
		g.Mul(b.T(), b)
		var svd mat.SVD
		svd.Factorize(&g, mat.SVDNone)
		e.Mul(a, b.T())
		e.Sub(&e, c)
		grad.Mul(&e, b)
		tie.Sub(a, b)
		tie.Scale(s, &tie)
		grad.Add(&grad, &tie)
		grad.Scale(1/(1.005*(svd.Values(nil)[0]+s)), &grad)
		next.Sub(a, &grad)
		next.Apply(func(_, _ int, v float64) float64 { return math.Max(v, 0) }, &next)
		return &next
	}
	x, y := start, start
	var js []float64
	for range iterations {
		x = step(x, y)
		y = step(y, x)
		var e, d mat.Dense
		e.Mul(x, y.T())
		e.Sub(&e, c)
		d.Sub(x, y)
		js = append(js, 0.5*math.Pow(mat.Norm(&e, 2), 2)+0.5*s*math.Pow(mat.Norm(&d, 2), 2))
	}
	return x, js
}

func TestPALMAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const n, k, iterations = 40, 4, 30
	c := noisy(rng, n, k)
	var e mat.EigenSym
	e.Factorize(c, true)
	var v mat.Dense
	e.VectorsTo(&v)
	start := mat.NewDense(n, k, nil)
	for j := range k {
		neg := 0.0
		for i := range n {
			neg += math.Pow(min(v.At(i, n-1-j), 0), 2)
		}
		sign := 1.0
		if neg > 0.5 {
			sign = -1
		}
		for i := range n {
			start.Set(i, j, sign*math.Sqrt(e.Values(nil)[n-1-j])*v.At(i, n-1-j))
		}
	}
	for _, p := range []rectify.PALM{{}, {Coupling: 0.01}} {
		t.Run(p.String(), func(t *testing.T) {
			p.EigenTol, p.Iterations = 1e-13, iterations
			res, err := p.Rectify(ctx, newDense(t, c), k, rectify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := p.Coupling
			if s == 0 {
				s = 1e-4
			}
			x, js := naivePALM(c, start, s, iterations)
			y := res.C.(*cooc.LowRankSparse).Y()
			for i := range n {
				for j := range k {
					near(t, "X", y.At(i, j), x.At(i, j), 1e-11)
				}
			}
			for i := range js {
				near(t, "J", res.Objectives[i], js[i], 1e-12*js[0])
			}
		})
	}
}

// J is made of ‖C‖² and inner products, whose rounding is about 1e-16 of ‖C‖²;
// a fall by less may not be seen.
func TestPALMDecreases(t *testing.T) {
	type instance struct {
		name string
		c    cooc.Matrix
		k    int
	}
	rng := rand.New(rand.NewPCG(8, 8))
	all := []instance{
		{"tiny", moments(t, "tiny"), 4},
		{"larger", newDense(t, noisy(rand.New(rand.NewPCG(8, 9)), 200, 12)), 5},
		{"noisy", newDense(t, noisy(rng, 50, 6)), 6},
		{"more topics than there are", newDense(t, noisy(rng, 30, 2)), 12},
	}
	for _, c := range all {
		norms, err := c.c.RowNorms2(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		slack := 0.0
		for _, v := range norms {
			slack += 1e-14 * v
		}
		for _, s := range []float64{1e-4, 0.1} {
			if testutil.Race && c.name == "larger" && s > 0.01 {
				continue
			}
			p := rectify.PALM{Coupling: s}
			res, err := p.Rectify(ctx, c.c, c.k, rectify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			h := res.Objectives
			for i := 1; i < len(h); i++ {
				if h[i] > h[i-1]+slack {
					t.Errorf("%s, %v: iteration %d: %.17g after %.17g", c.name, p, i+1, h[i], h[i-1])
				}
			}
			if last := h[len(h)-1]; !(last < 0.9*h[0]) || len(h) != 100 {
				t.Errorf("%s, %v: from %g to %g in %d iterations", c.name, p, h[0], last, len(h))
			}
		}
	}
}

func TestPALMOfAFactoredMatrix(t *testing.T) {
	// C = YYᵀ with Y ≥ 0 and orthogonal columns: the start is the solution.
	const n, k = 24, 3
	y := mat.NewDense(n, k, nil)
	for i := range n {
		y.Set(i, i%k, float64(1+i))
	}
	var c mat.Dense
	c.Mul(y, y.T())
	c.Scale(1/mat.Sum(&c), &c)
	res, err := rectify.PALM{EigenTol: 1e-13}.Rectify(ctx, newDense(t, &c), k, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := distance(t, res.C, newDense(t, &c)); d > 1e-12 {
		t.Errorf("moved by %g", d)
	}
}

func TestPALMTolerance(t *testing.T) {
	m := moments(t, "tiny")
	res, err := rectify.PALM{Iterations: 5000, Tol: 1e-4}.Rectify(ctx, m, 4, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if last := res.Changes[len(res.Changes)-1]; res.Status != rectify.Converged || last > 1e-4 || res.Iterations != len(res.Changes) || res.Iterations == 5000 {
		t.Errorf("%v after %d iterations, last change %g", res.Status, res.Iterations, last)
	}
}
