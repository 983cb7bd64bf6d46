package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/examples/internal/clitest"
	"github.com/jsmf-go/spectral/examples/internal/rss"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

// invoke runs the program; see clitest.
var invoke = clitest.Program(run).Invoke

func synth(args ...string) []string {
	return append(clitest.Synth("-quiet"), args...)
}

func decode(t *testing.T, out string) []result {
	t.Helper()
	var lines []result
	for s := range strings.Lines(out) {
		var r result
		d := json.NewDecoder(strings.NewReader(s))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%v in %s", err, s)
		}
		lines = append(lines, r)
	}
	return lines
}

func curated(t *testing.T, words int) *corpus.Corpus {
	t.Helper()
	return golden.Curated(t, testutil.Path("synth", "docword.synth.txt.gz"), testutil.Path("synth", "vocab.synth.txt"), testutil.Path("synth", "synth.stops"), words)
}

// The numbers of each size are those of the library, and BaseRecovery is the
// mean over the first words, which are the base vocabulary.
func TestSizes(t *testing.T) {
	out, errs := invoke(t, 0, synth("-k", "5", "-base", "150", "-factors", "1,2,4", "-json")...)
	if errs != "" {
		t.Errorf("-quiet wrote %q", errs)
	}
	lines := decode(t, out)
	if len(lines) != 3 {
		t.Fatalf("%d lines, want 3", len(lines))
	}
	ctx := context.Background()
	first := curated(t, 150)
	var base *jsmf.Model
	for i, f := range []int{1, 2, 4} {
		l, c := lines[i], curated(t, 150*f)
		p := jsmf.Published(5).Rectify(rectify.LR{})
		m, err := p.Fit(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		if base == nil {
			base = m
		}
		for w := range first.NumWords() {
			if m.Word(w) != first.Word(w) {
				t.Fatalf("word %d of %d is %q, of the base vocabulary %q", w, m.N(), m.Word(w), first.Word(w))
			}
		}
		r, err := p.Evaluate(ctx, m, c)
		if err != nil {
			t.Fatal(err)
		}
		if l.Factor != f || l.Corpus.N != 150*f || l.Corpus.M != m.Stats().Corpus.Documents || l.K != 5 || l.Rectify != "lr" || len(l.Topics) != 5 {
			t.Errorf("line %d is %+v", i, l)
		}
		for _, x := range []struct {
			name      string
			got, want float64
		}{
			{"base_recovery", float64(l.BaseRecovery), metrics.NewStat(r.Recovery.Values[:first.NumWords()]).Mean},
			{"recovery", float64(l.Recovery), r.Recovery.Mean},
			{"anchor_quality", float64(l.AnchorQuality), r.BasisQuality.Mean},
			{"sparsity", float64(l.Sparsity), r.Sparsity.Mean},
		} {
			if x.got != x.want || !(x.got > 0) {
				t.Errorf("%d×: %s = %.17g, want %.17g", f, x.name, x.got, x.want)
			}
		}
		s := l.Seconds
		if parts := s.Curate + s.Cooc + s.Rectify + s.Anchors + s.Recover + s.Metrics; !(s.Rectify > 0 && s.Total >= parts*(1-1e-9)) {
			t.Errorf("%d×: seconds %+v", f, s)
		}
		if (l.PeakRSS > 0) != (rss.Peak() > 0) {
			t.Errorf("%d×: peak memory %d", f, l.PeakRSS)
		}
		checkTopics(t, l, m, base, 6)
	}
}

// checkTopics checks what a line says of the topics against the models.
func checkTopics(t *testing.T, l result, m, base *jsmf.Model, top int) {
	t.Helper()
	words := func(m *jsmf.Model, k int) (out []string) {
		for _, w := range m.TopWords(k, top) {
			out = append(out, w.Word)
		}
		return out
	}
	var seen []int
	for k, x := range l.Topics {
		seen = append(seen, x.Topic)
		now := words(m, x.Topic)
		if !slices.Equal(x.Words, now) || x.Anchor != m.AnchorWords()[x.Topic] {
			t.Errorf("topic %d: %+v, want %q", k, x, now)
		}
		if (x.Change == nil) != (m == base) {
			t.Fatalf("topic %d: compared %t", k, x.Change != nil)
		}
		if m == base {
			continue
		}
		before := words(base, k)
		if x.BaseTopic != k || x.BaseAnchor != base.AnchorWords()[k] {
			t.Errorf("topic %d is compared with %d, %q", k, x.BaseTopic, x.BaseAnchor)
		}
		// The three lists by their definitions.
		for _, w := range x.Gained {
			if slices.Contains(before, w) || !slices.Contains(now, w) {
				t.Errorf("topic %d: gained %q: was %q, is %q", k, w, before, now)
			}
		}
		for _, w := range x.Lost {
			if !slices.Contains(before, w) || slices.Contains(now, w) {
				t.Errorf("topic %d: lost %q: was %q, is %q", k, w, before, now)
			}
		}
		if kept := len(now) - len(x.Gained); kept+len(x.Lost) != len(before) {
			t.Errorf("topic %d: %d kept and %d lost of %d", k, kept, len(x.Lost), len(before))
		}
		var fresh []string
		for _, w := range m.TopWords(x.Topic, m.N()) {
			if _, ok := base.Index(w.Word); !ok && w.Prob > 0 && len(fresh) < top {
				fresh = append(fresh, w.Word)
			}
		}
		if !slices.Equal(x.New, fresh) {
			t.Errorf("topic %d: new words %q, want %q", k, x.New, fresh)
		}
		if !(x.Cosine > 0.9 && x.Cosine <= 1+1e-12) { // synth's topics hardly change
			t.Errorf("topic %d: cosine %g", k, x.Cosine)
		}
	}
	if slices.Sort(seen); !slices.Equal(seen, []int{0, 1, 2, 3, 4}) {
		t.Errorf("topics %v", seen)
	}
}

func TestPrinted(t *testing.T) {
	out, _ := invoke(t, 0, synth("-k", "5", "-base", "150", "-factors", "1,4", "-top", "3")...)
	for _, want := range []string{
		"BaseRecovery AnchorQuality Sparsity", "\n      1×      150 ", "\n      4×      600 ",
		"Topics of 150 words\n", "From 150 to 600 words: top words gained (+", " → anchor_", " +w_", " −w_",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	var rows []string // of the sizes: all as wide
	for s := range strings.Lines(out) {
		if len(rows) == 3 {
			break
		}
		rows = append(rows, s)
	}
	for _, r := range rows {
		if a, b := len([]rune(r)), len([]rune(rows[0])); a != b {
			t.Errorf("rows of %d and %d characters:\n%s", a, b, out)
		}
	}
}

// Where the words run out, those of positive score are the last size.
func TestFewerWords(t *testing.T) {
	out, errs := invoke(t, 0, synth("-k", "5", "-base", "400", "-factors", "1,2,4,8", "-json")...)
	lines := decode(t, out)
	if len(lines) != 2 || lines[1].Corpus.N <= 400 || lines[1].Corpus.N >= 800 {
		t.Fatalf("%d sizes, the last of %d words", len(lines), lines[len(lines)-1].Corpus.N)
	}
	if !strings.Contains(errs, "2× is 800 words, but") {
		t.Errorf("standard error is %q", errs)
	}
	// Words in more than half of the documents are not among them.
	c := curated(t, 0)
	if got := lines[1].Corpus.N; got != c.NumWords() {
		t.Errorf("%d words, of positive score are %d", got, c.NumWords())
	}
	_, errs = invoke(t, 1, synth("-k", "5", "-base", "4000")...)
	if !strings.Contains(errs, "largevocab: -base 4000: the corpus has only") {
		t.Errorf("standard error is %q", errs)
	}
}

var notReproducible = regexp.MustCompile(`"seconds":\{[^}]*\}(,"peak_rss_bytes":\d+)?`)

func TestWorkersAndMethods(t *testing.T) {
	results := make(map[string]string)
	for _, args := range []string{"-rectify lr -workers 1", "-rectify lr -workers 3", "-rectify enn", "-rectify ap"} {
		out, _ := invoke(t, 0, synth(append(strings.Fields(args), "-k", "5", "-base", "150", "-factors", "1,2", "-json")...)...)
		results[args] = notReproducible.ReplaceAllString(out, `"seconds":{}`)
	}
	if results["-rectify lr -workers 1"] != results["-rectify lr -workers 3"] {
		t.Error("-workers changes the result")
	}
	for _, name := range []string{"enn", "ap"} {
		// The same topics but for what the methods differ in.
		a, b := decode(t, results["-rectify lr -workers 1"]), decode(t, results["-rectify "+name])
		for i := range a {
			if x, y := float64(a[i].Recovery), float64(b[i].Recovery); !(math.Abs(x-y) <= 0.05*x) || b[i].Rectify != name {
				t.Errorf("%s: recovery %g, with lr %g", b[i].Rectify, y, x)
			}
		}
	}
}

func TestCosines(t *testing.T) {
	a := mat.NewDense(2, 3, []float64{3, 0, 0, 4, 1, 0})
	b := mat.NewDense(3, 2, []float64{4, 1, 9, 9, 3, 0}) // row 1 is of no word of a
	got := cosines(a, b, []int{2, 0})                    // a's word 0 is b's 2, its word 1 b's 0
	want := mat.NewDense(3, 2, []float64{1, 0.8, 0.8, 1, 0, 0})
	if !mat.EqualApprox(got, want, 1e-15) {
		t.Errorf("cosines\n%v\nwant\n%v", mat.Formatted(got), mat.Formatted(want))
	}
}

func TestUsage(t *testing.T) {
	ok := []string{"-docword", "d", "-vocab", "v", "-k", "5"}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"-docword is missing", "-vocab is missing", "-k is missing"}},
		{append(ok, "-k", "1"), []string{"-k 1"}},
		{append(ok, "-base", "4"), []string{"-k 5: more topics than words"}},
		{append(ok, "-base", "1"), []string{"-base 1"}},
		{append(ok, "-factors", "1,x"), []string{`"x" is not a number`}},
		{append(ok, "-factors", "2,4"), []string{"want 1 first"}},
		{append(ok, "-factors", "1,4,4"), []string{"4 does not exceed 4"}},
		{append(ok, "-factors", "1,999999999"), []string{"too many"}},
		{append(ok, "-factors", ""), []string{"is not a number"}},
		{append(ok, "-rectify", "dc"), []string{`-rectify "dc"`}},
		{append(ok, "-top", "0"), []string{"-top 0"}},
		{append(ok, "-workers", "-1"), []string{"-workers -1"}},
		{append(ok, "-nonsense"), []string{"-nonsense"}},
		{append(ok, "more"), []string{`unexpected argument "more"`}},
	} {
		out, errs := invoke(t, 2, c.args...)
		for _, want := range c.want {
			if !strings.Contains(errs, want) {
				t.Errorf("%q: %q does not say %q", c.args, errs, want)
			}
		}
		if out != "" {
			t.Errorf("%q: standard output holds %q", c.args, out)
		}
	}
	if _, errs := invoke(t, 0, "-help"); !strings.Contains(errs, "-factors") {
		t.Error("-help does not list the flags")
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	vocab := filepath.Join(dir, "vocab.txt")
	if err := os.WriteFile(vocab, []byte("a\nb\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"-docword none.txt -vocab " + vocab, "none.txt"},
		{"-docword " + vocab + " -vocab " + vocab, "vocab.txt:1"},
	} {
		out, errs := invoke(t, 1, append(strings.Fields(c.args), "-k", "2", "-quiet")...)
		if !strings.Contains(errs, c.want) || !strings.HasPrefix(errs, "largevocab: ") || out != "" {
			t.Errorf("%q: %q does not say %q", c.args, errs, c.want)
		}
	}
	_, errs := invoke(t, 1, synth("-k", "2", "-stop", "none.stops")...)
	if !strings.Contains(errs, "none.stops") {
		t.Errorf("%q does not name the file", errs)
	}
	// The error says for which size: C has not six dimensions here.
	docword := filepath.Join(dir, "docword.txt")
	for path, text := range map[string]string{
		vocab:   "a\nb\nc\nd\ne\nf\n",
		docword: "4\n6\n12\n1 1 2\n1 2 2\n1 3 2\n2 4 2\n2 5 2\n2 6 2\n3 1 2\n3 2 2\n3 3 2\n4 4 2\n4 5 2\n4 6 2\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, errs = invoke(t, 1, "-docword", docword, "-vocab", vocab, "-k", "6", "-base", "6", "-quiet")
	if !strings.HasPrefix(errs, "largevocab: 6 words: ") {
		t.Errorf("%q does not name the size", errs)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if got := run(ctx, synth("-k", "5", "-base", "150"), &out, &errs); got != 130 {
		t.Errorf("exit status %d, want 130", got)
	}
	if out.Len() > 0 || errs.String() != "largevocab: interrupted\n" {
		t.Errorf("printed %q and %q", out.String(), errs.String())
	}
}
