package rectify_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

// BenchmarkLR goes from documents to YYᵀ, in the unit of BenchmarkAP.
func BenchmarkLR(b *testing.B) {
	u := testutil.Stick()
	c := golden.Curated(b, testutil.Data(b, "nips17", "docword.nips17.txt.gz"), testutil.Data(b, "nips17", "vocab.nips17.txt"),
		os.Getenv("JSMF_DATA")+"/stopwords.en.txt", 5000)
	for _, k := range []int{50, 100} {
		for _, w := range []int{1, 2} {
			b.Run(fmt.Sprintf("corpus=nips17/N=%d/K=%d/workers=%d", c.NumWords(), k, w), func(b *testing.B) {
				for range b.N {
					m, err := cooc.NewMoments(ctx, c, cooc.Options{})
					if err != nil {
						b.Fatal(err)
					}
					res, err := rectify.LR{}.Rectify(ctx, m, k, rectify.Options{Workers: w})
					if err != nil {
						b.Fatal(err)
					}
					reportLR(b, res)
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/u, "u/op")
			})
		}
	}
}

// BenchmarkLRLarge takes a large vocabulary whole, with the documents in memory
// or decoded anew in each pass. It takes minutes, and runs only where JSMF_LARGE
// is set. The peak is that of the process: run one form at a time.
func BenchmarkLRLarge(b *testing.B) {
	if os.Getenv("JSMF_LARGE") == "" {
		b.Skip("skipped: takes minutes; set JSMF_LARGE to run it")
	}
	const k = 100
	src := corpus.UCI{
		Docword: corpus.File{Name: testutil.Data(b, "imdb-large", "docword.imdb-large.txt.gz")},
		Vocab:   corpus.File{Name: testutil.Data(b, "imdb-large", "vocab.imdb-large.txt")},
	}
	forms := []struct {
		name string
		open func() (cooc.Operator, error)
	}{
		{"encoded", func() (cooc.Operator, error) {
			e, err := corpus.EncodeFile(ctx, src, b.TempDir()+"/docs.jenc")
			if err != nil {
				return nil, err
			}
			return cooc.FromEncoded(ctx, e, cooc.Options{DropUnused: true})
		}},
		{"memory", func() (cooc.Operator, error) {
			c, err := corpus.Read(ctx, src)
			if err != nil {
				return nil, err
			}
			return cooc.NewMoments(ctx, c, cooc.Options{})
		}},
	}
	for _, f := range forms {
		b.Run(fmt.Sprintf("corpus=imdb-large/K=%d/form=%s", k, f.name), func(b *testing.B) {
			for range b.N {
				begun := time.Now()
				c, err := f.open()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(time.Since(begun).Seconds(), "s/open")
				t := &timed{Operator: c, done: func(s float64) { b.Logf("a product in %.1f s, peak %d MB", s, peakMB()) }}
				begun = time.Now()
				res, err := rectify.LR{}.Rectify(ctx, t, k, rectify.Options{Progress: func(done, total int, change float64) {
					b.Logf("%v: iteration %d, change %.3g, peak %d MB", time.Since(begun), done, change, peakMB())
				}})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(c.Dim()), "N")
				b.ReportMetric(t.seconds/float64(res.Passes), "s/pass")
				reportLR(b, res)
			}
			b.ReportMetric(float64(peakMB()), "peakMB")
		})
	}
}

// timed adds up the time of the products.
type timed struct {
	cooc.Operator
	seconds float64
	done    func(seconds float64)
}

func (t *timed) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	begun := time.Now()
	defer func() {
		s := time.Since(begun).Seconds()
		t.seconds += s
		t.done(s)
	}()
	return t.Operator.MulTo(ctx, dst, x, workers)
}

func reportLR(b *testing.B, res *rectify.Result) {
	b.ReportMetric(float64(res.Passes), "passes")
	b.ReportMetric(float64(res.Clipped), "clipped")
	b.ReportMetric(res.StartResidual, "residual")
	b.ReportMetric(float64(res.Iterations), "iterations")
	b.ReportMetric(float64(res.Nonzeros[len(res.Nonzeros)-1]), "nnzE")
}

// peakMB returns the peak memory of the process, 0 where it is not known.
func peakMB() int {
	s, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(s)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" {
			kb, _ := strconv.Atoi(f[1])
			return kb >> 10
		}
	}
	return 0
}
