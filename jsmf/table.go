package jsmf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/metrics"
)

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
