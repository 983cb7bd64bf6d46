package jsmf_test

import (
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// Labels of a model are those of its matrices.
func TestLabels(t *testing.T) {
	_, docs := planted(60, 4, 400)
	m := fit(t, jsmf.Published(4), countsCorpus(t, 60, docs))
	for _, r := range []metrics.Ranking{nil, metrics.ByFREX{}, metrics.ByLift{}, metrics.ByRelevance{}} {
		got, err := m.Labels(r, 7)
		if err != nil {
			t.Fatal(err)
		}
		want, err := metrics.RankWords(mat.DenseCopyOf(m.Topics()), m.Marginals(), r, 7)
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			if len(got[k]) != len(want[k]) {
				t.Fatalf("%v: %d labels, want %d", r, len(got[k]), len(want[k]))
			}
			for i, w := range want[k] {
				if g := got[k][i]; g.Index != w.Word || g.Word != fmt.Sprintf("w%d", w.Word) || g.Prob != w.Prob {
					t.Errorf("%v: %+v, want %+v", r, g, w)
				}
			}
			if r == nil && !slices.Equal(got[k], m.TopWords(k, 7)) {
				t.Errorf("by probability: %v", got[k])
			}
		}
		// An anchor of a separable model is in its topic only.
		if _, ok := r.(metrics.ByLift); ok {
			for k, w := range m.AnchorWords() {
				if !slices.ContainsFunc(got[k], func(l jsmf.WordProb) bool { return l.Word == w }) {
					t.Errorf("the anchor %s of topic %d is not among the labels of most lift %v", w, k, got[k])
				}
			}
		}
	}
	if _, err := m.Labels(nil, -1); err == nil {
		t.Error("no labels, and no error")
	}
}
