package jsmf_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/refine"
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
	return jsmf.CorpusStats{Documents: c.NumDocs(), Words: c.NumWords(), NNZ: c.NNZ(), Tokens: c.Tokens()}
}

// The estimate is never below what is taken, and not far above it; less far after a
// fit of the same kind.
func TestEstimateAgainstMemory(t *testing.T) {
	if testutil.Race {
		t.Skip("the race detector takes memory of its own")
	}
	if testing.Short() {
		t.Skip("fits of a second each")
	}
	check := func(t *testing.T, c *corpus.Corpus, most, mostAfter float64) {
		for _, p := range []jsmf.Pipeline{
			jsmf.New(30).Rectify(rectify.AP{Iterations: 3}),
			jsmf.New(30).Rectify(rectify.ENN{Iterations: 3}).Resumable(true),
			jsmf.New(30).Rectify(rectify.LR{ENN: rectify.ENN{Iterations: 3}}),
			jsmf.New(30).Rectify(rectify.TruncatedEig{}).Refine(refine.Passes{N: 1}),
			jsmf.New(30).Rectify(rectify.DR{Iterations: 2}),
			jsmf.New(30).Rectify(rectify.PALM{Iterations: 5}),
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
			method := m.Stats().Rectify.Method
			after, err := p.EstimateAfter(sizes(c), m.Stats())
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range []struct {
				name string
				e    *jsmf.Estimate
				most float64
			}{{"estimated", e, most}, {"estimated after the fit", after, mostAfter}} {
				ratio := float64(x.e.Bytes) / float64(took)
				t.Logf("%s: %s %.1f MB, taken %.1f MB: %.2f", method, x.name, float64(x.e.Bytes)/1e6, float64(took)/1e6, ratio)
				if strings.HasPrefix(method, "DR(") && x.e == after {
					continue // which counts other entries than those it keeps
				}
				if ratio < 1 || ratio > x.most {
					t.Errorf("%s, %s: %.2f of what was taken, want 1 to %g\n%v", method, x.name, ratio, x.most, x.e)
				}
			}
		}
	}
	// Less of it is lifted than the rule expects.
	t.Run("synthetic", func(t *testing.T) { check(t, textLike(t, 1500, 2500, 80), 4, 2.2) })
	for _, name := range []string{"nips17", "kos"} {
		t.Run(name, func(t *testing.T) {
			check(t, golden.Curated(t, testutil.Data(t, name, "docword."+name+".txt.gz"), testutil.Data(t, name, "vocab."+name+".txt"), testutil.Data(t, "stopwords.en.txt"), 3000), 2.5, 2.2)
		})
	}
}

// Of a stream, which holds no documents, MemoryLimit knows the estimate.
func TestStreamMemory(t *testing.T) {
	if testutil.Race {
		t.Skip("the race detector takes memory of its own")
	}
	if testing.Short() {
		t.Skip("a fit of a second")
	}
	ctx := context.Background()
	c := textLike(t, 6000, 1500, 60)
	stream, err := cooc.NewStream(ctx, c.Source(), cooc.StreamOptions{DropUnused: true})
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.New(20).Rectify(rectify.LR{ENN: rectify.ENN{Iterations: 3}})
	var le *jsmf.MemoryLimitError
	if _, err := p.MemoryLimit(1).FitMatrix(ctx, stream); !errors.As(err, &le) {
		t.Fatal(err)
	}
	took := peak(func() { _, err = p.FitMatrix(ctx, stream) })
	if err != nil {
		t.Fatal(err)
	}
	ratio := float64(le.Estimate.Bytes) / float64(took)
	t.Logf("estimated %.1f MB, taken %.1f MB: %.2f", float64(le.Estimate.Bytes)/1e6, float64(took)/1e6, ratio)
	if ratio < 1 || ratio > 3 {
		t.Errorf("the estimate is %.2f of what was taken, want 1 to 3\n%v", ratio, le.Estimate)
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
	// A state is held beside, where the method leaves one.
	res, err := p.Resumable(true).Estimate(s)
	if err != nil || res.InUse <= e.InUse || res.Bytes <= e.Bytes {
		t.Errorf("%v, %v", res, err)
	}
	if none, err := p.Rectify(rectify.None{}).Resumable(true).Estimate(s); err != nil || len(none.Stages) != 4 || none.InUse >= e.InUse {
		t.Errorf("%v, %v", none, err)
	}
	// N×N arrays that no address reaches.
	dense, err := p.Rectify(rectify.AP{Dense: true, MemoryLimit: math.MaxInt64}).Estimate(jsmf.CorpusStats{Documents: 3000, Words: 1 << 31, NNZ: 500000})
	if err != nil || dense.InUse < 1<<59 || dense.Bytes < dense.InUse {
		t.Errorf("%v, %v", dense, err)
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
	var need [2]int64
	for i, r := range []rectify.Rectifier{rectify.AP{}, rectify.DR{}} {
		_, err = r.Rectify(ctx, d.Moments(), 20, rectify.Options{MemoryLimit: 1})
		if !errors.As(err, &me) || me.Limit != 1 {
			t.Fatalf("%v with no memory at all: %v", r, err)
		}
		need[i] = me.Bytes
	}
	if need[1] <= need[0] {
		t.Errorf("DR needs %d bytes, AP %d", need[1], need[0])
	}
	res, err := rectify.Auto{}.Rectify(ctx, d.Moments(), 20, rectify.Options{MemoryLimit: 1})
	if err != nil || !strings.HasPrefix(res.Method, "LR(") {
		t.Errorf("Auto with no memory for AP: %v", err)
	}
}

// countingRows count the products and rows that are asked for.
type countingRows struct {
	cooc.Rows
	products, rows *int
}

func (r countingRows) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	_, p := x.Dims()
	*r.products += p
	return r.Rows.MulTo(ctx, dst, x, workers)
}

func (r countingRows) RowTo(dst []float64, i int) {
	*r.rows++ // of QR, from one goroutine
	r.Rows.RowTo(dst, i)
}

// countingLAW are the rows of a low-rank picture.
type countingLAW struct{ countingRows }

func (r countingLAW) WithAnchors(ctx context.Context, anchors []int, workers int) (cooc.Rows, error) {
	rows, err := r.Rows.(cooc.AnchorRows).WithAnchors(ctx, anchors, workers)
	r.Rows = rows
	return r.countingRows, err
}

// counts is a Pipeline's stages after the rectification, counted.
type counts struct {
	found, foundRows, recovered, recoveredRows int
	reads, pairs                               int
}

type countingFinder struct {
	anchor.QR
	n *counts
}

func (f countingFinder) Find(ctx context.Context, rows cooc.Rows, k int, opt anchor.Options) (*anchor.Result, error) {
	return f.QR.Find(ctx, countingRows{rows, &f.n.found, &f.n.foundRows}, k, opt)
}

type countingRecoverer struct {
	recovery.SCLS
	n *counts
}

func (r countingRecoverer) Recover(ctx context.Context, rows cooc.Rows, anchors []int, opt recovery.Options) (*recovery.Result, error) {
	opt.Workers = 1 // the counters have no locks
	c := countingRows{rows, &r.n.recovered, &r.n.recoveredRows}
	if _, ok := rows.(cooc.AnchorRows); ok {
		return r.SCLS.Recover(ctx, countingLAW{c}, anchors, opt)
	}
	return r.SCLS.Recover(ctx, c, anchors, opt)
}

type countingRefiner struct {
	refine.Passes
	n *counts
}

func (r countingRefiner) Refine(ctx context.Context, docs corpus.Source, start refine.Start, opt refine.Options) (*refine.Result, error) {
	return r.Passes.Refine(ctx, countingSource{docs, r.n}, start, opt)
}

type countingSource struct {
	corpus.Source
	n *counts
}

func (s countingSource) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	s.n.reads++
	return func(yield func(corpus.Document, error) bool) {
		for d, err := range s.Source.Docs(ctx) {
			s.n.pairs += len(d.Words)
			if !yield(d, err) {
				return
			}
		}
	}
}

// The work of the stages after the rectification is within a factor of 2 of what
// is done: products, rows and documents as they are counted, and solver's steps as the
// Stats tell. That of the rectification is tried in package rectify.
func TestEstimateAgainstWork(t *testing.T) {
	if testutil.Race {
		t.Skip("nothing here is concurrent that other tests do not try")
	}
	check := func(t *testing.T, c *corpus.Corpus, k int, lifted bool) {
		for _, r := range []jsmf.Rectifier{rectify.AP{Iterations: 3}, rectify.ENN{Iterations: 3}} {
			passes := refine.Passes{N: 3}
			p := jsmf.New(k).Rectify(r)
			e, err := p.Refine(passes).Estimate(sizes(c))
			if err != nil {
				t.Fatal(err)
			}
			var n counts
			m, err := p.Anchors(countingFinder{n: &n}).Recover(countingRecoverer{n: &n}).Refine(countingRefiner{passes, &n}).Fit(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			st := m.Stats()
			if lifted { // as many entries as were
				if e, err = p.Refine(passes).EstimateAfter(sizes(c), st); err != nil {
					t.Fatal(err)
				}
			}
			N, K := float64(m.N()), float64(k)
			nnz := float64(st.Corpus.NNZ)
			vector, row := 2*N*K, 0.0 // of a LAW
			norms, picture := 0.0, 2*N*K*K
			if _, ok := r.(rectify.AP); ok {
				entries := float64(st.Rectify.NNZ[len(st.Rectify.NNZ)-1])
				vector, row = 4*N*K+2*entries, 2*N*K
				norms, picture = 2*N*K*K+2*K*entries, 0
			}
			d := float64(m.N()) // of a row
			if picture > 0 {
				d = K
			}
			steps := st.Recover.MeanIterations
			if n.reads != st.Refine.Passes+2 || float64(n.pairs) != float64(n.reads)*nnz {
				t.Errorf("%d reads of %d pairs for %d passes over %g", n.reads, n.pairs, st.Refine.Passes, nnz)
			}
			hot := 4 * passes.N / 5
			done := map[jsmf.Stage]float64{
				// Each new row is made orthogonal twice to those before it. The picture:
				// QR, two operations for each of its K² numbers a word, twice; and YV.
				jsmf.StageAnchors: float64(n.found)*vector + float64(n.foundRows)*row + 4*d*K*K + norms + 3*picture,
				// For each word one step more and one topic more in turn, K products of
				// as long vectors and two triangular solutions; the picture again, with the
				// space that it lies in, and negative entries looked for in the rows of the anchors.
				jsmf.StageRecover: float64(n.recovered)*vector + float64(n.recoveredRows)*row + N*(K*steps*steps+2*steps*steps*steps/3) + 3*picture,
				// The first counts of topics, ten times as a pass; the pass, its score and sums.
				jsmf.StageRefine: nnz*K*(10*4+float64(hot)*(4+2+2)+float64(st.Refine.Passes-hot)*(12+2+2)+2) + 50*float64(hot)*K*(N+float64(st.Corpus.Documents)),
			}
			for _, x := range e.Stages {
				want, ok := done[x.Stage]
				if !ok {
					continue
				}
				ratio := x.Flops / want
				t.Logf("N = %d, K = %d, %v, %s: %.3g operations of %.3g expected: %.2f", m.N(), k, r, x.Stage, want, x.Flops, ratio)
				if !(ratio >= 0.5 && ratio <= 2) {
					t.Errorf("%v, %s: the estimate of operations is %.2f of those done", r, x.Stage, ratio)
				}
			}
		}
	}
	for _, x := range []struct{ docs, words, k int }{{300, 300, 10}, {800, 1000, 25}, {1000, 2000, 12}} {
		if testing.Short() && x.words > 300 {
			continue
		}
		t.Run(fmt.Sprintf("synthetic/N=%d/K=%d", x.words, x.k), func(t *testing.T) {
			check(t, textLike(t, x.docs, x.words, 60), x.k, true) // less is lifted than the rule expects
		})
	}
	for _, name := range []string{"nips17", "kos"} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("fits of a second each")
			}
			check(t, golden.Curated(t, testutil.Data(t, name, "docword."+name+".txt.gz"), testutil.Data(t, name, "vocab."+name+".txt"), testutil.Data(t, "stopwords.en.txt"), 1000), 25, false)
		})
	}
}

// lasted are Stats of a fit that p made of s, at a nanosecond an operation.
func lasted(t *testing.T, p jsmf.Pipeline, k int, s jsmf.CorpusStats) jsmf.Stats {
	t.Helper()
	e, err := p.K(k).Estimate(s)
	if err != nil {
		t.Fatal(err)
	}
	st := jsmf.Stats{Corpus: s}
	st.Anchors.Requested = k
	for _, x := range e.Stages {
		d := time.Duration(x.Flops)
		switch x.Stage {
		case jsmf.StageCooc:
			st.Cooc.Duration = d
		case jsmf.StageRectify:
			st.Rectify.Duration, st.Rectify.Method = d, x.Method
		case jsmf.StageAnchors:
			st.Anchors.Duration, st.Anchors.Method = d, x.Method
		case jsmf.StageRecover:
			st.Recover.Duration, st.Recover.Method = d, x.Method
		case jsmf.StageRefine:
			st.Refine.Duration, st.Refine.Method = d, x.Method
		}
	}
	return st
}

func TestEstimateAfter(t *testing.T) {
	small := jsmf.CorpusStats{Documents: 3000, Words: 2000, NNZ: 200_000}
	large := jsmf.CorpusStats{Documents: 6000, Words: 3000, NNZ: 600_000}
	p := jsmf.New(60).Refine(refine.Passes{})
	prev := lasted(t, p, 30, small)
	rule, err := p.Estimate(large)
	if err != nil {
		t.Fatal(err)
	}
	if rule.Duration != 0 || strings.Contains(rule.String(), " s ") {
		t.Errorf("times out of nothing:\n%v", rule)
	}
	// A nanosecond an operation then is a nanosecond an operation now.
	e, err := p.EstimateAfter(large, prev)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Stages) != 5 || len(e.Unknown) != 0 || e.Bytes != rule.Bytes {
		t.Errorf("%v\nwithout the fit before:\n%v", e, rule)
	}
	sum := time.Duration(0)
	for i, x := range e.Stages {
		if x.Flops != rule.Stages[i].Flops || math.Abs(float64(x.Duration)-x.Flops) > 2+1e-6*x.Flops {
			t.Errorf("%s: %v for %g operations", x.Stage, x.Duration, x.Flops)
		}
		sum += x.Duration
	}
	if sum != e.Duration || !strings.Contains(e.String(), fmt.Sprintf("%.2f s", e.Duration.Seconds())) {
		t.Errorf("%v in all, of stages of %v:\n%v", e.Duration, sum, e)
	}

	// Twice as many entries as the rule says are lifted: so there will be. Work
	// and time are no longer those of the rule.
	size := rectify.Size{Words: small.Words, Docs: small.Documents, NNZ: int64(small.NNZ)}
	many := prev
	many.Rectify.NNZ = []int{1, int(2 * size.Entries(30)), 7}
	few := prev
	few.Rectify.NNZ = []int{int(size.Entries(30) / 4)}
	m, err := p.EstimateAfter(large, many)
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.EstimateAfter(large, few)
	if err != nil {
		t.Fatal(err)
	}
	largeSize := rectify.Size{Words: large.Words, Docs: large.Documents, NNZ: int64(large.NNZ), Lifted: int64(1.1 * 2 * float64((rectify.Size{Words: large.Words, Docs: large.Documents, NNZ: int64(large.NNZ)}).Entries(60)))}
	if got, want := m.Stages[1].Flops, (rectify.AP{}).Cost(largeSize, 60).Flops; math.Abs(got-want) > 1e-3*want {
		t.Errorf("with twice the entries %g operations, want %g", got, want)
	}
	if !(m.Bytes > e.Bytes && f.Bytes < e.Bytes) {
		t.Errorf("%d bytes, with many entries %d, with few %d", e.Bytes, m.Bytes, f.Bytes)
	}

	// What is not known is said, and not made up.
	for _, x := range []struct {
		name, unknown string
		change        func(*jsmf.Stats)
		q             jsmf.Pipeline
	}{
		{"read from a file", "the time of rectify: that of the fit before is not known", func(s *jsmf.Stats) { s.Rectify.Duration = 0 }, p},
		{"another method", "the time of rectify: the fit before used DR", func(s *jsmf.Stats) { s.Rectify.Method = "DR(iterations=15)" }, p},
		{"another number of iterations", "the time of rectify: the fit before used AP(iterations=3", func(s *jsmf.Stats) { s.Rectify.Method = "AP(iterations=3, eigentol=1e-05)" }, p},
		{"another finder", "the time of anchors: the fit before used SPA", func(s *jsmf.Stats) { s.Anchors.Method = "SPA" }, p},
		{"a warm start", "the time of rectify: the fit before began warm", func(s *jsmf.Stats) { s.Refit.Start = "warm" }, p},
		{"no refinement", "the time of refine: that of the fit before is not known", func(s *jsmf.Stats) { s.Refine = jsmf.RefineStats{} }, p},
	} {
		st := prev
		x.change(&st)
		got, err := x.q.EstimateAfter(large, st)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Unknown) != 1 || !strings.HasPrefix(got.Unknown[0], x.unknown) || !(got.Duration > 0 && got.Duration < e.Duration) {
			t.Errorf("%s: %q, %v of %v\n%v", x.name, got.Unknown, got.Duration, e.Duration, got)
		}
	}
	// Auto goes over to LR, of which AP says nothing.
	got, err := p.EstimateAfter(jsmf.CorpusStats{Documents: 100_000, Words: 50_000, NNZ: 10_000_000}, prev)
	if err != nil || len(got.Unknown) != 1 || !strings.HasPrefix(got.Unknown[0], "the time of rectify: it was that of AP(") {
		t.Errorf("%v, %v", got, err)
	}
	// Nothing is to be done for None, and nothing known of other people's finders.
	none := p.Rectify(rectify.None{})
	if got, err := none.EstimateAfter(large, lasted(t, none, 30, small)); err != nil || len(got.Unknown) != 0 {
		t.Errorf("%v, %v", got, err)
	}

	for _, bad := range []struct {
		s    jsmf.CorpusStats
		prev jsmf.Stats
	}{{large, jsmf.Stats{}}, {jsmf.CorpusStats{}, prev}, {large, jsmf.Stats{Corpus: small}}, {large, jsmf.Stats{Anchors: prev.Anchors}}} {
		if got, err := p.EstimateAfter(bad.s, bad.prev); err == nil {
			t.Errorf("%+v after %+v: %v", bad.s, bad.prev, got)
		}
	}
}
