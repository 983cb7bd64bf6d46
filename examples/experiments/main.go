// Experiments repeats the experiments of the papers: it fits models to corpora by
// many methods, measures them, and writes tables (CSV), figures and a page that
// says what to look for.
//
//	go run . -data FOLDER -corpora nips17,kos -out results
//	go run . -data FOLDER -corpora kos -k 10,20 -methods Baseline,AP -run curves -out /tmp/kos
//	go run . -data FOLDER -corpora kos -run score -topics B.npy -name "some tool" -out /tmp/kos
//
// FOLDER/NAME holds docword.NAME.txt.gz (or .txt) and vocab.NAME.txt in UCI form,
// and labels.txt where the documents have classes, a line for each, of which what
// follows the last tab counts.
//
// The experiments (-run), with the figures they repeat:
//
//	curves       measures against K by method and recovery: lee-2020 Figures 3 and 4,
//	             lee-2018 Figures 2.5 and A.1, dong-2019 Figure 4.1
//	iterations   measures against the iterations of AP and DR: lee-2020 Figure 2
//	pruning      measures against K by document-frequency cut-off: lee-2020 Figure 1
//	convergence  the changes of AP from iteration to iteration: lee-2018 Figure A.4
//	semi         measures on documents drawn from known topics: lee-2018 Figure A.2
//	gaps         distances to these topics: lee-2018 Figure A.3
//	time         seconds against K and against documents: lee-2020 Figure 6,
//	             dong-2019 Figure 4.1, arora-2013 Figure 1
//	heldout      held-out probability, coherence, unique words: arora-2013 Figure 6
//	anchorfree   topics with and without anchors: fu-2018 Tables 4 to 16; every draw
//	             of 3, 4, 5 classes of -classes, and many topics of -large
//	clusters     the documents of -classes clustered by their topics
//	score        topics from elsewhere by the same measures (-topics)
//
// All but score is run when nothing is said. In -out it leaves NAME.csv for each
// table, with the seconds apart in NAME-seconds.csv, so that the first is the same
// to the byte when all is run again on the same type of CPU; pictures; README.md, the page; and
// records.jsonl, in which each cell (a corpus, a method, a K) is written down as
// soon as it is done. What stands there is not computed again: a run that was
// stopped goes on where it was, and one with more methods or corpora adds what is
// missing. A cell is known by all that it depends on, the content of the input
// files among it. Remove the file to begin anew. Texts for the page are taken from
// notes.md in -out, if there is one: what follows "## NAME" goes to that section.
//
// Progress and the time left go to standard error. After Ctrl-C or the time of
// -budget the tables and the page are made of what there is. The exit status is
// 0, 1 for an error, 2 for wrong usage, and 130 when interrupted by Ctrl-C.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/examples/internal/cli"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("experiments", args, stderr, parseFlags, func(o options) error { return runAll(ctx, o, stdout, stderr) })
}

type options struct {
	data, stop  string
	corpora     []string
	classes     string // the corpus with classes
	large       string // the corpus for many topics without anchors
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
	seed        uint64
	workers     int
	scoreFile   string
	scoreName   string
	scoreVocab  string
	full        bool
	mostFree    int
	mostSlow    int
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

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("experiments", flag.ContinueOnError)
	f.SetOutput(stderr)
	var names []string
	for _, e := range experiments {
		names = append(names, e.name)
	}
	f.StringVar(&o.data, "data", "", "the `folder` of corpora (required)")
	corpora := f.String("corpora", "nips17,kos", "names of corpora in it: `NAME[,NAME…]`")
	f.StringVar(&o.classes, "classes", "bbc", "the `name` of the corpus with classes, for anchorfree and clusters; none: leave these out")
	f.StringVar(&o.large, "large", "nips17", "the `name` of the corpus that anchorfree fits many topics to; none: leave that out")
	f.StringVar(&o.stop, "stop", "", "stop words, one a line: a `file`. Otherwise the library's English ones")
	ks := f.String("k", "5,10,15,20,25,50,75,100", "numbers of topics: `K[,K…]`")
	methods := f.String("methods", strings.Join(methodNames, ","), "`methods` of curves and time")
	recoverers := f.String("recover", strings.Join(recovererNames, ","), "`ways` of recovery of curves")
	runs := f.String("run", "", "`experiments` by name: "+strings.Join(names, ", ")+"; otherwise all but score")
	f.StringVar(&o.out, "out", "", "the `folder` for results (required); it is made")
	formats := f.String("format", "png", "png, svg or png,svg: the `formats` of pictures")
	f.DurationVar(&o.budget, "budget", 0, "begin no cell after this `time`, as 30m; 0: no limit")
	f.IntVar(&o.words, "n", 5000, "keep the `N` best words by tf·ln⌊M/df⌋")
	f.IntVar(&o.small, "n-small", 1500, "the same for semi, gaps, heldout, and time against documents: `N` words")
	docs := f.String("docs", "2000,10000", "numbers of documents of semi and gaps: `M[,M…]`")
	f.IntVar(&o.sweeps, "gibbs-sweeps", 100, "`sweeps` of Gibbs sampling; the last half is averaged over")
	f.Uint64Var(&o.seed, "seed", 1, "the seed of all that is drawn")
	f.IntVar(&o.workers, "workers", 0, "how many goroutines work at once; 0: GOMAXPROCS. Only times depend on it")
	f.StringVar(&o.scoreFile, "topics", "", "of score: topics as an N×K (or K×N) matrix, .npy or text, over the words of the\ncorpus' vocabulary file or of -topics-vocab; or, in a file that ends in .words, a\nline of top words a topic: a `file`")
	f.StringVar(&o.scoreName, "name", "", "of score: what to call them, the file's `name` otherwise")
	f.StringVar(&o.scoreVocab, "topics-vocab", "", "of score: the words of the matrix, one a line, where they are not those of the\ncorpus: a `file`")
	f.BoolVar(&o.full, "full", false, "of curves: all ways of recovery after all rectifications, not after AP only, which are\nthose of the figures; it takes several times as long")
	f.IntVar(&o.mostSlow, "most-slow", 50, "of curves: the largest `K` for Gibbs sampling and DC, which take longest")
	f.IntVar(&o.mostFree, "most-free", 50, "of anchorfree: the largest `F` for AnchorFree-LP, whose time grows with its third power")
	f.BoolVar(&o.plan, "plan", false, "only list the cells that are to be done")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress on standard error")
	f.Usage = func() {
		fmt.Fprintln(stderr, "Usage: experiments -data FOLDER -out FOLDER [flags]")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var wrong cli.Wrong
	bad := wrong.If
	choose := func(flag, s string, from []string) []string {
		out := list(s)
		bad(len(out) == 0, "-%s is empty", flag)
		for i, x := range out {
			bad(!slices.Contains(from, x), "-%s %q: want %s", flag, x, strings.Join(from, ", "))
			bad(slices.Contains(out[:i], x), "-%s names %s twice", flag, x)
		}
		return out
	}
	numbers := func(flag, s string, least int) []int {
		var out []int
		for _, x := range list(s) {
			n, err := strconv.Atoi(x)
			bad(err != nil || n < least, "-%s %q: want whole numbers from %d", flag, x, least)
			bad(slices.Contains(out, n), "-%s names %d twice", flag, n)
			out = append(out, n)
		}
		bad(len(out) == 0, "-%s is empty", flag)
		slices.Sort(out)
		return out
	}
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	bad(o.data == "", "-data is missing")
	bad(o.out == "", "-out is missing")
	o.corpora = list(*corpora)
	bad(len(o.corpora) == 0, "-corpora is empty")
	for i, x := range o.corpora {
		bad(slices.Contains(o.corpora[:i], x), "-corpora names %s twice", x)
		bad(x != filepath.Base(x), "-corpora %q: want the name of a folder in -data", x)
	}
	o.topics = numbers("k", *ks, 2)
	o.docs = numbers("docs", *docs, 10)
	o.methods = choose("methods", *methods, methodNames)
	o.recoverers = choose("recover", *recoverers, recovererNames)
	o.formats = choose("format", *formats, []string{"png", "svg"})
	if *runs == "" {
		o.names = slices.DeleteFunc(names, func(s string) bool { return s == "score" })
	} else {
		o.names = choose("run", *runs, names)
	}
	score := slices.Contains(o.names, "score")
	bad(score && o.scoreFile == "", "-topics is missing, which -run score asks for")
	for _, x := range []struct{ name, value string }{{"topics", o.scoreFile}, {"name", o.scoreName}, {"topics-vocab", o.scoreVocab}} {
		bad(!score && x.value != "", "-%s has no use without -run score", x.name)
	}
	if o.scoreName == "" {
		o.scoreName = filepath.Base(o.scoreFile)
	}
	for _, x := range []struct {
		name  string
		value *string
	}{{"classes", &o.classes}, {"large", &o.large}} {
		bad(*x.value == "", "-%s is empty; want a name, or none", x.name)
		if *x.value == "none" {
			*x.value = ""
		}
	}
	bad(o.budget < 0, "-budget %v: want 0 or more", o.budget)
	bad(o.words < 2, "-n %d: want at least 2", o.words)
	bad(o.small < 2, "-n-small %d: want at least 2", o.small)
	bad(o.sweeps < 2, "-gibbs-sweeps %d: want at least 2", o.sweeps)
	bad(o.mostSlow < 0, "-most-slow %d: want 0 or more", o.mostSlow)
	bad(o.mostFree < 0, "-most-free %d: want 0 or more", o.mostFree)
	bad(o.workers < 0, "-workers %d: want 0 or more", o.workers)
	return o, wrong.Err("experiments", stderr)
}

// runAll plans the cells, does those that are not done, and writes what there is
// in the end. An interrupted run writes it too.
func runAll(ctx context.Context, o options, stdout, stderr io.Writer) error {
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	s, err := openStore(o.out)
	if err != nil {
		return err
	}
	l := &lab{options: o, sources: make(map[string]*source)}
	var cells []cell
	planned := make(map[string]bool)
	for _, e := range experiments {
		if !slices.Contains(o.names, e.name) {
			continue
		}
		more, err := e.plan(ctx, l)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		for _, c := range more { // experiments share cells
			if !planned[c.key()] {
				planned[c.key()] = true
				cells = append(cells, c)
			}
		}
	}
	if o.plan {
		for _, c := range cells {
			_, done := s.done[c.key()]
			fmt.Fprintf(stdout, "%v\t%s\n", map[bool]string{true: "done", false: "to do"}[done], c)
		}
		return nil
	}
	err = work(ctx, o, s, cells, stderr)
	t := &tables{rows: make(map[string][]row)}
	for _, c := range cells {
		if r, ok := s.done[c.key()]; ok {
			t.rows[c.group.name] = append(t.rows[c.group.name], r.Rows...)
			t.seconds += r.Seconds
			t.cells++
		} else {
			t.missing++
		}
	}
	if werr := write(l, t); werr != nil {
		return errors.Join(err, werr)
	}
	if err == nil && !o.quiet {
		fmt.Fprintf(stderr, "%s\n", filepath.Join(o.out, pageName))
	}
	return err
}

// work does the cells that are not done, in their order.
func work(ctx context.Context, o options, s *store, cells []cell, stderr io.Writer) error {
	var todo []cell
	left := 0.0
	for _, c := range cells {
		if _, ok := s.done[c.key()]; !ok {
			todo = append(todo, c)
			left += c.cost
		}
	}
	say := func(format string, args ...any) {
		if !o.quiet {
			fmt.Fprintf(stderr, format, args...)
		}
	}
	say("%d cells, %d of them done before\n", len(cells), len(cells)-len(todo))
	begun, spent := time.Now(), 0.0 // spent, like cost, in the seconds of some machine
	for i, c := range todo {
		if o.budget > 0 && time.Since(begun) >= o.budget {
			say("the time of -budget is over, %d cells are left; the same command goes on with them\n", len(todo)-i)
			return nil
		}
		start, cpu := time.Now(), cpuSeconds()
		rows, err := c.run(ctx)
		if ctx.Err() != nil {
			say("%d cells are left; the same command goes on with them\n", len(todo)-i)
			return ctx.Err()
		}
		outcome := ""
		if err != nil {
			// What a method cannot do is a result, too.
			r := row{"error": err.Error()}
			for _, x := range c.settings {
				if slices.Contains(c.group.labels, x.Name) {
					r[x.Name] = x.Value
				}
			}
			rows, outcome = []row{r}, ": "+err.Error()
		}
		took := time.Since(start)
		if err := s.add(record{Key: c.key(), Group: c.group.name, Version: c.group.version, Settings: c.settings, Rows: rows, Seconds: cpuSeconds() - cpu}); err != nil {
			return err
		}
		spent += c.cost
		left -= c.cost
		rest := ""
		if spent > 0 && i+1 < len(todo) {
			rest = fmt.Sprintf(", %v left", time.Duration(left/spent*float64(time.Since(begun))).Round(time.Second))
		}
		say("%d/%d %s: %.1fs%s%s\n", i+1, len(todo), c, took.Seconds(), rest, outcome)
	}
	return nil
}
