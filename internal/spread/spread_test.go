package spread

import (
	"math"
	"testing"
)

// Tables of Student's distribution have 4.3027, 2.2622 and 1.9842 for 95 % and 2, 9 and 99
// degrees of freedom. The variance of 0…n−1 is n(n+1)/12.
func TestHalf(t *testing.T) {
	for n, want := range map[int]float64{3: 4.3027, 10: 2.2622, 100: 1.9842} {
		var s Spread
		for i := range n {
			s.Add(1e6 + float64(i))
			s.Add(math.NaN())
		}
		few, all := s.Half(0.95, 3, 0), s.Half(0.95, n, 0)
		if ratio := few / all; math.Abs(ratio-4.3027/want) > 1e-4 {
			t.Errorf("%d replicates of 3 units: %v times the interval", n, ratio)
		}
		if !math.IsNaN(s.Half(0.95, 1, 0)) {
			t.Errorf("%d replicates of one unit have an interval", n)
		}
		if got := s.Half(0.95, 1000, 0) / math.Sqrt(float64(n*(n+1))/12); math.Abs(got-want) > 1e-4 {
			t.Errorf("%d replicates: %v standard deviations, want %v", n, got, want)
		}
	}
	var s Spread
	s.Add(1)
	if !math.IsNaN(s.Half(0.9, 2, 0)) {
		t.Errorf("one replicate has an interval of ± %v", s.Half(0.9, 2, 0))
	}
	if s.Add(1); s.Half(0.9, 2, 0) != 0 || math.Abs(s.Half(0.9, 2, 4)/6.3138-2) > 1e-4 {
		t.Errorf("two equal replicates: ± %v", s.Half(0.9, 2, 0))
	}
}
