package metrics

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// sparseTopics returns k rows over n words of which a part are others than the row's base, as after
// sparse passes.
func sparseTopics(k, n int, part float64, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 5))
	b := mat.NewDense(k, n, nil)
	for t := range k {
		row := b.RawRowView(t)
		for i := range row {
			row[i] = 0.02
			if rng.Float64() < part*min(1, 20/float64(i+1)+0.5) { // some words are in most topics
				row[i] = 2 * rng.ExpFloat64() * rng.Float64() // below some bases, too
			}
		}
		floats.Scale(1/floats.Sum(row), row)
	}
	return b
}

// Distances are the same whether all words are compared or those with numbers of their own.
func TestDistances(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		a, b   *mat.Dense
		sparse bool
	}{
		"sparse":       {sparseTopics(30, 700, 0.1, 1), sparseTopics(40, 700, 0.2, 2), true},
		"one dense":    {sparseTopics(30, 700, 0.1, 1), sparseTopics(40, 700, 2, 2), true},
		"dense":        {sparseTopics(30, 700, 2, 1), sparseTopics(40, 700, 2, 2), false},
		"same":         {sparseTopics(30, 700, 0.1, 1), sparseTopics(30, 700, 0.1, 1), true},
		"one word":     {mat.NewDense(2, 1, []float64{1, 1}), mat.NewDense(3, 1, []float64{1, 1, 1}), true},
		"no base":      {mat.NewDense(1, 3, []float64{0.5, 0.25, 0.25}), mat.NewDense(1, 3, []float64{0.25, 0.125, 0.625}), false},
		"empty topics": {mat.NewDense(2, 3, nil), mat.NewDense(1, 3, []float64{1, 0, 0}), true},
	} {
		got, err := distances(ctx, c.a, c.b, 1)
		if err != nil {
			t.Fatal(err)
		}
		again, err := distances(ctx, c.a, c.b, 3)
		if err != nil || !mat.Equal(got, again) {
			t.Errorf("%s: other distances of three goroutines, or %v", name, err)
		}
		k, n := c.a.Dims()
		l, _ := c.b.Dims()
		if meet := columnsOf(sparseRows(c.b), n).pairs(sparseRows(c.a)); 4*meet < k*l*n != c.sparse {
			t.Errorf("%s: %d of %d pairs of numbers are compared", name, meet, k*l*n)
		}
		for i := range k {
			for j := range l {
				want := floats.Distance(c.a.RawRowView(i), c.b.RawRowView(j), 1)
				// Sums of 700 numbers of sum 1.
				if d := got.At(i, j); math.Abs(d-want) > 1e-13 || !c.sparse && d != want || d < 0 {
					t.Fatalf("%s: %v of %d and %d, want %v", name, d, i, j, want)
				}
			}
		}
	}
}

// Of topics with a tenth of the words for themselves, few numbers are compared.
func TestDistancesCompareFew(t *testing.T) {
	const k, n = 200, 2000
	rows := sparseRows(sparseTopics(k, n, 0.1, 1))
	if meet := columnsOf(rows, n).pairs(rows); meet > k*k*n/100 {
		t.Errorf("%d pairs of numbers of %d are compared", meet, k*k*n)
	}
}
