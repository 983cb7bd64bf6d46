package report

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/jsmf"
)

// lambdaSteps is how many steps the slider between lift (λ = 0) and probability
// (λ = 1) has.
const lambdaSteps = 100

// unigram returns p(word): the marginals, or 0 where they are negative, over their
// sum.
func unigram(m *jsmf.Model) []float64 {
	p := m.Marginals()
	sum := 0.0
	for i, c := range p {
		p[i] = max(c, 0)
		sum += p[i]
	}
	if sum > 0 {
		for i := range p {
			p[i] /= sum
		}
	}
	return p
}

// scored is a word with its relevance.
type scored struct {
	at    int // index into the lines
	word  int
	score float64
}

// relevant returns the n words with the largest relevance λ log p(w|k) +
// (1−λ) log(p(w|k)/p(w)), in decreasing order, ties by number.
func relevant(l *lines, lambda float64, n int) []scored {
	best := make([]scored, 0, n+1)
	for i, w := range l.words {
		s := l.lift[i] + lambda*l.slope[i]
		if len(best) == n && s <= best[n-1].score {
			continue
		}
		at := len(best)
		for at > 0 && best[at-1].score < s {
			at--
		}
		best = slices.Insert(best, at, scored{i, w, s})
		if len(best) > n {
			best = best[:n]
		}
	}
	return best
}

// lines are the relevances of a topic's words as functions of λ: straight lines
// that start at the log lift and have the slope log p(w). Words of probability 0
// have none.
type lines struct {
	words       []int
	lift, slope []float64
}

func newLines(b mat.Matrix, k int, logUnigram []float64) *lines {
	l := new(lines)
	for i, lc := range logUnigram {
		p := b.At(i, k)
		if p > 0 && !math.IsInf(lc, 0) {
			l.words = append(l.words, i)
			l.lift = append(l.lift, math.Log(p)-lc)
			l.slope = append(l.slope, lc)
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
			least = first[n-1].score
			for _, s := range first {
				least = min(least, l.lift[s.at]+hi*l.slope[s.at])
			}
			least -= 1e-9 // rounding
		}
		few := new(lines)
		for i, w := range l.words {
			if max(l.lift[i]+lo*l.slope[i], l.lift[i]+hi*l.slope[i]) >= least {
				few.words, few.lift, few.slope = append(few.words, w), append(few.lift, l.lift[i]), append(few.slope, l.slope[i])
			}
		}
		for i := from; i < from+interval && i <= lambdaSteps; i++ {
			for _, s := range relevant(few, float64(i)/lambdaSteps, n) {
				out = append(out, s.word)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func logs(p []float64) []float64 {
	out := make([]float64, len(p))
	for i, x := range p {
		out[i] = math.Log(x)
	}
	return out
}

// order returns 0…n−1 by decreasing value, NaN last, ties by number.
func order(n int, value func(i int) float64) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
	return out
}
