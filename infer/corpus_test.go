package infer_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// On real documents, compositions by MAP and Gibbs with the learned α predict
// the held-out half of each document's tokens no worse than the usual fold-in does: a
// hundred plain steps with α_k = 5/K on topics smoothed by 1 % of the unigram. All are
// scored with these smoothed topics. Refined topics have an α of their own, which does as
// well.
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
	const k = 50
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
	refined, err := jsmf.Published(k).Rectify(rectify.ENN{}).Anchors(anchor.QR{MinDocs: 30}).Refine(refine.Passes{N: 5}).Fit(ctx, train)
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
	if got := score(infer.MAP{}, tp); got < usual {
		t.Errorf("refined topics: %.4f a token, the usual fold-in %.4f", got, usual)
	}
	tp = topicsOf(m)
	if smooth, err = infer.Smooth(tp.B, u, 0.01); err != nil {
		t.Fatal(err)
	}
	usual = score(fold, infer.Topics{B: smooth, Alpha: flat})
	learned, err := infer.LearnAlpha(ctx, tp, train, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	score(infer.MAP{}, tp) // with the moments' α
	tp.Alpha = learned
	for _, method := range []infer.Method{infer.MAP{}, infer.MAP{EM: true}, infer.Gibbs{Sweeps: 200}, infer.LeastSquares{}, infer.SPI{}} {
		got := score(method, tp)
		switch method.(type) {
		case infer.MAP, infer.Gibbs:
			if got < usual {
				t.Errorf("%v: %.4f a token, the usual fold-in %.4f", method, got, usual)
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
	return infer.Topics{B: mat.DenseCopyOf(m.Topics()), A: mat.DenseCopyOf(m.Correlations()), Breve: mat.DenseCopyOf(m.WordTopics()), Alpha: m.Alpha()}
}
