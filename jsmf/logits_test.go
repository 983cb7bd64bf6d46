package jsmf_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/refine"
)

// The logistic-normal prior that passes learn is in the file, goes with the topics, infers the
// topics of documents, and warm replicates begin with it.
func TestLogits(t *testing.T) {
	k := 5
	c := draw(t, themes(300, k), corpus.SymmetricDirichlet(k, 0.2), 600)
	p := jsmf.New(k).Words(200).Refine(refine.Passes{N: 8, Correlated: 4})
	m, err := p.Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	prior := m.Logits()
	if prior == nil {
		t.Fatal("no prior")
	}
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	read, err := jsmf.ReadModel(&file)
	if err != nil {
		t.Fatal(err)
	}
	if got := read.Logits(); !slices.Equal(got.Mean, prior.Mean) || !mat.Equal(got.Covariance, prior.Covariance) || got.Information != prior.Information {
		t.Errorf("the prior read is %v, was %v", got, prior)
	}
	transform := func(m *jsmf.Model) *mat.Dense {
		t.Helper()
		x, err := m.Transform(ctx, c.Source())
		if err != nil {
			t.Fatal(err)
		}
		return x.W
	}
	w := transform(m)
	if !mat.Equal(w, transform(read)) {
		t.Error("the model read infers other proportions")
	}
	order := []int{3, 0, 4, 1, 2}
	other, err := m.Reorder(order)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range order {
		if got := other.Logits(); got.Mean[i] != prior.Mean[a] || got.Covariance.At(i, 0) != prior.Covariance.At(a, order[0]) {
			t.Errorf("topic %d, which was %d: mean %v, covariance %v with the first", i, a, got.Mean[i], got.Covariance.At(i, 0))
		}
	}
	renumbered := transform(other)
	for i, a := range order {
		if got, want := renumbered.At(0, i), w.At(0, a); math.Abs(got-want) > 0.1 { // other signs of the noise
			t.Errorf("document 0 has %v of topic %d, %v in another order", want, a, got)
		}
	}
	n := 0
	for r, err := range (jsmf.Bootstrap{Warm: 2, Cold: -1, Drawn: -1}).Replicates(ctx, p, m, c) {
		if err != nil {
			t.Fatal(err)
		}
		if st := r.Model.Stats().Refine; r.Model.Logits() == nil {
			t.Errorf("replicate %d has no prior (%d passes, %d under it)", r.Number, st.Passes, st.Correlated)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d replicates, want 2", n)
	}
}

// The prior of merged topics has the same expectations of e^η and of its products, for which the
// topics' are added up.
func TestLogitsMerged(t *testing.T) {
	c := draw(t, themes(300, 5), corpus.SymmetricDirichlet(5, 0.2), 600)
	m := fit(t, jsmf.New(5).Words(200).Refine(refine.Passes{N: 8, Correlated: 4}), c)
	merged, err := m.Edit(jsmf.Edits{Model: m.Fingerprint(), Merge: [][]int{{1, 3}}})
	if err != nil {
		t.Fatal(err)
	}
	first := func(p *recovery.LogisticNormal, i int) float64 {
		return math.Exp(p.Mean[i] + p.Covariance.At(i, i)/2)
	}
	second := func(p *recovery.LogisticNormal, i, j int) float64 {
		return first(p, i) * first(p, j) * math.Exp(p.Covariance.At(i, j))
	}
	of := [][]int{{0}, {1, 3}, {2}, {4}} // the topics that each is now
	before, after := m.Logits(), merged.Logits()
	if after == nil || len(after.Mean) != len(of) || after.Information != before.Information {
		t.Fatalf("prior %+v, want one of %d topics", after, len(of))
	}
	for i, a := range of {
		want := 0.0
		for _, k := range a {
			want += first(before, k)
		}
		if got := first(after, i); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("topic %d: expectation %v, want %v", i, got, want)
		}
		for j, b := range of {
			want := 0.0
			for _, k := range a {
				for _, l := range b {
					want += second(before, k, l)
				}
			}
			if got := second(after, i, j); math.Abs(got/want-1) > 1e-12 {
				t.Errorf("topics %d and %d: expectation of the product %v, want %v", i, j, got, want)
			}
		}
	}
	x, err := merged.Transform(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if s := floats.Sum(x.W.RawRowView(i)); math.Abs(s-1) > 1e-9 {
			t.Errorf("document %d: proportions sum to %v", i, s)
		}
	}
}
