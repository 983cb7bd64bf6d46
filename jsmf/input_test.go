package jsmf_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// Fit, Evaluate and Grid take every kind of Input.
func TestInputs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	docs := make([]map[int]int, 300) // of four subjects, each of 15 words
	for m := range docs {
		docs[m] = make(map[int]int)
		for range 20 + m%60 {
			w := 15*(m%4) + rng.IntN(15)
			if rng.IntN(5) == 0 {
				w = rng.IntN(60)
			}
			docs[m][w]++
		}
	}
	c := countsCorpus(t, 60, docs)
	weights := make([]float64, c.NumDocs())
	for m := range weights {
		weights[m] = 1 + float64(m%3)
	}
	weighted, err := c.WithWeights(weights)
	if err != nil {
		t.Fatal(err)
	}
	moments := counted(t, c, cooc.Options{})
	all := mat.NewDense(60, 60, nil)
	for i := range 60 {
		moments.RowTo(all.RawRowView(i), i)
	}
	names := named(t, matrixOf(t, all), c.Vocabulary())
	alone := named(t, foreign{moments, nil, nil}, c.Vocabulary())
	e, err := corpus.Encode(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	operator, err := cooc.FromEncoded(ctx, e, cooc.Options{DropUnused: true})
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.Published(4).Rectify(rectify.ENN{Iterations: 5})
	want := fit(t, p, c)
	for _, x := range []struct {
		name            string
		in              jsmf.Input
		full, documents bool // can be measured; has documents
	}{
		{"corpus", c, true, true},
		{"weighted corpus", weighted, true, true},
		{"moments", moments, true, true},
		{"tf-idf", counted(t, c, cooc.Options{Weighting: cooc.TFIDF}), true, true},
		{"dense", names, true, false},
		{"caller's", alone, true, false},
		{"encoded", e, true, true},
		{"operator", operator, true, true},
		{"matrix without rows", bare{moments}, false, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			m := fit(t, p, x.in)
			same := bytes.Equal(encoded(t, m), encoded(t, want))
			if same != (x.name == "corpus" || x.name == "moments") {
				t.Errorf("the model of the corpus: %t", same)
			}
			if !slices.Equal(m.Vocabulary(), c.Vocabulary()) {
				t.Errorf("words %q", m.Vocabulary())
			}
			if like := x.name == "dense" || x.name == "caller's" || x.name == "encoded" || x.name == "operator" || !x.full; like && !mat.EqualApprox(m.Topics(), want.Topics(), 1e-6) {
				t.Error("other topics than the corpus has")
			}
			r, err := p.Evaluate(ctx, m, x.in)
			switch {
			case x.full && err != nil:
				t.Fatal(err)
			case x.full && ((r.NPMI.Values != nil) != x.documents || !(r.Approximation > 0) || !(r.Recovery.Mean > 0)):
				t.Errorf("measured %+v", r)
			case !x.full && (err == nil || !strings.Contains(err.Error(), "measures need rows of the matrix or documents, and a jsmf_test.bare has neither")):
				t.Errorf("a matrix without rows: %v", err)
			}
			if x.name == "operator" { // its documents are read
				if counted, err := p.Evaluate(ctx, m, c); err != nil || !sameReports(r, counted) {
					t.Errorf("other measures than against the corpus; %v", err)
				}
			}
			s, err := jsmf.Grid{K: []int{4}}.Run(ctx, p.K(0), x.in)
			switch _, matrix := x.in.(cooc.Operator); {
			case matrix:
				if err == nil || err.Error() != "jsmf: sweep: the input is a co-occurrence matrix, and only documents can be held out: give Grid the documents" {
					t.Errorf("documents of a matrix are held out: %v", err)
				}
			case err != nil:
				t.Fatal(err)
			case s.K != 4 || !bytes.Equal(encoded(t, s.Model), encoded(t, m)):
				t.Errorf("not the model of Fit with 4 topics:\n%v", s)
			}
		})
	}
}

// bare is a matrix without rows and without documents.
type bare struct{ cooc.Operator }

func (b bare) Info() corpus.Info { return corpus.Info{Vocabulary: b.Operator.Info().Vocabulary} }

// Nil pointers are errors, not panics.
func TestNilPointers(t *testing.T) {
	_, docs := planted(60, 4, 100)
	c := countsCorpus(t, 60, docs)
	p := jsmf.Published(4).Rectify(rectify.None{})
	m := fit(t, p, c)
	for _, in := range []jsmf.Input{
		nil, (*corpus.Corpus)(nil), (*cooc.Moments)(nil), (*cooc.Dense)(nil), (*cooc.LowRankSparse)(nil),
	} {
		_, err1 := p.Fit(ctx, in)
		_, err2 := p.Evaluate(ctx, m, in)
		_, err3 := jsmf.Grid{K: []int{3}}.Run(ctx, p.K(0), in)
		for _, err := range []error{err1, err2, err3} {
			if err == nil || !strings.HasPrefix(err.Error(), "jsmf: ") {
				t.Errorf("%T: %v", in, err)
			}
		}
	}
	for what, p := range map[string]jsmf.Pipeline{
		"rectifier": p.Rectify((*rectify.AP)(nil)),
		"finder":    p.Anchors((*anchor.QR)(nil)),
		"recovery":  p.Recover((*recovery.SCLS)(nil)),
		"learner":   p.AnchorFree((*anchorfree.LP)(nil)),
		"refiner":   p.Refine((*refine.Passes)(nil)),
	} {
		if _, err := p.Fit(ctx, c); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := p.Evaluate(ctx, nil, c); err == nil {
		t.Error("no model: no error")
	}
}

// AP leaves an exact matrix of rank K as it is, whatever rounding makes of the last
// bits; its rows are explicit, so that anchors of several words work on them.
func TestTandemOfExactMatrices(t *testing.T) {
	for seed := range uint64(20) {
		k := 2 + int(seed%4)
		pm := testutil.NewPlanted(40, k, 0.3, seed)
		other := 0
		for slices.Contains(pm.Anchors, other) {
			other++
		}
		groups := [][]int{{pm.Anchors[0], other}}
		c := matrixOf(t, pm.C)
		words := make([]string, 40)
		for i := range words {
			words[i] = string(rune('A'+i/26)) + string(rune('a'+i%26))
		}
		in := named(t, c, words)
		group := []string{words[groups[0][0]], words[groups[0][1]]}
		m, err := jsmf.Published(k).Rectify(rectify.AP{}).Anchors(anchor.Tandem{Groups: [][]string{group}, Complete: anchor.QR{}}).Fit(ctx, in)
		if err != nil {
			t.Errorf("seed %d, K = %d: %v", seed, k, err)
			continue
		}
		if !slices.Equal(m.AnchorGroups()[0], groups[0]) {
			t.Errorf("seed %d: groups %v, want %v", seed, m.AnchorGroups(), groups)
		}
	}
}

// wrapped is a finder of the caller's own around another.
type wrapped struct{ anchor.Finder }

func (w wrapped) String() string { return "wrapped " + w.Finder.String() }

// finders are ways to anchors with bounds that have no meaning for topics of topics.
func finders() map[string]anchor.Finder {
	return map[string]anchor.Finder{
		"QR":        anchor.QR{MinDocs: 5},
		"projected": anchor.Projected{MinDocs: 5, Seed: 1},
		"SPA":       anchor.SPA{MinDocs: 5},
		"XRAY":      anchor.XRAY{MinDocs: 5},
		"wrapped":   wrapped{anchor.QR{MinDocs: 5}},
		"pointer":   &anchor.QR{MinDocFraction: 0.02},
	}
}

// Levels above a model are fitted with any finder.
func TestHierarchyOfFinders(t *testing.T) {
	_, docs := planted(60, 6, 400)
	c := countsCorpus(t, 60, docs)
	m := fit(t, jsmf.Published(6), c)
	for name, f := range finders() {
		p := jsmf.Published(6).Rectify(rectify.None{}).Anchors(f).Refine(refine.Passes{N: 1}) // there is nothing to refine on
		h, err := jsmf.Levels{K: []int{4, 2}}.Run(ctx, p.K(0), m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkHierarchy(t, h)
		if h.K(1) != 4 || h.K(2) != 2 || !strings.Contains(strings.Join(h.Model(1).Provenance().Stages, " "), f.String()) {
			t.Errorf("%s: %d and %d topics by %q", name, h.K(1), h.K(2), h.Model(1).Provenance().Stages)
		}
	}
}

// Topics without anchors have numbers for names in the level above.
func TestHierarchyWithoutAnchors(t *testing.T) {
	pm, _ := planted(80, 4, 10)
	p := jsmf.Published(4).Rectify(rectify.None{}).AnchorFree(anchorfree.LP{})
	m, err := p.Fit(ctx, matrixOf(t, pm.C))
	if err != nil {
		t.Fatal(err)
	}
	h, err := jsmf.Levels{K: []int{2}}.Run(ctx, p.AnchorFree(nil).K(0), m)
	if err != nil {
		t.Fatal(err)
	}
	for k, name := range m.Names() {
		first, _, _ := strings.Cut(name, " ·")
		if w := h.Model(1).Word(k); w != fmt.Sprintf("%d:%s", k, first) {
			t.Errorf("topic %d, called %s, is the word %q", k, name, w)
		}
	}
}

// What Fit says of inputs it cannot take.
func TestInputBad(t *testing.T) {
	in := kind{}
	for _, f := range []func() error{
		func() error { _, err := jsmf.Published(2).Fit(ctx, in); return err },
		func() error { _, err := jsmf.Grid{K: []int{2}}.Run(ctx, jsmf.Published(0), in); return err },
		func() error { _, err := jsmf.New(2).Fit(ctx, in); return err },
	} {
		if err := f(); err == nil || !strings.HasPrefix(err.Error(), "jsmf: ") || !strings.HasSuffix(err.Error(), "a jsmf_test.kind is no co-occurrence matrix and holds no documents") {
			t.Error(err)
		}
	}
}

// kind is an Input of the caller's own, of which nothing is known.
type kind struct{}

func (kind) Info() corpus.Info { return corpus.Info{} }

// The passes count documents by their weights, without a warning.
func TestRefineWeights(t *testing.T) {
	_, docs := planted(40, 3, 100)
	c := countsCorpus(t, 40, docs)
	weights := make([]float64, c.NumDocs())
	for m := range weights {
		weights[m] = 1 + float64(m%2)
	}
	weighted, err := c.WithWeights(weights)
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.Published(3).Refine(refine.Passes{N: 1})
	a, b := fit(t, p, c).Stats(), fit(t, p, weighted).Stats()
	if a.Warnings != nil || b.Warnings != nil || a.Refine.LogLik()[1] == b.Refine.LogLik()[1] || a.Refine.Docs != b.Refine.Docs {
		t.Errorf("%q, %q, log-likelihoods %v and %v", a.Warnings, b.Warnings, a.Refine.LogLik(), b.Refine.LogLik())
	}
}
