package jsmf

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// A topic that was two is split into both, and nothing else changes its number or name; a topic that is dropped
// gives its words to others. A refit keeps all of it.
func TestEditSplits(t *testing.T) {
	testutil.NotWithRace(t)
	c, b, best := seeded(t, 450, 45)
	p := New(10)
	whole, err := p.Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	planted := func(m *Model, k int) (at int, distance float64) {
		distance = 2
		for s := range 10 {
			if x := 2 * (1 - similarity(m, k, b, s)); x < distance {
				at, distance = s, x
			}
		}
		return at, distance
	}
	were := make([]int, 10)
	for k := range were {
		were[k], _ = planted(whole, k)
	}
	m, err := whole.Edit(Edits{Model: whole.Fingerprint(), Merge: [][]int{{2, 7}}, Names: map[int]string{2: "both", 4: "four", 9: "nine"}, Hide: []string{best[were[4]][0]}})
	if err != nil {
		t.Fatal(err)
	}
	edits := Edits{Model: m.Fingerprint(), Split: map[int]int{2: 2}, Names: map[int]string{5: "five"}}
	split, err := p.Edit(t.Context(), m, c, edits)
	if err != nil {
		t.Fatal(err)
	}
	want := []int{were[0], were[1], were[2], were[3], were[4], were[5], were[6], were[8], were[9], were[7]}
	check := func(what string, m *Model, want []int, names map[int]string) {
		t.Helper()
		if m.K() != len(want) {
			t.Fatalf("%s: %d topics, want %d", what, m.K(), len(want))
		}
		for k := range want {
			if at, d := planted(m, k); at != want[k] || d > 0.3 {
				t.Errorf("%s: topic %d is planted topic %d, at a distance of %.3f, and not %d", what, k, at, d, want[k])
			}
			if given := m.userName(k); given != names[k] {
				t.Errorf("%s: topic %d is called %q, want %q", what, k, given, names[k])
			}
		}
		for k := range m.K() {
			if slices.ContainsFunc(m.TopWords(k, 10), func(w WordProb) bool { return w.Word == best[were[4]][0] }) {
				t.Errorf("%s: the hidden word is in topic %d", what, k)
			}
		}
	}
	if at, _ := planted(split, 2); at == were[7] { // the larger part
		want[2], want[9] = want[9], want[2]
	}
	names := map[int]string{4: "four", 5: "five", 8: "nine"}
	check("split", split, want, names)
	if s := split.Stats().Edited.Splits; len(s) != 1 || s[0].Topic != 2 || !s[0].BorneOut() || s[0].Gain < 2*s[0].Chance || !strings.HasPrefix(s[0].String(), "the documents bear out that topic 2 (") {
		t.Errorf("of two planted topics: %v", s)
	}
	refit := split.Stats().Refit
	if !slices.Equal(refit.New, []int{9}) || refit.Vanished != nil || !math.IsNaN(refit.Drift[9]) || refit.Drift[2] < 0.3 {
		t.Errorf("%+v", refit)
	}
	for k, d := range refit.Drift[:9] {
		if k != 2 && d > 0.02 {
			t.Errorf("topic %d drifted by %v while another was split", k, d)
		}
	}
	docs, err := split.Transform(t.Context(), c.Source())
	if err != nil {
		t.Fatal(err)
	}
	with, err := split.With(Additions{Documents: docs, Names: split.Additions().Names})
	if err != nil {
		t.Fatal(err)
	}
	dropped, err := with.Edit(Edits{Model: split.Fingerprint(), Drop: []int{3, 0}})
	if err != nil {
		t.Fatal(err)
	}
	var whatIsLeft bytes.Buffer
	if _, err := dropped.WriteTo(&whatIsLeft); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadModel(&whatIsLeft); err != nil || dropped.K() != 8 || dropped.Name(2) != "four" || dropped.Name(6) != "nine" {
		t.Errorf("%d topics, %q, %v", dropped.K(), dropped.Names(), err)
	}
	left := dropped.Additions().Documents
	for k, was := range []int{1, 2, 4, 5, 6, 7, 8, 9} {
		for w := range split.N() {
			if x, y := dropped.Topics().At(w, k), split.Topics().At(w, was); math.Abs(x-y) > 1e-12 {
				t.Fatalf("topic %d, which was %d: p(%s) is %v and was %v", k, was, split.Word(w), x, y)
			}
		}
		for _, d := range []int{50, 333} { // the others of a document have the same ratios
			if x, y := left.W.At(d, k)*docs.W.At(d, 1), docs.W.At(d, was)*left.W.At(d, 0); math.Abs(x-y) > 1e-12 {
				t.Errorf("document %d: %v of topic %d", d, left.W.RawRowView(d), was)
			}
		}
	}
	if err := left.Validate(8); err != nil {
		t.Error(err)
	}
	less, _, err := c.Split(0.1, 1)
	if err != nil {
		t.Fatal(err)
	}
	var kept bytes.Buffer
	if _, err := split.WriteTo(&kept); err != nil {
		t.Fatal(err)
	}
	read, err := ReadModel(&kept)
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.From(read).Fit(t.Context(), less)
	if err != nil {
		t.Fatal(err)
	}
	check("refit", again, want, names)
	if s := again.Stats().Edited.Splits; !slices.Equal(s, split.Stats().Edited.Splits) {
		t.Errorf("after a refit: %v", s)
	}
	if again, err = New(11).From(split).Fit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if again.K() != 11 || !slices.Equal(again.Stats().Refit.New, []int{10}) {
		t.Errorf("with one more: %d topics, new: %v", again.K(), again.Stats().Refit.New)
	}
	if _, err := New(9).From(split).Fit(t.Context(), c); err == nil || !strings.Contains(err.Error(), "drop some") {
		t.Errorf("with one fewer: %v", err)
	}
}

// Seeds are kept by refits, which need not repeat them, and go with a topic that is split.
func TestSeedsAreKept(t *testing.T) {
	testutil.NotWithRace(t)
	c, _, best := seeded(t, 450, 45)
	seeds := []Seed{{Name: "third", Words: best[2][2:6]}, {Name: "rare", Words: best[9][:5], Strength: 0.1}}
	m, err := New(10).Seeds(seeds...).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.Edit(Edits{Model: m.Fingerprint(), Names: map[int]string{1: "very rare"}}); err != nil {
		t.Fatal(err)
	}
	if m, err = m.Reorder([]int{2, 1, 0, 3, 4, 5, 6, 7, 8, 9}); err != nil {
		t.Fatal(err)
	}
	next, err := New(10).From(m).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	stats := next.Stats()
	if next.Name(2) != "third" || next.Name(1) != "very rare" || stats.Seeds[0].Topic != 2 || stats.Seeds[1].Asked.Strength != 0.1 || len(stats.Refit.New) > 0 {
		t.Errorf("%q, %+v, %+v", next.Names(), stats.Seeds, stats.Refit)
	}
	more := append(slices.Clone(seeds), Seed{Words: best[4][:4]})
	if next, err = New(10).Seeds(more...).From(next).Fit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if st := next.Stats(); next.K() != 11 || st.Seeds[2].Topic != 10 || st.Seeds[0].Topic != 2 || next.Name(2) != "third" {
		t.Errorf("%d topics, %+v", next.K(), st.Seeds)
	}
	if next, err = New(10).Edit(t.Context(), m, c, Edits{Model: m.Fingerprint(), Split: map[int]int{2: 2}}); err != nil {
		t.Fatal(err)
	}
	if st := next.Stats().Seeds; len(st) != 1 || st[0].Topic != 1 || next.K() != 11 || next.userName(2) != "" {
		t.Errorf("%d topics, %q, %+v", next.K(), next.Names(), st)
	}
	if st := next.Stats(); len(st.Edited.Splits) != 1 || st.Edited.Splits[0].BorneOut() || !slices.Contains(st.Warnings, st.Edited.Splits[0].String()) {
		t.Errorf("of a planted topic: %v, %q", st.Edited.Splits, st.Warnings)
	}
}

func TestEditErrorsOfParts(t *testing.T) {
	m := mustModel(t, readParts("god jesus bible", "space nasa orbit", "space nasa moon", "war army tank"))
	c, _, _ := seeded(t, 20, 2)
	id := m.Fingerprint()
	for want, e := range map[string]Edits{
		"into 1":                                  {Split: map[int]int{1: 1}},
		"topic 4, to be dropped":                  {Drop: []int{4}},
		"topic -1, to be split into 2":            {Split: map[int]int{-1: 2}},
		"to be dropped and dropped":               {Drop: []int{1, 1}},
		"dropped and split into 2":                {Drop: []int{1}, Split: map[int]int{1: 2}},
		"topic 2 is to be part of 1 and dropped":  {Drop: []int{2}, Merge: [][]int{{1, 2}}},
		"topic 1 is to be split into 2 and named": {Split: map[int]int{1: 2}, Names: map[int]string{1: "x"}},
		"leave 1":                        {Drop: []int{0, 1, 2}},
		"and there are none":             {Drop: []int{1}, Split: map[int]int{2: 2}},
		"the edits are of model \"old\"": {Model: "old", Drop: []int{1}},
	} {
		if e.Model == "" {
			e.Model = id
		}
		before := maps.Clone(e.Split)
		if _, err := Published(4).Edit(t.Context(), m, c, e); err == nil || !strings.HasPrefix(err.Error(), "jsmf: edit: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if !maps.Equal(before, e.Split) {
			t.Error("the edits were changed")
		}
	}
	if _, err := m.Edit(Edits{Model: id, Split: map[int]int{1: 2}}); err == nil || !strings.Contains(err.Error(), "Pipeline.Edit") {
		t.Error(err)
	}
	if got, err := Published(4).Edit(t.Context(), m, (*corpus.Corpus)(nil), Edits{Model: id, Names: map[int]string{1: "x"}}); err != nil || got.Name(1) != "x" {
		t.Errorf("a name alone: %v", err)
	}
	var e Edits
	if err := json.Unmarshal([]byte(`{"model": "x", "split": {"2": 3}, "drop": [5]}`), &e); err != nil || e.Split[2] != 3 || e.Drop[0] != 5 {
		t.Errorf("%+v, %v", e, err)
	}
}

// A word that is stopped after the fit leaves the topics that a fit without it finds, and shares near its; one
// that is kept out of a topic is in the others as it was. A refit keeps both.
func TestEditWords(t *testing.T) {
	testutil.NotWithRace(t)
	c, _, best := seeded(t, 450, 45)
	m, err := New(10).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := m.Transform(t.Context(), c.Source())
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.With(Additions{Documents: docs}); err != nil {
		t.Fatal(err)
	}
	stop := []string{m.TopWords(0, 1)[0].Word, best[3][1]}
	out, err := m.Edit(Edits{Model: m.Fingerprint(), Stop: stop, Exclude: map[int][]string{4: {m.TopWords(4, 1)[0].Word}}})
	if err != nil {
		t.Fatal(err)
	}
	less, _, err := corpus.Curate(c, corpus.Curation{StopWords: stop})
	if err != nil {
		t.Fatal(err)
	}
	fit, err := New(10).From(m).Fit(t.Context(), less)
	if err != nil {
		t.Fatal(err)
	}
	al, err := Align(t.Context(), out, fit, 1)
	if err != nil {
		t.Fatal(err)
	}
	shares, want, before := out.TopicShares(), fit.TopicShares(), m.TopicShares()
	for k, d := range al.Drift {
		if k != 4 && d > 0.05 {
			t.Errorf("topic %d is at a distance of %.3f from that of a fit without the words", k, d)
		}
		if math.Abs(shares[k]-want[k]) > 0.02 {
			t.Errorf("topic %d has a share of %.3f, before %.3f, and %.3f in a fit without the words", k, shares[k], before[k], want[k])
		}
	}
	if err := out.Additions().Documents.Validate(10); err != nil {
		t.Error(err)
	}
	excluded, _ := m.Index(m.TopWords(4, 1)[0].Word)
	refit, err := New(10).From(out).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	// In the passes of the refit other topics take the word.
	part := func(x *Model) (sum float64) {
		for k, v := range x.TopicShares() {
			sum += v * x.Topics().At(excluded, k)
		}
		return sum
	}
	if before, edited, now := part(m), part(out), part(refit); edited > 0.5*before || math.Abs(now-before) > 0.1*before {
		t.Errorf("the word is %.5f of the topics, %.5f where it is kept out of its own, and %.5f after a refit", before, edited, now)
	}
	turned, err := out.Reorder([]int{4, 0, 1, 2, 3, 5, 6, 7, 8, 9})
	if err != nil {
		t.Fatal(err)
	}
	for what, x := range map[string]*Model{"edited": out, "refit": refit, "turned": turned} {
		k := x.Stats().Edited.Excluded[0].Topic
		if x.Topics().At(excluded, k) != 0 || x.Topics().At(excluded, 8) == 0 || x.TopWords(k, 1)[0].Index == excluded {
			t.Errorf("%s: the word is not kept out of topic %d alone", what, k)
		}
		for _, w := range stop {
			if i, _ := x.Index(w); mat.Sum(x.denseTopics().RowView(i)) != 0 || strings.Contains(strings.Join(x.Names(), " ")+" ", w+" ") {
				t.Errorf("%s: the word %s is there", what, w)
			}
		}
		for k := range 10 {
			if sum := mat.Sum(x.denseTopics().ColView(k)); math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s: topic %d has the sum %v", what, k, sum)
			}
		}
		if _, err := ReadModel(bytes.NewReader(encoded(t, x))); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	merged, err := out.Edit(Edits{Model: out.Fingerprint(), Merge: [][]int{{4, 5}}})
	if err != nil || merged.Stats().Edited.Excluded != nil && len(merged.Stats().Edited.Excluded) > 0 {
		t.Errorf("merged: %+v, %v", merged.Stats().Edited, err)
	}
	id := m.Fingerprint()
	for want, e := range map[string]Edits{
		"to stop that are not in the vocabulary: \"w99999\"": {Stop: []string{"w99999"}},
		"keep out of topic 3 that are not":                   {Exclude: map[int][]string{3: {"w99999"}}},
		"topic 10, to be without some words, is not":         {Exclude: map[int][]string{10: {"w1"}}},
		"topic 1 is to be part of 1 and without some words":  {Exclude: map[int][]string{1: {"w1"}}, Merge: [][]int{{1, 2}}},
		"no words but": {Stop: m.Vocabulary()},
	} {
		e.Model = id
		if _, err := m.Edit(e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Topics that moved farther than by chance are said to have moved, where chance is known.
func TestRefitMoved(t *testing.T) {
	m := mustModel(t, readParts("god jesus bible", "space nasa orbit", "war army tank", "ball goal team"))
	next := mustModel(t, readParts("god jesus church", "space nasa orbit", "war army tank", "peace treaty king"))
	known, err := next.follow(t.Context(), m, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s := known.Stats().Refit; s.Moves != nil || !strings.Contains(s.Movement(), "is not known") {
		t.Errorf("without a bootstrap: %+v", s)
	}
	m.add.Uncertainty = &Uncertainty{Level: 0.95, Topics: []TopicUncertainty{{MovesAnew: 0.01}, {MovesAnew: 0.01}, {}, {MovesAnew: 0.01}}}
	got, err := next.follow(t.Context(), m, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s := got.Stats().Refit; !slices.Equal(s.Moved, []int{0}) || !slices.Equal(s.New, []int{3}) || s.Movement() != "Moved farther than refits to resampled documents move them: topics 0." {
		t.Errorf("%+v", s)
	}
	kept, err := next.follow(t.Context(), m, []int{0, 1, 2, 3}, 1) // of passes that began with the topics of m
	if err != nil {
		t.Fatal(err)
	}
	if s := kept.Stats().Refit; s.Moves != nil || s.Moved != nil {
		t.Errorf("without warm replicates: %+v", s)
	}
	turned := got.reordered([]int{3, 1, 2, 0}).Stats().Refit
	if !slices.Equal(turned.Moved, []int{3}) || !slices.Equal(turned.New, []int{0}) || turned.Moves[3] != 0.01 {
		t.Errorf("turned: %+v", turned)
	}
}

// What cannot be divided is not judged, and what is wrong with the documents is an error.
func TestSplitNotJudged(t *testing.T) {
	r := &run{pr: &problem{n: 3}}
	docs, err := corpus.Encode(t.Context(), corpus.FromSeq(func(yield func(corpus.Document, error) bool) {
		yield(corpus.Document{Words: []int32{0, 2}}, nil)
	}, corpus.Description{Vocabulary: []string{"a", "b", "c"}}))
	if err != nil {
		t.Fatal(err)
	}
	s := SplitStats{Topic: 1, Name: "x", Parts: 2}
	if less, gain, err := s.gain(t.Context(), r, docs, []float64{0.5, 0, 0.5}); less != nil || gain != 0 || err != nil {
		t.Errorf("a document of two words: %v, %v, %v", less, gain, err)
	}
	if _, _, err := s.gain(t.Context(), r, docs, []float64{1}); err == nil {
		t.Error("documents of other words are said to be too few")
	}
	if s.BorneOut() || !strings.HasPrefix(s.String(), "too few documents have enough of topic 1 (x) to tell") {
		t.Errorf("%v", s)
	}
}
