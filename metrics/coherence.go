package metrics

import (
	"fmt"
	"math"
	"reflect"

	"gonum.org/v1/gonum/mat"
)

// PairCounts tells in how many documents words occur, alone and together.
// *cooc.Pairs is one. Words are row numbers of B. Its methods are called by
// several goroutines at once.
type PairCounts interface {
	Has(i int) bool  // whether word i was counted; no other method is called for one that was not
	At(i, j int) int // D2_ij, the documents that hold both words, i ≠ j
	D1(i int) int    // the documents that hold word i
	Docs() int       // all documents
}

// Coherence is the u_mass coherence of the n top words t_1, …, t_n of each topic,
// most probable first, and its mean over topics:
//
//	Σ_{i>j} ln((D2(t_i, t_j) + ε)/D1(t_j)),  ε = 0.01.
//
// It is at most 0 but for ε, and higher is better. It favours topics of frequent
// words: read it together with Specificity and Dissimilarity, or use NPMI.
//
// This is the form of the values published with the papers' program. The formula
// that the papers print (lee-2018 eq. 1.10 and §2.4, lee-2020 §4) sums over
// ordered pairs; see Report.CoherenceOrdered.
//
// b is N×K; n is 20 for 0, and at most N. pairs must hold the words of
// TopUnion(b, n), counted in the documents that C is made of. A top word that is
// in no document counts as in one (D1 = 1, D2 = 0). One value a topic, NaN for an
// empty one.
func Coherence(b *mat.Dense, pairs PairCounts, n int) (Stat, error) {
	return pairMeasure(b, pairs, n, coherence)
}

// NPMI is the mean normalised pointwise mutual information of the pairs of a
// topic's n top words, and its mean over topics:
//
//	ln(p_ij/(p_i p_j))/(−ln p_ij),
//
// where p is the share of the documents that hold the word, or both (Bouma 2009;
// Lau, Newman and Baldwin 2014). It is in [−1, 1], 0 for independent words, −1 for
// words that never meet, 1 for words in every document; higher is better. Unlike
// Coherence it does not reward frequent words.
//
// Arguments as for Coherence. One value a topic, NaN for an empty one and for a
// single word.
func NPMI(b *mat.Dense, pairs PairCounts, n int) (Stat, error) {
	return pairMeasure(b, pairs, n, npmi)
}

func pairMeasure(b *mat.Dense, pairs PairCounts, n int, f func([][]int, PairCounts) Stat) (Stat, error) {
	t, n, err := topicsAndTop(b, n)
	if err != nil {
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

// noPairs tells whether pairs is nil, or an interface around a nil pointer.
func noPairs(pairs PairCounts) bool {
	v := reflect.ValueOf(pairs)
	return pairs == nil || v.Kind() == reflect.Pointer && v.IsNil()
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

// umassTerm is the summand of Coherence, with ε = 0.01 documents.
func umassTerm(p PairCounts, i, below int) float64 {
	return math.Log((float64(p.At(i, below)) + 0.01) / float64(max(p.D1(below), 1)))
}

func coherence(tops [][]int, p PairCounts) Stat {
	return perTopic(tops, func(top []int) float64 {
		s := 0.0
		eachPair(top, func(hi, lo int) { s += umassTerm(p, lo, hi) })
		return s
	})
}

func coherenceOrdered(tops [][]int, p PairCounts) Stat {
	return perTopic(tops, func(top []int) float64 {
		s := 0.0
		eachPair(top, func(hi, lo int) { s += umassTerm(p, lo, hi) + umassTerm(p, hi, lo) })
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
