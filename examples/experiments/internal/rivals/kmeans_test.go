package rivals

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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
		if x, want := got.distance, score(got.of); math.Abs(x-want) > 1e-12 {
			t.Errorf("the distance: %g, want %g", x, want)
		}
		if x, want := got.distance, best; math.Abs(x-want) > 1e-12 {
			t.Errorf("the least distance: %g, want %g", x, want)
		}
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

// documents of as many classes, each with most weight on one topic.
func classed(m, k int, noise float64, seed uint64) (*mat.Dense, []string) {
	rng := rand.New(rand.NewPCG(seed, 7))
	w, labels := mat.NewDense(m, k, nil), make([]string, m)
	for i := range m {
		c := rng.IntN(k)
		labels[i] = fmt.Sprintf("class %d", (c*7+3)%k) // not in the order of the topics, where 7 does not divide k
		row := w.RawRowView(i)
		for j := range row {
			row[j] = noise * rng.Float64()
		}
		row[c]++
		floats.Scale(1/floats.Sum(row), row)
	}
	return w, labels
}

// Classes far from each other are found, whatever the order of documents,
// topics and workers.
func TestClustAcc(t *testing.T) {
	ctx := context.Background()
	w, labels := classed(200, 5, 0.8, 1)
	labels[17] = "" // takes no part
	w.SetRow(30, make([]float64, 5))
	w.SetRow(31, []float64{.2, .2, .2, .2, .2})
	a, err := ClustAcc(ctx, w, labels, KMeans{Seed: 3, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if c := a.Clusters; c[17] != -1 || c[30] != -1 || c[31] != -1 || slices.Max(c) != 4 {
		t.Errorf("documents without a cluster: %d %d %d, of %d clusters", c[17], c[30], c[31], slices.Max(c)+1)
	}
	// All but the two right.
	if a.Docs != 199 || a.Accuracy != 197.0/199 || a.Purity != 197.0/199 || math.Abs(a.NMI-1) > 1e-12 {
		t.Errorf("accuracy %g, purity %g, NMI %g of %d documents", a.Accuracy, a.Purity, a.NMI, a.Docs)
	}
	for i, s := range labels {
		if of := a.Clusters[i]; of >= 0 && a.Label[of] != s {
			t.Errorf("document %d of %q is in a cluster called %q", i, s, a.Label[of])
		}
	}
	many, err := ClustAcc(ctx, w, labels, KMeans{Seed: 3, Workers: 4})
	if err != nil || !slices.Equal(many.Clusters, a.Clusters) || many.NMI != a.NMI {
		t.Errorf("four workers give something else: %v", err)
	}
	// More clusters than labels.
	fine, err := ClustAcc(ctx, w, labels, KMeans{K: 8})
	if err != nil || len(fine.Counts) != 8 || fine.Purity < 0.95 || fine.Accuracy >= a.Accuracy {
		t.Errorf("%d clusters, purity %g, accuracy %g, %v", len(fine.Counts), fine.Purity, fine.Accuracy, err)
	}
	// Topics in another order.
	perm := rand.New(rand.NewPCG(1, 1)).Perm(5)
	v := mat.NewDense(200, 5, nil)
	for j, p := range perm {
		v.SetCol(p, mat.Col(nil, j, w))
	}
	b, err := ClustAcc(ctx, v, labels, KMeans{Seed: 3})
	if err != nil || b.Accuracy != a.Accuracy {
		t.Errorf("permuted topics: accuracy %g, %v", b.Accuracy, err)
	}
}

func TestKMeansErrors(t *testing.T) {
	ctx := context.Background()
	w, labels := classed(10, 3, 0.5, 1)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (KMeans{}).cluster(gone, w, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %v", err)
	}
	bad := mat.DenseCopyOf(w)
	bad.Set(3, 1, math.NaN())
	for what, f := range map[string]func() error{
		"11 clusters of 10 rows":     func() error { _, err := KMeans{}.cluster(ctx, w, 11); return err },
		"-1 restarts":                func() error { _, err := KMeans{Restarts: -1}.cluster(ctx, w, 2); return err },
		"-1 clusters of 10 rows":     func() error { _, err := ClustAcc(ctx, w, labels, KMeans{K: -1}); return err },
		"W[3, 1]: NaN is not finite": func() error { _, err := ClustAcc(ctx, bad, labels, KMeans{}); return err },
		"4 labels of 10 documents":   func() error { _, err := ClustAcc(ctx, w, labels[:4], KMeans{}); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", what, err)
		}
	}
}
