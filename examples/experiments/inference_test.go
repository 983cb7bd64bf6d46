package main

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// Where each word has a topic of its own there is nothing to infer: the proportions
// are α and the counts, added up.
func TestVariationalOfAnchors(t *testing.T) {
	b := mat.NewDense(4, 2, []float64{0.5, 0, 0.5, 0, 0, 0.25, 0, 0.75})
	alpha := []float64{0.5, 1.5}
	g := corpus.Generator{Topics: b, Prior: corpus.Dirichlet{Alpha: alpha}, Docs: 40, Lengths: []int{0, 1, 7, 100}, Seed: 1}
	c, _, err := g.Generate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w, err := variational(t.Context(), b, alpha, c, 2)
	if err != nil {
		t.Fatal(err)
	}
	for m := range c.NumDocs() {
		want := slices.Clone(alpha)
		words, counts := c.Doc(m)
		for i, n := range words {
			want[n/2] += float64(counts[i])
		}
		floats.Scale(1/floats.Sum(want), want)
		if !floats.EqualApprox(w.RawRowView(m), want, 1e-12) {
			t.Errorf("document %d: %v; want %v", m, w.RawRowView(m), want)
		}
	}
}

// Long documents from topics that share all words give their compositions back.
func TestVariationalOfLongDocuments(t *testing.T) {
	b := mat.NewDense(3, 3, []float64{0.8, 0.1, 0.2, 0.1, 0.7, 0.2, 0.1, 0.2, 0.6})
	alpha := []float64{1, 1, 1}
	for tokens, most := range map[int]float64{1000000: 0.01, 10000: 0.1} {
		g := corpus.Generator{Topics: b, Prior: corpus.Dirichlet{Alpha: alpha}, Docs: 20, Lengths: []int{tokens}, Seed: 1}
		c, truth, err := g.Generate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w, err := variational(t.Context(), b, alpha, c, 0)
		if err != nil {
			t.Fatal(err)
		}
		for m := range c.NumDocs() {
			if d := floats.Distance(truth.RawRowView(m), w.RawRowView(m), 1); !(d < most) {
				t.Errorf("%d tokens: %v; want %v", tokens, w.RawRowView(m), truth.RawRowView(m))
			}
		}
	}
}

// smallInference are the rows of an experiment on the synthetic corpus.
func smallInference(t *testing.T, k int, size inferenceSize) (*lab, []row) {
	t.Helper()
	o, err := parseFlags(small(t.TempDir(), "-run", "inference"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{options: o}
	s, err := l.source("synth")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := l.inference(t.Context(), s, k, size)
	if err != nil {
		t.Fatal(err)
	}
	return l, rows
}

// All methods are there and nearer to the truth than chance, no two are the same, and
// the page shows them.
func TestInference(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped under the race detector, which makes it take very long; package infer's tests run the same methods")
	}
	size := inferenceSize{Settings: []string{semiSynthetic, semiReal, fullyReal}, Docs: 100, Real: 60, Gibbs: infer.Gibbs{BurnIn: 5, Sweeps: 20}, Truth: infer.Gibbs{BurnIn: 20, Sweeps: 50}}
	l, rows := smallInference(t, 5, size)
	chance := make(map[string]float64)
	seen := make(map[float64]string)
	for _, r := range rows {
		if r["error"] != "" {
			t.Errorf("%v: %s", r["method"], r["error"])
			continue
		}
		id, l1 := r["setting"]+" "+r["part"], r.num("l1")
		switch r["method"] {
		case truthItself:
			if l1 != 0 || r.num("f1") != 1 {
				t.Errorf("%s: the truth has L1 = %v and F1 = %v", id, l1, r.num("f1"))
			}
			continue
		case random:
			chance[id] = l1
		case paddOther: // on drawn documents it has the A of others
		default:
			if !(l1 < chance[id]) {
				t.Errorf("%s: %s has L1 = %v, chance %v", id, r["method"], l1, chance[id])
			}
		}
		if other, ok := seen[l1]; ok {
			t.Errorf("%s: %s and %s have the same L1", id, r["method"], other)
		}
		seen[l1] = r["method"]
	}
	for _, x := range []struct {
		setting, part string
		want          int
	}{{semiSynthetic, training, 12}, {semiReal, training, 12}, {fullyReal, training, 11}, {fullyReal, unseen, 11}} {
		if got := len(where(rows, "setting", x.setting, "part", x.part)); got != x.want {
			t.Errorf("%s, %s: %d rows; want %d", x.setting, x.part, got, x.want)
		}
	}
	var page bytes.Buffer
	if err := section(&page, l, &tables{rows: map[string][]row{"inference": rows}}, inference, "", make(map[string]bool)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"inference-ss.png", "inference-sr.png", "| synth | PADD |", "| SPI has the best recall | lee-2018 Table 4.1 | 2 of 2 |"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, page.String())
		}
	}
}

// The error of SPI is its bias, whatever the length; that of least squares falls with
// it, and on documents of a few tokens SPI is ahead. The compositions drawn are as
// concentrated as the prior says: E Σw² = (α₀/K + 1)/(α₀ + 1).
func TestInferenceLengths(t *testing.T) {
	const k = 8
	l1 := make(map[int]map[string]float64)
	for _, tokens := range []int{10, 1000} {
		_, rows := smallInference(t, k, inferenceSize{Settings: []string{semiSynthetic}, Docs: 100, Tokens: tokens})
		l1[tokens] = make(map[string]float64)
		for _, r := range rows {
			l1[tokens][r["method"]] = r.num("l1")
			if want := (inferenceAlpha/k + 1) / (inferenceAlpha + 1); r["method"] == truthItself && !(math.Abs(r.num("square")-want) < 0.04) {
				// One Σw² has a standard deviation of about 0.1.
				t.Errorf("Σw² is %v; want %v", r.num("square"), want)
			}
		}
	}
	short, long := l1[10], l1[1000]
	if !(short[spi] < short[plainSquares]) || !(long[plainSquares] < 0.5*long[spi]) {
		t.Errorf("SPI %v and %v, least squares %v and %v", short[spi], long[spi], short[plainSquares], long[plainSquares])
	}
	if b := long[spiExact]; !(math.Abs(long[spi]-b) < 0.05*b) {
		t.Errorf("SPI of 1000 tokens is off by %v, of the exact probabilities by %v", long[spi], b)
	}
}

// PADD's A is the second moment of the prior.
func TestPriorMoment(t *testing.T) {
	alpha := []float64{1, 2, 3}
	a, err := priorMoment(corpus.Dirichlet{Alpha: alpha}, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range alpha {
		for j, y := range alpha {
			want := x * y / (6 * 7)
			if i == j {
				want += x / (6 * 7)
			}
			if got := a.At(i, j); !(math.Abs(got-want) < 0.005) {
				t.Errorf("A[%d, %d] is %v; want %v", i, j, got, want)
			}
		}
	}
}

func TestDoubling(t *testing.T) {
	if got := doubling([]int{5, 10, 15, 20, 25, 50, 75, 100}); !slices.Equal(got, []int{5, 10, 20, 50, 100}) {
		t.Error(got)
	}
}
