package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// print prints the answers.
func (a *answers) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %v.\n", a.table.name, a.documents)
	for _, s := range a.inspected.Warnings {
		fmt.Fprintf(w, "Note: %s.\n", s)
	}
	for _, s := range a.model.Stats().Warnings {
		if !slices.Contains(a.inspected.Warnings, s) {
			fmt.Fprintf(w, "Note: %s.\n", s)
		}
	}
	a.printTopics(w)
}

func (a *answers) printTopics(w io.Writer) {
	k, sound := a.model.K(), 0
	for _, v := range a.measured.Verdicts {
		if v.Quality == metrics.Sound {
			sound++
		}
	}
	fmt.Fprintf(w, "\nTOPICS: %d, of which %d are sound.\n", k, sound)
	if a.sweep != nil {
		fmt.Fprintf(w, "%v. %s\n", a.sweep.Recommendation, a.sweep.Recommendation.Why)
	}
	u := a.uncertainty
	fmt.Fprintf(w, "The share is the part of all text, with the interval that holds it with a probability of %s.\n", percent(u.Level))
	fmt.Fprintf(w, "The last number says in how many of %d new fits to reweighted texts the topic comes back.\n", u.Cold)
	topics := a.model.Summary(8)
	slices.SortStableFunc(topics, func(x, y jsmf.Topic) int {
		bad := func(t jsmf.Topic) int { return int(min(a.measured.Verdicts[t.Number].Quality, 1)) }
		return cmp.Or(cmp.Compare(bad(x), bad(y)), cmp.Compare(y.Share, x.Share))
	})
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	before := true
	for i, x := range topics {
		v := a.measured.Verdicts[x.Number]
		if good := v.Quality == metrics.Sound; i > 0 && good != before {
			t.Flush()
			fmt.Fprintln(w, "Not sound, and why:")
		}
		before = v.Quality == metrics.Sound
		why := ""
		if !before {
			why = fmt.Sprintf("(%v) ", v)
		}
		var words []string
		for _, word := range x.Words {
			if !strings.Contains(x.Name, word.Word) {
				words = append(words, word.Word)
			}
		}
		fmt.Fprintf(t, "%4d\t%s\t%s\t%.0f of %d\t%s%s\n", x.Number, x.Name, interval(u.Topics[x.Number].Share), u.Topics[x.Number].Stability*float64(u.Cold), u.Cold, why, strings.Join(words, " "))
	}
	t.Flush()
}

// percent writes a share.
func percent(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }

// interval writes a share with its interval.
func interval(x jsmf.Interval) string {
	if math.IsNaN(x.Low) {
		return fmt.Sprintf("%.1f %%", 100*x.Value)
	}
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*x.Value, 100*x.Low, 100*x.High)
}
