package metrics

import (
	"fmt"
	"math"
)

// Stat is a measure with one value a word, topic, list or document, and their
// mean and spread.
type Stat struct {
	// Mean is that of the defined values, NaN where there is none. Std is their
	// sample standard deviation (n−1): 0 for a single value, NaN for none.
	Mean, Std float64

	// Values holds NaN where the measure is not defined. It is nil where the
	// measure was not computed.
	Values []float64

	// Undefined counts the NaN in Values.
	Undefined int
}

// NewStat summarises values, which it keeps. NaN stands for "not defined": it
// is counted in Undefined and left out of mean and deviation.
//
// A measure over some of the words is the Stat of a part of the values. With
// the words of a smaller vocabulary chosen from Recovery's this is the
// BaseRecovery of dong-2019 (§4.6), by which models of different vocabularies
// are compared.
func NewStat(values []float64) Stat {
	s := Stat{Values: values}
	n := 0
	for _, v := range values {
		if math.IsNaN(v) {
			s.Undefined++
			continue
		}
		s.Mean += v
		n++
	}
	if n == 0 {
		s.Mean, s.Std = math.NaN(), math.NaN()
		return s
	}
	s.Mean /= float64(n)
	if n == 1 {
		return s
	}
	for _, v := range values {
		if !math.IsNaN(v) {
			d := v - s.Mean
			s.Std += d * d
		}
	}
	s.Std = math.Sqrt(s.Std / float64(n-1))
	return s
}

// String returns mean and deviation, and how many values are not defined.
func (s Stat) String() string {
	if s.Undefined > 0 {
		return fmt.Sprintf("%.4g ± %.4g (%d undefined)", s.Mean, s.Std, s.Undefined)
	}
	return fmt.Sprintf("%.4g ± %.4g", s.Mean, s.Std)
}
