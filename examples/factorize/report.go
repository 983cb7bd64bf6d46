package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/jsmf-go/spectral/internal/console"
	"github.com/jsmf-go/spectral/jsmf"
)

// report prints a result for people.
func report(w io.Writer, o options, m *jsmf.Model, r *result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "K = %d topics: %d words, %d documents, %d tokens\n", r.K, r.Corpus.N, r.Corpus.M, r.Corpus.Tokens)
	fmt.Fprintf(t, "%s\n", strings.Join(m.Provenance().Stages, ", "))
	if r.RectifyReason != "" {
		fmt.Fprintf(t, "chosen because: %s\n", r.RectifyReason)
	}
	fmt.Fprintln(t)
	head, anchors := "   \tshare\tname\tanchor\ttop words", m.Anchors()
	if anchors == nil {
		head = "   \tshare\tname\ttop words"
	}
	fmt.Fprintln(t, head)
	for k, x := range r.Topics {
		name := x.Name
		if x.Background {
			name += " (background)"
		}
		fmt.Fprintf(t, "%3d\t%4.1f%%\t%s\t", k, 100*float64(x.Share), name)
		if anchors != nil {
			anchor := r.Anchors[k].Word
			if f := r.Anchors[k].Facet; f != nil {
				anchor = strings.Join(f, "+")
			}
			fmt.Fprintf(t, "%s\t", anchor)
		}
		fmt.Fprintln(t, strings.Join(x.Words[:min(10, len(x.Words))], " "))
	}
	t.Flush()
	fmt.Fprintln(w)
	if r.Tree != nil {
		fmt.Fprintf(w, "The topics were split from these:\n%v\n\n", m.Cut(0))
	}
	if r.Hierarchy != nil {
		if err := reportLevels(w, r.K, r.Hierarchy); err != nil {
			return err
		}
	}
	if r.Alpha != nil {
		if err := r.Alpha.report(w); err != nil {
			return err
		}
	}
	fmt.Fprintln(t, "metric\tmean\tstd")
	for _, x := range r.Metrics.Keyed() {
		fmt.Fprintf(t, "%s\t%s", x.Key, console.Number("%.6g", x.Mean))
		if !x.Single {
			fmt.Fprint(t, console.Number("\t%.4g", x.Std))
		}
		fmt.Fprintln(t)
	}
	if m.Anchors() != nil {
		fmt.Fprintf(t, "mean objective\t%.6g\n", float64(r.ObjectiveMean))
	}
	if r.Refine != nil {
		h := r.Refine.LogLik
		fmt.Fprintf(t, "log-likelihood a token before refinement\t%s\n", console.Number("%.6g", h[0]))
		fmt.Fprintf(t, "log-likelihood a token after it\t%s\n", console.Number("%.6g", h[len(h)-1]))
	}
	reportSeconds(t, m, r)
	if i := r.Infer; i != nil {
		fmt.Fprintf(t, "\ntopic proportions of %d documents by %s; %d unknown tokens, %d documents without a known word", i.Documents, i.Method, i.Unknown, i.NoTokens)
		if i.AllZero > 0 {
			fmt.Fprintf(t, ", %d without a topic above the threshold", i.AllZero)
		}
		fmt.Fprintln(t)
	}
	if r.PeakRSS > 0 {
		fmt.Fprintf(t, "\npeak memory %d MB\n", r.PeakRSS>>20)
	}
	fmt.Fprintln(t)
	return t.Flush()
}

// doubt returns a warning if the sum of A, which should be 1, is so far off that topics
// and correlations do not explain the corpus, and "" otherwise.
func doubt(legality float64) string {
	if legality >= 0.5 && legality <= 2 {
		return ""
	}
	return fmt.Sprintf("A sums to %.4g and not to about 1 (legality): the model does not fit. Anchors that are in very few documents do that; try -anchor-min-df, fewer words or another -rectify", legality)
}

// reportSeconds prints the stages that were run.
func reportSeconds(w io.Writer, m *jsmf.Model, r *result) {
	fmt.Fprintln(w, "\nstage\tseconds")
	s, anchored := r.Seconds, m.Anchors() != nil
	for _, x := range []struct {
		name string
		s    float64
		run  bool
	}{
		{"read", s.Read, true}, {"curate", s.Curate, true}, {"cooc", s.Cooc, true}, {"rectify", s.Rectify, true},
		{"anchors", s.Anchors, anchored}, {"recover", s.Recover, anchored}, {"topics", s.Topics, !anchored},
		{"refine", s.Refine, r.Refine != nil}, {"reading", s.Reading, r.Refine != nil}, {"metrics", s.Metrics, true}, {"infer", s.Infer, r.Infer != nil}, {"total", s.Total, true},
	} {
		if x.run {
			fmt.Fprintf(w, "%s\t%8.3f\n", x.name, x.s)
		}
	}
}
