// Package rivals holds the methods that the papers compare the anchor word algorithm
// with and that the library does not have: online variational inference of latent
// Dirichlet allocation (OnlineLDA), the correlated topic model by variational EM (CTM)
// and tensor decomposition by power iterations (Tensor); non-negative matrix
// factorisation (NMF); and k-means, with the clustering accuracy of fu-2018 (ClustAcc). They are written from the
// published formulas, to be read and checked rather than to be fast. Each uses one
// goroutine, and the same seed gives the same bits.
package rivals

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
)

// Model is a topic model of N words and K topics, fitted to M documents.
type Model struct {
	B *mat.Dense    // N×K, p(word | topic) in the columns
	A *mat.SymDense // K×K, p(topic, topic)
	W *mat.Dense    // M×K, the topic proportions of the documents; nil for Tensor
	// Bounds holds the evidence lower bound of each pass over the documents, and is
	// empty where a method has none.
	Bounds []float64
}

var errNoSVD = errors.New("rivals: the singular vectors of the weights are not found")

// check reports what is wrong with a number of topics and a corpus.
func check(k int, c *corpus.Corpus) error {
	if k < 2 {
		return fmt.Errorf("rivals: %d topics; want at least 2", k)
	}
	if c == nil || c.NNZ() == 0 {
		return errors.New("rivals: the corpus has no words")
	}
	return nil
}

// stopped looks at ctx, now and then in a loop over documents.
func stopped(ctx context.Context, m int) error {
	if m%64 == 0 {
		return ctx.Err()
	}
	return nil
}

// topicPairs returns the mean of wwᵀ over the documents.
func topicPairs(w *mat.Dense) *mat.SymDense {
	m, k := w.Dims()
	a := mat.NewSymDense(k, nil)
	a.SymOuterK(1/float64(m), w.T())
	return a
}

// normaliseColumns divides each column by its sum.
func normaliseColumns(b *mat.Dense) {
	n, k := b.Dims()
	sums := make([]float64, k)
	for i := range n {
		for t, v := range b.RawRowView(i) {
			sums[t] += v
		}
	}
	for i := range n {
		row := b.RawRowView(i)
		for t := range row {
			row[t] /= sums[t]
		}
	}
}
