package jsmf_test

import (
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/jsmf"
)

// An anchor of a separable model is in its topic only, and so among its words of most lift.
func TestAnchorsHaveLift(t *testing.T) {
	_, docs := planted(60, 4, 400)
	m := fit(t, jsmf.Published(4), countsCorpus(t, 60, docs))
	p := m.Marginals()
	for k, w := range m.Anchors() {
		if most := wordsBy(m, 7, func(i int) float64 { return m.Topics().At(i, k) / p[i] }); !slices.Contains(most, w) {
			t.Errorf("the anchor %s of topic %d is not among the words of most lift %v", m.Word(w), k, most)
		}
	}
}
