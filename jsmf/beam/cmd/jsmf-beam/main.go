// Jsmf-beam fits a model to documents that do not fit on one machine, and finds the topics of
// any number of documents by a model, on Apache Beam. The README of package jsmf/beam shows
// how to run it on one's own machine, Flink, Spark and Dataflow.
//
//	jsmf-beam fit -k 100 -state gs://bucket/state -model gs://bucket/news.jsmf 'gs://bucket/news-*.jsonl.gz'
//	jsmf-beam transform -model gs://bucket/news.jsmf -state gs://bucket/state -out gs://bucket/topics 'gs://bucket/news-*.jsonl.gz'
//
// The exit status is 0, 1 for an error, 2 for wrong usage, 130 when interrupted. After any
// failure the same command goes on from what is done. A second Ctrl-C ends the program at
// once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/beam"
	"github.com/jsmf-go/spectral/recover/refine"
)

func main() {
	if args := os.Args[1:]; len(args) > 0 && strings.HasPrefix(args[0], "-") && !isHelp(args[0]) {
		flag.CommandLine.Usage = func() { fmt.Fprint(os.Stderr, usage) }
		beam.Init() // does not return where a runner has started the program as a worker
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	beam.Init()
	if o.verbose {
		slog.SetDefault(slog.New(slog.NewTextHandler(stderr, nil)))
	} else {
		slog.SetDefault(slog.New(slog.DiscardHandler)) // errors come back from the jobs
	}
	work := fit
	if o.command == "transform" {
		work = transform
	}
	err = work(ctx, o, stdout)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "jsmf-beam: interrupted; the same command goes on from what is in %s\n", o.beam.State)
		return 130
	}
	fmt.Fprintf(stderr, "jsmf-beam: %v\njsmf-beam: what is done is kept in %s: the same command goes on from there\n", err, o.beam.State)
	return 1
}

// fit fits a model and writes its file.
func fit(ctx context.Context, o options, stdout io.Writer) error {
	m, err := beam.Fit(ctx, jsmf.New(o.topics).Refine(refine.Batch{}).Record(o.beam.Record), o.shards, o.beam)
	if err != nil {
		return err
	}
	if err := beam.SaveModel(ctx, m, o.model); err != nil {
		return err
	}
	for _, t := range m.Summary(8) {
		var words []string
		for _, w := range t.Words {
			words = append(words, w.Word)
		}
		fmt.Fprintf(stdout, "%4d %5.1f%%  %s\n", t.Number, 100*t.Share, strings.Join(words, " "))
	}
	return nil
}

// transform writes the topics of documents and prints the paths of the files.
func transform(ctx context.Context, o options, stdout io.Writer) error {
	files, err := beam.Transform(ctx, o.model, o.shards, o.out, o.beam)
	if err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintln(stdout, f)
	}
	return nil
}
