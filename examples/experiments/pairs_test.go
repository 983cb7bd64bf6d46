package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
)

func TestNearest(t *testing.T) {
	var build corpus.Builder
	for m := range 10 { // word i is in 10 − i documents
		counts := make(map[string]int)
		for i := range 10 - m {
			counts[fmt.Sprintf("w%d", i)] = 1
		}
		if err := build.AddCounts("", "", counts); err != nil {
			t.Fatal(err)
		}
	}
	c, err := build.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	topic := func(words string) []float64 { // six words, each a little more probable than the next
		x := make([]float64, 10)
		for i, w := range strings.Fields(words) {
			for j := range x {
				if c.Word(j) == w {
					x[j] = float64(8-i) / 33
				}
			}
		}
		return x
	}
	one, two, other := topic("w0 w1 w2 w3 w4 w5"), topic("w9 w8 w7 w6 w5 w4"), topic("w0 w1 w2 w3 w4 w6")
	a, b := mat.NewDense(2, 10, append(append([]float64{}, two...), one...)), mat.NewDense(2, 10, append(append([]float64{}, other...), two...))
	rows, err := nearest(c, mat.DenseCopyOf(a.T()), mat.DenseCopyOf(b.T()))
	if err != nil {
		t.Fatal(err)
	}
	if r := rows[0]; r.num("l1") != 0 || r["words"] != "w9 w8 w7 w6 w5 w4" || r["gibbs_words"] != r["words"] || r["documents"] != "" {
		t.Errorf("the same topic: %v", r)
	}
	if r := rows[1]; math.Abs(r.num("l1")-6.0/33) > 1e-12 || r.num("documents") != 5 || r.num("gibbs_documents") != 4 {
		t.Errorf("topics that differ in w5 and w6: %v", r)
	}
}

func TestPairs(t *testing.T) {
	out := t.TempDir()
	mustRun(t, small(out, "-run", "pairs", "-gibbs-sweeps", "60")...)
	rows := readTable(t, filepath.Join(out, "pairs.csv"))
	if len(rows) != 16 {
		t.Fatalf("%d rows; want 2 methods of 8 topics", len(rows))
	}
	for _, r := range rows {
		if v := r.num("l1"); r["error"] != "" || !(v > 0 && v < 2) || len(strings.Fields(r["words"])) != pairWords || r["anchor"] == "" {
			t.Errorf("%v", r)
		}
	}
	if made, of := pairs.claims[2].holds(&tables{rows: map[string][]row{"pairs": rows}}); of != 8 {
		t.Errorf("%d of %d; want 8 pairs", made, of)
	}
}
