package jsmf_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/synth"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/rectify"
)

// A matrix of topics without anchor words gives them back, and the model has no
// anchors, before and after it went through a file.
func TestAnchorFree(t *testing.T) {
	const n, k = 300, 6
	b, a := synth.Scattered(n, k, 0, 4)
	c := synth.Cooccurrence(b, a)
	sum := mat.Sum(a)
	c.Scale(1/sum, c)
	a.Scale(1/sum, a)
	for _, l := range []anchorfree.Learner{anchorfree.LP{}, anchorfree.PDS{}} {
		rec := new(recording)
		m, err := jsmf.Published(k).Rectify(rectify.None{}).AnchorFree(l).Record(rec.Record).Fit(ctx, matrixOf(t, c))
		if err != nil {
			t.Fatal(err)
		}
		rec.order(t, nil, jsmf.StageCooc, jsmf.StageRectify, jsmf.StageTopics)
		errB, errA, err := synth.Errors(b, a, mat.DenseCopyOf(m.Topics()), mat.DenseCopyOf(m.Correlations()))
		// The bound of fu-2018, for A of the size of B.
		if err != nil || errB > 1e-8 || errA > 1e-8 {
			t.Errorf("%v: errors %g and %g, %v", l, errB, errA, err)
		}
		if m.Anchors() != nil || jsmf.AnchorWords(m) != nil || m.Stats().Anchors.Norms != nil {
			t.Errorf("%v: anchors %v", l, m.Anchors())
		}
		if s := m.TopicShares(); !slices.IsSortedFunc(s, func(x, y float64) int {
			if x > y {
				return -1
			}
			return 1
		}) {
			t.Errorf("%v: shares do not fall: %v", l, s)
		}
		st := m.Stats()
		if st.AnchorFree.Method != l.String() || st.AnchorFree.Limited || st.Anchors.Method != "" || st.Recover.Method != "" {
			t.Errorf("%v: stats %+v", l, st)
		}
		if p := m.Provenance().Stages; len(p) != 2 || p[1] != l.String() {
			t.Errorf("%v: stages %q", l, p)
		}
		file := encoded(t, m)
		again, err := jsmf.ReadModel(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if again.Anchors() != nil || again.Stats().AnchorFree.LogDet != st.AnchorFree.LogDet || !bytes.Equal(encoded(t, again), file) {
			t.Errorf("%v: another model after a file", l)
		}
	}
}

// The method takes the place of the two steps it replaces, and gives it back.
func TestAnchorFreeReplaces(t *testing.T) {
	p, _ := planted(80, 3, 10)
	c := matrixOf(t, p.C)
	base := jsmf.Published(3).Rectify(rectify.None{}).Anchors(nil).Recover(nil)
	if base.Validate(nil) == nil {
		t.Error("neither a finder nor a method without anchors, and no error")
	}
	m, err := base.AnchorFree(anchorfree.LP{}).Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	errB, _, err := synth.Errors(p.B, p.A, mat.DenseCopyOf(m.Topics()), mat.DenseCopyOf(m.Correlations()))
	if err != nil || errB > 1e-12 {
		t.Errorf("separable topics: error %g, %v", errB, err)
	}
	m, err = jsmf.Published(3).Rectify(rectify.None{}).AnchorFree(anchorfree.LP{}).AnchorFree(nil).Fit(ctx, c)
	if err != nil || m.Anchors() == nil {
		t.Errorf("AnchorFree(nil) does not go back to anchors: %v", err)
	}
	if err := jsmf.Published(3).AnchorFree(anchorfree.LP{MaxSweeps: -1}).Workers(-9).Validate(nil); err == nil ||
		!strings.Contains(err.Error(), "MaxSweeps") || !strings.Contains(err.Error(), "Workers(-9)") {
		t.Errorf("bad settings: %v", err)
	}
	var rank *anchorfree.RankError
	if _, err := jsmf.Published(4).Rectify(rectify.None{}).AnchorFree(anchorfree.LP{}).Fit(ctx, c); !errors.As(err, &rank) || rank.Rank != 3 {
		t.Errorf("4 topics of 3: %v", err)
	}
}

// From documents, with every weighting: a model, its measures without those of
// anchors, and the same bits from any number of workers.
func TestAnchorFreeCorpus(t *testing.T) {
	const n, k = 60, 3
	_, docs := planted(n, k, 600)
	for m := range docs {
		docs[m][n]++ // one more word, in every document
	}
	docsOf := countsCorpus(t, n+1, docs)
	for _, w := range []cooc.Weighting{cooc.Unbiased, cooc.TFIDF} {
		c := counted(t, docsOf, cooc.Options{Weighting: w})
		for _, l := range []anchorfree.Learner{anchorfree.LP{}, anchorfree.PDS{}} {
			if testutil.Race && w != cooc.TFIDF {
				continue
			}
			p := jsmf.Published(k).Rectify(rectify.None{}).AnchorFree(l)
			m := fit(t, p, c)
			if !bytes.Equal(encoded(t, fit(t, p.Workers(3), c)), encoded(t, m)) {
				t.Errorf("%v, %v: the number of workers changes the model", w, l)
			}
			r, err := p.Evaluate(ctx, m, c)
			if err != nil {
				t.Fatal(err)
			}
			if r.BasisRank.Values != nil || r.Recovery.Values != nil || r.Dominancy.Values == nil || r.Entropy.Values == nil {
				t.Errorf("%v, %v: measured %+v", w, l, r)
			}
			// C is not of rank 3: what K eigenpairs keep of its sum is nearly all.
			if math.Abs(r.Legality-1) > 0.05 {
				t.Errorf("%v, %v: legality %g", w, l, r.Legality)
			}
			everywhere := 0.0
			for j := range k {
				everywhere += m.Topics().At(n, j)
			}
			if (everywhere == 0) != (w == cooc.TFIDF) {
				t.Errorf("%v, %v: the word of all documents has %g in the topics", w, l, everywhere)
			}
			form := m.Stats().Cooc.Form
			if w == cooc.Unbiased && form != "moments" || w == cooc.TFIDF && form != "moments (tf-idf)" {
				t.Errorf("%v: form %q", w, form)
			}
			if warned := strings.Contains(strings.Join(m.Stats().Warnings, "\n"), "1 of 61 words have an empty row"); warned != (w == cooc.TFIDF) {
				t.Errorf("%v: warnings %q", w, m.Stats().Warnings)
			}
		}
	}
	// Weights serve anchors too, and a model of them.
	c := counted(t, docsOf, cooc.Options{Weighting: cooc.TFIDF})
	if m := fit(t, jsmf.Published(k).Anchors(anchor.QR{MinDocs: 5}), c); m.Anchors() == nil || m.N() != n+1 {
		t.Error("no anchors from tf-idf")
	}
	if _, err := jsmf.Published(n+1).Fit(ctx, c); err == nil {
		t.Error("more topics than words with weight, and no error")
	}
}

// A method of the caller's own that returns nothing, or an error.
type idle struct{ err error }

func (idle) String() string { return "idle" }
func (i idle) Learn(context.Context, cooc.Matrix, int, anchorfree.Options) (*anchorfree.Result, error) {
	return nil, i.err
}

func TestAnchorFreeFails(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	c := mat.NewDense(9, 9, nil)
	for i := range 9 {
		for j := range i + 1 {
			v := rng.Float64() / 81
			c.Set(i, j, v)
			c.Set(j, i, v)
		}
	}
	c.Scale(1/mat.Sum(c), c)
	want := errors.New("tired")
	for _, e := range []error{nil, want} {
		rec := new(recording)
		_, err := jsmf.Published(2).Rectify(rectify.None{}).AnchorFree(idle{e}).Record(rec.Record).Fit(ctx, matrixOf(t, c))
		if err == nil || e != nil && !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, e)
		}
		rec.order(t, err, jsmf.StageCooc, jsmf.StageRectify, jsmf.StageTopics)
	}
}
