package jsmf

import (
	"math"
	"strings"
	"testing"
)

// Curves read by hand.
func TestFall(t *testing.T) {
	smooth := make([]float64, 40)
	knee := make([]float64, 40)
	for i := range smooth {
		smooth[i] = math.Exp(-0.1 * float64(i))
		knee[i] = math.Exp(-0.25 * float64(min(i, 11))) // flat from the 12th on
		knee[i] *= math.Exp(-0.01 * float64(i))
	}
	for _, x := range []struct {
		name  string
		curve []float64
		k     int
		why   string
	}{
		{"short", []float64{3, 2}, 0, ""},
		{"nothing", []float64{0, 0, 0, 0}, 0, ""},
		{"a step", []float64{9, 5, 4.9, 4.8, 1, .9, .8}, 4, "by 79 % after the 4th, and by 11 % at most"},
		{"the end", []float64{9, 5, 4.9, 4.8, 0, 0}, 4, "by 100 % after the 4th"},
		{"rounding at the end", []float64{9, 5, 4.9, 4.8, 1e-15, -1e-16}, 4, "by 100 % after the 4th"},
		{"a knee", knee, 12, "bends most at 12"},
		{"three", []float64{3, 2, 1.9}, 2, "after the 2nd"},
	} {
		k, why := fall(x.curve, "they fall", "things")
		if k != x.k || !strings.Contains(why, x.why) {
			t.Errorf("%s: %d, %q", x.name, k, why)
		}
	}
	// Nothing stands out of a straight line: the answer is in it and says so.
	if k, why := fall(smooth, "they fall", "things"); k < 2 || k >= 40 || !strings.Contains(why, "without a clear step") {
		t.Errorf("%d, %q", k, why)
	}
	for n, want := range map[int]string{1: "st", 2: "nd", 3: "rd", 4: "th", 11: "th", 12: "th", 13: "th", 21: "st", 102: "nd", 112: "th"} {
		if ordinal(n) != want {
			t.Errorf("%d%s", n, ordinal(n))
		}
	}
}
