package jsmf

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/modelfile"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// editable is a model of six topics with all that merging touches, and the proportions of
// the documents behind its correlations.
func editable(t *testing.T) (*Model, *mat.Dense) {
	t.Helper()
	p, w := randomParts(40, 6, 7)
	q, _ := randomParts(40, 6, 8)
	p.Reading = q.Topics
	p.Alpha = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}
	p.Background = []bool{true, false, false, true, true, false}
	p.AnchorGroups = [][]int{nil, {1, 20}, nil, nil, nil, nil}
	p.Stats.Anchors.Norms = []float64{6, 5, 4, 3, 2, 1}
	p.Stats.Refit = RefitStats{Drift: []float64{0, .1, .2, .3, .4, .5}, New: []int{1, 5}}
	p.Names = []string{"", "one", "two", "", "", "five"}
	docs, _ := w.Dims()
	c := &Compositions{W: w, IDs: make([]string, docs), Docs: make([]infer.Doc, docs), Unknown: make([]int64, docs)}
	for d := range c.IDs {
		c.IDs[d] = fmt.Sprint(d + 1)
	}
	m, err := mustModel(t, p).With(Additions{Documents: c})
	if err != nil {
		t.Fatal(err)
	}
	m.dual = slices.Clone(m.corr)
	return m, w
}

// summed returns the columns of a, those of each group as their sum.
func summed(a mat.Matrix, groups [][]int) *mat.Dense {
	n, _ := a.Dims()
	out := mat.NewDense(n, len(groups), nil)
	for i := range n {
		for l, g := range groups {
			for _, k := range g {
				out.Set(i, l, out.At(i, l)+a.At(i, k))
			}
		}
	}
	return out
}

// Merged topics are what the sum of their proportions in documents makes them. 1e-12: sums
// in another order.
func TestEditMerges(t *testing.T) {
	const tol = 1e-12
	m, w := editable(t)
	groups := [][]int{{0, 3}, {1}, {4}, {5, 2}} // by new number, the topic that stays first
	got, err := m.Edit(Edits{Model: m.Fingerprint(), Merge: [][]int{{5, 2}, {0, 3}}})
	if err != nil {
		t.Fatal(err)
	}
	if got.K() != 4 || got.N() != m.N() {
		t.Fatalf("%d topics over %d words", got.K(), got.N())
	}
	docs, _ := w.Dims()
	joined := summed(w, groups)
	var a mat.Dense
	a.Mul(joined.T(), joined)
	a.Scale(1/float64(docs), &a)
	if !mat.EqualApprox(got.Correlations(), &a, tol) {
		t.Errorf("A\n%v\nwant\n%v", mat.Formatted(got.Correlations()), mat.Formatted(&a))
	}
	if !mat.EqualApprox(got.WordTopics(), summed(m.WordTopics(), groups), tol) || !mat.EqualApprox(got.Additions().Documents.W, joined, tol) {
		t.Error("p(topic | word) or the proportions of documents do not add up")
	}
	shares, before := got.TopicShares(), m.TopicShares()
	for name, x := range map[string][2]mat.Matrix{"topics": {m.Topics(), got.Topics()}, "reading": {m.Reading(), got.Reading()}} {
		for l, g := range groups {
			sum := 0.0
			for _, k := range g {
				sum += before[k]
			}
			if math.Abs(shares[l]-sum) > tol {
				t.Errorf("topic %d has a share of %v, want %v", l, shares[l], sum)
			}
			for i := range m.N() {
				want := 0.0
				for _, k := range g {
					want += before[k] / sum * x[0].At(i, k)
				}
				if v := x[1].At(i, l); math.Abs(v-want) > tol {
					t.Fatalf("%s: word %d in topic %d has %v, want %v", name, i, l, v, want)
				}
			}
		}
	}
	if got.TopWords(0, 5)[0].Weight != slices.Max(mat.Col(nil, 0, got.Reading())) {
		t.Error("TopWords does not rank by the merged reading weights")
	}
}

// What else a model has goes with its topics, and through its file.
func TestEditMergesTheRest(t *testing.T) {
	m, _ := editable(t)
	order := []int{0, 1, 4, 5} // the topics that stay
	got, err := m.Edit(Edits{Model: m.Fingerprint(), Merge: [][]int{{5, 2}, {0, 3}}, Names: map[int]string{0: "both", 5: ""}})
	if err != nil {
		t.Fatal(err)
	}
	for l, want := range []float64{0.5, 0.2, 0.5, 0.9} {
		if math.Abs(got.Alpha()[l]-want) > 1e-12 {
			t.Errorf("α of topic %d is %v, want %v", l, got.Alpha()[l], want)
		}
	}
	names := got.Names()
	if names[0] != "both" || names[1] != "one" || names[3] == "five" || names[3] == "two" {
		t.Errorf("names %q", names)
	}
	if b := got.Background(); !slices.Equal(b, []bool{true, false, true, false}) {
		t.Errorf("background %v", b)
	}
	if !slices.Equal(got.Anchors(), order) || !slices.Equal(got.AnchorGroups()[1], []int{1, 20}) || !slices.Equal(got.Stats().Anchors.Norms, []float64{6, 5, 2, 1}) {
		t.Errorf("anchors %v of %v, norms %v", got.Anchors(), got.AnchorGroups(), got.Stats().Anchors.Norms)
	}
	if r := got.Stats().Refit; !slices.Equal(r.Drift, []float64{0, .1, .4, .5}) || !slices.Equal(r.New, []int{1, 3}) {
		t.Errorf("refit: %+v", r)
	}
	if got.inferTopics().Dual != nil {
		t.Error("the dual of six topics stays")
	}
	if s := got.Provenance().Stages; !slices.Equal(s[len(s)-2:], []string{"topics merged: 5 2", "topics merged: 0 3"}) {
		t.Errorf("provenance %q", s)
	}
	if err := modelfile.Check(got.sections()); err != nil {
		t.Error(err)
	}
	var file bytes.Buffer
	if _, err := got.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	if back, err := ReadModel(&file); err != nil || back.Fingerprint() != got.Fingerprint() || !slices.Equal(back.Names(), names) || !mat.Equal(back.Additions().Documents.W, got.Additions().Documents.W) {
		t.Errorf("from its file: %v, %v", back, err)
	}
	if m.K() != 6 || m.Name(0) == "both" || modelfile.Check(m.sections()) != nil {
		t.Error("the model itself has changed")
	}
}

// Topics of no share, or of a negative one, do not spoil those they are merged with.
func TestEditMergesWithoutShares(t *testing.T) {
	p, _ := randomParts(30, 4, 9)
	p.Correlations = mat.NewDense(4, 4, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, -0.2, 0, 0, -0.2, 0.1})
	p.Reading = mat.DenseCopyOf(p.Topics)
	p.Reading.SetCol(2, make([]float64, 30))
	m := mustModel(t, p)
	for _, c := range []struct {
		group   []int
		b, read func(i int) float64
	}{
		{[]int{0, 1}, func(i int) float64 { return (p.Topics.At(i, 0) + p.Topics.At(i, 1)) / 2 }, func(i int) float64 { return (p.Topics.At(i, 0) + p.Topics.At(i, 1)) / 2 }},
		{[]int{2, 3}, func(i int) float64 { return p.Topics.At(i, 2) }, func(int) float64 { return 0 }},
	} {
		got, err := m.Edit(Edits{Model: m.Fingerprint(), Merge: [][]int{c.group}})
		if err != nil {
			t.Fatal(err)
		}
		if err := modelfile.Check(got.sections()); err != nil {
			t.Error(err)
		}
		l := c.group[0]
		for i := range m.N() {
			if math.Abs(got.Topics().At(i, l)-c.b(i)) > 1e-12 || math.Abs(got.Reading().At(i, l)-c.read(i)) > 1e-12 {
				t.Fatalf("%v: word %d has %v and %v", c.group, i, got.Topics().At(i, l), got.Reading().At(i, l))
			}
		}
	}
}

// Only names, or nothing at all.
func TestEditNames(t *testing.T) {
	m, _ := editable(t)
	got, err := m.Edit(Edits{Model: m.Fingerprint(), Names: map[int]string{1: "five", 5: "one", 2: ""}})
	if err != nil {
		t.Fatal(err)
	}
	want := m.Names()
	want[1], want[5] = "five", "one"
	if names := got.Names(); names[2] == "two" || names[1] != "five" || names[5] != "one" || !slices.Equal(names[3:5], want[3:5]) {
		t.Errorf("names %q", names)
	}
	if got.Fingerprint() != m.Fingerprint() || got.dual == nil {
		t.Error("a name has changed more than a name")
	}
	if same, err := m.Edit(Edits{Model: m.Fingerprint()}); err != nil || !slices.Equal(same.Names(), m.Names()) {
		t.Errorf("no edits: %q, %v", same.Names(), err)
	}
}

// Hidden words are read in no topic and are in no name, also of the model in a file; the topics are the same.
func TestEditHides(t *testing.T) {
	testutil.NotWithRace(t)
	c, _, best := seeded(t, 900, 0)
	m, err := New(6).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	words := []string{m.TopWords(0, 1)[0].Word, best[3][0]}
	out, err := m.Edit(Edits{Model: m.Fingerprint(), Hide: words})
	if err != nil {
		t.Fatal(err)
	}
	if out.Fingerprint() != m.Fingerprint() || !mat.Equal(out.Topics(), m.Topics()) {
		t.Error("the topics are others")
	}
	again, err := ReadModel(bytes.NewReader(encoded(t, out)))
	if err != nil {
		t.Fatal(err)
	}
	for k := range m.K() {
		var want []string
		for _, w := range m.TopWords(k, 12) {
			if !slices.Contains(words, w.Word) {
				want = append(want, w.Word)
			}
		}
		for _, x := range []*Model{out, again} {
			var got []string
			for _, w := range x.TopWords(k, len(want)) {
				got = append(got, w.Word)
			}
			if !slices.Equal(got, want) {
				t.Errorf("topic %d is read by %q, want %q", k, got, want)
			}
			if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(x.Name(k)+" ", w+" ") }) {
				t.Errorf("topic %d is called %q", k, x.Name(k))
			}
		}
	}
	if _, err := m.Edit(Edits{Model: m.Fingerprint(), Hide: []string{"w1", "w99999"}}); err == nil || !strings.Contains(err.Error(), `"w99999" (near: `) {
		t.Errorf("a word that is not there: error %v", err)
	}
}

func TestEditErrors(t *testing.T) {
	m, _ := editable(t)
	other, err := m.Reorder([]int{1, 0, 2, 3, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	id := m.Fingerprint()
	for want, e := range map[string]Edits{
		`are of model "", and`:                       {},
		"are of model \"" + id[:4]:                   {Model: id[:4]},
		"merging [3]: want two":                      {Model: id, Merge: [][]int{{3}}},
		"merging []: want two":                       {Model: id, Merge: [][]int{{}}},
		"topic 6, to be part of 1, is not in [0, 6)": {Model: id, Merge: [][]int{{1, 6}}},
		"topic -1, to be part of -1, is not in":      {Model: id, Merge: [][]int{{-1, 1}}},
		"topic 1 is to be part of 1 and part of 1":   {Model: id, Merge: [][]int{{1, 1}}},
		"topic 3 is to be part of 3 and part of 2":   {Model: id, Merge: [][]int{{3, 1}, {2, 3}}},
		"leave 1 topics":                             {Model: id, Merge: [][]int{{0, 1, 2, 3, 4, 5}}},
		"topic 6, to be named, is not in [0, 6)":     {Model: id, Names: map[int]string{6: "six"}},
		"topic 1 is to be part of 3 and named":       {Model: id, Merge: [][]int{{3, 1}}, Names: map[int]string{1: "x"}},
		`"one" is that of topics 1 and 4`:            {Model: id, Names: map[int]string{4: "one"}},
		"control characters":                         {Model: id, Names: map[int]string{4: "a\nb"}},
	} {
		if got, err := m.Edit(e); err == nil || !strings.HasPrefix(err.Error(), "jsmf: edit: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", want, got, err)
		}
	}
	if _, err := other.Edit(Edits{Model: id}); err == nil || !strings.Contains(err.Error(), other.Fingerprint()) {
		t.Errorf("edits of the topics in another order: %v", err)
	}
	if _, err := m.Edit(Edits{Model: id, Merge: [][]int{{0, 1}}, Names: map[int]string{4: "one"}}); err != nil {
		t.Errorf("the name of a topic that is part of another now: %v", err)
	}
}

func TestEditsJSON(t *testing.T) {
	want := Edits{Model: "9f2c41d07ab3e855", Names: map[int]string{3: "courts", 10: "money"}, Merge: [][]int{{3, 7}, {9, 5, 11}}}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if text := `{"model":"9f2c41d07ab3e855","names":{"10":"money","3":"courts"},"merge":[[3,7],[9,5,11]]}`; string(b) != text {
		t.Errorf("%s, want %s", b, text)
	}
	var got Edits
	if err := json.Unmarshal(b, &got); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		`{"model":"a","merges":[[1,2]]}`:  `unknown field "merges"`,
		`{"model":"a","merge":[[1,2.5]]}`: "2.5",
		`{"model":"a","names":{"x":"y"}}`: "x",
	} {
		if err := json.Unmarshal([]byte(text), &got); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Words and topics, and their order, change the fingerprint, and nothing else does.
func TestFingerprint(t *testing.T) {
	m, _ := editable(t)
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	back, err := ReadModel(&file)
	if err != nil {
		t.Fatal(err)
	}
	named, err := back.With(Additions{Names: make([]string, 6)})
	if err != nil {
		t.Fatal(err)
	}
	id := m.Fingerprint()
	if len(id) != 16 || named.Fingerprint() != id {
		t.Errorf("%q and %q", id, named.Fingerprint())
	}
	word, topic := *m, *m
	word.vocab = slices.Clone(m.vocab)
	word.vocab[3] += "s"
	topic.topics = slices.Clone(m.topics)
	topic.topics[5] = math.Nextafter(topic.topics[5], 1)
	if word.Fingerprint() == id || topic.Fingerprint() == id {
		t.Error("other words or topics have the same fingerprint")
	}
}

// A refit takes over the names of an edited model.
func TestEditThenRefit(t *testing.T) {
	m := mustModel(t, readParts("god jesus bible", "space nasa orbit", "space nasa moon", "war army tank"))
	edited, err := m.Edit(Edits{Model: m.Fingerprint(), Merge: [][]int{{1, 2}}, Names: map[int]string{1: "Heaven"}})
	if err != nil {
		t.Fatal(err)
	}
	next := mustModel(t, readParts("war army tank", "space nasa orbit moon", "god jesus bible"))
	got, err := next.follow(context.Background(), edited, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if names := got.Names(); names[1] != "Heaven" || names[2] != "war · army · tank" {
		t.Errorf("names %q", names)
	}
}
