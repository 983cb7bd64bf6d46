package corpus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/run"
)

// Generator draws documents from a topic model with known parameters. With the
// topics of a model learned from real documents it makes the semi-synthetic
// corpora of the papers: SS with a Dirichlet prior, SR with a logistic-normal one
// (lee-2018 §4.4, arora-2013 §5.1).
//
// For each document the K topic proportions w are drawn from the prior, then for
// each token a topic from w and a word from that topic.
type Generator struct {
	// Topics is B, N×K: column k holds p(word | topic k). Entries are at least 0
	// and columns sum to 1 to 1e-6; they are scaled to do so exactly.
	Topics mat.Matrix

	// Prior draws the topic proportions; nil means the symmetric Dirichlet
	// distribution with α_k = 5/K, that of the SS corpora of lee-2018 §4.4.
	Prior TopicPrior

	// Lengths are numbers of tokens, at least one of them, each 0 or more. If Docs
	// is 0, document m has Lengths[m] tokens. Otherwise there are Docs documents,
	// and the length of each is drawn uniformly from Lengths.
	Lengths []int
	Docs    int

	// Vocabulary names the N words; nil calls them w0, w1, ….
	Vocabulary []string

	// Seed is the seed of all random numbers. Document m depends on Seed, m and
	// the settings above except Docs.
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
	g.Workers = run.Workers(g.Workers, run.Count(docs, generateChunk))
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
	chunks := make([]rows, run.Count(docs, generateChunk))
	err = run.Chunks(ctx, docs, generateChunk, g.Workers, func(id, chunk, lo, hi int) error {
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
			if err := x.draw(m, w.RawRowView(m), &r); err != nil {
				return err
			}
		}
		chunks[chunk] = r
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	nnz := 0
	for _, r := range chunks {
		nnz += len(r.words)
	}
	all := rows{indptr: make([]int, 1, docs+1), words: make([]int32, 0, nnz), counts: make([]int32, 0, nnz)}
	for _, r := range chunks {
		base := len(all.words)
		for _, p := range r.indptr[1:] {
			all.indptr = append(all.indptr, base+p)
		}
		all.words, all.counts = append(all.words, r.words...), append(all.counts, r.counts...)
	}
	vocab := slices.Clone(g.Vocabulary)
	if vocab == nil {
		vocab = make([]string, n)
		for i := range vocab {
			vocab[i] = "w" + strconv.Itoa(i)
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
	case g.Docs < 0:
		return nil, fmt.Errorf("%d documents", g.Docs)
	case len(g.Lengths) == 0:
		return nil, errors.New("no lengths of documents")
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
}

// draw draws document m: its topic proportions into w, its words into r.
func (x *drawer) draw(m int, w []float64, r *rows) error {
	g := x.g
	x.pcg.Seed(g.Seed, streamGenerate+uint64(m)<<32)
	length := g.Lengths[0]
	switch {
	case g.Docs == 0:
		length = g.Lengths[m]
	case len(g.Lengths) > 1:
		length = g.Lengths[x.rng.IntN(len(g.Lengths))]
	}
	x.sample(w, x.rng)
	sum, last := 0.0, 0
	for t, v := range w {
		sum += v
		x.cum[t] = sum
		if v > 0 {
			last = t
		}
	}
	if !(math.Abs(sum-1) <= 1e-6) {
		return fmt.Errorf("document %d: the prior drew topic proportions of sum %g", m, sum)
	}
	// The first topic whose cumulative share exceeds the random number: one of
	// share 0 is never taken.
	cum := x.cum[:last]
	lo := len(r.words)
	for range length {
		u := x.rng.Float64() * sum
		t := sort.Search(last, func(t int) bool { return cum[t] > u })
		v := x.topics[t].draw(x.rng)
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
	// What is left is 1 but for rounding. A word of probability 0 must never
	// be drawn, though, and may be left over too.
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
