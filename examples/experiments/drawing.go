package main

import (
	"errors"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/experiments/internal/priors"
)

// drawing is a way to draw documents.
type drawing struct {
	tokens        int
	anchors       bool    // a word of its own is added to each topic
	variance, rho float64 // of a logistic-normal prior; variance 0: Dirichlet
	few           bool    // rhoDocs documents only, by the quick methods
}

// The values of the column "topics".
const (
	asSampled   = "sampled"
	withAnchors = "with anchors"
)

// topics is the value of the column.
func (d drawing) topics() string {
	if d.anchors {
		return withAnchors
	}
	return asSampled
}

// drawings are those of arora-2013 Figures 2, 4 and 5, and more correlations.
func drawings() []drawing {
	out := []drawing{{tokens: syntheticTokens}, {tokens: syntheticTokens, anchors: true}}
	for _, rho := range []float64{0, 0.05, 0.1, 0.3, 0.9} {
		out = append(out, drawing{tokens: syntheticTokens, variance: 1, rho: rho, few: rho != 0.05 && rho != 0.1})
	}
	for _, rho := range []float64{0, 0.1, 0.9} {
		out = append(out, drawing{tokens: syntheticTokens, variance: 4, rho: rho, few: true})
	}
	return out
}

// correlated is how many topics are in a group whose members are correlated.
const correlated = 10

// prior is that of the documents' compositions.
func (d drawing) prior(k int) corpus.TopicPrior {
	if d.variance == 0 {
		return corpus.SymmetricDirichlet(k, semiAlpha)
	}
	cov := mat.NewSymDense(k, nil)
	for i := range k {
		cov.SetSym(i, i, d.variance)
		for j := range i {
			if i/correlated == j/correlated {
				cov.SetSym(i, j, d.rho)
			}
		}
	}
	return priors.LogisticNormal{Covariance: cov}
}

// momentDraws is how many compositions stand for all of a logistic-normal prior.
const momentDraws = 200000

// moments returns E[wwᵀ] of the prior.
func (d drawing) moments(k int, seed uint64) (*mat.SymDense, error) {
	if d.variance == 0 {
		return dirichletMoments(k, semiAlpha), nil
	}
	return drawnMoments(d.prior(k), k, seed)
}

// drawnMoments returns E[wwᵀ] of a prior for which there is no formula: draws stand for them.
func drawnMoments(prior corpus.TopicPrior, k int, seed uint64) (*mat.SymDense, error) {
	draw, err := prior.Sampler(k)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 0x303e275))
	a := mat.NewSymDense(k, nil)
	block := mat.NewDense(1000, k, nil)
	for range momentDraws / 1000 {
		for i := range 1000 {
			draw(block.RawRowView(i), rng)
		}
		var part mat.SymDense
		part.SymOuterK(1.0/momentDraws, block.T())
		a.AddSym(a, &part)
	}
	return a, nil
}

// product returns BABᵀ.
func product(b *mat.Dense, a *mat.SymDense) (cooc.Matrix, error) {
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		return nil, errors.New("the moments of the prior are singular")
	}
	var l mat.TriDense
	chol.LTo(&l)
	var y mat.Dense
	y.Mul(b, &l)
	return cooc.NewLowRankSparse(&y, 0, nil)
}
