package main

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/parallel"
)

// leftToRight estimates the mean of ln p of a token of whole documents, integrated over topic
// proportions with the Dirichlet prior t.Alpha, by the left-to-right estimator (Wallach, Murray,
// Salakhutdinov and Mimno, ICML 2009; lee-2018 §1.4 uses it with α_k = 0.1). Each token is scored by
// particles, which are Gibbs samples of the topics of the tokens before it. The estimate of a
// document's probability is unbiased. Tokens are put in a random order.
func leftToRight(ctx context.Context, t infer.Topics, docs *corpus.Corpus, particles int, seed uint64, workers int) (float64, error) {
	logs := make([]float64, docs.NumDocs())
	err := parallel.Chunks(ctx, len(logs), 1, workers, func(_, m, _, _ int) error {
		rng := rand.New(rand.NewPCG(seed, uint64(m)))
		var tokens []int32
		words, counts := docs.Doc(m)
		for i, w := range words {
			for range counts[i] {
				tokens = append(tokens, w)
			}
		}
		rng.Shuffle(len(tokens), func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
		logs[m] = leftToRightOf(t, tokens, particles, rng)
		return ctx.Err()
	})
	return floats.Sum(logs) / float64(docs.Tokens()), err
}

// leftToRightOf is ln p of a document.
func leftToRightOf(t infer.Topics, tokens []int32, particles int, rng *rand.Rand) (log float64) {
	sum := floats.Sum(t.Alpha)
	counts, cum := make([]float64, len(t.Alpha)), make([]float64, len(t.Alpha)) // α and the tokens of each topic
	z, p := make([]int, len(tokens)), make([]float64, len(tokens))
	draw := func(w int32) int {
		for k, v := range t.B.RawRowView(int(w)) {
			cum[k] = v * counts[k]
		}
		floats.CumSum(cum, cum)
		u := rng.Float64() * cum[len(cum)-1]
		for k, v := range cum {
			if u < v {
				return k
			}
		}
		return len(cum) - 1
	}
	for range particles {
		copy(counts, t.Alpha)
		for i, w := range tokens {
			for j, v := range tokens[:i] {
				counts[z[j]]--
				z[j] = draw(v)
				counts[z[j]]++
			}
			p[i] += floats.Dot(t.B.RawRowView(int(w)), counts) / (sum + float64(i))
			z[i] = draw(w)
			counts[z[i]]++
		}
	}
	for _, v := range p {
		log += math.Log(v / float64(particles))
	}
	return log
}
