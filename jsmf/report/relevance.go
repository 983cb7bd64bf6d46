package report

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
)

// lambdaSteps is how many steps the slider between lift (λ = 0) and probability
// (λ = 1) has.
const lambdaSteps = 100

// unigram returns p(word): the marginals, or 0 where they are negative, over their
// sum.
func unigram(m *jsmf.Model) []float64 {
	p := m.Marginals()
	for i, c := range p {
		p[i] = max(c, 0)
	}
	if sum := vec.Sum(p); sum > 0 {
		for i := range p {
			p[i] /= sum
		}
	}
	return p
}

// relevant returns the places in the lines of the n words with the largest relevance
// λ log p(w|k) + (1−λ) log(p(w|k)/p(w)), in decreasing order, ties by number.
func relevant(l *lines, lambda float64, n int) []int {
	return best(len(l.words), n, func(i int) float64 { return l.at(i, lambda) })
}

// lines are the relevances of a topic's words as functions of λ: straight lines
// that start at the log lift and have the slope log p(w). Words of probability 0
// have none.
type lines struct {
	words       []int
	lift, slope []float64
}

// at returns the relevance of the i-th word.
func (l *lines) at(i int, lambda float64) float64 { return l.lift[i] + lambda*l.slope[i] }

// newLines returns those of topic k, with p(word) from the unigram.
func newLines(b mat.Matrix, k int, unigram []float64) *lines {
	l := new(lines)
	for i, c := range unigram {
		if p := b.At(i, k); p > 0 && c > 0 {
			l.words = append(l.words, i)
			l.lift = append(l.lift, math.Log(p)-math.Log(c))
			l.slope = append(l.slope, math.Log(c))
		}
	}
	return l
}

// candidates returns, ascending, the words that are among the n most relevant of
// the topic for some position of the slider.
//
// The slider is divided into intervals. Relevance is linear in λ, so within an
// interval the n best words of its start never fall below the least relevance that
// they have at its two ends, and a word that is below that at both ends is not
// among the n best anywhere between. O(N) per interval.
func candidates(l *lines, n int) []int {
	const interval = 10
	var out []int
	for from := 0; from <= lambdaSteps; from += interval {
		to := min(from+interval, lambdaSteps)
		lo, hi := float64(from)/lambdaSteps, float64(to)/lambdaSteps
		least := math.Inf(-1)
		if first := relevant(l, lo, n); len(first) == n {
			least = l.at(first[n-1], lo)
			for _, i := range first {
				least = min(least, l.at(i, hi))
			}
			least -= 1e-9 // rounding
		}
		few := new(lines)
		for i, w := range l.words {
			if max(l.at(i, lo), l.at(i, hi)) >= least {
				few.words, few.lift, few.slope = append(few.words, w), append(few.lift, l.lift[i]), append(few.slope, l.slope[i])
			}
		}
		for i := from; i < from+interval && i <= lambdaSteps; i++ {
			for _, at := range relevant(few, float64(i)/lambdaSteps, n) {
				out = append(out, few.words[at])
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// best returns those of 0…count−1 with the n largest values, in decreasing order, ties by
// number, without those of value NaN.
func best(count, n int, value func(i int) float64) []int {
	return slices.DeleteFunc(vec.Top(count, n, value), func(i int) bool { return math.IsNaN(value(i)) })
}
