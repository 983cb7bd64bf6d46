package effects

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/linalg"
)

// numbers are m numbers with a long tail, and weights.
func numbers(m int) (x, w []float64) {
	r := rand.New(rand.NewPCG(5, 5))
	for range m {
		x, w = append(x, math.Exp(1.5*r.NormFloat64())), append(w, r.ExpFloat64())
	}
	return x, w
}

func splineOf(t *testing.T, x []float64, df int) *spline {
	t.Helper()
	s, err := newSpline(x, df)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The functions are natural cubic splines: straight outside of the outer knots, smooth to the
// second derivative at all, and none of the others' sums.
func TestSplineIsNatural(t *testing.T) {
	x, _ := numbers(400)
	for df := 1; df <= maxDF; df++ {
		s := splineOf(t, x, df)
		if s.size() != df || !slices.IsSorted(s.knots) {
			t.Fatalf("df %d: knots %v", df, s.knots)
		}
		first, last := s.knots[0], s.knots[df]
		at := func(v float64) (y, dy []float64) {
			y, dy = make([]float64, df), make([]float64, df)
			s.at(y, dy, v)
			return y, dy
		}
		for _, side := range [][2]float64{{first, -1}, {last, 1}} {
			y, dy := at(side[0])
			for _, far := range []float64{.1, 3, 1e6} {
				z, dz := at(side[0] + side[1]*far)
				for j := range y {
					want := y[j] + side[1]*far*dy[j]
					// Steep tails cost a few digits.
					if math.Abs(z[j]-want) > 1e-7*(1+math.Abs(want)) || math.Abs(dz[j]-dy[j]) > 1e-9*(1+math.Abs(dy[j])) {
						t.Errorf("df %d, function %d is not straight beyond %v: %v, want %v", df, j, side[0], z[j], want)
					}
				}
			}
		}
		// Second derivatives by differences of the first ones: they are linear between knots, so
		// that they change by no more than h times the third derivative over a knot.
		h := 1e-6 * (last - first)
		for _, k := range s.knots {
			_, less := at(k - h)
			_, mid := at(k)
			_, more := at(k + h)
			for j := range mid {
				a, b := (mid[j]-less[j])/h, (more[j]-mid[j])/h
				if math.Abs(a-b) > 1e-2*(1+math.Abs(a)) {
					t.Errorf("df %d, function %d bends at %v: second derivatives %v and %v", df, j, k, a, b)
				}
			}
		}
		// Derivatives are those of the functions.
		for _, v := range []float64{first / 2, .9*first + .1*last, (first + last) / 2, last + 1} {
			_, dy := at(v)
			less, _ := at(v - h)
			more, _ := at(v + h)
			for j := range dy {
				if want := (more[j] - less[j]) / (2 * h); math.Abs(dy[j]-want) > 1e-6*(1+math.Abs(want)) {
					t.Errorf("df %d, function %d at %v: derivative %v, want %v", df, j, v, dy[j], want)
				}
			}
		}
	}
}

// With the constants they span what the cardinal splines span, which sum to 1 everywhere and
// to x if each is multiplied by its knot.
func TestSplineSpansTheCardinalOnes(t *testing.T) {
	x, _ := numbers(200)
	for df := 1; df <= maxDF; df++ {
		s := splineOf(t, x, df)
		n := df + 1
		a := mat.NewDense(len(x), n, nil)
		rhs := mat.NewDense(len(x), n, nil)
		for m, v := range x {
			row, slope := make([]float64, df), make([]float64, df)
			s.at(row, slope, v)
			a.SetRow(m, append([]float64{1}, row...))
			one, line := 0.0, 0.0
			for j := range n {
				y := make([]float64, n)
				y[j] = 1
				c := cardinal(s.knots, y, v)
				rhs.Set(m, j, c)
				one += c
				line += c * s.knots[j]
			}
			if math.Abs(one-1) > 1e-9*(1+math.Abs(v)) || math.Abs(line-v) > 1e-9*(1+math.Abs(v)) {
				t.Fatalf("df %d at %v: the cardinal splines sum to %v and %v", df, v, one, line)
			}
		}
		var b, fit mat.Dense
		if err := b.Solve(a, rhs); err != nil {
			t.Fatal(err)
		}
		fit.Mul(a, &b)
		for m := range x {
			for j := range n {
				if d := math.Abs(fit.At(m, j) - rhs.At(m, j)); d > 1e-9*(1+math.Abs(rhs.At(m, j))) {
					t.Fatalf("df %d: cardinal spline %d at %v is off by %v", df, j, x[m], d)
				}
			}
		}
	}
}

// Coefficients are those of a QR decomposition, even if one number is a million times as large as the
// others, which leaves six digits of what the others say.
func TestSplineOfAFarNumber(t *testing.T) {
	x, w := numbers(300)
	x[17] = 1e6
	var rows [][]corpus.Value
	y := make([]float64, len(x))
	for m, v := range x {
		rows = append(rows, []corpus.Value{corpus.NumberOf(v)})
		y[m] = math.Sin(float64(m))
	}
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "x", Kind: corpus.Number}}, rows)
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDesign(ctx, []Term{Spline("x", 4)}, meta, w)
	if err != nil {
		t.Fatal(err)
	}
	sums := linalg.NewGeneral(d.cols, 1)
	for i, v := range d.weights {
		at, x := d.row(i)
		for j, c := range at {
			sums.Data[c] += v * x[j] * y[i]
		}
	}
	beta, err := d.times(ctx, sums)
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range d.solve(t, y, w) {
		if got := beta.Data[c]; math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("coefficient %d is %v, want %v", c, got, want)
		}
	}
}

// Knots that coincide are one, and there is a line if all do.
func TestSplineOfFewValues(t *testing.T) {
	for _, c := range []struct {
		value func(m int) float64
		knots []float64
	}{
		{func(m int) float64 { return float64(m % 2) }, []float64{0, 1}},
		{func(m int) float64 { return float64(m % 3) }, []float64{0, 1, 2}},
		{func(m int) float64 { return float64(max(m-97, 0)) }, []float64{0, 2}},
		{func(m int) float64 { return float64(m) }, []float64{5, 35, 64, 94}},
	} {
		x := make([]float64, 100)
		for m := range x {
			x[m] = c.value(m)
		}
		if s := splineOf(t, x, 3); !slices.Equal(s.knots, c.knots) {
			t.Errorf("knots %v, want %v", s.knots, c.knots)
		}
	}
}

func TestGridOfNumbers(t *testing.T) {
	col := func(x []float64) *column {
		c := &column{part: part{column: "x", kind: Numbers, df: 1}}
		if err := c.numbers(x); err != nil {
			t.Fatal(err)
		}
		return c
	}
	few := col([]float64{5, 1, 2, 2, 1.5, 5, 2})
	var got []float64
	var docs []int
	for _, p := range few.points {
		got, docs = append(got, p.Number), append(docs, p.Documents)
	}
	if !slices.Equal(got, []float64{1, 1.5, 2, 5}) || !slices.Equal(docs, []int{1, 1, 3, 2}) || few.points[1].Label != "1.5" {
		t.Errorf("points %+v", few.points)
	}
	money := col([]float64{25000, 1e12, 0, -3e-7, 25000})
	if p := money.points; p[0].Label != "-3e-07" || p[1].Label != "0" || p[2].Label != "25000" || p[3].Label != "1e+12" {
		t.Errorf("points %+v", p)
	}
	x := make([]float64, 1001)
	for m := range x {
		x[m] = 2000 + float64(m)*1e-3
	}
	many := col(x)
	labels := map[string]bool{}
	sum := 0
	for i, p := range many.points {
		labels[p.Label] = true
		sum += p.Documents
		if i > 0 && p.Number <= many.points[i-1].Number {
			t.Errorf("point %d is %v after %v", i, p.Number, many.points[i-1].Number)
		}
	}
	if few.points[0].Label != "1" || many.points[1].Label != "2000.05" {
		t.Errorf("labels %q and %q", few.points[0].Label, many.points[1].Label)
	}
	if n := len(many.points); n != gridPoints || len(labels) != n || sum != len(x) || many.points[0].Number != 2000.01 || many.points[n-1].Number != 2000.99 {
		t.Errorf("%d points with %d labels and %d documents from %v", n, len(labels), sum, many.points)
	}
}
