package scls

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// words makes n problems that look like those of a text corpus: anchors are
// distributions that share a background, words mix a few of them, with noise
// from the counts. The supports (10 to 30 topics) and the residuals are
// like those of NIPS papers after rectification.
func words(n, k int) (*mat.SymDense, *mat.Dense, []float64) {
	const d = 600
	rng := rand.New(rand.NewPCG(uint64(k), 20))
	dirichlet := func(x []float64, power float64) {
		sum := 0.0
		for i := range x {
			x[i] = math.Pow(rng.ExpFloat64(), power)
			sum += x[i]
		}
		for i := range x {
			x[i] /= sum
		}
	}
	back := make([]float64, d)
	dirichlet(back, 3)
	u := mat.NewDense(k, d, nil)
	for i := range k {
		row := u.RawRowView(i)
		dirichlet(row, 6)
		own := 0.1 + 0.9*rng.Float64()*rng.Float64()
		for j := range row {
			row[j] = own*row[j] + (1-own)*back[j]
		}
	}
	y, v := mat.NewDense(n, k, nil), new(mat.Dense)
	for i := range n {
		dirichlet(y.RawRowView(i), 1+float64(k)/6)
	}
	v.Mul(y, u)
	noise := make([]float64, d)
	half := make([]float64, n)
	for i := range n {
		row := v.RawRowView(i)
		dirichlet(noise, 3)
		for j := range row {
			row[j] = 0.9*row[j] + 0.1*noise[j]
			half[i] += row[j] * row[j] / 2
		}
	}
	g, f := mat.NewSymDense(k, nil), new(mat.Dense)
	g.SymOuterK(1, u)
	f.Mul(v, u.T())
	return g, f, half
}

// BenchmarkSolve reports, in addition to the time, problems a second, iterations, the
// largest gap, the share of problems that converged, and by which part the mean
// of ½‖v − Uy‖² exceeds the optimum (logarithms, cut off at rounding).
func BenchmarkSolve(b *testing.B) {
	const n = 1000
	for _, k := range []int{20, 50, 100} {
		g, f, half := words(n, k)
		y := mat.NewDense(n, k, nil)
		exact, err := ActiveSet{}.Solve(context.Background(), g, f, y, Options{})
		if err != nil {
			b.Fatal(err)
		}
		best, support := 0.0, 0
		for i, o := range exact.Objective {
			best += (o + half[i]) / n
			for _, v := range y.RawRowView(i) {
				if v > 0 {
					support++
				}
			}
		}
		for _, c := range []struct {
			name   string
			solver Solver
			warm   bool
		}{
			{"active", ActiveSet{}, false},
			{"active-warm", ActiveSet{}, true},
			{"admm", ADMM{}, false},
			{"admm-paper", PaperADMM(), false},
			{"expgrad", ExpGrad{}, false},
			{"expgrad-paper", PaperExpGrad(), false},
		} {
			b.Run(fmt.Sprintf("N=%d/K=%d/solver=%s", n, k, c.name), func(b *testing.B) {
				start := mat.DenseCopyOf(y)
				var r *Result
				b.ReportAllocs()
				for b.Loop() {
					var err error
					if r, err = c.solver.Solve(context.Background(), g, f, start, Options{Workers: 1, Warm: c.warm}); err != nil {
						b.Fatal(err)
					}
				}
				m := summarise(r)
				mean := 0.0
				for i, o := range r.Objective {
					mean += (o + half[i]) / n
				}
				b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "problems/s")
				b.ReportMetric(m.MeanIterations, "iterations")
				b.ReportMetric(math.Log10(max(m.MaxGap, 1e-20)), "log10(maxgap)")
				b.ReportMetric(float64(m.Converged)/n, "converged")
				b.ReportMetric(math.Log10(max(mean/best-1, 1e-16)), "log10(excess)")
				b.ReportMetric(float64(support)/n, "support")
			})
		}
	}
}
