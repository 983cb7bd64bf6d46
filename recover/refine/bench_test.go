package refine_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// BenchmarkPasses times passes of both refiners over training documents, encoded in memory or in a file, by
// one worker and by two, from the topics of byDocument. A pass takes what a fit of twelve
// takes beyond one of two, so that the first counts, the closing passes and the final score
// do not matter; the least of all runs.
func BenchmarkPasses(b *testing.B) {
	for _, name := range []string{"kos", "nips17"} {
		c, err := corpus.ReadUCI(ctx, testutil.Data(b, name+"-split", "docword.train.txt.gz"), testutil.Data(b, name+"-split", "vocab.txt"))
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
		for _, k := range []int{50, 100} {
			start := refine.Start{B: byDocument(c, k)}
			for method, make := range map[string]func(n int) refine.Refiner{
				"passes": func(n int) refine.Refiner { return refine.Passes{N: n, Gain: -1} },
				"batch":  func(n int) refine.Refiner { return refine.Batch{N: n, Gain: -1} },
			} {
				for _, x := range []struct {
					docs    string
					from    corpus.Source
					workers int
				}{{"memory", memory, 1}, {"file", file, 1}, {"memory", memory, 2}} {
					b.Run(fmt.Sprintf("corpus=%s/K=%d/method=%s/docs=%s/workers=%d/kernel=%s", name, k, method, x.docs, x.workers, linalg.KernelName()), func(b *testing.B) {
						pass := benchPasses(b, make, x.from, start, x.workers)
						b.ReportMetric(float64(pass.Nanoseconds())/float64(c.NNZ()), "ns/nonzero·pass")
					})
				}
			}
		}
		if err := file.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// benchPasses returns how long a pass takes.
func benchPasses(b *testing.B, make func(n int) refine.Refiner, docs corpus.Source, start refine.Start, workers int) time.Duration {
	const few, many = 2, 12
	var least [2]time.Duration
	for b.Loop() {
		for i, n := range []int{few, many} {
			begin := time.Now()
			fit(b, make(n), docs, start, workers)
			if took := time.Since(begin); least[i] == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	return (least[1] - least[0]) / (many - few)
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
