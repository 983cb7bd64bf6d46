package main

import (
	"fmt"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
)

func TestTurns(t *testing.T) {
	var rows []row
	for i, y := range []float64{1, 2, 3, 1, 1, 0, 4} { // up, down, level, down, up
		rows = append(rows, row{}.set("k", i).set("y", y))
	}
	if n := turns(rows, "y"); n != 2 {
		t.Errorf("%d turns; want 2", n)
	}
}

func TestExponent(t *testing.T) {
	made := &tables{rows: make(map[string][]row)}
	for _, docs := range []float64{1000, 3000, 9000} {
		made.rows["time"] = append(made.rows["time"], row{"method": gibbs}.set("documents", docs).set("seconds", docs*docs))
	}
	if yes, of := exponent(gibbs, "seconds", 1.9, 2.1)(made); yes != 1 || of != 1 {
		t.Errorf("%d of %d; want 1 of 1", yes, of)
	}
	if yes, of := exponent(gibbs, "seconds", 0.9, 1.1)(made); yes != 0 || of != 1 {
		t.Errorf("%d of %d; want 0 of 1", yes, of)
	}
}

// C as formed is that of the counts.
func TestFormed(t *testing.T) {
	truth := testutil.NewPlanted(30, 3, 0.1, 7)
	g := corpus.Generator{Topics: truth.B, Prior: corpus.SymmetricDirichlet(3, 0.2), Docs: 50, Lengths: []int{40}, Seed: 3}
	c, _, err := g.Generate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l := new(lab)
	formed, err := l.counts(t.Context(), c, true)
	if err != nil {
		t.Fatal(err)
	}
	counted, err := l.counts(t.Context(), c, false)
	if err != nil {
		t.Fatal(err)
	}
	n := counted.Dim()
	dense, row := formed.(*cooc.Dense), make([]float64, n)
	for i := range n {
		counted.(*cooc.Moments).RowTo(row, i)
		for j, v := range row {
			if dense.At(i, j) != v {
				t.Fatalf("C is %v at %d, %d; want %v", dense.At(i, j), i, j, v)
			}
		}
	}
}

func TestCompareRows(t *testing.T) {
	a := []row{{"k": "5", "x": "1"}, {"k": "10", "x": "3"}, {"k": "20", "x": ""}, {"k": "30", "x": "0"}}
	b := []row{{"k": "5", "x": "2"}, {"k": "10", "x": "2"}, {"k": "20", "x": "2"}}
	if yes, of := compareRows(a, b, []string{"k"}, "x", less); yes != 1 || of != 2 {
		t.Errorf("%d of %d; want 1 of 2", yes, of)
	}
}

func TestTicks(t *testing.T) {
	for _, x := range []struct {
		lo, hi float64
		log    bool
		want   string
	}{
		{0, 1, false, "[0 0.2 0.4 0.6 0.8 1]"},
		{-0.1, 0.1, false, "[-0.1 -0.05 0 0.05 0.1]"},
		{3, 41, false, "[10 20 30 40]"},
		{1, 100, true, "[1 2 5 10 20 50 100]"},
		{1e-8, 1e-2, true, "[1e-08 1e-07 1e-06 1e-05 0.0001 0.001 0.01]"},
		{2, 3, true, "[2 2.2 2.4 2.6 2.8 3]"},
	} {
		if got := fmt.Sprint(niceTicks(x.lo, x.hi, x.log)); got != x.want {
			t.Errorf("ticks of [%v, %v]: %s; want %s", x.lo, x.hi, got, x.want)
		}
	}
}
