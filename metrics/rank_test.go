package metrics

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// By hand: five words, two topics of the shares ¾ and ¼.
func TestRankWordsByHand(t *testing.T) {
	b := mat.NewDense(5, 2, []float64{
		.5, .5,
		.25, .25,
		.25, 0,
		0, .25,
		0, 0,
	})
	c := []float64{.5, .25, .1875, .0625, 0}
	order := func(r Ranking) (out [2]string) {
		t.Helper()
		l, err := RankWords(b, c, r, 4)
		if err != nil {
			t.Fatal(err)
		}
		for k := range l {
			for _, x := range l[k] {
				out[k] += fmt.Sprint(x.Word)
				if x.Prob != b.At(x.Word, k) {
					t.Errorf("%v: word %d of topic %d has the probability %g", r, x.Word, k, x.Prob)
				}
			}
		}
		return out
	}
	for _, x := range []struct {
		r    Ranking
		want [2]string
	}{
		{nil, [2]string{"012", "013"}},
		// Lift 1, 1, 4/3 and 1, 1, 4.
		{ByLift{}, [2]string{"201", "301"}},
		// .6·ln p + .4·ln lift: −.416, −.832, −.717 and −.416, −.832, −.277.
		{ByRelevance{}, [2]string{"021", "301"}},
		{ByRelevance{Lambda: 1}, [2]string{"012", "013"}},
		// Exclusivity ½, ½, 1, 0, 0 ranks .8, .8, 1, .4, .4; probability 1, .8, .8,
		// .4, .4: 1/(.5/.8 + .5) = .889, .8, 1/(.5 + .625) = .889.
		{ByFREX{}, [2]string{"021", "031"}},
		{ByFREX{Weight: 1}, [2]string{"201", "301"}},
	} {
		if got := order(x.r); got != x.want {
			t.Errorf("%v: %v, want %v", x.r, got, x.want)
		}
	}
	s, err := ByFREX{}.Scores(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1 / (.5/.8 + .5), .8, 1 / (.5 + .5/.8), .4, .4} {
		near(t, fmt.Sprint("FREX of word ", i), s.At(i, 0), want, 1e-15)
	}
	if s, err = (ByRelevance{}).Scores(b, c); err != nil {
		t.Fatal(err)
	}
	near(t, "relevance", s.At(3, 1), .6*math.Log(.25)+.4*math.Log(4), 1e-14)
	if !math.IsInf(s.At(3, 0), -1) {
		t.Errorf("the relevance of a word the topic lacks is %g", s.At(3, 0))
	}
}

func TestRankWordsErrors(t *testing.T) {
	b := randomTopics(20, 3, 4)
	c := make([]float64, 20)
	for i := range c {
		c[i] = 1
	}
	zero := make([]float64, 20)
	hole := append([]float64{}, c...)
	for i := range hole {
		if b.At(i, 0) > 0 {
			hole[i] = 0
			break
		}
	}
	for what, f := range map[string]func() error{
		"is not positive, but topic 0": func() error { _, err := RankWords(b, hole, ByLift{}, 3); return err },
		"sum to 0":                     func() error { _, err := RankWords(b, zero, ByRelevance{}, 3); return err },
		"19 marginals given":           func() error { _, err := RankWords(b, c[1:], ByRelevance{}, 3); return err },
		"λ: 2 is not":                  func() error { _, err := RankWords(b, c, ByRelevance{Lambda: 2}, 3); return err },
		"ω: -1 is not":                 func() error { _, err := RankWords(b, c, ByFREX{Weight: -1}, 3); return err },
		"lists of -1":                  func() error { _, err := RankWords(b, c, nil, -1); return err },
		"B is 0×0":                     func() error { _, err := RankWords(nil, c, nil, 1); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", what, err)
		}
	}
}
