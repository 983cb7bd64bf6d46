package recovery

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

// LogisticNormal is a prior of the topic proportions of documents that knows which topics go
// together (Blei and Lafferty, A correlated topic model of Science, 2007): θ = softmax(η) with
// η ~ N(Mean, Covariance). Adding a constant to all means, or to all logits, changes nothing.
type LogisticNormal struct {
	Mean       []float64     // K
	Covariance *mat.SymDense // K×K, positive semidefinite
	// Information, in (0, 1], is how much the tokens of a document say of η, as a share of what
	// they would say if their topics were known: 1 where no word is in two topics. It sets how
	// far the η of a document may be from the most likely one.
	Information float64
}

// Validate reports a prior that is not one of k topics.
func (p *LogisticNormal) Validate(k int) error {
	if len(p.Mean) != k || p.Covariance == nil || p.Covariance.SymmetricDim() != k {
		return fmt.Errorf("has %d means; want K = %d, and a covariance of as many rows", len(p.Mean), k)
	}
	if !(p.Information > 0 && p.Information <= 1) {
		return fmt.Errorf("has the information %v; want one in (0, 1]", p.Information)
	}
	for i, v := range p.Mean {
		if !vec.Finite(v) {
			return fmt.Errorf("has the mean %v of topic %d", v, i)
		}
		for j := range i + 1 {
			if v := p.Covariance.At(i, j); !vec.Finite(v) || i == j && v < 0 {
				return fmt.Errorf("has the covariance %v of topics %d and %d", v, i, j)
			}
		}
	}
	return nil
}
