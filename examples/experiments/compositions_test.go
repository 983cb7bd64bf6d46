package main

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/metrics"
)

func TestCompositions(t *testing.T) {
	w := mat.NewDense(4, 4, []float64{
		0.5, 0.3, 0.2, 0,
		1, 0, 0, 0,
		0.25, 0.25, 0.25, 0.25,
		0.5, 0.5, 0, 0,
	})
	v := mat.NewDense(4, 4, []float64{
		0.1, 0.6, 0, 0.3, // prominent 1 3, of 0 1
		1, 0, 0, 0,
		0.25, 0.25, 0.25, 0.25,
		0, 0, 0, 0, // no answer
	})
	a := mat.NewDense(4, 4, nil)
	for i := range 4 {
		a.Set(i, i, 2) // of any scale
	}
	r := compareCompositions(w, v, a)
	floor := func(y float64) float64 { return 0.999*y + 0.001/4 }
	nan := math.NaN()
	for _, c := range []struct {
		name string
		got  metrics.Stat
		want []float64
	}{
		{"precision", r.Precision, []float64{0.5, 1, 1, nan}},
		{"recall", r.Recall, []float64{0.5, 1, 1, nan}},
		{"F1", r.F1, []float64{0.5, 1, 1, nan}},
		{"KL", r.KL, []float64{0.5*math.Log(0.5/floor(0.1)) + 0.3*math.Log(0.3/floor(0.6)) + 0.2*math.Log(0.2/floor(0)), -math.Log(floor(1)), -math.Log(4 * floor(0.25)), nan}},
		{"Hellinger", r.Hellinger, []float64{math.Sqrt(1 - math.Sqrt(0.05) - math.Sqrt(0.18)), 0, 0, nan}},
		{"l1", r.L1, []float64{1.2, 0, 0, nan}},
		{"l∞", r.LInf, []float64{0.4, 0, 0, nan}},
		{"non-support", r.NonSupport, []float64{0.3, 0, 0, nan}},
	} {
		if c.got.Undefined != 1 {
			t.Errorf("%s: %d undefined", c.name, c.got.Undefined)
		}
		for i, x := range c.got.Values {
			if !(math.Abs(x-c.want[i]) < 1e-12) && !(math.IsNaN(x) && math.IsNaN(c.want[i])) {
				t.Errorf("%s: %v, want %v", c.name, c.got.Values, c.want)
				break
			}
		}
	}
	want := 0.0
	for i := range 4 {
		for j := range 4 {
			x := 0.0
			if i == j {
				x = 0.25
			}
			for d := range 3 {
				x -= v.At(d, i) * v.At(d, j) / 3
			}
			want += x * x
		}
	}
	if math.Abs(r.PriorDistance-math.Sqrt(want)) > 1e-12 {
		t.Errorf("distance to the prior %v, want %v", r.PriorDistance, math.Sqrt(want))
	}
	if r = compareCompositions(w, w, a); r.L1.Mean != 0 || r.F1.Mean != 1 {
		t.Errorf("a composition with itself: %+v", r)
	}
}

func TestProminent(t *testing.T) {
	for _, c := range []struct {
		w    []float64
		want []int
	}{
		{[]float64{0.1, 0.7, 0.2}, []int{1, 2}},
		{[]float64{0.5, 0.5}, []int{0, 1}},
		{[]float64{0.3, 0.1, 0.1, 0.5}, []int{3, 0}}, // 0.8 up to rounding
		{[]float64{1, 0}, []int{0}},
		{[]float64{0.2, 0.2, 0.2, 0.2, 0.2}, []int{0, 1, 2, 3}},
	} {
		if got := prominentTopics(c.w); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.w, got, c.want)
		}
	}
}
