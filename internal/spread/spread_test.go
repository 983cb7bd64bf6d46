package spread

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// half returns half the width of an interval from s alone.
func half(s Spread, level float64, units int, more float64) float64 {
	x := Number{Again: s}
	return x.Interval(Doubt{Level: level, Units: units, Variance: more}).Half
}

// Tables of Student's distribution have 4.3027, 2.2622 and 1.9842 for 95 % and 2, 9 and 99
// degrees of freedom. The variance of 0…n−1 is n(n+1)/12.
func TestHalf(t *testing.T) {
	for n, want := range map[int]float64{3: 4.3027, 10: 2.2622, 100: 1.9842} {
		var s Spread
		for i := range n {
			s.Add(1e6 + float64(i))
			s.Add(math.NaN())
		}
		few, all := half(s, 0.95, 3, 0), half(s, 0.95, n, 0)
		if ratio := few / all; math.Abs(ratio-4.3027/want) > 1e-4 {
			t.Errorf("%d replicates of 3 units: %v times the interval", n, ratio)
		}
		if !math.IsNaN(half(s, 0.95, 1, 0)) {
			t.Errorf("%d replicates of one unit have an interval", n)
		}
		if got := half(s, 0.95, 1000, 0) / math.Sqrt(float64(n*(n+1))/12); math.Abs(got-want) > 1e-4 {
			t.Errorf("%d replicates: %v standard deviations, want %v", n, got, want)
		}
	}
	var s Spread
	s.Add(1)
	if !math.IsNaN(half(s, 0.9, 2, 0)) {
		t.Errorf("one replicate has an interval of ± %v", half(s, 0.9, 2, 0))
	}
	if s.Add(1); half(s, 0.9, 2, 0) != 0 || math.Abs(half(s, 0.9, 2, 4)/6.3138-2) > 1e-4 {
		t.Errorf("two equal replicates: ± %v", half(s, 0.9, 2, 0))
	}
}

// A bias is taken off where it is sure, and leaves room in the interval either way.
func TestBias(t *testing.T) {
	var again Spread
	for i := range 1001 { // of the variance 1, so many that Student's distribution is nearly normal
		again.Add(float64(2*(i%2) - 1))
	}
	spread := func(mean, by float64) (s Spread) {
		for i := range 8 {
			s.Add(mean + by*float64(2*(i%2)-1))
		}
		return s
	}
	at := func(off Spread, d Doubt) Interval {
		d.Level, d.Units = 0.95, math.MaxInt
		return (&Number{Value: 10, Again: again, Off: off}).Interval(d)
	}
	one := Doubt{}
	sure, unsure := at(spread(2, 1e-6), one), at(spread(0.5, 1), one)
	if math.Abs(sure.Bias-2) > 1e-9 || math.Abs(sure.Value-8) > 1e-9 || unsure.Bias != 0 || unsure.Value != 10 {
		t.Errorf("%+v and %+v, want a bias of 2 and none", sure, unsure)
	}
	// The interval of what is normal about a bias of 2 holds 0 with probability 0.95. The tolerance is
	// that of 1001 replicates in place of infinitely many.
	n := distuv.UnitNormal
	if p := n.CDF(sure.Half-2) - n.CDF(-sure.Half-2); math.Abs(p-0.95) > 1e-3 {
		t.Errorf("± %v holds 0 with probability %v", sure.Half, p)
	}
	if none := at(spread(0, 1e-6), one); math.Abs(none.Half-1.96) > 5e-3 {
		t.Errorf("without a bias ± %v", none.Half)
	}
	// Topics that keep 0.8 of their words leave a quarter of the number open, and nothing is said below a half.
	if open := at(spread(0, 1e-6), Doubt{Hidden: Hidden(0.2)}); math.Abs(open.Half-(2.5+1.645)) > 1e-2 {
		t.Errorf("a quarter of 10 left open: ± %v", open.Half)
	}
	// A tenth that is lost is lost of the bias, too, and what is left open is beside the bias.
	if again := at(spread(2, 1e-6), Doubt{Hidden: Hidden(0.2), Lost: 0.1}); math.Abs(again.Bias-2.2) > 1e-9 || math.Abs(again.Half-(2.2+7.8/4+1.645)) > 1e-2 {
		t.Errorf("a tenth lost: %+v", again)
	}
	// The larger variance counts, and that of the mean bias.
	if wide := at(spread(0, 3*math.Sqrt(7.0/8)), one); math.Abs(wide.Half-1.96*math.Sqrt(9+9.0/8)) > 2e-2 {
		t.Errorf("drawn fits that vary more: ± %v", wide.Half)
	}
	if rare := at(spread(2, 1e-6), Doubt{Drawn: 17}); rare.Value != 10 || !math.IsNaN(rare.Half) {
		t.Errorf("found in 8 of 17 fits: %+v", rare)
	}
	if _, low, high := (Interval{Value: 0.4, Half: 0.7}).Within(0, 1); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("an interval of all shares: %v to %v", low, high)
	}
	if v, low, high := (Interval{Value: -0.1, Half: 0.7}).Within(0, 1); v != 0 || low != 0 || math.Abs(high-0.7) > 1e-12 {
		t.Errorf("a share is %v, %v to %v", v, low, high)
	}
	zero := math.Copysign(0, -1)
	if v, low, high := (Interval{Value: zero, Half: 0.7}).Within(zero, 1); math.Signbit(v) || math.Signbit(low) || high != 0.7 {
		t.Errorf("a share of −0 is %v, %v to %v", v, low, high)
	}
	if lost := at(spread(2, 1e-6), Doubt{Hidden: Hidden(0.6)}); lost.Value != 10 || !math.IsNaN(lost.Bias) || !math.IsNaN(lost.Half) {
		t.Errorf("topics that lost most of their words: %+v", lost)
	}
	if alone := at(Spread{}, Doubt{Hidden: math.NaN()}); alone.Value != 10 || !math.IsNaN(alone.Bias) || math.Abs(alone.Half-1.96) > 5e-3 {
		t.Errorf("without drawn replicates: %+v", alone)
	}
}
