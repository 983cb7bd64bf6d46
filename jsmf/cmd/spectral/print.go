package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/metrics"
)

// print prints the answers.
func (a *answers) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", a.table.name, a.about())
	for _, s := range a.warnings() {
		fmt.Fprintf(w, "Note: %s.\n", fields.Replace(s))
	}
	for _, s := range a.model.Stats().Edited.Splits {
		if s.BorneOut() {
			fmt.Fprintf(w, "Note: %v.\n", s)
		}
	}
	a.printFindings(w)
	a.printTopics(w)
	a.printEffects(w)
	a.printWording(w)
}

// warnings returns the warnings of the inspection and of the fit, without those about copies, which
// are left out by then, and those that the fit repeats with other numbers.
func (a *answers) warnings() []string {
	out := slices.Clone(a.table.notes)
	said := map[string]bool{}
	for _, s := range append(slices.Clone(a.inspected.Warnings), a.model.Stats().Warnings...) {
		key := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, s)
		if !said[key] && !strings.Contains(s, "DropDuplicates") {
			out = append(out, s)
		}
		said[key] = true
	}
	return out
}

// about says what the documents are, and how many are left out.
func (a *answers) about() string {
	s, short := fmt.Sprintf("%v.", a.documents), a.documents.n-a.corpus.NumDocs()
	if n := len(a.inspected.Duplicates); n > 0 {
		s, short = fmt.Sprintf("%s %s left out.", s, count(n, "repeats an earlier one and is", "repeat an earlier one and are")), short-n
	}
	if short > 0 {
		s = fmt.Sprintf("%s %s left out.", s, count(short, "has fewer than three different words and is", "have fewer than three different words and are"))
	}
	return s
}

// printFindings prints the sentences with which the report begins.
func (a *answers) printFindings(w io.Writer) {
	printFindings(w, a.model, a.shown(nil))
}

func printFindings(w io.Writer, m *jsmf.Model, o report.Options) {
	found, err := report.Findings(m, o)
	if err != nil || len(found) == 0 {
		return // the report says the error
	}
	fmt.Fprintln(w, "\nFINDINGS")
	for _, f := range found {
		fmt.Fprintf(w, "- %s\n", f.Text)
	}
}

func (a *answers) printTopics(w io.Writer) {
	if a.sweep != nil {
		fmt.Fprintf(w, "\n%s\n", a.sweep.Why)
	}
	printTopics(w, a.model, a.documents.called, 8)
}

// printTopics prints a line a topic, the sound ones first, each with as many words.
func printTopics(w io.Writer, m *jsmf.Model, documents string, words int) {
	topics, u := m.Summary(words), m.Additions().Uncertainty
	sound := 0
	isSound := func(x jsmf.Topic) bool { return x.Verdict == nil || x.Verdict.Quality == metrics.Sound }
	for _, x := range topics {
		if isSound(x) {
			sound++
		}
	}
	fmt.Fprintf(w, "\nTOPICS: %d", len(topics))
	if m.Additions().Verdicts != nil {
		fmt.Fprintf(w, ", of which %d are sound", sound)
		if u.Judges() {
			fmt.Fprintf(w, " and %d stable", u.Stable())
		}
	}
	fmt.Fprintf(w, ".\nThe share is the average over %s", documents)
	if u != nil {
		fmt.Fprintf(w, ", with its interval of %s.\n", percent(u.Level))
		if u.Cold > 0 {
			stable := "in three of four, it is stable"
			if !u.Judges() {
				stable = "these are too few to call one stable"
			}
			fmt.Fprintf(w, "The last number says in how many of %d new fits to reweighted %s the topic comes back: %s.\n", u.Cold, documents, stable)
		}
		if s := u.Recovery(documents); s != "" {
			fmt.Fprintln(w, s)
		}
	} else {
		fmt.Fprintln(w, ".")
	}
	slices.SortStableFunc(topics, func(x, y jsmf.Topic) int {
		if isSound(x) != isSound(y) {
			return map[bool]int{true: -1, false: 1}[isSound(x)]
		}
		return cmp.Compare(y.Share, x.Share)
	})
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	before := true
	for i, x := range topics {
		good := isSound(x)
		if !good && (i == 0 || before) {
			t.Flush()
			fmt.Fprintln(w, "Not sound, and why:")
		}
		before = good
		why := ""
		if !good {
			why = fmt.Sprintf("(%v) ", x.Verdict)
		}
		var words []string
		for _, word := range x.Words {
			if !strings.Contains(x.Name, readable(word.Word)) {
				words = append(words, word.Word)
			}
		}
		share, back := short(x.Share), ""
		if u != nil {
			share = interval(u.Topics[x.Number].Share)
			if u.Cold > 0 {
				back = fmt.Sprintf("%.0f of %d", u.Topics[x.Number].Stability*float64(u.Cold), u.Cold)
			}
		}
		fmt.Fprintf(t, "%4d\t%s\t%s\t", x.Number, x.Name, share)
		if back != "" {
			fmt.Fprintf(t, "%s\t", back)
		}
		fmt.Fprintf(t, "%s%s\n", why, readable(strings.Join(words, ", ")))
	}
	t.Flush()
}

// readable writes the words of phrases apart.
func readable(s string) string { return strings.ReplaceAll(s, text.PhraseJoiner, " ") }

// percent writes a share.
func percent(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }

// short writes a share.
func short(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// interval writes a share with its interval.
func interval(x jsmf.Interval) string {
	return x.Text(func(v float64) string { return fmt.Sprintf("%.1f", 100*v) }, " %")
}
