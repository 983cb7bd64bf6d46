// Package logisticnormal is the logistic-normal prior of documents' topic proportions (Blei and
// Lafferty, A correlated topic model of Science, 2007), whose mean and covariance are learned,
// and what it makes of one document.
//
// Proportions are θ = softmax(η), η ~ N(μ, Σ). The covariance is held as Σ = ΛΛᵀ + diag Ψ with
// r columns of Λ, so that a document costs K·r and r³, never K³.
//
// What the tokens of a document say of η is taken from the tokens by topic n_k of the last step:
// n_k − nθ_k is the gradient of their log-likelihood, and W = s·n(diag θ − θθᵀ) stands for its
// curvature: the information of tokens whose topics are known, times a share s (Inform). With
//
//	V = (Σ⁻¹ + W)⁻¹,  η ← μ + V(W(η − μ) + n_k − nθ)
//
// is a step of Newton to the mode, and N(η, V) stands for the posterior (Laplace).
// W is the information of K observations of η_k + a with the variances 1/(s·nθ_k) and an unknown
// offset a. So V comes from a linear system in the r factors and a, without Σ⁻¹.
package logisticnormal

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	// maxDense is up to how many topics the covariance has K factors, which is exact.
	maxDense = 16
	// maxFactors is their number beyond.
	maxFactors = 16
	// minOwn is the least Ψ, and startVariance the variance of a logit before it is learned.
	minOwn, startVariance = 1e-3, 4
	// maxAll is up to how many topics all eigenpairs are found at once; beyond, the largest alone,
	// for which K² takes the place of K³.
	maxAll = 256
	// factorings is how many times factors and Ψ are found in turn, and refactorings where those of
	// the pass before are near.
	factorings, refactorings = 10, 4
	// startShare is the share of information before it is known.
	startShare = 0.75
)

// Prior is N(Mean, ΛΛᵀ + diag Own). It is only read by documents.
type Prior struct {
	Mean []float64 // K
	Own  []float64 // K: Ψ, above 0

	shares  []float64 // K, of New
	share   float64   // of the information of labelled tokens
	factors int       // r
	load    []float64 // K×(r+1): Λ, and a last column of ones for the offset
	// products is K×(r+1)(r+2)/2: the products of any two numbers of a row of load, as an upper
	// triangle by rows.
	products blas64.General

	// What Learn takes: K×K each, and space for the eigenvalues.
	cov, rest *mat.SymDense
	values    []float64
}

// New returns a prior of independent logits with the given shares of the topics, all above 0.
func New(shares []float64) *Prior {
	p := &Prior{share: startShare, shares: slices.Clone(shares), Mean: make([]float64, len(shares)), Own: make([]float64, len(shares))}
	for k, v := range shares {
		p.Mean[k], p.Own[k] = arith.Log(v), startVariance
	}
	center := vec.Sum(p.Mean) / float64(len(shares))
	floats.AddConst(-center, p.Mean)
	p.setFactors(0, nil, nil)
	return p
}

// From returns the prior with that mean and covariance, to the number of its factors, where tokens
// have a share of the information of labelled ones.
func From(mean []float64, cov *mat.SymDense, share float64) (*Prior, error) {
	p := &Prior{share: share, shares: sharesOf(mean), Mean: slices.Clone(mean), Own: make([]float64, len(mean))}
	return p, p.factor(cov)
}

// K returns the number of topics.
func (p *Prior) K() int { return len(p.Mean) }

// setFactors sets Λ to the last r columns of vectors, times the roots of values.
func (p *Prior) setFactors(r int, values []float64, vectors *mat.Dense) {
	k := len(p.Mean)
	p.factors, p.load = r, vec.Resize(p.load, k*(r+1))
	for i := range k {
		row := p.load[i*(r+1):][:r+1]
		for j := range r {
			at := len(values) - 1 - j
			row[j] = vectors.At(i, at) * math.Sqrt(max(values[at], 0))
		}
		row[r] = 1
	}
	p.multiply()
}

// multiply sets products.
func (p *Prior) multiply() {
	k, size := len(p.Mean), p.factors+1
	n := size * (size + 1) / 2
	p.products = blas64.General{Rows: k, Cols: n, Stride: n, Data: vec.Resize(p.products.Data, k*n)}
	to := p.products.Data
	for k := range k {
		row := p.load[k*size:][:size]
		for i, x := range row {
			for j, y := range row[i:] {
				to[j] = x * y
			}
			to = to[size-i:]
		}
	}
}

// design returns row k of (Λ, 1).
func (p *Prior) design(k int) []float64 { return p.load[k*(p.factors+1):][:p.factors+1] }

// logits sets to to (Λ, 1)u, four numbers at a time: one sum would wait for each addition.
func (p *Prior) logits(to, u []float64) {
	k := 0
	for ; k+4 <= len(to); k += 4 {
		r0, r1, r2, r3 := p.design(k)[:len(u)], p.design(k + 1)[:len(u)], p.design(k + 2)[:len(u)], p.design(k + 3)[:len(u)]
		var s0, s1, s2, s3 float64
		for j, x := range u {
			s0 += float64(x * r0[j])
			s1 += float64(x * r1[j])
			s2 += float64(x * r2[j])
			s3 += float64(x * r3[j])
		}
		to[k], to[k+1], to[k+2], to[k+3] = s0, s1, s2, s3
	}
	for ; k < len(to); k++ {
		to[k] = vec.Dot(u, p.design(k))
	}
}

// Covariance returns Σ.
func (p *Prior) Covariance() *mat.SymDense {
	k := len(p.Mean)
	out := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			out.SetSym(i, j, p.at(i, j))
		}
	}
	return out
}

// at returns Σ_ij.
func (p *Prior) at(i, j int) float64 {
	r := p.factors
	v := vec.Dot(p.load[i*(r+1):][:r], p.load[j*(r+1):][:r])
	if i == j {
		v += p.Own[i]
	}
	return v
}

var errMoments = errors.New("the moments of the topics' logits are not finite")

// Learn moves the prior to the documents' moments, mean of η − Mean and second of
// (η − Mean)(η − Mean)ᵀ with the posterior's covariance, and the covariance farther by the share
// relaxed of its way.
func (p *Prior) Learn(mean []float64, second mat.Matrix, relaxed float64) error {
	k := len(mean)
	if p.cov == nil {
		p.cov = mat.NewSymDense(k, nil)
	}
	for i := range k {
		for j := range i + 1 {
			v := float64((second.At(i, j)+second.At(j, i))/2) - float64(mean[i]*mean[j])
			v += float64(relaxed * (v - p.at(i, j)))
			if !vec.Finite(v) {
				return errMoments
			}
			p.cov.SetSym(i, j, v)
		}
	}
	floats.Add(p.Mean, mean)
	return p.factor(p.cov)
}

// Inform sets by how much less tokens say than if their topics were known: half way between that
// and what they say at the mode, observed to full. The mode understates it, for at others
// η, less likely, they say more.
func (p *Prior) Inform(observed, full float64) {
	if full > 0 {
		p.share = (1 + min(max(observed/full, 0), 1)) / 2
	}
}

// Begin sets η to logits for a document's tokens by topic, which are in it, n in all.
func (p *Prior) Begin(eta []float32, n float64) {
	for k, v := range eta {
		x := arith.Log((float64(v) + 0.5) / (float64(n*p.shares[k]) + 0.5))
		eta[k] = float32(p.Mean[k] + min(max(x, -3), 3))
	}
}

// factor sets Λ and Ψ to those of a covariance: exactly up to maxDense topics, and otherwise by
// principal factors, with the variances kept.
func (p *Prior) factor(cov *mat.SymDense) error {
	k := len(p.Mean)
	if k <= maxDense {
		values, vectors, err := linalg.Eigen(cov)
		if err != nil {
			return err
		}
		for i := range values {
			values[i] -= minOwn // Ψ is minOwn, or what lifts Σ to it
			p.Own[i] = minOwn
		}
		p.setFactors(k, values, vectors)
		return nil
	}
	times := refactorings
	if p.factors != maxFactors {
		times = factorings
		for i := range p.Own {
			p.Own[i] = cov.At(i, i) / 2
		}
	}
	if p.rest == nil {
		p.rest, p.values = mat.NewSymDense(k, nil), make([]float64, k)
	}
	for range times {
		p.rest.CopySym(cov)
		for i, v := range p.Own {
			p.rest.SetSym(i, i, cov.At(i, i)-v)
		}
		values, vectors, err := p.eigen()
		if err != nil {
			return err
		}
		p.setFactors(maxFactors, values, vectors)
		for i := range p.Own {
			row := p.load[i*(maxFactors+1):][:maxFactors]
			p.Own[i] = max(cov.At(i, i)-vec.Dot(row, row), 0.05*cov.At(i, i), minOwn)
		}
	}
	return nil
}

// eigen returns the maxFactors largest eigenvalues of rest or more, in ascending order, with the
// eigenvectors as columns. It overwrites rest.
func (p *Prior) eigen() (values []float64, vectors *mat.Dense, err error) {
	k := len(p.Mean)
	if k <= maxAll {
		vectors, err = linalg.EigenInPlace(p.rest, p.values)
		return p.values, vectors, err
	}
	raw := p.rest.RawSymmetric()
	for i := range k {
		for j := range i {
			raw.Data[i*raw.Stride+j] = raw.Data[j*raw.Stride+i]
		}
	}
	full := blas64.General{Rows: k, Cols: k, Stride: raw.Stride, Data: raw.Data}
	values, found, err := linalg.TopEig(context.Background(), full, maxFactors, 1)
	if err != nil {
		return nil, nil, err
	}
	vectors = mat.NewDense(k, maxFactors, nil)
	for i := range k {
		row := vectors.RawRowView(i)
		copy(row, linalg.Row(found, i))
		slices.Reverse(row)
	}
	slices.Reverse(values)
	return values, vectors, nil
}

// Share returns the share of the information of labelled tokens that tokens have.
func (p *Prior) Share() float64 { return p.share }

// Factors returns what Decoded takes of Λ, K×(r+1). It is only read.
func (p *Prior) Factors() []float64 { return p.load }

// TopicShares returns the proportions that Begin compares a document's with.
func (p *Prior) TopicShares() []float64 { return p.shares }

// Decoded returns a prior made of the Mean, Own, TopicShares, Factors and Share of another.
func Decoded(mean, own, shares, factors []float64, share float64) *Prior {
	p := &Prior{Mean: mean, Own: own, load: factors, factors: len(factors)/len(mean) - 1, share: share, shares: shares}
	p.multiply()
	return p
}

// sharesOf returns the proportions of logits.
func sharesOf(mean []float64) []float64 {
	shares, most := make([]float64, len(mean)), slices.Max(mean)
	for k, v := range mean {
		shares[k] = arith.Exp(v - most)
	}
	vec.Normalise(shares)
	return shares
}
