package refine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

func TestPassesErrors(t *testing.T) {
	b := mat.NewDense(3, 2, []float64{.5, 0, .5, .5, 0, .5})
	good := []corpus.Document{{Words: []int32{0, 1}}, {Words: []int32{1, 2}, Counts: []int32{2, 1}}}
	cause := errors.New("disk on fire")
	encoded, err := corpus.Encode(ctx, numbered{list{docs: []corpus.Document{{Words: []int32{3}}}}, 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p     refine.Passes
		docs  corpus.Source
		start refine.Start
		k     int
		want  string
	}{
		{refine.Passes{N: -1}, nil, refine.Start{B: b}, 0, "N = -1"},
		{refine.Passes{Beta: -1, Alpha: math.NaN()}, nil, refine.Start{B: b}, 0, "Alpha = NaN"},
		{refine.Passes{Beta: math.Inf(1)}, nil, refine.Start{B: b}, 0, "Beta = +Inf"},
		{refine.Passes{Gain: math.NaN()}, nil, refine.Start{B: b}, 0, "Gain = NaN"},
		{refine.Passes{}, nil, refine.Start{B: b}, 0, "no documents"},
		{refine.Passes{}, list{docs: good}, refine.Start{B: b}, -1, "-1 topics of a start with 2"},
		{refine.Passes{}, list{docs: good}, refine.Start{B: b}, 3, "3 topics"},
		{refine.Passes{}, list{docs: good}, refine.Start{}, 0, "no topics"},
		{refine.Passes{}, list{docs: good}, refine.Start{B: mat.NewDense(1, 2, []float64{1, math.NaN()})}, 0, "topic 1) = NaN"},
		{refine.Passes{}, list{docs: good}, refine.Start{B: mat.NewDense(1, 2, []float64{1, .5})}, 0, "topic 1) sums to 0.5"},
		{refine.Passes{}, list{docs: good}, refine.Start{B: b, A: mat.NewDense(3, 3, nil)}, 0, "A is 3×3 for 2 topics"},
		{refine.Passes{}, list{}, refine.Start{B: b}, 0, "no tokens"},
		{refine.Passes{}, list{docs: []corpus.Document{{}, {Words: []int32{}}}}, refine.Start{B: b}, 0, "no tokens"},
		{refine.Passes{}, list{docs: []corpus.Document{{Words: []int32{3}}}}, refine.Start{B: b}, 0, "document 1: word 3"},
		{refine.Passes{}, list{docs: []corpus.Document{good[0], {ID: "x", Words: []int32{-1}}}}, refine.Start{B: b}, 0, "document x: word -1"},
		{refine.Passes{}, list{docs: []corpus.Document{{Words: []int32{1}, Counts: []int32{-2}}}}, refine.Start{B: b}, 0, `count -2 of word "1" in document 1`},
		{refine.Passes{}, list{docs: []corpus.Document{{Words: []int32{1, 1}, Counts: []int32{math.MaxInt32, 1}}}}, refine.Start{B: b}, 0, `count 2147483648 of word "1" in document 1`},
		{refine.Passes{}, list{docs: []corpus.Document{{Words: []int32{1}, Counts: []int32{1, 1}}}}, refine.Start{B: b}, 0, "2 counts for 1 words"},
		{refine.Passes{}, list{docs: []corpus.Document{{Tokens: []string{"a"}}}}, refine.Start{B: b}, 0, "document 1: tokens are given"},
		{refine.Passes{}, list{docs: good, err: cause}, refine.Start{B: b}, 0, "disk on fire"},
		{refine.Passes{}, encoded, refine.Start{B: b}, 0, "the documents have a word 3, the topics 3 rows"},
		{refine.Passes{Alpha: 1e300}, list{docs: good}, refine.Start{B: b}, 0, "pass 1: document 1: word 0 has no probability"},
		{refine.Passes{Alpha: 1e300}, list{docs: []corpus.Document{{}, {ID: "x", Words: []int32{2}}}}, refine.Start{B: b}, 0, "document x: word 2 has no probability"},
		{refine.Passes{Scratch: "/does/not/exist"}, list{docs: good}, refine.Start{B: b}, 0, "/does/not/exist"},
	} {
		_, err := c.p.Refine(ctx, c.docs, c.start, refine.Options{K: c.k})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "refine: ") {
			t.Errorf("%+v: error %v, want one with %q", c.p, err, c.want)
		}
	}
	if _, err := (refine.Passes{}).Refine(ctx, list{docs: good, err: cause}, refine.Start{B: b}, refine.Options{}); !errors.Is(err, cause) {
		t.Errorf("the source's error became %v", err)
	}
}

// stopped is a context that is cancelled when it has been asked a number of times.
type stopped struct {
	context.Context
	left atomic.Int64
}

func (c *stopped) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever it is cancelled, Refine returns with the context's error, and leaves no file
// and, as TestMain checks, no goroutine. The passes end with two merges.
func TestPassesCancelled(t *testing.T) {
	p := testutil.NewPlanted(300, 6, 0.4, 8)
	docs := numbered{drawn(t, p, 400, 40, 9).Source(), p.N}
	s := refine.Passes{N: 7, Correlated: 2, Scratch: t.TempDir()}
	done := false
	for asked := int64(0); !done; asked += 1 + asked/20 {
		if asked > 1e6 {
			t.Fatal("never done")
		}
		c := &stopped{Context: ctx}
		c.left.Store(asked)
		r, err := s.Refine(c, docs, refine.Start{B: p.B}, refine.Options{K: 4, Workers: 2})
		if done = err == nil; !done && (!errors.Is(err, context.Canceled) || r != nil) {
			t.Fatalf("asked %d times: %v, %v", asked, r != nil, err)
		}
		empty(t, fmt.Sprintf("asked %d times", asked), s.Scratch)
	}
}

// The second file of topic counts, for those that are left, is made where the first one is.
func TestPassesScratchFails(t *testing.T) {
	p := testutil.NewPlanted(60, 4, 0.4, 8)
	folder := filepath.Join(t.TempDir(), "scratch")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := refine.Passes{N: 7, Scratch: folder}.Refine(ctx, drawn(t, p, 100, 30, 9).Source(), refine.Start{B: p.B}, refine.Options{K: 3, Progress: func(done, _ int, _ float64) {
		if done == 5 {
			if err := os.Rename(folder, folder+"-elsewhere"); err != nil {
				t.Error(err)
			}
		}
	}})
	if err == nil || !strings.Contains(err.Error(), "pass 6: merging topics") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestPassesProgress(t *testing.T) {
	b := mat.NewDense(3, 2, []float64{.5, 0, .5, .5, 0, .5})
	good := []corpus.Document{{Words: []int32{0, 1}}, {Words: []int32{1, 2}, Counts: []int32{2, 1}}}
	called := 0
	r, err := refine.Passes{N: 9}.Refine(ctx, list{docs: good}, refine.Start{B: b}, refine.Options{
		Progress: func(n, total int, loglik float64) {
			if called++; n != called || total != 9 || !(loglik < 0) {
				t.Errorf("progress %d of %d, %v", n, total, loglik)
			}
		},
	})
	if err != nil || called != 9 || r.Passes != 9 {
		t.Errorf("%d calls, %v", called, err)
	}
}

// Documents without words change nothing, and words without documents get what
// the prior gives them.
func TestPassesEmptyDocuments(t *testing.T) {
	b := mat.NewDense(4, 2, []float64{.5, 0, .5, .3, 0, .7, 0, 0})
	docs := []corpus.Document{{ID: "a", Words: []int32{0, 1}, Counts: []int32{3, 1}}, {ID: "b", Words: []int32{1, 2}, Counts: []int32{2, 4}}}
	with := []corpus.Document{{}, docs[0], {Words: []int32{3}, Counts: []int32{0}}, docs[1], {}}
	a := fit(t, refine.Passes{N: 6}, list{docs: docs}, refine.Start{B: b}, 0)
	e := fit(t, refine.Passes{N: 6}, list{docs: with}, refine.Start{B: b}, 0)
	sameRefined(t, "empty documents", a, e)
	if a.Docs != 2 || a.Tokens != 10 {
		t.Errorf("%d documents, %d tokens", a.Docs, a.Tokens)
	}
	sum := 0.0
	for k := range 2 {
		sum += 1 / a.B.At(3, k) // (n_k + 4β)/β
	}
	near(t, "tokens by the word that has none", sum*0.02, 10+2*4*0.02, 10*rounding)
}

// What there is of a result is a distribution, whatever the documents.
func proper(t *testing.T, name string, r *refine.Result, n, k int) {
	t.Helper()
	near(t, name+": ΣA", mat.Sum(r.A), 1, 1e-12)
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(k, r.A.RawMatrix().Data), false) || !(eigen.Values(nil)[0] > -1e-15) || !(mat.Min(r.A) > 0) || !mat.Equal(r.A, r.A.T()) {
		t.Errorf("%s: A is not symmetric, positive and, to rounding, positive definite: %v", name, r.A.RawMatrix().Data)
	}
	for j := range k {
		near(t, name+": a topic's sum", mat.Sum(r.B.ColView(j)), 1, 1e-12)
		if s := mat.Sum(r.Reading.ColView(j)); !(s == 0 || math.Abs(s-1) <= 1e-12) {
			t.Errorf("%s: reading weights sum to %v", name, s)
		}
		for i := range n {
			if !(r.B.At(i, j) > 0) || !(r.Reading.At(i, j) >= 0) {
				t.Errorf("%s: word %d has %v in topic %d, reading weight %v", name, i, r.B.At(i, j), j, r.Reading.At(i, j))
			}
		}
	}
	for i, h := range r.History {
		if !(h.LogLik < 1e-6) || math.IsInf(h.LogLik, 0) || !math.IsNaN(h.HeldOut) {
			t.Errorf("%s: score %+v of pass %d", name, h, i)
		}
	}
}

// The smallest corpora, for all refiners and all numbers of topics: half of the documents
// may be nobody, and reading weights may all be zero.
func TestPassesTiny(t *testing.T) {
	testutil.NotWithRace(t)
	many := corpus.Document{}
	for w := range int32(12) {
		many.Words = append(many.Words, w)
	}
	for name, docs := range map[string][]corpus.Document{
		"one document":                      {{Words: []int32{0, 1}, Counts: []int32{2, 1}}},
		"one document of one token":         {{Words: []int32{1}}},
		"one document of many words":        {many},
		"documents of one token":            {{Words: []int32{0}}, {Words: []int32{1}}, {Words: []int32{0}}, {}},
		"an empty document before another":  {{}, {Words: []int32{0, 1}}},
		"two documents of many words":       {many, {Words: many.Words[3:], Counts: []int32{1, 2, 3, 4, 5, 6, 7, 8, 9}}},
		"one token, very often":             {{Words: []int32{0}, Counts: []int32{math.MaxInt32}}},
		"a document many times as long":     {{Words: []int32{0}, Counts: []int32{1 << 30}}, {Words: []int32{1}}},
		"words of one document and no more": {{Words: []int32{0}}, {Words: []int32{1}}},
	} {
		n := 2
		for _, d := range docs {
			n = max(n, len(d.Words))
		}
		for k := 1; k <= 4; k++ {
			b := mat.NewDense(n, k, nil)
			for t := range k {
				b.Set(t%n, t, 1)
			}
			for _, s := range []refine.Refiner{refine.Passes{N: 8, Gain: -1}, refine.Batch{N: 8, Gain: -1}} {
				for want := 1; want <= k; want++ {
					r := fitTo(t, s, list{docs: docs}, refine.Start{B: b}, refine.Options{K: want})
					proper(t, fmt.Sprintf("%s, %v, %d of %d topics", name, s, want, k), r, n, want)
				}
			}
		}
	}
}

// Encoded documents may have fewer words than the topics have rows, or more that do not
// occur.
func TestPassesOtherVocabulary(t *testing.T) {
	p := testutil.NewPlanted(40, 3, 0.3, 1)
	var docs list
	for i := range 50 {
		d := corpus.Document{ID: fmt.Sprint(i)}
		for w := range int32(20) {
			d.Words, d.Counts = append(d.Words, w), append(d.Counts, 1+(w*7+int32(i)*3)%5)
		}
		d.Words, d.Counts = d.Words[i%6:], d.Counts[i%6:]
		docs.docs = append(docs.docs, d)
	}
	var want *refine.Result
	for _, n := range []int{20, 40, 60} {
		e, err := corpus.Encode(ctx, numbered{docs, n})
		if err != nil {
			t.Fatal(err)
		}
		r := fit(t, refine.Passes{N: 5}, e, refine.Start{B: p.B}, 0)
		if want == nil {
			want = r
			proper(t, "few words", r, p.N, p.K)
		}
		sameRefined(t, fmt.Sprintf("%d words", n), want, r)
	}
}
