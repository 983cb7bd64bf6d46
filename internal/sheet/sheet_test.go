package sheet

import (
	"math"
	"testing"
)

func TestCells(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "plain": "plain", "a=b": "a=b", "=1+1": "'=1+1", "+49": "'+49", "-x": "'-x", "@me": "'@me", "\tx": "'\tx", "\rx": "'\rx", "−x": "−x",
	} {
		if got := Text(s); got != want {
			t.Errorf("Text(%q) = %q, want %q", s, got, want)
		}
	}
	for x, want := range map[float64]string{0.1: "0.1", -2: "-2", 1e300: "1e+300", math.Inf(1): "", math.Inf(-1): ""} {
		if got := Number(x); got != want {
			t.Errorf("Number(%v) = %q, want %q", x, got, want)
		}
	}
	if got := Number(math.NaN()); got != "" {
		t.Errorf("Number(NaN) = %q", got)
	}
}
