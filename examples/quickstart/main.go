// Quickstart finds the topics of a collection of texts and how they go
// together, prints them, and writes a report to look at in a browser.
//
// Without arguments it needs nothing but Go: the texts are the comments of the
// Go standard library.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -dir ~/notes -k 20
//
// It is also a program to copy from: read, curate, fit, look at the model,
// evaluate, find the documents of topics, report, save. Interrupted by Ctrl-C it ends within
// one step of work.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/metrics"
)

func main() { cli.Main(run) }

// run is the program; it returns the exit status: 0, 1 for an error, 2 for
// wrong usage, 130 when interrupted.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	out := bufio.NewWriter(stdout)
	err = quickstart(ctx, o, out, stderr)
	if err == nil {
		err = out.Flush()
	}
	return cli.Status("quickstart", stderr, err)
}

type options struct {
	dir, ext, goroot, stop, save, report string
	topics, words, top                   int
	quiet                                bool
}

func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.dir, "dir", "", "read the text files of this `folder`, one document a file, instead of the Go source")
	f.StringVar(&o.ext, "ext", "", "with -dir: only files with these `extensions`, as .txt,.md (default all)")
	f.StringVar(&o.goroot, "goroot", "", "the Go installation, a `folder` (default that of go env GOROOT)")
	f.StringVar(&o.stop, "stop", "", "a `file` of further stop words, one a line")
	f.IntVar(&o.topics, "k", 30, "the number of topics")
	f.IntVar(&o.words, "n", 5000, "the vocabulary: at most so many words, the best by tf-idf")
	f.IntVar(&o.top, "top", 10, "how many words to print for a topic")
	f.StringVar(&o.save, "save", "", "save the model to this `file`")
	f.StringVar(&o.report, "report", "", "write the report, an HTML page, to this `file`; \"none\" for no report (default a new file in the folder for temporary ones)")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress")
	f.Usage = func() {
		fmt.Fprintln(stderr, "Usage: quickstart [flags]\nFinds the topics of the Go standard library's comments, or of a folder of text files.")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var wrong string
	switch {
	case f.NArg() > 0:
		wrong = fmt.Sprintf("unexpected argument %q", f.Arg(0))
	case o.topics < 2:
		wrong = fmt.Sprintf("-k %d: want at least 2 topics", o.topics)
	case o.words < o.topics:
		wrong = fmt.Sprintf("-n %d: want at least as many words as topics, %d", o.words, o.topics)
	case o.top < 1:
		wrong = fmt.Sprintf("-top %d: want at least 1", o.top)
	case o.dir != "" && o.goroot != "":
		wrong = "-dir and -goroot exclude each other"
	case o.dir == "" && o.ext != "":
		wrong = "-ext goes with -dir"
	}
	if wrong != "" {
		fmt.Fprintf(stderr, "quickstart: %s (see -help)\n", wrong)
		return o, errors.New(wrong)
	}
	return o, nil
}

func quickstart(ctx context.Context, o options, w io.Writer, stderr io.Writer) error {
	begun := time.Now()
	rec := jsmf.NewPrinter(stderr)
	if o.quiet {
		rec = func(jsmf.Event) {}
	}

	// What to read, and which words to keep of it.
	var src corpus.Source
	var what, title string
	var describe func(id string) report.Document // what the report shows of a document
	cur := corpus.Curation{StopWords: text.EnglishStopWords(), Words: o.words}
	if o.dir != "" {
		dir := corpus.Dir{Path: o.dir, ReplaceInvalid: true}
		if o.ext != "" {
			dir.Ext = strings.Split(o.ext, ",")
		}
		src, what, title = dir, "text files in "+o.dir, "Topics of "+folderName(o.dir)
		describe = func(id string) report.Document { return textFile(o.dir, id) }
		cur.MinDocs = 3      // a word that few documents have tells little about what goes together
		cur.MaxDocShare = .5 // and neither does one that most have
	} else {
		root := o.goroot
		if root == "" {
			var err error
			if root, err = goroot(ctx); err != nil {
				return err
			}
		}
		root = filepath.Join(root, "src")
		src, what, title = goSource{root, proseTokenizer{}}, "comments of the Go files in "+root, "Topics of Go’s standard library"
		describe = func(id string) report.Document { return goFile(root, id) }
		cur.StopWords = append(cur.StopWords, goProse()...)
		// Comments have a small vocabulary and an even style: words that are
		// in a tenth of the files do not tell one from another.
		cur.MinDocShare, cur.MaxDocShare = .005, .1
		cur.MinTokens = 20 // less is not about anything yet
	}
	if o.stop != "" {
		more, err := corpus.ReadStopWords(ctx, o.stop)
		if err != nil {
			return err
		}
		cur.StopWords = append(cur.StopWords, more...)
	}

	var raw, c *corpus.Corpus
	var curated *corpus.CurationReport
	var m *jsmf.Model
	var measured *metrics.Report
	var times []timing
	stage := func(name string, f func() (string, error)) error {
		d, err := cli.Stage(rec, name, f)
		times = append(times, timing{name, d})
		return err
	}
	if err := stage("read", func() (out string, err error) {
		if raw, err = corpus.Read(ctx, watched{src, rec, "read"}); err != nil {
			return "", err
		}
		return fmt.Sprintf("%d documents, %d tokens", raw.NumDocs(), raw.Tokens()), nil
	}); err != nil {
		return err
	}
	if err := stage("curate", func() (out string, err error) {
		if c, curated, err = corpus.Curate(raw, cur); err != nil {
			return "", err
		}
		return fmt.Sprintf("%d documents, %d tokens of %d words", c.NumDocs(), c.Tokens(), c.NumWords()), nil
	}); err != nil {
		if curated != nil {
			err = fmt.Errorf("%w\n%v", err, curated) // where they all went
		}
		return err
	}

	// Anchor words stand for topics. Those in at least 1 % of the documents
	// are known to more than a few authors.
	p := jsmf.New(o.topics).Anchors(anchor.QR{MinDocFraction: 0.01}).Record(rec)
	m, err := p.Fit(ctx, c)
	if err != nil {
		return err
	}
	st := m.Stats()
	times = append(times, timing{"cooc", st.Cooc.Duration}, timing{"rectify", st.Rectify.Duration},
		timing{"anchors", st.Anchors.Duration}, timing{"recover", st.Recover.Duration})
	if err := stage("evaluate", func() (out string, err error) {
		measured, err = p.Evaluate(ctx, m, c)
		return "", err
	}); err != nil {
		return err
	}
	if o.save != "" {
		if err := m.Save(o.save); err != nil {
			return err
		}
	}
	var where string
	if o.report != "none" {
		if err := stage("report", func() (string, error) {
			docs, err := m.Transform(ctx, c.Source())
			if err != nil {
				return "", err
			}
			opts := report.Options{
				Title: title, About: "What the " + what + " are about.", Curation: curated, Metrics: measured,
				Documents: docs, Describe: func(m int) report.Document { return describe(docs.IDs[m]) },
			}
			for _, t := range times {
				if t.stage == "read" || t.stage == "curate" || t.stage == "evaluate" { // the others are in the model
					opts.Times = append(opts.Times, report.Time{Stage: t.stage, Duration: t.d})
				}
			}
			where, err = writeReport(o.report, m, opts)
			return where, err
		}); err != nil {
			return err
		}
	}
	times = append(times, timing{"total", time.Since(begun)})

	fmt.Fprintf(w, "%d topics in the %s\n", m.K(), what)
	fmt.Fprintf(w, "read      %7d documents, %8d tokens of %6d words\n", raw.NumDocs(), raw.Tokens(), raw.NumWords())
	fmt.Fprintf(w, "modelled  %7d documents, %8d tokens of %6d words\n", st.Corpus.Documents, st.Corpus.Tokens, st.Corpus.Words)
	fmt.Fprintln(w, "Stop words, rare and very frequent words are left out, and documents in which little is left.")
	printTopics(w, m, o.top)
	printPairs(w, m)
	printMetrics(w, measured)
	printTimes(w, times)
	if where != "" {
		fmt.Fprintf(w, "\nThe report, to open in a browser: %s\n", where)
	}
	if o.save != "" {
		fmt.Fprintf(w, "\nSaved to %s; jsmf.LoadModel reads it.\n", o.save)
	}
	return nil
}

// watched is a Source that reports how many documents have been read.
type watched struct {
	corpus.Source
	rec   func(jsmf.Event)
	stage jsmf.Stage
}

func (s watched) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		begun, n := time.Now(), 0
		for d, err := range s.Source.Docs(ctx) {
			if err == nil {
				n++
				s.rec(jsmf.Event{Stage: s.stage, Kind: jsmf.EventProgress, Done: n, Elapsed: time.Since(begun)})
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

func printTopics(w io.Writer, m *jsmf.Model, top int) {
	fmt.Fprintln(w, "\nTOPICS, the most distinct first")
	fmt.Fprintln(w, "The anchor is a word of this topic alone; the share is the part of all text.")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "    \tshare\tanchor\ttop words")
	shares, anchors := m.TopicShares(), m.AnchorWords()
	for k := range m.K() {
		fmt.Fprintf(t, "%4d\t%4.1f%%\t%s\t%s\n", k+1, 100*shares[k], anchors[k], topWords(m, k, top))
	}
	t.Flush()
}

func topWords(m *jsmf.Model, k, n int) string {
	var words []string
	for _, w := range m.TopWords(k, n) {
		words = append(words, w.Word)
	}
	return strings.Join(words, " ")
}

func printPairs(w io.Writer, m *jsmf.Model) {
	fmt.Fprintln(w, "\nSTRONGEST CORRELATIONS of topics over the documents")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range m.CorrelatedPairs(10) {
		if !(p.Correlation > 0) {
			break // no more topics that seek each other's company
		}
		fmt.Fprintf(t, "%+.2f\t%4d\t%s\t%4d\t%s\n", p.Correlation, p.K+1, topWords(m, p.K, 4), p.L+1, topWords(m, p.L, 4))
	}
	t.Flush()
}

// explain says what the metrics are, in the words of package metrics.
var explain = map[string]string{
	"recovery":        "lower: do the anchors span the words?",
	"approximation":   "lower: does the product give C back?",
	"legality":        "near 1: is A a joint distribution?",
	"validity":        "near 0: do A and B̆ agree on p(topic)?",
	"dominancy":       "how much is a topic by itself?",
	"entropy":         "lower: is a word at home in one topic?",
	"sparsity":        "higher: few words or all of them?",
	"specificity":     "higher: more than the unigram?",
	"dissimilarity":   "higher, up to 20: different from one another?",
	"coherence":       "higher, but see package metrics",
	"npmi":            "higher: do top words meet more than by chance?",
	"basis_rank":      "lower: would a reader see the anchor?",
	"soft_basis_rank": "lower: how improbable is it there?",
	"basis_quality":   "higher: is the anchor foreign to the others?",
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
			std = fmt.Sprintf("%.3g", x.Std)
		}
		fmt.Fprintf(t, "%s\t%.4g\t%s\t%s\n", x.Key, x.Mean, std, why)
	}
	t.Flush()
}

type timing struct {
	stage string
	d     time.Duration
}

func printTimes(w io.Writer, times []timing) {
	fmt.Fprintln(w, "\nTIME in seconds")
	for _, t := range times {
		fmt.Fprintf(w, "%-9s %7.3f\n", t.stage, t.d.Seconds())
	}
}
