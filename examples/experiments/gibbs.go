package main

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
)

// The priors of the sampler, those that the papers' sampler has when nothing is
// said.
const (
	gibbsAlphaSum = 5.0
	gibbsBeta     = 0.01
)

// sampled is a topic model by Gibbs sampling: B and A as of a Model.
type sampled struct {
	b, breve *mat.Dense
	a        *mat.SymDense
	w        *mat.Dense // M×K, the compositions
}

// sample runs a collapsed Gibbs sampler of latent Dirichlet allocation over the
// documents: the yardstick of the papers. B and the compositions are averaged over
// every tenth of the second half of the sweeps; A is the mean of wwᵀ. One
// goroutine, K operations a token and sweep, 4 bytes a token.
func sample(ctx context.Context, c *corpus.Corpus, k, sweeps int, seed uint64) (*sampled, error) {
	n, docs := c.NumWords(), c.NumDocs()
	rng := rand.New(rand.NewPCG(seed, 0x61bb5))
	alpha := gibbsAlphaSum / float64(k)
	topics := make([][]int32, docs) // of each token, in the order of the words
	// Counts with the priors added.
	byWord, byDoc, total := filled(n*k, gibbsBeta), filled(docs*k, alpha), filled(k, float64(n)*gibbsBeta)
	for m := range docs {
		words, counts := c.Doc(m)
		topics[m] = make([]int32, 0, c.DocLen(m))
		for i, w := range words {
			for range counts[i] {
				t := rng.IntN(k)
				topics[m] = append(topics[m], int32(t))
				byWord[int(w)*k+t]++
				byDoc[m*k+t]++
				total[t]++
			}
		}
	}
	out := &sampled{b: mat.NewDense(n, k, nil), a: mat.NewSymDense(k, nil), w: mat.NewDense(docs, k, nil)}
	taken := 0
	cumulative := make([]float64, k)
	scale := make([]float64, k) // 1/total
	for t := range k {
		scale[t] = 1 / total[t]
	}
	for sweep := 1; sweep <= sweeps; sweep++ {
		for m := range docs {
			if m%64 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			words, counts := c.Doc(m)
			doc := byDoc[m*k:][:k]
			scale, cumulative := scale[:len(doc)], cumulative[:len(doc)] // the compiler then checks no index below
			at := 0
			for i, id := range words {
				word := byWord[int(id)*k:][:len(doc)]
				for range counts[i] {
					old := topics[m][at]
					doc[old]--
					word[old]--
					total[old]--
					scale[old] = 1 / total[old]
					sum := 0.0
					for t, d := range doc {
						sum += d * word[t] * scale[t]
						cumulative[t] = sum
					}
					u := rng.Float64() * sum
					t := int32(0)
					for t < int32(k-1) && cumulative[t] <= u {
						t++
					}
					topics[m][at] = t
					doc[t]++
					word[t]++
					total[t]++
					scale[t] = 1 / total[t]
					at++
				}
			}
		}
		if 2*sweep > sweeps && (sweep%10 == 0 || sweep == sweeps) {
			taken++
			for i := range n {
				for t := range k {
					out.b.Set(i, t, out.b.At(i, t)+byWord[i*k+t]*scale[t])
				}
			}
			for m := range docs {
				for t := range k {
					out.w.Set(m, t, out.w.At(m, t)+byDoc[m*k+t]/(float64(c.DocLen(m))+gibbsAlphaSum))
				}
			}
		}
	}
	out.b.Scale(1/float64(taken), out.b)
	out.w.Scale(1/float64(taken), out.w)
	out.a.SymOuterK(1/float64(docs), out.w.T())
	// p(topic | word) by Bayes' rule.
	shares := make([]float64, k)
	for t := range k {
		for s := range k {
			shares[t] += out.a.At(t, s)
		}
	}
	out.breve = mat.NewDense(n, k, nil)
	for i := range n {
		r := out.breve.RawRowView(i)
		sum := 0.0
		for t := range r {
			r[t] = out.b.At(i, t) * shares[t]
			sum += r[t]
		}
		for t := range r {
			r[t] /= sum
		}
	}
	return out, nil
}

func filled(n int, v float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}
