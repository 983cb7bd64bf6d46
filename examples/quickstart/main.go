// Quickstart finds the topics of the comments of Go's standard library, prints them and what was
// found, and writes a report to look at in a browser. It needs nothing but Go.
//
//	go run ./examples/quickstart
//
// For texts of your own there is the program in jsmf/cmd/spectral. This one is to copy from: read,
// curate, fit, judge, find the topics of each document, write. Topics are numbered from 0, as in the
// report and the model. Ctrl-C ends it within one step of work.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"text/tabwriter"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program; it returns the exit status: 0, 1 for an error, 2 for wrong usage, 130 when
// interrupted.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	f.SetOutput(stderr)
	root := f.String("goroot", "", "the Go installation, a `folder` (default that of go env GOROOT)")
	k := f.Int("k", 30, "the number of topics")
	page := f.String("report", "", "write the report to this `file` (default a new one in the folder for temporary files)")
	quiet := f.Bool("quiet", false, "show no progress")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case f.NArg() > 0:
		fmt.Fprintf(stderr, "quickstart: it is about Go's comments alone; for other texts: spectral topics %s\n", f.Arg(0))
		return 2
	case *k < 2:
		fmt.Fprintf(stderr, "quickstart: -k %d: want at least 2 topics\n", *k)
		return 2
	}
	show := func(jsmf.Event) {}
	if !*quiet {
		show = jsmf.NewPrinter(stderr)
	}
	switch err := quickstart(ctx, *root, *k, *page, show, stdout); {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "quickstart: interrupted")
		return 130
	case err != nil:
		fmt.Fprintf(stderr, "quickstart: %v\n", err)
		return 1
	}
	return 0
}

func quickstart(ctx context.Context, root string, k int, page string, show func(jsmf.Event), w io.Writer) (err error) {
	if root == "" {
		if root, err = goroot(ctx); err != nil {
			return err
		}
	}
	file, err := create(page) // first: what is found must not be lost
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			os.Remove(file.Name())
		}
	}()

	// Read. A word of fewer than three documents tells nothing about what goes together.
	tokenizer, err := proseTokenizer()
	if err != nil {
		return err
	}
	shown := map[string]report.Document{}
	source := goSource{filepath.Join(root, "src"), tokenizer, func(name string, f *ast.File) { shown[name] = goFile(name, f) }}
	c, err := corpus.Read(ctx, source)
	if err != nil {
		return err
	}
	c, curated, err := corpus.Curate(c, corpus.Curation{MinDocs: 3, MinTokens: 20})
	if err != nil {
		return fmt.Errorf("%w\n%v", err, curated)
	}

	// Fit.
	p := jsmf.New(k).Record(show)
	m, err := p.Fit(ctx, c)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d topics of the comments in %d Go files\n", m.K(), c.NumDocs())
	printTopics(w, m)

	// Judge, and say what was found.
	measured, err := p.Evaluate(ctx, m, c)
	if err != nil {
		return err
	}
	if m, err = m.With(jsmf.Additions{Verdicts: measured.Verdicts}); err != nil {
		return err
	}
	docs, err := m.Transform(ctx, c.Source())
	if err != nil {
		return err
	}
	o := report.Options{
		Title: "Topics of Go’s standard library", About: "What the comments of the Go files in " + source.root + " are about.", Curation: curated, Metrics: measured,
		Nouns: report.Nouns{Document: "file", Documents: "files"}, Documents: docs, Describe: func(d int) report.Document { return shown[docs.IDs[d]] },
	}
	found, err := report.Findings(m, o)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "\nFINDINGS")
	for _, f := range found {
		fmt.Fprintln(w, "-", f.Text)
	}

	b := bufio.NewWriter(file)
	if err := cmp.Or(report.Write(b, m, o), b.Flush()); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nThe report, to open in a browser: %s\n", file.Name())
	return nil
}

func create(path string) (*os.File, error) {
	if path == "" {
		return os.CreateTemp("", "spectral-report-*.html")
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // a file that is there stays
}

func printTopics(w io.Writer, m *jsmf.Model) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "    \tshare\tname\twords")
	for _, x := range m.Summary(10) {
		fmt.Fprintf(t, "%4d\t%4.1f%%\t%s\t", x.Number, 100*x.Share, x.Name)
		for i, word := range x.Words {
			if i > 0 {
				fmt.Fprint(t, " ")
			}
			fmt.Fprint(t, word.Word)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}
