package metrics

import (
	"math"
	"strings"
	"testing"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %.9g, want %.9g to %g", what, got, want, tol)
	}
}

func TestSimCountDiversity(t *testing.T) {
	lists := [][]string{{"a", "b", "c"}, {"b", "c", "d"}, {"c", "x"}, {}}
	total, err := SimCount(lists)
	// b in two lists, c in three: 1 + 3 pairs.
	if err != nil || total != 4 {
		t.Errorf("SimCount %d, %v", total, err)
	}
	d, err := Diversity(lists)
	if err != nil || d != 5.0/8 {
		t.Errorf("Diversity %g, %v", d, err)
	}
	if d, err := Diversity([][]int{{}, {}}); err != nil || !math.IsNaN(d) {
		t.Errorf("Diversity of nothing %g, %v", d, err)
	}
}

func TestListErrors(t *testing.T) {
	for what, lists := range map[string][][]string{"no lists": nil, "twice, at 0": {{"a", "a"}}} {
		if _, err := SimCount(lists); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", what, err)
		}
	}
}
