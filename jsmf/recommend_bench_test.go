package jsmf

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// unequal returns the parameters of a Dirichlet prior, in random order, that sum to sum and
// whose logarithms are spread evenly from the smallest to the largest, which is ratio times
// as large.
func unequal(k int, ratio, sum float64, seed uint64) []float64 {
	alpha, total := make([]float64, k), 0.0
	for i, at := range rand.New(rand.NewPCG(seed, 1)).Perm(k) {
		alpha[i] = math.Pow(ratio, float64(at)/float64(k-1))
		total += alpha[i]
	}
	for i := range alpha {
		alpha[i] *= sum / total
	}
	return alpha
}

// BenchmarkRecommend counts how often the recommendation is within a quarter of the number
// of topics planted: documents as long as those of a corpus, drawn from topics fitted to
// it, with equal shares and with shares up to ten times as large as others. The numbers to
// choose from, from 0.39 to 2.2 times the planted one, have the ratio √√2, and the planted
// one is not among them.
//
//	JSMF_DATA=… go test ./jsmf -run '^$' -bench Recommend -benchtime 10x
func BenchmarkRecommend(b *testing.B) {
	ctx := context.Background()
	for _, k := range []int{10, 25, 50} {
		for _, ratio := range []float64{1, 10} {
			b.Run(fmt.Sprintf("corpus=bbc/K=%d/ratio=%g", k, ratio), func(b *testing.B) {
				c := golden.Curated(b, testutil.Data(b, "bbc", "docword.bbc.txt.gz"), testutil.Data(b, "bbc", "vocab.bbc.txt"), testutil.Data(b, "stopwords.en.txt"), 3000)
				m, err := New(k).Fit(ctx, c)
				if err != nil {
					b.Fatal(err)
				}
				lengths := make([]int, c.NumDocs())
				for d := range lengths {
					lengths[d] = int(c.DocLen(d))
				}
				var ks []int // around k, which is in the middle between two of them
				for i := -11.; i <= 9; i += 2 {
					ks = append(ks, int(math.Round(float64(k)*math.Pow(2, i/8))))
				}
				ks = slices.Compact(ks)
				near, low, high := 0, 0, 0
				for i := range b.N {
					g := corpus.Generator{Topics: m.Topics(), Prior: corpus.Dirichlet{Alpha: unequal(k, ratio, 2.5, uint64(i))}, Lengths: lengths, Seed: uint64(i)}
					drawn, _, err := g.Generate(ctx)
					if err != nil {
						b.Fatal(err)
					}
					_, r, err := New(2).recommend(ctx, drawn, ks, true, &tracker{})
					if err != nil {
						b.Fatal(err)
					}
					b.Logf("%v", r)
					switch off := float64(r.K)/float64(k) - 1; {
					case off < -0.25:
						low++
					case off > 0.25:
						high++
					default:
						near++
					}
				}
				b.ReportMetric(float64(near)/float64(b.N), "within-a-quarter")
				b.ReportMetric(float64(low)/float64(b.N), "lower")
				b.ReportMetric(float64(high)/float64(b.N), "higher")
			})
		}
	}
}
