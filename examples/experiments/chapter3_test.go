package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

func TestVocabulary(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("some seconds of fits")
	}
	out := t.TempDir()
	mustRun(t, small(out, "-run", "vocabulary", "-n", "160", "-k", "4,20")...)
	rows := readTable(t, filepath.Join(out, "vocabulary.csv"))
	if len(rows) != 2*vocabularySizes {
		t.Fatalf("%d rows; want %d", len(rows), 2*vocabularySizes)
	}
	for _, r := range rows {
		if r["error"] != "" {
			t.Fatalf("%v", r)
		}
		if r["n"] == "40" && math.Abs(r.num("base_recovery")-r.num("recovery")) > 1e-12 {
			t.Errorf("of the smallest vocabulary BaseRecovery is %v; want Recovery, %v", r["base_recovery"], r["recovery"])
		}
		if p := r.num("anchor_place"); !(p > 0.5 && p <= 1) {
			t.Errorf("n = %s, K = %s: an anchor is at %v of the words of the other topics; want the lower half", r["n"], r["k"], p)
		}
	}
	// Words lost are of the vocabulary of -n and not of the smaller one, words gained
	// not of that of -n.
	s, err := findSource(testutil.Path(), "synth", testutil.Path("synth", "synth.stops"))
	if err != nil {
		t.Fatal(err)
	}
	f := &firstDocs{source: s}
	has := func(n int, word string) bool {
		d, err := f.count(t.Context(), n, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, ok := d.Info().Corpus.Index(word)
		return ok
	}
	words := readTable(t, filepath.Join(out, "vocabulary-words.csv"))
	if len(words) != vocabularySizes*vocabularyTopics {
		t.Fatalf("%d rows of words", len(words))
	}
	for _, r := range words {
		n := int(r.num("n"))
		for _, w := range strings.Fields(r["words"]) {
			if r["change"] == "lost" && (has(n, w) || !has(160, w)) || r["change"] == "gained" && (has(160, w) || !has(n, w)) || r["change"] == "" && !has(160, w) {
				t.Errorf("%d words: %s %q", n, r["change"], w)
			}
		}
	}
	if seeds := readTable(t, filepath.Join(out, "vocabulary-seeds.csv")); len(seeds) != 2*lrSeeds {
		t.Errorf("%d rows of seeds", len(seeds))
	}
	page, err := os.ReadFile(filepath.Join(out, pageName))
	if err != nil || !bytes.Contains(page, []byte("(vocabulary.png)")) || !bytes.Contains(page, []byte("| 40 − | 80 − | 120 − | 160 | 200 + |")) {
		t.Errorf("the page lacks the figure or the table of words (%v)", err)
	}
}

// More words than there are is an error that names both.
func TestVocabularyTooSmall(t *testing.T) {
	s, err := findSource(testutil.Path(), "synth", testutil.Path("synth", "synth.stops"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&firstDocs{source: s}).countWords(t.Context(), 100000, 0); err == nil || !strings.Contains(err.Error(), "want 100000") {
		t.Errorf("%v", err)
	}
}

// Zeros share the mean of their ranks: with N = 4 words, an anchor that is one of
// three zeros has the rank 3, and one in second place alone the rank 2.
func TestMeanRank(t *testing.T) {
	b := mat.NewDense(4, 2, []float64{
		1, 0.3,
		0, 0.7,
		0, 0,
		0, 0,
	})
	if got := meanRank(b, []int{0, 1}); got != (2+3)/2. {
		t.Errorf("mean rank %v; want 2.5", got)
	}
	if got := meanRank(b, []int{2, 3}); got != (3.5+3)/2 {
		t.Errorf("mean rank %v; want 3.25", got)
	}
}

func TestHierarchy(t *testing.T) {
	if testutil.Race {
		t.Skip("nothing here runs at the same time as something else but in the library")
	}
	data, out := labelled(t), t.TempDir()
	mustRun(t, "-data", data, "-out", out, "-corpora", "three", "-classes", "three", "-artists", "none", "-k", "3,6", "-n-small", "90", "-run", "hierarchy")
	rows := readTable(t, filepath.Join(out, "hierarchy.csv"))
	if len(rows) != 3*(3+3+6) { // a row a class
		t.Fatalf("%d rows: %v", len(rows), rows)
	}
	// The classes were drawn from a topic each: each of three topics is of another one.
	found := make(map[string]bool)
	for _, topic := range values(where(rows, "model", 3), "topic") {
		found[mainGenre(where(rows, "model", 3, "topic", topic))] = true
	}
	if len(found) != 3 {
		t.Errorf("three topics show the classes %v", found)
	}
	for _, topic := range values(rows, "topic") {
		for _, model := range values(rows, "model") {
			sum := 0.0
			for _, r := range where(rows, "model", model, "topic", topic) {
				sum += r.num("genre")
			}
			if of := where(rows, "model", model, "topic", topic); len(of) > 0 && math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s, topic %s: genres sum to %v", model, topic, sum)
			}
		}
	}
	for _, r := range where(rows, "model", 6) {
		if a := r.num("above"); !(a >= 0 && a < 3) || !(r.num("belongs") > 1./3) {
			t.Errorf("topic %s belongs to %s by %s", r["topic"], r["above"], r["belongs"])
		}
	}
	page, err := os.ReadFile(filepath.Join(out, pageName))
	if err != nil || !bytes.Contains(page, []byte("(hierarchy.png)")) || !bytes.Contains(page, []byte("6:3")) && !bytes.Contains(page, []byte("three: each topic above")) {
		t.Errorf("the page lacks the figure or the table (%v)", err)
	}
}

// Of documents with few words the rectified matrices agree.
func TestTitles(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("some seconds of fits")
	}
	out := t.TempDir()
	mustRun(t, small(out, "-run", "titles", "-titles", "synth", "-n", "150", "-k", "4")...)
	rows := readTable(t, filepath.Join(out, "titles.csv"))
	if len(rows) != 3*2*len(titlesMethods) {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r["error"] != "" || !(r.num("distance") > 0 && r.num("distance") < 1) {
			t.Errorf("%v", r)
		}
	}
}

func TestDistance(t *testing.T) {
	dense := func(v ...float64) *cooc.Dense {
		c, err := cooc.NewDense(mat.NewDense(2, 2, v))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	got, err := distance(t.Context(), dense(0.3, 0, 0, 0.4), &rectify.Result{C: dense(0.3, 0.1, 0.1, 0.4)})
	if want := math.Sqrt(0.02) / 0.5; err != nil || math.Abs(got-want) > 1e-15 {
		t.Errorf("distance %v, %v; want %v", got, err, want)
	}
}

func TestInBoth(t *testing.T) {
	if n := inBoth([]string{"a", "b", "c"}, []string{"c", "d", "a"}); n != 2 {
		t.Errorf("%d in common; want 2", n)
	}
}
