package scls

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// brute minimises over all supports, by LU of the KKT system of each, skipping
// singular ones: some optimum has an affinely independent support, so it is
// not missed. Near-singular ones are skipped too, at a cost below 1e-12 of
// the scale for the problems here.
func brute(g *mat.SymDense, f []float64) (best float64, y []float64) {
	k := len(f)
	best = math.Inf(1)
	for set := 1; set < 1<<k; set++ {
		var idx []int
		for j := range k {
			if set>>j&1 == 1 {
				idx = append(idx, j)
			}
		}
		m := len(idx)
		a, b := mat.NewDense(m+1, m+1, nil), mat.NewVecDense(m+1, nil)
		for p, i := range idx {
			for q, j := range idx {
				a.Set(p, q, g.At(i, j))
			}
			a.Set(p, m, 1)
			a.Set(m, p, 1)
			b.SetVec(p, f[i])
		}
		b.SetVec(m, 1)
		var lu mat.LU
		lu.Factorize(a)
		if lu.Cond() > 1e9 {
			continue
		}
		var x mat.VecDense
		if lu.SolveVecTo(&x, false, b) != nil {
			continue
		}
		cand := make([]float64, k)
		ok := true
		for p, i := range idx {
			v := x.AtVec(p)
			if v < -1e-13 {
				ok = false
				break
			}
			cand[i] = max(v, 0)
		}
		if !ok {
			continue
		}
		if o := objective(g, f, cand); o < best {
			best, y = o, cand
		}
	}
	return best, y
}

func objective(g mat.Symmetric, f, y []float64) float64 {
	o := 0.0
	for i := range y {
		for j := range y {
			o += y[i] * g.At(i, j) * y[j] / 2
		}
		o -= f[i] * y[i]
	}
	return o
}

// kinds are the ways a random problem is made.
var kinds = []string{"random", "tall", "duplicates", "lowrank", "inhull", "vertices", "zero", "grid", "nearly", "scales"}

// randomProblem returns a G of K points and n vectors f.
func randomProblem(rng *rand.Rand, kind string, k, n int) (*mat.SymDense, *mat.Dense) {
	d := k + 2
	switch kind {
	case "tall":
		d = 4 * k
	case "lowrank":
		d = max(1, k/2)
	case "grid":
		d = 2
	}
	u := mat.NewDense(k, d, nil)
	for i := range k {
		for j := range d {
			v := rng.NormFloat64()
			switch kind {
			case "zero":
				v = 0
			case "grid": // many ties: small integer coordinates
				v = float64(rng.IntN(3))
			}
			u.Set(i, j, v)
		}
	}
	if kind == "duplicates" {
		for i := 1; i < k; i += 2 {
			u.SetRow(i, u.RawRowView(i-1))
		}
	}
	v := mat.NewDense(n, d, nil)
	for i := range n {
		switch kind {
		case "inhull":
			w := mat.NewDense(1, k, nil)
			sum := 0.0
			for j := range k {
				e := rng.ExpFloat64()
				w.Set(0, j, e)
				sum += e
			}
			w.Scale(1/sum, w)
			var r mat.Dense
			r.Mul(w, u)
			v.SetRow(i, r.RawRowView(0))
		case "vertices":
			v.SetRow(i, u.RawRowView(rng.IntN(k)))
		default:
			for j := range d {
				x := rng.NormFloat64()
				if kind == "grid" {
					x = float64(rng.IntN(5) - 1)
				}
				v.Set(i, j, x)
			}
		}
	}
	switch kind {
	case "nearly": // pairs as close as the square root of rounding
		for i := 1; i < k; i += 2 {
			for j := range d {
				u.Set(i, j, u.At(i-1, j)+1e-8*rng.NormFloat64())
			}
		}
	case "scales":
		for i := range k {
			s := math.Pow(10, -6*rng.Float64())
			for j := range d {
				u.Set(i, j, s*u.At(i, j))
			}
		}
	}
	g := mat.NewSymDense(k, nil)
	g.SymOuterK(1, u)
	f := mat.NewDense(n, k, nil)
	f.Mul(v, u.T())
	if kind == "zero" { // a linear problem remains
		for i := range n {
			for j := range k {
				f.Set(i, j, float64(rng.IntN(4)))
			}
		}
	}
	return g, f
}

// scaleOf is what tolerances are relative to: the largest entries of G and f.
func scaleOf(g mat.Symmetric, f []float64) float64 {
	s := 0.0
	for i := range g.SymmetricDim() {
		s = max(s, g.At(i, i))
	}
	t := 0.0
	for _, v := range f {
		t = max(t, math.Abs(v))
	}
	return s + t
}

func mustSolve(t testing.TB, s Solver, g mat.Symmetric, f *mat.Dense, opt Options) (*mat.Dense, *Result) {
	t.Helper()
	n, k := f.Dims()
	y := mat.NewDense(n, k, nil)
	r, err := s.Solve(context.Background(), g, f, y, opt)
	if err != nil {
		t.Fatal(err)
	}
	return y, r
}

func checkSimplex(t *testing.T, y []float64, where string) {
	t.Helper()
	sum := 0.0
	for _, v := range y {
		if !(v >= 0) {
			t.Fatalf("%s: entry %g below 0", where, v)
		}
		sum += v
	}
	if math.Abs(sum-1) > 1e-14*float64(len(y)) {
		t.Fatalf("%s: sum − 1 = %g", where, sum-1)
	}
}

// The active set against the enumeration of all supports. The tolerance on the
// objective, 1e-12 of the scale, is the accuracy of the enumeration's LU.
func TestActiveSetBruteForce(t *testing.T) {
	testutil.NotWithRace(t)
	for _, kind := range kinds {
		for k := 1; k <= 6; k++ {
			t.Run(fmt.Sprintf("kind=%s/K=%d", kind, k), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(k), 11))
				for range 12 {
					g, f := randomProblem(rng, kind, k, 10)
					y, r := mustSolve(t, ActiveSet{}, g, f, Options{})
					for i := range 10 {
						fi := f.RawRowView(i)
						want, _ := brute(g, fi)
						scale := scaleOf(g, fi)
						checkSimplex(t, y.RawRowView(i), "y")
						if d := r.Objective[i] - want; math.Abs(d) > 1e-12*scale {
							t.Fatalf("objective %g, enumeration %g, difference %g, status %v", r.Objective[i], want, d, r.Status[i])
						}
						if got := objective(g, fi, y.RawRowView(i)); math.Abs(got-r.Objective[i]) > 1e-13*scale {
							t.Fatalf("objective reported %g, is %g", r.Objective[i], got)
						}
						if r.KKTGap[i] > 1e-12*scale || r.Status[i] != Converged {
							t.Fatalf("gap %g, status %v", r.KKTGap[i], r.Status[i])
						}
					}
				}
			})
		}
	}
}

// Larger problems have no enumeration; the gap, recomputed here the slow way,
// proves the optimum.
func TestActiveSetGap(t *testing.T) {
	testutil.NotWithRace(t)
	for _, kind := range kinds {
		for _, k := range []int{13, 50, 90} {
			t.Run(fmt.Sprintf("kind=%s/K=%d", kind, k), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(k), 12))
				g, f := randomProblem(rng, kind, k, 150)
				y, r := mustSolve(t, ActiveSet{}, g, f, Options{})
				worst := 0.0
				for i := range 150 {
					fi, yi := f.RawRowView(i), y.RawRowView(i)
					checkSimplex(t, yi, "y")
					low, mean := math.Inf(1), 0.0
					for a := range k {
						d := -fi[a]
						for b := range k {
							d += g.At(a, b) * yi[b]
						}
						low = min(low, d)
						mean += yi[a] * d
					}
					rel := max(mean-low, r.KKTGap[i]) / scaleOf(g, fi)
					worst = max(worst, rel)
					if rel > 1e-12 || r.Status[i] != Converged {
						t.Errorf("problem %d: gap %g of the scale, status %v, %d iterations", i, rel, r.Status[i], r.Iterations[i])
					}
				}
				t.Logf("%v; worst gap %.2g of the scale", summarise(r), worst)
			})
		}
	}
}
