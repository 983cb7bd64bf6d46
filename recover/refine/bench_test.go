package refine_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// BenchmarkPasses times ten passes over the training documents of kos-split from
// the start of byDocument. It reports the time for each number of nnz·K and pass, the fold-in and
// the final score included, and the log-likelihood reached. With swaps it is
// K/10 at most; with temperature 1 no pass is annealed.
func BenchmarkPasses(b *testing.B) {
	c, err := corpus.ReadUCI(ctx, testutil.Data(b, "kos-split", "docword.train.txt.gz"), testutil.Data(b, "kos-split", "vocab.txt"))
	if err != nil {
		b.Fatal(err)
	}
	for _, k := range []int{50, 100} {
		start := byDocument(c, k)
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

// BenchmarkEncoded times passes of CVB0Document over the training documents of nips17-split
// that are encoded, in memory and in a file, by one worker and by two. It reports the time
// for each nonzero and pass: a fit of twelve passes less one of two, so that the fold-in,
// the count and the final score do not matter.
func BenchmarkEncoded(b *testing.B) {
	const k, few, many = 50, 2, 12
	c, err := corpus.ReadUCI(ctx, testutil.Data(b, "nips17-split", "docword.train.txt.gz"), testutil.Data(b, "nips17-split", "vocab.txt"))
	if err != nil {
		b.Fatal(err)
	}
	memory, err := corpus.Encode(ctx, c.Source())
	if err != nil {
		b.Fatal(err)
	}
	file, err := corpus.EncodeFile(ctx, memory, filepath.Join(b.TempDir(), "docs.jenc"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	start := refine.Start{B: byDocument(c, k)}
	for _, x := range []struct {
		name    string
		docs    *corpus.Encoded
		workers int
	}{{"memory", memory, 1}, {"file", file, 1}, {"memory", memory, 2}, {"file", file, 2}} {
		b.Run(fmt.Sprintf("%s/workers=%d", x.name, x.workers), func(b *testing.B) {
			var times [2]time.Duration
			for b.Loop() {
				for i, n := range []int{few, many} {
					begin := time.Now()
					fit(b, refine.Passes{N: n, Method: refine.CVB0Document, Temperature: 1, FoldIn: 1}, x.docs, start, x.workers)
					times[i] += time.Since(begin)
				}
			}
			b.ReportMetric(float64((times[1]-times[0]).Nanoseconds())/float64(b.N)/float64(c.NNZ()*(many-few)), "ns/nnz·pass")
		})
	}
}

// byDocument returns topics made of the documents themselves: topic t begins as the words
// of every k-th.
func byDocument(c *corpus.Corpus, k int) *mat.Dense {
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
	return start
}
