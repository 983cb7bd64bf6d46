package corpus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/parallel"
)

// Generator draws documents from a topic model with known parameters: for each document K
// topic proportions w from the prior, for each token a topic from w and a word from that topic.
// With the topics of a model learned from real documents it makes the semi-synthetic corpora of
// the papers: SS with a Dirichlet prior, SR with a logistic-normal one (lee-2018 §4.4,
// arora-2013 §5.1).
type Generator struct {
	// Topics is B, N×K: column k holds p(word | topic k). Entries are at least 0
	// and columns sum to 1 to 1e-6; they are scaled to do so exactly.
	Topics mat.Matrix

	// Prior draws the topic proportions; nil means the symmetric Dirichlet
	// distribution with α_k = 5/K, that of the SS corpora of lee-2018 §4.4.
	Prior TopicPrior

	// Proportions, M×K, are the topic proportions of document m in row m, in place of Prior; nil
	// means that they are drawn. Rows are at least 0 and sum to 1 to 1e-6.
	Proportions mat.Matrix

	// Lengths are one or more numbers of tokens, each 0 or more. If Docs is 0, document m has
	// Lengths[m] tokens. Otherwise there are Docs documents, at most 2³¹−1, whose lengths are
	// drawn uniformly from Lengths.
	Lengths []int
	Docs    int

	// Repeat is the probability, in [0, 1), that a token after the first is an earlier one of its
	// document, any of them alike, in place of a word drawn from the topics. In real documents words
	// come again more often than topics say.
	Repeat float64

	// Vocabulary names the N words; nil calls them w0, w1, ….
	Vocabulary []string

	// Seed is that of all random numbers. Document m depends on Seed, m and the settings above
	// except Docs.
	Seed uint64

	// Workers bounds the goroutines; 0 means GOMAXPROCS. It changes no bit.
	Workers int
}

// streamGenerate is the stream of Generator, as those of Split.
const streamGenerate = 0x5eed0003

// generateChunk is how many documents a goroutine draws at a time.
const generateChunk = 64

// Generate draws the documents and returns them with their true topic proportions
// W, M×K, one row a document. Documents of length 0 are kept, empty. O(M·K +
// tokens·log K), and the sorting of each document's words.
func (g Generator) Generate(ctx context.Context) (*Corpus, *mat.Dense, error) {
	c, w, err := g.generate(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("corpus: generate: %w", err)
	}
	return c, w, nil
}

func (g Generator) generate(ctx context.Context) (*Corpus, *mat.Dense, error) {
	topics, err := g.tables()
	if err != nil {
		return nil, nil, err
	}
	n, k := g.Topics.Dims()
	prior := g.Prior
	if prior == nil {
		prior = SymmetricDirichlet(k, 5/float64(k))
	}
	docs := g.Docs
	if docs == 0 {
		docs = len(g.Lengths)
	}
	if g.Proportions != nil {
		if rows, cols := g.Proportions.Dims(); rows != docs || cols != k {
			return nil, nil, fmt.Errorf("proportions are %d×%d, want %d documents × %d topics", rows, cols, docs, k)
		}
	}
	g.Workers = parallel.Workers(g.Workers, parallel.Count(docs, generateChunk))
	workers := make([]*drawer, g.Workers)
	newDrawer := func() (*drawer, error) {
		s, err := prior.Sampler(k)
		if err != nil {
			return nil, err
		}
		x := &drawer{g: g, topics: topics, sample: s, cum: make([]float64, k), count: make([]int32, n)}
		x.rng = rand.New(&x.pcg)
		return x, nil
	}
	if workers[0], err = newDrawer(); err != nil { // before any work
		return nil, nil, err
	}
	w := mat.NewDense(docs, k, nil)
	chunks := make([]rows, parallel.Count(docs, generateChunk))
	err = parallel.Chunks(ctx, docs, generateChunk, g.Workers, func(id, chunk, lo, hi int) error {
		x := workers[id]
		if x == nil {
			var err error
			if x, err = newDrawer(); err != nil {
				return err
			}
			workers[id] = x
		}
		r := rows{indptr: make([]int, 1, hi-lo+1)}
		for m := lo; m < hi; m++ {
			if err := x.draw(ctx, m, w.RawRowView(m), &r); err != nil {
				return err
			}
		}
		chunks[chunk] = r
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	all := rows{indptr: make([]int, 1, docs+1)}
	for _, r := range chunks {
		base := len(all.words)
		for _, p := range r.indptr[1:] {
			all.indptr = append(all.indptr, base+p)
		}
		all.words, all.counts = append(all.words, r.words...), append(all.counts, r.counts...)
	}
	vocab := slices.Clone(g.Vocabulary)
	if vocab == nil {
		vocab = numbers(n, 0)
		for i := range vocab {
			vocab[i] = "w" + vocab[i]
		}
	}
	return newCorpus(vocab, about{}, all.indptr, all.words, all.counts), w, nil
}

// tables checks the settings and returns the topics, ready to draw words from.
func (g Generator) tables() ([]alias, error) {
	if g.Topics == nil {
		return nil, errors.New("no topics")
	}
	n, k := g.Topics.Dims()
	switch {
	case n == 0 || k == 0:
		return nil, fmt.Errorf("%d topics over %d words", k, n)
	case n > math.MaxInt32:
		return nil, fmt.Errorf("%d words are more than %d", n, math.MaxInt32)
	case g.Docs < 0 || g.Docs > math.MaxInt32:
		return nil, fmt.Errorf("%d documents, want 0 to %d", g.Docs, math.MaxInt32)
	case len(g.Lengths) == 0:
		return nil, errors.New("no lengths of documents")
	case !(g.Repeat >= 0 && g.Repeat < 1):
		return nil, fmt.Errorf("repeat = %v; want a probability in [0, 1)", g.Repeat)
	case g.Vocabulary != nil && len(g.Vocabulary) != n:
		return nil, fmt.Errorf("a vocabulary of %d words for topics over %d", len(g.Vocabulary), n)
	}
	for i, l := range g.Lengths {
		if l < 0 || l > MaxCount {
			return nil, fmt.Errorf("length %d is %d, want 0 to %d", i, l, MaxCount)
		}
	}
	topics := make([]alias, k)
	col := make([]float64, n)
	for t := range topics {
		sum := 0.0
		for i := range col {
			col[i] = g.Topics.At(i, t)
			if !(col[i] >= 0) || math.IsInf(col[i], 1) {
				return nil, fmt.Errorf("topic %d gives word %d the probability %g", t, i, col[i])
			}
			sum += col[i]
		}
		if !(math.Abs(sum-1) <= 1e-6) {
			return nil, fmt.Errorf("topic %d sums to %g, not 1", t, sum)
		}
		topics[t] = newAlias(col, sum)
	}
	return topics, nil
}

// drawer draws documents in one goroutine.
type drawer struct {
	g      Generator
	topics []alias
	pcg    rand.PCG
	rng    *rand.Rand
	sample func([]float64, *rand.Rand)
	cum    []float64
	count  []int32
	tokens []int32 // of the document at hand, if it repeats some
}

// draw draws document m: its topic proportions into w, its words into r.
func (x *drawer) draw(ctx context.Context, m int, w []float64, r *rows) error {
	g := x.g
	x.pcg.Seed(g.Seed, streamGenerate+uint64(m)<<32)
	length := g.Lengths[0]
	switch {
	case g.Docs == 0:
		length = g.Lengths[m]
	case len(g.Lengths) > 1:
		length = g.Lengths[x.rng.IntN(len(g.Lengths))]
	}
	if g.Proportions != nil {
		mat.Row(w, m, g.Proportions)
	} else {
		x.sample(w, x.rng)
	}
	sum, last := 0.0, 0
	for t, v := range w {
		if v < 0 {
			return fmt.Errorf("document %d: the proportion of topic %d is %g", m, t, v)
		}
		sum += v
		x.cum[t] = sum
		if v > 0 {
			last = t
		}
	}
	if !(math.Abs(sum-1) <= 1e-6) {
		return fmt.Errorf("document %d: topic proportions sum to %g, want 1", m, sum)
	}
	// The first topic whose cumulative share exceeds the random number: never one of share 0.
	cum := x.cum[:last]
	lo := len(r.words)
	x.tokens = x.tokens[:0]
	for i := range length {
		if i%(1<<16) == 1<<16-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		var v int32
		if g.Repeat > 0 && i > 0 && x.rng.Float64() < g.Repeat {
			v = x.tokens[x.rng.IntN(i)]
		} else {
			u := x.rng.Float64() * sum
			v = x.topics[sort.Search(last, func(t int) bool { return cum[t] > u })].draw(x.rng)
		}
		if g.Repeat > 0 {
			x.tokens = append(x.tokens, v)
		}
		if x.count[v] == 0 {
			r.words = append(r.words, v)
		}
		x.count[v]++
	}
	slices.Sort(r.words[lo:])
	for _, v := range r.words[lo:] {
		r.counts = append(r.counts, x.count[v])
		x.count[v] = 0
	}
	r.indptr = append(r.indptr, len(r.words))
	return nil
}

// alias draws from a discrete distribution in constant time (Walker 1977, in
// Vose's form): cell i holds i with probability keep[i], else other[i].
type alias struct {
	keep  []float64
	other []int32
}

// newAlias makes the table for p ≥ 0 with the given sum.
func newAlias(p []float64, sum float64) alias {
	n := len(p)
	a := alias{make([]float64, n), make([]int32, n)}
	var small, large []int32
	heaviest := 0
	for i, v := range p {
		a.keep[i] = v / sum * float64(n)
		if v > p[heaviest] {
			heaviest = i
		}
		if a.keep[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.other[s] = l
		a.keep[l] -= 1 - a.keep[s]
		if a.keep[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	// What is left is 1 except for rounding. A word of probability 0, which must never be drawn,
	// may be left, too.
	for _, i := range append(small, large...) {
		a.other[i] = int32(heaviest)
		if p[i] > 0 {
			a.keep[i] = 1
		}
	}
	return a
}

func (a alias) draw(rng *rand.Rand) int32 {
	i := rng.IntN(len(a.keep))
	if rng.Float64() < a.keep[i] {
		return int32(i)
	}
	return a.other[i]
}

// TopicPrior is a distribution of topic proportions, such as [Dirichlet].
type TopicPrior interface {
	// Sampler checks the prior for k ≥ 1 topics and returns a function that draws their
	// proportions w ≥ 0, of sum 1, from rng. Each goroutine uses a function of its own.
	Sampler(k int) (func(w []float64, rng *rand.Rand), error)
}

// Dirichlet is the prior of latent Dirichlet allocation (LDA).
type Dirichlet struct {
	// Alpha holds the K parameters, each > 0 and finite.
	Alpha []float64
}

// SymmetricDirichlet returns the Dirichlet prior of k topics with α_k = alpha.
func SymmetricDirichlet(k int, alpha float64) TopicPrior { return symmetric{k, alpha} }

type symmetric struct {
	k     int
	alpha float64
}

func (s symmetric) Sampler(k int) (func([]float64, *rand.Rand), error) {
	if s.k != k {
		return nil, fmt.Errorf("a Dirichlet prior of %d parameters for %d topics", s.k, k)
	}
	return Dirichlet{slices.Repeat([]float64{s.alpha}, k)}.Sampler(k)
}

// Sampler implements [TopicPrior].
func (d Dirichlet) Sampler(k int) (func([]float64, *rand.Rand), error) {
	if len(d.Alpha) != k {
		return nil, fmt.Errorf("a Dirichlet prior of %d parameters for %d topics", len(d.Alpha), k)
	}
	for t, a := range d.Alpha {
		if !(a > 0) || math.IsInf(a, 1) {
			return nil, fmt.Errorf("the Dirichlet parameter of topic %d is %g, want > 0", t, a)
		}
	}
	alpha := slices.Clone(d.Alpha)
	return func(w []float64, rng *rand.Rand) {
		// Gamma variates in logarithms, by G(α) = G(α+1)·U^(1/α): those of a
		// small α underflow, all K of them now and then.
		for t, a := range alpha {
			g := arith.Gamma(a+1, rng)
			w[t] = arith.Log(g) + arith.Log(1-float64(rng.Float64()))/a
		}
		softmax(w)
	}, nil
}

// softmax replaces x by exp(x)/Σexp(x).
func softmax(x []float64) {
	top, sum := slices.Max(x), 0.0
	for i, v := range x {
		x[i] = arith.Exp(v - top)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}
