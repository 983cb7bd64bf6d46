package effects

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

// The fewer documents a level has, the wider are its intervals, even if they are all alike; of fewer
// than ten, or of fewer than ten clusters, nothing is told. Documents without a value are missing.
func TestEstimateFew(t *testing.T) {
	testutil.NotWithRace(t)
	c := texts(t, 400, 40, 3)
	p, m := fitted(t, c, 3)
	var values [][]corpus.Value
	for i := range 400 {
		level, author := "many", fmt.Sprint(i/4)
		switch {
		case i < 9:
			level, author = "nine", fmt.Sprint("one of nine ", i)
		case i < 20:
			level, author = "eleven", fmt.Sprint("one of eleven ", i)
		case i < 60:
			level, author = "forty by one", "one"
		case i < 100:
			level, author = "forty", ""
		}
		v := []corpus.Value{corpus.CategoryOf(level), corpus.CategoryOf(author)}
		if author == "" {
			v[1] = corpus.Value{}
		}
		if i >= 390 {
			v[0] = corpus.Value{}
		}
		values = append(values, v)
	}
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "level", Kind: corpus.Category}, {Name: "author", Kind: corpus.Category}}, values)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.WithMetadata(meta); err != nil {
		t.Fatal(err)
	}
	s := Study{Terms: []Term{Category("level")}, Bootstrap: jsmf.Bootstrap{Warm: 30, Cluster: "author"}}
	e, err := s.Run(ctx, p, m, c)
	if err != nil {
		t.Fatal(err)
	}
	if e.Documents != 390 || e.Missing != 10 || e.Units != 9+11+1+40+(390-100+3)/4 {
		t.Errorf("%d documents in %d units and %d missing", e.Documents, e.Units, e.Missing)
	}
	width, units := map[string]float64{}, map[string]int{}
	for i, pt := range e.Terms[0].Points {
		units[pt.Label] = pt.Units
		for k, x := range e.Terms[0].Differences[i] {
			width[pt.Label] += (x.High - x.Low) / 3
			if y := e.Terms[0].Predictions[i][k]; pt.Few() != math.IsNaN(y.Value) || pt.Few() != math.IsNaN(x.Value) || pt.Few() != math.IsNaN(x.Low) {
				t.Errorf("%s of %d units: %+v and %+v", pt.Label, pt.Units, y, x)
			}
		}
	}
	if want := map[string]int{"nine": 9, "eleven": 11, "forty by one": 1, "forty": 40, "many": 73}; !maps.Equal(units, want) {
		t.Errorf("units %v, want %v", units, want)
	}
	if !math.IsNaN(width["nine"]) || !math.IsNaN(width["forty by one"]) || !(width["eleven"] > 1.3*width["forty"] && width["forty"] > width["many"]) {
		t.Errorf("widths %v", width)
	}
}

// Intervals of 95 % hold the shares that documents were drawn with, and a column that says
// nothing seems to matter about as seldom as it should. Of 36 intervals 1.8 miss on
// average, and more than 6 with a probability of 0.2 % if they are independent; intervals of
// half the width miss 12.
func TestEstimateCovers(t *testing.T) {
	testutil.NotWithRace(t)
	truth := []float64{0.5, 0.3, 0.2}
	missed, matters := 0, 0
	for seed := range uint64(6) {
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
	if missed > 3 || matters > 3 {
		t.Errorf("of 18 intervals each, %d miss the share and %d see an effect where there is none", missed, matters)
	}
	t.Logf("%d miss the share, %d see an effect", missed, matters)
}
