package jsmf_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// benchCorpus reads a real corpus; n = 5000 words, by the papers' rules.
func benchCorpus(b testing.TB, name string) *corpus.Corpus {
	stops := ""
	if name != "retail" {
		stops = testutil.Data(b, "stopwords.en.txt")
	}
	return golden.Curated(b, testutil.Data(b, name, "docword."+name+".txt.gz"), testutil.Data(b, name, "vocab."+name+".txt"), stops, 5000)
}

// BenchmarkFit times the whole way from counts to a model, 15 iterations of
// alternating projection and the exact solver, in seconds and in units u. Run
//
//	JSMF_DATA=… go test ./jsmf -run '^$' -bench Fit -benchtime 1x
func BenchmarkFit(b *testing.B) {
	ctx := context.Background()
	for _, name := range []string{"nips17", "kos", "retail"} {
		b.Run("corpus="+name, func(b *testing.B) {
			c := benchCorpus(b, name)
			for _, k := range []int{50, 100} {
				{
					for _, workers := range []int{1, 2} {
						if workers > runtime.NumCPU() {
							continue
						}
						b.Run(fmt.Sprintf("N=%d/K=%d/form=exact/workers=%d", c.NumWords(), k, workers), func(b *testing.B) {
							defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
							p := jsmf.Published(k).Rectify(rectify.AP{}).Workers(workers)
							u := testutil.Stick()
							var m *jsmf.Model
							var err error
							b.ReportAllocs()
							b.ResetTimer()
							for range b.N {
								if m, err = p.Fit(ctx, c); err != nil {
									b.Fatal(err)
								}
							}
							b.StopTimer()
							b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/u, "u/op")
							st := m.Stats()
							b.ReportMetric(st.Durations[jsmf.StageRectify].Seconds()/u, "u-rectify")
							b.ReportMetric(st.Durations[jsmf.StageAnchors].Seconds()/u, "u-anchors")
							b.ReportMetric(st.Durations[jsmf.StageRecover].Seconds()/u, "u-recover")
							r, err := p.Evaluate(ctx, m, c)
							if err != nil {
								b.Fatal(err)
							}
							b.ReportMetric(r.Recovery.Mean, "recovery")
							b.ReportMetric(1e3*r.Approximation, "approximation·10³")
							b.ReportMetric(r.Specificity.Mean, "specificity")
							b.ReportMetric(r.NPMI.Mean, "npmi")
						})
					}
				}
			}
		})
	}
}

// BenchmarkFitRefined times the whole way with ten passes over the documents at
// its end, on one core. enn15 makes as many iterations as AP does, which the passes
// make up for: compare loglik.
func BenchmarkFitRefined(b *testing.B) {
	ctx := context.Background()
	c := benchCorpus(b, "kos")
	for _, k := range []int{50, 100} {
		for i, r := range []rectify.Rectifier{rectify.AP{}, rectify.ENN{}, rectify.ENN{Iterations: 15}} {
			b.Run(fmt.Sprintf("corpus=kos/N=%d/K=%d/rectify=%s/workers=1", c.NumWords(), k, []string{"ap", "enn", "enn15"}[i]), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				u := testutil.Stick()
				var m *jsmf.Model
				var err error
				b.ResetTimer()
				for range b.N {
					if m, err = jsmf.Published(k).Rectify(r).Refine(refine.Passes{}).Workers(1).Fit(ctx, c); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/u, "u/op")
				st := m.Stats()
				b.ReportMetric(st.Durations[jsmf.StageRectify].Seconds()/u, "u-rectify")
				b.ReportMetric(st.Durations[jsmf.StageRefine].Seconds()/u, "u-refine")
				b.ReportMetric(st.Refine.LogLik()[0], "loglik-before")
				b.ReportMetric(st.Refine.LogLik()[st.Refine.Passes], "loglik")
			})
		}
	}
}

// BenchmarkCancel measures how long Fit goes on after its context ends, in the
// middle of each stage.
func BenchmarkCancel(b *testing.B) {
	c := benchCorpus(b, "nips17")
	for _, stage := range []jsmf.Stage{jsmf.StageRectify, jsmf.StageAnchors, jsmf.StageRecover} {
		b.Run("stage="+string(stage), func(b *testing.B) {
			var worst, sum time.Duration
			for range b.N {
				ctx, cancel := context.WithCancel(context.Background())
				var at time.Time
				_, err := jsmf.Published(50).Rectify(rectify.AP{Iterations: 3}).Record(func(e jsmf.Event) {
					if e.Stage == stage && e.Kind == jsmf.EventProgress && at.IsZero() {
						at = time.Now()
						cancel()
					}
				}).Fit(ctx, c)
				d := time.Since(at)
				cancel()
				if err == nil {
					b.Fatal("the fit was not cancelled")
				}
				worst, sum = max(worst, d), sum+d
			}
			b.ReportMetric(sum.Seconds()*1e3/float64(b.N), "latency-ms")
			b.ReportMetric(worst.Seconds()*1e3, "worst-ms")
		})
	}
}
