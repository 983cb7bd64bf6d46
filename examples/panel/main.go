// Panel measures the default fit on several corpora with documents held out, and compares
// it with what other programs reach there.
//
//	go run ./examples/panel -data FOLDER
//	go run ./examples/panel -data FOLDER -corpora kos,bbc -k 50 -refine 30 -json
//	go run ./examples/panel -data FOLDER -corpora dblp -k 200 -extra 50
//
// It fits jsmf.New(k) to the training documents of every folder NAME-split in
// FOLDER, which holds vocab.txt, docword.train.txt, docword.obs.txt and
// docword.held.txt (or these with .gz): obs and held are two halves of the tokens of
// the documents held out. -published fits the papers' method instead; -refine N sets
// the largest number of passes over the documents. The default finds many topics by
// splitting few; -extra N finds all at once, and N more to be merged.
//
// There is a row for each corpus, each K and each program:
//
//	ll      log-likelihood of a hidden token, natural logarithm: θ by 100 steps of EM
//	        on the observed half, θ_k ∝ 5/K + Σ_w n_w φ_wk, B mixed with 1 % of the
//	        unigram distribution
//	npmi    ln(p(v,w)/(p(v)·p(w))) / −ln p(v,w), where p are shares of the training
//	        documents that hold the words, and −1 for words that never meet: mean over
//	        the pairs of a topic's 20 most probable words, then over topics
//	read    the same of its 20 reading words (jsmf.Model.Reading)
//	unique  how many of these 20 are in no other topic's list, mean over topics
//	dead    topics with a share under 1/(20K), or with a cosine above 0.9 to a topic
//	        with a larger share (metrics.DeadTopics)
//	back    background topics (jsmf.Model.Background)
//	CPU s   CPU seconds of the fit, from documents in memory to the model, and by
//	        stage; refine has the reading weights, and other is what is in no stage. On
//	        systems that do not count them, seconds by the clock
//
// The rows of other programs, with the NPMI of their 20 best words, come from rivals.tsv,
// or from the file of -rivals in the same form; their seconds are those of another
// machine. Last comes a line for each of them: in how many of the cells that it has our ll
// is at least its own, in how many our read is at least its npmi, and the geometric mean
// of its CPU seconds over ours.
//
// -json prints a line of JSON for each fit instead of the table. -npy PREFIX saves the
// topics, N×K float64 with rows in the order of vocab.txt, as PREFIX_CORPUS_kK.npy, and
// the reading weights as PREFIX_CORPUS_kK_reading.npy.
// The exit status is 0, 1 for an error, 2 for wrong usage, and 130 when interrupted
// by Ctrl-C.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/examples/internal/heldout"
	"github.com/jsmf-go/spectral/internal/console"
)

func main() { cli.Main(run) }

// splitSuffix is how the names of folders with a split corpus end.
const splitSuffix = "-split"

type options struct {
	data      string
	corpora   []string // names without splitSuffix; empty: all
	topics    []int
	workers   int
	published bool
	refine    int // passes; 0: those of the default, if any
	extra     int // topics more than K that the start has; negative: as the fit has them by itself
	json      bool
	rivals    string // a file; "": the embedded one
	npy       string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("panel", args, stderr, parseFlags, func(o options) error {
		lines, _ := console.Lines(stdout) // whole lines only
		if o.json {
			lines = stdout
		}
		return panel(ctx, o, lines)
	})
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	var ks, corpora string
	f := flag.NewFlagSet("panel", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.data, "data", "", "the `folder` with the corpora, in folders NAME-split; required")
	f.StringVar(&ks, "k", "20,50,100", "numbers of topics: `K[,K…]`")
	f.StringVar(&corpora, "corpora", "", "these corpora only: `NAME[,NAME…]`")
	f.IntVar(&o.workers, "workers", 1, "how many goroutines work at once; 0: GOMAXPROCS")
	f.BoolVar(&o.published, "published", false, "fit the papers' method in place of the default")
	f.IntVar(&o.refine, "refine", 0, "`N` passes over the documents in the end; 0: as the fit has them by itself")
	f.IntVar(&o.extra, "extra", -1, "find `N` topics more than K by anchors, and split none; negative: as the fit does by itself")
	f.BoolVar(&o.json, "json", false, "print JSON Lines")
	f.StringVar(&o.rivals, "rivals", "", "what other programs reach: a `file` in place of rivals.tsv")
	f.StringVar(&o.npy, "npy", "", "save topics as NumPy files whose paths begin with this `prefix`")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var wrong cli.Wrong
	bad := wrong.If
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	bad(o.data == "", "-data is missing")
	bad(o.workers < 0, "-workers %d: want 0 or more", o.workers)
	bad(o.refine < 0, "-refine %d: want 0 or more", o.refine)
	o.topics = wrong.Ints("k", ks, 2)
	if corpora != "" {
		for name := range strings.SplitSeq(corpora, ",") {
			o.corpora = append(o.corpora, strings.TrimSuffix(strings.TrimSpace(name), splitSuffix))
		}
	}
	return o, wrong.Err("panel", stderr)
}

// names returns the corpora to fit to: those of -corpora, or all, sorted.
func (o options) names() ([]string, error) {
	if o.corpora != nil {
		return o.corpora, nil
	}
	dirs, err := filepath.Glob(filepath.Join(o.data, "*"+splitSuffix))
	if err != nil {
		return nil, err
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("%s: no folder NAME%s", o.data, splitSuffix)
	}
	var names []string
	for _, d := range dirs {
		names = append(names, strings.TrimSuffix(filepath.Base(d), splitSuffix))
	}
	slices.Sort(names)
	return names, nil
}

// panel makes all fits, and prints each as soon as it is scored.
func panel(ctx context.Context, o options, w io.Writer) error {
	names, err := o.names()
	if err != nil {
		return err
	}
	rivals, err := o.readRivals()
	if err != nil {
		return err
	}
	if o.npy != "" { // all are in the same folder
		if err := cli.Writable(o.npy + "_"); err != nil {
			return err
		}
	}
	var p printer = &table{w: w}
	if o.json {
		p = lines{w}
	}
	for _, name := range names {
		s, err := heldout.ReadSplit(ctx, filepath.Join(o.data, name+splitSuffix))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		e := heldout.NewEvaluator(s, o.workers)
		for _, k := range o.topics {
			r, x, err := o.measure(ctx, e, s.Train, k)
			if err != nil {
				return fmt.Errorf("%s, k = %d: %w", name, k, err)
			}
			r.Corpus, r.Rivals = name, rivals[cell{name, k}]
			if err := p.print(r); err != nil {
				return err
			}
			if err := o.save(name, x); err != nil {
				return err
			}
		}
	}
	return p.end()
}

// save writes the files of -npy.
func (o options) save(name string, x arrays) error {
	if o.npy == "" {
		return nil
	}
	n, k := x.topics.Dims()
	path := fmt.Sprintf("%s_%s_k%d", o.npy, name, k)
	if err := cli.WriteNPY(path+".npy", n, k, x.topics.RawRowView); err != nil {
		return err
	}
	return cli.WriteNPY(path+"_reading.npy", n, k, x.reading.RawRowView)
}
