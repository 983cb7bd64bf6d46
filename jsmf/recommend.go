package jsmf

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/jsmf-go/spectral/internal/console"
)

// some are the thirds by which numbers of topics are compared, and the pairs of their models.
type some struct{ thirds, pairs []int }

var (
	everyThird = some{[]int{0, 1, 2}, []int{0, 1, 2}}
	twoThirds  = []some{{[]int{0, 1}, []int{0}}, {[]int{0, 2}, []int{1}}, {[]int{1, 2}, []int{2}}}
)

// scored returns which numbers have models.
func (t *trial) scored() (of []int) {
	for i, x := range t.tries {
		if x.err == nil {
			of = append(of, i)
		}
	}
	return of
}

// part returns the entries of documents of one third.
func (t *trial) part(x []float64, third int) []float64 {
	from := 0
	for _, p := range t.parts[:third] {
		from += len(p)
	}
	return x[from : from+len(t.parts[third])]
}

// ahead returns by how much the mean of ln p a word under a is above that under b on some thirds, and
// the standard error: of the ratio over documents, whose scores are paired, or of the mean over
// thirds if that is larger.
func (t *trial) ahead(a, b []float64, s some) (mean, err float64) {
	sum, words, docs := 0.0, 0.0, 0.0
	var means []float64
	for _, i := range s.thirds {
		x, n := floats.Sum(t.part(a, i))-floats.Sum(t.part(b, i)), floats.Sum(t.part(t.words, i))
		means = append(means, x/n)
		sum, words, docs = sum+x, words+n, docs+float64(len(t.parts[i]))
	}
	mean = sum / words
	square := 0.0
	for _, i := range s.thirds {
		a, b, words := t.part(a, i), t.part(b, i), t.part(t.words, i)
		for d, n := range words {
			x := a[d] - b[d] - mean*n
			square += x * x
		}
	}
	return mean, max(math.Sqrt(square*docs/(docs-1))/words, stat.StdDev(means, nil)/math.Sqrt(float64(len(means))))
}

// share returns the share of the topics of a number that come back in some pairs of models, and its
// standard error, 0 for one pair.
func (x *try) share(s some) (mean, err float64) {
	var of []float64
	for _, p := range s.pairs {
		of = append(of, x.back[p])
	}
	if mean = stat.Mean(of, nil); len(of) > 1 {
		err = stat.StdErr(stat.StdDev(of, nil), float64(len(of)))
	}
	return mean, err
}

// most is the share of topics that must come back.
const most = 0.5

// holds reports whether that many topics of number i come back.
func (t *trial) holds(i int) bool {
	share, _ := t.tries[i].share(everyThird)
	return share >= most
}

// best returns the number among of with the largest scores on some thirds.
func (t *trial) best(of []int, s some) int {
	best := of[0]
	for _, i := range of[1:] {
		if ahead, _ := t.ahead(t.tries[i].logs, t.tries[best].logs, s); ahead > 0 {
			best = i
		}
	}
	return best
}

// choose returns the number to take, and those that predict best among the ones whose topics come
// back, all if there are none, with errors times as large.
func (t *trial) choose(s some, errors float64) (chosen int, among []int) {
	var hold []int
	for _, i := range t.scored() {
		if share, err := t.tries[i].share(s); share+(errors-1)*err >= most {
			hold = append(hold, i)
		}
	}
	if len(hold) == 0 {
		hold = t.scored()
	}
	best := t.best(hold, s)
	chosen, largest := 0, math.Inf(-1)
	for _, i := range hold {
		behind, err := t.ahead(t.tries[best].logs, t.tries[i].logs, s)
		if behind > errors*err {
			continue
		}
		among = append(among, i)
		share, _ := t.tries[i].share(s)
		if more := (2*share - 1) * float64(t.tries[i].K); more > largest {
			chosen, largest = i, more
		}
	}
	return chosen, among
}

// sweep sums up what was tried. given says that the caller chose the numbers.
func (t *trial) sweep(given bool) *Sweep {
	s := &Sweep{Documents: len(t.words), Words: int(floats.Sum(t.words))}
	best := t.best(t.scored(), everyThird)
	chosen, _ := t.choose(everyThird, 1)
	_, among := t.choose(everyThird, 2)
	for _, two := range twoThirds {
		k, _ := t.choose(two, 1)
		among = append(among, k)
	}
	among = append(among, chosen)
	low, high := slices.Min(among), slices.Max(among)
	gain, gainErr := t.ahead(t.tries[best].logs, t.alone, everyThird)
	topics := gain > 2*gainErr || t.holds(chosen)
	for i := range t.tries {
		x := &t.tries[i]
		p := SweepPoint{K: x.K, NPMI: x.npmi, Time: x.took, Err: x.err}
		if x.err == nil {
			p.PerWord = floats.Sum(x.logs) / floats.Sum(t.words)
			if i != best {
				p.Behind, p.Error = t.ahead(t.tries[best].logs, x.logs, everyThird)
			}
			share, err := x.share(everyThird)
			p.Back, p.BackError = share*float64(x.K), err*float64(x.K)
			switch {
			case topics && i == chosen:
				p.Why = "recommended"
			case topics && low <= i && i <= high:
				p.Why = "cannot be told apart"
			case share < most:
				p.Why = "fewer than half come back"
			default:
				p.Why = "predicts worse"
			}
		}
		s.Points = append(s.Points, p)
	}
	if !topics {
		s.Why = console.Number("No topics: words of documents held out are predicted no better than by the frequencies of words alone (by %.4f ± %.4f of ln p a word with %d topics, the best), and fewer than half of the topics come back with each number tried.", gain, gainErr, t.tries[best].K)
		return s
	}
	s.K, s.Low, s.High = t.tries[chosen].K, t.tries[low].K, t.tries[high].K
	s.Why = s.why(s.Points[chosen], s.Points[best], given)
	return s
}

// why says what is recommended and how sure it is.
func (s *Sweep) why(x, best SweepPoint, given bool) string {
	last := s.Points[len(s.Points)-1].K
	out := fmt.Sprintf("K = %d", s.K)
	switch {
	case len(s.Points) == 1:
		out += ", the only number tried"
	case s.K == last && given:
		out += ", the largest number tried: more may do better"
	case s.K == last:
		out += ", the largest number that is tried for so many documents: more may do better"
	case s.K == s.Points[0].K:
		out += ", the smallest number tried: fewer may do"
	}
	switch {
	case s.Low < s.High:
		out += fmt.Sprintf(" (%d to %d cannot be told apart).", s.Low, s.High)
	case len(s.Points) > 1:
		out += " (no other number tried is as good)."
	default:
		out += "."
	}
	out += fmt.Sprintf(" Of %d topics %.0f are sound and come back when other documents are held out", s.K, x.Back)
	if x.Back < most*float64(x.K) {
		out += ": fewer than half, as with all numbers tried"
	}
	out += "."
	if best.K != s.K {
		out += console.Number(" Words of documents held out are predicted best with %d topics, by %.4f ± %.4f of ln p a word", best.K, x.Behind, x.Error)
		if best.Back < most*float64(best.K) {
			out += fmt.Sprintf(", but only %.0f of these come back", best.Back)
		}
		out += "."
	}
	return out
}
