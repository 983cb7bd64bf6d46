package jsmf_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// How many topics the start has, by the settings and their order. The passes leave K, each
// with an anchor of its own, in the order in which these were found.
func TestExtra(t *testing.T) {
	testutil.NotWithRace(t)
	c := draw(t, themes(700, 20), corpus.SymmetricDirichlet(20, 0.1), 1500)
	p := jsmf.New(7).Words(250).Refine(refine.Passes{N: 8, Correlated: -1})
	for _, x := range []struct {
		name  string
		p     jsmf.Pipeline
		k     int
		start int
	}{
		{"default", p, 7, 16},
		{"another K", p.K(12), 12, 16},
		{"more than a vector", p.K(14), 14, 32},
		{"a fourth of the words", p.Words(40), 7, 10},
		{"few words", p.Words(20), 7, 7},
		{"given", p.Extra(3), 7, 10},
		{"given, another K", p.Extra(3).K(9), 9, 12},
		{"none", p.Extra(0), 7, 7},
		{"a finder", p.Anchors(anchor.QR{}), 7, 7},
		{"a finder, then more", p.Anchors(anchor.QR{}).Extra(2), 7, 9},
		{"a finder, then the default", p.Anchors(anchor.QR{}).Extra(-1), 7, 16},
		{"no passes", p.Refine(nil), 7, 7},
		{"published", jsmf.Published(7).Refine(refine.Passes{N: 2, Correlated: -1}), 7, 7},
		{"published, with more", jsmf.Published(7).Extra(4).Refine(refine.Passes{N: 2, Correlated: -1}), 7, 11},
	} {
		m := fit(t, x.p, c)
		st := m.Stats()
		if m.K() != x.k || st.Anchors.K != x.start || st.Anchors.Requested != x.k || len(st.Rectify.Eigenvalues) != x.start {
			t.Errorf("%s: %d of %d topics, %d eigenvalues; want %d of %d", x.name, m.K(), st.Anchors.K, len(st.Rectify.Eigenvalues), x.k, x.start)
		}
		norms := slices.Clone(st.Anchors.Norms)
		slices.Reverse(norms)
		if anchors := m.Anchors(); len(anchors) != x.k || len(norms) != x.k || !slices.IsSorted(norms) {
			t.Errorf("%s: anchors %v with norms %v", x.name, anchors, st.Anchors.Norms)
		}
	}
	small := p.Words(20)
	if got, want := fit(t, small.Extra(math.MaxInt), c).Stats().Anchors.K, fit(t, small.Extra(20), c).Stats().Anchors.K; got != want || got == 7 {
		t.Errorf("Extra(math.MaxInt): a start of %d topics, want the %d that 20 words have", got, want)
	}
	if st := fit(t, p.AnchorFree(anchorfree.LP{}), c).Stats(); len(st.Rectify.Eigenvalues) != 7 || st.Sum == 0 {
		t.Errorf("without anchors: %d eigenvalues, sum of A %g", len(st.Rectify.Eigenvalues), st.Sum)
	}
}

// Data with fewer dimensions than the start asks for, but not fewer than K, have a start
// of as many; with fewer than K the error is that of a start with K topics.
func TestExtraRank(t *testing.T) {
	testutil.NotWithRace(t)
	// Copies of 9 documents of 30 words. Their second moments have rank 9.
	var docs []map[int]int
	for d := range 270 {
		doc := map[int]int{}
		for w := range 30 {
			if x := (w*7 + d%9*11 + w*(d%9)) % 13; x < 5 {
				doc[w] = x + 1
			}
		}
		docs = append(docs, doc)
	}
	c := countsCorpus(t, 30, docs)
	p := jsmf.New(4).Words(30).Refine(refine.Passes{N: 8})
	if st := fit(t, p.Extra(12), c).Stats(); st.Anchors.K < 4 || st.Anchors.K > 9 || len(st.Anchors.Norms) != 4 {
		t.Errorf("%d anchors, want 4 to 9", st.Anchors.K)
	}
	var few, rank *anchor.RankError
	_, err := p.K(12).Extra(0).Fit(ctx, c)
	if !errors.As(err, &few) {
		t.Fatal(err)
	}
	if _, err = p.K(12).Extra(8).Fit(ctx, c); !errors.As(err, &rank) || rank.Rank >= 12 {
		t.Errorf("%v, want %v", err, few)
	}
	// Fewer documents than topics of the start.
	if m := fit(t, jsmf.New(5), textLike(t, 12, 400, 120)); m.K() != 5 || m.Stats().Anchors.K < 5 || m.Stats().Anchors.K > 12 {
		t.Errorf("12 documents: %d of %d topics", m.K(), m.Stats().Anchors.K)
	}
	// One document a topic, and fewer words than the start would have.
	tiny := countsCorpus(t, 6, []map[int]int{{0: 3, 1: 2}, {2: 4, 3: 1}, {0: 1, 4: 5, 5: 2}})
	if m := fit(t, jsmf.New(2), tiny); m.K() != 2 || m.Stats().Anchors.K != 2 {
		t.Errorf("three documents: %d of %d topics", m.K(), m.Stats().Anchors.K)
	}
	if m := fit(t, jsmf.New(2).Extra(100), tiny); m.K() != 2 || m.Stats().Anchors.K > 3 {
		t.Errorf("three documents: %d of %d topics", m.K(), m.Stats().Anchors.K)
	}
	if _, err := jsmf.New(7).Fit(ctx, tiny); err == nil || !strings.Contains(err.Error(), "7 topics of 3 documents; there can be no more topics than documents") {
		t.Error(err)
	}
}

// More topics than a tenth of the documents are a warning that says how many these carry.
func TestFewDocumentsWarned(t *testing.T) {
	const words = "topics of fewer than 10 documents are seldom sound: try 6"
	c := draw(t, themes(60, 3), corpus.SymmetricDirichlet(3, 0.1), 60)
	matrix := counted(t, c, cooc.Options{})
	for _, x := range []struct {
		name string
		p    jsmf.Pipeline
		in   jsmf.Input
		want bool
	}{
		{"a tenth", jsmf.New(6), c, false},
		{"one more", jsmf.New(7), c, true},
		{"published, a tenth", jsmf.Published(6), c, false},
		{"published, one more", jsmf.Published(7), c, true},
		{"a matrix that knows its documents", jsmf.Published(7), matrix, true},
		{"a matrix that does not", jsmf.Published(3), identity(t, 5), false},
	} {
		t.Run(x.name, func(t *testing.T) {
			if warned := fit(t, x.p.Rectify(rectify.None{}), x.in).Stats().Warnings; strings.Contains(strings.Join(warned, "\n"), words) != x.want {
				t.Errorf("warnings %q, want one with %q: %v", warned, words, x.want)
			}
		})
	}
}

// first finds the anchors of QR and returns the first most of them.
type first struct {
	anchor.QR
	most int
}

func (f first) Find(ctx context.Context, rows cooc.Rows, k int, opt anchor.Options) (*anchor.Result, error) {
	res, err := f.QR.Find(ctx, rows, k, opt)
	if err == nil && len(res.Anchors) > f.most {
		res.Anchors, res.Norms = res.Anchors[:f.most], res.Norms[:f.most]
	}
	return res, err
}

// Finders that find fewer than the start asks for, by themselves or because few words
// may be anchors, and those that take words from the user.
func TestExtraFinders(t *testing.T) {
	testutil.NotWithRace(t)
	c := draw(t, themes(300, 6), corpus.SymmetricDirichlet(6, 0.2), 800)
	p := jsmf.New(6).Words(200).Refine(refine.Passes{N: 8})
	for most, k := range map[int]int{9: 6, 4: 4} {
		m := fit(t, p.Anchors(first{most: most}).Extra(10), c)
		warned := slices.ContainsFunc(m.Stats().Warnings, func(s string) bool { return strings.Contains(s, "instead of the 6 asked for") })
		if m.K() != k || m.Stats().Anchors.K != most || warned != (k < 6) {
			t.Errorf("%d anchors: %d topics; %q", most, m.K(), m.Stats().Warnings)
		}
	}
	plain := fit(t, p.Refine(nil), c)
	var df []int // of the words of the matrix
	for i, n := range c.DocFrequencies() {
		if w, ok := plain.Index(c.Word(i)); ok && slices.Max(mat.Row(nil, w, plain.Topics())) > 0 {
			df = append(df, n)
		}
	}
	slices.Sort(df)
	common := anchor.QR{MinDocs: df[len(df)-8]}
	if m := fit(t, p.Anchors(common).Extra(10), c); m.K() != 6 || m.Stats().Anchors.K < 6 || m.Stats().Anchors.K > m.Stats().Anchors.Candidates {
		t.Errorf("%d of %d candidates are anchors", m.Stats().Anchors.K, m.Stats().Anchors.Candidates)
	}
	var ce *anchor.CandidateError
	if _, err := p.Anchors(anchor.QR{MinDocs: df[len(df)-4]}).Extra(10).Fit(ctx, c); !errors.As(err, &ce) {
		t.Error(err)
	}

	words := jsmf.AnchorWords(plain)
	given := fit(t, p.Anchors(anchor.Fixed{Words: words}), c)
	if !slices.Equal(jsmf.AnchorWords(given), words) {
		t.Errorf("anchors %v, given %v", jsmf.AnchorWords(given), words)
	}
	facet := []string{words[2], words[4]}
	facets := fit(t, p.Anchors(anchor.Tandem{Groups: [][]string{facet}, Complete: anchor.QR{}}).Extra(3), c)
	if facets.K() != 6 || facets.Stats().Anchors.K != 9 {
		t.Errorf("%d of %d topics", facets.K(), facets.Stats().Anchors.K)
	}
}

// A refit of a default model keeps the numbers of topics and the names the
// user gave them, and may have another K.
func TestExtraRefit(t *testing.T) {
	if testutil.Race {
		t.Skip("slow")
	}
	c := draw(t, themes(700, 7), corpus.SymmetricDirichlet(7, 0.2), 2000)
	p := jsmf.New(7).Words(250)
	prev := fit(t, p, c)
	named, err := prev.With(jsmf.Additions{Names: []string{"zero", "", "", "three", "", "", "six"}})
	if err != nil {
		t.Fatal(err)
	}
	var kept []int
	for m := range c.NumDocs() {
		if m%40 != 7 {
			kept = append(kept, m)
		}
	}
	part, err := c.Select(kept, nil)
	if err != nil {
		t.Fatal(err)
	}
	next := fit(t, p.From(named), part)
	st := next.Stats().Refit
	if len(st.New)+len(st.Vanished) > 0 || largestOf(st.Drift) > 0.1 {
		t.Errorf("%+v", st)
	}
	if next.Name(0) != "zero" || next.Name(3) != "three" || next.Name(6) != "six" {
		t.Errorf("names %q", next.Names())
	}
	again := fit(t, p.From(next), c)
	if s := again.Stats().Refit; largestOf(s.Drift) > 0.1 {
		t.Errorf("after two: %+v", s)
	}
	if m := fit(t, p.K(8).From(named), part); m.K() != 8 || m.Name(3) != "three" {
		t.Errorf("8 topics: %+v, %q", m.Stats().Refit, m.Names())
	}
	if m := fit(t, p.K(14).From(named), part); m.K() != 14 || m.Name(3) != "three" {
		t.Errorf("14 topics: %+v, %q", m.Stats().Refit, m.Names())
	}
}
