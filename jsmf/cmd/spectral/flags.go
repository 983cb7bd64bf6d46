package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"github.com/jsmf-go/spectral/jsmf"
)

// options are what the command line says.
type options struct {
	command       string
	model, source string

	// How to read.
	as, vocab, ext, comma   string
	encodingName            string
	encoding                encoding.Encoding // of the texts; nil: UTF-8
	text, id, title         string
	time, layout            string
	class, number, missing  string
	cluster                 string
	lang, stop, seeds       string
	stem, phrases           bool
	topics, sure            int
	fast                    bool
	edits, namer            string
	report, effects, save   string
	wording                 string
	documents, keepSettings string
	table                   string
	format, out             string
	words                   int
	top                     int
	quiet, force            bool
	served                  served
	more                    func() error // checks what a command has by itself; nil: nothing

	kept     jsmf.Edits // the names of a namer, of the model that settings are of
	settings []setting  // the flags that are set, for -keep-settings
	given    map[string]bool
}

// setting is a flag and its value.
type setting struct{ name, value string }

const keptNames = "names" // what settings call the names of a namer

const none = "none" // the value of a flag for what is not to be

// sourceFlags are those that say what a source is.
func (o *options) sourceFlags(f *flag.FlagSet) {
	f.StringVar(&o.as, "as", "", "what the source is, if looking at it misleads: `one of` "+strings.Join(kinds(), ", "))
	f.StringVar(&o.encodingName, "encoding", "", "the `name` of the encoding of the texts, such as windows-1252 or utf-16le (default UTF-8, or what a byte\norder mark says)")
	f.StringVar(&o.text, "text", "", "the `column` or JSON field with the texts, also body.text (default one that looks like it)")
	f.StringVar(&o.id, "id", "", "the `column` with the ids, none for numbers (default id, if there is one)")
	f.StringVar(&o.title, "title", "", "the `column` with the titles, or none (default title or subject, if there is one)")
	f.StringVar(&o.time, "time", "", "the `column` with dates or times, or none (default one that looks like it)")
	f.StringVar(&o.layout, "layout", "", "how times are written, as the Go `layout` 2.1.2006 (default 2006-01-02, or RFC 3339)")
	f.StringVar(&o.class, "class", "", "`columns` with classes, such as the author, with commas between; the rarest of more than 12 become one")
	f.StringVar(&o.number, "number", "", "`columns` with numbers, with commas between")
	f.StringVar(&o.missing, "missing", "", "`texts` in these columns that mean that there is no value, as NA,- (an empty one always does)")
	f.StringVar(&o.comma, "comma", "", "the `character` between the fields of a table (default found by looking)")
	f.StringVar(&o.ext, "ext", "", "of a folder only files with these `extensions`, as .txt,.md")
	f.StringVar(&o.vocab, "vocab", "", "the words of counts in UCI form: a `file` (default vocab.X.txt beside docword.X.txt)")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress")
	f.BoolVar(&o.force, "force", false, "replace files that are there")
}

// wordFlags are those that say what a word is.
func (o *options) wordFlags(f *flag.FlagSet) {
	f.StringVar(&o.lang, "lang", "", "the `language` of the texts, such as de (default found by looking), for -stem")
	f.StringVar(&o.stop, "stop", "", "words to leave out: a `file` with one a line, or languages, as en,de; none is needed")
	f.BoolVar(&o.stem, "stem", false, "make one word of all words of one stem")
	f.BoolVar(&o.phrases, "phrases", true, "find phrases, such as machine learning, and lines of boilerplate")
}

// fitFlags are those of a fit.
func (o *options) fitFlags(f *flag.FlagSet) {
	f.StringVar(&o.seeds, "seeds", "", "words that the first topics are to have: a `file`, a line a topic, as in \"courts: judge trial appeal\"")
	f.StringVar(&o.edits, "edits", "", "rename, merge, split and drop topics as in this `file`, which the report exports")
	f.StringVar(&o.namer, "namer", "", "ask this `address` for names of the topics: it is sent {\"topic\", \"name\", \"share\", \"words\",\n\"verdict\", \"documents\", \"taken\"} by POST,\nand answers {\"name\": \"...\"}")
	f.BoolVar(&o.fast, "fast", false, "one fit: no search for the number of topics, no intervals")
	f.IntVar(&o.sure, "sure", 100, "fit the topics `N` times more, to reweighted texts, for intervals; a fifth as many begin anew; 0: none")
}

func (o *options) kFlag(f *flag.FlagSet) {
	f.IntVar(&o.topics, "k", 0, "the number of topics (default as many as predict documents best)")
}

func (o *options) outFlags(f *flag.FlagSet) {
	f.StringVar(&o.report, "report", "", "write the report, an HTML page, to this `file`, or none (default a new file in the folder for temporary ones)")
	f.StringVar(&o.save, "save", "", "save the model, with the topics of the documents, to this `file`")
	f.StringVar(&o.documents, "documents", "", "write the topics and the metadata of each document to this CSV `file`")
	f.StringVar(&o.effects, "effects", "", "write what was found on times, classes and numbers to this CSV `file`")
	f.StringVar(&o.wording, "wording", "", "write the words that times and classes use more within a topic to this CSV `file`")
}

func (o *options) topicsFlags(f *flag.FlagSet) {
	o.sourceFlags(f)
	o.wordFlags(f)
	o.kFlag(f)
	o.fitFlags(f)
	o.outFlags(f)
	f.StringVar(&o.cluster, "cluster", "", "the `column` by which texts depend on each other, such as the author: intervals then are about other authors")
	f.StringVar(&o.table, "table", "", "keep the table that is made of a log, of changelogs or of Parquet in this CSV `file`")
	f.StringVar(&o.keepSettings, "keep-settings", "", "write the settings of this run to this `file`; -settings repeats it")
	o.settingsFlag(f)
}

func (o *options) refitFlags(f *flag.FlagSet) {
	o.sourceFlags(f)
	o.kFlag(f)
	f.StringVar(&o.report, "report", "", "write the report, an HTML page, to this `file`, or none (default a new file in the folder for temporary ones)")
	f.StringVar(&o.save, "save", "", "save the new model to this `file`")
	f.StringVar(&o.documents, "documents", "", "write the topics and the metadata of each document to this CSV `file`")
}

func (o *options) applyFlags(f *flag.FlagSet) {
	o.sourceFlags(f)
	f.IntVar(&o.top, "top", 0, "write only the `N` largest topics of a text (default all)")
	f.StringVar(&o.out, "out", "-", "write to this `file` (- is the standard output)")
}

func (o *options) findFlags(f *flag.FlagSet) {
	f.IntVar(&o.top, "top", 10, "print the `N` documents that are most like the text")
}

func (o *options) showFlags(f *flag.FlagSet) {
	f.IntVar(&o.words, "words", 8, "how many `words` of a topic to print")
	f.StringVar(&o.report, "report", none, "write a report, an HTML page, to this `file`")
	f.BoolVar(&o.force, "force", false, "replace files that are there")
}

func (o *options) sweepFlags(f *flag.FlagSet) {
	o.sourceFlags(f)
	o.wordFlags(f)
	f.StringVar(&o.seeds, "seeds", "", "words that the first topics are to have: a `file`, a line a topic, as in \"courts: judge trial appeal\"")
	f.StringVar(&o.save, "save", "", "save the model of the number that is recommended to this `file`")
}

func (o *options) exportFlags(f *flag.FlagSet) {
	f.StringVar(&o.format, "format", "", "`one of` "+strings.Join(formats(), ", ")+" (required)")
	f.StringVar(&o.out, "out", "-", "write to this `file` (- is the standard output)")
	f.IntVar(&o.words, "words", 30, "how many `words` of a topic to write, where the format has the first ones only")
	f.BoolVar(&o.force, "force", false, "replace a file that is there")
}

// settingsFlag defines -settings, which sets the flags that a file holds.
func (o *options) settingsFlag(f *flag.FlagSet) {
	f.Func("settings", "take flags from this `file`, which -keep-settings has written; those of the command line come first", func(path string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s := bufio.NewScanner(strings.NewReader(string(b)))
		for n := 1; s.Scan(); n++ {
			line := strings.TrimSpace(s.Text())
			if line == "" || line[0] == '#' {
				continue
			}
			name, value, ok := strings.Cut(line, " = ")
			switch {
			case !ok:
				return fmt.Errorf("%s:%d: want a flag, \" = \" and its value", path, n)
			case name == "source":
				o.source = cmp.Or(o.source, value)
				continue
			case name == "settings":
				return fmt.Errorf("%s:%d: settings are in one file", path, n)
			case name == keptNames:
				if err := json.Unmarshal([]byte(value), &o.kept); err != nil {
					return fmt.Errorf("%s:%d: %w", path, n, err)
				}
				continue
			case o.given[name]:
				continue
			}
			if f.Lookup(name) == nil {
				return fmt.Errorf("%s:%d: there is no flag -%s", path, n, name)
			}
			if err := f.Set(name, value); err != nil {
				return fmt.Errorf("%s:%d: %w", path, n, err)
			}
		}
		return s.Err()
	})
}

// parse reports everything that is wrong with the arguments on stderr. Flags may stand before and
// after what the command works on.
func (c command) parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{command: c.name, given: map[string]bool{}}
	f := flag.NewFlagSet("spectral "+c.name, flag.ContinueOnError)
	f.SetOutput(stderr)
	c.flags(o, f)
	f.Usage = func() {
		fmt.Fprintf(stderr, "Usage: spectral %s [flags]\n%s%s.\n", strings.TrimSpace(c.name+" "+c.args), strings.ToUpper(c.does[:1]), c.does[1:])
		f.PrintDefaults()
	}
	for _, a := range args { // a flag of the command line counts more than one of a file
		if name, ok := strings.CutPrefix(a, "-"); ok {
			name, _, _ = strings.Cut(strings.TrimPrefix(name, "-"), "=")
			o.given[name] = true
		}
	}
	f.Init(f.Name(), flag.ContinueOnError)
	quiet := &strings.Builder{}
	var words []string
	for {
		f.SetOutput(quiet)
		usage := f.Usage
		f.Usage = func() {}
		err := f.Parse(args)
		f.SetOutput(stderr)
		f.Usage = usage
		if errors.Is(err, flag.ErrHelp) {
			f.Usage()
			return nil, err
		}
		if err != nil {
			fmt.Fprintf(stderr, "spectral %s: %v; spectral %[1]s -help lists the flags\n", c.name, err)
			return nil, err
		}
		if f.NArg() == 0 {
			break
		}
		words, args = append(words, f.Arg(0)), f.Args()[1:]
	}
	f.Visit(func(x *flag.Flag) { o.settings = append(o.settings, setting{x.Name, x.Value.String()}) })
	err := errors.Join(o.arguments(c, words), o.check())
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(stderr, "spectral %s: %s\n", c.name, line)
		}
	}
	return o, err
}

// arguments takes those that are no flags.
func (o *options) arguments(c command, words []string) error {
	var into []*string
	for name := range strings.FieldsSeq(c.args) {
		into = append(into, map[string]*string{"MODEL": &o.model, "SOURCE": &o.source, "TEXT": &o.source}[name])
	}
	if len(words) > len(into) {
		return fmt.Errorf("unexpected argument %q: want %s", words[len(into)], cmp.Or(c.args, "flags alone"))
	}
	for i, w := range words {
		*into[i] = w
	}
	if o.source == "" && slices.Contains(into, &o.source) || o.model == "" && slices.Contains(into, &o.model) {
		return fmt.Errorf("want %s, as in: spectral %s %s", c.args, c.name, strings.NewReplacer("MODEL", "news.jsmf", "SOURCE", "texts.csv", "TEXT", `"the court heard an appeal"`).Replace(c.args))
	}
	return nil
}

// check returns everything that is wrong with the values of flags.
func (o *options) check() error {
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(o.as != "" && !slices.Contains(kinds(), o.as), "-as %s: want one of %s", o.as, strings.Join(kinds(), ", "))
	bad(o.topics < 0 || o.topics == 1 || o.given["k"] && o.topics == 0, "-k %d: want at least 2 topics", o.topics)
	bad(o.sure < 0 || o.sure > 0 && o.sure < 10, "-sure %d: want 0, or at least 10", o.sure)
	bad(utf8.RuneCountInString(o.comma) > 1, "-comma %q: want one character", o.comma)
	bad(o.layout != "" && o.time == none, "-layout goes with a column of times")
	bad(o.effects != "" && (o.fast || o.sure == 0), "-effects goes with repeated fits: not with -fast and -sure 0")
	bad(o.wording != "" && (o.fast || o.sure == 0), "-wording goes with repeated fits: not with -fast and -sure 0")
	for flag, path := range map[string]string{"seeds": o.seeds, "edits": o.edits, "vocab": o.vocab} {
		if path != "" {
			_, err := os.Stat(path)
			bad(err != nil, "-%s %s: there is no such file", flag, path)
		}
	}
	bad(o.top < 0, "-top %d: want 0 or more", o.top)
	bad(o.command == "find" && o.top == 0, "-top 0: want at least 1")
	bad(o.words < 0 || o.given["words"] && o.words == 0, "-words %d: want at least 1", o.words)
	if o.command == "export" {
		bad(!slices.Contains(formats(), o.format), "-format %s: want one of %s", cmp.Or(o.format, `""`), strings.Join(formats(), ", "))
	}
	if o.encodingName != "" {
		e, err := htmlindex.Get(o.encodingName)
		bad(err != nil, "-encoding %s: want a name that web pages have for an encoding, such as windows-1252", o.encodingName)
		if e != unicode.UTF8 {
			o.encoding = e
		}
	}
	if o.more != nil {
		errs = append(errs, o.more())
	}
	return errors.Join(append(errs, o.checkFiles())...)
}
