package main

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// A cell has a row for each method and measure, with all intervals, and wide intervals hold
// most of what was planted.
func TestCoverage(t *testing.T) {
	const draws = 6
	l := &lab{options: options{seed: 1}}
	rows, err := l.coverAll(t.Context(), "separated", 100, draws)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"share": 5, "difference": 15, "slope": 5, "permuted difference": 15, "permuted slope": 5}
	if len(rows) != 2*len(want) {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if int(r.num("intervals")) != draws*want[r["measure"]] {
			t.Errorf("%s, %s: %s intervals", r["method"], r["measure"], r["intervals"])
		}
		if c := r.num("covered"); !(c > 0.7 && c <= 1) || !(r.num("width") > r.num("bias")) {
			t.Errorf("%v", r)
		}
	}
}

// Proportions that depend on the columns as planted give back what was planted.
func TestRegressed(t *testing.T) {
	_, drawn, err := coverageCorpus(t.Context(), coverageB("overlapping"), 5, 9)
	if err != nil {
		t.Fatal(err)
	}
	x, y := mat.NewDense(coverageDocs, 1+2*coverageLevels, nil), mat.NewDense(coverageDocs, coverageTopics, nil)
	weights := make([]float64, coverageDocs)
	count := make([]float64, coverageLevels)
	for m := range coverageDocs {
		weights[m] = 2
		level, number := drawn.level[m], drawn.number[m]
		count[level] += 1.0 / coverageDocs
		row := x.RawRowView(m)
		row[0], row[coverageLevels], row[2*coverageLevels] = 1, number, drawn.number[(m+7)%coverageDocs]
		if level > 0 {
			row[level] = 1
		}
		if l := drawn.level[(m+7)%coverageDocs]; l > 0 {
			row[coverageLevels+l] = 1
		}
		for k := range coverageTopics {
			y.Set(m, k, coverageShares[k]+coverageLevel[level][k]+coverageSlope[k]*(number-0.5))
		}
	}
	got := regressed(x, y, weights)
	for k := range coverageTopics {
		mean := 0.0
		for l, share := range count {
			mean += share * coverageLevel[l][k]
		}
		for l := range coverageLevels {
			if v := got[coverageTopics*(1+l)+k]; math.Abs(v-(coverageLevel[l][k]-mean)) > 1e-12 {
				t.Errorf("topic %d, level %d: %v, want %v", k, l, v, coverageLevel[l][k]-mean)
			}
			if v := got[coverageTopics*(5+l)+k]; math.Abs(v) > 1e-12 {
				t.Errorf("topic %d, permuted level %d: %v", k, l, v)
			}
		}
		if v := got[coverageTopics*4+k]; math.Abs(v-coverageSlope[k]) > 1e-12 {
			t.Errorf("topic %d: the slope is %v", k, v)
		}
	}
}

func TestCoverageTopics(t *testing.T) {
	for _, kind := range coverageKinds {
		b := coverageB(kind)
		for k := range coverageTopics {
			if sum := mat.Sum(b.ColView(k)); math.Abs(sum-1) > 1e-12 {
				t.Errorf("%s topic %d sums to %v", kind, k, sum)
			}
		}
	}
}
