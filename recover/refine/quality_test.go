package refine_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

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
	stay := farthest(fit(t, refine.Passes{N: 10}, c.Source(), refine.Start{B: p.B}, 0).B, p)
	back := farthest(fit(t, refine.Passes{N: 30}, c.Source(), refine.Start{B: mixed}, 0).B, p)
	t.Logf("from the truth %.3f, from %.3f to %.3f", stay, farthest(mixed, p), back)
	if stay > 0.15 {
		t.Errorf("passes from the truth end at a distance of %v, want at most 0.15", stay)
	}
	if back > 0.3 {
		t.Errorf("passes from a distance of %v end at %v, want at most 0.3", farthest(mixed, p), back)
	}
}

// Passes end where the hidden tokens gained less than Gain in the mean of the last four,
// not before the 24th, nor before the eighth after topics were merged; two more take all
// tokens. Where few tokens would be hidden none are, and all tokens count. With a negative Gain
// none are hidden and all passes made.
func TestPassesEarly(t *testing.T) {
	testutil.NotWithRace(t)
	p := testutil.NewPlanted(100, 5, 0, 14)
	c := drawn(t, p, 400, 400, 15)
	for _, x := range []struct {
		k       int
		gain    float64
		settled int // the first pass that may be the last but two
	}{{0, 0, 24}, {0, 1e-3, 24}, {0, 10, 24}, {4, 10, 24}, {3, 10, 24}, {3, 0, 24}} {
		s := refine.Passes{N: 200, Gain: x.gain, Correlated: -1}
		r := fitTo(t, s, c.Source(), refine.Start{B: p.B}, refine.Options{K: x.k})
		h, last := r.History, r.Passes-2
		if !r.Early || r.Passes >= 200 || len(h) != r.Passes+1 || r.HeldOut < 10 || r.HeldOut > 40 {
			t.Fatalf("%+v: %d passes, early %v, %d scores, %d held out", x, r.Passes, r.Early, len(h), r.HeldOut)
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
		"negative gain": fit(t, refine.Passes{N: 30, Gain: -1, Correlated: -1}, c.Source(), refine.Start{B: p.B}, 0),
		"ten passes":    fit(t, refine.Passes{N: 10, Gain: 10, Correlated: -1}, c.Source(), refine.Start{B: p.B}, 0),
	} {
		if r.Early || r.Passes != 30 && name != "ten passes" {
			t.Errorf("%s: %d passes, early %v", name, r.Passes, r.Early)
		}
		if (r.HeldOut > 0) != (name == "ten passes") {
			t.Errorf("%s: %d documents are held out", name, r.HeldOut)
		}
	}
	for _, s := range []refine.Refiner{refine.Passes{Correlated: -1}, refine.Batch{Correlated: -1}} {
		r := fit(t, s, drawn(t, p, 400, 40, 15).Source(), refine.Start{B: p.B}, 0)
		h, last := r.History, r.Passes-2
		if !r.Early || r.HeldOut > 0 || last < 24 {
			t.Fatalf("few tokens: %v ends after %d passes, %d documents held out", s, r.Passes, r.HeldOut)
		}
		for n := 24; n <= last; n++ {
			if gain := (h[n-1].LogLik - h[n-5].LogLik) / 4; (gain < 1e-4) != (n == last) {
				t.Errorf("few tokens: %v ends after %d passes; %d gained %v", s, r.Passes, n, gain)
			}
		}
	}
}

// Passes under a logistic-normal prior end where the hidden tokens gained less than Gain in the mean
// of the last two, not before the fourth; two more take all tokens. By default there are none for
// documents of a few tokens.
func TestCorrelatedEarly(t *testing.T) {
	testutil.NotWithRace(t)
	p := testutil.NewPlanted(100, 5, 0, 14)
	c := drawn(t, p, 400, 400, 15)
	for gain, least := range map[float64]float64{0: 1e-4, 10: 10, -1: 0} {
		for _, s := range []refine.Refiner{refine.Passes{N: 12, Gain: gain}, refine.Batch{N: 12, Gain: gain}} {
			r := fitTo(t, s, c.Source(), refine.Start{B: p.B}, refine.Options{})
			h := r.History[r.Passes-r.Correlated : r.Passes]
			last := len(h) - 2
			if r.Prior == nil || last < 4 || len(h) > 16 || gain < 0 && len(h) != 16 || gain == 10 && last != 4 {
				t.Errorf("%v: %d passes under the prior", s, len(h))
			}
			for i, x := range h {
				if math.IsNaN(x.HeldOut) != (gain < 0 || i >= last) {
					t.Errorf("%v: held-out likelihood %v before pass %d of %d", s, x.HeldOut, i+1, len(h))
				}
			}
			for n := 4; n <= last && gain >= 0; n++ {
				if gain := (h[n-1].HeldOut - h[n-3].HeldOut) / 2; (gain < least) != (n == last) && n < 14 {
					t.Errorf("%v: %d passes, though %d gained %v", s, len(h), n, gain)
				}
			}
		}
	}
	short := drawn(t, p, 400, 6, 15)
	for asked, want := range map[int]int{0: 0, -1: 0, 3: 3} {
		if r := fitTo(t, refine.Passes{N: 2, Correlated: asked}, short.Source(), refine.Start{B: p.B}, refine.Options{}); r.Correlated != want || (r.Prior != nil) != (want > 0) {
			t.Errorf("short documents, %d passes asked for: %d, prior %v", asked, r.Correlated, r.Prior)
		}
	}
}
