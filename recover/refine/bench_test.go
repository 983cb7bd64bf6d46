package refine_test

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// BenchmarkPasses times ten passes over the training documents of kos-split from
// a start made of the documents themselves: topic k begins as the words of every
// K-th. It reports the time for each number of nnz·K and pass, the fold-in and
// the final score included, and the log-likelihood reached. With swaps it is
// K/10 at most; with temperature 1 no pass is annealed.
func BenchmarkPasses(b *testing.B) {
	c, err := corpus.ReadUCI(ctx, testutil.Data(b, "kos-split", "docword.train.txt.gz"), testutil.Data(b, "kos-split", "vocab.txt"))
	if err != nil {
		b.Fatal(err)
	}
	for _, k := range []int{50, 100} {
		start := mat.NewDense(c.NumWords(), k, nil)
		sums := make([]float64, k)
		for m := range c.NumDocs() {
			words, counts := c.Doc(m)
			for i, w := range words {
				start.Set(int(w), m%k, start.At(int(w), m%k)+float64(counts[i]))
				sums[m%k] += float64(counts[i])
			}
		}
		for i := range c.NumWords() {
			for t, s := range sums {
				start.Set(i, t, start.At(i, t)/s)
			}
		}
		for _, method := range []refine.Method{refine.CVB0, refine.MAPEM, refine.CVB0Document} {
			for _, run := range []struct {
				workers, swaps int
				temperature    float64
			}{{1, 0, 1}, {2, 0, 1}, {1, 0, 1.4}, {2, 0, 1.4}, {1, k / 10, 1.4}} {
				b.Run(fmt.Sprintf("corpus=kos/K=%d/method=%v/workers=%d/swaps=%d/temperature=%v", k, method, run.workers, run.swaps, run.temperature), func(b *testing.B) {
					var r *refine.Result
					b.ReportAllocs()
					for range b.N {
						r = fit(b, refine.Passes{Method: method, Swaps: run.swaps, Temperature: run.temperature}, c.Source(), refine.Start{B: start}, run.workers)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.NNZ()*k*r.Passes), "ns/nnz·K·pass")
					b.ReportMetric(r.History[r.Passes].LogLik, "loglik")
					b.ReportMetric(float64(r.Swaps), "swaps")
				})
			}
		}
	}
}
