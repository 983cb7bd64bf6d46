package recovery

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

// LogisticNormal is a prior of the topic proportions of documents that knows which topics go
// together (Blei and Lafferty, A correlated topic model of Science, 2007): θ = softmax(η) with
// η ~ N(Mean, Covariance). Adding a constant to all means, or to all logits, changes nothing.
//
// Of many topics it is a prior of F families of them: θ_k = φ_f·ψ_k, where f is the family of topic
// k, φ = softmax(η) are the proportions of the families, and ψ, the proportions within one, have a
// Dirichlet prior with the counts α_k of its topics (a Dirichlet tree: Minka, The Dirichlet-tree
// distribution, 1999, with another prior at its root).
type LogisticNormal struct {
	Mean       []float64     // F, or K without families
	Covariance *mat.SymDense // as many rows and columns, positive semidefinite
	// Families has for each of the K topics the number of its family, in [0, F); nil: topics have
	// logits of their own. Each family has a topic.
	Families []int
	// Information, in (0, 1], is how much the tokens of a document say of η, as a share of what
	// they would say if their topics were known: 1 where no word is in two topics. It sets how
	// far the η of a document may be from the most likely one.
	Information float64
}

// Correlations returns the correlations of the logits, less the mean of all logits of a document,
// F×F: those that the prior has before a document is read. That of a logit without variance is 0.
func (p *LogisticNormal) Correlations() *mat.SymDense {
	n := len(p.Mean)
	means, all, out := make([]float64, n), 0.0, mat.NewSymDense(n, nil)
	for i := range n {
		for j := range n {
			means[i] += p.Covariance.At(i, j) / float64(n)
		}
		all += means[i] / float64(n)
	}
	centred := func(i, j int) float64 { return p.Covariance.At(i, j) - means[i] - means[j] + all }
	for i := range n {
		for j := range i + 1 {
			if v := centred(i, i) * centred(j, j); v > 0 {
				out.SetSym(i, j, centred(i, j)/math.Sqrt(v))
			}
		}
	}
	return out
}

// Validate reports a prior that is not one of k topics.
func (p *LogisticNormal) Validate(k int) error {
	if n := len(p.Mean); p.Families == nil && n != k || n == 0 || p.Covariance == nil || p.Covariance.SymmetricDim() != n {
		return fmt.Errorf("has %d means; want K = %d, or one for each family, and a covariance of as many rows", n, k)
	}
	if p.Families != nil {
		if len(p.Families) != k {
			return fmt.Errorf("has families of %d topics; want K = %d", len(p.Families), k)
		}
		topics := make([]int, len(p.Mean))
		for t, f := range p.Families {
			if f < 0 || f >= len(topics) {
				return fmt.Errorf("has topic %d in family %d; want one in [0, %d)", t, f, len(topics))
			}
			topics[f]++
		}
		if f := slices.Index(topics, 0); f >= 0 {
			return fmt.Errorf("has no topic in family %d", f)
		}
	}
	if !(p.Information > 0 && p.Information <= 1) {
		return fmt.Errorf("has the information %v; want one in (0, 1]", p.Information)
	}
	for i, v := range p.Mean {
		if !vec.Finite(v) {
			return fmt.Errorf("has the mean %v of logit %d", v, i)
		}
		for j := range i + 1 {
			if v := p.Covariance.At(i, j); !vec.Finite(v) || i == j && v < 0 {
				return fmt.Errorf("has the covariance %v of logits %d and %d", v, i, j)
			}
		}
	}
	return nil
}
