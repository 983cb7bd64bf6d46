package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/examples/internal/clitest"
	"github.com/jsmf-go/spectral/internal/testutil"
)

func invoke(args ...string) (int, string, string) {
	var out, errs bytes.Buffer
	status := run(context.Background(), args, &out, &errs)
	return status, out.String(), errs.String()
}

func synth(args ...string) []string {
	return append(clitest.Synth("-n", "600", "-k", "5"), args...)
}

// rows returns the numbers of a table by the name of the row.
func rows(t *testing.T, out string) map[string][]float64 {
	t.Helper()
	r := map[string][]float64{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		name := ""
		switch {
		case len(f) == 11 && f[0] == "spectral":
			name, f = f[0], f[1:]
		case len(f) == 12 && f[1] == "passes":
			name, f = f[0], f[2:]
		default:
			continue
		}
		for _, s := range f {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			r[name] = append(r[name], v)
		}
	}
	return r
}

// On documents of a correlated model the refined topics predict held-out words
// better than the spectral ones, and those better than the unigram distribution.
func TestTable(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	dir := t.TempDir()
	status, out, errs := invoke(synth("-passes", "6", "-swaps", "0.2", "-npy", filepath.Join(dir, "b"))...)
	if status != 0 {
		t.Fatalf("exit status %d\n%s", status, errs)
	}
	r := rows(t, out)
	if len(r) != 2 {
		t.Fatalf("rows %v in\n%s", r, out)
	}
	_, rest, _ := strings.Cut(out, "ll of the unigram distribution ")
	floor, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	if !(r["6"][0] > r["spectral"][0]+0.01 && r["spectral"][0] > floor+0.01) {
		t.Errorf("log-likelihood %v refined, %v spectral, %v of the unigram distribution", r["6"][0], r["spectral"][0], floor)
	}
	for _, p := range []string{"0", "6"} {
		if info, err := os.Stat(filepath.Join(dir, "b_k5_p"+p+".npy")); err != nil || info.Size() != 128+8*600*5 {
			t.Errorf("topics after %s passes: %v", p, err)
		}
	}
}

// A split that was made before gives the same as one made here.
func TestSplitFolder(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("skipped: two tables")
	}
	o := options{corpus: cli.UCI{Docword: testutil.Path("synth", "docword.synth.txt.gz"), Vocab: testutil.Path("synth", "vocab.synth.txt"), Stop: testutil.Path("synth", "synth.stops")}, words: 600, seed: 1}
	d, err := load(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, c := range map[string]*corpus.Corpus{"train": d.Train, "obs": d.Observed, "held": d.Held} {
		if err := c.SaveUCI(context.Background(), filepath.Join(dir, "docword."+name+".txt"), filepath.Join(dir, "vocab.txt")); err != nil {
			t.Fatal(err)
		}
	}
	_, a, _ := invoke(synth("-passes", "2", "-method", "map-em")...)
	status, b, errs := invoke("-split", dir, "-k", "5", "-passes", "2", "-method", "map-em")
	if status != 0 {
		t.Fatalf("exit status %d\n%s", status, errs)
	}
	ra, rb := rows(t, a), rows(t, b)
	for name, x := range ra {
		for i, v := range x[:8] { // the others are times
			if v != rb[name][i] && v == v {
				t.Errorf("%s: column %d is %v and %v", name, i, v, rb[name][i])
			}
		}
	}
}

func TestUsage(t *testing.T) {
	if status, _, _ := invoke("-help"); status != 0 {
		t.Errorf("-help: exit status %d", status)
	}
	status, _, errs := invoke("-k", "1,x", "-passes", "0", "-rectify", "no", "-method", "no", "-beta", "-1", "-workers", "-1", "-swaps", "2", "y")
	for _, want := range []string{"-k 1:", `"x" is not a number`, "-passes 0:", `-rectify "no"`, `-method "no"`, "Beta = -1", "-workers -1", "-swaps 2", `argument "y"`, "-split, or"} {
		if status != 2 || !strings.Contains(errs, want) {
			t.Errorf("exit status %d, no %s in\n%s", status, want, errs)
		}
	}
	if status, _, errs := invoke("-split", t.TempDir()); status != 1 || !strings.Contains(errs, "vocab.txt") {
		t.Errorf("an empty folder: exit status %d\n%s", status, errs)
	}
}
