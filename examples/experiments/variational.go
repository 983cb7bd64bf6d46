package main

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/jsmf-go/spectral/corpus"
	parallel "github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// The steps of variational end after variationalSteps, or when no proportion
// changes by more than variationalTol.
const (
	variationalSteps = 200
	variationalTol   = 1e-5
)

// variational infers topic proportions by mean-field variational Bayes with the
// topics fixed, the E-step of latent Dirichlet allocation: a token of word n is
// shared out in proportion to B_nk·exp ψ(γ_k), and γ_k is α_k plus what topic k got
// of the document. The proportions are γ divided by its sum. It returns M×K, a row a
// document, and takes K operations a step for each distinct word.
func variational(ctx context.Context, b *mat.Dense, alpha []float64, c *corpus.Corpus, workers int) (*mat.Dense, error) {
	_, k := b.Dims()
	w := mat.NewDense(c.NumDocs(), k, nil)
	err := parallel.Chunks(ctx, c.NumDocs(), 16, workers, func(_, _, lo, hi int) error {
		weight, gamma, next, share := make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k)
		for m := lo; m < hi; m++ {
			ids, counts := c.Doc(m)
			for t := range gamma {
				gamma[t] = alpha[t] + float64(c.DocLen(m))/float64(k)
			}
			for range variationalSteps {
				// Some topic of each word has γ ≥ 1/K, so that not all its weights underflow.
				for t, g := range gamma {
					weight[t] = math.Exp(mathext.Digamma(g))
				}
				copy(next, alpha)
				for i, id := range ids {
					if vec.Posterior(share, b.RawRowView(int(id)), weight) > 0 { // else the word is in no topic
						for t, s := range share {
							next[t] += float64(counts[i]) * s
						}
					}
				}
				far, sum := 0.0, vec.Sum(next)
				for t, g := range next {
					far = max(far, math.Abs(g-gamma[t])/sum)
				}
				gamma, next = next, gamma
				if far <= variationalTol {
					break
				}
			}
			row := w.RawRowView(m)
			copy(row, gamma)
			vec.Normalise(row)
		}
		return nil
	})
	return w, err
}
