package metrics

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
)

// benchInput makes a corpus of m documents of about 400 tokens, words drawn by
// Zipf's law, and a random model of it: what is timed does not depend on how
// good the model is.
func benchInput(b *testing.B, m, n, k int) Factors {
	b.Helper()
	r := rand.New(rand.NewPCG(uint64(n), uint64(k)))
	indptr, ind, data := []int{0}, []int(nil), []float64(nil)
	zipf := rand.NewZipf(r, 1.2, 20, uint64(n-1))
	for range m {
		row := make(map[int]float64)
		for range 400 {
			row[int(zipf.Uint64())]++
		}
		row[r.IntN(n)]++
		for w := range n {
			if x := row[w]; x > 0 {
				ind, data = append(ind, w), append(data, x)
			}
		}
		indptr = append(indptr, len(ind))
	}
	docs, err := corpus.FromCSR(sparse.NewCSR(m, n, indptr, ind, data), nil, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	c, err := cooc.NewMoments(context.Background(), docs, cooc.Options{})
	if err != nil {
		b.Fatal(err)
	}
	in := Factors{C: c, B: mat.NewDense(n, k, nil), WordTopics: mat.NewDense(n, k, nil), A: mat.NewDense(k, k, nil)}
	marg := c.Marginals()
	for w := 0; len(in.Anchors) < k; w++ {
		if marg[w] > 0 {
			in.Anchors = append(in.Anchors, w)
		}
	}
	sums, a := make([]float64, k), in.A.(*mat.Dense)
	for i := range n {
		row, s := in.WordTopics.RawRowView(i), 0.0
		for j := range row {
			row[j] = math.Pow(r.Float64(), 8)
			s += row[j]
		}
		for j := range row {
			row[j] /= s
			in.B.Set(i, j, row[j]*marg[i])
			sums[j] += row[j] * marg[i]
		}
	}
	in.B.Apply(func(_, j int, v float64) float64 { return v / sums[j] }, in.B)
	for i := range k {
		a.Set(i, i, 1/float64(k))
	}
	if in.Pairs, err = cooc.CountPairs(context.Background(), docs, TopUnion(in.B, 0)); err != nil {
		b.Fatal(err)
	}
	if _, err := c.RowNorms2(context.Background(), 0); err != nil { // kept by Moments; a rectification has asked before
		b.Fatal(err)
	}
	return in
}

func BenchmarkEvaluate(b *testing.B) {
	for _, size := range []struct{ m, n, k int }{{1500, 5000, 50}, {1500, 5000, 100}} {
		in := benchInput(b, size.m, size.n, size.k)
		for _, workers := range []int{1, 2} {
			in.Workers = workers
			b.Run(fmt.Sprintf("N=%d/K=%d/workers=%d", size.n, size.k, workers), func(b *testing.B) {
				b.ReportAllocs()
				var r *Report
				for b.Loop() {
					var err error
					if r, err = Evaluate(context.Background(), in); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(r.Recovery.Mean, "recovery")
				b.ReportMetric(r.Approximation, "approximation")
			})
		}
	}
}

// BenchmarkParts times the measures one by one.
func BenchmarkParts(b *testing.B) {
	in := benchInput(b, 1500, 5000, 50)
	ctx := context.Background()
	a, marg := in.A.(*mat.Dense), in.C.Marginals()
	norms2, err := in.C.RowNorms2(ctx, 0)
	if err != nil {
		b.Fatal(err)
	}
	t, err := checkTopics(in.B)
	if err != nil {
		b.Fatal(err)
	}
	for _, x := range []struct {
		name string
		f    func() error
	}{
		{"recovery", func() error { _, err := recovery(ctx, in.C, norms2, in.WordTopics, in.Anchors, 1); return err }},
		{"approximation", func() error { _, err := approximation(ctx, in.C, norms2, in.B, a, 1); return err }},
		{"approximation-exact", func() error { _, err := residual2(ctx, in.C, in.B, a, 1); return err }},
		{"specificity", func() error { t.specificity(marg, 1); return nil }},
		{"entropy", func() error { entropy(in.WordTopics); return nil }},
		{"dissimilarity", func() error { dissimilarity(t.tops(20)); return nil }},
		{"npmi", func() error { npmi(t.tops(20), in.Pairs); return nil }},
		{"basis_quality", func() error { _, _, err := t.basisQuality(ctx, in.Anchors, 1); return err }},
	} {
		b.Run("N=5000/K=50/measure="+x.name, func(b *testing.B) {
			for b.Loop() {
				if err := x.f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMatch matches two models of 100 topics over 5000 words.
func BenchmarkMatch(b *testing.B) {
	x, y := randomTopics(5000, 100, 1), randomTopics(5000, 100, 2)
	b.ResetTimer()
	for range b.N {
		if _, err := Match(context.Background(), x, y, MatchOptions{Workers: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
