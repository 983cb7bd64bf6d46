package jsmf_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

// A planted number of topics is found to a quarter on numbers that Sweep chooses, with
// shares that are equal or not.
func TestSweepRecommends(t *testing.T) {
	testutil.NotWithRace(t)
	const k = 9
	for name, alpha := range map[string][]float64{
		"equal":   {.1, .1, .1, .1, .1, .1, .1, .1, .1},
		"unequal": {.04, .05, .06, .08, .1, .12, .14, .17, .2},
	} {
		c := draw(t, themes(400, k), corpus.Dirichlet{Alpha: alpha}, 1500)
		s, err := jsmf.Grid{}.Run(ctx, jsmf.New(0), c)
		if err != nil {
			t.Fatal(err)
		}
		r := s.Recommendation
		if math.Abs(float64(r.K)/k-1) > 0.25 || r.Low > r.K || r.High < r.K || r.Chosen <= 0.2 || r.Chosen > 1+1e-9 {
			t.Errorf("%s: %d topics\n%v", name, k, s)
		}
		if m := s.Recommended(); m == nil || m.K() != r.K {
			t.Errorf("%s: another model is recommended", name)
		}
		if !strings.HasPrefix(s.String(), r.String()+"\n") || !strings.Contains(s.String(), fmt.Sprintf("*%d ", r.K)) {
			t.Errorf("%s: printed\n%v", name, s)
		}
		shares, last := 0.0, 0
		for _, x := range s.Points {
			if x.K <= last || x.Model == nil || x.HeldOut == nil || x.ScoreErr != nil {
				t.Fatalf("%s: %+v", name, x)
			}
			if last > 0 && float64(x.K) > 1.45*float64(last) {
				t.Errorf("%s: %d topics follow %d", name, x.K, last)
			}
			last = x.K
			shares += x.HeldOut.Chosen
		}
		if math.Abs(shares-1) > 1e-9 {
			t.Errorf("%s: the shares sum to %g", name, shares)
		}
	}
}

// A matrix has no documents to hold out: Sweep measures what it can and says so.
func TestSweepOfMatrix(t *testing.T) {
	_, docs := planted(60, 4, 300)
	in := counted(t, countsCorpus(t, 60, docs), cooc.Options{})
	s, err := jsmf.Grid{K: []int{3, 4}}.Run(ctx, jsmf.Published(0), in)
	if err != nil {
		t.Fatal(err)
	}
	const why = "jsmf: sweep: no recommendation: the input is a co-occurrence matrix, and only documents can be held out"
	if s.Recommendation != nil || s.RecommendationErr == nil || !strings.HasPrefix(s.RecommendationErr.Error(), why) || s.Points[1].Report == nil || s.Points[1].HeldOut != nil || s.Recommended() != nil {
		t.Errorf("%v", s)
	}
	if !strings.HasPrefix(s.String(), why[:80]) {
		t.Errorf("printed\n%v", s)
	}
	if _, err := (jsmf.Grid{}).Run(ctx, jsmf.Published(0), in); err == nil || !strings.HasPrefix(err.Error(), why) {
		t.Errorf("without numbers of topics: %v", err)
	}
}
