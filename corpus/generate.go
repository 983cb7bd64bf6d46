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
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/jsmf-go/spectral/internal/run"
)

// Generator draws documents from a topic model with known parameters, to try
// methods on. With the topics of a model that was learned from texts this makes
// the semi-synthetic corpora of the papers: SS with a Dirichlet prior, SR with a
// logistic-normal one (lee-2018 §4.4, arora-2013 §5.1).
//
// For each document the composition w of K topics is drawn from the prior; then
// each token's topic from w and its word from that topic.
type Generator struct {
	// Topics is B, N×K: column k holds p(word | topic k). Entries are at least
	// 0, columns sum to 1 (to 1e-6, and are scaled to do so exactly).
	Topics mat.Matrix

	// Prior draws the compositions; nil means the symmetric
	// Dirichlet with α_k = 5/K, the SS corpora of lee-2018 §4.4.
	Prior CompositionPrior

	// Lengths are numbers of tokens, each at least 0, and there is at least
	// one. With Docs = 0 document m has Lengths[m] tokens. With Docs > 0 there
	// are as many documents, and the length of each is drawn from Lengths with
	// equal chances: one element is the length of all, and the lengths of a
	// real corpus are a distribution like its own.
	Lengths []int
	Docs    int

	// Vocabulary names the N words; nil calls them w0, w1, ….
	Vocabulary []string

	// Seed is the seed of all that is drawn. What happens in document m
	// depends on Seed, m and the settings above but for Docs.
	Seed uint64

	// Workers bounds the goroutines; 0 means GOMAXPROCS. It changes nothing.
	Workers int
}

// CompositionPrior is a distribution over compositions of topics. Dirichlet and
// LogisticNormal are two.
type CompositionPrior interface {
	// Sampler checks the prior against the number of topics and returns a
	// function that draws a composition from rng into w (length k ≥ 1): at least
	// 0, with sum 1. The function is called by one goroutine at a time, Sampler
	// once for each.
	Sampler(k int) (func(w []float64, rng *rand.Rand), error)
}

// streamGenerate is the stream of Generator, as those of Split.
const streamGenerate = 0x5eed0003

// generateChunk is how many documents a goroutine draws at a time.
const generateChunk = 64

// Generate draws the documents and returns them with their true compositions W,
// M×K, a row a document. Documents of length 0 are kept, empty. It takes
// O(M·K + tokens·log K) time beside the sorting of each document's words.
func (g Generator) Generate(ctx context.Context) (*Corpus, *mat.Dense, error) {
	c, w, err := g.generate(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("corpus: generate: %w", err)
	}
	return c, w, nil
}

func (g Generator) generate(ctx context.Context) (*Corpus, *mat.Dense, error) {
	if g.Topics == nil {
		return nil, nil, errors.New("no topics")
	}
	n, k := g.Topics.Dims()
	switch {
	case n == 0 || k == 0:
		return nil, nil, fmt.Errorf("%d topics over %d words", k, n)
	case n > math.MaxInt32:
		return nil, nil, fmt.Errorf("%d words are more than %d", n, math.MaxInt32)
	case g.Docs < 0:
		return nil, nil, fmt.Errorf("%d documents", g.Docs)
	case len(g.Lengths) == 0:
		return nil, nil, errors.New("no lengths of documents")
	case g.Vocabulary != nil && len(g.Vocabulary) != n:
		return nil, nil, fmt.Errorf("a vocabulary of %d words for topics over %d", len(g.Vocabulary), n)
	}
	for i, l := range g.Lengths {
		if l < 0 || l > MaxCount {
			return nil, nil, fmt.Errorf("length %d is %d, want 0 to %d", i, l, MaxCount)
		}
	}
	topics := make([]alias, k)
	col := make([]float64, n)
	for t := range topics {
		sum := 0.0
		for i := range col {
			col[i] = g.Topics.At(i, t)
			if !(col[i] >= 0) || math.IsInf(col[i], 1) {
				return nil, nil, fmt.Errorf("topic %d gives word %d the probability %g", t, i, col[i])
			}
			sum += col[i]
		}
		if !(math.Abs(sum-1) <= 1e-6) {
			return nil, nil, fmt.Errorf("topic %d sums to %g, not 1", t, sum)
		}
		topics[t] = newAlias(col, sum)
	}
	prior := g.Prior
	if prior == nil {
		prior = SymmetricDirichlet(k, 5/float64(k))
	}
	docs := g.Docs
	if docs == 0 {
		docs = len(g.Lengths)
	}
	type worker struct {
		pcg    rand.PCG
		rng    *rand.Rand
		sample func([]float64, *rand.Rand)
		cum    []float64
		count  []int32
	}
	g.Workers = run.Workers(g.Workers, run.Count(docs, generateChunk))
	workers := make([]*worker, g.Workers)
	newWorker := func() (*worker, error) {
		s, err := prior.Sampler(k)
		if err != nil {
			return nil, err
		}
		x := &worker{sample: s, cum: make([]float64, k), count: make([]int32, n)}
		x.rng = rand.New(&x.pcg)
		return x, nil
	}
	var err error
	if workers[0], err = newWorker(); err != nil { // before any work
		return nil, nil, err
	}
	w := mat.NewDense(docs, k, nil)
	chunks := make([]rows, run.Count(docs, generateChunk))
	err = run.Chunks(ctx, docs, generateChunk, g.Workers, func(id, chunk, lo, hi int) error {
		x := workers[id]
		if x == nil {
			var err error
			if x, err = newWorker(); err != nil {
				return err
			}
			workers[id] = x
		}
		r := rows{indptr: make([]int, 1, hi-lo+1)}
		for m := lo; m < hi; m++ {
			x.pcg.Seed(g.Seed, streamGenerate+uint64(m)<<32)
			length := g.Lengths[0]
			switch {
			case g.Docs == 0:
				length = g.Lengths[m]
			case len(g.Lengths) > 1:
				length = g.Lengths[x.rng.IntN(len(g.Lengths))]
			}
			comp := w.RawRowView(m)
			x.sample(comp, x.rng)
			sum, last := 0.0, 0
			for t, v := range comp {
				sum += v
				x.cum[t] = sum
				if v > 0 {
					last = t
				}
			}
			if !(math.Abs(sum-1) <= 1e-6) {
				return fmt.Errorf("document %d: the prior drew a composition of sum %g", m, sum)
			}
			// The first topic whose cumulative share exceeds the draw: one of
			// share 0 is never taken.
			cum := x.cum[:last]
			for range length {
				u := x.rng.Float64() * sum
				t := sort.Search(last, func(t int) bool { return cum[t] > u })
				v := topics[t].draw(x.rng)
				if x.count[v] == 0 {
					r.words = append(r.words, v)
				}
				x.count[v]++
			}
			slices.Sort(r.words[r.indptr[len(r.indptr)-1]:])
			for _, v := range r.words[r.indptr[len(r.indptr)-1]:] {
				r.counts = append(r.counts, x.count[v])
				x.count[v] = 0
			}
			r.indptr = append(r.indptr, len(r.words))
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
	return newCorpus(vocab, nil, nil, all.indptr, all.words, all.counts), w, nil
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

// Dirichlet is the prior of LDA.
type Dirichlet struct {
	// Alpha holds the K parameters, each > 0 and finite.
	Alpha []float64
}

// SymmetricDirichlet returns the Dirichlet prior of k topics with all α_k = alpha.
func SymmetricDirichlet(k int, alpha float64) Dirichlet {
	return Dirichlet{slices.Repeat([]float64{alpha}, k)}
}

// Sampler implements CompositionPrior.
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
			g := distuv.Gamma{Alpha: a + 1, Beta: 1, Src: rng}.Rand()
			w[t] = math.Log(g) + math.Log(1-rng.Float64())/a
		}
		softmax(w)
	}, nil
}

// LogisticNormal is the prior of correlated topic models: w_k ∝ exp(x_k) with x
// normal. Adding the same number to all means, or to all covariances, changes
// nothing.
type LogisticNormal struct {
	// Mean is μ, K numbers; nil means 0.
	Mean []float64
	// Covariance is Σ, K×K and positive semidefinite.
	Covariance mat.Symmetric
}

// psdTol is how negative an eigenvalue of Σ may be, relative to the largest.
const psdTol = 1e-9

// Sampler implements CompositionPrior. It takes O(K³), a draw O(K²).
func (l LogisticNormal) Sampler(k int) (func([]float64, *rand.Rand), error) {
	if l.Covariance == nil || l.Covariance.SymmetricDim() != k || l.Mean != nil && len(l.Mean) != k {
		dim := 0
		if l.Covariance != nil {
			dim = l.Covariance.SymmetricDim()
		}
		return nil, fmt.Errorf("a logistic-normal prior of %d means and a covariance of %d rows for %d topics", len(l.Mean), dim, k)
	}
	mean := make([]float64, k)
	copy(mean, l.Mean)
	for t, v := range mean {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("the logistic-normal mean of topic %d is %g", t, v)
		}
		for j := range k {
			if v := l.Covariance.At(t, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("the logistic-normal covariance of topics %d and %d is %g", t, j, v)
			}
		}
	}
	// Eigenpairs, as Σ may be singular; that of log-ratios is.
	var eig mat.EigenSym
	if !eig.Factorize(l.Covariance, true) {
		return nil, errors.New("the eigenvalues of the logistic-normal covariance did not converge")
	}
	var vec mat.Dense
	eig.VectorsTo(&vec)
	values := eig.Values(nil)
	root := make([]float64, k*k) // V√D, row-major
	for t, v := range values {
		if v < -psdTol*math.Abs(values[k-1]) {
			return nil, fmt.Errorf("the logistic-normal covariance has the eigenvalue %g, want ≥ 0", v)
		}
		for i := range k {
			root[i*k+t] = vec.At(i, t) * math.Sqrt(max(v, 0))
		}
	}
	z := make([]float64, k)
	return func(w []float64, rng *rand.Rand) {
		for t := range z {
			z[t] = rng.NormFloat64()
		}
		for t := range w {
			v := mean[t]
			for j, r := range root[t*k : t*k+k] {
				v += r * z[j]
			}
			w[t] = v
		}
		softmax(w)
	}, nil
}

// FitLogisticNormal returns the logistic-normal prior with the moments of given
// compositions w (M×K, a row a document, M ≥ 2, K ≥ 2): mean and sample
// covariance of the centred log-ratios ln w_k − mean_l ln w_l. This makes SR
// corpora like a real one from its documents' inferred compositions.
//
// A logarithm of 0 does not exist, so entries below floor are raised to floor,
// in (0, 1); 0 means 0.01/K. Where compositions are sparse the covariance
// depends much on it.
func FitLogisticNormal(w mat.Matrix, floor float64) (LogisticNormal, error) {
	m, k := w.Dims()
	if floor == 0 {
		floor = 0.01 / float64(k)
	}
	switch {
	case m < 2 || k < 2:
		return LogisticNormal{}, fmt.Errorf("corpus: logistic-normal moments of %d compositions of %d topics; want 2 of each at least", m, k)
	case !(floor > 0 && floor < 1):
		return LogisticNormal{}, fmt.Errorf("corpus: logistic-normal moments: floor %g is not in (0, 1)", floor)
	}
	x := mat.NewDense(m, k, nil)
	mean := make([]float64, k)
	for i := range m {
		row, centre := x.RawRowView(i), 0.0
		for t := range row {
			v := w.At(i, t)
			if !(v >= 0) || math.IsInf(v, 1) {
				return LogisticNormal{}, fmt.Errorf("corpus: logistic-normal moments: composition %d gives topic %d the share %g", i, t, v)
			}
			row[t] = math.Log(max(v, floor))
			centre += row[t] / float64(k)
		}
		for t := range row {
			row[t] -= centre
			mean[t] += row[t] / float64(m)
		}
	}
	for i := range m {
		for t, v := range mean {
			x.RawRowView(i)[t] -= v
		}
	}
	cov := mat.NewSymDense(k, nil)
	cov.SymOuterK(1/float64(m-1), x.T())
	return LogisticNormal{Mean: mean, Covariance: cov}, nil
}

// softmax replaces x by exp(x)/Σexp(x).
func softmax(x []float64) {
	top, sum := slices.Max(x), 0.0
	for i, v := range x {
		x[i] = math.Exp(v - top)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}
