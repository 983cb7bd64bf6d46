package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/examples/internal/clitest"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

var invoke = clitest.Program(run).Invoke

// folder returns a folder with the synthetic corpus of package testutil, split, as
// NAME-split for each name.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	ctx := context.Background()
	u := cli.UCI{Docword: testutil.Path("synth", "docword.synth.txt.gz"), Vocab: testutil.Path("synth", "vocab.synth.txt"), Stop: testutil.Path("synth", "synth.stops")}
	c, err := u.Load(ctx, corpus.Curation{Words: 300})
	if err != nil {
		t.Fatal(err)
	}
	train, rest, err := c.Split(0.1, 1)
	if err != nil {
		t.Fatal(err)
	}
	observed, held, err := rest.SplitTokens(0.5, 1)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range names {
		to := filepath.Join(dir, name+splitSuffix)
		if err := os.Mkdir(to, 0o777); err != nil {
			t.Fatal(err)
		}
		for part, c := range map[string]*corpus.Corpus{"train": train, "obs": observed, "held": held} {
			if err := c.SaveUCI(ctx, filepath.Join(to, "docword."+part+".txt"), filepath.Join(to, "vocab.txt")); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func rivalsFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rivals.tsv")
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTable(t *testing.T) {
	dir := folder(t, "one", "two")
	rivals := rivalsFile(t, "two\t4\tSlow\t-9\t-0.5\t1000\ntwo\t4\tBest\t0\t1\t0.001\nthree\t4\tBest\t0\t1\t1\n")
	prefix := filepath.Join(t.TempDir(), "b")
	out, _ := invoke(t, 0, "-data", dir, "-k", "3,4", "-rivals", rivals, "-npy", prefix)
	var rows [][]string
	for line := range strings.Lines(out) {
		rows = append(rows, strings.Fields(line))
	}
	want := [][]string{{"corpus", "K", "program"}, {"one", "3", "default"}, {"one", "4", "default"}, {"two", "3", "default"}, {"two", "4", "default"},
		{"Slow", "-9.0000", "-0.5000", "1000.00"}, {"Best", "0.0000", "1.0000", "0.00"}, {},
		{"Slow:", "our", "ll", "is", "at", "least", "its", "own", "in", "1", "of", "1", "cells,", "our", "read", "its", "npmi", "in", "1;"},
		{"Best:", "our", "ll", "is", "at", "least", "its", "own", "in", "0", "of", "1", "cells,", "our", "read", "its", "npmi", "in", "0;"}}
	if len(rows) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(rows), len(want), out)
	}
	for i, w := range want {
		if len(rows[i]) < len(w) || !slices.Equal(rows[i][:len(w)], w) {
			t.Errorf("line %d: %q, want it to begin with %q", i+1, rows[i], w)
		}
	}
	// Both folders hold the same corpus.
	if a, b := rows[2][3:9], rows[4][3:9]; !slices.Equal(a, b) {
		t.Errorf("the same corpus: %q and %q", a, b)
	}
	// Columns of numbers are aligned at their right.
	for i, line := range slices.Collect(strings.Lines(out))[:7] {
		if field := line[39:48]; field[0] != ' ' || field[8] == ' ' {
			t.Errorf("line %d: column ll is %q", i+1, field)
		}
	}
	for _, name := range []string{"_one_k3", "_two_k4", "_two_k4_reading"} {
		if _, err := os.Stat(prefix + name + ".npy"); err != nil {
			t.Error(err)
		}
	}
}

// The passes make held-out words likelier, those of the default and those of -refine.
func TestJSON(t *testing.T) {
	dir := folder(t, "one", "two")
	results := map[string]result{}
	for _, args := range [][]string{nil, {"-published"}, {"-published", "-refine", "5", "-workers", "2"}, {"-extra", "3"}} {
		out, _ := invoke(t, 0, append([]string{"-data", dir, "-corpora", "one", "-k", "4", "-json"}, args...)...)
		var r result
		d := json.NewDecoder(strings.NewReader(out))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil || d.More() {
			t.Fatalf("%v in %s", err, out)
		}
		if r.Corpus != "one" || r.K != 4 || r.Dead == nil || r.Background == nil || r.Rivals != nil {
			t.Errorf("%s", out)
		}
		if !(r.NPMI >= -1 && r.NPMI <= 1 && r.Reading >= -1 && r.Reading <= 1 && r.Uniqueness >= 0 && r.Uniqueness <= 20 && r.CPU >= 0 && r.Seconds >= 0) {
			t.Errorf("out of range: %s", out)
		}
		results[r.Program] = r
	}
	a, b := results["published"], results["published +5"]
	def := results["default"]
	if !(b.LL > a.LL+0.005 && def.LL > a.LL+0.005 && float64(a.LL) > -math.Log(300)) {
		t.Errorf("log-likelihood %v, with passes %v, of the default %v", a.LL, b.LL, def.LL)
	}
	if extra, there := results["default extra 3"]; !there || extra.LL == def.LL {
		t.Errorf("with three topics more %v, log-likelihood %v, without %v", there, extra.LL, def.LL)
	}
	stages := func(r result) (names []string) {
		for _, s := range r.Stages {
			names = append(names, s.Name)
		}
		return names
	}
	if got, want := stages(a), []string{"cooc", "rectify", "anchors", "recover", "other"}; !slices.Equal(got, want) {
		t.Errorf("stages %q, want %q", got, want)
	}
	for _, r := range []result{b, def} {
		if got, want := stages(r), []string{"cooc", "rectify", "anchors", "recover", "refine", "other"}; !slices.Equal(got, want) {
			t.Errorf("%s: stages %q, want %q", r.Program, got, want)
		}
	}
}

func TestUsage(t *testing.T) {
	invoke(t, 0, "-help")
	_, errs := invoke(t, 2, "-k", "1,x", "-workers", "-1", "-refine", "-1", "y")
	for _, want := range []string{"-data is missing", "-k 1:", `"x" is not a number`, "-workers -1", "-refine -1", `argument "y"`} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %s in\n%s", want, errs)
		}
	}
	empty := t.TempDir()
	if _, errs = invoke(t, 1, "-data", empty); !strings.Contains(errs, "no folder NAME-split") {
		t.Error(errs)
	}
	if _, errs = invoke(t, 1, "-data", empty, "-corpora", "no-split"); !strings.Contains(errs, "no: ") || !strings.Contains(errs, "vocab.txt") {
		t.Error(errs)
	}
}

func TestRivals(t *testing.T) {
	if _, err := (options{}).readRivals(); err != nil {
		t.Errorf("the committed file: %v", err)
	}
	got, err := parseRivals("x", strings.NewReader("# no\n\na\t20\tA B\t-7.5\t.25\t3\na\t20\tC\t-7\tNaN\t4\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := got[cell{"a", 20}]
	if len(r) != 2 || r[0] != (rival{"A B", -7.5, .25, 3}) || r[1].Program != "C" || r[1].NPMI == r[1].NPMI {
		t.Errorf("%v", got)
	}
	for content, want := range map[string]string{
		"a 20 A -7 .2 3":           "x, line 1: 1 fields",
		"\na\tK\tA\t-7\t.2\t3":     `x, line 2: the number of topics is "K"`,
		"a\t20\tA\t-7\tgood\t3":    `field 5: "good"`,
		strings.Repeat("a", 1<<17): "x: ",
	} {
		if _, err := parseRivals("x", strings.NewReader(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestStopwatch(t *testing.T) {
	var s stopwatch
	for _, name := range []jsmf.Stage{"a", "b", "a"} {
		s.record(jsmf.Event{Stage: name, Kind: jsmf.EventStart})
		s.record(jsmf.Event{Stage: name, Kind: jsmf.EventProgress})
		s.record(jsmf.Event{Stage: name, Kind: jsmf.EventEnd})
	}
	s.stages[0].CPU, s.stages[1].CPU = 1, 2
	if got, want := s.all(3.5), []stage{{"a", 1}, {"b", 2}, {"other", 0.5}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestCompare(t *testing.T) {
	got := compare([]result{
		{LL: -7, Reading: 0.2, CPU: 1, Rivals: []rival{{"A", -7, 0.3, 10}, {"B", -6, 0.1, 2}}},
		{LL: -6, Reading: 0.2, CPU: 2, Rivals: []rival{{"A", -5, 0.1, 80}}},
		{LL: -6, Reading: 0.2, CPU: 2},
	})
	want := []comparison{{"A", 2, 1, 1, math.Log(400)}, {"B", 1, 0, 1, math.Log(2)}}
	if len(got) != len(want) {
		t.Fatalf("%d comparisons, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := *got[i]
		if !(math.Abs(g.logRatio-w.logRatio) < 1e-12) {
			t.Errorf("%s: log of the ratios %v, want %v", g.program, g.logRatio, w.logRatio)
		}
		if g.logRatio = w.logRatio; g != w {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
	if s := want[0].String(); !strings.HasSuffix(s, "20 times ours (geometric mean)") {
		t.Error(s)
	}
}
