package anchor_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/internal/testutil"
)

func TestSuggestK(t *testing.T) {
	for _, c := range []struct {
		norms []float64
		k     int
		drop  float64
	}{
		{[]float64{1, 0.9, 0.8, 0.2, 0.19}, 3, 0.75},
		{[]float64{1, 0.1, 0.09, 0.08}, 3, 1 - 0.08/0.09}, // one topic is none
		{[]float64{8, 4, 2, 1}, 2, 0.5},                   // the lowest of equals
		{[]float64{1, 0.5, 0.5, 0, 0}, 3, 1},
	} {
		k, drop, err := anchor.SuggestK(c.norms)
		if err != nil || k != c.k || math.Abs(drop-c.drop) > 1e-15 {
			t.Errorf("%v: K = %d, drop %g, %v; want %d, %g", c.norms, k, drop, err, c.k, c.drop)
		}
	}
	for want, norms := range map[string][]float64{
		"2 norms":                 {1, 0.5},
		"norm 1 is NaN":           {1, math.NaN(), 0.5},
		"norm 2 is -1":            {1, 1, -1},
		"second pivot norm is 0:": {1, 0, 0},
	} {
		if _, _, err := anchor.SuggestK(norms); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", norms, err, want)
		}
	}
}

// The planted number of topics is where the curve ends, and where it falls
// steeply if there is a little noise.
func TestCurve(t *testing.T) {
	for _, k := range []int{2, 7, 15} {
		m := testutil.NewPlanted(90, k, 0.5, uint64(k))
		r := rowsOf(t, dense(t, m.C))
		c, err := anchor.QR{}.Curve(ctx, r, 30, anchor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.K != k || c.Drop != 1 || !c.Exhausted || len(c.Norms) != k {
			t.Errorf("K = %d: suggested %d with a drop of %g, %d norms", k, c.K, c.Drop, len(c.Norms))
		}
		noisy := dense(t, m.C).Matrix()
		for i := range 90 {
			for j := range i + 1 {
				noisy.SetSym(i, j, noisy.At(i, j)+1e-8*math.Abs(math.Sin(float64(91*i+j))))
			}
		}
		c, err = anchor.QR{}.Curve(ctx, rowsOf(t, dense(t, noisy)), 30, anchor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		res := find(t, anchor.QR{}, rowsOf(t, dense(t, noisy)), 30, anchor.Options{})
		if c.K != k || c.Exhausted || !slices.Equal(c.Norms, res.Norms) || !slices.Equal(c.Anchors, res.Anchors) {
			t.Errorf("K = %d with noise: suggested %d with a drop of %g of %v", k, c.K, c.Drop, c.Norms)
		}
	}
	r := synth(t)
	for want, f := range map[string]func() (*anchor.Curve, error){
		"1 norms":               func() (*anchor.Curve, error) { return anchor.QR{}.Curve(ctx, r, 1, anchor.Options{}) },
		"2 to 600":              func() (*anchor.Curve, error) { return anchor.QR{}.Curve(ctx, r, 601, anchor.Options{}) },
		"clean-up":              func() (*anchor.Curve, error) { return anchor.QR{CleanUp: true}.Curve(ctx, r, 9, anchor.Options{}) },
		"MinDocs -1":            func() (*anchor.Curve, error) { return anchor.QR{MinDocs: -1}.Curve(ctx, r, 9, anchor.Options{}) },
		"at least 3 are needed": func() (*anchor.Curve, error) { return anchor.QR{}.Curve(ctx, r, 2, anchor.Options{}) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
