package jsmf

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/jsmf-go/spectral/internal/vec"
)

// Vocabulary returns the N words, or nil if words have no names, as after a fit of a bare matrix.
// Word and Index then take their numbers for names: "0", "1", ….
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

// Index returns the number of a word, the lowest if the vocabulary repeats it, and whether there is
// such a word. The first call builds a map.
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

// WordProb is a word of a topic.
type WordProb struct {
	Index  int     `json:"index"`  // number of the word
	Word   string  `json:"word"`   // the word
	Prob   float64 `json:"prob"`   // p(word | topic)
	Weight float64 `json:"weight"` // what ranks it: that of Model.Reading in TopWords, or Prob without one
}

// TopWords returns the n words by which people recognise topic k, best first, ties by number: those
// of largest weight in Reading, or of largest probability where the model has no Reading, or none
// of the topic. Words of weight 0 are left out, so that a topic may have fewer; there are none if n
// is not positive.
func (m *Model) TopWords(k, n int) []WordProb {
	m.checkTopic(k)
	ranks := m.ranks(k)
	out := make([]WordProb, 0, max(0, min(n, m.n)))
	for _, i := range largest(ranks, m.n, m.k, k, n) {
		if !(ranks[i*m.k+k] > 0) {
			break
		}
		out = append(out, WordProb{i, m.Word(i), m.topics[i*m.k+k], ranks[i*m.k+k]})
	}
	return out
}

// ranks returns the N×K matrix by which the words of topic k are ranked: the reading weights, if
// the topic has any, or else the probabilities.
func (m *Model) ranks(k int) []float64 {
	for i := k; i < len(m.reading); i += m.k {
		if m.reading[i] > 0 {
			return m.reading
		}
	}
	return m.topics
}

// largest returns the row numbers of the n largest entries in column k of a rows×cols matrix,
// largest first, ties by number.
func largest(a []float64, rows, cols, k, n int) []int {
	return vec.Top(rows, n, func(i int) float64 { return a[i*cols+k] })
}

func (m *Model) checkTopic(k int) {
	if k < 0 || k >= m.k {
		panic(fmt.Sprintf("jsmf: topic %d is not in [0, %d)", k, m.k))
	}
}
