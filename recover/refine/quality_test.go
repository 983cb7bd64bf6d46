package refine_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// What the theory says of MAP-EM: no pass lowers the objective, but for rounding. With
// watched documents that holds until the hidden tokens join the others.
func TestPassesMonotone(t *testing.T) {
	p := testutil.NewPlanted(120, 8, 0.5, 3)
	c := drawn(t, p, 300, 40, 4)
	long := drawn(t, p, 300, 600, 4)
	other := testutil.NewPlanted(120, 8, 0.5, 5) // a start far from the truth
	for name, b := range map[string]*mat.Dense{"truth": p.B, "other": other.B} {
		r := fit(t, refine.Passes{N: 60, Method: refine.MAPEM, Alpha: 0.1, Gain: -1}, c.Source(), refine.Start{B: b}, 0)
		if r.Passes != 60 || r.Early || r.Watched != 0 {
			t.Errorf("%s: %d passes, early %v, %d watched", name, r.Passes, r.Early, r.Watched)
		}
		for i := 1; i < len(r.History); i++ {
			if gain := r.History[i].Objective - r.History[i-1].Objective; !(gain >= -rounding) {
				t.Errorf("%s: pass %d changes the objective by %g", name, i, gain)
			}
		}
		if last, first := r.History[60].LogLik, r.History[0].LogLik; !(last > first) {
			t.Errorf("%s: log-likelihood %v after all passes, %v before", name, last, first)
		}
		r = fit(t, refine.Passes{N: 20, Method: refine.MAPEM}, long.Source(), refine.Start{B: b}, 0)
		if r.Watched == 0 {
			t.Errorf("%s: no document is watched", name)
		}
		for i := 1; i < r.Passes-2; i++ {
			if gain := r.History[i].Objective - r.History[i-1].Objective; !(gain >= -rounding) {
				t.Errorf("%s: pass %d changes the objective of the tokens that are not hidden by %g", name, i, gain)
			}
		}
	}
}

// farthest is the largest ℓ₁ distance of a topic from the planted one.
func farthest(b *mat.Dense, p *testutil.Planted) float64 {
	most := 0.0
	for k := range p.K {
		s := 0.0
		for i := range p.N {
			s += math.Abs(b.At(i, k) - p.B.At(i, k))
		}
		most = max(most, s)
	}
	return most
}

// Documents enough that the truth is near the best: passes that begin there stay
// near it, and passes from topics mixed with each other come back to it. The
// tolerance of 0.15 in ℓ₁ distance of a topic is what 3000 documents of 100
// tokens leave undetermined (the counts of 60,000 tokens a topic over 150 words
// alone err by some 0.04, were their topics known). The mixed start is at 0.6, and
// thirty passes take it at least half of the way.
func TestPassesPlanted(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("skipped: many documents")
	}
	p := testutil.NewPlanted(150, 5, 0.2, 6)
	c := drawn(t, p, 3000, 100, 7)
	mixed := mat.NewDense(p.N, p.K, nil)
	for i := range p.N {
		for k := range p.K {
			mixed.Set(i, k, 0.6*p.B.At(i, k)+0.4*p.B.At(i, (k+1)%p.K))
		}
	}
	for _, method := range []refine.Method{refine.CVB0, refine.MAPEM, refine.CVB0Document} {
		stay := farthest(fit(t, refine.Passes{N: 10, Method: method}, c.Source(), refine.Start{B: p.B}, 0).B, p)
		back := farthest(fit(t, refine.Passes{N: 30, Method: method}, c.Source(), refine.Start{B: mixed}, 0).B, p)
		t.Logf("%v: from the truth %.3f, from %.3f to %.3f", method, stay, farthest(mixed, p), back)
		if stay > 0.15 {
			t.Errorf("%v: passes from the truth end at a distance of %v", method, stay)
		}
		if back > 0.3 {
			t.Errorf("%v: passes from a distance of %v end at %v", method, farthest(mixed, p), back)
		}
	}
}

// Passes end where the hidden tokens gained less than Gain in the mean of the last four,
// not before the 24th, nor before the eighth after topics were merged; two more take all
// tokens. With a negative Gain, or few hidden tokens, none are hidden and all passes made.
func TestPassesEarly(t *testing.T) {
	p := testutil.NewPlanted(100, 5, 0, 14)
	c := drawn(t, p, 400, 400, 15)
	for _, x := range []struct {
		k       int
		gain    float64
		settled int // the first pass that may be the last but two
	}{{0, 0, 24}, {0, 1e-3, 24}, {0, 10, 24}, {4, 10, 24}, {3, 10, 24}, {3, 0, 24}} {
		s := refine.Passes{N: 200, Gain: x.gain}
		r := fitTo(t, s, c.Source(), refine.Start{B: p.B}, refine.Options{K: x.k})
		h, last := r.History, r.Passes-2
		if !r.Early || r.Passes >= 200 || len(h) != r.Passes+1 || r.Watched < 10 || r.Watched > 40 {
			t.Fatalf("%+v: %d passes, early %v, %d scores, %d watched", x, r.Passes, r.Early, len(h), r.Watched)
		}
		least := x.gain
		if least == 0 {
			least = 1e-4
		}
		for n := x.settled; n <= last; n++ {
			if gain := (h[n-1].HeldOut - h[n-5].HeldOut) / 4; (gain < least) != (n == last) {
				t.Errorf("%+v: passes end after %d; %d gained %v", x, r.Passes, n, gain)
			}
		}
		if last < x.settled || x.gain == 10 && last != x.settled {
			t.Errorf("%+v: the topics settled in %d passes", x, last)
		}
		for i, s := range h {
			if math.IsNaN(s.HeldOut) != (i >= last) {
				t.Errorf("%+v: held-out likelihood %v before pass %d of %d", x, s.HeldOut, i+1, r.Passes)
			}
		}
	}
	for name, r := range map[string]*refine.Result{
		"negative gain": fit(t, refine.Passes{N: 30, Gain: -1}, c.Source(), refine.Start{B: p.B}, 0),
		"few tokens":    fit(t, refine.Passes{N: 30, Gain: 10}, drawn(t, p, 400, 40, 15).Source(), refine.Start{B: p.B}, 0),
		"ten passes":    fit(t, refine.Passes{N: 10, Gain: 10}, c.Source(), refine.Start{B: p.B}, 0),
	} {
		if r.Early || r.Passes != 30 && name != "ten passes" {
			t.Errorf("%s: %d passes, early %v", name, r.Passes, r.Early)
		}
		if (r.Watched > 0) != (name == "ten passes") {
			t.Errorf("%s: %d documents are watched", name, r.Watched)
		}
	}
}
