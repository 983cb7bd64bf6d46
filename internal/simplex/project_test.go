package simplex

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func inSimplex(t *testing.T, y []float64) {
	t.Helper()
	sum := 0.0
	for _, v := range y {
		if !(v >= 0) {
			t.Fatalf("entry %g below 0", v)
		}
		sum += v
	}
	if math.Abs(sum-1) > 1e-14*float64(len(y)) {
		t.Fatalf("sum − 1 = %g", sum-1)
	}
}

// projectBySorting is the textbook projection.
func projectBySorting(v []float64) []float64 {
	u := slices.Clone(v)
	slices.Sort(u)
	slices.Reverse(u)
	sum, tau := 0.0, 0.0
	for i, x := range u {
		sum += x
		if t := (sum - 1) / float64(i+1); x > t {
			tau = t
		}
	}
	y := make([]float64, len(v))
	for i, x := range v {
		y[i] = max(x-tau, 0)
	}
	return y
}

func TestProject(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 14))
	for range 3000 {
		v := make([]float64, 1+rng.IntN(40))
		scale := math.Pow(10, float64(rng.IntN(9)-4))
		ties := rng.IntN(3) == 0
		for i := range v {
			v[i] = scale * rng.NormFloat64()
			if ties {
				v[i] = float64(rng.IntN(4) - 1)
			}
		}
		y := make([]float64, len(v))
		Project(y, v)
		inSimplex(t, y)
		for i, want := range projectBySorting(v) {
			// The sorted sums lose what the scale of v costs.
			if math.Abs(y[i]-want) > 1e-14*float64(len(v))*max(1, scale) {
				t.Fatalf("%v: entry %d is %g, want %g", v, i, y[i], want)
			}
		}
		again := make([]float64, len(v))
		Project(again, y)
		if !slices.Equal(again, y) {
			t.Fatalf("%v: projected twice %v, once %v", v, again, y)
		}
		Project(v, v)
		if !slices.Equal(v, y) {
			t.Fatal("in place differs")
		}
	}
	for _, c := range []struct{ v, want []float64 }{
		{[]float64{-5}, []float64{1}},
		{[]float64{0, 0, 0, 0}, []float64{0.25, 0.25, 0.25, 0.25}},
		{[]float64{1e300, -1e300}, []float64{1, 0}},
		{[]float64{1e17, 1e17 + 16}, []float64{0, 1}},
		{[]float64{2, 2, 1}, []float64{0.5, 0.5, 0}},
		{[]float64{1, 0, 0}, []float64{1, 0, 0}},
	} {
		y := make([]float64, len(c.v))
		Project(y, c.v)
		if !slices.Equal(y, c.want) {
			t.Errorf("%v: %v, want %v", c.v, y, c.want)
		}
	}
	for _, f := range []func(){
		func() { Project(nil, nil) },
		func() { Project(make([]float64, 2), make([]float64, 3)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		}()
	}
}

// Points that are in the simplex up to rounding: the set of positive entries
// must not come and go with the last bit of τ for ever.
func TestProjectSimplexEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 20000 {
		v := make([]float64, 2+rng.IntN(200))
		sum := 0.0
		for i := range v {
			if rng.IntN(3) > 0 {
				v[i] = math.Exp(3 * rng.NormFloat64())
				sum += v[i]
			}
		}
		if sum == 0 {
			continue
		}
		for i := range v {
			v[i] /= sum
			if v[i] == 0 {
				v[i] = -1e-17 * rng.Float64() * float64(rng.IntN(3))
			}
		}
		y := make([]float64, len(v))
		Project(y, v)
		for i := range v {
			if !(math.Abs(y[i]-v[i]) <= 1e-14) || y[i] < 0 {
				t.Fatalf("entry %d: %g of %g", i, y[i], v[i])
			}
		}
	}
}

func BenchmarkProject(b *testing.B) {
	for _, k := range []int{10, 50, 100, 500} {
		b.Run(fmt.Sprintf("K=%d", k), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			v, y := make([]float64, 64*k), make([]float64, k)
			for i := range v {
				v[i] = rng.NormFloat64() / 10
			}
			i := 0
			for b.Loop() {
				Project(y, v[i*k:i*k+k])
				i = (i + 1) % 64
			}
		})
	}
}

func ExampleProject() {
	y := make([]float64, 3)
	Project(y, []float64{0.5, 1.25, -2})
	fmt.Println(y)
	// Output:
	// [0.125 0.875 0]
}
