package jsmf

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// A topic that was dropped stays dropped: a refit with a tenth more documents moves the other topics no more than it does
// without dropping, and no document wholly of it, new or not, is said to have others. So it is after a file, later edits
// and in replicates.
func TestDropped(t *testing.T) {
	testutil.NotWithRace(t)
	c, b, best := seeded(t, 450, 45)
	some, _, err := c.Split(0.1, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := New(10)
	m, err := p.Fit(t.Context(), some)
	if err != nil {
		t.Fatal(err)
	}
	named, err := m.With(Additions{Names: []string{"zero", "", "", "", "", "", "", "", "", ""}}) // so that passes begin with its topics
	if err != nil {
		t.Fatal(err)
	}
	const drop = 4
	planted := 0
	for s := range 10 {
		if similarity(m, drop, b, s) > similarity(m, drop, b, planted) {
			planted = s
		}
	}
	only := func(topics ...int) *corpus.Corpus {
		w := mat.NewDense(100, 10, nil)
		for d := range 100 {
			for _, s := range topics {
				w.Set(d, s, 1/float64(len(topics)))
			}
		}
		docs, _, err := corpus.Generator{Topics: b, Proportions: w, Lengths: slices.Repeat([]int{60}, 100), Seed: 6}.Generate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return docs
	}
	other := (planted + 1) % 9
	wholly, half := only(planted), only(planted, other)
	check := func(what string, m *Model, topics int) {
		t.Helper()
		m, err := ReadModel(bytes.NewReader(encoded(t, m)))
		if err != nil || m.K() != topics {
			t.Fatalf("%s: %v, %v", what, m, err)
		}
		docs, err := m.Transform(t.Context(), wholly.Source())
		if err != nil {
			t.Fatal(err)
		}
		none := 0
		for d := range docs.IDs {
			if docs.Docs[d].Status == infer.NoTopic && !docs.Explained(d) {
				none++
			}
		}
		if none < 95 {
			t.Errorf("%s: of 100 documents of the dropped topic %d are of no topic", what, none)
		}
		if docs, err = m.Transform(t.Context(), half.Source()); err != nil {
			t.Fatal(err)
		}
		tokens, unknown := 0., 0.
		for d := range docs.IDs {
			tokens, unknown = tokens+docs.Docs[d].Tokens, unknown+docs.Docs[d].Unknown
		}
		if err := docs.Validate(topics); err != nil || tokens < 2500 || unknown < 2500 {
			t.Errorf("%s: of 6000 tokens, half of the dropped topic, %.0f are known and %.0f are not; %v", what, tokens, unknown, err)
		}
	}
	dropped, err := named.Edit(Edits{Model: m.Fingerprint(), Drop: []int{drop}})
	if err != nil {
		t.Fatal(err)
	}
	check("dropped", dropped, 9)
	odd := *dropped
	odd.all = odd.all.reordered([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	odd.all.topics, odd.all.corr, odd.all.alpha, odd.all.logits, odd.all.k = dropped.topics, dropped.corr, nil, nil, 9
	if _, err := ReadModel(bytes.NewReader(encoded(t, &odd))); err == nil || !strings.Contains(err.Error(), "dropped topics: with them the model has 1") {
		t.Errorf("of a file without the dropped topic: %v", err)
	}
	if _, _, err := dropped.LearnDual(t.Context(), c, infer.PADD{}, infer.Options{}); err == nil || !strings.Contains(err.Error(), "were dropped") {
		t.Errorf("PADD: %v", err)
	}
	refit, err := p.From(dropped).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	check("refit", refit, 9)
	undropped, err := p.From(named).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	moved, without := refit.Stats().Refit.Drift, slices.Delete(undropped.Stats().Refit.Drift, drop, drop+1)
	if len(moved) != 9 || len(refit.Stats().Refit.New) > 0 {
		t.Fatalf("%+v", refit.Stats().Refit)
	}
	for k, d := range moved {
		if d > without[k]+0.005 {
			t.Errorf("topic %d moved by %.4f, and without dropping by %.4f", k, d, without[k])
		}
	}
	for _, w := range best[planted] {
		i, _ := m.Index(w)
		for k := range 9 {
			if x, y := refit.Topics().At(i, k), dropped.Topics().At(i, k); x > y+0.002 {
				t.Errorf("%s, of the dropped topic, is %.4f of topic %d, and was %.4f", w, x, k, y)
			}
		}
	}
	edited, err := refit.Edit(Edits{Model: refit.Fingerprint(), Merge: [][]int{{1, 2}}, Stop: best[other][:1], Exclude: map[int][]string{0: best[planted][:1]}})
	if err != nil {
		t.Fatal(err)
	}
	check("edited", edited.reordered([]int{1, 0, 2, 3, 4, 5, 6, 7}), 8)
	if edited, err = p.From(edited).Fit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	check("refitted", edited, 8)
	for r, err := range (Bootstrap{Warm: 1, Cold: -1, Drawn: -1}).Replicates(t.Context(), p, refit, c) {
		if err != nil {
			t.Fatal(err)
		}
		check("replicate", r.Model, 9)
		if slices.Max(r.Distance) > 0.3 || slices.Contains(r.Matched, false) {
			t.Errorf("a replicate is at distances of %.2f", r.Distance)
		}
	}
	split, err := p.Edit(t.Context(), refit, c, Edits{Model: refit.Fingerprint(), Split: map[int]int{3: 2}})
	if err != nil {
		t.Fatal(err)
	}
	check("split", split, 10)
}
