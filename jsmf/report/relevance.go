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

// unigram returns p(word): the marginals over their sum. A word that is not
// positive gets 0.
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
	word  int
	score float64
}

// relevant returns the n words of topic k with the largest relevance λ log p(w|k) +
// (1−λ) log(p(w|k)/p(w)), in its order, equal ones by their number. Words without
// a probability in the topic or at all have none.
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
		best = slices.Insert(best, at, scored{w, s})
		if len(best) > n {
			best = best[:n]
		}
	}
	return best
}

// lines are the relevances of a topic's words as functions of λ: straight lines
// from log lift with the slope log p(w).
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
// the topic for some place of the slider. The others are never seen. O(lambdaSteps·N).
func candidates(l *lines, n int) []int {
	var out []int
	for i := range lambdaSteps + 1 {
		for _, s := range relevant(l, float64(i)/lambdaSteps, n) {
			out = append(out, s.word)
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

// order returns 0…n−1 by falling value, NaN last, equal ones by their number.
func order(n int, value func(i int) float64) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
	return out
}
