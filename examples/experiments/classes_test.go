package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// labelled writes a corpus with three classes, in which a document of a class is
// mostly of its own topic, and returns the folder.
func labelled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "three"), 0o777); err != nil {
		t.Fatal(err)
	}
	const n, k, docs = 90, 3, 150
	b := testutil.NewPlanted(n, k, 0, 3).B
	rng := rand.New(rand.NewPCG(5, 6))
	var c corpus.Builder
	var labels strings.Builder
	for m := range docs {
		own := m % k
		counts := make(map[string]int)
		for range 60 {
			topic := own
			if rng.Float64() < 0.2 {
				topic = rng.IntN(k)
			}
			u := rng.Float64()
			i := 0
			for ; i < n-1 && u >= b.At(i, topic); i++ {
				u -= b.At(i, topic)
			}
			counts[fmt.Sprintf("w%02d", i)]++
		}
		if err := c.AddCounts("", "", counts); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&labels, "train\tclass%d\n", own)
	}
	made, err := c.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, "three", name) }
	if err := made.SaveUCI(t.Context(), at("docword.three.txt"), at("vocab.three.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("labels.txt"), []byte(labels.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestClasses(t *testing.T) {
	if testutil.Race {
		t.Skip("nothing here runs at the same time as something else but in the library")
	}
	data, out := labelled(t), t.TempDir()
	mustRun(t, "-data", data, "-out", out, "-corpora", "three", "-classes", "three", "-large", "three", "-n", "60", "-n-small", "60", "-run", "anchorfree,weights,clusters", "-gibbs-sweeps", "30")
	rows := readTable(t, filepath.Join(out, "anchorfree.csv"))
	if len(rows) != 3*len(freeMethods())+1 { // one draw of all three classes, and Gibbs sampling
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		planted := slices.Contains([]string{freeLP, pds, exactPDS, gibbs}, r["method"])
		if r["error"] != "" || r["classes"] != "class0+class1+class2" || planted && !(r.num("clustacc") > 0.95) {
			t.Errorf("%v", r)
		}
	}
	if many := readTable(t, filepath.Join(out, "anchorfree-many.csv")); len(many) != len(freeMethods())+1 { // F = 10 only, of so few words
		t.Errorf("%d rows of many topics", len(many))
	}
	if words := readTable(t, filepath.Join(out, "anchorfree-words.csv")); len(words) != 6 || len(strings.Fields(words[0]["words"])) != topWords || !(words[0].num("own") <= topWords) {
		t.Errorf("words of topics: %v", words)
	}
	rows = readTable(t, filepath.Join(out, "clusters.csv"))
	for _, m := range clusterMethods {
		of := where(rows, "method", m)
		if len(of) != 9 {
			t.Fatalf("%s: %d rows", m, len(of))
		}
		if m != baseline && !(of[0].num("clustacc") > 0.95) {
			t.Errorf("%s: accuracy %v", m, of[0]["clustacc"])
		}
		for _, class := range values(of, "class") {
			sum := 0.0
			for _, r := range where(of, "class", class) {
				sum += r.num("weight")
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s, %s: weights sum to %v", m, class, sum)
			}
		}
		if m == "AP" { // each topic has a class of its own
			h := heatOf(of)
			for i := range h.values {
				if slices.Max(h.values[i]) != h.values[i][i] {
					t.Errorf("heat map %v is not heaviest on its diagonal", h.values)
				}
			}
		}
	}
}

func TestLabelsMissing(t *testing.T) {
	var e bytes.Buffer
	args := []string{"-data", testutil.Path(), "-corpora", "synth", "-classes", "synth", "-out", t.TempDir(), "-run", "clusters"}
	if status := run(t.Context(), args, io.Discard, &e); status != 1 || !strings.Contains(e.String(), "labels.txt") {
		t.Errorf("status %d: %s", status, e.String())
	}
}
