package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/metrics"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %.9g, want %.9g to %g", what, got, want, tol)
	}
}

// bag is a corpus of texts.
func bag(t *testing.T, texts ...string) *corpus.Corpus {
	t.Helper()
	var b corpus.Builder
	for m, x := range texts {
		if err := b.AddTokens(fmt.Sprint(m), "", strings.Fields(x)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// By hand, in the documents {a b} {b c} {c a} {b d} {a c} {c d}: P(a) = 3/6, P(b) = 3/6,
// P(c) = 4/6, P(d) = 2/6, P(ab) = 1/6, P(ac) = 2/6, P(bc) = 1/6, P(ad) = 0.
//
//	npmi(a, b) = ln((1/6)/(1/4))/ln 6 = −0.226294
//	npmi(a, c) = ln 1/ln 3            = 0
//	npmi(b, c) = ln((1/6)/(2/6))/ln 6 = −0.386853
//
// c_npmi of [a b c] is their third, −0.204382. The vectors of c_v are
// (1, −0.226294, 0), (−0.226294, 1, −0.386853), (0, −0.386853, 1) and their sum
// (0.773706, 0.386853, 0.613147), with cosines 0.631184, −0.021886 and
// 0.407692: c_v is 0.338997. In the documents {a b c} {b d} {a c d} P is 2/3 for each
// word, 2/3 for a with c and 1/3 for all other pairs: u_mass of [a b c d] is
// (5·ln ½ + ln 1)/6.
func TestListsByHand(t *testing.T) {
	// [a d] never meet: ln(10⁻¹²/(1/6))/(−ln 10⁻¹²).
	lists := [][]string{{"a", "b", "c"}, {"a", "d"}, {"a", "nowhere"}, {"c"}, {"a", "nowhere", "c"}}
	r, err := bagCoherence(t.Context(), lists, bag(t, "a b", "b c", "c a", "b d", "a c", "c d"))
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{-0.204382398, -0.935154062, 0, math.NaN(), 0} {
		if math.IsNaN(want) {
			if !math.IsNaN(r.CNPMI.Values[k]) || r.CNPMI.Undefined != 1 {
				t.Errorf("c_npmi of one word is %g", r.CNPMI.Values[k])
			}
			continue
		}
		near(t, fmt.Sprint("c_npmi ", k), r.CNPMI.Values[k], want, 1e-8)
	}
	near(t, "c_v", r.CV.Values[0], 0.338996506, 1e-8)
	// Two words without relation: each is the unit vector, ½√2 from their sum.
	near(t, "c_v of [a c] and one that is nowhere", r.CV.Values[4], math.Sqrt2/3, 1e-8)
	if !slices.Equal(r.Missing, []int{0, 0, 1, 0, 1}) {
		t.Errorf("missing %v", r.Missing)
	}
	r, err = bagCoherence(t.Context(), [][]string{{"a", "b", "c", "d"}}, bag(t, "a b c a", "b d", "a c d"))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "u_mass", r.UMass.Mean, 5*math.Log(0.5)/6, 1e-8)
	// P(ac) = 2/3 is ln(3/2)/ln(3/2), the others ln(3/4)/ln 3.
	near(t, "c_npmi of texts", r.CNPMI.Values[0], (1+5*math.Log(0.75)/math.Log(3))/6, 1e-8)
}

// How the forms of the library's papers relate to those of Röder et al., on a
// corpus in which all pairs meet.
func TestListsAndPapers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n, k, top = 30, 3, 8
	var b corpus.Builder
	for m := range 400 {
		var doc []string
		for range 20 {
			doc = append(doc, fmt.Sprintf("w%02d", rng.IntN(n)))
		}
		if err := b.AddTokens(fmt.Sprint(m), "", doc); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	topics := mat.NewDense(n, k, nil)
	for j := range k {
		s := 0.0
		for i := range n {
			topics.Set(i, j, rng.Float64())
			s += topics.At(i, j)
		}
		for i := range n {
			topics.Set(i, j, topics.At(i, j)/s)
		}
	}
	lists, err := metrics.TopLists(topics, top)
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := cooc.CountPairs(context.Background(), c, metrics.TopUnion(topics, top))
	if err != nil {
		t.Fatal(err)
	}
	r, err := metrics.Evaluate(t.Context(), metrics.Factors{B: topics, Pairs: pairs, TopN: top})
	if err != nil {
		t.Fatal(err)
	}
	u := uMass(lists, pairs)
	npmi := cNPMI(lists, pairs)
	for j := range k {
		// ε: 0.01 documents where a pair meets in at least 60.
		near(t, "Coherence", r.Coherence.Values[j], u.Values[j]*top*(top-1)/2, 0.01/60*top*(top-1)/2)
		near(t, "NPMI", r.NPMI.Values[j], npmi.Values[j], 1e-9)
	}
}

func TestListCoherenceErrors(t *testing.T) {
	if _, err := bagCoherence(t.Context(), [][]string{{"a", "b"}}, nil); err == nil || !strings.Contains(err.Error(), "no corpus") {
		t.Errorf("without documents: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bagCoherence(gone, [][]string{{"a", "b"}}, bag(t, "a b")); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %v", err)
	}
}
