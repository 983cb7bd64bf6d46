package testutil

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Planted is a separable topic model with known parameters.
type Planted struct {
	N, K    int
	B       *mat.Dense // N×K, columns sum to 1
	A       *mat.Dense // K×K, symmetric positive definite, ≥ 0, sums to 1
	Anchors []int      // word Anchors[k] occurs in topic k only
	C       *mat.Dense // BABᵀ, N×N

	shares [][]float64 // topic proportions whose second moment A is
}

// NewPlanted makes a model of n words and k topics. Anchors lie at random
// among the words. The topics are correlated: neighbours by number tend to
// occur together, with a strength from 0 (none) to 1.
func NewPlanted(n, k int, correlation float64, seed uint64) *Planted {
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	p := &Planted{N: n, K: k, B: mat.NewDense(n, k, nil), A: mat.NewDense(k, k, nil)}
	p.Anchors = slices.Clone(rng.Perm(n)[:k])
	for i := range n {
		if t := slices.Index(p.Anchors, i); t >= 0 {
			p.B.Set(i, t, 1+rng.Float64())
			continue
		}
		for t := range k {
			// A few topics a word, and words of very different frequency.
			p.B.Set(i, t, math.Exp(1.5*rng.NormFloat64()))
		}
	}
	for t := range k {
		s := 0.0
		for i := range n {
			s += p.B.At(i, t)
		}
		for i := range n {
			p.B.Set(i, t, p.B.At(i, t)/s)
		}
	}
	// Proportions of documents, by a logistic-normal distribution in which
	// each topic shares a part of its noise with the next.
	p.shares = make([][]float64, 20*k)
	for m := range p.shares {
		noise, w, s := make([]float64, k+1), make([]float64, k), 0.0
		for t := range noise {
			noise[t] = rng.NormFloat64()
		}
		for t := range w {
			w[t] = math.Exp(1.5 * (noise[t] + correlation*noise[t+1]))
			s += w[t]
		}
		for t := range w {
			w[t] /= s
		}
		p.shares[m] = w
		for t := range k {
			for l := range k {
				p.A.Set(t, l, p.A.At(t, l)+w[t]*w[l]/float64(len(p.shares)))
			}
		}
	}
	p.C = new(mat.Dense)
	p.C.Product(p.B, p.A, p.B.T())
	for i := range n { // exactly symmetric
		for j := range i {
			p.C.Set(i, j, p.C.At(j, i))
		}
	}
	return p
}

// Y returns B·chol(A), N×K, with YYᵀ = C.
func (p *Planted) Y() *mat.Dense {
	sym := mat.NewSymDense(p.K, nil)
	for i := range p.K {
		for j := i; j < p.K; j++ {
			sym.SetSym(i, j, p.A.At(i, j))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sym) {
		panic("testutil: planted A is not positive definite")
	}
	var l mat.TriDense
	chol.LTo(&l)
	y := new(mat.Dense)
	y.Mul(p.B, &l)
	return y
}

// Breve returns p(topic | word), N×K.
func (p *Planted) Breve() *mat.Dense {
	a := make([]float64, p.K)
	for k := range a {
		for l := range p.K {
			a[k] += p.A.At(k, l)
		}
	}
	b := mat.NewDense(p.N, p.K, nil)
	for i := range p.N {
		c := 0.0
		for k, v := range a {
			c += p.B.At(i, k) * v
		}
		for k, v := range a {
			b.Set(i, k, p.B.At(i, k)*v/c)
		}
	}
	return b
}

// Topics maps anchors, in the order in which they were found, to the numbers
// of the planted topics; it fails where they are not the planted anchors.
func (p *Planted) Topics(anchors []int) ([]int, error) {
	t := make([]int, len(anchors))
	for k, w := range anchors {
		if t[k] = slices.Index(p.Anchors, w); t[k] < 0 {
			return nil, fmt.Errorf("word %d was found but is no planted anchor (%v)", w, p.Anchors)
		}
		if slices.Contains(anchors[:k], w) {
			return nil, fmt.Errorf("word %d was found twice", w)
		}
	}
	if len(anchors) != p.K {
		return nil, fmt.Errorf("%d anchors were found of the %d planted", len(anchors), p.K)
	}
	return t, nil
}

// Errors returns the largest differences of B and A, both in the order of the
// given anchors, from the planted ones: that of B relative to its largest
// entry, that of A likewise.
func (p *Planted) Errors(anchors []int, b, a mat.Matrix) (errB, errA float64, err error) {
	t, err := p.Topics(anchors)
	if err != nil {
		return 0, 0, err
	}
	for k := range t {
		for i := range p.N {
			errB = max(errB, math.Abs(b.At(i, k)-p.B.At(i, t[k])))
		}
		for l := range t {
			errA = max(errA, math.Abs(a.At(k, l)-p.A.At(t[k], t[l])))
		}
	}
	return errB / mat.Max(p.B), errA / mat.Max(p.A), nil
}

// Documents draws documents of the given lengths: word counts by document.
func (p *Planted) Documents(lengths []int, seed uint64) []map[int]int {
	rng := rand.New(rand.NewPCG(seed, 1))
	cum := make([][]float64, p.K)
	for k := range cum {
		cum[k] = make([]float64, p.N)
		s := 0.0
		for i := range p.N {
			s += p.B.At(i, k)
			cum[k][i] = s
		}
	}
	draw := func(cum []float64) int {
		x := rng.Float64() * cum[len(cum)-1]
		i, _ := slices.BinarySearch(cum, x)
		return min(i, len(cum)-1)
	}
	docs := make([]map[int]int, len(lengths))
	for m, n := range lengths {
		w := p.shares[rng.IntN(len(p.shares))]
		c, s := make([]float64, p.K), 0.0
		for k, v := range w {
			s += v
			c[k] = s
		}
		docs[m] = map[int]int{}
		for range n {
			docs[m][draw(cum[draw(c)])]++
		}
	}
	return docs
}
