package infer_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/cputime"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// On real documents, compositions by MAP and Gibbs with the learned α predict
// the held-out half of each document's tokens no worse than the usual fold-in does: a
// hundred plain steps with α_k = 5/K on topics smoothed by 1 % of the unigram. All are
// scored with these smoothed topics. Refined topics have an α of their own, with which MAP
// does as well to a thousandth.
func TestHeldOutReal(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("fits a model to real documents: some 10 s")
	}
	ctx := context.Background()
	read := func(part string) *corpus.Corpus {
		c, err := corpus.ReadUCI(ctx, testutil.Data(t, "kos-split", "docword."+part+".txt.gz"), testutil.Data(t, "kos-split", "vocab.txt"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	train, obs, held := read("train"), read("obs"), read("held")
	const k = 20
	m, err := jsmf.Published(k).Rectify(rectify.ENN{}).Anchors(anchor.QR{MinDocs: 30}).Fit(ctx, train)
	if err != nil {
		t.Fatal(err)
	}
	onto := func(c *corpus.Corpus) *corpus.Corpus {
		out, _, err := c.Reindex(m.Vocabulary())
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	refined, err := jsmf.Published(k).Rectify(rectify.ENN{}).Anchors(anchor.QR{MinDocs: 30}).Refine(refine.Passes{}).Fit(ctx, train)
	if err != nil {
		t.Fatal(err)
	}
	train, obs, held = onto(train), onto(obs), onto(held)
	var u []float64
	for _, n := range train.WordCounts() {
		u = append(u, float64(n)+0.5)
	}
	tp := topicsOf(refined)
	smooth, err := infer.Smooth(tp.B, u, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	score := func(m infer.Method, tp infer.Topics) float64 {
		p, err := m.Prepare(ctx, tp, infer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h, err := infer.Completion(ctx, p, smooth, obs, held, infer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: %.4f a token", m, h.PerToken)
		return h.PerToken
	}
	fold := infer.MAP{EM: true, Steps: 100, Tol: 1e-300}
	flat := slices.Repeat([]float64{5. / k}, k)
	usual := score(fold, infer.Topics{B: smooth, Alpha: flat})
	if got := score(infer.MAP{}, tp); got < usual-1e-3 {
		t.Errorf("refined topics: %.4f a token, the usual fold-in %.4f", got, usual)
	}
	tp = topicsOf(m)
	if smooth, err = infer.Smooth(tp.B, u, 0.01); err != nil {
		t.Fatal(err)
	}
	usual = score(fold, infer.Topics{B: smooth, Alpha: flat})
	for _, method := range []infer.Method{infer.MAP{}, infer.MAP{EM: true}, infer.Gibbs{Sweeps: 200}} {
		if got := score(method, tp); got < usual-1e-3 { // the prior is that of A's moments
			t.Errorf("%v: %.4f a token, the usual fold-in %.4f", method, got, usual)
		}
	}
}

// realModels are models of a corpus as published, whose topics have many zeros, and
// refined, with none.
func realModels(t testing.TB, name string, k, passes int) (*corpus.Corpus, map[string]infer.Topics) {
	c := golden.Curated(t, testutil.Data(t, name, "docword."+name+".txt.gz"), testutil.Data(t, name, "vocab."+name+".txt"), testutil.Data(t, "stopwords.en.txt"), 5000)
	p := refine.Passes{N: passes}
	models := map[string]infer.Topics{}
	for kind, p := range map[string]jsmf.Pipeline{"published": jsmf.Published(k), "refined": jsmf.Published(k).Refine(p)} {
		m, err := p.Rectify(rectify.ENN{}).Fit(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		tp := topicsOf(m)
		if tp.Alpha == nil {
			if tp.Alpha, err = recovery.FitAlpha(tp.A); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(m.Vocabulary(), c.Vocabulary()) {
			t.Fatal("the model has another vocabulary")
		}
		models[kind] = tp
	}
	return c, models
}

// cut returns up to n tokens, drawn at random, of every step-th document.
func cut(c *corpus.Corpus, step, n int) [][]int32 {
	var out [][]int32
	rng := rand.New(rand.NewPCG(1, 2))
	for d := 0; d < c.NumDocs(); d += step {
		var tokens []int32
		ids, counts := c.Doc(d)
		for i, id := range ids {
			tokens = append(tokens, slices.Repeat([]int32{id}, int(counts[i]))...)
		}
		rng.Shuffle(len(tokens), func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
		out = append(out, tokens[:min(n, len(tokens))])
	}
	return out
}

// On real documents, too, MAP is the fixed point of its definition in float64 to 1e-3 in
// 99 % of the documents.
func TestMAPReal(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("fits models to real documents: some 3 s")
	}
	const k = 20
	c, models := realModels(t, "kos", k, 5)
	for kind, tp := range models {
		for _, em := range []bool{false, true} {
			p, err := infer.MAP{EM: em}.Prepare(context.Background(), tp, infer.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{6, 200} {
				docs, far, most := cut(c, 50, n), 0, 0.0
				for _, tokens := range docs {
					w := make([]float64, k)
					d, err := p.InferTo(w, tokens, nil)
					if err != nil {
						t.Fatal(err)
					}
					if d.Unknown > 0 {
						continue
					}
					want, _ := infer.SlowMAPEnd(tp.B, tp.Alpha, tokens, slices.Repeat([]int32{1}, len(tokens)), em, 1e-7)
					diff := floats.Distance(w, want, math.Inf(1))
					if most = max(most, diff); diff > 1e-3 {
						far++
					}
				}
				t.Logf("%s topics, EM %v, %d tokens: %d of %d documents off by more than 1e-3, the most by %.2g", kind, em, n, far, len(docs), most)
				if 100*far > len(docs) {
					t.Errorf("%s topics, EM %v, %d tokens: %d of %d documents are off by more than 1e-3", kind, em, n, far, len(docs))
				}
			}
		}
	}
}

// BenchmarkMAP times single documents of NIPS: the median and the 99th percentile of
// the time of a document.
func BenchmarkMAP(b *testing.B) {
	const k = 100
	c, models := realModels(b, "nips17", k, 20)
	docs := cut(c, 4, 200)
	for _, kind := range []string{"published", "refined"} {
		tp := models[kind]
		for _, m := range []infer.MAP{{}, {EM: true}} {
			b.Run(fmt.Sprintf("corpus=nips17/topics=%s/K=%d/tokens=200/EM=%v", kind, k, m.EM), func(b *testing.B) {
				p, err := m.Prepare(context.Background(), tp, infer.Options{})
				if err != nil {
					b.Fatal(err)
				}
				w, n, steps := make([]float64, k), 0, 0
				var times []float64
				for b.Loop() {
					begun := time.Now()
					d, err := p.InferTo(w, docs[n%len(docs)], nil)
					if err != nil {
						b.Fatal(err)
					}
					times = append(times, time.Since(begun).Seconds())
					n, steps = n+1, steps+d.Iterations
				}
				slices.Sort(times)
				b.ReportMetric(1e6*times[n/2], "p50-µs")
				b.ReportMetric(1e6*times[n*99/100], "p99-µs")
				b.ReportMetric(float64(steps)/float64(n), "steps/doc")
			})
		}
	}
}

// manyTopics returns topics of documents: those of a fit of a hundred, or a thousand that passes make
// of ten random variations of each.
func manyTopics(b *testing.B, c *corpus.Corpus, k int) infer.Topics {
	ctx := context.Background()
	m, err := jsmf.New(100).Refine(refine.Passes{Correlated: -1}).Fit(ctx, c)
	if err != nil {
		b.Fatal(err)
	}
	if k == 100 {
		return topicsOf(m)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	start, sums := mat.NewDense(m.N(), k, nil), make([]float64, k)
	for i := range m.N() {
		row := start.RawRowView(i)
		for j := range row {
			row[j] = m.Topics().At(i, j*100/k) * math.Exp(2*rng.NormFloat64())
			sums[j] += row[j]
		}
	}
	for i := range m.N() {
		floats.Div(start.RawRowView(i), sums)
	}
	r, err := refine.Passes{N: 10, Correlated: -1}.Refine(ctx, c.Source(), refine.Start{B: start}, refine.Options{K: k})
	if err != nil {
		b.Fatal(err)
	}
	return infer.Topics{B: r.B, Alpha: r.Alpha}
}

// BenchmarkMAPMany times the documents of NIPS by MAP on one core, with few and many topics, and
// gives the total variation distances to the proportions with all topics.
func BenchmarkMAPMany(b *testing.B) {
	c := golden.Curated(b, testutil.Data(b, "nips17", "docword.nips17.txt.gz"), testutil.Data(b, "nips17", "vocab.nips17.txt"), testutil.Data(b, "stopwords.en.txt"), 5000)
	for _, k := range []int{100, 1000} {
		tp := manyTopics(b, c, k)
		for _, em := range []bool{false, true} {
			var all *infer.Batch
			for _, of := range []string{"all", "few"} {
				tol := 1e-5
				if of == "all" {
					tol = math.Nextafter(tol, 0)
				}
				b.Run(fmt.Sprintf("corpus=nips17/K=%d/EM=%v/topics=%s/workers=1", k, em, of), func(b *testing.B) {
					p, err := infer.MAP{EM: em, Tol: tol}.Prepare(context.Background(), tp, infer.Options{})
					if err != nil {
						b.Fatal(err)
					}
					var out *infer.Batch
					begun := cputime.Seconds()
					for b.Loop() {
						if out, err = p.Infer(context.Background(), c, infer.Options{Workers: 1}); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(1e6*(cputime.Seconds()-begun)/float64(b.N*c.NumDocs()), "cpu-µs/doc")
					if of == "all" {
						all = out
						return
					}
					far := make([]float64, c.NumDocs())
					for d := range far {
						far[d] = floats.Distance(out.W.RawRowView(d), all.W.RawRowView(d), 1) / 2
					}
					slices.Sort(far)
					b.ReportMetric(far[len(far)/2], "tv-p50")
					b.ReportMetric(far[len(far)*99/100], "tv-p99")
				})
			}
		}
	}
}

// BenchmarkTLIPrepare times TLI's linear programs for models of real documents on one
// core, in units u.
func BenchmarkTLIPrepare(b *testing.B) {
	ctx := context.Background()
	for _, name := range []string{"kos", "nips17"} {
		c := golden.Curated(b, testutil.Data(b, name, "docword."+name+".txt.gz"), testutil.Data(b, name, "vocab."+name+".txt"), testutil.Data(b, "stopwords.en.txt"), 5000)
		for _, k := range []int{50, 100} {
			m, err := jsmf.Published(k).Rectify(rectify.ENN{}).Fit(ctx, c)
			if err != nil {
				b.Fatal(err)
			}
			tp := topicsOf(m)
			b.Run(fmt.Sprintf("corpus=%s/N=%d/K=%d/workers=1", name, m.N(), k), func(b *testing.B) {
				u := testutil.Stick()
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				b.ResetTimer()
				for range b.N {
					if _, err := (infer.TLI{}).Prepare(ctx, tp, infer.Options{Workers: 1}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/u, "u/op")
			})
		}
	}
}

// topicsOf returns the model as package infer takes it.
func topicsOf(m *jsmf.Model) infer.Topics {
	return infer.Topics{B: mat.DenseCopyOf(m.Topics()), A: mat.DenseCopyOf(m.Correlations()), WordTopics: mat.DenseCopyOf(m.WordTopics()), Alpha: m.Alpha()}
}
