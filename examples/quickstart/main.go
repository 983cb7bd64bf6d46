// Quickstart finds the topics of a collection of texts and how they go
// together, prints them, and writes a report to look at in a browser.
//
// Without arguments it needs nothing but Go: the texts are the comments of the
// Go standard library. Topics are numbered from 0, as in the report and the model.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -dir ~/notes -k 20
//	go run ./examples/quickstart -csv reviews.csv -text review -id number -times date -categories shop,city -documents topics.csv
//	go run ./examples/quickstart -jsonl posts.jsonl.gz -text body.text -numbers score
//
// The kind of each column of metadata is given, not guessed. -documents writes a table of
// the topics and the metadata of each text, and a model that is saved keeps both.
//
// It is also a program to copy from: read, curate, fit, evaluate, find the
// documents of each topic, write the report, save. Ctrl-C ends it within one step
// of work.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/metrics"
)

func main() { cli.Main(run) }

// run is the program; it returns the exit status: 0, 1 for an error, 2 for
// wrong usage, 130 when interrupted.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("quickstart", args, stderr, parseFlags, func(o options) error {
		return cli.FlagError(cli.Buffered(stdout, func(out *bufio.Writer) error { return quickstart(ctx, o, out, stderr) }))
	})
}

type options struct {
	dir, ext, goroot, stop, save, report string
	csv, jsonl, comma, text, id, label   string
	numbers, times, layout               string
	categories, missing, documents       string
	encoding                             encoding.Encoding // of the texts; nil: UTF-8
	topics, top                          int
	strict, quiet                        bool
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	f.SetOutput(stderr)
	var files cli.Files
	f.StringVar(&o.dir, "dir", "", "read the text files of this `folder`, one document a file, instead of the Go source")
	f.StringVar(&o.ext, "ext", "", "with -dir: only files with these `extensions`, as .txt,.md (default all)")
	f.BoolVar(&o.strict, "strict", false, "with -dir: a file that cannot be read, such as a picture, is an error; otherwise such files are left out and\ncounted")
	cli.Encoding(f, &o.encoding)
	files.In(f, &o.csv, "csv", "read a `file` of comma-separated values, or of tabs if it ends in .tsv, one document a record")
	files.In(f, &o.jsonl, "jsonl", "read a `file` of JSON Lines, one document a line")
	f.StringVar(&o.comma, "comma", "", "with -csv: the `character` between the fields")
	f.StringVar(&o.text, "text", "", "with -csv and -jsonl: the `column` or field with the text, in JSON also a path such as body.text (default text)")
	f.StringVar(&o.id, "id", "", "the `column` with the ids")
	f.StringVar(&o.label, "label", "", "the `column` with the labels")
	f.StringVar(&o.numbers, "numbers", "", "`columns` of metadata that hold numbers, with commas between")
	f.StringVar(&o.times, "times", "", "`columns` that hold dates or times")
	f.StringVar(&o.layout, "layout", "", "how times are written, as the Go `layout` 2.1.2006 (default 2006-01-02, or RFC 3339)")
	f.StringVar(&o.categories, "categories", "", "`columns` that hold names of categories")
	f.StringVar(&o.missing, "missing", "", "`texts` in these columns that mean that there is no value, as NA,- (an empty one always does)")
	files.Out(f, &o.documents, "documents", "write the topics and the metadata of each document to this CSV `file`")
	f.StringVar(&o.goroot, "goroot", "", "the Go installation, a `folder` (default that of go env GOROOT)")
	files.In(f, &o.stop, "stop", "a `file` of words to leave out, one a line; none is needed")
	f.IntVar(&o.topics, "k", 30, "the number of topics")
	f.IntVar(&o.top, "top", 10, "how many words to print for a topic")
	files.Out(f, &o.save, "save", "save the model to this `file`")
	files.Report(f, &o.report)
	f.BoolVar(&o.quiet, "quiet", false, "show no progress")
	f.Usage = func() {
		fmt.Fprintln(stderr, "Usage: quickstart [flags]\nFinds the topics of the Go standard library's comments, of a folder of text files, or of a CSV or JSON Lines file.")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var wrong cli.Wrong
	bad := wrong.If
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	bad(o.topics < 2, "-k %d: want at least 2 topics", o.topics)
	bad(o.top < 1, "-top %d: want at least 1", o.top)
	sources := 0
	for _, s := range []string{o.dir, o.csv, o.jsonl, o.goroot} {
		if s != "" {
			sources++
		}
	}
	bad(sources > 1, "-dir, -csv, -jsonl and -goroot exclude each other")
	bad(o.csv == "" && o.comma != "", "-comma goes with -csv")
	bad(utf8.RuneCountInString(o.comma) > 1, "-comma %q: want one character", o.comma)
	bad(o.csv == "" && o.jsonl == "" && cmp.Or(o.text, o.id, o.label, o.numbers, o.times, o.categories) != "", "names of columns go with -csv and -jsonl")
	bad(o.layout != "" && o.times == "", "-layout goes with -times")
	bad(o.dir == "" && o.ext != "", "-ext goes with -dir")
	bad(o.dir == "" && o.strict, "-strict goes with -dir")
	bad(sources == 0 && o.encoding != nil || o.goroot != "" && o.encoding != nil, "-encoding goes with -dir, -csv and -jsonl; Go files are UTF-8")
	files.Check(&wrong, nil)
	return o, wrong.Err("quickstart", stderr)
}

func quickstart(ctx context.Context, o options, w io.Writer, stderr io.Writer) error {
	begun := time.Now()
	in, err := choose(ctx, o)
	if err != nil {
		return err
	}
	t := &timer{rec: cli.Progress(o.quiet, stderr)}

	raw, c, curated, err := read(ctx, in, t)
	if err != nil {
		return err
	}

	// Fit and measure.
	p := jsmf.New(o.topics).Record(t.rec)
	m, err := p.Fit(ctx, c)
	if err != nil {
		return err
	}
	t.add(m.Stats())
	var measured *metrics.Report
	if err := t.stage("evaluate", func() (_ string, err error) {
		if measured, err = p.Evaluate(ctx, m, c); err == nil {
			m, err = m.With(jsmf.Additions{Verdicts: measured.Verdicts})
		}
		return "", err
	}); err != nil {
		return err
	}

	// Keep it, and show it, with the topic proportions of each document.
	var docs *jsmf.Compositions
	if err := t.stage("documents", func() (_ string, err error) {
		docs, err = m.Transform(ctx, c.Source())
		return "", err
	}); err != nil {
		return err
	}
	// What was found is printed even if a file cannot be written.
	var where string
	failed := t.stage("write", func() (_ string, err error) {
		kept := keep(o, m, docs)
		where, err = cli.WriteReport(o.report, func(w io.Writer) error {
			return report.Write(w, m, report.Options{
				Title: in.title, About: "What the " + in.what + " are about.", Curation: curated, Metrics: measured, Times: t.own,
				Documents: docs, Describe: func(d int) report.Document { return in.describe(docs.IDs[d]) },
			})
		})
		return where, errors.Join(kept, err)
	})
	t.all = append(t.all, report.Time{Stage: "total", Duration: time.Since(begun)})

	printSizes(w, in.what, raw, m)
	printTopics(w, m, o.top)
	printPairs(w, m)
	printMetrics(w, measured)
	printTimes(w, t.all)
	if where != "" {
		fmt.Fprintf(w, "\nThe report, to open in a browser: %s\n", where)
	}
	if o.save != "" && failed == nil {
		fmt.Fprintf(w, "\nSaved to %s. jsmf.LoadModel reads it, and so does\n  go run ./examples/documents -model %[1]s -text \"some text\"\n", o.save)
	}
	return failed
}

// read reads the documents, and leaves out words that are in few of them.
func read(ctx context.Context, in input, t *timer) (raw, c *corpus.Corpus, curated *corpus.CurationReport, err error) {
	if err := t.stage("read", func() (_ string, err error) {
		if raw, err = corpus.Read(ctx, cli.Watch(in.source, t.rec)); err != nil {
			return "", err
		}
		return fmt.Sprintf("%d documents, %d tokens", raw.NumDocs(), raw.Tokens()), nil
	}); err != nil {
		return nil, nil, nil, err
	}
	if err := t.stage("curate", func() (_ string, err error) {
		if c, curated, err = corpus.Curate(raw, in.curation); err != nil {
			return "", err
		}
		return fmt.Sprintf("%d documents, %d tokens of %d words", c.NumDocs(), c.Tokens(), c.NumWords()), nil
	}); err != nil {
		if curated != nil {
			err = fmt.Errorf("%w\n%v", err, curated) // where they all went
		}
		return nil, nil, nil, err
	}
	return raw, c, curated, nil
}
