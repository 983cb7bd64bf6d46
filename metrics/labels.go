package metrics

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Ranking orders the words of a topic by how well they label it.
type Ranking interface {
	// Scores returns an N×K matrix of scores, the higher the better. b is N×K,
	// column k being p(word | topic k); c, of length N, is in proportion to
	// p(word), as the row sums of the co-occurrence.
	Scores(b *mat.Dense, c []float64) (*mat.Dense, error)
	// String names the ranking and its settings.
	String() string
}

// ByProbability ranks by p(word | topic). Words that are frequent everywhere
// come first in many topics.
type ByProbability struct{}

func (ByProbability) String() string { return "probability" }

// Scores implements Ranking; c is not used.
func (ByProbability) Scores(b *mat.Dense, c []float64) (*mat.Dense, error) {
	if _, err := checkTopics(b); err != nil {
		return nil, err
	}
	return mat.DenseCopyOf(b), nil
}

// ByLift ranks by p(word | topic)/p(word) (Taddy 2012): rare words of the topic
// first. A word with p(word) ≤ 0 has the score 0 where the topic does not have
// it either, and is an error otherwise.
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
	if err := checkMarginals("marginals", c, t.n); err != nil {
		return nil, err
	}
	sum := floats.Sum(c)
	if !(sum > 0) {
		return nil, &ValueError{"marginals", -1, -1, sum, "is their sum, which must be positive"}
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
				return nil, &ValueError{"marginals", i, -1, ci, fmt.Sprintf("is not positive, but topic %d has the word", k)}
			}
		}
	}
	return s, nil
}

// DefaultLambda is the λ of ByRelevance that readers did best with in the study
// of Sievert and Shirley.
const DefaultLambda = 0.6

// ByRelevance ranks by λ·ln p(word | topic) + (1 − λ)·ln(p(word | topic)/p(word))
// (Sievert and Shirley 2014, pyLDAvis): between ByProbability, λ = 1, and ByLift,
// λ = 0. Words that a topic does not have score −Inf.
type ByRelevance struct {
	// Lambda is λ in (0, 1]; 0 means 0.6. For λ = 0 itself take ByLift, which
	// gives the same order.
	Lambda float64
}

func (r ByRelevance) lambda() float64 {
	if r.Lambda == 0 {
		return DefaultLambda
	}
	return r.Lambda
}

func (r ByRelevance) String() string { return fmt.Sprintf("relevance(λ=%g)", r.lambda()) }

// Scores implements Ranking. Words with p(word) ≤ 0 as for ByLift. O(NK).
func (r ByRelevance) Scores(b *mat.Dense, c []float64) (*mat.Dense, error) {
	l := r.lambda()
	if !(l > 0 && l <= 1) {
		return nil, &ValueError{"λ", -1, -1, l, "is not in (0, 1]"}
	}
	return lift(b, c, func(p, lift float64) float64 {
		if p == 0 {
			return math.Inf(-1)
		}
		return l*math.Log(p) + (1-l)*math.Log(lift)
	})
}

// BySaliency ranks by p(word | topic)·ln(p(word | topic)/p(word)): the part that
// the topic has in the saliency of the word (Chuang, Manning and Heer 2012), but
// for the topic's share, which changes no order. Words that are frequent in the
// topic and less so elsewhere come first, those less frequent than elsewhere
// score below 0. WordSaliency is the sum over topics.
type BySaliency struct{}

func (BySaliency) String() string { return "saliency" }

// Scores implements Ranking. Words with p(word) ≤ 0 as for ByLift. O(NK).
func (BySaliency) Scores(b *mat.Dense, c []float64) (*mat.Dense, error) {
	return lift(b, c, func(p, lift float64) float64 {
		if p == 0 {
			return 0
		}
		return p * math.Log(lift)
	})
}

// WordSaliency returns the saliency of each word (Chuang, Manning and Heer
// 2012),
//
//	p(n) Σ_k p(k | n) ln(p(k | n)/p(k)),
//
// p(n) times how much the word tells of the topic, in nats; ≥ 0. b is N×K,
// shares are the K probabilities p(k), none negative, which are scaled to sum
// 1; p(n) = Σ_k p(n | k)p(k). O(NK).
func WordSaliency(b *mat.Dense, shares []float64) ([]float64, error) {
	t, err := checkTopics(b)
	if err != nil {
		return nil, err
	}
	if len(shares) != t.k {
		return nil, fmt.Errorf("metrics: shares of %d topics for %d", len(shares), t.k)
	}
	sum := floats.Sum(shares)
	for k, a := range shares {
		if !(a >= 0) || math.IsInf(a, 1) {
			return nil, &ValueError{"shares", k, -1, a, "is not a probability"}
		}
	}
	if !(sum > 0) {
		return nil, &ValueError{"shares", -1, -1, sum, "is their sum, which must be positive"}
	}
	out := make([]float64, t.n)
	for i := range out {
		row, p := b.RawRowView(i), 0.0
		for k, v := range row {
			p += v * shares[k] / sum
		}
		for k, v := range row {
			if joint := v * shares[k] / sum; joint > 0 {
				out[i] += joint * math.Log(v/p)
			}
		}
		out[i] = max(out[i], 0) // rounding
	}
	return out, nil
}

// DefaultFREXWeight is the weight of exclusivity in ByFREX.
const DefaultFREXWeight = 0.5

// ByFREX ranks by frequency and exclusivity together (Bischof and Airoldi 2012;
// Airoldi and Bischof 2016): the harmonic mean
//
//	1/(ω/F_k(x_nk) + (1 − ω)/G_k(b_nk)),  x_nk = b_nk/Σ_l b_nl,
//
// of the rank of the word's exclusivity x and that of its probability b in the
// topic, as the shares F and G, in (0, 1], of the words of the vocabulary that
// have at most this value. A word that is in no topic has exclusivity 0.
type ByFREX struct {
	// Weight is ω in (0, 1], the weight of exclusivity; 0 means 0.5.
	Weight float64
}

func (f ByFREX) weight() float64 {
	if f.Weight == 0 {
		return DefaultFREXWeight
	}
	return f.Weight
}

func (f ByFREX) String() string { return fmt.Sprintf("FREX(ω=%g)", f.weight()) }

// Scores implements Ranking; c is not used. O(NK log N).
func (f ByFREX) Scores(b *mat.Dense, c []float64) (*mat.Dense, error) {
	w := f.weight()
	if !(w > 0 && w <= 1) {
		return nil, &ValueError{"ω", -1, -1, w, "is not in (0, 1]"}
	}
	t, err := checkTopics(b)
	if err != nil {
		return nil, err
	}
	s := mat.NewDense(t.n, t.k, nil)
	sums := make([]float64, t.n)
	for i := range sums {
		sums[i] = floats.Sum(b.RawRowView(i))
	}
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

// ecdf returns the empirical distribution function of x: the share of the
// values that are at most v.
func ecdf(x []float64) func(v float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return func(v float64) float64 {
		lo, hi := 0, len(sorted)
		for lo < hi {
			if m := (lo + hi) / 2; sorted[m] <= v {
				lo = m + 1
			} else {
				hi = m
			}
		}
		return float64(lo) / float64(len(sorted))
	}
}

// Label is a word of a topic and its score.
type Label struct {
	Word  int
	Prob  float64 // p(word | topic)
	Score float64 // of the ranking
}

// Labels returns for each topic the n best words by a ranking, best first, ties
// by lowest index. Only words that the topic has are labels, p(word | topic) > 0,
// so that there may be fewer. n is at least 1; r nil means ByProbability. b and c
// as for Ranking. The cost is that of Scores, and O(NK) for a small n.
func Labels(b *mat.Dense, c []float64, r Ranking, n int) ([][]Label, error) {
	if err := checkTopN(n); err != nil {
		return nil, err
	}
	if r == nil {
		r = ByProbability{}
	}
	s, err := r.Scores(b, c)
	if err != nil {
		return nil, err
	}
	rows, cols := b.Dims()
	if i, j := dims(s); i != rows || j != cols {
		return nil, &ShapeError{"scores", i, j, rows, cols}
	}
	for i := range rows {
		for k, p := range b.RawRowView(i) {
			if p == 0 {
				s.Set(i, k, math.NaN()) // after all others
			}
		}
	}
	out := make([][]Label, cols)
	for k := range out {
		out[k] = []Label{}
		for _, w := range TopWords(s, k, n) {
			if p := b.At(w, k); p > 0 {
				out[k] = append(out[k], Label{w, p, s.At(w, k)})
			}
		}
	}
	return out, nil
}
