package jsmf

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
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

// What a person has decided is kept by ten refits, each to a tenth more documents: seeds, a name, a topic made of two, one
// in two parts and one that is dropped. Topics keep their numbers: each is the planted topics that it was.
func TestKeptByTenRefits(t *testing.T) {
	testutil.NotWithRace(t)
	const size = 500
	c, b, best := seeded(t, size, size/10)
	order := rand.New(rand.NewPCG(1, 2)).Perm(size)
	first := func(n float64) *corpus.Corpus {
		out, err := c.Select(slices.Sorted(slices.Values(order[:int(n)])), nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	n := size / math.Pow(1.1, 10)
	p := New(10).Words(300).Refine(refine.Passes{N: 8, Correlated: 4})
	m, err := p.Seeds(Seed{Name: "zero", Words: best[0][:4]}, Seed{Name: "one", Words: best[1][:4]}).Fit(t.Context(), first(n))
	if err != nil {
		t.Fatal(err)
	}
	nearest := func(m *Model, k int) (at int) {
		for s := range 10 {
			if similarity(m, k, b, s) > similarity(m, k, b, at) {
				at = s
			}
		}
		return at
	}
	gone := nearest(m, 7)
	if m, err = p.Edit(t.Context(), m, first(n), Edits{Model: m.Fingerprint(), Names: map[int]string{2: "two"}, Merge: [][]int{{3, 4}}, Split: map[int]int{5: 2}, Drop: []int{7}}); err != nil {
		t.Fatal(err)
	}
	var was []int
	for k := range m.K() {
		was = append(was, nearest(m, k))
	}
	for range 10 {
		n *= 1.1
		if m, err = p.From(m).Fit(t.Context(), first(math.Round(n))); err != nil {
			t.Fatal(err)
		}
		if st := m.Stats().Refit; len(m.TopicShares()) != len(was) || len(st.New)+len(st.Vanished) > 0 {
			t.Fatalf("%.0f documents: %d topics, new %v, gone %v", n, m.K(), st.New, st.Vanished)
		}
	}
	for k, s := range was {
		if at := nearest(m, k); at != s || at == gone {
			t.Errorf("topic %d was planted topic %d and is %d; topic %d was dropped", k, s, at, gone)
		}
	}
	if m.userName(0) != "zero" || m.userName(1) != "one" || m.userName(2) != "two" || len(m.Stats().Seeds) != 2 {
		t.Errorf("names %q, seeds %+v", m.add.Names, m.Stats().Seeds)
	}
}
