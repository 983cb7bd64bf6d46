package metrics

import (
	"fmt"
	"math"
	"reflect"

	"github.com/jsmf-go/spectral/internal/arith"
)

// PairCounts holds in how many documents words occur, alone and together.
// [*cooc.Pairs] is one. Words are row numbers of B.
type PairCounts interface {
	Has(i int) bool  // whether word i was counted; no other method is called for one that was not
	At(i, j int) int // D2_ij, the documents that hold both words, i ≠ j
	D1(i int) int    // the documents that hold word i
	Docs() int       // all documents

	// Association is how many times as often as by chance documents hold both words, i ≠ j, and how many standard
	// deviations more often.
	Association(i, j int) (times, deviations float64)
}

// checkPairs reports what top words the pairs lack.
func checkPairs(pairs PairCounts, tops [][]int) error {
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

// noPairs reports whether pairs is nil, or an interface around a nil pointer.
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

// perTopic returns f of each list, NaN for nil.
func perTopic(tops [][]int, f func(top []int) float64) Stat {
	values := make([]float64, len(tops))
	for k, l := range tops {
		values[k] = math.NaN()
		if l != nil {
			values[k] = f(l)
		}
	}
	return NewStat(values)
}

// umassTerm is the summand of Coherence, with ε = 0.01 documents.
func umassTerm(p PairCounts, i, below int) float64 {
	return arith.Log((float64(p.At(i, below)) + 0.01) / float64(max(p.D1(below), 1)))
}

// coherence is Report.Coherence.
func coherence(tops [][]int, p PairCounts) Stat {
	return perTopic(tops, func(top []int) float64 {
		s := 0.0
		eachPair(top, func(hi, lo int) { s += umassTerm(p, lo, hi) })
		return s
	})
}

// coherenceOrdered is Report.CoherenceOrdered.
func coherenceOrdered(tops [][]int, p PairCounts) Stat {
	return perTopic(tops, func(top []int) float64 {
		s := 0.0
		eachPair(top, func(hi, lo int) { s += umassTerm(p, lo, hi) + umassTerm(p, hi, lo) })
		return s
	})
}

// npmi is Report.NPMI.
func npmi(tops [][]int, p PairCounts) Stat {
	m := float64(p.Docs())
	return perTopic(tops, func(top []int) float64 {
		return pairMean(top, func(hi, lo int) float64 {
			switch d := float64(p.At(hi, lo)); d {
			case 0:
				return -1
			case m:
				return 1
			default:
				return arith.Log(d*m/(float64(p.D1(hi))*float64(p.D1(lo)))) / arith.Log(m/d)
			}
		})
	})
}

// pairMean returns the mean of f over the pairs of a list, NaN where it has none.
func pairMean(l []int, f func(hi, lo int) float64) float64 {
	s, n := 0.0, 0
	eachPair(l, func(hi, lo int) { s, n = s+f(hi, lo), n+1 })
	if n == 0 {
		return math.NaN()
	}
	return s / float64(n)
}
