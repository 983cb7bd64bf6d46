package rectify_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

// BenchmarkRectify compares the methods in one run, in units u. The
// papers compare the low-rank methods with 150 iterations of AP.
func BenchmarkRectify(b *testing.B) {
	c := golden.Curated(b, testutil.Data(b, "nips17", "docword.nips17.txt.gz"), testutil.Data(b, "nips17", "vocab.nips17.txt"), testutil.Data(b, "stopwords.en.txt"), 5000)
	u := testutil.Stick()
	for _, r := range []struct {
		name string
		r    rectify.Rectifier
	}{
		{"AP15", rectify.AP{}},
		{"AP150", rectify.AP{Iterations: 150}},
		{"ENN", rectify.ENN{}},
		{"ENN50", rectify.ENN{Iterations: 50}},
		{"LR-1e-4", rectify.LR{ENN: rectify.ENN{Tol: 1e-4}}},
		{"LR", rectify.LR{}},
		{"DR15", rectify.DR{}},
		{"PALM100", rectify.PALM{}},
	} {
		for _, k := range []int{50, 100} {
			b.Run(fmt.Sprintf("method=%s/corpus=nips17/N=%d/K=%d/workers=1", r.name, c.NumWords(), k), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				for range b.N {
					m, err := cooc.NewMoments(ctx, c, cooc.Options{}) // from documents: nothing is kept from before
					if err != nil {
						b.Fatal(err)
					}
					res, err := r.r.Rectify(ctx, m, k, rectify.Options{Workers: 1})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(res.Iterations), "iterations")
					b.ReportMetric(float64(res.Products), "products")
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/u, "u/op")
			})
		}
	}
}
