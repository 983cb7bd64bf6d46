package jsmf_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

// Topics that were planted come back from halves and bootstrap samples of many
// documents; a topic too many does not.
func TestStability(t *testing.T) {
	const n, k = 80, 4
	_, docs := planted(n, k, 3000)
	c := countsCorpus(t, n, docs)
	p := jsmf.Published(k).Rectify(rectify.AP{Iterations: 5})
	m := fit(t, p, c)
	sizes := map[int]bool{}
	fitting := func(ctx context.Context, x jsmf.Input) (*jsmf.Model, error) {
		sizes[x.Info().Documents] = true
		return p.Fit(ctx, x)
	}
	for _, o := range []jsmf.Resampling{{Draws: 4}, {Draws: 4, Share: 0.5, Seed: 9}} {
		if o.Share == 0 && (testing.Short() || testutil.Race) {
			continue
		}
		clear(sizes)
		s, err := o.Measure(ctx, m, c, fitting)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[int]bool{3000 - int(o.Share*3000): true}; !reflect.DeepEqual(sizes, want) {
			t.Errorf("draws of %v documents", sizes)
		}
		// Sampling noise: probabilities of ~120,000 tokens, half of them in the
		// halves; unrelated topics here are 1 and more apart.
		if len(s.Matchings) != 4 || len(s.L1.Values) != k || !(s.L1.Mean > 0 && s.L1.Mean < 0.25) || !(s.Overlap.Mean > 0.8) {
			t.Errorf("share %g: ℓ₁ %g, overlap %g", o.Share, s.L1.Mean, s.Overlap.Mean)
		}
		for j := range k {
			if s.Matched[j] != 1 || s.AnchorKept[j] > s.AnchorFound[j] || s.AnchorFound[j] > 1 {
				t.Errorf("topic %d: matched %g, anchor kept %g, found %g", j, s.Matched[j], s.AnchorKept[j], s.AnchorFound[j])
			}
		}
	}
	if testing.Short() || testutil.Race {
		return
	}
	// One topic too many: the one that is least stable is far from its partners.
	p = p.K(k + 1)
	over, err := jsmf.Resampling{Draws: 4}.Measure(ctx, fit(t, p, c), c, fitting)
	if err != nil {
		t.Fatal(err)
	}
	if worst := slices.Max(over.L1.Values); !(worst > 0.25) {
		t.Errorf("ℓ₁ of the topics %v", over.L1.Values)
	}
}

// The corpus itself in place of a draw gives the model itself, and a model of
// fewer topics leaves some without a partner.
func TestStabilityOfItself(t *testing.T) {
	_, docs := planted(60, 4, 400)
	c := countsCorpus(t, 60, docs)
	p := jsmf.Published(4).Rectify(rectify.AP{Iterations: 3})
	m := fit(t, p, c)
	k := 5
	s, err := jsmf.Resampling{Draws: 2}.Measure(ctx, m, c, func(ctx context.Context, _ jsmf.Input) (*jsmf.Model, error) {
		k-- // 4, then 3
		return p.K(k).Fit(ctx, c)
	})
	if err != nil {
		t.Fatal(err)
	}
	a := s.Matchings[0]
	if !slices.Equal(a.Of, []int{0, 1, 2, 3}) || a.L1.Mean != 0 {
		t.Errorf("%+v", a)
	}
	var gone []int
	for t, l := range s.Matchings[1].Of {
		if l < 0 {
			gone = append(gone, t)
		}
	}
	if len(gone) != 1 || s.Matched[gone[0]] != 0.5 || s.L1.Values[gone[0]] != 0 || s.Overlap.Values[gone[0]] != 1 {
		t.Errorf("without a partner: %v, matched %v, ℓ₁ %v", gone, s.Matched, s.L1.Values)
	}
	if s.AnchorKept[gone[0]] != 0.5 {
		t.Errorf("anchors kept %v", s.AnchorKept)
	}
}

func TestStabilityBad(t *testing.T) {
	_, docs := planted(40, 3, 60)
	c := countsCorpus(t, 40, docs)
	p := jsmf.Published(3).Rectify(rectify.TruncatedEig{})
	m := fit(t, p, c)
	boom := errors.New("boom")
	calls := 0
	_, err := jsmf.Resampling{Draws: 2}.Measure(ctx, m, c, func(ctx context.Context, x jsmf.Input) (*jsmf.Model, error) {
		if calls++; calls == 2 {
			return nil, boom
		}
		return p.Fit(ctx, x)
	})
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "draw 1") {
		t.Errorf("a fit that fails: %v", err)
	}
	for what, f := range map[string]func() error{
		"no fit": func() error { _, err := jsmf.Resampling{}.Measure(ctx, m, c, nil); return err },
		"-1 draws": func() error {
			_, err := jsmf.Resampling{Draws: -1}.Measure(ctx, m, c, p.Fit)
			return err
		},
		"a share of 1": func() error { _, err := jsmf.Resampling{Share: 1}.Measure(ctx, m, c, p.Fit); return err },
		"a share of NaN": func() error {
			_, err := jsmf.Resampling{Share: math.NaN()}.Measure(ctx, m, c, p.Fit)
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", what, err)
		}
	}
}

// Labels of a model are those of its matrices.
func TestLabels(t *testing.T) {
	_, docs := planted(60, 4, 400)
	m := fit(t, jsmf.Published(4), countsCorpus(t, 60, docs))
	for _, r := range []metrics.Ranking{nil, metrics.ByFREX{}, metrics.ByLift{}, metrics.ByRelevance{}} {
		got, err := m.Labels(r, 7)
		if err != nil {
			t.Fatal(err)
		}
		want, err := metrics.RankWords(mat.DenseCopyOf(m.Topics()), m.Marginals(), r, 7)
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			if len(got[k]) != len(want[k]) {
				t.Fatalf("%v: %d labels, want %d", r, len(got[k]), len(want[k]))
			}
			for i, w := range want[k] {
				if g := got[k][i]; g.Index != w.Word || g.Word != fmt.Sprintf("w%d", w.Word) || g.Prob != w.Prob {
					t.Errorf("%v: %+v, want %+v", r, g, w)
				}
			}
			if r == nil && !slices.Equal(got[k], m.TopWords(k, 7)) {
				t.Errorf("by probability: %v", got[k])
			}
		}
		// An anchor of a separable model is in its topic only.
		if _, ok := r.(metrics.ByLift); ok {
			for k, w := range m.AnchorWords() {
				if !slices.ContainsFunc(got[k], func(l jsmf.WordProb) bool { return l.Word == w }) {
					t.Errorf("the anchor %s of topic %d is not among the labels of most lift %v", w, k, got[k])
				}
			}
		}
	}
	if _, err := m.Labels(nil, -1); err == nil {
		t.Error("no labels, and no error")
	}
}
