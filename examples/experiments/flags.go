package main

import (
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/examples/internal/cli"
)

type options struct {
	data, stop  string
	corpora     []string
	classes     string   // the corpus with classes
	large       []string // the corpora for many topics without anchors
	hulls       []string
	big         string // the corpus of many documents
	artists     string // the corpus of preferences
	titles      string // the corpus of short documents
	topics      []int
	methods     []string
	recoverers  []string
	names       []string // of experiments
	out         string
	formats     []string
	budget      time.Duration
	words       int
	small       int // words where the method is slow
	docs        []int
	sweeps      int
	doubt       int // corpora of a cell of doubt
	planted     int // corpora of a cell of planted
	quick       bool
	only        choice
	seed        uint64
	workers     int
	scoreFile   string
	scoreName   string
	scoreVocab  string
	maxSlow     int
	plan, quiet bool
}

// list splits what is between commas.
func list(s string) []string {
	var out []string
	for f := range strings.SplitSeq(s, ",") {
		if f = strings.TrimSpace(f); f != "" {
			out = append(out, f)
		}
	}
	return out
}

// choice is a choice of cells: the values allowed of some settings, by name.
type choice map[string][]string

// has reports whether a cell with these settings is chosen.
func (c choice) has(set []setting) bool {
	for name, allowed := range c {
		if !slices.ContainsFunc(set, func(s setting) bool { return s.Name == name && slices.Contains(allowed, s.Value) }) {
			return false
		}
	}
	return true
}

// flags are the options, and the lists that some are made from.
type flags struct {
	options
	corpora, large, hulls, ks, methods, recoverers, runs, formats, docs, only string
	names                                                                     []string // of all experiments
	wrong                                                                     cli.Wrong
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (options, error) {
	var x flags
	for _, e := range experiments {
		x.names = append(x.names, e.name)
	}
	f := flag.NewFlagSet("experiments", flag.ContinueOnError)
	f.SetOutput(stderr)
	x.define(f)
	f.Usage = func() {
		fmt.Fprintln(stderr, "Usage: experiments -data FOLDER -out FOLDER [flags]")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return x.options, err
	}
	x.wrong.If(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	x.check()
	x.checkScore()
	return x.options, x.wrong.Err("experiments", stderr)
}

func (x *flags) define(f *flag.FlagSet) {
	o := &x.options
	f.StringVar(&o.data, "data", "", "the `folder` of corpora (required)")
	f.StringVar(&x.corpora, "corpora", "nips17,kos", "names of corpora in it: `NAME[,NAME…]`")
	f.StringVar(&o.classes, "classes", "bbc", "the `name` of the corpus with classes, for anchorfree, weights, clusters, judged, genres and hierarchy; none: leave these out")
	f.StringVar(&x.large, "large", "nips17,reuters21578-split", "corpora that anchorfree fits many topics to: `NAME[,NAME…]`; none: leave that out")
	f.StringVar(&x.hulls, "hulls", "imdb-large,kos,reuters21578-split,nips17", "names of the corpora of hulls: `NAME[,NAME…]`, the first of which is drawn; none: leave it out")
	f.StringVar(&o.big, "big", "imdb-large", "the `name` of the corpus of many documents, for vocabulary; none: leave it out")
	f.StringVar(&o.artists, "artists", "lastfm", "the `name` of the corpus of listeners and artists, for hierarchy; none: leave it out")
	f.StringVar(&o.titles, "titles", "dblp-split", "the `name` of the corpus of short documents, for titles; none: leave it out")
	f.StringVar(&o.stop, "stop", "", "stop words, one a line: a `file`. Otherwise the library's English ones")
	f.StringVar(&x.ks, "k", "5,10,15,20,25,50,75,100", "numbers of topics: `K[,K…]`")
	f.StringVar(&x.methods, "methods", strings.Join(methodNames, ","), "`methods` of curves and time")
	f.StringVar(&x.recoverers, "recover", strings.Join(recovererNames, ","), "`ways` of recovery of curves")
	f.StringVar(&x.runs, "run", "", "`experiments` by name: "+strings.Join(x.names, ", ")+"; otherwise all but score")
	f.StringVar(&o.out, "out", "", "the `folder` for results (required); it is made")
	f.StringVar(&x.formats, "format", "png", "png, svg or png,svg: the `formats` of figures")
	f.DurationVar(&o.budget, "budget", 0, "begin no cell after this `time`, as 30m; 0: no limit")
	f.IntVar(&o.words, "n", 5000, "keep the `N` best words by tf·ln⌊M/df⌋")
	f.IntVar(&o.small, "n-small", 1500, "the same for semi, gaps, synthetic, heldout, hierarchy, time against documents, and once more for\nanchorfree's many topics: `N` words")
	f.StringVar(&x.docs, "docs", "2000,10000", "numbers of documents of semi and gaps: `M[,M…]`")
	f.IntVar(&o.sweeps, "gibbs-sweeps", 1000, "`sweeps` of Gibbs sampling; the last half is averaged over")
	f.IntVar(&o.doubt, "doubt-draws", 400, "of doubt: how many `corpora` are drawn for each kind")
	f.IntVar(&o.planted, "planted-draws", 8, "of planted: how many `corpora` are drawn for each kind of topics, prior, length, number of documents and K")
	f.BoolVar(&o.quick, "quick", false, "of planted: one corpus of 1,000 short documents only")
	f.StringVar(&x.only, "only", "", "only the cells with these values, as tokens=100,k=10|30: `NAME=VALUE[|VALUE…][,…]`")
	f.Uint64Var(&o.seed, "seed", 1, "the seed of all that is drawn")
	f.IntVar(&o.workers, "workers", 0, "how many goroutines work at once; 0: GOMAXPROCS. Only times depend on it")
	f.StringVar(&o.scoreFile, "topics", "", "of score: topics as an N×K (or K×N) matrix, .npy or text, over the words of the\ncorpus' vocabulary file or of -topics-vocab; or, in a file that ends in .words, a\nline of top words a topic: a `file`")
	f.StringVar(&o.scoreName, "name", "", "of score: what to call them, the file's `name` otherwise")
	f.StringVar(&o.scoreVocab, "topics-vocab", "", "of score: the words of the matrix, one a line, where they are not those of the\ncorpus: a `file`")
	f.IntVar(&o.maxSlow, "most-slow", 50, "the largest `K` for Gibbs sampling and DC, which take longest, and for tensor, which is compared with Gibbs sampling")
	f.BoolVar(&o.plan, "plan", false, "only list the cells that are to be done")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress on standard error")
}

// choose returns what is chosen from a list of names.
func (x *flags) choose(flag, s string, from []string) []string {
	out, bad := list(s), x.wrong.If
	bad(len(out) == 0, "-%s is empty", flag)
	for i, name := range out {
		bad(!slices.Contains(from, name), "-%s %q: want %s", flag, name, strings.Join(from, ", "))
		bad(slices.Contains(out[:i], name), "-%s names %s twice", flag, name)
	}
	return out
}

// numbers returns the numbers of a list, ascending.
func (x *flags) numbers(flag, s string, least int) []int {
	out, bad := x.wrong.Ints(flag, s, least), x.wrong.If
	for i, n := range out {
		bad(slices.Contains(out[:i], n), "-%s names %d twice", flag, n)
	}
	slices.Sort(out)
	return out
}

// folders returns the names of corpora of a list.
func (x *flags) folders(flag, s string) []string {
	out, bad := list(s), x.wrong.If
	bad(len(out) == 0, "-%s is empty", flag)
	for i, name := range out {
		bad(slices.Contains(out[:i], name), "-%s names %s twice", flag, name)
		bad(name != filepath.Base(name), "-%s %q: want the name of a folder in -data", flag, name)
	}
	return out
}

// check checks the flags except those of score.
func (x *flags) check() {
	o, bad := &x.options, x.wrong.If
	bad(o.data == "", "-data is missing")
	bad(o.out == "", "-out is missing")
	o.corpora = x.folders("corpora", x.corpora)
	for _, c := range []struct {
		name, value string
		to          *[]string
	}{{"large", x.large, &o.large}, {"hulls", x.hulls, &o.hulls}} {
		if *c.to = x.folders(c.name, c.value); slices.Equal(*c.to, []string{"none"}) {
			*c.to = nil
		}
	}
	o.topics = x.numbers("k", x.ks, 2)
	o.docs = x.numbers("docs", x.docs, 10)
	o.methods = x.choose("methods", x.methods, methodNames)
	o.recoverers = x.choose("recover", x.recoverers, recovererNames)
	o.formats = x.choose("format", x.formats, []string{"png", "svg"})
	if x.runs == "" {
		o.names = slices.DeleteFunc(slices.Clone(x.names), func(s string) bool { return s == "score" })
	} else {
		o.names = x.choose("run", x.runs, x.names)
	}
	for _, c := range []struct {
		name  string
		value *string
	}{{"classes", &o.classes}, {"big", &o.big}, {"artists", &o.artists}, {"titles", &o.titles}} {
		bad(*c.value == "", "-%s is empty; want a name, or none", c.name)
		if *c.value == "none" {
			*c.value = ""
		}
	}
	bad(o.budget < 0, "-budget %v: want 0 or more", o.budget)
	bad(o.words < 2, "-n %d: want at least 2", o.words)
	bad(o.small < 2, "-n-small %d: want at least 2", o.small)
	bad(o.sweeps < 2, "-gibbs-sweeps %d: want at least 2", o.sweeps)
	bad(o.doubt < 1, "-doubt-draws %d: want at least 1", o.doubt)
	bad(o.planted < 1, "-planted-draws %d: want at least 1", o.planted)
	bad(o.quick && !slices.Equal(o.names, []string{"planted"}), "-quick is for -run planted")
	o.only = make(choice)
	for _, f := range list(x.only) {
		name, value, ok := strings.Cut(f, "=")
		bad(!ok, "-only %q: want NAME=VALUE", f)
		o.only[name] = strings.Split(value, "|")
	}
	bad(o.maxSlow < 0, "-most-slow %d: want 0 or more", o.maxSlow)
	bad(o.workers < 0, "-workers %d: want 0 or more", o.workers)
}

// checkScore checks the flags of score.
func (x *flags) checkScore() {
	o, bad := &x.options, x.wrong.If
	score := slices.Contains(o.names, "score")
	bad(score && o.scoreFile == "", "-topics is missing, which -run score asks for")
	for _, s := range []struct{ name, value string }{{"topics", o.scoreFile}, {"name", o.scoreName}, {"topics-vocab", o.scoreVocab}} {
		bad(!score && s.value != "", "-%s has no use without -run score", s.name)
	}
	if o.scoreName == "" {
		o.scoreName = filepath.Base(o.scoreFile)
	}
}
