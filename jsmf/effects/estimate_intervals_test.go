package effects

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

// The fewer documents a level has, the wider are its intervals, even if they are all alike.
// Documents without a value are missing.
func TestEstimateFew(t *testing.T) {
	c := texts(t, 200, 40, 3)
	p, m := fitted(t, c, 3)
	var values [][]corpus.Value
	for i := range 200 {
		level := "many"
		switch {
		case i == 3:
			level = "one"
		case i == 10 || i == 50:
			level = "two"
		case i%5 == 0:
			level = "some"
		}
		v := corpus.CategoryOf(level)
		if i >= 190 {
			v = corpus.Value{}
		}
		values = append(values, []corpus.Value{v})
	}
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "level", Kind: corpus.Category}}, values)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.WithMetadata(meta); err != nil {
		t.Fatal(err)
	}
	s := Study{Terms: []Term{Category("level")}, Bootstrap: jsmf.Bootstrap{Warm: 30}}
	e, err := s.Run(ctx, p, m, c)
	if err != nil {
		t.Fatal(err)
	}
	if e.Documents != 190 || e.Missing != 10 {
		t.Errorf("%d documents and %d missing", e.Documents, e.Missing)
	}
	width := map[string]float64{}
	for i, pt := range e.Terms[0].Points {
		for _, x := range e.Terms[0].Differences[i] {
			width[pt.Label] += (x.High - x.Low) / 3
		}
		if x := e.Terms[0].Predictions[i][0]; math.IsNaN(x.Value) {
			t.Errorf("%s has no prediction", pt.Label)
		}
	}
	// A single one is told by all others alone: 1.96 standard deviations of a share of three, which
	// is 0.37 for the prior of these documents, on both sides.
	if one, two, some, many := width["one"], width["two"], width["some"], width["many"]; !(one > 1.2 && one > two && two > 2*some && some > many) {
		t.Errorf("widths %v", width)
	}
}

// Intervals of 95 % hold the shares that documents were drawn with, and a column that says
// nothing seems to matter about as seldom as it should. Of 72 intervals 3.6 miss on
// average, and more than 10 with a probability of 0.3 % if they are independent; intervals of
// half the width miss 24.
func TestEstimateCovers(t *testing.T) {
	testutil.NotWithRace(t)
	truth := []float64{0.5, 0.3, 0.2}
	missed, matters := 0, 0
	for seed := range uint64(24) {
		c, _, err := corpus.Generator{Topics: themes(60, 3), Prior: corpus.Dirichlet{Alpha: truth}, Docs: 120, Lengths: []int{100}, Seed: seed}.Generate(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var values [][]corpus.Value
		for m := range c.NumDocs() {
			values = append(values, []corpus.Value{corpus.CategoryOf([]string{"odd", "even"}[m%2])})
		}
		meta, err := corpus.NewMetadata([]corpus.Column{{Name: "parity", Kind: corpus.Category}}, values)
		if err == nil {
			c, err = c.WithMetadata(meta)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, m := fitted(t, c, 3)
		e, err := Study{Terms: []Term{Category("parity")}, Bootstrap: jsmf.Bootstrap{Warm: 30, Seed: seed}}.Run(ctx, p, m, c)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(e.Shares, func(a, b jsmf.Interval) int { return -cmp.Compare(a.Value, b.Value) })
		for k, x := range e.Shares {
			if truth[k] < x.Low || truth[k] > x.High {
				missed++
			}
			if x := e.Terms[0].Differences[0][k]; x.Low > 0 || x.High < 0 {
				matters++
			}
		}
	}
	if missed > 10 || matters > 10 {
		t.Errorf("of 72 intervals each, %d miss the share and %d see an effect where there is none", missed, matters)
	}
	t.Logf("%d miss the share, %d see an effect", missed, matters)
}
