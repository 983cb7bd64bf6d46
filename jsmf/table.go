package jsmf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Size of the table of Model.String, for a screen of 24 lines of 80 columns.
const (
	tableRows   = 18
	tableWidth  = 79
	anchorWidth = 16 // at most
)

// String returns a table of the model that fits on a screen: the topics with the
// largest shares, each with its anchor and its most probable words, and the
// topics that correlate most.
func (m *Model) String() string {
	shares := m.TopicShares()
	topics := make([]int, m.k)
	for k := range topics {
		topics[k] = k
	}
	slices.SortStableFunc(topics, func(k, l int) int { return cmp.Compare(shares[l], shares[k]) })
	more := max(0, m.k-tableRows)
	topics = topics[:m.k-more]

	anchors := make([]string, m.k) // empty without anchors
	width := 0
	for _, k := range topics {
		if m.anchors != nil {
			anchors[k] = cut(oneLine(m.Word(m.anchors[k])), anchorWidth)
			width = max(width, utf8.RuneCountInString(anchors[k]), len("anchor"))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d topics over %d words", m.k, m.n)
	if d := m.stats.Corpus.Documents; d > 0 {
		fmt.Fprintf(&b, " from %d documents", d)
	}
	head := ""
	if width > 0 {
		head = "anchor"
	}
	row := func(topic, share, anchor string, words ...string) {
		line := fmt.Sprintf("%5s  %6s", topic, share)
		if width > 0 {
			line += fmt.Sprintf("  %-*s", width, anchor)
		}
		for i, w := range words {
			next := " " + w
			if i == 0 {
				next = "  " + w
			}
			if utf8.RuneCountInString(line+next) > tableWidth {
				break
			}
			line += next
		}
		b.WriteString("\n" + line)
	}
	row("topic", "share", head, "top words")
	for _, k := range topics {
		var words []string
		for _, w := range m.TopWords(k, 20) {
			if w.Prob == 0 {
				break
			}
			shown := oneLine(w.Word)
			if shown == "" {
				shown = `""`
			}
			words = append(words, shown)
		}
		row(fmt.Sprint(k), fmt.Sprintf("%.1f%%", 100*shares[k]), anchors[k], words...)
	}
	if more > 0 {
		fmt.Fprintf(&b, "\nand %d topics of smaller share", more)
	}
	var pairs []string
	for _, p := range m.CorrelatedPairs(3) {
		pairs = append(pairs, fmt.Sprintf("%d and %d (%+.2f)", p.K, p.L, p.Correlation))
	}
	fmt.Fprintf(&b, "\nmost correlated: %s", strings.Join(pairs, ", "))
	return b.String()
}
