package rectify_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/internal/vec"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// BenchmarkENN times 50 iterations as the paper sets them, in units of one
// product 5000×5000 · 5000×60 by gonum on one core. It also reports what E holds
// and how far YYᵀ is from what was asked for. WORDS sets N.
func BenchmarkENN(b *testing.B) {
	n := 5000
	if v, err := strconv.Atoi(os.Getenv("WORDS")); err == nil {
		n = v
	}
	c := golden.Curated(b, testutil.Data(b, "nips17", "docword.nips17.txt.gz"), testutil.Data(b, "nips17", "vocab.nips17.txt"), testutil.Data(b, "stopwords.en.txt"), n)
	m, err := cooc.NewMoments(ctx, c, cooc.Options{})
	if err != nil {
		b.Fatal(err)
	}
	u := testutil.Stick()
	for _, k := range []int{50, 100} {
		for _, w := range []int{1, 2} {
			for _, e := range []rectify.ENN{{}, {Tol: 1e-4}, {Iterations: 50}} {
				b.Run(fmt.Sprintf("corpus=nips17/N=%d/K=%d/tol=%g/workers=%d", c.NumWords(), k, e.Tol, w), func(b *testing.B) {
					for range b.N {
						res, err := e.Rectify(ctx, m, k, rectify.Options{Workers: w})
						if err != nil {
							b.Fatal(err)
						}
						b.ReportMetric(float64(res.Iterations), "iterations")
						b.ReportMetric(float64(res.Products), "products")
						b.ReportMetric(float64(res.ColdStarts), "cold")
						b.ReportMetric(float64(res.Nonzeros[len(res.Nonzeros)-1]), "nnzE")
						b.ReportMetric(res.CorrectionChanges[res.Iterations-1], "changeE")
						b.ReportMetric(math.Abs(vec.Sum(res.C.Marginals())-1), "|ΣC-1|")
					}
					b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/u, "u/op")
				})
			}
		}
	}
}

// BenchmarkLAW times anchors and recovery on N×K against the same on the
// operator, C̄ given by YYᵀ + E without E's rows.
func BenchmarkLAW(b *testing.B) {
	c := golden.Curated(b, testutil.Data(b, "nips17", "docword.nips17.txt.gz"), testutil.Data(b, "nips17", "vocab.nips17.txt"), testutil.Data(b, "stopwords.en.txt"), 5000)
	m, err := cooc.NewMoments(ctx, c, cooc.Options{})
	if err != nil {
		b.Fatal(err)
	}
	const k = 50
	for form, r := range map[string]rectify.Rectifier{"law": rectify.ENN{Iterations: 10}, "operator": rectify.AP{Iterations: 10}} {
		res, err := r.Rectify(ctx, m, k, rectify.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("corpus=nips17/N=%d/K=%d/rows=%s", m.Dim(), k, form), func(b *testing.B) {
			for range b.N {
				rows, err := res.Rows(ctx, 0)
				if err != nil {
					b.Fatal(err)
				}
				a, err := anchor.QR{}.Find(ctx, rows, k, anchor.Options{})
				if err != nil {
					b.Fatal(err)
				}
				rec, err := recovery.SCLS{}.Recover(ctx, rows, a.Anchors, recovery.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(rec.Objective, "objective")
				if law, ok := rows.(lowRankRows); ok {
					b.ReportMetric(float64(len(law.Repaired())), "spoilt")
					b.ReportMetric(float64(law.Clipped()), "zeroed")
				}
			}
		})
	}
}
