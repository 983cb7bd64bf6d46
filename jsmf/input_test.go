package jsmf_test

import (
	"bytes"
	"context"
	"fmt"
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

// Fit, Evaluate and Sweep take every kind of Input.
func TestInputs(t *testing.T) {
	_, docs := planted(60, 4, 300)
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
			s, err := jsmf.Grid{K: []int{3, 4}}.Run(ctx, p.K(0), x.in)
			if err != nil {
				t.Fatal(err)
			}
			q := s.Points[1]
			if q.Model == nil || !bytes.Equal(encoded(t, q.Model), encoded(t, m)) {
				t.Errorf("the model of the sweep is not that of Fit; %v", q.Err)
			}
			if q.Err != nil || (q.MeasureErr == nil) != x.full || x.full && !sameReports(q.Report, r) {
				t.Errorf("other measures than Evaluate's; %v, %v", q.Err, q.MeasureErr)
			}
			if !x.full && (q.Report != nil || !strings.HasPrefix(q.MeasureErr.Error(), "jsmf: sweep: not measured: measures need rows") || !strings.Contains(s.String(), "not measured")) {
				t.Errorf("a matrix without rows: measured %v, %v", q.Report, q.MeasureErr)
			}
			if (s.Recommendation == nil) == (s.RecommendationErr == nil) {
				t.Errorf("a recommendation %v, and none because %v", s.Recommendation, s.RecommendationErr)
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

// products counts the vectors that a matrix is multiplied by.
type products struct {
	*cooc.Moments
	n *int
}

func (p products) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	_, cols := x.Dims()
	*p.n += cols
	return p.Moments.MulTo(ctx, dst, x, workers)
}

// Sweeps share products and give the models of Fit with any finder, with the
// caller's own rectifier and with a matrix under WithInfo.
func TestSweepOfFinders(t *testing.T) {
	_, docs := planted(60, 6, 400)
	n := 0
	c := &products{counted(t, countsCorpus(t, 60, docs), cooc.Options{}), &n}
	ks := []int{3, 4, 6}
	check := func(name string, p jsmf.Pipeline, in jsmf.Input) {
		t.Helper()
		n = 0
		s, err := jsmf.Grid{K: ks}.Run(ctx, p.K(0), in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		swept := n
		n = 0
		for i, k := range ks {
			if q := s.Points[i]; q.Err != nil || !bytes.Equal(encoded(t, q.Model), encoded(t, fit(t, p.K(k), in))) {
				t.Errorf("%s, K = %d: not the model of Fit; %v", name, k, q.Err)
			} else if _, err := p.K(k).Evaluate(ctx, q.Model, in); err != nil {
				t.Error(err)
			}
		}
		if swept >= n {
			t.Errorf("%s: the sweep took %d products, single fits %d", name, swept, n)
		}
	}
	for name, f := range finders() {
		check(name, jsmf.Published(0).Rectify(rectify.AP{Iterations: 3}).Anchors(f), c)
	}
	check("own rectifier", jsmf.Published(0).Rectify(ownRectifier{rectify.AP{Iterations: 3}}), c)
	check("named", jsmf.Published(0).Rectify(rectify.AP{Iterations: 3}), named(t, c, c.Info().Vocabulary))
}

// What Fit says of inputs it cannot take.
func TestInputBad(t *testing.T) {
	in := kind{}
	for _, f := range []func() error{
		func() error { _, err := jsmf.Published(2).Fit(ctx, in); return err },
		func() error { _, err := jsmf.Grid{K: []int{2}}.Run(ctx, jsmf.Published(0), in); return err },
		func() error { _, err := jsmf.New(2).Fit(ctx, in); return err },
	} {
		if err := f(); err == nil || err.Error() != "jsmf: a jsmf_test.kind is no co-occurrence matrix and holds no documents" {
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
