package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/beam"
)

const usage = `Usage:
  jsmf-beam fit -k TOPICS -state FOLDER -model FILE [flags] SHARD...
  jsmf-beam transform -model FILE -state FOLDER -out FOLDER [flags] SHARD...

fit learns topics from documents and writes a model. transform writes the topic proportions
of documents, one file a shard. Shards are files of documents, or patterns such as
'gs://bucket/news-*.jsonl.gz'. All paths are local, gs:// or s3://.

jsmf-beam fit -help and jsmf-beam transform -help list the flags.
`

const runnerUsage = `
Beam's own flags say where the work is done. The default is this machine. The main ones:
  --runner                flink, spark, dataflow or universal
  --endpoint              address of the runner's job service, as localhost:8099
  --environment_type      LOOPBACK, PROCESS, DOCKER or EXTERNAL: where workers come from
  --environment_config    what goes with it
  --parallelism           how many workers
  --project, --region, --staging_location, --worker_machine_type, --num_workers
                          of Dataflow
`

// options are a command line.
type options struct {
	command    string // fit or transform
	shards     []string
	topics     int
	model, out string
	verbose    bool
	beam       beam.Options
}

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// parse reports everything that is wrong with the arguments on stderr.
func parse(args []string, stderr io.Writer) (o options, err error) {
	if len(args) == 0 || args[0] != "fit" && args[0] != "transform" {
		fmt.Fprint(stderr, usage)
		if len(args) > 0 && (isHelp(args[0]) || args[0] == "help") {
			return o, flag.ErrHelp
		}
		return o, errors.New("no command")
	}
	o.command = args[0]
	f, quiet := flags(&o, stderr)
	flag.VisitAll(func(x *flag.Flag) { // Beam's
		if f.Lookup(x.Name) == nil {
			f.Var(x.Value, x.Name, x.Usage)
		}
	})
	if err := f.Parse(args[1:]); err != nil {
		return o, err
	}
	o.shards = f.Args()
	if !*quiet {
		o.beam.Record = jsmf.NewPrinter(stderr)
	}
	return o, o.check(stderr)
}

// flags returns the flags of a command, without Beam's.
func flags(o *options, stderr io.Writer) (f *flag.FlagSet, quiet *bool) {
	own := flag.NewFlagSet("jsmf-beam "+o.command, flag.ContinueOnError)
	if o.command == "fit" {
		own.IntVar(&o.topics, "k", 0, "the `number` of topics")
		own.StringVar(&o.model, "model", "", "write the model to this `file`")
		own.IntVar(&o.beam.MinDocuments, "min-docs", 1, "leave out words that fewer documents hold than this `number`")
	} else {
		own.StringVar(&o.model, "model", "", "the `file` of the model")
		own.StringVar(&o.out, "out", "", "write the files to this `folder`")
	}
	own.StringVar(&o.beam.State, "state", "", "keep results in this `folder`, which workers see too; with it the same command resumes after a failure")
	own.Var((*lines)(&o.beam.Format.Lines), "format", "what a `line` of a shard is: jsonl (a JSON object), text (a document), uci (document word count)")
	own.StringVar(&o.beam.Format.Vocabulary, "vocab", "", "with -format uci: the `file` of words")
	own.StringVar(&o.beam.Format.Text, "text", "", "with -format jsonl: the `field` of the text (default text)")
	own.StringVar(&o.beam.Format.ID, "id", "", "with -format jsonl: the `field` of the id (default id, if there is one)")
	own.StringVar(&o.beam.Format.Label, "label", "", "with -format jsonl: the `field` of the label (default label, if there is one)")
	own.IntVar(&o.beam.Runner.Shares, "shares", 0, "in how many `parts` documents are added up; about as many as there are workers (default 1 here, else 16)")
	own.DurationVar(&o.beam.Runner.Timeout, "timeout", 0, "give up a job after this `time` (default 6h)")
	own.BoolVar(&o.verbose, "v", false, "show Beam's log")
	quiet = own.Bool("quiet", false, "show no progress")
	f = flag.NewFlagSet(own.Name(), flag.ContinueOnError)
	own.VisitAll(func(x *flag.Flag) { f.Var(x.Value, x.Name, x.Usage) })
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stderr, "Usage: %s [flags] SHARD...\n", own.Name())
		own.SetOutput(stderr)
		own.PrintDefaults()
		fmt.Fprint(stderr, runnerUsage)
	}
	return f, quiet
}

// lines is a flag.
type lines beam.Lines

func (l *lines) String() string     { return string(*l) }
func (l *lines) Set(s string) error { *l = lines(s); return nil }

// check reports what is missing.
func (o options) check(stderr io.Writer) error {
	var wrong []string
	bad := func(cond bool, format string, args ...any) {
		if cond {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	bad(o.command == "fit" && o.topics < 2, "-k %d: want at least 2 topics", o.topics)
	bad(o.model == "", "-model is missing")
	bad(o.command == "transform" && o.out == "", "-out is missing")
	bad(o.beam.State == "", "-state is missing")
	bad(len(o.shards) == 0, "no shards are given")
	for _, s := range o.shards {
		bad(strings.HasPrefix(s, "-"), "%s: flags stand before the shards", s)
	}
	if len(wrong) == 0 {
		return nil
	}
	for _, s := range wrong {
		fmt.Fprintf(stderr, "jsmf-beam: %s\n", s)
	}
	fmt.Fprintf(stderr, "jsmf-beam: jsmf-beam %s -help lists the flags\n", o.command)
	return errors.New(strings.Join(wrong, "; "))
}
