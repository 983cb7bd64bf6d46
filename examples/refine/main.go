// Refine shows how passes over the documents (refine.Passes) improve spectral
// topics: it fits a model to training documents, refines it, and scores the
// topics before and after on held-out documents.
//
//	go run ./examples/refine -split FOLDER -k 50,100
//	go run ./examples/refine -docword docword.kos.txt.gz -vocab vocab.kos.txt -stop stop.txt -n 5000 -k 50
//
// -split names a folder with vocab.txt, docword.train.txt, docword.obs.txt and
// docword.held.txt (or these with .gz): obs and held are two halves of the same
// held-out documents. With -docword the program curates the corpus and makes such
// a split itself: a tenth of the documents, half of the tokens of each.
//
// For each K there is a row for the spectral model and one for each number of
// passes:
//
//	ll       held-out log-likelihood a token, by document completion: θ by 100
//	         steps of EM on the observed half, θ_k ∝ 5/K + Σ_w n_w φ_wk, B mixed
//	         with 1 % of the unigram distribution; p of the hidden half. Higher is
//	         better. The unigram distribution's own is printed above the table
//	own      the same under the model's own α
//	npmi     of the 20 top words, in the training documents
//	dissim   how many of the 20 top words are in no other topic's top 20
//	spec     KL divergence from the unigram distribution in bits
//	hoyer    sparsity of the topics
//	uniq1    share of topics whose first word is that of no other
//	Σα       of the prior
//	seconds  the whole fit by wall clock, without the reading of files; u is the
//	         same in units of a matrix product 5000×5000 · 5000×60 of gonum on
//	         one core (-workers 1 makes them comparable)
//
// -rivals adds what other programs reached on one split of KOS, for K = 50 and 100,
// by the same measures and after their usual numbers of iterations; their seconds
// are those of the machine they were measured on.
//
// -npy PREFIX saves the topics, N×K float64, as PREFIX_kK_pP.npy. The exit status
// is 0, 1 for an error, 2 for wrong usage, and 130 when interrupted by Ctrl-C.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jsmf-go/spectral/anchor"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/examples/internal/heldout"
	"github.com/jsmf-go/spectral/internal/npy"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

func main() { cli.Main(run) }

type options struct {
	split          string
	corpus         cli.UCI
	words          int
	topics, passes []int
	rectifyName    string
	rectifier      rectify.Rectifier
	minDF          int
	refine         refine.Passes
	swaps          float64
	seed           uint64
	workers        int
	npy            string
	rivals         bool
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("refine", args, stderr, parseFlags, func(o options) error { return table(ctx, o, stdout) })
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	var ks, ps, method string
	f := flag.NewFlagSet("refine", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.split, "split", "", "a `folder` with a corpus that is split; this, or -docword and -vocab, is required")
	o.corpus.Flags(f)
	f.IntVar(&o.words, "n", 5000, "with -docword: keep the `N` best words by tf·ln⌊M/df⌋")
	f.StringVar(&ks, "k", "50,100", "numbers of topics: `K[,K…]`")
	f.StringVar(&ps, "passes", "3,10,30", "numbers of passes: `P[,P…]`")
	f.StringVar(&o.rectifyName, "rectify", "ap", "ap or enn: the `method`")
	f.IntVar(&o.minDF, "anchor-min-df", 0, "anchors must be in at least `D` documents")
	f.StringVar(&method, "method", "cvb0", "cvb0, cvb0-document or map-em: the `form` of the pass")
	f.Float64Var(&o.refine.Beta, "beta", 0, "the prior count of a word in a topic; 0: the default")
	f.Float64Var(&o.refine.Alpha, "alpha", 0, "the first prior count of a topic in a document; 0: from A")
	f.Float64Var(&o.refine.Temperature, "temperature", 0, "of the first pass; 0: the default; 1: no annealing")
	f.Float64Var(&o.refine.Damping, "damping", 0, "the power that counts are raised to; 0: 1")
	f.Float64Var(&o.swaps, "swaps", 0, "merge and split at most this `share` of the topics, in [0, 1]; 0: none")
	f.BoolVar(&o.refine.FixedAlpha, "fixed-alpha", false, "do not re-estimate α")
	f.Uint64Var(&o.seed, "seed", 1, "of the split, with -docword")
	f.IntVar(&o.workers, "workers", 0, "how many goroutines work at once; 0: GOMAXPROCS")
	f.StringVar(&o.npy, "npy", "", "save topics as NumPy files whose paths begin with this `prefix`")
	f.BoolVar(&o.rivals, "rivals", false, "print what other programs reach on the split of KOS that -split was made for")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var wrong cli.Wrong
	bad := wrong.If
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	bad(o.split == "" && (o.corpus.Docword == "" || o.corpus.Vocab == ""), "-split, or -docword and -vocab, is missing")
	bad(o.split != "" && o.corpus.Docword != "", "-split and -docword exclude each other")
	bad(o.rivals && o.split == "", "-rivals has no use without -split")
	bad(o.words < 2, "-n %d: want at least 2", o.words)
	bad(o.minDF < 0, "-anchor-min-df %d: want 0 or more", o.minDF)
	bad(!(o.swaps >= 0 && o.swaps <= 1), "-swaps %v: want 0 to 1", o.swaps)
	bad(o.workers < 0, "-workers %d: want 0 or more", o.workers)
	o.topics = wrong.Ints("k", ks, 2)
	o.passes = wrong.Ints("passes", ps, 1)
	switch o.rectifyName {
	case "ap":
		o.rectifier = rectify.AP{}
	case "enn":
		o.rectifier = rectify.ENN{}
	default:
		bad(true, "-rectify %q: want ap or enn", o.rectifyName)
	}
	switch method {
	case "cvb0":
	case "map-em":
		o.refine.Method = refine.MAPEM
	case "cvb0-document":
		o.refine.Method = refine.CVB0Document
	default:
		bad(true, "-method %q: want cvb0, cvb0-document or map-em", method)
	}
	if err := o.refine.Validate(); err != nil {
		bad(true, "%v", err)
	}
	return o, wrong.Err("refine", stderr)
}

func load(ctx context.Context, o options) (s heldout.Split, err error) {
	if o.split != "" {
		return heldout.ReadSplit(ctx, o.split)
	}
	c, err := o.corpus.Load(ctx, corpus.Curation{Words: o.words})
	if err != nil {
		return s, err
	}
	train, held, err := c.Split(0.1, o.seed)
	if err != nil {
		return s, err
	}
	s.Train = train
	if s.Observed, s.Held, err = held.SplitTokens(0.5, o.seed); err != nil {
		return s, err
	}
	return s, s.Check()
}

func table(ctx context.Context, o options, w io.Writer) error {
	d, err := load(ctx, o)
	if err != nil {
		return err
	}
	e := newEvaluator(d, o.workers)
	u := testutil.Stick()
	fmt.Fprintf(w, "%d training documents, %d held out, %d words, %d training tokens; %s, anchors in at least %d documents; u = %.3f s\n",
		d.Train.NumDocs(), d.Observed.NumDocs(), d.Train.NumWords(), d.Train.Tokens(), o.rectifyName, o.minDF, u)
	if o.swaps > 0 {
		fmt.Fprintf(w, "at most %v K topics split, after as many were merged\n", o.swaps)
	}
	fmt.Fprintf(w, "%v\nll of the unigram distribution %.4f\n", o.refine, e.Unigram())
	for _, k := range o.topics {
		fmt.Fprintf(w, "\nK = %d\n", k)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprint(t, "topics\tll\town\tnpmi\tdissim\tspec\thoyer\tuniq1\tΣα\tseconds\tu\t\n")
		var spectral *jsmf.Model
		for _, p := range append([]int{0}, o.passes...) {
			name := "spectral"
			pipe := jsmf.Published(k).Rectify(o.rectifier).Anchors(anchor.QR{MinDocs: o.minDF}).Workers(o.workers)
			if p > 0 {
				name = fmt.Sprintf("%d passes", p)
				r := o.refine
				r.N, r.Swaps = p, int(o.swaps*float64(k))
				pipe = pipe.Refine(r)
			}
			begun := time.Now()
			m, err := pipe.Fit(ctx, d.Train)
			if err != nil {
				return fmt.Errorf("k=%d: %w", k, err)
			}
			seconds := time.Since(begun).Seconds()
			if spectral == nil {
				spectral = m
			}
			b := heldout.InCorpus(m, mat.DenseCopyOf(m.Topics()), d.Train)
			s, err := e.score(ctx, b, m.Alpha())
			if err != nil {
				return err
			}
			sum := 0.0
			for _, a := range m.Alpha() {
				sum += a
			}
			fmt.Fprintf(t, "%s\t%.4f\t%.4f\t%.4f\t%.2f\t%.2f\t%.3f\t%.2f\t%.2f\t%.2f\t%.1f\t\n",
				name, s.ll, s.own, s.npmi, s.dissim, s.spec, s.hoyer, s.uniq1, sum, seconds, seconds/u)
			if o.npy != "" {
				n, _ := b.Dims()
				if err := npy.WriteFile(fmt.Sprintf("%s_k%d_p%d.npy", o.npy, k, p), n, k, b.RawRowView); err != nil {
					return err
				}
			}
		}
		if o.rivals {
			for _, r := range rivals[k] {
				fmt.Fprintf(t, "%s\t\n", strings.Join(r[:], "\t"))
			}
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}
