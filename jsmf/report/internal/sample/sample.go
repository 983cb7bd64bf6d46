// Package sample makes models of any size for the tests of package report, at
// almost no cost: the stages of the pipeline hand out a planted model.
package sample

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/jsmf"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// planted is a topic model with known parameters, an AnchorFinder that knows its
// anchors and a Recoverer that knows its topics.
type planted struct {
	n, k        int
	b, a, breve *mat.Dense
	c           []float64
}

// Model returns a model of k correlated topics over n words, whose frequencies fall
// as those of texts do. Word i is called name(i); anchors are spread over the ranks.
func Model(n, k int, name func(i int) string) (*jsmf.Model, error) {
	p := &planted{n: n, k: k, b: mat.NewDense(n, k, nil), a: mat.NewDense(k, k, nil), breve: mat.NewDense(n, k, nil)}
	rng := rand.New(rand.NewPCG(uint64(n), uint64(k)))
	// Topics of a family of five share a part of their documents and words.
	families := (k + 4) / 5
	for range 20 * k {
		family := make([]float64, families)
		for f := range family {
			family[f] = rng.NormFloat64()
		}
		w, sum := make([]float64, k), 0.0
		for t := range w {
			w[t] = math.Exp(1.2*rng.NormFloat64() + family[t/5] + 0.7*math.Sin(float64(t)))
			sum += w[t]
		}
		for t := range w {
			for l := range w {
				p.a.Set(t, l, p.a.At(t, l)+w[t]*w[l]/sum/sum/float64(20*k))
			}
		}
	}
	every := n / k
	for i := range n {
		frequency := 1 / (float64(i) + 20)
		if i%every == every/2 && i/every < k {
			p.b.Set(i, i/every, 20*frequency)
			continue
		}
		home := rng.IntN(k)
		for t := range k {
			x := 0.02 * rng.ExpFloat64()
			if t == home {
				x = 6 + 6*rng.Float64()
			} else if t/5 == home/5 {
				x = rng.ExpFloat64()
			}
			p.b.Set(i, t, x*frequency)
		}
	}
	shares := make([]float64, k)
	for t := range k {
		sum := 0.0
		for i := range n {
			sum += p.b.At(i, t)
		}
		for i := range n {
			p.b.Set(i, t, p.b.At(i, t)/sum)
		}
		shares[t] = mat.Sum(p.a.RowView(t))
	}
	p.c = make([]float64, n)
	for i := range n {
		for t, s := range shares {
			p.c[i] += s * p.b.At(i, t)
		}
		for t, s := range shares {
			p.breve.Set(i, t, s*p.b.At(i, t)/p.c[i])
		}
	}
	c, err := p.matrix()
	if err != nil {
		return nil, err
	}
	words := make([]string, n)
	for i := range words {
		words[i] = name(i)
	}
	named, err := cooc.WithInfo(c, corpus.Info{Vocabulary: words})
	if err != nil {
		return nil, err
	}
	return jsmf.Published(k).Rectify(rectify.None{}).Anchors(p).Recover(p).Fit(context.Background(), named)
}

// matrix returns BABᵀ as YYᵀ.
func (p *planted) matrix() (*cooc.LowRankSparse, error) {
	sym := mat.NewSymDense(p.k, nil)
	for i := range p.k {
		for j := i; j < p.k; j++ {
			sym.SetSym(i, j, p.a.At(i, j))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sym) {
		return nil, fmt.Errorf("sample: A of %d topics is not positive definite", p.k)
	}
	var l mat.TriDense
	chol.LTo(&l)
	var y mat.Dense
	y.Mul(p.b, &l)
	return cooc.NewLowRankSparse(&y, 0, nil)
}

func (p *planted) String() string { return "planted" }

func (p *planted) Find(context.Context, cooc.Rows, int, anchor.Options) (*anchor.Result, error) {
	r := &anchor.Result{Candidates: p.n}
	every := p.n / p.k
	for t := range p.k {
		r.Anchors = append(r.Anchors, every/2+t*every)
		r.Norms = append(r.Norms, math.Pow(0.97, float64(t)))
	}
	return r, nil
}

func (p *planted) Recover(_ context.Context, _ cooc.Rows, anchors []int, _ recovery.Options) (*recovery.Result, error) {
	return &recovery.Result{Breve: p.breve, B: p.b, A: p.a, Marginals: p.c, Residuals: make([]float64, p.n), Words: p.n - p.k}, nil
}

// Words makes pronounceable words, different ones for different numbers.
func Words(i int) string {
	const first, vowel = "bdfgklmnprstvz", "aeiou"
	s := ""
	for {
		s += string(first[i%len(first)]) + string(vowel[i/len(first)%len(vowel)])
		if i = i / len(first) / len(vowel); i == 0 {
			break
		}
		i--
	}
	return s + "n"
}
