package jsmf_test

import (
	"testing"

	"github.com/jsmf-go/spectral/jsmf"
)

// An anchor of a separable model is in its topic only, and so among its words of most lift.
func TestAnchorsHaveLift(t *testing.T) {
	_, docs := planted(60, 4, 400)
	m := fit(t, jsmf.Published(4), countsCorpus(t, 60, docs))
	p := m.Marginals()
	for k, w := range m.Anchors() {
		lift := func(i int) float64 { return m.Topics().At(i, k) / p[i] }
		more := 0
		for i := range m.N() {
			if lift(i) > lift(w) {
				more++
			}
		}
		if more > 6 {
			t.Errorf("%d words have more lift in topic %d than its anchor %s", more, k, m.Word(w))
		}
	}
}
