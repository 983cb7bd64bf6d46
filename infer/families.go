package infer

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/logisticnormal"
	"github.com/jsmf-go/spectral/internal/vec"
	recovery "github.com/jsmf-go/spectral/recover"
)

// families are what mapEM takes of a logistic-normal prior of families of topics. The weight of a
// topic is φ_f·(α_k + n_k)/(A_f + n_f), where A_f and n_f are sums over its family: that of a Dirichlet
// prior times a number for each family. With each step of the topics the logits of φ take one of
// Newton.
type families struct {
	prior *logisticnormal.Prior
	of    []int     // by topic
	sums  []float64 // by family: A
	draw  *Draw     // nil: the proportions at the mode
}

func newFamilies(p *recovery.LogisticNormal, alpha []float64, draw *Draw) (*families, error) {
	prior, err := logisticnormal.From(p.Mean, p.Covariance, p.Information)
	f := &families{prior, p.Families, make([]float64, len(p.Mean)), draw}
	for k, g := range f.of {
		f.sums[g] += alpha[k]
	}
	return f, err
}

// familyScratch has the numbers of a document.
type familyScratch struct {
	x            *logisticnormal.Document
	eta          []float32
	shares, mean []float32 // φ at η, and drawn
	scale        []float32 // of the weights of a family
	alpha        []float32 // of the topics that are left, as shares of the document, padded
	plain        []float32 // and their α and tokens
	of           []int32   // their families
	rng          random
}

// begin makes room.
func (s *familyScratch) begin(f *families) {
	s.x = logisticnormal.NewDocument(f.prior)
	n, k := len(f.sums), estep.Padded(len(f.of))
	x := make([]float32, 4*n+2*k)
	s.eta, s.shares, s.mean, s.scale = x[:n:n], x[n:2*n:2*n], x[2*n:3*n:3*n], x[3*n:4*n:4*n]
	s.alpha, s.plain = x[4*n:][:k:k], x[4*n+k:]
	s.of = make([]int32, k)
}

// narrow leaves some of the topics.
func (s *familyScratch) narrow(keep []int32) {
	if s.x == nil {
		return
	}
	s.alpha, s.plain = estep.Narrow(s.alpha, 1, keep), estep.Narrow(s.plain, 1, keep)
	for i, j := range keep {
		s.of[i] = s.of[j]
	}
	clear(s.of[len(keep):len(s.alpha)])
	s.of = s.of[:len(s.alpha)]
}

// begin sets T to the proportions at the mean of the prior, and the numbers of the topics.
func (f *families) begin(s *mapScratch, total float64) {
	o := &s.of
	for g, v := range f.prior.Mean {
		o.eta[g] = float32(v)
	}
	o.x.Weights(o.shares, o.eta, 0, 1)
	o.of, o.alpha, o.plain = o.of[:len(s.T)], o.alpha[:len(s.T)], o.plain[:len(s.T)]
	clear(o.of)
	copy(o.alpha, s.step.Floor)
	for k, g := range f.of {
		o.of[k] = int32(g)
		s.T[k] = max(float32(float64(o.alpha[k])*total/f.sums[g])*o.shares[g], minShare)
	}
	copy(o.plain, s.T)
}

// advance is mapScratch.advance with families, in a document of n tokens. The first time logits get
// near the tokens: those of the mean say next to nothing of what topics a document has.
func (f *families) advance(s *mapScratch, n, total float64, first bool) float64 {
	o := &s.of
	counts := o.x.Counts
	clear(counts)
	tokens, of := s.N[:len(s.T)], o.of[:len(s.T)]
	for k, v := range tokens {
		counts[of[k]] += v
	}
	for g, v := range counts {
		counts[g] = float32(float64(v) * total)
	}
	if first {
		copy(o.eta, counts)
		f.prior.Begin(o.eta, n)
		o.x.Weights(o.shares, o.eta, 0, 1)
	}
	o.x.Move(o.eta, counts, n)
	o.x.Weights(o.shares, o.eta, 0, 1)
	for g, v := range counts {
		o.scale[g] = float32(float64(o.shares[g]) * total / (float64(v) + f.sums[g]))
	}
	t, alpha, floor := s.T, o.alpha[:len(s.T)], s.step.Floor[:len(s.T)]
	change := float32(0)
	for k, a := range alpha {
		c := o.scale[of[k]]
		floor[k] = c * a
		o.plain[k] = a + tokens[k]
		v := float32(c * o.plain[k])
		change = max(change, v-t[k], t[k]-v)
		t[k] = v
	}
	return float64(change)
}

// result writes the proportions to dst, which has α and the tokens of topics that were dropped: those
// at the mode of η, or drawn.
func (f *families) result(dst []float64, s *mapScratch, d *document) {
	o := &s.of
	for k, g := range f.of {
		dst[k] *= float64(o.scale[g])
	}
	for j, k := range s.few.topics {
		dst[k] = float64(s.T[j])
	}
	vec.Normalise(dst)
	if f.draw != nil {
		f.drawn(dst, s, d)
	}
}

// drawn draws the proportions of the families, and those within each, from the posterior
// distribution, where dst are the proportions at its mode.
func (f *families) drawn(dst []float64, s *mapScratch, d *document) {
	o := &s.of
	o.rng.seed(d, f.draw.Seed)
	o.x.DrawFrom(o.rng.NormFloat64)
	o.x.Weights(o.mean, o.eta, 1, 1)
	sums := make([]float64, len(f.sums))
	for k, g := range f.of {
		shape := dst[k] / max(float64(o.shares[g]), minShare) * (float64(o.x.Counts[g]) + f.sums[g])
		dst[k] = distuv.Gamma{Alpha: max(shape, minShare), Beta: 1, Src: &o.rng.pcg}.Rand()
		sums[g] += dst[k]
	}
	for k, g := range f.of {
		dst[k] *= float64(o.mean[g]) / math.Max(sums[g], minShare)
	}
	vec.Normalise(dst)
}
