package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/jsmf"
	"gonum.org/v1/gonum/mat"
)

// topics returns the true ones, N×K.
func topics(ctx context.Context, o options) (*mat.Dense, error) {
	switch {
	case o.model != "":
		m, err := jsmf.LoadModel(o.model)
		if err != nil {
			return nil, err
		}
		return mat.DenseCopyOf(m.Topics()), nil
	case o.corpus.Docword != "":
		c, err := o.corpus.Load(ctx, corpus.Curation{Words: o.words})
		if err != nil {
			return nil, err
		}
		m, err := jsmf.Published(o.k).Workers(o.workers).Fit(ctx, c)
		if err != nil {
			return nil, err
		}
		return mat.DenseCopyOf(m.Topics()), nil
	}
	return madeUp(o.words, o.k, o.seed), nil
}

// madeUp returns topics of words whose frequencies are as in language, p ∝ 1/rank.
// Each word prefers some topics by random factors: most words belong mainly to one
// or two topics, none to a single one.
func madeUp(n, k int, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 0x70b1c5))
	b := mat.NewDense(n, k, nil)
	for i := range n {
		for t := range k {
			b.Set(i, t, math.Exp(2.5*rng.NormFloat64())/float64(i+10))
		}
	}
	normalise(b)
	return b
}

// normalise divides each column by its sum.
func normalise(b *mat.Dense) {
	n, k := b.Dims()
	for t := range k {
		sum := mat.Sum(b.ColView(t))
		for i := range n {
			b.Set(i, t, b.At(i, t)/sum)
		}
	}
}

// withAnchors gives each topic a word of its own (arora-2013 §5.4).
func withAnchors(b *mat.Dense) *mat.Dense {
	n, k := b.Dims()
	out := mat.NewDense(n+k, k, nil)
	out.Slice(0, n, 0, k).(*mat.Dense).Copy(b)
	for t := range k {
		out.Set(n+t, t, mat.Max(b.ColView(t)))
	}
	normalise(out)
	return out
}

// groups is how many groups of topics are correlated among themselves.
const groups = 10

func prior(o options, s setting, b *mat.Dense) (corpus.TopicPrior, error) {
	_, k := b.Dims()
	if !s.normal {
		return corpus.SymmetricDirichlet(k, o.alpha), nil
	}
	if k < groups {
		return nil, fmt.Errorf("%s: %d topics do not make %d groups", s.name, k, groups)
	}
	cov := mat.NewSymDense(k, nil)
	for i := range k {
		cov.SetSym(i, i, o.variance)
		for j := range i {
			if i*groups/k == j*groups/k {
				cov.SetSym(i, j, s.rho)
			}
		}
	}
	return corpus.LogisticNormal{Covariance: cov}, nil
}

// momentDraws is how many compositions stand for all of a logistic-normal
// prior, whose moments have no formula.
const momentDraws = 200000

// moments returns E[wwᵀ].
func moments(p corpus.TopicPrior, k int, seed uint64) (*mat.SymDense, error) {
	sample, err := p.Sampler(k)
	if err != nil {
		return nil, err
	}
	if d, ok := p.(corpus.Dirichlet); ok {
		sum := 0.0
		for _, v := range d.Alpha {
			sum += v
		}
		a := mat.NewSymDense(k, nil)
		for i, v := range d.Alpha {
			for j := i; j < k; j++ {
				a.SetSym(i, j, v*d.Alpha[j]/(sum*(sum+1)))
			}
			a.SetSym(i, i, v*(v+1)/(sum*(sum+1)))
		}
		return a, nil
	}
	rng := rand.New(rand.NewPCG(seed, 0x303e275))
	a := mat.NewSymDense(k, nil)
	block := mat.NewDense(1000, k, nil)
	for range momentDraws / 1000 {
		for i := range 1000 {
			sample(block.RawRowView(i), rng)
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
