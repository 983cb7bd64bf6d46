package jsmf_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// Verdicts look at the words that TopWords returns, and are the same with and without other
// measures. 1e-12: sums in another order.
func TestVerdictsReadingWords(t *testing.T) {
	testutil.NotWithRace(t)
	c := golden.Corpus(t, "synth")
	for name, p := range map[string]jsmf.Pipeline{"refined": jsmf.New(5), "published": jsmf.Published(5)} {
		m := fit(t, p, c)
		r, err := p.Evaluate(ctx, m, c)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Verdicts) != m.K() {
			t.Fatalf("%s: %d verdicts", name, len(r.Verdicts))
		}
		alone, err := p.Verdicts(ctx, m, c)
		if err != nil || fmt.Sprintf("%#v", alone) != fmt.Sprintf("%#v", r.Verdicts) {
			t.Errorf("%s: %v alone (%v), %v in the report", name, alone, err, r.Verdicts)
		}
		breve, background, shares := m.WordTopics(), m.Background(), m.TopicShares()
		for k, v := range r.Verdicts {
			words := m.TopWords(k, 10)
			mean := 0.0
			for _, w := range words {
				mean += breve.At(w.Index, k) / float64(len(words))
			}
			if math.Abs(v.Exclusivity-mean) > 1e-12 || math.Abs(v.Share-shares[k]) > 1e-12 || (v.Quality == metrics.Background) != background[k] {
				t.Errorf("%s: topic %d: %+v, want exclusivity %v, share %v, background %v", name, k, v, mean, shares[k], background[k])
			}
		}
	}
}

func TestVerdictsBad(t *testing.T) {
	c := golden.Corpus(t, "synth")
	m := fit(t, jsmf.Published(5), c)
	for want, f := range map[string]func() error{
		"no model":           func() error { _, err := jsmf.New(5).Verdicts(ctx, nil, c); return err },
		"no documen":         func() error { _, err := jsmf.New(5).Verdicts(ctx, m, nil); return err },
		"holds no documents": func() error { _, err := jsmf.New(5).Verdicts(ctx, m, identity(t, m.N())); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
