package jsmf

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
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
// it, with equal shares and with shares up to ten times as large as others. The grid is one
// of ratio √2 with the planted number in the middle between two of its numbers, where it is
// hardest to meet, or the sweep's own, in which 11, 25 and 50 are not.
//
//	JSMF_DATA=… go test ./jsmf -run '^$' -bench Recommend -benchtime 10x
func BenchmarkRecommend(b *testing.B) {
	c := golden.Curated(b, testutil.Data(b, "bbc", "docword.bbc.txt.gz"), testutil.Data(b, "bbc", "vocab.bbc.txt"), testutil.Data(b, "stopwords.en.txt"), 3000)
	lengths := make([]int, c.NumDocs())
	for d := range lengths {
		lengths[d] = int(c.DocLen(d))
	}
	for _, k := range []int{10, 11, 25, 50} {
		m, err := New(k).Fit(context.Background(), c)
		if err != nil {
			b.Fatal(err)
		}
		var ks []int
		for i := -9.; i <= 7; i += 2 {
			ks = append(ks, int(math.Round(float64(k)*math.Pow(2, i/4))))
		}
		for _, ratio := range []float64{1, 10} {
			g := corpus.Generator{Topics: m.Topics(), Lengths: lengths}
			if k != 11 {
				b.Run(fmt.Sprintf("grid=√2/K=%d/ratio=%g", k, ratio), func(b *testing.B) { countNear(b, g, ratio, ks) })
			}
			if k != 10 {
				b.Run(fmt.Sprintf("grid=own/K=%d/ratio=%g", k, ratio), func(b *testing.B) { countNear(b, g, ratio, nil) })
			}
		}
	}
}

// countNear recommends one of ks, or of the sweep's own choice where there are none, for
// b.N corpora.
func countNear(b *testing.B, g corpus.Generator, ratio float64, ks []int) {
	_, k := g.Topics.Dims()
	near, low, high := 0, 0, 0
	for i := range b.N {
		g.Prior, g.Seed = corpus.Dirichlet{Alpha: unequal(k, ratio, 2.5, uint64(i))}, uint64(i)
		drawn, _, err := g.Generate(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		r, err := Grid{K: ks}.Run(context.Background(), New(0), drawn)
		if err != nil {
			b.Fatal(err)
		}
		b.Log(r.Why)
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
}
