// Spectral finds the topics of texts, how sure they are, and how they differ by time and class.
//
//	spectral topics SOURCE         find topics, print what was found, and write a report
//	spectral apply MODEL SOURCE    the topics of further texts, as JSON Lines
//	spectral find MODEL TEXT       the documents most like a text
//	spectral show MODEL            what a saved model says
//	spectral refit MODEL SOURCE    topics of other texts that follow those of a model
//	spectral sweep SOURCE          how many topics the texts carry
//	spectral serve -data FOLDER    topics over HTTP, of documents that come and go
//	spectral export MODEL          a model for other programs
//
// SOURCE is a folder of texts, a table (CSV, TSV, JSON Lines, Parquet), counts in UCI form, a git
// repository, a folder of Debian's changelogs, a text whose paragraphs are documents, or - for the
// standard input; files may be compressed by gzip or zstd. What it is is found by looking, and said.
// `spectral COMMAND -help` lists the flags of a command; a flag means the same in all of them.
//
// The exit status is 0, 1 for an error, 2 for wrong usage, 130 when interrupted. Ctrl-C ends a
// command within a second, and `topics` prints what is known by then; a second Ctrl-C ends it at once.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/jsmf-go/spectral/internal/console"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error of writing
	os.Exit(run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// streams are those of a process.
type streams struct {
	in       io.Reader
	out, err io.Writer
	flush    func() error // writes what is left in out, which commands find buffered
}

// command is what `spectral NAME` does.
type command struct {
	name, args, does string
	flags            func(*options, *flag.FlagSet)
	work             func(context.Context, *options, streams) error
}

// commands are in the order of the help.
func commands() []command {
	return []command{
		{"topics", "SOURCE", "find the topics of texts, print what was found, and write a report", (*options).topicsFlags, topics},
		{"apply", "MODEL SOURCE", "find the topics of further texts, as JSON Lines", (*options).applyFlags, apply},
		{"find", "MODEL TEXT", "find the documents of a model that are most like a text", (*options).findFlags, findLike},
		{"show", "MODEL", "print what a saved model says", (*options).showFlags, show},
		{"refit", "MODEL SOURCE", "find topics of other texts that follow those of a model", (*options).refitFlags, refit},
		{"sweep", "SOURCE", "find how many topics texts carry", (*options).sweepFlags, sweep},
		{"serve", "", "answer over HTTP: topics of texts, documents that come and go, new models", (*options).serveFlags, serveTopics},
		{"export", "MODEL", "write a model for other programs", (*options).exportFlags, export},
	}
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "Usage: spectral COMMAND ...")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-20s %s\n", c.name+" "+c.args, c.does)
	}
	fmt.Fprintln(w, "  version              print the version\nSOURCE: a folder, a file (CSV, TSV, JSON Lines, Parquet, UCI, text; also .gz and .zst), a git repository, or - for the standard input.\nspectral COMMAND -help lists the flags.")
}

// run is the program; it returns the exit status.
func run(ctx context.Context, args []string, s streams) int {
	errs, _ := console.Lines(s.err) // for messages; progress draws on s.err itself
	if len(args) == 0 {
		usage(errs)
		return 2
	}
	name := strings.TrimLeft(args[0], "-")
	switch name {
	case "help", "h":
		usage(s.out)
		return 0
	case "version":
		fmt.Fprintln(s.out, version())
		return 0
	}
	for _, c := range commands() {
		if c.name == name {
			return c.run(ctx, args[1:], s)
		}
	}
	if _, err := os.Stat(args[0]); err == nil {
		fmt.Fprintf(errs, "spectral: say what to do with %s, as in: spectral topics %[1]s\n", args[0])
	} else {
		fmt.Fprintf(errs, "spectral: there is no command %q; spectral help lists them\n", args[0])
	}
	return 2
}

func (c command) run(ctx context.Context, args []string, s streams) int {
	errs, _ := console.Lines(s.err)
	o, err := c.parse(args, errs)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	info, _ := debug.ReadBuildInfo()
	if err = sameRelease(info); err == nil {
		out, flush := console.Lines(s.out)
		b := bufio.NewWriter(out)
		err = c.work(ctx, o, streams{s.in, b, s.err, b.Flush})
		err = errors.Join(err, b.Flush(), flush())
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, syscall.EPIPE):
		return 1 // who read the output has gone, and wants no more of it
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(errs, "spectral: interrupted")
		return 130
	}
	fmt.Fprintf(errs, "spectral: %s\n", plainly(err))
	return 1
}

// version returns that of the program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "spectral, of an unknown version"
	}
	return fmt.Sprintf("spectral %s, %s", info.Main.Version, info.GoVersion)
}

// sameRelease returns an error if the program and the library are of different releases: they are
// released together, and the program uses what is internal to the library. info is nil if it is not known.
func sameRelease(info *debug.BuildInfo) error {
	if info == nil || !strings.HasPrefix(info.Main.Version, "v") {
		return nil
	}
	for _, d := range info.Deps {
		if strings.HasPrefix(d.Path, "github.com/jsmf-go/spectral") && d.Replace == nil && d.Version != info.Main.Version {
			return fmt.Errorf("this is spectral %s with %s %s: install both of one version, by go install %s@latest", info.Main.Version, d.Path, d.Version, info.Path)
		}
	}
	return nil
}
