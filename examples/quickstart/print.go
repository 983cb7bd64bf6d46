package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/internal/console"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/metrics"
)

func printSizes(w io.Writer, what string, raw *corpus.Corpus, m *jsmf.Model) {
	st := m.Stats().Corpus
	fmt.Fprintf(w, "%d topics in the %s\n", m.K(), what)
	fmt.Fprintf(w, "read      %7d documents, %8d tokens of %6d words\n", raw.NumDocs(), raw.Tokens(), raw.NumWords())
	fmt.Fprintf(w, "modelled  %7d documents, %8d tokens of %6d words\n", st.Documents, st.Tokens, st.Words)
	fmt.Fprintln(w, "Words in fewer than three documents are left out, and documents in which little is left.")
	for _, s := range m.Stats().Warnings {
		fmt.Fprintln(w, "warning:", cli.Flags(s))
	}
}

func printTopics(w io.Writer, m *jsmf.Model, top int) {
	fmt.Fprintln(w, "\nTOPICS")
	fmt.Fprintln(w, "The share is the average over the documents. A topic that is not sound has the reason in its line.")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "    \tshare\tname\twords")
	for _, x := range m.Summary(top) {
		var words []string
		if x.Verdict.Quality != metrics.Sound {
			words = append(words, fmt.Sprintf("(%v)", x.Verdict))
		}
		for _, word := range x.Words {
			words = append(words, word.Word)
		}
		fmt.Fprintf(t, "%4d\t%4.1f%%\t%s\t%s\n", x.Number, 100*x.Share, x.Name, strings.Join(words, " "))
	}
	t.Flush()
}

func printPairs(w io.Writer, m *jsmf.Model) {
	fmt.Fprintln(w, "\nSTRONGEST CORRELATIONS of topics over the documents")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, p := range m.CorrelatedPairs(10) {
		if !(p.Correlation > 0) {
			if i == 0 {
				fmt.Fprintln(t, "No two topics meet in documents more often than by chance.")
			}
			break // no more topics that seek each other's company
		}
		fmt.Fprintf(t, "%+.2f\t%4d\t%s\t%4d\t%s\n", p.Correlation, p.K, m.Name(p.K), p.L, m.Name(p.L))
	}
	t.Flush()
}

// explain says what the metrics are, in few words; package metrics has more.
var explain = map[string]string{
	"recovery":            "lower: do the anchors span the words?",
	"approximation":       "lower: do the topics give the co-occurrences back?",
	"legality":            "the sum of A: far from 1, the model does not fit",
	"validity":            "near 0: do topics and correlations agree on the shares?",
	"dominancy":           "how much is a topic by itself?",
	"entropy":             "lower: is a word at home in one topic?",
	"sparsity":            "higher: few words, not all of them?",
	"specificity":         "higher: more than the unigram?",
	"dissimilarity":       "higher, up to 20: different from one another?",
	"coherence":           "higher: do top words meet? frequent ones do",
	"npmi":                "higher: do top words meet more than by chance?",
	"basis_rank":          "lower: would a reader see the anchor?",
	"soft_basis_rank":     "lower: how improbable is it there?",
	"basis_quality_share": "higher: is the anchor foreign to the others? (1 without passes)",
}

func printMetrics(w io.Writer, r *metrics.Report) {
	fmt.Fprintln(w, "\nMETRICS")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tmean\tstd\t")
	for _, x := range r.Keyed() {
		why, core := explain[x.Key]
		if !core {
			continue
		}
		std := ""
		if !x.Single {
			std = console.Number("%.3g", x.Std)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", x.Key, console.Number("%.4g", x.Mean), std, why)
	}
	t.Flush()
}

// timer runs stages and notes how long they took.
type timer struct {
	rec func(jsmf.Event)
	all []report.Time
	own []report.Time // those of the program; the report has those of the fit from the model
}

func (t *timer) stage(name string, f func() (outcome string, err error)) error {
	d, err := cli.Stage(t.rec, name, f)
	x := report.Time{Stage: name, Duration: d}
	t.all, t.own = append(t.all, x), append(t.own, x)
	return err
}

// add adds the stages of a fit.
func (t *timer) add(st jsmf.Stats) {
	for _, s := range []jsmf.Stage{jsmf.StageCooc, jsmf.StageRectify, jsmf.StageAnchors, jsmf.StageRecover, jsmf.StageRefine} {
		t.all = append(t.all, report.Time{Stage: string(s), Duration: st.Durations[s]})
	}
}

func printTimes(w io.Writer, times []report.Time) {
	fmt.Fprintln(w, "\nTIME in seconds")
	for _, t := range times {
		fmt.Fprintf(w, "%-9s %7.3f\n", t.Stage, t.Duration.Seconds())
	}
}
