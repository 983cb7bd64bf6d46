package jsmf_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// textLike draws documents of words of very different frequency, with 12 topics.
func textLike(t testing.TB, docs, words, length int) *corpus.Corpus {
	t.Helper()
	rng := rand.New(rand.NewPCG(20, 21))
	b := corpus.Builder{}
	for w := range words {
		b.Vocabulary = append(b.Vocabulary, fmt.Sprintf("w%05d", w))
	}
	for m := range docs {
		var ids []int32
		topics := []int{rng.IntN(12), rng.IntN(12)}
		for range length/2 + rng.IntN(length) {
			// Zipf's law, moved by the topic.
			w := int(float64(words) * (1 - rng.Float64()*rng.Float64()*0.999) * rng.Float64() * rng.Float64())
			ids = append(ids, int32((w+topics[rng.IntN(2)]*words/12)%words))
		}
		if err := b.Add(corpus.Document{ID: fmt.Sprint(m), Words: ids}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func sizes(c *corpus.Corpus) jsmf.CorpusStats {
	return jsmf.CorpusStats{Documents: c.NumDocs(), Words: c.NumWords(), NNZ: c.NNZ(), Tokens: c.Tokens()}
}

// What is in use at a time is no more than what is allocated in the first iterations,
// which later ones use again. The estimate is not below that.
func TestEstimateBounds(t *testing.T) {
	// Sizes at which each part of the estimate is the largest once: many words, many
	// documents, many topics.
	for _, x := range []struct{ docs, words, length, k int }{{300, 1200, 60, 10}, {300, 3000, 100, 10}, {3000, 300, 60, 10}, {800, 1000, 60, 40}} {
		c := textLike(t, x.docs, x.words, x.length)
		for _, p := range []jsmf.Pipeline{
			jsmf.Published(x.k).Rectify(rectify.AP{Iterations: 2}),
			jsmf.Published(x.k).Rectify(rectify.ENN{Iterations: 2}),
			jsmf.Published(x.k).Rectify(rectify.LR{ENN: rectify.ENN{Iterations: 2, Rows: 100}}),
			jsmf.Published(x.k).Rectify(rectify.TruncatedEig{}).Refine(refine.Passes{N: 1, Correlated: -1}),
			jsmf.Published(x.k).Rectify(rectify.DR{Iterations: 1}),
			jsmf.Published(x.k).Rectify(rectify.PALM{Iterations: 2}),
			jsmf.Published(x.k).Rectify(rectify.None{}).Refine(refine.Passes{N: 2, Correlated: 1}),
			jsmf.New(x.k).Refine(refine.Passes{N: 2}),
			jsmf.New(x.k).Words(250).Refine(nil),
		} {
			e, err := p.Estimate(sizes(c))
			if err != nil {
				t.Fatal(err)
			}
			var m *jsmf.Model
			took := testutil.Allocated(t, func() { m, err = p.Fit(context.Background(), c) })
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v, %s: %.1f MB, allocated %.1f MB", x, m.Stats().Rectify.Method, float64(e.Bytes)/1e6, float64(took)/1e6)
			if took > e.Bytes {
				t.Errorf("%v, %s: %d bytes were allocated, more than\n%v", x, m.Stats().Rectify.Method, took, e)
			}
		}
	}
}

func TestEstimate(t *testing.T) {
	s := jsmf.CorpusStats{Documents: 3000, Words: 5000, NNZ: 500000}
	p := jsmf.Published(50)
	e, err := p.Estimate(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Stages) != 4 || e.Bytes <= 0 || strings.Count(e.String(), " MiB") != 5 {
		t.Errorf("%+v\n%v", e, e)
	}
	sum := int64(0)
	for _, bytes := range e.Stages {
		sum += bytes
	}
	if sum != e.Bytes {
		t.Errorf("stages of %d bytes in all; %+v", sum, e)
	}
	// More of anything takes more.
	for _, x := range []struct {
		k int
		s jsmf.CorpusStats
	}{{60, s}, {50, jsmf.CorpusStats{Documents: 3000, Words: 6000, NNZ: 500000}}, {50, jsmf.CorpusStats{Documents: 4000, Words: 5000, NNZ: 500000}}} {
		f, err := jsmf.Published(x.k).Estimate(x.s)
		if err != nil || f.Bytes <= e.Bytes {
			t.Errorf("%+v: %v after %v, %v", x, f, e, err)
		}
	}
	// A rectifier of the caller's own counts as Auto, and a refiner as passes.
	auto, err := p.Rectify(rectify.Auto{}).Estimate(s)
	if err != nil {
		t.Fatal(err)
	}
	passes := refine.Bytes(refine.Passes{}, 3000, 5000, 500000, 50) + 8*5000*50
	other, err := p.Rectify(ownRectifier{rectify.DR{}}).Refine(ownRefiner{}).Estimate(s)
	if err != nil || other.Bytes != auto.Bytes+passes || other.Stages[jsmf.StageRefine] != passes {
		t.Errorf("%+v, %v; want %d bytes of passes", other, err, passes)
	}
	for _, bad := range []jsmf.CorpusStats{{}, {Documents: 1, Words: 100}, {Documents: -1, Words: 100, NNZ: 10}} {
		if _, err := p.Estimate(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if _, err := p.Estimate(jsmf.CorpusStats{Documents: 10, Words: 49, NNZ: 100}); err == nil || !strings.Contains(err.Error(), "50 topics of 49 words") {
		t.Error(err)
	}
	if _, err := jsmf.Published(1).Estimate(s); err == nil {
		t.Error("K = 1 was taken")
	}
	// N×N arrays that no address reaches.
	dense, err := p.Rectify(rectify.DC{}).Estimate(jsmf.CorpusStats{Documents: 3000, Words: 1 << 31, NNZ: 500000})
	if err != nil || dense.Bytes < 1<<59 {
		t.Errorf("%v, %v", dense, err)
	}
}

// ownRectifier and ownRefiner are stages of the caller's own.
type (
	ownRectifier struct{ rectify.Rectifier }
	ownRefiner   struct{ refine.Refiner }
)

func TestMemoryLimit(t *testing.T) {
	testutil.NotWithRace(t)
	ctx := context.Background()
	c := textLike(t, 400, 300, 60)
	p := jsmf.Published(5).Rectify(rectify.ENN{})
	e, err := p.Estimate(sizes(c))
	if err != nil {
		t.Fatal(err)
	}
	// At the estimate it fits, a byte below it does not.
	free, err := p.Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.MemoryLimit(e.Bytes).Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.TopicShares(), free.TopicShares(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("a limit has changed the model: %v, without %v", got, want)
	}
	var le *jsmf.MemoryLimitError
	refused := p.MemoryLimit(e.Bytes - 1).Record(func(e jsmf.Event) { t.Errorf("something was done: %+v", e) })
	if _, err := refused.Fit(ctx, c); !errors.As(err, &le) || le.Limit != e.Bytes-1 || le.Estimate.Bytes != e.Bytes {
		t.Errorf("Fit: %v", err)
	}
	d, err := cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := refused.MemoryLimit(1).Fit(ctx, d); !errors.As(err, &le) || le.Alternative != "" {
		t.Errorf("Fit of a matrix: %v", err)
	}
	if _, err := p.MemoryLimit(-1).Fit(ctx, c); err == nil {
		t.Error("a limit below 0 was taken")
	}

	// The alternative: another method.
	big := textLike(t, 100, 3000, 100)
	ap := jsmf.Published(20).Rectify(rectify.AP{})
	lr, err := jsmf.Published(20).Rectify(rectify.LR{}).Estimate(sizes(big))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ap.MemoryLimit(lr.Bytes).Fit(ctx, big); !errors.As(err, &le) || !strings.HasPrefix(le.Alternative, "Rectify(rectify.LR{})") {
		t.Errorf("with room for LR: %v", err)
	}
	// Auto takes what fits: AP with fewer entries, or LR.
	if _, err := jsmf.Published(20).MemoryLimit(lr.Bytes).Fit(ctx, big); err != nil {
		t.Errorf("Auto with room for LR: %v", err)
	}
	if _, err := jsmf.Published(20).MemoryLimit(lr.Bytes/2).Fit(ctx, big); !errors.As(err, &le) || le.Alternative != "" {
		t.Errorf("with less: %v", err)
	}
	encoded, err := corpus.Encode(ctx, big.Source())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jsmf.Published(20).MemoryLimit(1<<20).Fit(ctx, encoded); !errors.As(err, &le) {
		t.Errorf("encoded documents: %v", err)
	}

	// What shows only in the first iteration: AP is stopped there, Auto goes on
	// with LR.
	var me *rectify.MemoryError
	if d, err = cooc.NewMoments(ctx, big, cooc.Options{DropUnused: true}); err != nil {
		t.Fatal(err)
	}
	var need [2]int64
	for i, r := range []rectify.Rectifier{rectify.AP{}, rectify.DR{}} {
		_, err = r.Rectify(ctx, d, 20, rectify.Options{MemoryLimit: 1})
		if !errors.As(err, &me) || me.Limit != 1 {
			t.Fatalf("%v with no memory at all: %v", r, err)
		}
		need[i] = me.Bytes
	}
	if need[1] <= need[0] {
		t.Errorf("DR needs %d bytes, AP %d", need[1], need[0])
	}
	res, err := rectify.Auto{}.Rectify(ctx, d, 20, rectify.Options{MemoryLimit: 1})
	if err != nil || !strings.HasPrefix(res.Method, "LR(") {
		t.Errorf("Auto with no memory for AP: %v", err)
	}
}
