package jsmf_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/sums"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// away are documents that are only added up, as if they were on other machines. It is an
// Input, too.
type away struct {
	t    testing.TB
	docs *sums.Local
	info corpus.Info
	sums int // how many were asked for
}

func newAway(t testing.TB, c *corpus.Corpus) *away {
	t.Helper()
	e, err := corpus.Encode(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	a := &away{t: t, docs: sums.NewLocal(e.DropUnused(), 2)}
	a.info = a.docs.Info()
	a.info.Source = a
	return a
}

func (a *away) Info() corpus.Info { return a.info }

func (a *away) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{Documents: a.info.Documents, Vocabulary: a.info.Vocabulary, Remote: true}, nil
}

func (a *away) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	a.t.Error("documents on other machines were read")
	return func(func(corpus.Document, error) bool) {}
}

func (a *away) Sum(ctx context.Context, p sums.Plan) ([]int64, error) {
	b, err := p.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if p, err = sums.ReadPlan(b); err != nil {
		return nil, err
	}
	a.sums++
	return a.docs.Sum(ctx, p)
}

// Documents on other machines give the model that the same documents give here, and so do
// documents in another order.
func TestFitElsewhere(t *testing.T) {
	c := draw(t, themes(300, 5), corpus.SymmetricDirichlet(5, 0.2), 1500)
	p := jsmf.New(5).Words(120).Refine(nil)
	want := fit(t, p, c)
	order := make([]int, c.NumDocs())
	for i := range order {
		order[i] = (i*7 + 3) % len(order)
	}
	permuted, err := c.Select(order, nil)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := newAway(t, c)
	for name, in := range map[string]jsmf.Input{"elsewhere": elsewhere, "permuted": permuted} {
		m := fit(t, p, in)
		if !mat.Equal(m.Topics(), want.Topics()) || !slices.Equal(m.Marginals(), want.Marginals()) || !slices.Equal(m.Anchors(), want.Anchors()) {
			t.Errorf("%s: another model", name)
		}
		if got, want := m.Stats().Corpus, want.Stats().Corpus; got.Documents != want.Documents || got.Tokens != want.Tokens || got.Words != want.Words {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if elsewhere.sums != 2 {
		t.Errorf("%d sums, want a census and a moment", elsewhere.sums)
	}
	if _, err := (jsmf.Grid{K: []int{4, 5}}).Run(ctx, p.K(0), elsewhere); err == nil || !strings.Contains(err.Error(), "on other machines") {
		t.Errorf("documents elsewhere are held out: %v", err)
	}
}

// What documents on other machines cannot be used for is an error before anything is read.
func TestElsewhereErrors(t *testing.T) {
	c := draw(t, themes(300, 5), corpus.SymmetricDirichlet(5, 0.2), 300)
	in := newAway(t, c)
	for name, x := range map[string]struct {
		p    jsmf.Pipeline
		want string
	}{
		"settings":  {jsmf.New(1), "K = 1"},
		"passes":    {jsmf.New(5), "use refine.Batch"},
		"published": {jsmf.Published(5), "on other machines; fit them by New"},
	} {
		_, fitErr := x.p.Fit(ctx, in)
		for what, err := range map[string]error{"Validate": x.p.Validate(in), "Fit": fitErr} {
			if err == nil || !strings.Contains(err.Error(), x.want) || !strings.HasPrefix(err.Error(), "jsmf: ") {
				t.Errorf("%s: %s: %v, want %s", name, what, err, x.want)
			}
		}
	}
	p := jsmf.New(5).Words(120).Refine(nil)
	if err := p.Validate(in); err != nil {
		t.Error(err)
	}
	if _, err := p.Evaluate(ctx, fit(t, p, c), in); err == nil || !strings.Contains(err.Error(), "on other machines") {
		t.Errorf("Evaluate: %v", err)
	}
	if _, err := (refine.Passes{}).Refine(ctx, in, refine.Start{B: mat.NewDense(2, 1, []float64{0.5, 0.5})}, refine.Options{}); err == nil || !strings.Contains(err.Error(), "use Batch") {
		t.Errorf("Passes: %v", err)
	}
	in.sums = 0
	for name, change := range map[string]func(info *corpus.Info){
		"tokens":    func(info *corpus.Info) { info.Tokens++ },
		"documents": func(info *corpus.Info) { info.Documents-- },
	} {
		changed := *in
		change(&changed.info)
		changed.info.Source = &changed
		if _, err := p.Fit(ctx, &changed); !errors.Is(err, corpus.ErrSourceChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A document without words that nobody left out is left out here, without a name.
	changed := *in
	changed.info.Documents++
	changed.info.Source = &changed
	st := fit(t, p, &changed).Stats().Corpus
	if len(st.DroppedDocuments) != 1 || st.DroppedDocuments[0].Count != 1 || st.DroppedDocuments[0].Names != nil || st.Documents != in.info.Documents {
		t.Errorf("%+v", st)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := p.Fit(done, in); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// passed wraps a source and changes nothing.
type passed struct{ corpus.Source }

// A source that wraps documents on other machines is refused: it would bring them here one by
// one.
func TestElsewhereWrapped(t *testing.T) {
	c := draw(t, themes(300, 5), corpus.SymmetricDirichlet(5, 0.2), 300)
	p := jsmf.New(5).Words(120)
	m := fit(t, p, c)
	in := readAgain{passed{newAway(t, c)}}
	for name, f := range map[string]func() error{
		"Fit":       func() error { _, err := p.Fit(ctx, in); return err },
		"Batch":     func() error { _, err := p.Refine(refine.Batch{}).Fit(ctx, in); return err },
		"Published": func() error { _, err := jsmf.Published(5).Fit(ctx, in); return err },
		"Evaluate":  func() error { _, err := p.Evaluate(ctx, m, in); return err },
		"Bootstrap": func() error { _, err := jsmf.Bootstrap{}.Run(ctx, p, m, in); return err },
		"Passes": func() error {
			_, err := refine.Passes{}.Refine(ctx, in.Source, refine.Start{B: mat.DenseCopyOf(m.Topics())}, refine.Options{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := f(); err == nil || !strings.Contains(err.Error(), "on other machines") {
				t.Errorf("%v, want that the documents are on other machines", err)
			}
		})
	}
}

// A source that wraps documents with weights has their model.
func TestFitWrappedWeights(t *testing.T) {
	testutil.NotWithRace(t)
	c := draw(t, themes(300, 5), corpus.SymmetricDirichlet(5, 0.2), 300)
	w := make([]float64, c.NumDocs())
	for i := range w {
		w[i] = float64(1 + i%3)
	}
	weighted, err := c.WithWeights(w)
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.New(5).Words(120)
	for name, p := range map[string]jsmf.Pipeline{"Passes": p, "Batch": p.Refine(refine.Batch{})} {
		t.Run(name, func(t *testing.T) {
			want, got := fit(t, p, weighted), fit(t, p, readAgain{passed{weighted.Source()}})
			if !mat.Equal(got.Topics(), want.Topics()) {
				t.Error("another model than that of the documents themselves")
			}
			if mat.Equal(got.Topics(), fit(t, p, c).Topics()) {
				t.Error("the model of the documents without weights")
			}
		})
	}
}

// What the reader has left out is told of the fit.
func TestFitDropped(t *testing.T) {
	c := draw(t, themes(300, 5), corpus.SymmetricDirichlet(5, 0.2), 300)
	gone := corpus.Dropped{Reason: "not readable", Count: 1, Names: []string{"a.pdf"}}
	desc, err := c.Source().Describe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	desc.DroppedDocuments = []corpus.Dropped{gone}
	for name, p := range map[string]jsmf.Pipeline{"New": jsmf.New(5).Words(120), "Published": jsmf.Published(5).Rectify(rectify.LR{})} {
		t.Run(name, func(t *testing.T) {
			st := fit(t, p, readAgain{corpus.FromSeq(c.Source().Docs(ctx), desc)}).Stats()
			if got := st.Corpus.DroppedDocuments; len(got) != 1 || got[0].Reason != gone.Reason || got[0].Count != 1 {
				t.Errorf("left out %+v, want %+v", got, gone)
			}
		})
	}
}
