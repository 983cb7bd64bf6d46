package jsmf

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/jsmf-go/spectral/metrics"
)

// Vocabulary returns the N words, or nil if words have no names, as after a fit
// of a bare matrix. Word and Index then take their numbers for names: "0", "1", ….
func (m *Model) Vocabulary() []string { return slices.Clone(m.vocab) }

// Word returns the word with number i.
func (m *Model) Word(i int) string {
	if m.vocab != nil {
		return m.vocab[i]
	}
	if i < 0 || i >= m.n {
		panic(fmt.Sprintf("jsmf: word %d is not in [0, %d)", i, m.n))
	}
	return strconv.Itoa(i)
}

// Index returns the number of a word, the lowest if the vocabulary repeats it,
// and whether there is such a word. The first call builds a map.
func (m *Model) Index(word string) (int, bool) {
	if m.vocab != nil {
		i, ok := m.index()[word]
		return i, ok
	}
	if i, err := strconv.Atoi(word); err == nil && i >= 0 && i < m.n && strconv.Itoa(i) == word {
		return i, true
	}
	return 0, false
}

// WordProb is a word and its probability in a topic.
type WordProb struct {
	Index int     // number of the word
	Word  string  // the word
	Prob  float64 // p(word | topic)
}

// TopWords returns the n most probable words of topic k by decreasing
// probability, ties by number. It returns all N if n is larger, and none if n is
// not positive.
func (m *Model) TopWords(k, n int) []WordProb {
	m.checkTopic(k)
	n = max(0, min(n, m.n))
	var best []int
	if n > 0 && n <= m.n/16 {
		// Insertion into a short sorted list: once it holds the common words,
		// almost every word fails the first comparison.
		best = make([]int, 0, n+1)
		for i := range m.n {
			p := m.topics[i*m.k+k]
			if len(best) == n && p <= m.topics[best[n-1]*m.k+k] {
				continue
			}
			at := len(best)
			for at > 0 && m.topics[best[at-1]*m.k+k] < p {
				at--
			}
			best = slices.Insert(best, at, i)
			if len(best) > n {
				best = best[:n]
			}
		}
	} else if n > 0 {
		best = make([]int, m.n)
		for i := range best {
			best[i] = i
		}
		slices.SortStableFunc(best, func(a, b int) int {
			return cmp.Compare(m.topics[b*m.k+k], m.topics[a*m.k+k])
		})
		best = best[:n]
	}
	out := make([]WordProb, len(best))
	for j, i := range best {
		out[j] = WordProb{i, m.Word(i), m.topics[i*m.k+k]}
	}
	return out
}

func (m *Model) checkTopic(k int) {
	if k < 0 || k >= m.k {
		panic(fmt.Sprintf("jsmf: topic %d is not in [0, %d)", k, m.k))
	}
}

// Labels returns the n best words of each topic (0: 20) by a ranking: FREX, lift or
// relevance (metrics.ByFREX and so on), or one of the caller's own; nil ranks by
// probability. Words of probability 0 are left out, so that a topic may have
// fewer. Errors: n < 0, settings of the ranking out of range, and for lift and
// relevance a word of a topic whose marginal is not positive.
func (m *Model) Labels(r metrics.Ranking, n int) ([][]WordProb, error) {
	labels, err := metrics.RankWords(m.denseTopics(), m.Marginals(), r, n)
	if err != nil {
		return nil, wrap(err)
	}
	out := make([][]WordProb, len(labels))
	for k, l := range labels {
		out[k] = make([]WordProb, len(l))
		for i, x := range l {
			out[k][i] = WordProb{x.Word, m.Word(x.Word), x.Prob}
		}
	}
	return out, nil
}
