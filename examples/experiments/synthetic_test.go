package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// smallSynthetic draws from K topics of the synthetic corpus.
func smallSynthetic(t *testing.T, k int) *knownTopics {
	t.Helper()
	l := &lab{options: options{data: testutil.Path(), stop: testutil.Path("synth", "synth.stops"), corpora: []string{"synth"}, topics: []int{k}, names: []string{"synthetic"},
		out: t.TempDir(), formats: []string{"png"}, small: 100, sweeps: 20, seed: 1}}
	s, err := l.source("synth")
	if err != nil {
		t.Fatal(err)
	}
	return &knownTopics{lab: l, source: s, k: k}
}

// What arora-2013 §5.3 and §5.4 find: more documents help; with a word of its own for
// each topic and infinitely many documents inverse and L2 are exact, L2+ExpGrad and KL
// nearly; without, none is.
func TestSynthetic(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("some seconds of fits")
	}
	x := smallSynthetic(t, 4)
	made := &tables{rows: make(map[string][]row)}
	for _, d := range []drawing{{tokens: syntheticTokens}, {tokens: syntheticTokens, anchors: true}} {
		rows, err := x.limit(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		for _, docs := range []int{100, 800} {
			for _, fit := range []func(ctx context.Context, tr *drawnDocs) ([]row, error){
				func(ctx context.Context, tr *drawnDocs) ([]row, error) { return x.spectral(ctx, tr, tr.number == 0) },
				x.sampled,
			} {
				more, err := x.trials(t.Context(), d, docs, 2, fit)
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, more...)
			}
		}
		made.rows["synthetic"] = append(made.rows["synthetic"], rows...)
		guess := where(rows, "method", "uniform")[0].num("b_l1")
		for _, m := range syntheticNames() {
			few, many := where(rows, "method", m, "documents", 100, "trial", 0)[0], where(rows, "method", m, "documents", 800, "trial", 0)[0]
			if !(many.num("b_l1") < few.num("b_l1")) || !(few.num("b_l1") < guess/2) {
				t.Errorf("%s, %s: 100 documents %v, 800 %v, a guess %v", d.topics(), m, few["b_l1"], many["b_l1"], guess)
			}
		}
		for _, m := range []struct {
			name  string
			exact bool
		}{{"inverse", true}, {"L2", true}, {"L2+ExpGrad", false}, {"KL", false}} {
			v := where(rows, "method", m.name, "documents", infinite)[0].num("b_l1")
			if zero := v <= nearZero; zero != (m.exact && d.anchors) || v > nearlyZero {
				t.Errorf("%s, %s: %v from the true C", d.topics(), m.name, v)
			}
		}
		for _, r := range where(rows, "method", gibbs) {
			if !(r.num("b_l1") < 0.7*guess) {
				t.Errorf("Gibbs sampling, %s documents: %v, a guess %v", r["documents"], r["b_l1"], guess)
			}
		}
	}
	if err := write(x.lab, made); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(x.out, pageName))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"(synthetic.png)", "(synthetic-measures.png)", "| 4, anchors added | L2 | 0.", "is zero when it is solved exactly | here | 1 of 1 |"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// The moments of a logistic-normal prior of equal topics: each has the share 1/K, and
// those of a group are correlated.
func TestSyntheticMoments(t *testing.T) {
	const k = 2 * correlated
	a, err := drawing{variance: 1, rho: 0.5}.moments(k, 3)
	if err != nil {
		t.Fatal(err)
	}
	within, between := 0.0, 0.0 // sums off the diagonal
	for i := range k {
		if s := floats.Sum(mat.Row(nil, i, a)); math.Abs(s-1.0/k) > 1e-3 { // standard errors are below 2e-4
			t.Errorf("the share of topic %d is %g", i, s)
		}
		for j := range i {
			if i/correlated == j/correlated {
				within += a.At(i, j) / (correlated * (correlated - 1))
			} else {
				between += a.At(i, j) / (correlated * correlated)
			}
		}
	}
	// exp(ρ) times as much, up to the common divisor.
	if !(within > 1.2*between) || math.Abs(mat.Sum(a)-1) > 1e-9 {
		t.Errorf("two topics of a group have %g in A, others %g; the sum is %g", within, between, mat.Sum(a))
	}
}

// Each cell has a key of its own. Of two corpora the first has the short documents.
func TestPlanSynthetic(t *testing.T) {
	x := smallSynthetic(t, 4)
	x.corpora = []string{"tiny", "synth"}
	cells, err := planSynthetic(t.Context(), x.lab)
	if err != nil {
		t.Fatal(err)
	}
	keys := make(map[string]bool)
	for _, c := range cells {
		keys[c.key()] = true
		if tiny := strings.Contains(c.String(), "corpus=tiny"); tiny != strings.Contains(c.String(), "tokens=70") {
			t.Errorf("%s", c)
		}
	}
	if len(keys) != len(cells) || len(cells) < 30 {
		t.Errorf("%d cells with %d keys", len(cells), len(keys))
	}
}

// Claims are counted by trials of the same documents; what fails is worse than all else.
func TestSyntheticClaims(t *testing.T) {
	made := &tables{rows: make(map[string][]row)}
	add := func(rho, trial any, method string, distance any) {
		r := row{"tokens": "300", "topics": asSampled, "documents": "500", "method": method}
		if s, ok := distance.(string); ok {
			r["error"] = s
		} else {
			r.set("b_l1", distance)
		}
		if rho != nil {
			r.set("variance", 1).set("rho", rho)
		}
		made.rows["synthetic"] = append(made.rows["synthetic"], r.set("trial", trial))
	}
	for i, v := range []float64{0.3, 0.4, 0.5, 0.1} {
		add("0.05", i, "L2", 0.2)
		add("0.1", i, "L2", v)
	}
	add("0.1", 4, "L2", 9.0) // its documents were drawn with no other ρ
	add(nil, 0, "L2", 0.2)
	add(nil, 0, "inverse", 0.1)
	add(nil, 1, "L2", 0.2)
	add(nil, 1, "inverse", "singular")
	for text, want := range map[string][2]int{
		"the error of L2 is larger with ρ = 0.1 than with ρ = 0.05":                                          {3, 4},
		"on finite data Recover (inverse) performs poorly: its error is larger than that of L2, or it fails": {1, 2},
		"L2, KL and Gibbs sampling are worse than on the documents of Figure 2":                              {2, 4},
	} {
		found := false
		for _, c := range syntheticClaims() {
			if c.text == text {
				found = true
				if yes, of := c.holds(made); [2]int{yes, of} != want {
					t.Errorf("%s: %d of %d; want %v", text, yes, of, want)
				}
			}
		}
		if !found {
			t.Errorf("there is no claim %q", text)
		}
	}
}
