package refine_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// rated are documents with weights.
type rated struct {
	list
	w []float64
}

func (r rated) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{Weights: r.w}, nil
}

// copied are documents of which some are copies.
type copied struct{ list }

func (copied) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{Copies: true}, nil
}

// A document of weight 2 is the document twice, and one of weight 0 is not there, except for
// the rounding of sums in another order; with topics to merge too.
func TestWeightTwo(t *testing.T) {
	testutil.NotWithRace(t)
	p := testutil.NewPlanted(150, 6, 0.4, 18)
	c := drawn(t, p, 900, 200, 19)
	once := rated{list: each(t, c, func(*corpus.Document) {})}
	var twice list
	for i, d := range once.docs {
		once.w = append(once.w, float64(i%3))
		for range i % 3 {
			twice.docs = append(twice.docs, d)
		}
	}
	for _, x := range []struct {
		s     refine.Refiner
		k     int
		hides bool
	}{
		{refine.Passes{N: 9}, 0, true}, {refine.Passes{N: 9, Gain: -1}, 5, false}, {refine.Passes{N: 12}, 5, true}, {refine.Batch{N: 9}, 0, true},
	} {
		opt := refine.Options{K: x.k, Workers: 2}
		a, b := fitTo(t, x.s, once, refine.Start{B: p.B}, opt), fitTo(t, x.s, copied{twice}, refine.Start{B: p.B}, opt)
		if 3*a.Docs != 2*b.Docs || (a.HeldOut > 0) != x.hides || len(a.History) != len(b.History) {
			t.Fatalf("%v: %d and %d documents, %d and %d scores", x.s, a.Docs, b.Docs, len(a.History), len(b.History))
		}
		for i, h := range b.History {
			near(t, "log-likelihood", a.History[i].LogLik, h.LogLik, rounding)
			if math.IsNaN(a.History[i].HeldOut) != math.IsNaN(h.HeldOut) {
				t.Errorf("%v: pass %d: held-out likelihood %v and %v", x.s, i, a.History[i].HeldOut, h.HeldOut)
			} else if !math.IsNaN(h.HeldOut) {
				near(t, "held-out likelihood", a.History[i].HeldOut, h.HeldOut, 10*rounding) // of few tokens
			}
		}
		n, k := b.B.Dims()
		for i := range n {
			for j := range k {
				near(t, "B", a.B.At(i, j), b.B.At(i, j), rounding)
				near(t, "reading", a.Reading.At(i, j), b.Reading.At(i, j), 10*rounding)
			}
		}
		for i := range k {
			for j := range k {
				near(t, "A", a.A.At(i, j), b.A.At(i, j), rounding)
			}
		}
	}
}

// Weights that are no weights are errors that name the document; without any weight there
// are no tokens.
func TestBadWeights(t *testing.T) {
	p := testutil.NewPlanted(40, 3, 0.4, 38)
	docs := each(t, drawn(t, p, 3, 20, 39), func(*corpus.Document) {})
	for _, s := range []refine.Refiner{refine.Passes{N: 2}, refine.Batch{N: 2}} {
		for want, w := range map[string][]float64{
			"document 2 has the weight -1": {1, -1, 1}, "document 3 has the weight NaN": {1, 1, math.NaN()},
			"document 1 has the weight +Inf": {math.Inf(1), 1, 1}, "no tokens": {0, 0, 0}, "2 weights for 3 documents": {1, 1},
		} {
			_, err := s.Refine(ctx, rated{docs, w}, refine.Start{B: p.B}, refine.Options{})
			if err == nil || !strings.Contains(err.Error(), want) && !errors.Is(err, corpus.ErrSourceChanged) {
				t.Errorf("%v, %q: %v", s, want, err)
			}
		}
		res, err := s.Refine(ctx, rated{docs, []float64{1e-300, 2e-300, 1e300}}, refine.Start{B: p.B}, refine.Options{})
		if err != nil || res.Docs != 1 {
			t.Errorf("%v, weights far apart: %v", s, err)
		}
	}
}

// Passes that begin with the topic counts of an earlier result go on from there: their first
// score is its last one. Counts that cannot be are errors.
func TestStartCounts(t *testing.T) {
	p := testutil.NewPlanted(80, 4, 0.4, 48)
	docs := each(t, drawn(t, p, 300, 80, 49), func(*corpus.Document) {})
	s := refine.Passes{N: 3, Gain: -1}
	a := fitTo(t, s, docs, refine.Start{B: p.B}, refine.Options{})
	if len(a.Counts) != 300*4 {
		t.Fatalf("%d topic counts", len(a.Counts))
	}
	b := fitTo(t, s, docs, refine.Start{B: a.B, Counts: a.Counts}, refine.Options{Workers: 3})
	// The topics are mixed with a hundredth of the unigram distribution.
	near(t, "log-likelihood", b.History[0].LogLik, a.History[3].LogLik, 0.01)
	if cold := fitTo(t, s, docs, refine.Start{B: a.B}, refine.Options{}); cold.History[0].LogLik == b.History[0].LogLik {
		t.Error("the counts are not used")
	}
	s.Scratch = t.TempDir()
	file := fitTo(t, s, docs, refine.Start{B: a.B, Counts: a.Counts}, refine.Options{})
	if file.Counts != nil || !mat.Equal(file.B, b.B) {
		t.Error("counts in a file differ")
	}
	a.Counts[5] = float32(math.NaN())
	for want, counts := range map[string][]float32{"NaN tokens": a.Counts, "5 topic counts": make([]float32, 5)} {
		if _, err := s.Refine(ctx, docs, refine.Start{B: p.B, Counts: counts}, refine.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
