// Package sample makes models of any size for the tests of package report, at
// almost no cost: the stages of the pipeline hand out a planted model.
package sample

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// planted is a topic model with known parameters, an AnchorFinder that knows its
// anchors and a Recoverer that knows its topics.
type planted struct{ *testutil.Planted }

// Model returns a model of k correlated topics over n words, whose frequencies fall
// as those of texts do. Word i is called name(i); anchors are spread over the ranks.
func Model(n, k int, name func(i int) string) (*jsmf.Model, error) {
	p := planted{&testutil.Planted{N: n, K: k, B: mat.NewDense(n, k, nil), A: mat.NewDense(k, k, nil)}}
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
				p.A.Set(t, l, p.A.At(t, l)+w[t]*w[l]/sum/sum/float64(20*k))
			}
		}
	}
	every := n / k
	for t := range k {
		p.Anchors = append(p.Anchors, every/2+t*every)
	}
	for i := range n {
		frequency := 1 / (float64(i) + 20)
		if t := slices.Index(p.Anchors, i); t >= 0 {
			p.B.Set(i, t, 20*frequency)
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
			p.B.Set(i, t, x*frequency)
		}
	}
	sums := make([]float64, k)
	for t := range sums {
		sums[t] = mat.Sum(p.B.ColView(t))
	}
	p.B.Apply(func(_, t int, v float64) float64 { return v / sums[t] }, p.B)
	c, err := cooc.NewLowRankSparse(p.Y(), 0, nil)
	if err != nil {
		return nil, err
	}
	named, err := cooc.WithInfo(c, corpus.Info{Vocabulary: vocabulary(n, name)})
	if err != nil {
		return nil, err
	}
	return jsmf.Published(k).Rectify(rectify.None{}).Anchors(p).Recover(p).Fit(context.Background(), named)
}

func (p planted) String() string { return "planted" }

func (p planted) Find(context.Context, cooc.Rows, int, anchor.Options) (*anchor.Result, error) {
	r := &anchor.Result{Anchors: p.Anchors, Stats: anchor.Stats{Candidates: p.N}}
	for t := range p.K {
		r.Norms = append(r.Norms, math.Pow(0.97, float64(t)))
	}
	return r, nil
}

func (p planted) Recover(context.Context, cooc.Rows, []int, recovery.Options) (*recovery.Result, error) {
	var c mat.Dense
	c.Product(p.B, p.A, mat.NewVecDense(p.K, slices.Repeat([]float64{1}, p.K)))
	return &recovery.Result{WordTopics: p.WordTopics(), B: p.B, A: p.A, Marginals: c.RawMatrix().Data, Residuals: make([]float64, p.N),
		Stats: recovery.Stats{Words: p.N - p.K, Converged: p.N - p.K}}, nil
}

func vocabulary(n int, name func(i int) string) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = name(i)
	}
	return words
}

// Words makes pronounceable words, different ones for different numbers.
func Words(i int) string {
	const first, vowel = "bdfgklmnprstvz", "aeiou"
	s := ""
	for ; i >= 0; i = i/len(first)/len(vowel) - 1 {
		s += string(first[i%len(first)]) + string(vowel[i/len(first)%len(vowel)])
	}
	return s + "n"
}

// split is a planted model that refinement says was split.
type split struct {
	planted
	tree *recovery.Tree
}

// Refine returns the planted model with its tree; reading weights are the lifts of the words.
func (s split) Refine(context.Context, corpus.Source, refine.Start, refine.Options) (*refine.Result, error) {
	reading := mat.DenseCopyOf(s.B)
	for i := range s.N {
		row := reading.RawRowView(i)
		sum := 0.0
		for _, x := range row {
			sum += x
		}
		for t, x := range row {
			row[t] = x * max(0, math.Log(x*float64(s.K)/sum))
		}
	}
	sums := mat.NewVecDense(s.K, nil)
	sums.MulVec(reading.T(), mat.NewVecDense(s.N, slices.Repeat([]float64{1}, s.N)))
	reading.Apply(func(_, t int, v float64) float64 { return v / sums.AtVec(t) }, reading)
	return &refine.Result{B: s.B, A: s.A, Reading: reading, Tree: s.tree}, nil
}

// Split returns a model over n words whose topics were split: sizes are the numbers of groups,
// each a multiple of the one before, and last that of the topics, at most n. Without groups its
// topics were not split.
func Split(n int, name func(i int) string, sizes ...int) (*jsmf.Model, error) {
	k := sizes[len(sizes)-1]
	s := split{planted: planted{&testutil.Planted{N: n, K: k, B: mat.NewDense(n, k, nil), A: mat.NewDense(k, k, nil)}}}
	rng := rand.New(rand.NewPCG(uint64(n), uint64(k)))
	group := func(size, t int) int { return mixed(t, k) * size / k }
	if len(sizes) > 1 {
		s.tree = new(recovery.Tree)
	}
	shares, sum := make([]float64, k), 0.0
	for t := range k {
		s.Anchors = append(s.Anchors, t*(n/k))
		shares[t] = math.Exp(rng.NormFloat64())
		sum += shares[t]
	}
	for _, size := range sizes[:len(sizes)-1] {
		groups := make([]int, k)
		for t := range groups {
			groups[t] = group(size, t)
		}
		s.tree.Groups = append(s.tree.Groups, groups)
	}
	near := func(t, l int) (levels float64) { // the levels on which they are in one group
		for _, size := range sizes {
			if group(size, t) == group(size, l) {
				levels++
			}
		}
		return levels
	}
	for t := range k {
		for l := range k {
			s.A.Set(t, l, shares[t]*shares[l]/sum/sum*(1+math.Pow(4, near(t, l))))
		}
	}
	s.A.Scale(1/mat.Sum(s.A), s.A)
	sums := make([]float64, k)
	for i := range n {
		home := rng.IntN(k)
		if i%(n/k) == 0 && i/(n/k) < k {
			home = i / (n / k)
		}
		row := s.B.RawRowView(i)
		for t := range k {
			row[t] = rng.ExpFloat64() * (0.01 + math.Pow(4, near(t, home)) - 1) / (float64(i%1000) + 20)
			sums[t] += row[t]
		}
	}
	s.B.Apply(func(_, t int, v float64) float64 { return v / sums[t] }, s.B)
	c, err := cooc.NewLowRankSparse(mat.NewDense(n, 1, slices.Repeat([]float64{1 / float64(n)}, n)), 0, nil)
	if err != nil {
		return nil, err
	}
	words := vocabulary(n, name)
	// Refinement asks for documents, and does not read them.
	docs := corpus.FromSeq(func(func(corpus.Document, error) bool) {}, corpus.Description{Vocabulary: words})
	named, err := cooc.WithInfo(c, corpus.Info{Vocabulary: words, Source: docs})
	if err != nil {
		return nil, err
	}
	return jsmf.Published(k).Rectify(rectify.None{}).Anchors(s.planted).Recover(s.planted).Refine(s).Fit(context.Background(), named)
}

// mixed mixes the numbers of topics, so that those of a group are not side by side.
func mixed(t, k int) int { return t * 7919 % k }
