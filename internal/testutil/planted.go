package testutil

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/synth"
	"github.com/jsmf-go/spectral/internal/vec"
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
	p.Anchors = rng.Perm(n)[:k]
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
		topic := mat.Col(nil, t, p.B)
		vec.Normalise(topic)
		p.B.SetCol(t, topic)
	}
	// Proportions of documents, by a logistic-normal distribution in which
	// each topic shares a part of its noise with the next.
	p.shares = make([][]float64, 20*k)
	for m := range p.shares {
		noise, w := make([]float64, k+1), make([]float64, k)
		for t := range noise {
			noise[t] = rng.NormFloat64()
		}
		for t := range w {
			w[t] = math.Exp(1.5 * (noise[t] + correlation*noise[t+1]))
		}
		vec.Normalise(w)
		p.shares[m] = w
		for t := range k {
			for l := range k {
				p.A.Set(t, l, p.A.At(t, l)+w[t]*w[l]/float64(len(p.shares)))
			}
		}
	}
	p.C = synth.Cooccurrence(p.B, p.A)
	return p
}

// NewPlantedTree makes a model of families of as many topics each: topic k is of family k/each. Half
// of a topic is on the 16 words of its family, a tenth on 20 words that all topics have alike, and the
// rest on ten words of its own, of which the first is its anchor. A document has one or two families,
// and of each one or two topics.
func NewPlantedTree(families, each int, seed uint64) *Planted {
	const common, shared, own = 20, 16, 10
	k := families * each
	n := common + families*shared + k*own
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	p := &Planted{N: n, K: k, B: mat.NewDense(n, k, nil), A: mat.NewDense(k, k, nil)}
	for t := range k {
		put := func(from, words int, mass float64) {
			zipf := 0.0
			for i := range words {
				zipf += 1 / float64(i+3)
			}
			for i := range words {
				p.B.Set(from+i, t, mass/float64(i+3)/zipf)
			}
		}
		put(0, common, 0.1)
		put(common+t/each*shared, shared, 0.5)
		at := common + families*shared + t*own
		put(at, own, 0.4)
		p.Anchors = append(p.Anchors, at)
	}
	p.shares = make([][]float64, 40*k)
	for m := range p.shares {
		w := make([]float64, k)
		for range 1 + rng.IntN(2) {
			family, part := rng.IntN(families), 0.3+rng.Float64()
			for range 1 + rng.IntN(2) {
				w[family*each+rng.IntN(each)] += part * (0.3 + rng.Float64())
			}
		}
		vec.Normalise(w)
		p.shares[m] = w
		for t := range k {
			for l := range k {
				p.A.Set(t, l, p.A.At(t, l)+w[t]*w[l]/float64(len(p.shares)))
			}
		}
	}
	p.C = synth.Cooccurrence(p.B, p.A)
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

// WordTopics returns p(topic | word), N×K.
func (p *Planted) WordTopics() *mat.Dense {
	a := make([]float64, p.K)
	for k := range a {
		a[k] = vec.Sum(p.A.RawRowView(k))
	}
	b := mat.NewDense(p.N, p.K, nil)
	for i := range p.N {
		vec.Posterior(b.RawRowView(i), p.B.RawRowView(i), a)
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
	cumulated := func(x []float64) []float64 {
		sums, s := make([]float64, len(x)), 0.0
		for i, v := range x {
			s += v
			sums[i] = s
		}
		return sums
	}
	words := make([][]float64, p.K) // of each topic
	for k := range words {
		words[k] = cumulated(mat.Col(nil, k, p.B))
	}
	draw := func(cum []float64) int {
		x := rng.Float64() * cum[len(cum)-1]
		i, _ := slices.BinarySearch(cum, x)
		return min(i, len(cum)-1)
	}
	docs := make([]map[int]int, len(lengths))
	for m, n := range lengths {
		topics := cumulated(p.shares[rng.IntN(len(p.shares))])
		docs[m] = map[int]int{}
		for range n {
			docs[m][draw(words[draw(topics)])]++
		}
	}
	return docs
}
