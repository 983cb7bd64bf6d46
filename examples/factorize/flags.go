package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/jsmf"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/rectify"
)

// options are what the flags ask for.
type options struct {
	corpus                 cli.UCI
	published              bool // the papers' pipeline, with the methods below
	words                  int  // 0: all of the vocabulary file, in its order
	topics                 []int
	rectifyName            string
	rectifier              rectify.Rectifier
	finder                 finderFlags
	recoverName            string
	recoverer              recovery.Recoverer
	anchorFreeName         string // "": by anchors
	learner                anchorfree.Learner
	weightsName            string
	weighting              cooc.Weighting
	alpha                  bool
	seedsFile              string
	seeds                  []jsmf.Seed
	hierarchy              []int // sizes of the levels above the topics
	refine                 int   // passes over the documents; 0: none
	minDistinct, minTokens int
	seed                   uint64
	workers                int
	model                  string
	topicsNPY, readingNPY  string
	correlationsNPY        string
	inferName              string
	inferDocword, thetaNPY string
	json, quiet, estimate  bool
}

// flags are the options, and the values of flags that options are made from.
type flags struct {
	options
	vocabulary, ks, hierarchy string
	rectifier                 rectifierFlags
	recoverer                 recovererFlags
	files                     cli.Files
	given, ofMethods          map[string]bool
	wrong                     cli.Wrong
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (options, error) {
	var x flags
	f := flag.NewFlagSet("factorize", flag.ContinueOnError)
	f.SetOutput(stderr)
	x.defineMethods(f)
	x.ofMethods = map[string]bool{"hierarchy": true}
	f.VisitAll(func(g *flag.Flag) { x.ofMethods[g.Name] = true })
	x.define(f)
	f.Usage = func() {
		fmt.Fprintln(stderr, "Usage: factorize -docword F -vocab F [-n N | -vocabulary all] -k K[,K…] [flags]")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return x.options, err
	}
	x.given = cli.Given(f)
	for name := range x.given {
		x.published = x.published || x.ofMethods[name]
	}
	x.wrong.If(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	x.checkCorpus()
	x.checkTopics()
	x.checkMethods()
	x.checkOutputs()
	return x.options, x.wrong.Err("factorize", stderr)
}

// define defines the flags of input, output and curation.
func (x *flags) define(f *flag.FlagSet) {
	o := &x.options
	o.corpus.Flags(f, &x.files)
	f.IntVar(&o.words, "n", 0, "keep the `N` best words by tf·ln⌊M/df⌋; the papers' pipeline needs this or -vocabulary all, and\nthe default takes all words without it, except those of -stop")
	f.StringVar(&x.vocabulary, "vocabulary", "", "`all`: no curation; every word is kept that is in a document used, and no document\nis left out for too few distinct words unless -min-distinct is given")
	f.IntVar(&o.minDistinct, "min-distinct", 3, "leave out documents with fewer distinct words of the vocabulary; of the default none,\nunless this is given")
	f.IntVar(&o.minTokens, "min-tokens", 5, "leave out documents with fewer tokens of the vocabulary; 2 is the least there can be. Of\nthe default none, unless this is given")
	f.StringVar(&x.ks, "k", "", "numbers of topics, as 25 or 25,50,100: `K[,K…]` (required)")
	f.StringVar(&x.hierarchy, "hierarchy", "", "`K1,K2[,…]`, in place of -k: K1 topics, K2 < K1 topics of these, and so on, compared with direct fits")
	f.Uint64Var(&o.seed, "seed", 0, "the seed of methods that draw random numbers: dc, lr, and auto where it takes lr; projected and tsne")
	f.IntVar(&o.workers, "workers", 0, "how many goroutines work at once; 0: GOMAXPROCS. Results are the same bits for any")
	x.files.Out(f, &o.model, "model", "save the model to this `file`; with several K, _kK goes before the extension")
	x.files.Out(f, &o.topicsNPY, "topics-npy", "save B to this NumPy `file`, float64, one row for each word of the vocabulary file (zeros\nfor words left out), one column a topic; named as -model with several K")
	f.StringVar(&o.inferName, "infer", "", "infer the topic proportions of the documents of -infer-docword; the `method`: "+inferHelp)
	x.files.In(f, &o.inferDocword, "infer-docword", "counts in UCI form over the words of -vocab, plain or gzipped: a `file`, for -infer")
	x.files.Out(f, &o.thetaNPY, "theta-npy", "save the topic proportions to this NumPy `file`, float64, one row for each document of\n-infer-docword, one column a topic; named as -model with several K")
	x.files.Out(f, &o.correlationsNPY, "correlations-npy", "save A to this NumPy `file`, float64, K×K, scaled to sum 1, with topics in the order of\n-topics-npy; named as -model with several K")
	x.files.Out(f, &o.readingNPY, "reading-npy", "save the weights by which words are shown to this NumPy `file`, in the form of -topics-npy")
	f.IntVar(&o.refine, "refine", 0, "at most `N` passes over the documents in the end, which improve topics and correlations\n(refine.Passes); the default has them by itself")
	x.files.In(f, &o.seedsFile, "seeds", cli.SeedsHelp)
	f.BoolVar(&o.published, "published", false, "fit the papers' pipeline (jsmf.Published) in place of the default; any flag of its methods\ndoes so, too: -rectify, -anchors, -recover, -weights, -hierarchy and so on")
	f.BoolVar(&o.alpha, "alpha", false, "fit a Dirichlet prior to A")
	f.BoolVar(&o.json, "json", false, "print one JSON object for each K and nothing else")
	f.BoolVar(&o.estimate, "estimate", false, "fit nothing, but print how much memory a fit for each K would need at most")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress on standard error")
}

// defineMethods defines the flags of the methods.
func (x *flags) defineMethods(f *flag.FlagSet) {
	o := &x.options
	f.StringVar(&o.weightsName, "weights", "unbiased", "how words weigh in C: unbiased (pairs of tokens), offdiagonal (pairs of different words)\nor tfidf (the plain second moment): the `weights`")
	f.StringVar(&o.rectifyName, "rectify", "ap", "the `method`: "+rectifierHelp)
	f.IntVar(&x.rectifier.iterations, "iterations", 0, "iterations `T`, of dc halvings; otherwise "+iterationsHelp)
	f.IntVar(&x.rectifier.passes, "passes", 0, "`P` passes over the documents, of lr and auto; otherwise 8")
	f.IntVar(&x.rectifier.rows, "enn-rows", 0, "`R` rows in which enn and lr look for negative entries; otherwise 10K+1000")
	f.StringVar(&o.finder.name, "anchors", "qr", "the `method`: "+finderHelp)
	f.IntVar(&o.finder.minDF, "anchor-min-df", 1, "anchors must be in at least `D` documents; 1 admits any word, as in the papers, 0 those that\nthe library takes for frequent enough (anchor.QR.MinDocs); those of -anchor-words need not")
	f.IntVar(&o.finder.dims, "project-dims", 0, "`D` dimensions of projected; otherwise 1000, or as many as there are words")
	f.BoolVar(&o.finder.sparse, "project-sparse", false, "projected by a matrix of which all but 10 % is zero, not a Gaussian one")
	f.BoolVar(&o.finder.cleanUp, "clean-up", false, "qr replaces each anchor once more by the word farthest from the others; projected does always")
	f.BoolVar(&o.finder.unnormalised, "unnormalised", false, "spa, xray, pca and tsne go by the rows of C, not of C̄")
	f.IntVar(&o.finder.embedDims, "embed-dims", 0, "`D` dimensions of pca and tsne; otherwise 3")
	f.Float64Var(&o.finder.perplexity, "perplexity", 0, "the effective number of neighbours `P` of tsne; otherwise 30")
	f.BoolVar(&o.finder.allVertices, "all-vertices", false, "all vertices that pca or tsne find become anchors; -k is the rank of the rectification then")
	x.files.In(f, &o.finder.words, "anchor-words", "the anchors of fixed and tandem: a `file`, a line a topic, the words of tandem with blanks between")
	f.StringVar(&o.finder.complete, "complete", "qr", "the `method` that finds the anchors -anchor-words leaves open: qr, projected, spa, snpa, xray, none")
	f.StringVar(&o.recoverName, "recover", "activeset", "the `method`: "+recovererHelp)
	f.StringVar(&x.recoverer.correlations, "correlations", "", "how A comes from C and B: `diagonal`, by the anchors' entries, the default; pinv, the\npseudo-inverse of B on both sides; multiplicative, updates from diagonal's")
	f.BoolVar(&x.recoverer.projectTopics, "project-topics", false, "of inverse: project its topics on the simplex, for which they are an error otherwise")
	f.Float64Var(&x.recoverer.smooth, "smooth", 0, "add `EPS` to the zeros of anchor words in B, as 1e-5 in the thesis; 0: do not")
	f.BoolVar(&x.recoverer.paper, "paper-settings", false, "the papers' settings: γ = 3, λ = 1.9 for admm; a fixed step of 50 for expgrad, which\notherwise searches the line; activeset has none")
	f.StringVar(&o.anchorFreeName, "anchor-free", "", "learn topics without anchors, by `method` lp (alternating linear programs) or pds\n(penalty-dual splitting), in place of anchors and recovery")
}

// checkCorpus checks the flags of input and curation.
func (x *flags) checkCorpus() {
	o, given, bad := &x.options, x.given, x.wrong.If
	o.corpus.Require(&x.wrong)
	bad(given["vocabulary"] && x.vocabulary != "all", "-vocabulary %q: want all, or -n", x.vocabulary)
	bad(given["n"] && given["vocabulary"], "-n and -vocabulary exclude each other")
	bad(o.published && !given["n"] && !given["vocabulary"], "-n or -vocabulary all is missing")
	bad(given["n"] && o.words < 2, "-n %d: want at least 2", o.words)
	bad(given["vocabulary"] && o.corpus.Stop != "", "-stop has no use with -vocabulary all")
	if !given["n"] && o.corpus.Stop != "" {
		o.words = math.MaxInt // all that are no stop words
	}
	bad(o.minDistinct < 0, "-min-distinct %d: want 0 or more", o.minDistinct)
	bad(o.minTokens < 0, "-min-tokens %d: want 0 or more", o.minTokens)
	bad(o.workers < 0, "-workers %d: want 0 or more", o.workers)
	if o.minDistinct < 2 || (given["vocabulary"] || !o.published) && !given["min-distinct"] {
		o.minDistinct = -1 // no limit
	}
	if o.minTokens = max(o.minTokens, 2); !o.published && !given["min-tokens"] {
		o.minTokens = 0
	}
}

// checkTopics reads -k or -hierarchy.
func (x *flags) checkTopics() {
	o, bad := &x.options, x.wrong.If
	tooMany := func(flag string, k int) {
		bad(x.given["n"] && o.words >= 2 && k > o.words, "-%s %d: more topics than words, %d", flag, k, o.words)
	}
	switch {
	case x.ks != "" && x.hierarchy != "":
		bad(true, "-k and -hierarchy exclude each other")
	case x.hierarchy != "":
		o.topics = x.wrong.Ints("hierarchy", x.hierarchy, 2)
		for i, k := range o.topics[min(1, len(o.topics)):] {
			bad(k >= o.topics[i], "-hierarchy %s: %d topics above %d; want fewer", x.hierarchy, k, o.topics[i])
		}
		bad(!strings.Contains(x.hierarchy, ","), "-hierarchy %s: want at least two numbers", x.hierarchy)
		if len(o.topics) > 0 {
			tooMany("hierarchy", o.topics[0])
			o.topics, o.hierarchy = o.topics[:1], o.topics[1:]
		}
	case x.ks == "":
		bad(true, "-k is missing, or -hierarchy")
	default:
		o.topics = x.wrong.Ints("k", x.ks, 2)
		for i, k := range o.topics {
			bad(slices.Contains(o.topics[:i], k), "-k names %d twice", k)
			tooMany("k", k)
		}
	}
}

// checkMethods checks the flags of the methods.
func (x *flags) checkMethods() {
	o, given, bad := &x.options, x.given, x.wrong.If
	bad(given["iterations"] && x.rectifier.iterations < 1, "-iterations %d: want at least 1", x.rectifier.iterations)
	bad(given["passes"] && x.rectifier.passes < 1, "-passes %d: want at least 1", x.rectifier.passes)
	bad(given["enn-rows"] && x.rectifier.rows < 1, "-enn-rows %d: want at least 1", x.rectifier.rows)
	bad(o.seedsFile != "" && o.published && o.refine == 0, "-seeds goes with the default, or with -refine")
	bad(given["refine"] && o.refine < 1, "-refine %d: want at least 1", o.refine)
	if o.rectifier = x.rectifier.rectifier(o.rectifyName); o.rectifier == nil {
		bad(true, "-rectify %q: want %s", o.rectifyName, strings.Join(rectifierNames, ", "))
	} else {
		for _, u := range []struct{ flag, methods string }{{"passes", "lr auto"}, {"enn-rows", "enn lr"}} {
			bad(given[u.flag] && !slices.Contains(strings.Fields(u.methods), o.rectifyName), "-%s has no use with -rectify %s", u.flag, o.rectifyName)
		}
	}
	if o.recoverer = x.recoverer.recoverer(o.recoverName, bad); o.recoverer == nil {
		bad(true, "-recover %q: want %s", o.recoverName, strings.Join(recovererNames, ", "))
	}
	x.wrong = append(x.wrong, o.finder.wrong(given)...)
	switch o.anchorFreeName {
	case "lp":
		o.learner = anchorfree.LP{}
	case "pds":
		o.learner = anchorfree.PDS{}
	default:
		bad(given["anchor-free"], "-anchor-free %q: want lp or pds", o.anchorFreeName)
	}
	for _, name := range []string{"anchors", "anchor-min-df", "recover", "correlations", "smooth", "hierarchy", "paper-settings"} {
		bad(o.learner != nil && given[name], "-%s has no use with -anchor-free", name)
	}
	switch o.weightsName {
	case "unbiased":
	case "offdiagonal":
		o.weighting = cooc.OffDiagonal
	case "tfidf":
		o.weighting = cooc.TFIDF
	default:
		bad(true, "-weights %q: want unbiased, offdiagonal or tfidf", o.weightsName)
	}
}

// checkOutputs checks the flags of output and inference.
func (x *flags) checkOutputs() {
	o, bad := &x.options, x.wrong.If
	for _, name := range []string{"json", "hierarchy", "alpha", "model", "topics-npy", "correlations-npy", "reading-npy", "infer", "infer-docword", "theta-npy"} {
		bad(o.estimate && x.given[name], "-%s has no use with -estimate", name)
	}
	bad(o.readingNPY != "" && o.published && o.refine == 0, "-reading-npy: the model has no reading weights, which come with passes over the documents (-refine)")
	x.files.Check(&x.wrong, func(path string) (names []string) {
		for _, k := range o.topics {
			names = append(names, outputName(path, k, len(o.topics)))
		}
		return names
	})
	o.checkInfer(bad)
}
