package jsmf

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/rectify"
)

// spoilt returns C = BABᵀ of three topics. Word k is an anchor of topic k, and
// word 3 a rare one of topic 0, whose co-occurrence with itself is too large by a
// tenth of its probability. So it is farther out than word 0, and as an anchor
// gives A_00 = C_33/B_30², which is some .3²·p₃/10/p₃².
func spoilt(t *testing.T) *cooc.Dense {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	const n, k = 40, 3
	b := mat.NewDense(n, k, nil)
	for l := range k {
		b.Set(l, l, 0.1)
		if l == 0 {
			b.Set(3, l, 1e-4)
		}
		rest := 1 - b.At(l, l) - b.At(3, l)
		sum := 0.0
		for w := 4; w < n; w++ {
			b.Set(w, l, rng.ExpFloat64())
			sum += b.At(w, l)
		}
		for w := 4; w < n; w++ {
			b.Set(w, l, b.At(w, l)*rest/sum)
		}
	}
	a := mat.NewDense(k, k, []float64{0.2, 0.06, 0.04, 0.06, 0.25, 0.04, 0.04, 0.04, 0.27})
	var x mat.Dense
	x.Product(b, a, b.T())
	p3 := mat.Sum(x.RowView(3))
	x.Set(3, 3, x.At(3, 3)+0.1*p3)
	x.Scale(1/mat.Sum(&x), &x)
	c, err := cooc.NewDense(&x)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Where the model does not fit, a warning says so.
func TestMisfit(t *testing.T) {
	c := spoilt(t)
	p := Published(3).Rectify(rectify.None{})
	for _, p := range []Pipeline{p, p.Anchors(anchor.Fixed{Words: []string{"3", "1", "2"}})} {
		m, err := p.Fit(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		if sum := mat.Sum(m.Correlations()); sum < 2 || !slices.Contains(m.Anchors(), 3) {
			t.Errorf("ΣA %g, anchors %v", sum, m.Anchors())
		}
		if w := m.Stats().Warnings; len(w) != 2 || !strings.Contains(w[0], "does not fit") || !strings.Contains(w[1], "fewer topics would do") {
			t.Errorf("%v", w)
		}
	}
}
