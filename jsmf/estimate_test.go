package jsmf_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// peak returns by how many bytes the objects on the heap, garbage included, grow
// while f runs, looked at every fifth of a millisecond.
func peak(f func()) int64 {
	const name = "/memory/classes/heap/objects:bytes"
	look := func() int64 {
		s := []metrics.Sample{{Name: name}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64())
	}
	runtime.GC()
	base := look()
	top := base
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			top = max(top, look())
			select {
			case <-done:
				return
			case <-time.After(200 * time.Microsecond):
			}
		}
	})
	f()
	close(done)
	wg.Wait()
	return top - base
}

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
	return jsmf.CorpusStats{Documents: c.NumDocs(), Words: c.NumWords(), NNZ: c.NNZ()}
}

// The estimate is never below what is taken, and not far above it.
func TestEstimateAgainstMemory(t *testing.T) {
	if testutil.Race {
		t.Skip("the race detector takes memory of its own")
	}
	if testing.Short() {
		t.Skip("fits of a second each")
	}
	check := func(t *testing.T, c *corpus.Corpus, most float64) {
		for _, p := range []jsmf.Pipeline{
			jsmf.New(30).Rectify(rectify.AP{Iterations: 3}),
			jsmf.New(30).Rectify(rectify.ENN{Iterations: 3}).Resumable(true),
			jsmf.New(30).Rectify(rectify.LR{ENN: rectify.ENN{Iterations: 3}}),
			jsmf.New(30).Rectify(rectify.TruncatedEig{}).Refine(recovery.Passes{N: 1}),
			jsmf.New(30).Rectify(rectify.DR{Iterations: 2}),
		} {
			e, err := p.Estimate(sizes(c))
			if err != nil {
				t.Fatal(err)
			}
			var m *jsmf.Model
			took := peak(func() { m, err = p.Fit(context.Background(), c) })
			if err != nil {
				t.Fatal(err)
			}
			ratio := float64(e.Bytes) / float64(took)
			t.Logf("%s: estimated %.1f MB, taken %.1f MB: %.2f", m.Stats().Rectify.Method, float64(e.Bytes)/1e6, float64(took)/1e6, ratio)
			if ratio < 1 || ratio > most {
				t.Errorf("%s: the estimate is %.2f of what was taken, want 1 to %g\n%v", m.Stats().Rectify.Method, ratio, most, e)
			}
		}
	}
	t.Run("synthetic", func(t *testing.T) { check(t, textLike(t, 1500, 2500, 80), 6) }) // less of it is lifted than the rule expects
	for _, name := range []string{"nips17", "kos"} {
		t.Run(name, func(t *testing.T) {
			check(t, golden.Curated(t, testutil.Data(t, name, "docword."+name+".txt.gz"), testutil.Data(t, name, "vocab."+name+".txt"), testutil.Data(t, "stopwords.en.txt"), 3000), 3)
		})
	}
}

func TestEstimate(t *testing.T) {
	s := jsmf.CorpusStats{Documents: 3000, Words: 5000, NNZ: 500000}
	p := jsmf.New(50)
	e, err := p.Estimate(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Stages) != 4 || e.Bytes <= 0 || e.Flops <= 0 || len(e.Unknown) != 0 || !strings.Contains(e.String(), "AP(") {
		t.Errorf("%+v\n%v", e, e)
	}
	sum, top := 0.0, int64(0)
	for _, st := range e.Stages {
		sum += st.Flops
		top = max(top, st.Bytes)
	}
	if sum != e.Flops || top != e.Bytes || e.Stage != jsmf.StageRectify {
		t.Errorf("stages of %g flops and %d bytes at most; %+v", sum, top, e)
	}
	// More of anything takes more of everything.
	more := []struct {
		k int
		s jsmf.CorpusStats
	}{
		{60, s}, {50, jsmf.CorpusStats{Documents: 3000, Words: 6000, NNZ: 500000}},
	}
	for _, x := range more {
		f, err := jsmf.New(x.k).Estimate(x.s)
		if err != nil || f.Bytes <= e.Bytes || f.Flops <= e.Flops {
			t.Errorf("%+v: %v after %v, %v", x, f, e, err)
		}
	}
	// Auto goes over to LR.
	large, err := p.Estimate(jsmf.CorpusStats{Documents: 100000, Words: 50000, NNZ: 10000000})
	if err != nil || !strings.HasPrefix(large.Stages[1].Method, "LR(") || large.Passes != rectify.DefaultPasses {
		t.Errorf("%v, %v", large, err)
	}
	// A stream is given to LR whatever its size.
	stream := rectify.Size{Words: 5000, Docs: 3000, NNZ: 500000, Stream: true}
	if x := (rectify.Auto{}).Cost(stream, 50); !strings.HasPrefix(x.Method, "LR(") || x.Passes != rectify.DefaultPasses {
		t.Errorf("%+v", x)
	}
	other, err := p.Rectify(ownRectifier{}).Estimate(s)
	if err != nil || len(other.Unknown) != 1 || len(other.Stages) != 3 {
		t.Errorf("%+v, %v", other, err)
	}
	for _, bad := range []jsmf.CorpusStats{{}, {Documents: 1, Words: 100}, {Documents: -1, Words: 100, NNZ: 10}} {
		if _, err := p.Estimate(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	var te *jsmf.TopicsError
	if _, err := p.Estimate(jsmf.CorpusStats{Documents: 10, Words: 49, NNZ: 100}); !errors.As(err, &te) {
		t.Error(err)
	}
	if _, err := jsmf.New(1).Estimate(s); err == nil {
		t.Error("K = 1 was taken")
	}
}

// ownRectifier is one of which nothing is known.
type ownRectifier struct{ rectify.DR }

func (ownRectifier) Cost() {} // hides that of DR

func (ownRectifier) String() string { return "own" }

func TestMemoryLimit(t *testing.T) {
	ctx := context.Background()
	c := textLike(t, 400, 300, 60)
	p := jsmf.New(5)
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
	refused := p.MemoryLimit(e.Bytes - 1).Record(jsmf.RecorderFunc(func(e jsmf.Event) { t.Errorf("something was done: %+v", e) }))
	if _, err := refused.Fit(ctx, c); !errors.As(err, &le) || le.Limit != e.Bytes-1 || le.Estimate.Bytes != e.Bytes || !strings.Contains(err.Error(), string(e.Stage)) {
		t.Errorf("Fit: %v", err)
	}
	if _, err := refused.Prepare(ctx, c); !errors.As(err, &le) {
		t.Errorf("Prepare: %v", err)
	}
	d, err := p.Prepare(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := refused.MemoryLimit(1).FitPrepared(ctx, d); !errors.As(err, &le) || le.Alternative != "" {
		t.Errorf("FitPrepared: %v", err)
	}
	if _, err := refused.MemoryLimit(1).FitMatrix(ctx, d.Moments()); !errors.As(err, &le) {
		t.Errorf("FitMatrix: %v", err)
	}
	if _, err := p.MemoryLimit(-1).Fit(ctx, c); err == nil {
		t.Error("a limit below 0 was taken")
	}

	// The alternatives: another method, or fewer words, and they do fit.
	big := textLike(t, 100, 4000, 100)
	ap := jsmf.New(20).Rectify(rectify.AP{})
	lr, err := jsmf.New(20).Rectify(rectify.LR{}).Estimate(sizes(big))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ap.MemoryLimit(lr.Bytes).Fit(ctx, big); !errors.As(err, &le) || !strings.HasPrefix(le.Alternative, "Rectify(rectify.LR{})") {
		t.Errorf("with room for LR: %v", err)
	}
	if _, err := ap.MemoryLimit(lr.Bytes/2).Fit(ctx, big); !errors.As(err, &le) || !strings.Contains(le.Alternative, "of the 4000 words") {
		t.Errorf("with room for fewer words: %v", err)
	}

	// What shows only in the first iteration: AP is stopped there, Auto goes on
	// with LR.
	var me *rectify.MemoryError
	if d, err = p.Prepare(ctx, big); err != nil {
		t.Fatal(err)
	}
	_, err = rectify.AP{}.Rectify(ctx, d.Moments(), 20, rectify.Options{MemoryLimit: 1})
	if !errors.As(err, &me) || me.Limit != 1 {
		t.Errorf("AP with no memory at all: %v", err)
	}
	res, err := rectify.Auto{}.Rectify(ctx, d.Moments(), 20, rectify.Options{MemoryLimit: 1})
	if err != nil || !strings.HasPrefix(res.Method, "LR(") {
		t.Errorf("Auto with no memory for AP: %v", err)
	}
}
