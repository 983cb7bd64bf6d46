package effects

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// Drawn documents hold the effects that the model has found; fits find them again, and what they are off
// by goes into the intervals, to the same bits for any number of goroutines.
func TestEstimateDrawn(t *testing.T) {
	testutil.NotWithRace(t)
	c := texts(t, 600, 30, 3)
	p, m := fitted(t, c, 3)
	s := study
	without, err := s.Run(ctx, p, m, c)
	if err != nil {
		t.Fatal(err)
	}
	s.Bootstrap.Drawn = 3
	e, err := s.Run(ctx, p, m, c)
	if err != nil {
		t.Fatal(err)
	}
	if e.Drawn != 3 || without.Drawn != 0 || e.Replicates != 5 {
		t.Errorf("%d and %d drawn replicates, %d warm ones", e.Drawn, without.Drawn, e.Replicates)
	}
	for i := range 3 { // topics of their own words, with large effects
		if v := e.Found[i]; !(v > 0.8 && v < 1.2) {
			t.Errorf("topic %d: %v of the differences are found", i, v)
		}
	}
	corrected := 0
	for i, term := range e.Terms {
		for j, all := range term.Differences {
			for q, x := range all {
				old := without.Terms[i].Differences[j][q]
				if term.Points[j].Few() {
					continue // NaN
				}
				if !math.IsNaN(old.Bias) || math.Abs(x.Value+x.Bias-old.Value) > 1e-12 || !(x.High-x.Low > old.High-old.Low) {
					t.Errorf("%s at %s, quantity %d: %+v, without drawn documents %+v", term.Name, term.Points[j].Label, q, x, old)
				}
				if x.Bias != 0 {
					corrected++
				}
			}
		}
	}
	t.Logf("%d differences have a sure bias", corrected)
	again, err := s.Run(ctx, p.Workers(1), m, c)
	if err != nil {
		t.Fatal(err)
	}
	x, err1 := json.Marshal(e)
	y, err2 := json.Marshal(again)
	if err1 != nil || err2 != nil || string(x) != string(y) {
		t.Error("another number of goroutines, other bits")
	}
}
