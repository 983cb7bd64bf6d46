package jsmf_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// An anchor of a separable model is in its topic only, and so among its words of most lift.
func TestAnchorsHaveLift(t *testing.T) {
	_, docs := planted(60, 4, 400)
	m := fit(t, jsmf.Published(4), countsCorpus(t, 60, docs))
	ranked, err := metrics.RankWords(mat.DenseCopyOf(m.Topics()), m.Marginals(), metrics.ByLift{}, 7)
	if err != nil {
		t.Fatal(err)
	}
	for k, w := range m.Anchors() {
		if !slices.ContainsFunc(ranked[k], func(x metrics.RankedWord) bool { return x.Word == w }) {
			t.Errorf("the anchor %s of topic %d is not among the words of most lift %v", m.Word(w), k, ranked[k])
		}
	}
}
