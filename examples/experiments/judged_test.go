package main

import (
	"math"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// All methods find planted classes, and the words of all topics can be ranked by the library's rule.
func TestJudged(t *testing.T) {
	if testutil.Race {
		t.Skip("nothing here runs at the same time as something else but in the library")
	}
	data, out := labelled(t), t.TempDir()
	mustRun(t, "-data", data, "-out", out, "-corpora", "three", "-classes", "three", "-k", "3", "-run", "judged,reranked", "-gibbs-sweeps", "30")
	rows := readTable(t, filepath.Join(out, "judged.csv"))
	if want := len(judgedTimes) * (2 + 2*judgedDraws); len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	for _, r := range where(rows, "k", 3) {
		if r["error"] != "" || !(r.num("ami") > 0.85) || !(r.num("ari") > 0.85) || !(r.num("purity") > 0.95) {
			t.Errorf("%v", r)
		}
	}
	topics := where(readTable(t, filepath.Join(out, "judged-topics.csv")), "k", 3)
	if len(topics) != 3 {
		t.Fatalf("%d topics", len(topics))
	}
	docs := 0.0
	for _, r := range topics {
		docs += r.num("documents")
		if !(r.num("purity") > 0.95) || r["class"] == "" || r["words"] == "" {
			t.Errorf("%v", r)
		}
	}
	if docs != 150 {
		t.Errorf("topics have %g documents", docs)
	}
	for _, r := range readTable(t, filepath.Join(out, "reranked.csv")) {
		if r["error"] != "" || !(r.num("reading") > r.num("probable")-0.05) || !(r.num("reading_unique") > 0) {
			t.Errorf("%v", r)
		}
	}

	// The rule outside the library gives the library's weights for its topics: 0.99 as proportions of the last pass and those
	// of Transform differ.
	l := &lab{options: options{data: data, workers: 1}}
	s, err := l.source("three")
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x, err := l.mix(t.Context(), c, byDefault, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	ranked := rankedWords(c, x.b, x.w)
	for k := range 3 {
		a, b := mat.Col(nil, k, ranked), mat.Col(nil, k, x.reading)
		floats.Scale(1/floats.Sum(a), a)
		if r := stat.Correlation(a, b, nil); r < 0.99 {
			t.Errorf("topic %d: weights correlate by %.3f with the library's", k, r)
		}
	}
}

func TestRankCorrelation(t *testing.T) {
	if r := rankCorrelation([]float64{3, 1, 2, 9}, []float64{30, 1, 2, 90}); math.Abs(r-1) > 1e-15 {
		t.Errorf("%g for the same order", r)
	}
	// Ranks 0.5, 0.5, 2, 3 and 1, 0, 3, 2: deviations from 1.5 with the products 0.5, 1.5, 0.75, 0.75 and squares 4.5 and 5.
	if r := rankCorrelation([]float64{1, 1, 2, 3}, []float64{5, 4, 7, 6}); math.Abs(r-3.5/math.Sqrt(4.5*5)) > 1e-15 {
		t.Errorf("%g with equal numbers", r)
	}
}
