package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/examples/internal/clitest"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/rectify"
)

// invoke runs the program; see clitest.
var invoke = clitest.Program(run).Invoke

// l1 reads the table: the mean distance by setting, documents and method, +Inf
// where the method failed.
func l1(t *testing.T, out string) map[[3]string]float64 {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(rows[0], ",") != strings.Join(header, ",") {
		t.Fatalf("header %q", rows[0])
	}
	m := map[[3]string]float64{}
	for _, r := range rows[1:] {
		v, err := strconv.ParseFloat(r[3], 64)
		if r[3] == "" && strings.HasPrefix(r[6], "recovery: ") {
			v, err = math.Inf(1), nil
		}
		if err != nil {
			t.Fatalf("%q: %v", r, err)
		}
		m[[3]string(r)] = v
	}
	return m
}

// What arora-2013 §5.3–5.5 finds: more documents help; the inverse is far worse
// than the others on finite ones; with a word of its own for each topic all
// methods are exact on infinitely many, KL and L2 but for their tolerance;
// without, they are not.
func TestFigures(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("skipped: a few seconds of computing, which the short test does in small")
	}
	out, _ := invoke(t, 0, "-n", "200", "-k", "10", "-docs", "300,3000", "-settings", "dirichlet,anchors,rho=0.1", "-length", "60", "-format", "csv")
	t.Log("\n" + out)
	m := l1(t, out)
	for _, s := range []string{"dirichlet", "anchors", "rho=0.1"} {
		for _, method := range []string{"l2", "kl", "activeset"} {
			few, many := m[[3]string{s, "300", method}], m[[3]string{s, "3000", method}]
			inf, guess := m[[3]string{s, "infinite", method}], m[[3]string{s, "", "uniform"}]
			if !(few > many && many > inf && few < guess && few > 0) {
				t.Errorf("%s, %s: 300 documents %.3f, 3000 %.3f, infinite %.4f, guessing %.3f", s, method, few, many, inf, guess)
			}
			for _, docs := range []string{"300", "3000"} {
				if inverse := m[[3]string{s, docs, "inverse"}]; !(inverse > m[[3]string{s, docs, method}]) {
					t.Errorf("%s, %s documents: the inverse has %.3f, %s %.3f", s, docs, inverse, method, m[[3]string{s, docs, method}])
				}
			}
		}
	}
	for method, tol := range map[string]float64{"inverse": 1e-6, "activeset": 1e-6, "l2": 5e-3, "kl": 5e-3} {
		if v := m[[3]string{"anchors", "infinite", method}]; v > tol {
			t.Errorf("anchors, infinite, %s: %g", method, v)
		}
		if v := m[[3]string{"dirichlet", "infinite", method}]; v < 0.01 {
			t.Errorf("no anchors, infinite, %s: %g", method, v)
		}
	}
}

// The same numbers each time and from any number of workers, in both formats,
// from all kinds of topics.
func TestSmall(t *testing.T) {
	small := []string{"-n", "60", "-k", "4", "-docs", "200", "-settings", "dirichlet,anchors", "-length", "30", "-methods", "inverse,activeset"}
	strip := func(out string) string { // the seconds
		var b strings.Builder
		for s := range strings.Lines(out) {
			f := strings.Split(s, "|")
			if len(f) == 9 {
				f[6] = ""
			}
			b.WriteString(strings.Join(f, "|"))
		}
		return b.String()
	}
	a, _ := invoke(t, 0, small...)
	b, _ := invoke(t, 0, append(small, "-workers", "1")...)
	if strip(a) != strip(b) || !strings.Contains(a, "| dirichlet | infinite | activeset |") {
		t.Errorf("%s\n%s", a, b)
	}
	c, _ := invoke(t, 0, append(small, "-rectify", "ap", "-format", "csv")...)
	if v := l1(t, c)[[3]string{"anchors", "infinite", "activeset"}]; v > 1e-3 {
		t.Errorf("rectified, anchors, infinite: %g", v)
	}

	corp := []string{"-docword", testutil.Path("synth", "docword.synth.txt.gz"), "-vocab", testutil.Path("synth", "vocab.synth.txt"), "-stop", testutil.Path("synth", "synth.stops")}
	d, _ := invoke(t, 0, append(corp, "-n", "100", "-k", "4", "-docs", "100", "-settings", "dirichlet", "-methods", "activeset", "-format", "csv")...)
	if len(l1(t, d)) != 3 {
		t.Errorf("%s", d)
	}
	m, err := jsmf.Published(3).Rectify(rectify.AP{Iterations: 1}).Fit(context.Background(), golden.Corpus(t, "tiny"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tiny.jsmf")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	e, _ := invoke(t, 0, "-model", path, "-docs", "500", "-settings", "dirichlet", "-methods", "activeset", "-format", "csv", "-anchor-min-fraction", "0")
	if v := l1(t, e)[[3]string{"dirichlet", "infinite", "activeset"}]; !(v < 1e-6) { // its anchors are separable
		t.Errorf("the topics of a model, infinite: %g", v)
	}

	// An error of a method stands in the table.
	f, _ := invoke(t, 0, "-n", "40", "-k", "12", "-docs", "5", "-settings", "dirichlet", "-length", "4", "-anchor-min-fraction", "0")
	if !strings.Contains(f, "anchor: ") && !strings.Contains(f, "recovery: ") {
		t.Errorf("no error in\n%s", f)
	}
}

func TestBad(t *testing.T) {
	for _, c := range [][2]string{
		{"-docs=x", "not a number"}, {"-docs=0", "-docs 0: want at least 1"}, {"-settings=other", "rho=R"}, {"-settings=rho=x", "variance"}, {"-settings=rho=9", "variance"},
		{"-methods=gibbs", "want inverse"}, {"-rectify=enn", "want none"}, {"-format=tex", "md or csv"}, {"-alpha=0", "-alpha"}, {"-variance=-1", "-variance"},
		{"-length=1", "-length"}, {"-k=1", "-k"}, {"-docword=d", "belong together"}, {"-anchor-min-fraction=2", "-anchor-min-fraction"}, {"more", "unexpected"},
	} {
		if _, errs := invoke(t, 2, c[0]); !strings.Contains(errs, c[1]) {
			t.Errorf("%s: %s", c[0], errs)
		}
	}
	if _, errs := invoke(t, 1, "-k", "5", "-n", "50", "-docs", "50", "-settings", "rho=0.1"); !strings.Contains(errs, "10 groups") {
		t.Error(errs)
	}
	invoke(t, 1, "-model", filepath.Join(t.TempDir(), "none"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if got := run(ctx, []string{"-n", "50", "-k", "5", "-docs", "50", "-settings", "dirichlet"}, &out, &errs); got != 130 {
		t.Errorf("cancelled: %d, %s", got, errs.String())
	}
}

// The moments of a prior without a formula are those of its draws: of a
// logistic-normal prior of equal topics, a_k = 1/K.
func TestMoments(t *testing.T) {
	o := options{variance: 1}
	p, err := prior(o, setting{name: "rho=0.5", normal: true, rho: 0.5}, mat.NewDense(30, 20, nil))
	if err != nil {
		t.Fatal(err)
	}
	a, err := moments(p, 20, 3)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(mat.Sum(a)-1) > 1e-12 {
		t.Errorf("A sums to %g", mat.Sum(a))
	}
	for i := range 20 {
		// Standard errors are below 0.1/√200000 = 2e-4.
		s := 0.0
		for _, v := range mat.Row(nil, i, a) {
			s += v
		}
		if math.Abs(s-0.05) > 1e-3 {
			t.Errorf("share %d is %g", i, s)
		}
	}
	if !(a.At(0, 1) > a.At(0, 2)) || !(a.At(18, 19) > a.At(17, 18)) {
		t.Errorf("topics of a group are not correlated: %.4g", mat.Formatted(a))
	}
}
