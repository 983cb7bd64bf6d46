package rectify_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

// The three projections, each from its definition.

func projectPSD(c *mat.SymDense, k int) *mat.SymDense {
	n := c.SymmetricDim()
	var e mat.EigenSym
	if !e.Factorize(c, true) {
		panic("no eigenvalues")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	out := mat.NewSymDense(n, nil)
	for j := n - k; j < n; j++ {
		if l := e.Values(nil)[j]; l > 0 {
			out.SymRankOne(out, l, v.ColView(j))
		}
	}
	return out
}

func each(c *mat.SymDense, f func(v float64) float64) *mat.SymDense {
	n := c.SymmetricDim()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, f(c.At(i, j)))
		}
	}
	return out
}

func projectNOR(c *mat.SymDense) *mat.SymDense {
	n := float64(c.SymmetricDim())
	r := (1 - mat.Sum(c)) / (n * n)
	return each(c, func(v float64) float64 { return v + r })
}

func projectNN(c *mat.SymDense) *mat.SymDense {
	return each(c, func(v float64) float64 { return max(v, 0) })
}

// sub returns a + f·b.
func sub(a *mat.SymDense, f float64, b *mat.SymDense) *mat.SymDense {
	var s mat.SymDense
	s.ScaleSym(f, b)
	s.AddSym(a, &s)
	return &s
}

func normOf(a, b *mat.SymDense) float64 { return mat.Norm(sub(a, -1, b), 2) }

// naiveDR is Algorithm 2 of lee-2020 by reflections of whole matrices.
func naiveDR(c *mat.SymDense, k, iterations int) (*mat.SymDense, []float64) {
	reflect := func(p func(*mat.SymDense) *mat.SymDense, x *mat.SymDense) *mat.SymDense {
		y := p(x)
		return sub(y, 1, sub(y, -1, x))
	}
	psd := func(x *mat.SymDense) *mat.SymDense { return projectPSD(x, k) }
	step := func(first, second func(*mat.SymDense) *mat.SymDense, x *mat.SymDense) *mat.SymDense {
		s := sub(x, 1, reflect(second, reflect(first, x)))
		s.ScaleSym(0.5, s)
		return s
	}
	x := sub(c, 0, c)
	var changes []float64
	for range iterations {
		c1 := step(psd, projectNOR, x)
		c2 := step(projectNOR, projectNN, c1)
		c3 := step(projectNN, psd, c2)
		changes = append(changes, normOf(c3, x))
		x = c3
	}
	x.ScaleSym(1/mat.Sum(x), x)
	return x, changes
}

func TestDRAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for _, c := range []struct{ n, k int }{{12, 3}, {40, 5}, {61, 1}, {9, 9}} {
		t.Run(fmt.Sprintf("N=%d/K=%d", c.n, c.k), func(t *testing.T) {
			in := noisy(rng, c.n, c.k)
			in.ScaleSym(1.7, in) // not of sum 1: the shifts are large
			want, changes := naiveDR(in, c.k, 12)
			res, err := rectify.DR{Iterations: 12, EigenTol: 1e-13}.Rectify(ctx, newDense(t, in), c.k, rectify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			// Eigenpairs to 1e-13 of λ_K and twelve iterations.
			if d := distance(t, res.C, newDense(t, want)); d > 1e-11 {
				t.Errorf("differs by %g", d)
			}
			for i, v := range changes {
				near(t, "change", res.Changes[i], v, 1e-11*changes[0])
			}
			// Violations, measured on the dense matrix.
			v, low := res.Violations, projectPSD(want, c.k)
			near(t, "sum", v.SumError, mat.Sum(want)-1, 1e-10)
			nearest := normOf(want, low) / mat.Norm(want, 2)
			if v.RankResidual < nearest-1e-9 || v.RankResidual > 2*nearest+1e-9 {
				t.Errorf("rank residual %g, the nearest matrix is at %g", v.RankResidual, nearest)
			}
		})
	}
}

// anchors of a rectified matrix must be those of the reference, and their
// distances too. A word whose row is the same as that of the anchor of the
// reference is as right: a non-negative factor with a single entry in several
// rows makes such ties.
func anchors(t *testing.T, r *rectify.Result, k int, want []int, norms []float64, rel float64) {
	t.Helper()
	rows, err := r.Rows(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	res, err := anchor.QR{}.Find(ctx, rows, k, anchor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, d := rows.Dims()
	a, b := make([]float64, d), make([]float64, d)
	for i, s := range res.Anchors {
		near(t, "norm", res.Norms[i], norms[i], rel*norms[0])
		if s == want[i] {
			continue
		}
		rows.RowTo(a, s)
		rows.RowTo(b, want[i])
		for j := range a {
			if math.Abs(a[j]-b[j]) > 1e-12 {
				t.Errorf("anchors %v, want %v", res.Anchors, want)
				return
			}
		}
	}
}

// sameRect compares checksums with the reference's, to the given part of each or,
// for single entries, of the largest.
func sameRect(t *testing.T, c cooc.Matrix, g golden.Row, rel float64) {
	t.Helper()
	d := golden.Dense(t, c)
	sum, fro, trace, low, most := 0.0, 0.0, 0.0, math.Inf(1), 0.0
	for i := range g.N {
		trace += d.At(i, i)
		for j := range g.N {
			v := d.At(i, j)
			sum, fro, low, most = sum+v, fro+v*v, min(low, v), max(most, v)
		}
	}
	near(t, "fro", math.Sqrt(fro), g.Rect.Fro, rel*g.Rect.Fro)
	near(t, "sum", sum, g.Rect.Sum, rel*g.Rect.Sum)
	near(t, "trace", trace, g.Rect.Trace, rel*g.Rect.Trace)
	near(t, "max", most, g.Rect.Max, rel*g.Rect.Max)
	near(t, "min", low, g.Rect.Min, rel*g.Rect.Max)
	for i, row := range g.Rect.Block {
		for j, v := range row {
			near(t, "block", d.At(i, j), v, rel*g.Rect.Max)
		}
	}
	for i, v := range g.Rect.DiagFirst10 {
		near(t, "diagonal", d.At(i, i), v, rel*g.Rect.Max)
	}
	least, rows := g.Rect.RowsumMin, g.Rect.RowsumFirst10
	if rows == nil { // factored
		least, rows = g.Rect.DMin, g.Rect.DFirst10
	}
	near(t, "least row sum", slices.Min(c.Marginals()), least, rel*slices.Max(rows))
	for i, v := range rows {
		near(t, "row sum", c.Marginals()[i], v, rel*v)
	}
}

func TestDRGoldenTiny(t *testing.T) {
	g := golden.ReadTiny(t)
	m := moments(t, "tiny")
	res, err := rectify.DR{EigenTol: 1e-13}.Rectify(ctx, m, g.K, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, g.N)
	for i := range g.N {
		res.C.RowTo(row, i)
		for j, v := range row {
			near(t, "C", v, g.FullDR15.CRect[i][j], 1e-12)
		}
	}
	for i, v := range g.DR15[0] {
		near(t, "change", res.Changes[i], v, 1e-9*g.DR15[0][0])
	}
	anchors(t, res, g.K, g.FullDR15.S0, g.FullDR15.DiagR, 1e-9)
}

func TestDRGolden(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	for _, name := range []string{"synth", "kos1000"} {
		t.Run(name, func(t *testing.T) {
			m := moments(t, name)
			for _, g := range golden.Rows(t, name) {
				r := rectify.DR{EigenTol: 1e-12}
				switch g.Rectifier {
				case "DR15":
				case "DR150":
					r.Iterations = 150
					if testing.Short() || g.K > 10 {
						continue
					}
				default:
					continue
				}
				t.Run(fmt.Sprintf("%s/K=%d", g.Rectifier, g.K), func(t *testing.T) {
					res, err := r.Rectify(ctx, m, g.K, rectify.Options{Workers: 1})
					if err != nil {
						t.Fatal(err)
					}
					for i, it := range g.ValuesIters {
						near(t, "change", res.Changes[it-1], g.Values1[i], 1e-9*g.Values1[0])
					}
					sameRect(t, res.C, g, 1e-8)
					if name == "synth" { // KOS has words with identical rows
						anchors(t, res, g.K, g.S0, g.DiagR, 1e-7)
					}
				})
			}
		})
	}
}
