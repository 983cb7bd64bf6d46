package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// print prints the answers.
func (a *answers) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", a.table.name, a.about())
	for _, s := range a.warnings() {
		fmt.Fprintf(w, "Note: %s.\n", cli.Flags(s))
	}
	a.printTopics(w)
	a.printEffects(w)
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
	s, short := fmt.Sprintf("%v.", a.documents), len(a.documents.texts)-a.corpus.NumDocs()
	if n := len(a.inspected.Duplicates); n > 0 {
		s, short = fmt.Sprintf("%s %s left out.", s, cli.Count(n, "repeats an earlier one and is", "repeat an earlier one and are")), short-n
	}
	if short > 0 {
		s = fmt.Sprintf("%s %s left out.", s, cli.Count(short, "has fewer than three different words and is", "have fewer than three different words and are"))
	}
	return s
}

func (a *answers) printTopics(w io.Writer) {
	topics, sound := a.model.Summary(8), 0
	for _, x := range topics {
		if x.Verdict.Quality == metrics.Sound {
			sound++
		}
	}
	fmt.Fprintf(w, "\nTOPICS: %d, of which %d are sound and %d stable.\n", len(topics), sound, a.uncertainty.Stable())
	if a.sweep != nil {
		fmt.Fprintln(w, a.sweep.Why)
	}
	u := a.uncertainty
	fmt.Fprintf(w, "The share is the average over %s, with its interval of %s.\n", a.documents.called, percent(u.Level))
	fmt.Fprintf(w, "The last number says in how many of %d new fits to reweighted %s the topic comes back: in three of four, it is stable.\n", u.Cold, a.documents.called)
	if s := u.Recovery(a.documents.called); s != "" {
		fmt.Fprintln(w, s)
	}
	slices.SortStableFunc(topics, func(x, y jsmf.Topic) int {
		bad := func(t jsmf.Topic) int { return int(min(t.Verdict.Quality, 1)) }
		return cmp.Or(cmp.Compare(bad(x), bad(y)), cmp.Compare(y.Share, x.Share))
	})
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	before := true
	for i, x := range topics {
		if good := x.Verdict.Quality == metrics.Sound; !good && (i == 0 || before) {
			t.Flush()
			fmt.Fprintln(w, "Not sound, and why:")
		}
		before = x.Verdict.Quality == metrics.Sound
		why := ""
		if !before {
			why = fmt.Sprintf("(%v) ", x.Verdict)
		}
		var words []string
		for _, word := range x.Words {
			if !strings.Contains(x.Name, readable(word.Word)) {
				words = append(words, word.Word)
			}
		}
		fmt.Fprintf(t, "%4d\t%s\t%s\t%.0f of %d\t%s%s\n", x.Number, x.Name, interval(u.Topics[x.Number].Share), u.Topics[x.Number].Stability*float64(u.Cold), u.Cold, why, readable(strings.Join(words, ", ")))
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
