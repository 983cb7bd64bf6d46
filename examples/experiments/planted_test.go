package main

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// A cell measures every method, and the page shows it.
func TestPlanted(t *testing.T) {
	out := t.TempDir()
	mustRun(t, small(out, "-run", "planted", "-quick", "-only", "method=true topics|New")...)
	rows := readTable(t, filepath.Join(out, "planted.csv"))
	if len(rows) != 2 || rows[0]["method"] != givenTopics || rows[1]["method"] != "New" {
		t.Fatalf("%v", rows)
	}
	if v := rows[0].num("moment_slope"); !(math.Abs(v-1) < 0.15) {
		t.Errorf("by the true topics the slope is %v", v)
	}
	if v := rows[1].num("b_l1"); !(v > 0 && v < 1) {
		t.Errorf("the topics are %v off", v)
	}
	for _, c := range plantedGroup.measures {
		if v := rows[1].num(c); math.IsNaN(v) {
			t.Errorf("no %s: %v", c, rows[1])
		}
	}
	page, err := os.ReadFile(filepath.Join(out, pageName))
	if err != nil {
		t.Fatal(err)
	}
	if line := "| separated | 10 | 1000 | 100 | "; !strings.Contains(string(page), line) {
		t.Errorf("no %q on the page", line)
	}
}

// The topics sum to 1, and the words that two of them share are those of neighbours.
func TestPlantedZipf(t *testing.T) {
	const n, k = 1000, 6
	for _, overlap := range []bool{false, true} {
		b := plantedZipf(n, k, overlap, 3)
		for i := range k {
			for j := range k {
				common := 0.0
				for w := range n {
					common += min(b.At(w, i), b.At(w, j))
				}
				want := 0.15 // the tenth, and what topics have of it on the words of others
				if step := (i - j + k) % k; overlap && (step == 1 || step == k-1) {
					want = 0.4
				}
				if i == j && math.Abs(common-1) > 1e-12 || i != j && !(common > 0.1-1e-9 && common < want) {
					t.Errorf("overlap %v: topics %d and %d have %.3f in common", overlap, i, j, common)
				}
			}
		}
	}
}

// The moment of exact counts is A, and a line through exact correlations has the slope 1.
func TestMoment(t *testing.T) {
	prior := newPlantedPrior(correlatedLogits, 6)
	a, err := drawnMoments(prior, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := plantedZipf(300, 6, true, 5)
	c, err := product(b, a)
	if err != nil {
		t.Fatal(err)
	}
	got, err := momentOf(t.Context(), c, b, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(got, a, 1e-10) {
		t.Errorf("%v, want %v", mat.Formatted(got), mat.Formatted(a))
	}
	want := correlationsOf(a)
	if slope, rmse := compareCorrelations(want, correlationsOf(got)); math.Abs(slope-1) > 1e-8 || rmse > 1e-8 {
		t.Errorf("slope %v, root mean square %v", slope, rmse)
	}
	half := mat.NewSymDense(6, nil)
	half.ScaleSym(0.5, want)
	if slope, _ := compareCorrelations(want, half); math.Abs(slope-0.5) > 1e-12 {
		t.Errorf("slope %v of half the correlations", slope)
	}
	if len(prior.groups) != momentDraws || !slices.Contains(prior.groups, 1) {
		t.Errorf("%d documents", len(prior.groups))
	}
}

// Without effects the proportions are those of the Dirichlet distribution.
func TestPlantedDirichlet(t *testing.T) {
	p := &plantedPrior{mean: []float64{0, math.Log(2)}, group: []float64{0, 0}, trend: []float64{0, 0}}
	draw, err := p.Sampler(2)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	sum, squares, theta := 0.0, 0.0, make([]float64, 2)
	const draws = 100000
	for range draws {
		draw(theta, rng)
		sum, squares = sum+theta[0], squares+theta[0]*theta[0]
	}
	mean := sum / draws
	// α = (1, 2): the mean is 1/3, the variance 1·2/(3²·4).
	if v := squares/draws - mean*mean; math.Abs(mean-1.0/3) > 0.005 || math.Abs(v-1.0/18) > 0.002 {
		t.Errorf("mean %v, variance %v", mean, v)
	}
}
