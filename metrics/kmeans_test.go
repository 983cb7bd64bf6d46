package metrics

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// The clusters are the best of all divisions of a few rows, and their distance is
// that which the definition gives.
func TestKMeansBest(t *testing.T) {
	const m, d, k = 9, 4, 3
	for trial := range 10 {
		rng := rand.New(rand.NewPCG(uint64(trial), 2))
		w := mat.NewDense(m, d, nil)
		for i := range m {
			for j := range d {
				w.Set(i, j, rng.Float64())
			}
		}
		// The mean of 1 − r to the centres, by gonum's correlations.
		score := func(of []int) float64 {
			s := 0.0
			for c := range k {
				centre := make([]float64, d)
				for i, x := range of {
					if x == c {
						row := slices.Clone(w.RawRowView(i))
						mean := stat.Mean(row, nil)
						floats.AddConst(-mean, row)
						floats.AddScaled(centre, 1/floats.Norm(row, 2), row)
					}
				}
				for i, x := range of {
					if x == c {
						s += 1 - stat.Correlation(w.RawRowView(i), centre, nil)
					}
				}
			}
			return s / m
		}
		best := math.Inf(1)
		of := make([]int, m)
		for code := range int(math.Pow(k, m)) {
			for i := range of {
				of[i] = code % k
				code /= k
			}
			if slices.Contains(of, 0) && slices.Contains(of, 1) && slices.Contains(of, 2) {
				best = min(best, score(of))
			}
		}
		got, err := KMeans{Restarts: 50}.cluster(context.Background(), w, k)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "the distance", got.distance, score(got.of), 1e-12)
		near(t, "the least distance", got.distance, best, 1e-12)
		one, err := KMeans{Restarts: 1}.cluster(context.Background(), w, k)
		if err != nil || one.distance < got.distance-1e-12 {
			t.Errorf("one restart %g, fifty %g, %v", one.distance, got.distance, err)
		}
	}
}

// Rows that are fewer different ones than clusters leave none empty.
func TestKMeansDuplicates(t *testing.T) {
	w := mat.NewDense(6, 3, []float64{1, 0, 0, 1, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 3, 0})
	c, err := KMeans{}.cluster(context.Background(), w, 4)
	if err != nil || c.distance > 1e-12 {
		t.Fatalf("%+v, %v", c, err)
	}
	for i := range 4 {
		if !slices.Contains(c.of, i) {
			t.Errorf("cluster %d is empty: %v", i, c.of)
		}
	}
}

// Rows without a correlation are in no cluster, the number of workers changes
// nothing, and columns in another order change no more than rounding.
func TestKMeansOrder(t *testing.T) {
	ctx := context.Background()
	w, _ := classed(200, 5, 0.8, 1)
	w.SetRow(30, make([]float64, 5))
	w.SetRow(31, []float64{.2, .2, .2, .2, .2})
	c, err := KMeans{Seed: 3, Workers: 1}.cluster(ctx, w, 5)
	if err != nil || !c.converged || c.of[30] != -1 || c.of[31] != -1 || slices.Index(c.of, -1) != 30 || slices.Contains(c.of[32:], -1) {
		t.Fatalf("%+v, %v; want rows 30 and 31 alone in no cluster", c, err)
	}
	many, err := KMeans{Seed: 3, Workers: 4}.cluster(ctx, w, 5)
	if err != nil || !slices.Equal(many.of, c.of) || many.distance != c.distance {
		t.Errorf("four workers give something else: %v", err)
	}
	v := mat.NewDense(200, 5, nil)
	for j, p := range []int{3, 1, 4, 0, 2} {
		v.SetCol(p, mat.Col(nil, j, w))
	}
	p, err := KMeans{Seed: 3}.cluster(ctx, v, 5)
	if err != nil || math.Abs(p.distance-c.distance) > 1e-12 {
		t.Errorf("permuted columns: distance %g and %g, %v", p.distance, c.distance, err)
	}
}
