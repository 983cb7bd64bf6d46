package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/rectify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small are the flags of a run on the synthetic corpus that takes a moment.
func small(out string, more ...string) []string {
	return append([]string{"-data", testutil.Path(), "-corpora", "synth", "-stop", testutil.Path("synth", "synth.stops"), "-classes", "none", "-large", "none", "-big", "none", "-artists", "none", "-titles", "none",
		"-n", "300", "-n-small", "200", "-k", "4,8", "-methods", "Baseline,AP,ENN,Gibbs", "-recover", "ExpGrad,ActiveSet", "-gibbs-sweeps", "4", "-docs", "300", "-out", out}, more...)
}

func mustRun(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var o, e bytes.Buffer
	if status := run(t.Context(), args, &o, &e); status != 0 {
		t.Fatalf("status %d: %s", status, e.String())
	}
	return o.String(), e.String()
}

// readTable reads a CSV as rows.
func readTable(t *testing.T, path string) []row {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []row
	for _, l := range lines[1:] {
		r := make(row)
		for i, v := range l {
			r[lines[0][i]] = v
		}
		out = append(out, r)
	}
	return out
}

// counted is the synthetic corpus as the program curates it.
func counted(t *testing.T, words int) *cooc.Moments {
	t.Helper()
	s, err := findSource(testutil.Path(), "synth", testutil.Path("synth", "synth.stops"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.countUnbiased(t.Context(), words, 0)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCurves(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped under the race detector, which makes it take very long; TestScore runs the same stages")
	}
	out := t.TempDir()
	mustRun(t, small(out, "-run", "curves", "-format", "png,svg")...)
	rows := readTable(t, filepath.Join(out, "curves.csv"))
	// AP with two ways, Baseline and ENN with one, Gibbs; for two K.
	if len(rows) != 10 {
		t.Fatalf("%d rows; want 10", len(rows))
	}
	// The numbers are those of a fit by hand.
	d := counted(t, 300)
	for _, k := range []int{4, 8} {
		p := asPublished(k).Rectify(rectify.AP{}).Seed(1)
		m, err := p.Fit(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := p.Evaluate(t.Context(), m, d)
		if err != nil {
			t.Fatal(err)
		}
		got := where(rows, "method", "AP", "recover", "ActiveSet", "k", k)
		if len(got) != 1 {
			t.Fatalf("K = %d: %d rows of AP", k, len(got))
		}
		for _, x := range rep.Keyed() {
			if slices.Contains(measured, x.Key) && got[0].num(x.Key) != x.Mean {
				t.Errorf("K = %d: %s is %s; want %v", k, x.Key, got[0][x.Key], x.Mean)
			}
		}
	}
	for _, r := range rows {
		if r["error"] != "" {
			t.Errorf("%v %v K=%v: %s", r["method"], r["recover"], r["k"], r["error"])
		}
		if gibbs := r["method"] == gibbs; gibbs != math.IsNaN(r.num("recovery")) {
			t.Errorf("%s: recovery is %q", r["method"], r["recovery"])
		}
		if v := r.num("specificity"); !(v > 0) {
			t.Errorf("%v: specificity %v", r, v)
		}
	}
	if s := readTable(t, filepath.Join(out, "curves-seconds.csv")); len(s) != len(rows) || !(s[0].num("seconds") >= 0) {
		t.Errorf("seconds: %v", s)
	}

	// The pictures of the page are there and are pictures.
	page, err := os.ReadFile(filepath.Join(out, pageName))
	if err != nil {
		t.Fatal(err)
	}
	pictures := regexp.MustCompile(`\]\(([^)]*\.png)\)`).FindAllStringSubmatch(string(page), -1)
	if len(pictures) != 3 {
		t.Errorf("%d pictures on the page; want 3", len(pictures))
	}
	for _, p := range pictures {
		f, err := os.Open(filepath.Join(out, p[1]))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", p[1], err)
		}
		if b := img.Bounds(); b.Dx() < 300 || b.Dy() < 200 {
			t.Errorf("%s is %v", p[1], b)
		}
		svg, err := os.ReadFile(filepath.Join(out, strings.TrimSuffix(p[1], "png")+"svg"))
		if err != nil {
			t.Fatal(err)
		}
		for x := xml.NewDecoder(bytes.NewReader(svg)); ; {
			if _, err := x.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", p[1], err)
			}
		}
	}
	if bytes.Contains(page, []byte(out)) || bytes.Contains(page, []byte(testutil.Path())) {
		t.Error("the page has a path of this machine")
	}
	if !bytes.Contains(page, []byte("| AP approximates C better than Baseline | lee-2018 Figure 2.5 | 2 of 2 |")) {
		t.Error("AP does not approximate better than Baseline on the page")
	}
}

// stopper is a standard error that calls stop when it has read the words.
type stopper struct {
	words string
	stop  context.CancelFunc
	bytes.Buffer
}

func (s *stopper) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(s.words)) {
		s.stop()
	}
	return s.Buffer.Write(b)
}

// A run that is stopped and goes on, with another number of workers and half a
// record at the end of the file, comes to the same tables as one in one go.
func TestResume(t *testing.T) {
	whole, parts := t.TempDir(), t.TempDir()
	runs := "curves,semi,heldout"
	if testing.Short() || testutil.Race {
		runs = "curves"
	}
	mustRun(t, small(whole, "-k", "8", "-format", "svg", "-run", runs)...)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	e := &stopper{words: "3/", stop: stop}
	if status := run(ctx, small(parts, "-k", "8", "-format", "svg", "-run", runs, "-workers", "1"), io.Discard, e); status != 130 {
		t.Fatalf("status %d; want 130: %s", status, e.String())
	}
	records := filepath.Join(parts, recordsName)
	before, err := os.ReadFile(records)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(before, []byte("\n")); n != 3 {
		t.Fatalf("%d records after the interruption; want 3", n)
	}
	page, err := os.ReadFile(filepath.Join(parts, pageName))
	if err != nil || !bytes.Contains(page, []byte("Cells that are missing: ")) {
		t.Errorf("the page of an interrupted run does not say so (%v)", err)
	}
	if err := os.WriteFile(records, append(before, before[:100]...), 0o666); err != nil {
		t.Fatal(err)
	}
	_, said := mustRun(t, small(parts, "-k", "8", "-format", "svg", "-run", runs, "-workers", "2")...)
	if !strings.Contains(said, ", 3 of them done before") {
		t.Errorf("the second run began with %q", strings.SplitN(said, "\n", 2)[0])
	}
	after, err := os.ReadFile(records)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(after, before) {
		t.Error("records that were there have changed")
	}
	for _, name := range strings.Split(runs, ",") {
		a, err := os.ReadFile(filepath.Join(whole, name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(parts, name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		if len(a) < 100 || !bytes.Equal(a, b) {
			t.Errorf("%s.csv differs", name)
		}
	}
	// Nothing is left to do, and the list of cells says so.
	plan, _ := mustRun(t, small(parts, "-k", "8", "-format", "svg", "-run", runs, "-plan")...)
	if strings.Contains(plan, "to do") || strings.Count(plan, "done\t") < 5 {
		t.Errorf("plan:\n%s", plan)
	}
	_, said = mustRun(t, small(parts, "-k", "8", "-format", "svg", "-run", runs)...)
	if n := strings.Count(said, "\n"); n != 2 {
		t.Errorf("a run with nothing to do says %q", said)
	}
}

func TestBudget(t *testing.T) {
	out := t.TempDir()
	_, said := mustRun(t, small(out, "-run", "curves", "-budget", "1ns")...)
	if !strings.Contains(said, "10 cells are left") {
		t.Errorf("said %q", said)
	}
}

func TestBadFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"-data is missing":                 {"-out", "x"},
		"-out is missing":                  {"-data", "x"},
		`-run "curve": want curves, `:      {"-data", "x", "-out", "x", "-run", "curve"},
		"-k 1: want at least 2":            {"-data", "x", "-out", "x", "-k", "5,1"},
		"-k names 5 twice":                 {"-data", "x", "-out", "x", "-k", "5,5"},
		`-methods "ap": want Baseline`:     {"-data", "x", "-out", "x", "-methods", "ap"},
		`-recover "SVD"`:                   {"-data", "x", "-out", "x", "-recover", "SVD"},
		"-topics is missing":               {"-data", "x", "-out", "x", "-run", "score"},
		"-topics has no use without":       {"-data", "x", "-out", "x", "-run", "curves", "-topics", "x"},
		`-format "gif"`:                    {"-data", "x", "-out", "x", "-format", "gif"},
		`unexpected argument "more"`:       {"-data", "x", "-out", "x", "more"},
		"-corpora names a twice":           {"-data", "x", "-out", "x", "-corpora", "a,a"},
		`-corpora "../a": want the name`:   {"-data", "x", "-out", "x", "-corpora", "../a"},
		"-gibbs-sweeps 1: want at least 2": {"-data", "x", "-out", "x", "-gibbs-sweeps", "1"},
		"-budget -1s: want 0 or more":      {"-data", "x", "-out", "x", "-budget", "-1s"},
		"-docs 5: want at least 10":        {"-data", "x", "-out", "x", "-docs", "5"},
	} {
		var e bytes.Buffer
		if status := run(t.Context(), args, io.Discard, &e); status != 2 || !strings.Contains(e.String(), want) {
			t.Errorf("%v: status %d, %q; want 2 and %q", args, status, e.String(), want)
		}
	}
	var e bytes.Buffer
	if status := run(t.Context(), []string{"-help"}, io.Discard, &e); status != 0 || !strings.Contains(e.String(), "-gibbs-sweeps") {
		t.Errorf("-help: status %d, %q", status, e.String())
	}
	e.Reset()
	if status := run(t.Context(), []string{"-data", t.TempDir(), "-out", t.TempDir(), "-corpora", "none", "-run", "curves"}, io.Discard, &e); status != 1 || !strings.Contains(e.String(), "there is no docword.none.txt.gz") {
		t.Errorf("a corpus that is not there: status %d, %q", status, e.String())
	}
}

// The other experiments write what they should.
func TestOthers(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("some seconds of fits")
	}
	out := t.TempDir()
	notes := "Words before.\n\n## convergence\n\nA note on convergence.\n"
	if err := os.WriteFile(filepath.Join(out, "notes.md"), []byte(notes), 0o666); err != nil {
		t.Fatal(err)
	}
	mustRun(t, small(out, "-run", "iterations,pruning,convergence,semi,gaps,heldout", "-docs", "300,1000", "-k", "4", "-gibbs-sweeps", "20", "-n", "150", "-n-small", "100")...)

	// AP has converged when its change is gone; the record holds every iteration.
	c := readTable(t, filepath.Join(out, "convergence.csv"))
	if len(c) != longest {
		t.Fatalf("%d rows of convergence", len(c))
	}
	if first, last := c[0].num("change"), c[longest-1].num("change"); !(last < first/1000) {
		t.Errorf("AP changes by %v and then %v", first, last)
	}
	// 15 iterations are those of the default.
	d := counted(t, 150)
	m, err := jsmf.Published(4).Rectify(rectify.AP{}).Fit(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := jsmf.Published(4).Evaluate(t.Context(), m, d)
	if err != nil {
		t.Fatal(err)
	}
	it := where(readTable(t, filepath.Join(out, "iterations.csv")), "method", "AP", "iterations", 15, "k", 4)
	if len(it) != 1 || it[0].num("approximation") != rep.Approximation {
		t.Errorf("after 15 iterations: %v; want approximation %v", it, rep.Approximation)
	}
	// A stricter cut-off leaves fewer words, or as many where -n bounds both.
	p := readTable(t, filepath.Join(out, "pruning.csv"))
	words := func(s string) float64 { return where(p, "cutoff", s)[0].num("words") }
	if len(p) != 3 || !(words("0.1") <= words("0.5") && words("0.5") <= words("0.9")) {
		t.Errorf("words by cut-off: %v %v %v", words("0.1"), words("0.5"), words("0.9"))
	}
	// On drawn documents with planted anchors, AP finds all of four topics' and
	// comes nearer with more documents.
	s := readTable(t, filepath.Join(out, "semi.csv"))
	few, many := where(s, "method", "AP", "k", 4, "documents", 300), where(s, "method", "AP", "k", 4, "documents", 1000)
	if len(few) != 1 || len(many) != 1 || many[0].num("anchors_found") != 1 || !(many[0].num("b_l1") < 0.05) || !(many[0].num("b_l1") < few[0].num("b_l1")) {
		t.Errorf("drawn documents: %v, %v", few, many)
	}
	for _, r := range where(s, "method", gibbs) {
		if !(r.num("b_l1") < 1 && r.num("specificity") > 0) {
			t.Errorf("Gibbs sampling of drawn documents: %v", r)
		}
	}
	if n := len(where(s, "method", gibbs)); n != 2 {
		t.Errorf("%d rows of Gibbs sampling; want 2", n)
	}
	// Topics beat the unigram distribution on documents they were not fitted to.
	for _, r := range readTable(t, filepath.Join(out, "heldout.csv")) {
		if r["error"] != "" {
			if r["recover"] != "inverse" { // which is known to fail on counts
				t.Errorf("%v", r)
			}
			continue
		}
		if r["method"] == "AP" && !(r.num("held_out") > r.num("left_to_right") && r.num("left_to_right") > r.num("unigram")) {
			t.Errorf("%s+%s: ln p after half of the tokens %v, from left to right %v, the unigram's %v", r["method"], r["recover"], r["held_out"], r["left_to_right"], r["unigram"])
		}
	}
	page, err := os.ReadFile(filepath.Join(out, pageName))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Words before.", "A note on convergence.", "(convergence.png)", "(gaps.png)", "(semi.png)", "(heldout.png)", "(pruning.png)", "(iterations.png)"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := bytes.Count(page, []byte("(semi.csv)")); n != 2 {
		t.Errorf("semi.csv is named %d times; want 2", n)
	}
}
