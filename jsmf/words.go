package jsmf

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/nanjson"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/metrics"
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
	var words []int
	if m.best != nil {
		words = m.best()[k]
	}
	if n > len(words) {
		words = vec.Top(m.n, n, func(i int) float64 { return ranks[i*m.k+k] })
	}
	out := make([]WordProb, 0, max(0, min(n, m.n)))
	for _, i := range words[:max(0, min(n, len(words)))] {
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

// makeBest returns the words of each topic that TopWords is mostly asked for.
func (m *Model) makeBest() [][]int {
	const usual = 100
	return vec.TopRows(m.n, m.k, usual, m.readingWeights().At)
}

func (m *Model) checkTopic(k int) {
	if k < 0 || k >= m.k {
		panic(fmt.Sprintf("jsmf: topic %d is not in [0, %d)", k, m.k))
	}
}

// Topic is what people see of a topic.
type Topic struct {
	Number     int              `json:"topic"`             // from 0, as everywhere
	Name       string           `json:"name"`              // Model.Name
	Share      float64          `json:"share"`             // p(topic), the mean over documents: Model.TopicShares
	Background bool             `json:"background"`        // Model.Background
	Anchor     string           `json:"anchor,omitempty"`  // the word of Model.Anchors; "" for a model without anchors
	Verdict    *metrics.Verdict `json:"verdict,omitempty"` // Additions.Verdicts; nil for a model without
	Words      []WordProb       `json:"words"`             // Model.TopWords
}

// MarshalJSON implements json.Marshaler. A number that JSON lacks becomes the string "NaN".
func (t Topic) MarshalJSON() ([]byte, error) { return nanjson.Marshal(t) }

// Summary returns what people see of each topic, with its n best words (TopWords).
func (m *Model) Summary(n int) []Topic {
	out := make([]Topic, m.k)
	names, shares, background := m.names(), m.TopicShares(), m.Background()
	for k := range out {
		out[k] = Topic{Number: k, Name: names[k], Share: shares[k], Background: background[k], Words: m.TopWords(k, n)}
		if m.anchors != nil {
			out[k].Anchor = m.Word(m.anchors[k])
		}
		if m.add.Verdicts != nil {
			v := m.add.Verdicts[k]
			out[k].Verdict = &v
		}
	}
	return out
}

// further returns those of Words that are not in the name, for lists that show both.
func (t Topic) further() []string {
	named := strings.Split(t.Name, nameSeparator)
	var out []string
	for _, w := range t.Words {
		if s := oneLine(w.Word); !slices.Contains(named, s) && !slices.Contains(named, strings.ReplaceAll(s, text.PhraseJoiner, " ")) {
			out = append(out, w.Word)
		}
	}
	return out
}

// Background reports for each topic whether it gathers words that most documents share, function
// words or the furniture of pages, instead of a subject. It is known of models that were refined on
// documents ([Pipeline.Refine]). A topic is background if it fills next to no document by itself:
// less than a tenth of it, and less than half of the median topic's part, comes from documents of
// which it has more than half (refine.Result.Alone), or all documents have about as much of it: it is
// spread over half of them, by E[θ]²/E[θ²] of its proportions θ. The documents that have its words,
// weighted as for reading, must be twice as many as for the median topic, too, and it must be spread
// over 1.4 times as many.
func (m *Model) Background() []bool {
	if m.background == nil {
		return make([]bool, m.k)
	}
	return slices.Clone(m.background)
}

// Size of the tables of Model.String and Sweep.String, for a screen of 24 lines of 100 columns.
const (
	tableLines = 24
	tableRows  = 20 // topics
	tableWidth = 100
	namesWidth = 60 // at most
)

// String returns a table of the model that fits on a screen of 24 lines and 100 columns: the topics
// with the largest shares, each with its name and further words, and the topics that correlate
// most, if any do.
func (m *Model) String() string {
	topics := m.Summary(tableWidth / 2)
	slices.SortStableFunc(topics, func(a, b Topic) int { return cmp.Compare(b.Share, a.Share) })
	topics = topics[:min(m.k, tableRows)]
	width := len("name")
	for _, t := range topics {
		width = max(width, utf8.RuneCountInString(clip(t.Name, namesWidth)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d topics over %d words", m.k, m.n)
	if d := m.stats.Corpus.Documents; d > 0 {
		fmt.Fprintf(&b, " from %d documents", d)
	}
	fmt.Fprintf(&b, "\n%5s  %6s  %-*s  further words", "topic", "share", width, "name")
	for _, t := range topics {
		b.WriteString("\n" + t.line(width))
	}
	if more := m.k - len(topics); more > 0 {
		fmt.Fprintf(&b, "\n… and %d more", more)
	}
	const telling = 0.05 // less is none, as far as a table goes
	var pairs []string
	for _, p := range m.CorrelatedPairs(3) {
		if p.Correlation >= telling {
			pairs = append(pairs, fmt.Sprintf("%d and %d (%+.2f)", p.K, p.L, p.Correlation))
		}
	}
	if pairs != nil {
		fmt.Fprintf(&b, "\nmost correlated: %s", strings.Join(pairs, ", "))
	}
	return b.String()
}

// line returns the topic in one line of a table whose names have the given width.
func (t Topic) line(width int) string {
	line := fmt.Sprintf("%5d  %5.1f%%  %-*s", t.Number, 100*t.Share, width, clip(t.Name, namesWidth))
	words := t.further()
	switch v := t.Verdict; {
	case v != nil && v.Quality != metrics.Sound:
		words = append([]string{"(" + v.String() + ")"}, words...)
	case v == nil && t.Background:
		words = append([]string{"(background)"}, words...)
	}
	for i, w := range words {
		next := " " + cmp.Or(oneLine(w), `""`)
		if i == 0 {
			next = " " + next
		}
		if utf8.RuneCountInString(line+next) > tableWidth {
			break
		}
		line += next
	}
	return strings.TrimRight(line, " ")
}

// clip returns s in one line of at most width characters, with "…" in place of the rest.
func clip(s string, width int) string {
	s = oneLine(s)
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return cut(s, width-1) + "…"
}
