// Analysis goes from a table of texts with dates and classes to answers: which topics are
// sound, how sure their shares are, how they changed over time, and in which class they are
// more or less common than elsewhere. It prints a page of sentences and writes a report to
// look at in a browser.
//
//	go run ./examples/analysis -csv messages.csv -text body -id id -time date -class author -report report.html
//	go run ./examples/analysis -git ~/src/project
//	go run ./examples/analysis -changelogs /usr/share/doc
//
// -git makes the table of the log of a git repository, and -changelogs that of Debian's
// changelogs; -table keeps it, to be read by -csv. The number of topics is that of a jsmf.Grid
// unless -k gives it. -edits takes the names and the merged topics that the report exports.
//
// Steps: read, learn phrases, choose the number of topics, fit, judge each topic, fit again to
// reweighted documents, study times and classes, group the topics, write the report. Ctrl-C
// ends it within one step of work.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"

	"github.com/jsmf-go/spectral/examples/internal/cli"
)

func main() { cli.Main(run) }

// run is the program; it returns the exit status: 0, 1 for an error, 2 for wrong usage, 130
// when interrupted.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("analysis", args, stderr, parseFlags, func(o options) error {
		return cli.FlagError(cli.Buffered(stdout, func(out *bufio.Writer) error { return analyse(ctx, o, out, stderr) }))
	})
}

type options struct {
	csv, git, changelogs, table string
	comma                       string
	encoding                    encoding.Encoding // of the texts; nil: UTF-8
	text, id, title             string
	time, layout                string
	class, number, missing      string
	cluster, edits, seeds       string
	report, effects, save       string
	topics, replicates          int
	quiet                       bool
}

// made says that the program makes the table.
func (o options) made() bool { return o.git != "" || o.changelogs != "" }

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("analysis", flag.ContinueOnError)
	f.SetOutput(stderr)
	var files cli.Files
	files.In(f, &o.csv, "csv", "the table: a `file` of comma-separated values, or of tabs if it ends in .tsv, one document a record")
	f.StringVar(&o.git, "git", "", "make the table of the commits of the repository in this `folder`")
	f.StringVar(&o.changelogs, "changelogs", "", "make the table of Debian's changelogs in this `folder`, such as /usr/share/doc")
	files.New(f, &o.table, "table", "keep the table that -git or -changelogs makes in this CSV `file`, which must not be there yet")
	cli.Encoding(f, &o.encoding)
	f.StringVar(&o.comma, "comma", "", "the `character` between the fields")
	f.StringVar(&o.text, "text", "", "the `column` with the texts (default text)")
	f.StringVar(&o.id, "id", "", "the `column` with the ids (default the number of the record)")
	f.StringVar(&o.title, "title", "", "the `column` with the titles (default the ids)")
	f.StringVar(&o.time, "time", "", "the `column` with dates or times")
	f.StringVar(&o.layout, "layout", "", "how times are written, as the Go `layout` 2.1.2006 (default 2006-01-02, or RFC 3339)")
	f.StringVar(&o.class, "class", "", "`columns` with classes, such as the author, with commas between; the rarest of more than 12 become one")
	f.StringVar(&o.number, "number", "", "`columns` with numbers")
	f.StringVar(&o.missing, "missing", "", "`texts` in these columns that mean that there is no value, as NA,- (an empty one always does)")
	f.StringVar(&o.cluster, "cluster", "", "the `column` by which texts depend on each other, such as the author: intervals then are about other authors")
	f.IntVar(&o.topics, "k", 0, "the number of topics (default as many as predict documents best)")
	f.IntVar(&o.replicates, "replicates", 100, "how many times the topics are fitted to reweighted texts; a fifth as many fits begin anew")
	files.In(f, &o.seeds, "seeds", cli.SeedsHelp)
	files.In(f, &o.edits, "edits", "rename and merge topics as in this `file`, which the report exports")
	files.Report(f, &o.report)
	files.Out(f, &o.effects, "effects", "write what was found on times, classes and numbers to this CSV `file`")
	files.Out(f, &o.save, "save", "save the model, with the topics of the documents, to this `file`")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress")
	f.Usage = func() {
		fmt.Fprintln(stderr, "Usage: analysis (-csv F | -git FOLDER | -changelogs FOLDER) [flags]\nFinds the topics of texts, how sure they are, and how they differ by time and class.")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var wrong cli.Wrong
	bad := wrong.If
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	bad(o.csv == "" && !o.made(), "no table: give -csv, -git or -changelogs")
	bad(o.git != "" && o.changelogs != "" || o.csv != "" && o.made(), "-csv, -git and -changelogs exclude each other; -table keeps the table that is made")
	bad(o.table != "" && !o.made(), "-table goes with -git and -changelogs")
	bad(utf8.RuneCountInString(o.comma) > 1, "-comma %q: want one character", o.comma)
	bad(o.comma != "" && o.made(), "-comma goes with a table of your own")
	bad(o.effects != "" && !o.made() && o.time == "" && o.class == "" && o.number == "", "-effects goes with -time, -class and -number")
	bad(o.layout != "" && o.time == "", "-layout goes with -time")
	bad(o.topics < 0 || o.topics == 1, "-k %d: want at least 2 topics", o.topics)
	bad(o.replicates < 10, "-replicates %d: want at least 10", o.replicates)
	files.Check(&wrong, nil)
	return o, wrong.Err("analysis", stderr)
}
