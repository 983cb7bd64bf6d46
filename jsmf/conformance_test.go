package jsmf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/recover/scls"
	"github.com/jsmf-go/spectral/rectify"
)

// conforming are the rectifiers, finders, recoveries, methods without anchors and refiners:
// a new one is tested by its line here. What a line does not name is as New and Published
// have it, without passes.
func conforming(c *corpus.Corpus) [][]any {
	words := []string{c.Word(0), c.Word(1)}
	return [][]any{
		{rectify.AP{Iterations: 3}},
		{rectify.Auto{}},
		{rectify.DC{Halvings: 3}},
		{rectify.DR{Iterations: 3}},
		{rectify.ENN{Iterations: 3}},
		{rectify.ENN{Iterations: 3, Rows: 150}},
		{rectify.LR{}},
		{rectify.None{}},
		{rectify.PALM{Iterations: 3}},
		{rectify.TruncatedEig{}},

		{anchor.QR{}},
		{anchor.QR{CleanUp: true}},
		{anchor.Projected{Dims: 50}},
		{anchor.Projected{Dims: 50, Sparse: true, NoCleanUp: true}},
		{anchor.SPA{}},
		{anchor.SPA{Unnormalised: true}},
		{anchor.SNPA{}},
		{anchor.XRAY{}},
		{anchor.XRAY{Unnormalised: true}},
		{anchor.Hull{Dims: 3}},
		{anchor.Fixed{Words: words, Complete: anchor.QR{}}},
		{anchor.Tandem{Groups: [][]string{words}, Complete: anchor.SPA{}}},

		{recovery.SCLS{}},
		{recovery.SCLS{Solver: scls.ADMM{}}},
		{recovery.SCLS{Solver: scls.ExpGrad{}}},
		{recovery.L2()},
		{recovery.KL{}},
		{recovery.Inverse{Project: true}},
		{anchorfree.LP{}},
		{anchorfree.PDS{MaxIterations: 50}},

		{refine.Passes{N: 8}},
		{refine.Passes{N: 8, Correlated: 2, Scratch: "."}},
		{refine.Batch{N: 8, Correlated: 2}},

		{rectify.AP{Iterations: 3}, anchor.SPA{}, recovery.KL{}},
		{rectify.LR{}, anchor.XRAY{}, recovery.L2(), refine.Batch{N: 8, Correlated: 2}},
		{rectify.DC{Halvings: 3}, anchor.Projected{}, recovery.SCLS{Solver: scls.ADMM{}}},
		{rectify.TruncatedEig{}, anchorfree.LP{}, refine.Passes{N: 8, Correlated: 2}},
	}
}

// with puts what a line names into a pipeline.
func with(t testing.TB, p jsmf.Pipeline, line []any) jsmf.Pipeline {
	t.Helper()
	p = p.Refine(nil)
	for _, x := range line {
		switch x := x.(type) {
		case rectify.Rectifier:
			p = p.Rectify(x)
		case anchor.Finder:
			p = p.Anchors(x)
		case recovery.Recoverer:
			p = p.Recover(x)
		case anchorfree.Learner:
			p = p.AnchorFree(x)
		case refine.Passes:
			if x.Scratch != "" {
				x.Scratch = t.TempDir()
			}
			p = p.Refine(x)
		case refine.Refiner:
			p = p.Refine(x)
		default:
			t.Fatalf("%T is no stage", x)
		}
	}
	return p
}

// What every rectifier, finder, recovery and refiner promises, and what they promise together.
func TestConformance(t *testing.T) {
	c, permuted, ones := conformance(t)
	for _, line := range conforming(c) {
		var name []string
		for _, x := range line {
			name = append(name, fmt.Sprint(x))
		}
		t.Run(strings.Join(name, "/"), func(t *testing.T) {
			for start, p := range map[string]jsmf.Pipeline{"New": jsmf.New(4).Words(130), "Published": jsmf.Published(4)} {
				t.Run(start, func(t *testing.T) {
					p := with(t, p, line)
					if testutil.Race { // it looks at what workers share; the results are compared without it
						if start == "New" || len(line) > 1 { // the stages of both are the same
							fit(t, p.Workers(4), c)
						}
						return
					}
					m := fit(t, p.Workers(1), c)
					want := encoded(t, m)
					back, err := jsmf.ReadModel(bytes.NewReader(want))
					if err != nil {
						t.Fatalf("the file of the model is refused: %v", err)
					}
					if !bytes.Equal(encoded(t, back), want) || !mat.Equal(back.Topics(), m.Topics()) {
						t.Error("save and load give another model, want the same bytes")
					}
					many := p.Workers(math.MaxInt)
					w, err := many.Fit(ctx, ones)
					if err != nil && strings.Contains(err.Error(), "weights") {
						w, err = many.Fit(ctx, c)
					}
					if err != nil {
						t.Errorf("documents of weight 1: %v", err)
					} else if !bytes.Equal(encoded(t, w), want) {
						t.Error("many workers, or documents of weight 1, give another model than one worker and documents without weights, want the same bytes")
					}
					tolerance := 0.0
					for _, x := range line {
						if _, ok := x.(refine.Passes); ok {
							tolerance = 1e-6
						}
					}
					if start == "Published" {
						tolerance = max(tolerance, 1e-9)
					}
					sameModel(t, "documents in another order", fit(t, p, permuted), m, tolerance)
					endsWithCtx(t, p, c, stagesOf(line))
				})
			}
			for _, x := range line {
				testutil.BadSettings(x, func(name string, bad any) {
					if strings.HasSuffix(name, ".Correlated") { // −1 is none
						return
					}
					p := with(t, jsmf.New(4).Words(130), append(slices.Clone(line), bad))
					err := p.Validate(nil)
					if _, fit := p.Fit(ctx, c); err == nil || fit == nil || fit.Error() != err.Error() {
						t.Errorf("%s of %+v: Validate says %v, Fit %v, want the same error of both", name, bad, err, fit)
					}
				})
			}
		})
	}
}

// conformance returns documents with ids, in two orders, and with weights of 1.
func conformance(t testing.TB) (c, permuted, ones *corpus.Corpus) {
	t.Helper()
	_, docs := planted(300, 4, 250)
	plain := countsCorpus(t, 300, docs)
	b := corpus.Builder{Vocabulary: plain.Vocabulary()}
	order, weights := make([]int, len(docs)), make([]float64, len(docs))
	for m := range docs {
		words, counts := plain.Doc(m)
		if err := b.Add(corpus.Document{ID: fmt.Sprint("doc ", m), Words: words, Counts: counts}); err != nil {
			t.Fatal(err)
		}
		order[m], weights[m] = (m*7+3)%len(docs), 1
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	if permuted, err = c.Select(order, nil); err != nil {
		t.Fatal(err)
	}
	if ones, err = c.WithWeights(weights); err != nil {
		t.Fatal(err)
	}
	return c, permuted, ones
}

// sameModel wants a model's numbers to differ by tolerance at most; 0 wants the same bits.
func sameModel(t *testing.T, what string, got, want *jsmf.Model, tolerance float64) {
	t.Helper()
	if !slices.Equal(got.Anchors(), want.Anchors()) {
		t.Errorf("%s: anchors %v, want %v", what, got.Anchors(), want.Anchors())
	}
	for name, x := range map[string][2]mat.Matrix{
		"topics": {got.Topics(), want.Topics()}, "correlations": {got.Correlations(), want.Correlations()}, "word topics": {got.WordTopics(), want.WordTopics()},
	} {
		var d mat.Dense
		d.Sub(x[0], x[1])
		if most := max(mat.Max(&d), -mat.Min(&d)); !(most <= tolerance) {
			t.Errorf("%s: the %s differ by %g, want %g at most", what, name, most, tolerance)
		}
	}
}

// stagesOf returns the stage that a line is about, and all for a line about several: the others end as in
// other lines.
func stagesOf(line []any) []jsmf.Stage {
	if len(line) == 1 {
		switch line[0].(type) {
		case rectify.Rectifier:
			return []jsmf.Stage{jsmf.StageRectify}
		case anchor.Finder:
			return []jsmf.Stage{jsmf.StageAnchors}
		case recovery.Recoverer:
			return []jsmf.Stage{jsmf.StageRecover}
		case anchorfree.Learner:
			return []jsmf.Stage{jsmf.StageTopics}
		case refine.Refiner:
			return []jsmf.Stage{jsmf.StageRefine}
		}
	}
	return []jsmf.Stage{jsmf.StageCooc, jsmf.StageRectify, jsmf.StageAnchors, jsmf.StageRecover, jsmf.StageTopics, jsmf.StageRefine}
}

// endsWithCtx ends the context of a fit in the middle of stages: the stage ends with the error of the
// context, and does no further step.
func endsWithCtx(t *testing.T, p jsmf.Pipeline, c *corpus.Corpus, stages []jsmf.Stage) {
	t.Helper()
	p = p.Workers(1)
	looks := map[jsmf.Stage][2]int{}
	all := testutil.EndingAfter(math.MaxInt)
	step := 0
	_, err := p.Record(func(e jsmf.Event) {
		switch at := looks[e.Stage]; e.Kind {
		case jsmf.EventStart:
			looks[e.Stage], step = [2]int{all.Looks(), 0}, 0
		case jsmf.EventProgress:
			if e.Done <= step || e.Done > e.Total {
				t.Errorf("stage %q: progress %d of %d after %d", e.Stage, e.Done, e.Total, step)
			}
			step = e.Done
		case jsmf.EventEnd:
			looks[e.Stage] = [2]int{at[0], all.Looks()}
		}
	}).Fit(all, c)
	if err != nil {
		t.Fatal(err)
	}
	for stage, at := range looks {
		if at[1] == at[0] {
			t.Errorf("stage %q never looks at ctx", stage)
			continue
		}
		if !slices.Contains(stages, stage) {
			continue
		}
		var last jsmf.Event
		ending := testutil.EndingAfter((at[0] + at[1] + 1) / 2)
		m, err := p.Record(func(e jsmf.Event) {
			if last = e; e.Kind == jsmf.EventProgress && ending.Context.Err() != nil {
				t.Errorf("stage %q: step %d of %d was done after the end of ctx", e.Stage, e.Done, e.Total)
			}
		}).Fit(ending, c)
		if m != nil || !errors.Is(err, context.Canceled) || last.Stage != stage || last.Kind != jsmf.EventEnd || !errors.Is(last.Err, context.Canceled) {
			t.Errorf("cancelled in the middle of stage %q: error %v, last event %+v, want the end of that stage with the error of ctx", stage, err, last)
		}
	}
}

// Nothing that could have a line is without one.
func TestConformanceComplete(t *testing.T) {
	c, _, _ := conformance(t)
	has := map[string]bool{}
	for _, line := range conforming(c) {
		for _, x := range line {
			has[reflect.TypeOf(x).String()] = true
		}
	}
	for _, x := range []struct{ folder, name, method string }{
		{"../rectify", "rectify", "Rectify"}, {"../anchor", "anchor", "Find"}, {"../recover", "recovery", "Recover"},
		{"../recover/anchorfree", "anchorfree", "Learn"}, {"../recover/refine", "refine", "Refine"},
	} {
		types := testutil.TypesWith(t, x.folder, x.method)
		if len(types) == 0 {
			t.Errorf("%s: no type has the method %s", x.folder, x.method)
		}
		for _, name := range types {
			if !has[x.name+"."+name] {
				t.Errorf("%s.%s has no line in the suite, want one", x.name, name)
			}
		}
	}
}
