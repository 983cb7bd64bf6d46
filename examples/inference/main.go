// Inference compares the methods that infer the topic proportions of documents: the
// experiments of lee-2018, chapter 4 (Figures 4.3 and 4.4, Table 4.1), on a corpus
// in UCI form.
//
//	go run ./examples/inference -docword docword.kos.txt.gz -vocab vocab.kos.txt -n 5000 -k 5,25,50,100
//
// For each K a model is fitted by jsmf.Published to a training part of the corpus. Then:
//
//	SS  semi-synthetic: documents drawn from its topics with the sparse, uncorrelated
//	    compositions of Dirichlet(5/K); -alpha-sum replaces the 5
//	SR  semi-real: the same with the correlated compositions of a logistic-normal
//	    distribution that has the moments of those inferred, by MAP, in the training
//	    documents. (The paper takes it from CTM.)
//	FR  real: the training documents and the others, with Gibbs sampling as the truth
//
// SS and SR have as many documents as -docs says, with lengths drawn from those of the
// corpus or the one of -length, and as many again that PADD does not learn from. Each
// method has the real topics, and for A the second moment of the true compositions of
// the documents it may learn from (of FR: the model's). Gibbs and MAP have in SS the
// true α, elsewhere that with A's moments.
//
// Three rows tell where errors come from. "SPI of Bw" is SPI of the exact word
// probabilities of the true w, the limit of long documents: the bias that is left.
// "PADD(…, own prior)" has the other A: of SS and SR the model's, as in the paper, of FR
// the second moment of the sampled compositions. "PADD(…, tol=0.3)", of FR, is stopped
// 0.3·‖A‖ away from A, where the sampled compositions themselves are, or nearly.
//
// It prints a table in Markdown, or with -csv as comma-separated values. A pair a/b is
// of the documents that PADD learned from and of those it did not. Shown are means over
// the documents; the metrics are those of metrics.Compositions. "Σw²" is the mean sum of
// the squared shares, the trace of the second moment: 1 for a single topic a document,
// 1/K for all alike. "zero" counts, in per cent, the documents of which TLI says
// nothing; they are left out of its means. "ms" is the time a
// document on one core, without preparation, and "prep" the seconds of that. The rows
// "random" and "truth" are for comparison.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/jsmf"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("inference", args, stderr, parseFlags, func(o options) error { return compare(ctx, o, stdout, stderr) })
}

type options struct {
	corpus           cli.UCI
	words, minDF     int
	topics           []int
	settings         []string
	docs, length     int
	alphaSum, unseen float64
	burnIn, sweeps   int
	noTLI            bool
	seed             uint64
	workers          int
	csv, quiet       bool
}

var allSettings = []string{"SS", "SR", "FR"}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("inference", flag.ContinueOnError)
	f.SetOutput(stderr)
	var ks, settings string
	o.corpus.Flags(f)
	f.IntVar(&o.words, "n", 5000, "keep the `N` best words by tf·ln⌊M/df⌋")
	f.IntVar(&o.minDF, "anchor-min-df", 0, "anchors must be in at least `D` documents")
	f.StringVar(&ks, "k", "5,25,50,100", "numbers of topics: `K[,K…]`")
	f.StringVar(&settings, "settings", "SS,SR,FR", "which experiments: `S[,S…]`")
	f.IntVar(&o.docs, "docs", 1000, "the number of documents `M` of SS and SR")
	f.IntVar(&o.length, "length", 0, "the `tokens` of each document of SS and SR; 0: drawn from the lengths of the corpus")
	f.Float64Var(&o.alphaSum, "alpha-sum", 5, "the `sum` of the parameters of SS's Dirichlet distribution")
	f.Float64Var(&o.unseen, "unseen", 0.1, "the `share` of the real documents that no model is fitted to")
	f.IntVar(&o.burnIn, "burn-in", 200, "`sweeps` of Gibbs sampling that are not counted")
	f.IntVar(&o.sweeps, "sweeps", 1000, "`sweeps` that are")
	f.BoolVar(&o.noTLI, "no-tli", false, "leave out TLI, whose preparation takes the longest")
	f.Uint64Var(&o.seed, "seed", 1, "the seed of all that is drawn")
	f.IntVar(&o.workers, "workers", 0, "how many goroutines work at once, but for what is timed; 0: GOMAXPROCS")
	f.BoolVar(&o.csv, "csv", false, "print comma-separated values")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress on standard error")
	f.Usage = func() {
		fmt.Fprintln(stderr, "Usage: inference -docword F -vocab F [flags]")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var wrong cli.Wrong
	bad := wrong.If
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	o.corpus.Require(&wrong)
	bad(o.words < 2, "-n %d: want at least 2", o.words)
	o.topics = wrong.Ints("k", ks, 2)
	for s := range strings.SplitSeq(settings, ",") {
		s = strings.ToUpper(strings.TrimSpace(s))
		bad(!slices.Contains(allSettings, s), "-settings %q: want some of %s", settings, strings.Join(allSettings, ","))
		o.settings = append(o.settings, s)
	}
	bad(o.minDF < 0, "-anchor-min-df %d: want 0 or more", o.minDF)
	bad(o.docs < 1, "-docs %d: want at least 1", o.docs)
	bad(o.length < 0 || o.length > corpus.MaxCount, "-length %d: want 0 to %d", o.length, corpus.MaxCount)
	bad(!(o.alphaSum > 0) || math.IsInf(o.alphaSum, 1), "-alpha-sum %g: want a positive number", o.alphaSum)
	bad(!(o.unseen > 0 && o.unseen < 1), "-unseen %g: want a share in (0, 1)", o.unseen)
	bad(o.burnIn < 0, "-burn-in %d: want 0 or more", o.burnIn)
	bad(o.sweeps < 1, "-sweeps %d: want at least 1", o.sweeps)
	bad(o.workers < 0, "-workers %d: want 0 or more", o.workers)
	if o.burnIn == 0 {
		o.burnIn = -1 // none, for infer.Gibbs
	}
	return o, wrong.Err("inference", stderr)
}

func compare(ctx context.Context, o options, stdout, stderr io.Writer) error {
	rec := cli.Progress(o.quiet, stderr)
	note := func(format string, args ...any) {
		if !o.quiet {
			fmt.Fprintf(stderr, format+"\n", args...)
		}
	}
	c, err := o.corpus.Load(ctx, corpus.Curation{Words: o.words})
	if err != nil {
		return err
	}
	train, unseen, err := c.Split(o.unseen, o.seed)
	if err != nil {
		return err
	}
	counts, _, err := cli.Count(ctx, rec, train, cooc.Options{Workers: o.workers})
	if err != nil {
		return err
	}
	train = counts.Info().Corpus // less the shortest documents, and the words of these alone
	if unseen, _, err = unseen.Reindex(train.Vocabulary()); err != nil {
		return err
	}
	t := &table{w: stdout, csv: o.csv}
	t.head()
	for _, k := range o.topics {
		m, err := jsmf.Published(k).Anchors(anchor.QR{MinDocs: o.minDF}).Workers(o.workers).Record(rec).Fit(ctx, counts)
		if err != nil {
			return err
		}
		for _, s := range o.settings {
			e, err := prepare(ctx, o, s, m, train, unseen, note)
			if err != nil {
				return fmt.Errorf("%s, K=%d: %w", s, k, err)
			}
			if err := e.run(ctx, o, t, note); err != nil {
				return fmt.Errorf("%s, K=%d: %w", s, k, err)
			}
		}
	}
	return t.err
}
