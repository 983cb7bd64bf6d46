package jsmf

import (
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/console"
	"github.com/jsmf-go/spectral/internal/spread"
	"github.com/jsmf-go/spectral/internal/vec"
)

// some are the thirds by which numbers of topics are compared, and the pairs of their models.
type some struct{ thirds, pairs []int }

// pairs are the models of each pair. Those of the first two thirds have number 0.
var pairs = [3][2]int{{0, 1}, {0, 2}, {1, 2}}

var (
	known      = some{} // those that a number has models of
	everyThird = some{[]int{0, 1, 2}, []int{0, 1, 2}}
	twoThirds  = []some{{[]int{0, 1}, []int{0}}, {[]int{0, 2}, []int{1}}, {[]int{1, 2}, []int{2}}}
	oneThird   = some{[]int{0}, nil}
)

// first returns the first n thirds.
func first(n int) some { return [...]some{oneThird, twoThirds[0], everyThird}[n-1] }

// held returns which numbers have models of the first n thirds at least.
func (t *trial) held(n int) (of []int) {
	for i, x := range t.tries {
		if x.err == nil && len(x.models) >= n {
			of = append(of, i)
		}
	}
	return of
}

// common returns by how much one number predicts better than another, on the thirds that both have.
func (t *trial) common(a, b int) (mean, err float64) {
	x, y := t.tries[a], t.tries[b]
	return t.ahead(x.logs, y.logs, first(min(len(x.models), len(y.models))))
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
	var means spread.Spread
	for _, i := range s.thirds {
		x, n := vec.Sum(t.part(a, i))-vec.Sum(t.part(b, i)), vec.Sum(t.part(t.words, i))
		means.Add(x / n)
		sum, words, docs = sum+x, words+n, docs+float64(len(t.parts[i]))
	}
	mean = sum / words
	square := 0.0
	for _, i := range s.thirds {
		a, b, words := t.part(a, i), t.part(b, i), t.part(t.words, i)
		for d, n := range words {
			x := a[d] - b[d] - float64(mean*n)
			square += float64(x * x)
		}
	}
	if err = math.Sqrt(square*docs/(docs-1)) / words; len(s.thirds) > 1 {
		err = max(err, math.Sqrt(means.Variance()/float64(len(s.thirds))))
	}
	return mean, err
}

// share returns the share of the topics of a number that come back in some pairs of models, and its
// standard error: that over pairs, or that of as many topics that come back independently if it is
// larger. Without a pair they are 1 and 0.
func (x *try) share(s some) (mean, err float64) {
	if s.thirds == nil {
		s = first(len(x.models))
	}
	var of spread.Spread
	for _, p := range s.pairs {
		of.Add(x.back[p])
	}
	n := float64(len(s.pairs))
	if n == 0 {
		return 1, 0
	}
	mean = of.Mean()
	if n > 1 {
		err = math.Sqrt(of.Variance() / n)
	}
	return mean, max(err, math.Sqrt(mean*(1-mean)/(float64(x.K)*n)))
}

// most is the share of topics that must come back.
const most = 0.5

// best returns the number among of that predicts best.
func (t *trial) best(of []int) int {
	best := of[0]
	for range of { // once, but where numbers have not the same thirds
		was := best
		for _, i := range of {
			if ahead, _ := t.common(i, best); ahead > 0 {
				best = i
			}
		}
		if best == was {
			break
		}
	}
	return best
}

// holding returns the numbers among of with which half of the topics come back, if that many standard
// errors are added. All of them have these thirds, if these are not what each has (known).
func (t *trial) holding(of []int, s some, errors float64) (hold []int) {
	for _, i := range of {
		if share, err := t.tries[i].share(s); share+float64(errors*err) >= most {
			hold = append(hold, i)
		}
	}
	return hold
}

// choose returns the number among hold, all if there is none, to take, and those that predict best, with
// errors times as large. All of them have these thirds.
func (t *trial) choose(hold, all []int, s some, errors float64) (chosen int, among []int) {
	if len(hold) == 0 {
		hold = all
	}
	best := hold[0]
	for _, i := range hold {
		if ahead, _ := t.ahead(t.tries[i].logs, t.tries[best].logs, s); ahead > 0 {
			best = i
		}
	}
	chosen, largest := 0, math.Inf(-1)
	for _, i := range hold {
		behind, err := t.ahead(t.tries[best].logs, t.tries[i].logs, s)
		if behind > errors*err {
			continue
		}
		among = append(among, i)
		share, _ := t.tries[i].share(s)
		if more := (float64(2*share) - 1) * float64(t.tries[i].K); more > largest {
			chosen, largest = i, more
		}
	}
	return chosen, among
}

// sure is by how many standard errors another number must predict better on the thirds tried, for no
// more to be tried.
const sure = 3

// open reports whether number i may turn out to be the one to take, or one that cannot be told apart
// from it, when it is tried on more thirds.
func (t *trial) open(i int) bool {
	x := t.tries[i]
	if x.err != nil {
		return false
	}
	hold := t.holding(t.held(2), known, 0)
	switch share, err := x.share(known); {
	case hold == nil && len(x.models) < 2:
		return true // half of its topics may come back, as with no other
	case hold == nil:
		hold = t.held(2)
	case share+err < most:
		return false
	}
	return !slices.ContainsFunc(hold, func(j int) bool {
		ahead, err := t.common(j, i)
		return ahead > sure*err
	})
}

// near returns the number to take by what is known, and those that cannot be told apart from it. They
// are none until a number has two models.
func (t *trial) near() (chosen int, among []int) {
	n := 3
	for i, x := range t.tries {
		if len(x.models) == 2 && t.open(i) {
			n = 2
		}
	}
	of := t.held(n)
	if len(of) == 0 {
		return -1, nil
	}
	chosen, _ = t.choose(t.holding(of, first(n), 0), of, first(n), 1)
	_, among = t.choose(t.holding(of, first(n), 1), of, first(n), 2)
	return chosen, append(among, chosen)
}

// surely returns the numbers with which half of the topics come back if one standard error fewer do.
// With one model as many come back as between the next numbers with more.
func (t *trial) surely() (out []int) {
	two := t.held(2)
	for _, i := range t.held(1) {
		share, err := t.tries[i].share(known)
		if at, found := slices.BinarySearch(two, i); !found {
			near := []int{two[max(0, at-1)], two[min(at, len(two)-1)]}
			var shares, logs [2]float64
			for j, n := range near {
				shares[j], _ = t.tries[n].share(known)
				logs[j] = arith.Log(float64(t.tries[n].K) / float64(t.tries[i].K))
			}
			share = shares[0]
			if near[0] < near[1] {
				share -= (shares[1] - shares[0]) * logs[0] / (logs[1] - logs[0])
			}
			err = math.Sqrt(share * (1 - share) / float64(t.tries[i].K))
		}
		if share-err >= most {
			out = append(out, i)
		}
	}
	return out
}

// sweep sums up what was tried. given says that the caller chose the numbers.
func (t *trial) sweep(given bool) *Sweep {
	s := &Sweep{Documents: len(t.words), Words: int(vec.Sum(t.words))}
	best, full := t.best(t.held(1)), t.held(3)
	chosen, among := t.near()
	share, _ := t.tries[chosen].share(known)
	for _, two := range twoThirds {
		if hold := t.holding(full, two, 0); len(hold) > 0 || share < most {
			k, _ := t.choose(hold, full, two, 1)
			among = append(among, k)
		}
	}
	if surely := t.surely(); len(surely) > 0 {
		among = append(among, t.best(surely))
	}
	if perhaps := t.holding(t.held(2), known, 2); share >= most {
		best := t.best(perhaps)
		for _, i := range perhaps {
			if behind, err := t.common(best, i); behind <= 2*err {
				among = append(among, i)
			}
		}
	}
	low, high := slices.Min(among), slices.Max(among)
	of := t.tries[t.best(full)]
	gain, gainErr := t.ahead(of.logs, t.alone, everyThird)
	topics := gain > 2*gainErr || share >= most
	for i, x := range t.tries {
		p := SweepPoint{K: x.K, Models: len(x.models), Time: x.took, Err: x.err}
		if x.err == nil {
			p.NPMI = x.npmi / float64(len(x.models))
			ahead, _ := t.common(i, chosen)
			p.PerWord = vec.Sum(t.tries[chosen].logs)/vec.Sum(t.words) + ahead
			if i != best {
				p.Behind, p.Error = t.common(best, i)
			}
			share, err := x.share(known)
			p.Back, p.BackError = share*float64(x.K), err*float64(x.K)
			if p.Models == 1 {
				p.Back, p.BackError = math.NaN(), math.NaN()
			}
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
		s.Why = console.Number("No topics: words of documents held out are predicted no better than by the frequencies of words alone (by %.4f ± %.4f of ln p a word with %d topics, the best), and fewer than half of the topics come back with each number tried.", gain, gainErr, of.K)
		return s
	}
	s.K, s.Low, s.High = t.tries[chosen].K, t.tries[low].K, t.tries[high].K
	half := func(i int) float64 { return math.Sqrt(float64(t.tries[i].K * t.tries[i+1].K)) }
	if low > 0 {
		s.Low = int(math.Ceil(half(low - 1)))
	}
	if high < len(t.tries)-1 {
		s.High = int(half(high))
	}
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
