package recovery_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// dirichletMoments returns E[wwᵀ] of a Dirichlet distribution.
func dirichletMoments(alpha []float64) *mat.SymDense {
	sum := floats.Sum(alpha)
	a := mat.NewSymDense(len(alpha), nil)
	for i, v := range alpha {
		for j := i; j < len(alpha); j++ {
			a.SetSym(i, j, v/sum*alpha[j]/(sum+1))
		}
		a.SetSym(i, i, v/sum*(v+1)/(sum+1))
	}
	return a
}

// alphaLoss is what FitAlpha minimises, from its definition.
func alphaLoss(a mat.Matrix, a0 float64) float64 {
	k, _ := a.Dims()
	sum, share := mat.Sum(a), make([]float64, k)
	for i := range k {
		for j := range k {
			share[i] += a.At(i, j) / sum
		}
	}
	loss := 0.0
	for i := range k {
		for j := range k {
			model := a0 * share[j] / (a0 + 1)
			if i == j {
				model += 1 / (a0 + 1)
			}
			d := model - a.At(i, j)/sum/share[i]
			loss += d * d
		}
	}
	return loss
}

// α₀ of synth, from A as the library computes it, where A sums to 1 within 2 %. The
// reference's α are α₀·A·1 of an A that was not divided by its sum, which
// is undone here. Its line search goes by a grid between the candidates, which is
// wide where they are, as for the Baseline: 1 % and 3 %, and no loss above the
// reference's.
func TestGoldenSynthAlpha(t *testing.T) {
	testutil.NotWithRace(t)
	m, err := cooc.NewMoments(ctx, golden.Corpus(t, "synth"), cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, g := range golden.Rows(t, "synth") {
		if g.Rectifier != "AP15" && g.Rectifier != "Baseline" || g.K > 25 || g.K > 5 && (testing.Short() || testutil.Race) {
			continue
		}
		var c cooc.Matrix = m
		if g.Rectifier == "AP15" {
			rr, err := rectify.AP{EigenTol: 1e-12}.Rectify(ctx, m, g.K, rectify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c = rr.C
		}
		res := recoverBy(t, recovery.SCLS{}, rowsOf(t, c), g.S0)
		for _, o := range g.Opt {
			if o.Optimizer != "activeSet" || math.Abs(o.ASum-1) >= 0.02 {
				continue
			}
			compared++
			want := o.Alpha0Line / o.ASum
			at := fmt.Sprintf("%s/K=%d: ", g.Rectifier, g.K)
			alpha, err := recovery.FitAlpha(res.A)
			if err != nil {
				t.Errorf("%s%v", at, err)
				continue
			}
			tol := 0.01
			if g.Rectifier == "Baseline" {
				tol = 0.03
			}
			sum := floats.Sum(alpha)
			near(t, at+"α₀", sum, want, tol*want)
			if l, ref := alphaLoss(res.A, sum), alphaLoss(res.A, want); l > ref {
				t.Errorf("%sthe loss is %.12g, at the reference's α₀ %.12g", at, l, ref)
			}
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

// The moments of a Dirichlet distribution give its parameters back, at any scale,
// and no other α₀ has a smaller loss on any A.
func TestFitAlpha(t *testing.T) {
	for _, alpha := range [][]float64{{0.3, 0.7}, {0.03, 0.03, 0.03, 0.03}, {5, 1, 20, 0.4, 3}, {1e-3, 2e-3, 3e-3}} {
		a := dirichletMoments(alpha)
		a.ScaleSym(3, a)
		got, err := recovery.FitAlpha(a)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range alpha {
			near(t, fmt.Sprintf("α_%d", k), got[k], v, 1e-9*(v+1))
		}
	}
	m := testutil.NewPlanted(40, 6, 0.8, 3)
	alpha, err := recovery.FitAlpha(m.A)
	if err != nil {
		t.Fatal(err)
	}
	best := floats.Sum(alpha)
	for _, by := range []float64{0.5, 0.9, 0.999, 1.001, 1.1, 2} {
		if l, least := alphaLoss(m.A, by*best), alphaLoss(m.A, best); l <= least {
			t.Errorf("the loss at %g times α₀ is %g, at α₀ %g", by, l, least)
		}
	}
}

// Where no Dirichlet distribution has such moments, the parameters are those that
// the documentation names; what is no matrix of correlations is refused.
func TestFitAlphaBounds(t *testing.T) {
	for name, c := range map[string]struct {
		a    []float64
		want []float64
	}{
		"one topic":          {[]float64{1}, []float64{0.1}},
		"independent":        {[]float64{0.25, 0.25, 0.25, 0.25}, []float64{0.1, 0.1}},
		"repelling":          {[]float64{0.2, 0.3, 0.3, 0.2}, []float64{0.1, 0.1}},
		"separate":           {[]float64{0.5, 0, 0, 0.5}, []float64{0.5e-3, 0.5e-3}},
		"no share":           {[]float64{1, 0, 0, 0}, []float64{1e-3, 0.5e-7}},
		"negative":           {[]float64{3, -1, -1, 0.5}, []float64{1e-3, 0.5e-7}},
		"nearly independent": {[]float64{0.25 + 1e-9, 0.25 - 1e-9, 0.25 - 1e-9, 0.25 + 1e-9}, []float64{5e3, 5e3}},
	} {
		k := len(c.want)
		got, err := recovery.FitAlpha(mat.NewDense(k, k, c.a))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, v := range c.want {
			near(t, name, got[i], v, 1e-4*v)
		}
	}
	for name, a := range map[string]mat.Matrix{
		"A is 2×3": mat.NewDense(2, 3, nil), "A[0,1] = NaN": mat.NewDense(2, 2, []float64{1, math.NaN(), 0, 1}),
		"not symmetric": mat.NewDense(2, 2, []float64{1, 0.5, 0, 1}), "positive sum": mat.NewDense(2, 2, nil),
	} {
		if got, err := recovery.FitAlpha(a); err == nil || got != nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
