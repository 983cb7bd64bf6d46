package jsmf_test

import (
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/rectify"
)

// A model has the same bits on every CPU: these are of all. A change of the arithmetic remakes them, and
// counts arith.Version up.
func TestGoldenHash(t *testing.T) {
	c := withIDs(t, draw(t, themes(60, 4), corpus.SymmetricDirichlet(4, 0.2), 150))
	for name, x := range map[string]struct {
		p    jsmf.Pipeline
		want string
	}{
		"default":                {jsmf.New(4).Words(60), "054c72ff1fc9b0c3"},
		"published":              {jsmf.Published(4), "9afff5d4abc4c1d0"},
		"published, of low rank": {jsmf.Published(4).Rectify(rectify.LR{}), "6baa30415d39fd89"},
	} {
		m := fit(t, x.p, c)
		if name == "default" {
			u, err := jsmf.Bootstrap{Warm: 2, Cold: 2, Drawn: 2, Seed: 5}.Run(t.Context(), x.p, m, c)
			if err != nil {
				t.Fatal(err)
			}
			if m, err = m.With(jsmf.Additions{Uncertainty: u}); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := m.Hash(); err != nil || got[:16] != x.want {
			t.Errorf("%s: the hash of the model is %.16s, want %s (%v)", name, got, x.want, err)
		}
	}
}
