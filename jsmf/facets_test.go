package jsmf_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// Topics named by the user on the synthetic corpus: facets of two planted
// anchors of one topic each. The words of a facet are its topic's, the topic is
// the planted one, and the model keeps the facets when saved.
func TestTandem(t *testing.T) {
	testutil.NotWithRace(t)
	c := golden.Corpus(t, "synth")
	facets := [][]string{{"anchor_08_0", "anchor_08_1"}, {"anchor_14_1", "anchor_14_0"}, {"anchor_02_0"}}
	p := jsmf.Published(10).Rectify(rectify.AP{Iterations: 15}).Anchors(anchor.Tandem{Groups: facets, Complete: anchor.QR{}})
	m := fit(t, p, c)
	if w := jsmf.AnchorWords(m); w[0] != "anchor_08_0" || w[1] != "anchor_14_1" || w[2] != "anchor_02_0" || m.K() != 10 {
		t.Errorf("anchors %q", w)
	}
	for k, f := range m.AnchorGroups() {
		var words []string
		for _, w := range f {
			words = append(words, m.Word(w))
		}
		if k < 2 && !slices.Equal(words, facets[k]) || k >= 2 && words != nil {
			t.Errorf("facet %d is %q", k, words)
		}
		for _, w := range f {
			if own := m.WordTopics().At(w, k); own < 0.5 {
				t.Errorf("word %s belongs to topic %d by %.2g only", m.Word(w), k, own)
			}
		}
	}
	if sum := mat.Sum(m.Correlations()); math.Abs(sum-1) > 0.1 {
		t.Errorf("A sums to %g", sum)
	}
	// The same anchors without facets.
	single := fit(t, p.Anchors(anchor.Fixed{Words: []string{"anchor_08_0", "anchor_14_1", "anchor_02_0"}, Complete: anchor.QR{}}), c)
	if single.AnchorGroups() != nil || !slices.Equal(single.Anchors()[:3], m.Anchors()[:3]) {
		t.Errorf("without facets: %v, facets %v", jsmf.AnchorWords(single), single.AnchorGroups())
	}
	file := encoded(t, m)
	got, err := jsmf.ReadModel(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.AnchorGroups(), m.AnchorGroups()) || !bytes.Equal(encoded(t, got), file) {
		t.Errorf("facets %v, read %v", m.AnchorGroups(), got.AnchorGroups())
	}
	if bytes.Contains(encoded(t, single), []byte("FACT")) {
		t.Error("a section of facets in a model without")
	}
	for _, w := range []int{1, 3} {
		if !bytes.Equal(encoded(t, fit(t, p.Workers(w), c)), file) {
			t.Errorf("%d workers change the model", w)
		}
	}
}

func TestFixedAnchorsOfThePipeline(t *testing.T) {
	testutil.NotWithRace(t)
	c := golden.Corpus(t, "synth")
	p := jsmf.Published(3).Rectify(rectify.None{})
	words := []string{"anchor_02_0", "anchor_18_0", "anchor_06_0"}
	m := fit(t, p.Anchors(anchor.Fixed{Words: words}), c)
	if !slices.Equal(jsmf.AnchorWords(m), words) {
		t.Errorf("anchors %q", jsmf.AnchorWords(m))
	}
	if n := fit(t, p.Anchors(anchor.Fixed{Numbers: m.Anchors()}), c); !slices.Equal(jsmf.AnchorWords(n), words) {
		t.Errorf("by number %q", jsmf.AnchorWords(n))
	}
	var ue *anchor.UnknownWordError
	_, err := p.Anchors(anchor.Fixed{Words: []string{"anchor_02_0", "anchor_180_", "w_0001"}}).Fit(ctx, c)
	if !errors.As(err, &ue) || ue.Words[0] != "anchor_180_" || !slices.Contains(ue.Near[0], "anchor_18_0") {
		t.Errorf("an unknown word: %v", err)
	}
	if err := p.Anchors(anchor.Fixed{Words: []string{"a", "a"}}).Validate(nil); err == nil || !strings.Contains(err.Error(), `"a" is given`) {
		t.Errorf("Validate: %v", err)
	}
	if err := p.Anchors(anchor.Tandem{Groups: [][]string{{"a"}}, Complete: anchor.SNPA{Tol: 2}}).Validate(nil); err == nil || !strings.Contains(err.Error(), "Tol 2") {
		t.Errorf("Validate: %v", err)
	}
}

// Recoveries that need words are refused with facets, and so are rows without
// entries.
func TestTandemRefused(t *testing.T) {
	c := golden.Corpus(t, "synth")
	p := jsmf.Published(4).Rectify(rectify.None{}).Anchors(anchor.Tandem{Groups: [][]string{{"anchor_08_0", "anchor_08_1"}}, Complete: anchor.QR{}})
	if _, err := p.Recover(recovery.KL{}).Fit(ctx, c); err == nil || !strings.Contains(err.Error(), "KL takes anchor words, but topic 0 has a point") {
		t.Errorf("KL: %v", err)
	}
	if _, err := p.Rectify(rectify.TruncatedEig{}).Fit(ctx, c); err == nil || !strings.Contains(err.Error(), "low-rank rows") {
		t.Errorf("low-rank rows: %v", err)
	}
}

// Words keep the numbers the caller knows them by where some rows are empty,
// with names and without.
func TestGivenAnchorsAmongEmptyRows(t *testing.T) {
	pm := testutil.NewPlanted(30, 3, 0.3, 45)
	at := func(i int) int { return i + i/10 + 1 } // 0, 11, 22, 33 are empty
	n := at(29) + 1
	a := mat.NewDense(n, n, nil)
	vocab := make([]string, n)
	for i := range vocab {
		vocab[i] = fmt.Sprintf("w%d", i)
	}
	for i := range 30 {
		for j := range 30 {
			a.Set(at(i), at(j), pm.C.At(i, j))
		}
	}
	var anchors []int
	var names, numbers []string
	for _, w := range pm.Anchors {
		anchors = append(anchors, at(w))
		names, numbers = append(names, fmt.Sprintf("w%d", at(w))), append(numbers, fmt.Sprint(at(w)))
	}
	p := jsmf.Published(3).Rectify(rectify.None{})
	for i, x := range []struct {
		f     anchor.Finder
		words []string
	}{
		{anchor.Fixed{Numbers: anchors}, nil},
		{anchor.Fixed{Words: numbers}, nil},
		{anchor.Fixed{Words: names}, vocab},
		{anchor.Fixed{Numbers: anchors}, vocab},
	} {
		m, err := p.Anchors(x.f).Fit(ctx, named(t, matrixOf(t, a), x.words))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.Anchors(), anchors) {
			t.Errorf("%d: anchors %v, want %v", i, m.Anchors(), anchors)
		}
	}
	if _, err := p.Anchors(anchor.Fixed{Numbers: []int{anchors[0], 11, anchors[1]}}).Fit(ctx, matrixOf(t, a)); err == nil || !strings.Contains(err.Error(), "word 11 has an empty co-occurrence row") {
		t.Errorf("an empty row: %v", err)
	}
	// A facet of two words that share all there is.
	var other int
	for other = range 30 {
		if !slices.Contains(pm.Anchors, other) {
			break
		}
	}
	f := anchor.Tandem{Groups: [][]string{{numbers[0], fmt.Sprint(at(other))}}, Complete: anchor.QR{}}
	m, err := p.Anchors(f).Fit(ctx, matrixOf(t, a))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.AnchorGroups(); !slices.Equal(got[0], []int{anchors[0], at(other)}) || got[1] != nil {
		t.Errorf("facets %v, want %v first", got, []int{anchors[0], at(other)})
	}
}
