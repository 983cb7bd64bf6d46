// Package sample makes models of any size for the tests of package report, at
// almost no cost: the stages of the pipeline hand out a planted model.
package sample

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// planted is a topic model with known parameters, an AnchorFinder that knows its
// anchors and a Recoverer that knows its topics.
type planted struct{ *testutil.Planted }

// Model returns a model of k correlated topics over n words, whose frequencies fall
// as those of texts do. Word i is called name(i); anchors are spread over the ranks.
func Model(n, k int, name func(i int) string) (*jsmf.Model, error) {
	p := planted{&testutil.Planted{N: n, K: k, B: mat.NewDense(n, k, nil), A: mat.NewDense(k, k, nil)}}
	rng := rand.New(rand.NewPCG(uint64(n), uint64(k)))
	// Topics of a family of five share a part of their documents and words.
	families := (k + 4) / 5
	for range 20 * k {
		family := make([]float64, families)
		for f := range family {
			family[f] = rng.NormFloat64()
		}
		w, sum := make([]float64, k), 0.0
		for t := range w {
			w[t] = math.Exp(1.2*rng.NormFloat64() + family[t/5] + 0.7*math.Sin(float64(t)))
			sum += w[t]
		}
		for t := range w {
			for l := range w {
				p.A.Set(t, l, p.A.At(t, l)+w[t]*w[l]/sum/sum/float64(20*k))
			}
		}
	}
	every := n / k
	for t := range k {
		p.Anchors = append(p.Anchors, every/2+t*every)
	}
	for i := range n {
		frequency := 1 / (float64(i) + 20)
		if t := slices.Index(p.Anchors, i); t >= 0 {
			p.B.Set(i, t, 20*frequency)
			continue
		}
		home := rng.IntN(k)
		for t := range k {
			x := 0.02 * rng.ExpFloat64()
			if t == home {
				x = 6 + 6*rng.Float64()
			} else if t/5 == home/5 {
				x = rng.ExpFloat64()
			}
			p.B.Set(i, t, x*frequency)
		}
	}
	sums := make([]float64, k)
	for t := range sums {
		sums[t] = mat.Sum(p.B.ColView(t))
	}
	p.B.Apply(func(_, t int, v float64) float64 { return v / sums[t] }, p.B)
	c, err := cooc.NewLowRankSparse(p.Y(), 0, nil)
	if err != nil {
		return nil, err
	}
	words := make([]string, n)
	for i := range words {
		words[i] = name(i)
	}
	named, err := cooc.WithInfo(c, corpus.Info{Vocabulary: words})
	if err != nil {
		return nil, err
	}
	return jsmf.Published(k).Rectify(rectify.None{}).Anchors(p).Recover(p).Fit(context.Background(), named)
}

func (p planted) String() string { return "planted" }

func (p planted) Find(context.Context, cooc.Rows, int, anchor.Options) (*anchor.Result, error) {
	r := &anchor.Result{Anchors: p.Anchors, Stats: anchor.Stats{Candidates: p.N}}
	for t := range p.K {
		r.Norms = append(r.Norms, math.Pow(0.97, float64(t)))
	}
	return r, nil
}

func (p planted) Recover(context.Context, cooc.Rows, []int, recovery.Options) (*recovery.Result, error) {
	var c mat.Dense
	c.Product(p.B, p.A, mat.NewVecDense(p.K, slices.Repeat([]float64{1}, p.K)))
	return &recovery.Result{WordTopics: p.WordTopics(), B: p.B, A: p.A, Marginals: c.RawMatrix().Data, Residuals: make([]float64, p.N),
		Stats: recovery.Stats{Words: p.N - p.K, Converged: p.N - p.K}}, nil
}

// Words makes pronounceable words, different ones for different numbers.
func Words(i int) string {
	const first, vowel = "bdfgklmnprstvz", "aeiou"
	s := ""
	for ; i >= 0; i = i/len(first)/len(vowel) - 1 {
		s += string(first[i%len(first)]) + string(vowel[i/len(first)%len(vowel)])
	}
	return s + "n"
}
