package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// The methods of the papers' comparisons find topics of the synthetic corpus, which has
// planted ones, and the page counts what they do.
func TestTensor(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped under the race detector, which makes it take very long; package rivals is tested")
	}
	out := t.TempDir()
	mustRun(t, small(out, "-run", "tensor,lists", "-format", "svg")...)
	rows := readTable(t, filepath.Join(out, "tensor.csv"))
	if len(rows) != 12 {
		t.Fatalf("%d rows; want those of 6 methods and 2 K", len(rows))
	}
	for _, r := range rows {
		if r["error"] != "" || !(r.num("specificity") > 0) || !math.IsNaN(r.num("recovery")) {
			t.Errorf("%v", r)
		}
	}
	// One pass in one batch leaves topics that hardly differ; ten passes do not.
	for _, k := range []int{4, 8} {
		one, more := where(rows, "method", oviName, "k", k)[0], where(rows, "method", oviMore, "k", k)[0]
		if !(more.num("specificity") > 1.5*one.num("specificity")) {
			t.Errorf("K = %d: Specificity of OVI is %s after one pass and %s after ten", k, one["specificity"], more["specificity"])
		}
	}
	made := &tables{rows: map[string][]row{"tensor": rows, "curves": readTable(t, filepath.Join(out, "curves.csv"))}}
	for _, c := range tensors.claims {
		if yes, of := c.holds(made); yes > of || of == 0 && !strings.Contains(c.text, "turn") {
			t.Errorf("%s: %d of %d", c.text, yes, of)
		}
	}
	if v := alongK(made, gibbs)["synth"]; len(v) != 2 {
		t.Errorf("%d values of Gibbs along K", len(v))
	}
	// No document of the corpus is mostly one word.
	for _, k := range []int{4, 8} {
		a, b := where(rows, "method", tensorName, "k", k)[0], where(rows, "method", tensorName+trimmed, "k", k)[0]
		if a["specificity"] != b["specificity"] {
			t.Errorf("K = %d: Specificity %s is %s when trimmed", k, a["specificity"], b["specificity"])
		}
	}

	topics := readTable(t, filepath.Join(out, "lists.csv"))
	if len(topics) != len(listMethods)*listTopics {
		t.Fatalf("%d rows; want %d topics by %d methods", len(topics), listTopics, len(listMethods))
	}
	made.rows["lists"] = topics
	for _, r := range topics {
		if r["error"] != "" {
			t.Fatalf("%v", r)
		}
		if a := strings.Fields(r["top"]); len(strings.Fields(r["words"])) != 7 && len(a) > 6 {
			t.Errorf("%v", r)
		}
	}
	if n := common(made, gibbsFive); total(n) != 20*listTopics {
		t.Errorf("Gibbs shares %v with itself", n)
	}
	if n := own(where(topics, "method", jsmfOne)); n > 20*listTopics || n < 1 {
		t.Errorf("%d words of their own", n)
	}
}

// Topics of a corpus in which each class has its own are of single classes.
func TestGenres(t *testing.T) {
	s, err := findSource(labelled(t), "three", "")
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{options: options{seed: 1}}
	made := &tables{rows: make(map[string][]row)}
	for _, method := range []string{apADMM, ctmLonger} {
		rows, err := l.genres(t.Context(), s, 1, method, 3, 0)
		if err != nil {
			t.Fatal(err)
		}
		whole, last := 0.0, math.Inf(1)
		for _, r := range rows {
			names, shares := readProfile(r["classes"])
			sum := 0.0
			for _, v := range shares {
				sum += v
			}
			if len(names) != 3 || math.Abs(sum-1) > 1e-3 || !(r.num("share") > 0.4) || !(r.num("distance") > 0.1) {
				t.Errorf("%v", r)
			}
			if r.num("probability") > last {
				t.Errorf("%s: topics are not in the order of their probability", method)
			}
			last = r.num("probability")
			whole += last
			r["k"], r["corpus"] = "15", "three"
		}
		if n := len(values(rows, "class")); n < 2 || method == apADMM && n != 3 || math.Abs(whole-1) > 1e-9 {
			t.Errorf("%s: classes %v, probabilities of sum %v", method, values(rows, "class"), whole)
		}
		if method == ctmLonger { // as if it were the other
			for _, r := range rows {
				r["method"] = ctmName
			}
		}
		made.rows["genres"] = append(made.rows["genres"], rows...)
	}
	yes, of := genreShares(ctmName, 15, true)(made)
	if no, _ := genreShares(ctmName, 15, false)(made); of != 3 || yes+no != of {
		t.Errorf("%d topics of CTM have a class and %d have none, of %d", yes, no, of)
	}
	if _, of := byStart(made, 15, func(_, _ []row) bool { return true }); of != 1 {
		t.Errorf("%d starts", of)
	}
	if f := genreFigures(nil, made); len(f) != 1 || len(f[0].panels) != 2 || len(f[0].panels[0].heat.rows) != 4 {
		t.Errorf("figures %v", f)
	}
	thin, err := l.thinned(t.Context(), s, thin)
	if err != nil {
		t.Fatal(err)
	}
	if n := thin.Info().Corpus.DocLen(0); n != 10 {
		t.Errorf("a document of 60 tokens has %d when thinned; want 10", n)
	}
}

// A document that is mostly one word is left out of what is trimmed.
func TestTrimmed(t *testing.T) {
	dir := t.TempDir()
	var b corpus.Builder
	for _, doc := range []string{"apple pear plum apple fig", "kiwi kiwi kiwi kiwi kiwi apple plum", "pear plum fig grape grape"} {
		if err := b.AddTokens("", "", strings.Fields(doc)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "fruit"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := c.SaveUCI(t.Context(), filepath.Join(dir, "fruit", "docword.fruit.txt"), filepath.Join(dir, "fruit", "vocab.fruit.txt")); err != nil {
		t.Fatal(err)
	}
	s, err := findSource(dir, "fruit", "")
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{options: options{words: 10}}
	for method, want := range map[string]int{tensorName: 3, tensorName + trimmed: 2} {
		d, err := l.countFor(t.Context(), s, method)
		if err != nil {
			t.Fatal(err)
		}
		if n := d.Info().Corpus.NumDocs(); n != want {
			t.Errorf("%s: %d documents; want %d", method, n, want)
		}
	}
}
