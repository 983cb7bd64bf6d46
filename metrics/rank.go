package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"
)

// Ranking orders the words of a topic by how well they describe it.
type Ranking interface {
	// Scores returns a new N×K matrix of scores, higher for better words. b is N×K,
	// column k being p(word | topic k); c, of length N, is proportional to p(word),
	// as are the row sums of the co-occurrence.
	Scores(b *mat.Dense, c []float64) (*mat.Dense, error)
	// String names the ranking and its settings.
	String() string
}

// ByProbability ranks words by p(word | topic).
type ByProbability struct{}

func (ByProbability) String() string { return "probability" }

// Scores implements Ranking; c is not used. O(NK).
func (ByProbability) Scores(b *mat.Dense, _ []float64) (*mat.Dense, error) {
	if _, err := checkTopics(b); err != nil {
		return nil, err
	}
	return mat.DenseCopyOf(b), nil
}

// ByLift ranks words by p(word | topic)/p(word) (Taddy 2012), which puts rare words
// first. A word with p(word) ≤ 0 scores 0 in topics without it, and is an error in
// others.
type ByLift struct{}

func (ByLift) String() string { return "lift" }

// Scores implements Ranking. O(NK).
func (ByLift) Scores(b *mat.Dense, c []float64) (*mat.Dense, error) {
	return lift(b, c, func(_, lift float64) float64 { return lift })
}

// lift applies f to p(word | topic) and the lift.
func lift(b *mat.Dense, c []float64, f func(p, lift float64) float64) (*mat.Dense, error) {
	t, err := checkTopics(b)
	if err != nil {
		return nil, err
	}
	sum, err := checkMarginals("marginals", c, t.n)
	if err != nil {
		return nil, err
	}
	s := mat.NewDense(t.n, t.k, nil)
	for i, ci := range c {
		to := s.RawRowView(i)
		for k, p := range b.RawRowView(i) {
			switch {
			case p == 0:
				to[k] = f(0, 0)
			case ci > 0:
				to[k] = f(p, p*sum/ci)
			default:
				return nil, fmt.Errorf("metrics: marginals[%d]: %v is not positive, but topic %d has the word", i, ci, k)
			}
		}
	}
	return s, nil
}

// ByRelevance ranks words by λ·ln p(word | topic) + (1 − λ)·ln(p(word | topic)/p(word)),
// the order of pyLDAvis (Sievert and Shirley 2014): that of probability for λ = 1,
// of [ByLift] for λ = 0. Words that a topic does not have score −Inf; otherwise words
// with p(word) ≤ 0 are as for ByLift.
type ByRelevance struct {
	// Lambda is λ in (0, 1]; 0: 0.6, which readers did best with in their study.
	Lambda float64
}

func (r ByRelevance) lambda() float64 { return cmp.Or(r.Lambda, 0.6) }

func (r ByRelevance) String() string { return fmt.Sprintf("relevance(λ=%g)", r.lambda()) }

// Scores implements Ranking. O(NK).
func (r ByRelevance) Scores(b *mat.Dense, c []float64) (*mat.Dense, error) {
	l := r.lambda()
	if !(l > 0 && l <= 1) {
		return nil, fmt.Errorf("metrics: λ: %v is not in (0, 1]", l)
	}
	return lift(b, c, func(p, lift float64) float64 {
		if p == 0 {
			return math.Inf(-1)
		}
		return l*math.Log(p) + (1-l)*math.Log(lift)
	})
}

// ByFREX ranks words by frequency and exclusivity together (Bischof and Airoldi
// 2012; Airoldi and Bischof 2016), the harmonic mean
//
//	1/(ω/F_k(x_nk) + (1 − ω)/G_k(b_nk)),  x_nk = b_nk/Σ_l b_nl,
//
// where F and G, in (0, 1], are the shares of the words of the vocabulary that have
// at most this exclusivity x, or this probability b, in the topic. A word that is
// in no topic has exclusivity 0.
type ByFREX struct {
	// Weight is ω in (0, 1], the weight of exclusivity; 0: 0.5.
	Weight float64
}

func (f ByFREX) weight() float64 { return cmp.Or(f.Weight, 0.5) }

func (f ByFREX) String() string { return fmt.Sprintf("FREX(ω=%g)", f.weight()) }

// Scores implements Ranking; c is not used. O(NK log N).
func (f ByFREX) Scores(b *mat.Dense, c []float64) (*mat.Dense, error) {
	w := f.weight()
	if !(w > 0 && w <= 1) {
		return nil, fmt.Errorf("metrics: ω: %v is not in (0, 1]", w)
	}
	t, err := checkTopics(b)
	if err != nil {
		return nil, err
	}
	s := mat.NewDense(t.n, t.k, nil)
	sums := rowSums(b)
	freq, excl := make([]float64, t.n), make([]float64, t.n)
	for k := range t.k {
		for i, sum := range sums {
			freq[i], excl[i] = b.At(i, k), 0
			if sum > 0 {
				excl[i] = freq[i] / sum
			}
		}
		g, x := ecdf(freq), ecdf(excl)
		for i := range t.n {
			s.Set(i, k, 1/(w/x(excl[i])+(1-w)/g(freq[i])))
		}
	}
	return s, nil
}

// ecdf returns the empirical distribution function of x: the share of the values
// that are at most v.
func ecdf(x []float64) func(v float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return func(v float64) float64 {
		at := sort.Search(len(sorted), func(i int) bool { return sorted[i] > v })
		return float64(at) / float64(len(sorted))
	}
}

// RankedWord is a word of a topic and its score.
type RankedWord struct {
	Word  int
	Prob  float64 // p(word | topic)
	Score float64 // by the ranking
}

// RankWords returns the n best words of each topic by a ranking, best first, ties by
// lowest number. Words of probability 0 are left out, so that a list may be shorter.
// n is 20 for 0; r nil is [ByProbability]. b and c are as for Ranking. The cost is
// that of Scores, and O(NK log n).
func RankWords(b *mat.Dense, c []float64, r Ranking, n int) ([][]RankedWord, error) {
	t, n, err := topicsAndTop(b, n)
	if err != nil {
		return nil, err
	}
	if r == nil {
		r = ByProbability{}
	}
	s, err := r.Scores(b, c)
	if err != nil {
		return nil, err
	}
	if i, j := dims(s); i != t.n || j != t.k {
		return nil, wrongShape("scores", i, j, t.n, t.k)
	}
	for i := range t.n {
		for k, p := range b.RawRowView(i) {
			if p == 0 {
				s.Set(i, k, math.NaN()) // after all others
			}
		}
	}
	out := make([][]RankedWord, t.k)
	for k := range out {
		out[k] = []RankedWord{}
		for _, w := range topWords(s, k, n) {
			if p := b.At(w, k); p > 0 {
				out[k] = append(out[k], RankedWord{w, p, s.At(w, k)})
			}
		}
	}
	return out, nil
}
