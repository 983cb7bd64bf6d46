package metrics

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// PairCounts tells in how many documents words occur, alone and together.
// *cooc.Pairs is one; words are the row numbers of B. Safe for concurrent use.
type PairCounts interface {
	Has(i int) bool  // whether word i was counted; the others are never asked for
	At(i, j int) int // D2_ij, documents that hold both words i ≠ j
	D1(i int) int    // documents that hold word i
	Docs() int       // all documents
}

// CoherenceSmoothing is the ε of Coherence, as in the papers' program.
const CoherenceSmoothing = 0.01

// Coherence is the u_mass coherence of the topics' top n words t_1, …, t_n,
// most probable first: per topic the sum over unordered pairs
//
//	Σ_{i>j} ln((D2(t_i, t_j) + ε)/D1(t_j)),  ε = 0.01,
//
// where the denominator is the more probable of the two words, and the mean of
// that over topics. At most 0, but for ε; closer to 0 is better, but see the
// package documentation: by itself it favours topics made of the corpus' most
// frequent words. This is the form behind the values published with the papers'
// program; CoherenceOrdered is the formula they print.
//
// b is N×K; n is at least 1, 20 in the papers, and at most N is used. pairs must
// cover the top words (see TopUnion); the published values count in the
// documents that C is made of, the short ones left out. A top word that is in no
// document counts as in one (D1 = 1, D2 = 0). Values has one entry a topic,
// undefined (NaN) for an empty one.
func Coherence(b *mat.Dense, pairs PairCounts, n int) (Stat, error) {
	return pairMeasure(b, pairs, n, coherence)
}

// CoherenceOrdered is Coherence with the sum over ordered pairs i ≠ j, as the
// papers' formula reads (lee-2018 eq. 1.10 and §2.4, lee-2020 §4): every pair
// counts twice, once with each word's frequency below.
func CoherenceOrdered(b *mat.Dense, pairs PairCounts, n int) (Stat, error) {
	return pairMeasure(b, pairs, n, coherenceOrdered)
}

// NPMI is the mean over the unordered pairs of a topic's n top words of their
// normalised pointwise mutual information,
//
//	ln(p_ij/(p_i p_j))/(−ln p_ij),
//
// in [−1, 1], where p is the share of all documents that hold the word, or both
// words, at least once (Bouma 2009; for topics Lau, Newman and Baldwin 2014).
// Higher is better; 0 is independence. Unlike Coherence
// it does not reward words for being frequent. A pair that never meets counts
// −1, a pair that is in every document +1.
//
// Arguments as for Coherence. Values has one entry a topic, undefined (NaN) for
// an empty topic and for a list of fewer than two words.
func NPMI(b *mat.Dense, pairs PairCounts, n int) (Stat, error) {
	return pairMeasure(b, pairs, n, npmi)
}

func pairMeasure(b *mat.Dense, pairs PairCounts, n int, f func([][]int, PairCounts) Stat) (Stat, error) {
	t, err := checkTopics(b)
	if err != nil {
		return Stat{}, err
	}
	if err := checkTopN(n); err != nil {
		return Stat{}, err
	}
	tops := t.tops(n)
	if err := checkPairs(pairs, tops); err != nil {
		return Stat{}, err
	}
	return f(tops, pairs), nil
}

func checkPairs(pairs PairCounts, tops [][]int) error {
	if noPairs(pairs) {
		return fmt.Errorf("metrics: no pair counts")
	}
	if pairs.Docs() < 1 {
		return fmt.Errorf("metrics: pair counts of no documents")
	}
	for k, l := range tops {
		for _, w := range l {
			if !pairs.Has(w) {
				return fmt.Errorf("metrics: no pair counts for word %d, a top word of topic %d", w, k)
			}
		}
	}
	return nil
}

// noPairs tells whether pairs is nil, or an interface around a nil *cooc.Pairs.
func noPairs(pairs PairCounts) bool {
	if pairs == nil {
		return true
	}
	p, ok := pairs.(*cooc.Pairs)
	return ok && p == nil
}

// eachPair calls f(hi, lo) for the pairs of a list, hi the more probable word.
func eachPair(top []int, f func(hi, lo int)) {
	for i, lo := range top {
		for _, hi := range top[:i] {
			f(hi, lo)
		}
	}
}

func perTopic(tops [][]int, f func(top []int) float64) Stat {
	values := make([]float64, len(tops))
	for k, l := range tops {
		if l == nil {
			values[k] = math.NaN()
			continue
		}
		values[k] = f(l)
	}
	return NewStat(values)
}

func umass(p PairCounts, i, below int) float64 {
	return math.Log((float64(p.At(i, below)) + CoherenceSmoothing) / float64(max(p.D1(below), 1)))
}

func coherence(tops [][]int, p PairCounts) Stat {
	return perTopic(tops, func(top []int) float64 {
		s := 0.0
		eachPair(top, func(hi, lo int) { s += umass(p, lo, hi) })
		return s
	})
}

func coherenceOrdered(tops [][]int, p PairCounts) Stat {
	return perTopic(tops, func(top []int) float64 {
		s := 0.0
		eachPair(top, func(hi, lo int) { s += umass(p, lo, hi) + umass(p, hi, lo) })
		return s
	})
}

func npmi(tops [][]int, p PairCounts) Stat {
	m := float64(p.Docs())
	return perTopic(tops, func(top []int) float64 {
		s, n := 0.0, 0
		eachPair(top, func(hi, lo int) {
			n++
			switch d := float64(p.At(hi, lo)); d {
			case 0:
				s--
			case m:
				s++
			default:
				s += math.Log(d*m/(float64(p.D1(hi))*float64(p.D1(lo)))) / math.Log(m/d)
			}
		})
		if n == 0 {
			return math.NaN()
		}
		return s / float64(n)
	})
}
