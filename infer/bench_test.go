package infer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

// sparseModel is like a model from anchor words: most words are in a few of the
// topics. Documents of n tokens have compositions of a logistic-normal prior.
func sparseModel(words, k, m, n int, seed uint64) *planted {
	rng := rand.New(rand.NewPCG(seed, 6))
	p := &planted{docs: &docList{n: words}, w: mat.NewDense(m, k, nil)}
	p.B, p.A = mat.NewDense(words, k, nil), mat.NewDense(k, k, nil)
	for i := range words {
		p.B.Set(i, i%k, math.Exp(1.5*rng.NormFloat64()))
		if i < k {
			continue // an anchor
		}
		for range 12 {
			p.B.Set(i, rng.IntN(k), math.Exp(2*rng.NormFloat64()))
		}
	}
	cum := make([][]float64, k)
	for t := range k {
		s := mat.Sum(p.B.ColView(t))
		c := 0.0
		for i := range words {
			p.B.Set(i, t, p.B.At(i, t)/s)
			c += p.B.At(i, t)
			cum[t] = append(cum[t], c)
		}
	}
	run := make([]float64, k)
	for d := range m {
		w := p.w.RawRowView(d)
		for t := range w {
			w[t] = math.Exp(2.5 * rng.NormFloat64())
		}
		vec.Normalise(w)
		c := 0.0
		for t := range w {
			c += w[t]
			run[t] = c
		}
		counts := map[int]int{}
		for range n {
			t, _ := slices.BinarySearch(run, rng.Float64()*c)
			i, _ := slices.BinarySearch(cum[min(t, k-1)], rng.Float64())
			counts[min(i, words-1)]++
		}
		p.docs.add(counts)
	}
	p.A.Mul(p.w.T(), p.w)
	p.A.Scale(1/float64(m), p.A)
	return p
}

// BenchmarkLearn times PADD over all documents, with 15 steps and the pass that
// gives the compositions, against the paper's algorithm line by line on a part of
// the documents, in one run. It also reports the residual ‖A − WWᵀ/M‖_F of both on that
// part, and of Λ = 0.
func BenchmarkLearn(b *testing.B) {
	for _, docs := range []int{200, 10000} {
		b.Run(fmt.Sprintf("N=5000/K=100/docs=%d", docs), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			p := sparseModel(5000, 100, docs, 200, 1)
			part := &planted{Topics: p.Topics, docs: &docList{n: 5000, ids: p.docs.ids[:200], counts: p.docs.counts[:200]}}
			h, breve := part.frequencies(), part.breve()
			var l *Learned
			b.ResetTimer()
			for range b.N {
				var err error
				if l, err = (PADD{}).Learn(ctx, p.Topics, p.docs, Options{}); err != nil {
					b.Fatal(err)
				}
				tp := p.Topics
				tp.Dual = l.Dual
				inf := prepare(b, PADD{}, tp)
				if _, err := inf.Infer(ctx, p.docs, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			own := b.Elapsed().Seconds() / float64(b.N) / float64(docs)
			begun := time.Now()
			w, _ := paperPADD(h, p.B, p.A, breve, 15, 150, 0.01)
			paper := time.Since(begun).Seconds() / 200
			b.ReportMetric(1e3*own, "ms/doc")
			b.ReportMetric(1e3*paper, "ms/doc-paper")
			b.ReportMetric(paper/own, "speedup")
			b.ReportMetric(l.Residual, "residual")
			b.ReportMetric(l.Residuals[0], "residual-Λ=0")
			if docs == 200 {
				b.ReportMetric(distance(secondMoment(w), p.A), "residual-paper")
			}
		})
	}
}

// BenchmarkStream times single documents of 200 words as a service sees them, on
// one and two goroutines: the median and the 99th percentile of the time of a
// document, documents a second, and how far the compositions are from the true
// ones (mean ℓ₁).
func BenchmarkStream(b *testing.B) {
	p := sparseModel(5000, 100, 2000, 200, 1)
	tp := p.withDual(b)
	for _, m := range []struct {
		name   string
		method Method
	}{
		{"SPI", SPI{}}, {"TLI", TLI{}}, {"LeastSquares", LeastSquares{}}, {"PADD", PADD{}}, {"EM", MAP{EM: true}}, {"CVB0", MAP{}},
		{"Gibbs1200", Gibbs{}},
	} {
		inf := prepare(b, m.method, tp)
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("K=100/tokens=200/method=%s/goroutines=%d", m.name, workers), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
				times := make([][]float64, workers)
				for g := range times {
					times[g] = make([]float64, 0, b.N)
				}
				warm := make([]float64, 100)
				ids, counts := p.docs.Doc(0)
				inf.InferTo(warm, ids, counts)
				b.ReportAllocs()
				b.ResetTimer()
				var wg sync.WaitGroup
				for g := range workers {
					wg.Add(1)
					go func() {
						defer wg.Done()
						w := make([]float64, 100)
						for i := g; i < b.N; i += workers {
							ids, counts := p.docs.Doc(i % 2000)
							begun := time.Now()
							if _, err := inf.InferTo(w, ids, counts); err != nil {
								b.Error(err)
								return
							}
							times[g] = append(times[g], time.Since(begun).Seconds())
						}
					}()
				}
				wg.Wait()
				b.StopTimer()
				var all []float64
				for _, t := range times {
					all = append(all, t...)
				}
				slices.Sort(all)
				b.ReportMetric(1e6*all[len(all)/2], "p50-µs")
				b.ReportMetric(1e6*all[len(all)*99/100], "p99-µs")
				b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "docs/s")
				part := &docList{n: 5000, ids: p.docs.ids[:200], counts: p.docs.counts[:200]}
				batch, err := inf.Infer(ctx, part, Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(meanL1(batch.W, p.w.Slice(0, 200, 0, 100).(*mat.Dense)), "ℓ₁")
			})
		}
	}
}
