package report

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// listed is a topic in the list for print and for browsers without scripts.
type listed struct {
	Number              int
	Name, Share, Anchor string
	Words               string
	Note                string // the verdict, where the topic is not sound; "" without
}

// list fills in the topics by share.
func (p *page) list(m *jsmf.Model) {
	topics, shares := m.Summary(12), toldShares(m)
	for _, k := range vec.Order(m.K(), func(k int) float64 { return shares[k].Value }) {
		t := topics[k]
		note := ""
		if v := p.verdicts[k]; t.Background {
			note = "background"
		} else if v != nil && v.Quality != metrics.Sound.String() {
			note = v.text(p.names)
		}
		p.Topics = append(p.Topics, listed{k, p.names[k], percent(shares[k].Value), p.word(t.Anchor), p.words(t.Words), note})
		p.HasBackground = p.HasBackground || t.Background
		// Words that reading weights rank do not have their probabilities for weights.
		p.HasReading = p.HasReading || slices.ContainsFunc(t.Words, func(w jsmf.WordProb) bool { return w.Weight != w.Prob })
	}
}

// wordList collects the words that the page needs; finish numbers them in the order
// of the model.
type wordList struct {
	m    *jsmf.Model
	word func(string) string // as it is shown
	p    []float64           // p(word)
	used []bool
	fix  []*int // numbers in the model, which finish replaces
}

func newWordList(m *jsmf.Model, p []float64, word func(string) string) *wordList {
	return &wordList{m: m, p: p, word: word, used: make([]bool, m.N())}
}

// add collects words. finish changes their numbers in place.
func (l *wordList) add(words []int) []int {
	for i, w := range words {
		l.used[w] = true
		l.fix = append(l.fix, &words[i])
	}
	return words
}

func (l *wordList) finish(d *data) {
	at := make([]int, len(l.used))
	breve := l.m.WordTopics()
	for w, ok := range l.used {
		if !ok {
			continue
		}
		at[w] = len(d.Words)
		d.Words = append(d.Words, l.word(l.m.Word(w)))
		d.P = append(d.P, number(l.p[w]))
		home := []number{}
		for _, k := range best(l.m.K(), 3, func(k int) float64 { return breve.At(w, k) }) {
			if b := breve.At(w, k); b >= 0.02 {
				home = append(home, number(k), number(math.Round(1000*b)/1000))
			}
		}
		d.Home = append(d.Home, home)
	}
	for _, w := range l.fix {
		*w = at[*w]
	}
	for k := range d.Topics {
		if t := &d.Topics[k]; t.Anchor >= 0 {
			t.Anchor = at[t.Anchor]
		}
	}
}

// topics returns what the script shows of the topics.
func (p *page) topics(m *jsmf.Model, shares []float64, used *wordList, o *Options) []topicData {
	b := mat.DenseCopyOf(m.Topics())
	anchors, groups := m.Anchors(), m.AnchorGroups()
	background := m.Background()
	out := make([]topicData, m.K())
	for k := range out {
		t := &out[k]
		t.Name, t.Background = p.names[k], background[k]
		t.Verdict = p.verdicts[k]
		t.Share, t.Anchor, t.P = number(shares[k]), -1, []number{}
		if anchors != nil {
			t.Anchor = anchors[k]
			used.used[t.Anchor] = true
			t.Rank = 1
			for i := range m.N() {
				if p, q := b.At(i, k), b.At(t.Anchor, k); p > q || p == q && i < t.Anchor {
					t.Rank++
				}
			}
		}
		if groups != nil {
			t.Group = used.add(groups[k])
		}
		read := []int{} // never null
		for _, w := range m.TopWords(k, o.TopWords) {
			read = append(read, w.Index)
			t.Weight = append(t.Weight, number(w.Weight))
		}
		words := append(slices.Clone(read), candidates(newLines(b, k, used.p), o.TopWords)...)
		slices.Sort(words)
		words = slices.Compact(words)
		t.Read = used.add(read)
		for _, w := range words {
			t.P = append(t.P, number(b.At(w, k)))
		}
		t.Words = used.add(words)
		if o.Documents != nil {
			t.Docs = p.documents(o, k)
		}
	}
	return out
}

// documents returns the documents with the largest shares of topic k, of those that topics
// explain.
func (p *page) documents(o *Options, k int) []docData {
	c := o.Documents
	var out []docData
	top := best(len(c.Docs), o.TopDocuments, func(d int) float64 {
		if !c.Explained(d) {
			return math.NaN()
		}
		return c.W.At(d, k)
	})
	for _, d := range top {
		shown := o.Describe(d)
		note := count(int64(c.Docs[d].Tokens)) + p.Say(" known {words}")
		if c.Labels != nil && c.Labels[d] != "" {
			note = atMost(c.Labels[d], 80) + " · " + note
		}
		out = append(out, docData{shown.Title, note, shown.Snippet, number(c.W.At(d, k)), -1, d})
	}
	return out
}

// foundWords is how many words, the most probable ones, the page has besides those that topics show.
const foundWords = 10000

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
