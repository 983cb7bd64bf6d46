package jsmf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
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

// The refined model holds what Passes makes of the spectral one.
func TestRefine(t *testing.T) {
	c := some(t, 1000, 600)
	p := jsmf.Published(6).Rectify(rectify.AP{Iterations: 4})
	passes := refine.Passes{N: 4, Correlated: -1}
	spectral := fit(t, p, c)
	m := fit(t, p.Refine(passes), c)
	if spectral.Stats().Refine.Method != "" || spectral.Alpha() != nil || spectral.Reading() != nil || slices.Contains(spectral.Background(), true) {
		t.Fatal("the spectral model is refined")
	}
	d, err := cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true})
	if err != nil {
		t.Fatal(err)
	}
	want, err := passes.Refine(ctx, d.Info().Corpus.Source(), refine.Start{B: mat.DenseCopyOf(spectral.Topics()), A: mat.DenseCopyOf(spectral.Correlations())}, refine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(m.Topics(), want.B) || !mat.Equal(m.Correlations(), want.A) || !slices.Equal(m.Alpha(), want.Alpha) || !mat.Equal(m.Reading(), want.Reading) {
		t.Error("the model is not what the passes return")
	}
	if !slices.Equal(m.Anchors(), spectral.Anchors()) || mat.Equal(m.Topics(), spectral.Topics()) {
		t.Error("the anchors changed, or the topics did not")
	}
	st := m.Stats().Refine
	same := want.Stats // as they are, except for the name and the time
	same.Method, same.LastRead = passes.String(), st.LastRead
	if got, want := fmt.Sprintf("%+v", st), fmt.Sprintf("%+v", same); got != want {
		t.Errorf("stats are\n%s, want those of the stage:\n%s", got, want)
	}
	if h := st.LogLik(); st.Passes != 4 || len(h) != 5 || h[4] <= h[0] || st.Status() != "pass limit" || st.HeldOut != 0 || st.Docs != m.Stats().Corpus.Documents {
		t.Errorf("stats %+v", st)
	}
	if s := m.Provenance().Stages; len(s) != 4 || s[3] != passes.String() || !strings.HasPrefix(s[3], "Passes(4, alpha") {
		t.Errorf("stages %q", s)
	}

	if _, err := p.Evaluate(ctx, m, c); err != nil {
		t.Error(err)
	}
}

func TestRefineRecorder(t *testing.T) {
	_, docs := planted(60, 4, 200)
	var r recording
	fit(t, jsmf.Published(4).Refine(refine.Passes{N: 3, Correlated: -1}).Record(r.Record), countsCorpus(t, 60, docs))
	r.order(t, nil, append(slices.Clone(allStages), jsmf.StageRefine)...)
	ends := 0
	for _, e := range r.events {
		if e.Stage == jsmf.StageRefine && e.Kind == jsmf.EventProgress {
			ends++
			if e.Total != 3 || e.Name != "loglik" || !(e.Value < 0) {
				t.Errorf("event %+v", e)
			}
		}
	}
	if ends != 3 {
		t.Errorf("%d passes were reported", ends)
	}
}

// Documents in a file, of which Published counts those of five tokens, are refined on as
// well.
func TestRefineEncoded(t *testing.T) {
	testutil.NotWithRace(t)
	c := some(t, 1000, 600)
	e, err := corpus.EncodeFile(ctx, c.Source(), filepath.Join(t.TempDir(), "docs.jenc"))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	p := jsmf.Published(5).Rectify(rectify.LR{}).Refine(refine.Passes{N: 3, Scratch: t.TempDir()})
	m, err := p.Fit(ctx, e)
	if err != nil {
		t.Fatal(err)
	}
	want := fit(t, p, c)
	if !slices.Equal(m.Anchors(), want.Anchors()) || !mat.EqualApprox(m.Topics(), want.Topics(), 1e-6) || m.Stats().Refine.Tokens != want.Stats().Refine.Tokens {
		t.Error("the refined topics differ from those in memory by more than 1e-6")
	}
}

// wrongRefiner returns something else than a refined model.
type wrongRefiner struct {
	res *refine.Result
	err error
}

func (w wrongRefiner) String() string { return "wrong" }
func (w wrongRefiner) Refine(context.Context, corpus.Source, refine.Start, refine.Options) (*refine.Result, error) {
	return w.res, w.err
}

func TestRefineBad(t *testing.T) {
	pl, docs := planted(60, 4, 200)
	c := countsCorpus(t, 60, docs)
	cause := errors.New("cause")
	for name, x := range map[string]struct {
		r    refine.Refiner
		want string
	}{
		"settings": {refine.Passes{N: -1}, "N = -1"},
		"error":    {wrongRefiner{err: cause}, "jsmf: cause"},
		"nothing":  {wrongRefiner{}, "wrong returned no model"},
		"no A":     {wrongRefiner{res: &refine.Result{B: pl.B}}, "wrong returned no model"},
		"shape":    {wrongRefiner{res: &refine.Result{B: pl.A, A: pl.A}}, "topics of 4×4 instead of 60×4"},
		"From":     {wrongRefiner{res: &refine.Result{B: pl.B, A: pl.A, From: []int{0, 1, 2}}}, "wrong: Result.From has 3 numbers for 4 topics of a start with 4"},
		"From 4":   {wrongRefiner{res: &refine.Result{B: pl.B, A: pl.A, From: []int{0, 1, 2, 4}}}, "wrong: Result.From: number 4, that of topic 3, is not in [0, 4)"},
		"twice":    {wrongRefiner{res: &refine.Result{B: pl.B, A: pl.A, From: []int{0, 1, 2, 1}}}, "Result.From: number 1, that of topic 3, is not in [0, 4), or is there twice"},
		"α":        {wrongRefiner{res: &refine.Result{B: pl.B, A: pl.A, Alpha: []float64{1, 1, 1}}}, "alpha: has 3 values"},
	} {
		if _, err := jsmf.Published(4).Refine(x.r).Fit(ctx, c); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: error %v, want %q", name, err, x.want)
		}
	}
	silent := wrongRefiner{res: &refine.Result{B: pl.B, A: pl.A}}
	if _, err := jsmf.Published(4).Refine(silent).Fit(ctx, c); err != nil {
		t.Errorf("as many topics as before: %v", err)
	}
	if _, err := jsmf.Published(4).Extra(3).Refine(silent).Fit(ctx, c); err == nil || !strings.Contains(err.Error(), "wrong: Result.From has 0 numbers for 4 topics of a start with 7") {
		t.Errorf("fewer topics than before, and not of which: %v", err)
	}
	dense := matrixOf(t, pl.C)
	if _, err := jsmf.Published(4).Refine(refine.Passes{}).Fit(ctx, dense); err == nil || !strings.Contains(err.Error(), "needs documents") {
		t.Errorf("without documents: %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	_, err := jsmf.Published(4).Refine(refine.Passes{N: 500}).Record(func(e jsmf.Event) {
		if e.Stage == jsmf.StageRefine && e.Done == 2 {
			cancel()
		}
	}).Fit(done, c)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Refinement takes topics however they were found: without anchors, from other
// weights of the words, from facets; a file keeps the model, and documents can be inferred
// by it.
func TestRefineOthers(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	c := some(t, 1000, 600)
	base := jsmf.Published(5).Rectify(rectify.AP{Iterations: 4})
	for name, x := range map[string]struct {
		p  jsmf.Pipeline
		in jsmf.Input
	}{
		"anchor-free": {base.AnchorFree(anchorfree.PDS{MaxIterations: 200}), c},
		"weighted":    {base, counted(t, c, cooc.Options{Weighting: cooc.TFIDF})},
		"facets":      {base.Anchors(anchor.Tandem{Groups: [][]string{{c.Word(3), c.Word(8)}}, Complete: anchor.QR{}}), c},
	} {
		t.Run(name, func(t *testing.T) {
			m := fit(t, x.p.Refine(refine.Passes{N: 3, Correlated: -1}), x.in)
			if (m.Anchors() != nil) != (name != "anchor-free") || (m.AnchorGroups() != nil) != (name == "facets") {
				t.Fatalf("anchors %v, facets %v", m.Anchors(), m.AnchorGroups())
			}
			h := m.Stats().Refine.LogLik()
			if len(h) != 4 || h[3] <= h[0] {
				t.Errorf("log-likelihoods %v", h)
			}
			back, err := jsmf.ReadModel(bytes.NewReader(encoded(t, m)))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(encoded(t, back), encoded(t, m)) {
				t.Error("a file changes the model")
			}
			out, err := back.Transform(ctx, c.Source())
			if err != nil {
				t.Fatal(err)
			}
			if r, k := out.W.Dims(); r != c.NumDocs() || k != 5 {
				t.Errorf("compositions of %d×%d", r, k)
			}
		})
	}
}
