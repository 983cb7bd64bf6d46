// Factorize fits topic models to a corpus in UCI form and measures them: the
// experiments of the papers from the command line.
//
//	go run ./examples/factorize -docword docword.kos.txt.gz -vocab vocab.kos.txt -n 5000 -k 25,50 -json
//
// Without -json it prints a report to read. With it, standard output holds one
// JSON object a line for each K, in the order of -k, and nothing else:
//
//	corpus           n words, m documents and their tokens, as used
//	k                topics found
//	rectify, finder, recover
//	                 methods, as in the flags (finder: -anchors); with -anchor-free
//	                 no finder and no recover but
//	anchor_free      lp or pds
//	weights          with -weights only
//	rectify_method   with -rectify auto only: what was chosen, with its settings
//	rectify_reason   and why
//	anchors          [{index, word, input_index}], in the order found, empty with
//	                 -anchor-free, and with -anchors tandem facet, the words made
//	                 into one; index is
//	                 the word's number, from 0, in the curated vocabulary (the
//	                 order of tf-idf; with -vocabulary all that of the file,
//	                 without the words that are in no document used),
//	                 input_index its number in the vocabulary file
//	topics           the 20 most probable words of each topic, of all if N < 20
//	metrics          by name, each a number or {mean, std}; what is not defined
//	                 is null, and "undefined" counts the values left out of a mean
//	alpha            with -alpha only: {alpha0, alpha}, a Dirichlet prior fitted to A
//	hierarchy        with -hierarchy only: [{k, shares, topics, children, direct, …}],
//	                 a level above the topics each, with a direct fit of as many
//	objective_mean   mean of ½‖v − Uy‖² over all N words, anchors counting 0; null
//	                 with -anchor-free
//	infer            with -infer: method, documents, unknown_tokens (of words the
//	                 model lacks), without_known_word and all_zero (documents), for padd residual and learn_status,
//	                 and for map, em and gibbs alpha_sum
//	refine           with -refine only: method, passes made, and loglik, the mean
//	                 ln p(token) before each pass and after the last. Topics and
//	                 metrics are then those of the refined model
//	seconds          by stage; read, curate and cooc are done once for all K
//	                 and stand in each line, also in its total
//	peak_rss_bytes   of the process so far; left out where the system cannot tell
//
// With -estimate nothing is fitted: it prints what memory a fit for each K would take, as
// jsmf.Pipeline's Estimate says, stage by stage, and ends.
//
// Progress goes to standard error, and so does, with -quiet too, a warning where
// A does not nearly sum to 1: the model does not fit then. The exit status is 0,
// 1 for an error, 2 for wrong usage, and 130 when interrupted by Ctrl-C.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/examples/internal/rss"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("factorize", args, stderr, parseFlags, func(o options) error { return factorize(ctx, o, stdout, stderr) })
}

type options struct {
	docword, vocab, stop   string
	words                  int // 0: all of the vocabulary file, in its order
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
	hierarchy              []int // sizes of the levels above the topics
	refine                 int   // passes over the documents; 0: none
	replace                int   // jsmf.Pipeline.ReplaceAnchors
	minDistinct, minTokens int
	seed                   uint64
	workers                int
	model, topicsNPY       string
	inferName              string
	inferDocword, thetaNPY string
	json, quiet, estimate  bool
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("factorize", flag.ContinueOnError)
	f.SetOutput(stderr)
	var vocabulary, ks string
	var r rectifierFlags
	var rf recovererFlags
	var hierarchy string
	f.StringVar(&o.docword, "docword", "", "counts in UCI form, plain or gzipped: a `file` (required)")
	f.StringVar(&o.vocab, "vocab", "", "the words, one a line: a `file` (required)")
	f.StringVar(&o.stop, "stop", "", "stop words, one a line: a `file`")
	f.IntVar(&o.words, "n", 0, "keep the `N` best words by tf·ln⌊M/df⌋; this or -vocabulary all is required")
	f.StringVar(&vocabulary, "vocabulary", "", "`all`: no curation; every word is kept that is in a document used, and no document\nis left out for too few distinct words unless -min-distinct is given")
	f.StringVar(&ks, "k", "", "numbers of topics, as 25 or 25,50,100: `K[,K…]` (required)")
	f.StringVar(&o.rectifyName, "rectify", "ap", "the `method`: "+rectifierHelp)
	f.IntVar(&r.iterations, "iterations", 0, "iterations `T`, of dc permutations; otherwise "+iterationsHelp)
	f.IntVar(&r.passes, "passes", 0, "`P` passes over the documents, of lr and auto; otherwise 8")
	f.IntVar(&r.rows, "enn-rows", 0, "`R` rows in which enn and lr look for negative entries; otherwise 10K+1000")
	f.StringVar(&o.finder.name, "anchors", "qr", "the `method`: "+finderHelp)
	f.IntVar(&o.replace, "replace-anchors", 5, "look for other anchors up to `R` times where the model does not fit; 0, as in the papers, never")
	f.IntVar(&o.finder.minDF, "anchor-min-df", 0, "anchors must be in at least `D` documents; those of -anchor-words need not")
	f.IntVar(&o.finder.dims, "project-dims", 0, "`D` dimensions of projected; otherwise 1000, or as many as there are words")
	f.BoolVar(&o.finder.sparse, "project-sparse", false, "projected by a matrix of which all but 10 % is zero, not a Gaussian one")
	f.BoolVar(&o.finder.cleanUp, "clean-up", false, "qr replaces each anchor once more by the word farthest from the others; projected does always")
	f.BoolVar(&o.finder.unnormalised, "unnormalised", false, "spa and xray go by the rows of C, not of C̄")
	f.IntVar(&o.finder.embedDims, "embed-dims", 0, "`D` dimensions of pca and tsne; otherwise 3")
	f.Float64Var(&o.finder.perplexity, "perplexity", 0, "the effective number of neighbours `P` of tsne; otherwise 30")
	f.BoolVar(&o.finder.allVertices, "all-vertices", false, "all vertices that pca or tsne find become anchors; -k is the rank of the rectification then")
	f.StringVar(&o.finder.words, "anchor-words", "", "the anchors of fixed and tandem: a `file`, a line a topic, the words of tandem with blanks between")
	f.StringVar(&o.finder.complete, "complete", "qr", "the `method` that finds the anchors -anchor-words leaves open: qr, projected, spa, snpa, xray, none")
	f.StringVar(&o.recoverName, "recover", "activeset", "the `method`: "+recovererHelp)
	f.StringVar(&rf.correlations, "correlations", "", "how A comes from C and B: `diagonal`, by the anchors' entries, the default; pinv, the\npseudo-inverse of B on both sides; multiplicative, updates from diagonal's")
	f.BoolVar(&rf.projectA, "project-a", false, "replace A by the nearest joint-stochastic, doubly non-negative matrix")
	f.BoolVar(&rf.projectTopics, "project-topics", false, "of inverse: project its topics on the simplex, for which they are an error otherwise")
	f.Float64Var(&rf.smooth, "smooth", 0, "add `EPS` to the zeros of anchor words in B, as 1e-5 in the thesis; 0: do not")
	f.BoolVar(&o.alpha, "alpha", false, "fit a Dirichlet prior to A")
	f.StringVar(&hierarchy, "hierarchy", "", "`K1,K2[,…]`, in place of -k: K1 topics, K2 < K1 topics of these, and so on, beside direct fits")
	f.BoolVar(&rf.paper, "paper-settings", false, "the papers' settings: γ = 3, λ = 1.9 for admm; a fixed step of 50 for expgrad, which\notherwise searches the line; activeset has none")
	f.StringVar(&o.anchorFreeName, "anchor-free", "", "learn topics without anchors, by `method` lp (alternating linear programs) or pds\n(penalty-dual splitting), in place of anchors and recovery")
	f.StringVar(&o.weightsName, "weights", "unbiased", "how words weigh in C: unbiased (pairs of tokens), proportions, counts or tfidf (the\nplain second moments of these): the `weights`")
	f.IntVar(&o.refine, "refine", 0, "`N` passes over the documents in the end, which improve topics and correlations (refine.Passes)")
	f.IntVar(&o.minDistinct, "min-distinct", 3, "leave out documents with fewer distinct words of the vocabulary")
	f.IntVar(&o.minTokens, "min-tokens", 5, "leave out documents with fewer tokens of the vocabulary; 2 is the least there can be")
	f.Uint64Var(&o.seed, "seed", 0, "the seed of methods that draw random numbers: dc, lr, and auto where it takes lr; projected and tsne")
	f.IntVar(&o.workers, "workers", 0, "how many goroutines work at once; 0: GOMAXPROCS. Results are the same bits for any")
	f.StringVar(&o.model, "model", "", "save the model to this `file`; with several K, _kK goes before the extension")
	f.StringVar(&o.topicsNPY, "topics-npy", "", "save B to this NumPy `file`, float64, one row for each word of the vocabulary file (zeros\nfor words left out), one column a topic; named as -model with several K")
	f.StringVar(&o.inferName, "infer", "", "infer the compositions of the documents of -infer-docword; the `method`: "+inferHelp)
	f.StringVar(&o.inferDocword, "infer-docword", "", "counts in UCI form over the words of -vocab, plain or gzipped: a `file`, for -infer")
	f.StringVar(&o.thetaNPY, "theta-npy", "", "save the compositions to this NumPy `file`, float64, one row for each document of\n-infer-docword, one column a topic; named as -model with several K")
	f.BoolVar(&o.json, "json", false, "print one JSON object for each K and nothing else")
	f.BoolVar(&o.estimate, "estimate", false, "fit nothing, but print what memory a fit for each K would take at most")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress on standard error")
	f.Usage = func() {
		fmt.Fprintln(stderr, "Usage: factorize -docword F -vocab F (-n N | -vocabulary all) -k K[,K…] [flags]")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}
	given := make(map[string]bool)
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })

	var wrong cli.Wrong
	bad := wrong.If
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	bad(o.docword == "", "-docword is missing")
	bad(o.vocab == "", "-vocab is missing")
	bad(given["vocabulary"] && vocabulary != "all", "-vocabulary %q: want all, or -n", vocabulary)
	bad(given["n"] && given["vocabulary"], "-n and -vocabulary exclude each other")
	bad(!given["n"] && !given["vocabulary"], "-n or -vocabulary all is missing")
	bad(given["n"] && o.words < 2, "-n %d: want at least 2", o.words)
	bad(given["vocabulary"] && o.stop != "", "-stop has no use with -vocabulary all")
	bad(ks != "" && hierarchy != "", "-k and -hierarchy exclude each other")
	if hierarchy != "" {
		for s := range strings.SplitSeq(hierarchy, ",") {
			k, err := strconv.Atoi(strings.TrimSpace(s))
			bad(err != nil, "-hierarchy %q: %q is not a number", hierarchy, s)
			bad(err == nil && k < 2, "-hierarchy %s: %d topics; want at least 2", hierarchy, k)
			if n := len(o.hierarchy); err == nil && n > 0 && k >= o.hierarchy[n-1] {
				bad(true, "-hierarchy %s: %d topics above %d; want fewer", hierarchy, k, o.hierarchy[n-1])
			}
			o.hierarchy = append(o.hierarchy, k)
		}
		bad(len(o.hierarchy) < 2, "-hierarchy %s: want at least two numbers", hierarchy)
		bad(given["n"] && o.words >= 2 && o.hierarchy[0] > o.words, "-hierarchy %d: more topics than words, %d", o.hierarchy[0], o.words)
		o.topics, o.hierarchy = o.hierarchy[:1], o.hierarchy[1:]
	} else if ks == "" {
		bad(true, "-k is missing, or -hierarchy")
	} else {
		seen := make(map[int]bool)
		for s := range strings.SplitSeq(ks, ",") {
			k, err := strconv.Atoi(strings.TrimSpace(s))
			switch {
			case err != nil:
				bad(true, "-k %q: %q is not a number", ks, s)
			case k < 2:
				bad(true, "-k %d: want at least 2 topics", k)
			case seen[k]:
				bad(true, "-k names %d twice", k)
			}
			bad(given["n"] && o.words >= 2 && k > o.words, "-k %d: more topics than words, %d", k, o.words)
			seen[k] = true
			o.topics = append(o.topics, k)
		}
	}
	bad(given["iterations"] && r.iterations < 1, "-iterations %d: want at least 1", r.iterations)
	bad(given["passes"] && r.passes < 1, "-passes %d: want at least 1", r.passes)
	bad(given["enn-rows"] && r.rows < 1, "-enn-rows %d: want at least 1", r.rows)
	if o.rectifier = r.rectifier(o.rectifyName); o.rectifier == nil {
		bad(true, "-rectify %q: want %s", o.rectifyName, strings.Join(rectifierNames, ", "))
	} else {
		for _, x := range []struct{ flag, methods string }{{"passes", "lr auto"}, {"enn-rows", "enn lr"}} {
			bad(given[x.flag] && !slices.Contains(strings.Fields(x.methods), o.rectifyName), "-%s has no use with -rectify %s", x.flag, o.rectifyName)
		}
	}
	if o.recoverer = rf.recoverer(o.recoverName, bad); o.recoverer == nil {
		bad(true, "-recover %q: want %s", o.recoverName, strings.Join(recovererNames, ", "))
	}
	wrong = append(wrong, o.finder.wrong(given)...)
	switch o.anchorFreeName {
	case "lp":
		o.learner = anchorfree.LP{}
	case "pds":
		o.learner = anchorfree.PDS{}
	default:
		bad(given["anchor-free"], "-anchor-free %q: want lp or pds", o.anchorFreeName)
	}
	for _, name := range []string{"anchors", "anchor-min-df", "recover", "correlations", "project-a", "smooth", "hierarchy", "paper-settings"} {
		bad(o.learner != nil && given[name], "-%s has no use with -anchor-free", name)
	}
	switch o.weightsName {
	case "unbiased":
	case "proportions":
		o.weighting = cooc.Proportions
	case "counts":
		o.weighting = cooc.Counts
	case "tfidf":
		o.weighting = cooc.TFIDF
	default:
		bad(true, "-weights %q: want unbiased, proportions, counts or tfidf", o.weightsName)
	}
	for _, name := range []string{"json", "hierarchy", "alpha", "model", "topics-npy", "infer", "infer-docword", "theta-npy"} {
		bad(o.estimate && given[name], "-%s has no use with -estimate", name)
	}
	bad(given["refine"] && o.refine < 1, "-refine %d: want at least 1", o.refine)
	bad(o.minDistinct < 0, "-min-distinct %d: want 0 or more", o.minDistinct)
	bad(o.minTokens < 0, "-min-tokens %d: want 0 or more", o.minTokens)
	bad(o.workers < 0, "-workers %d: want 0 or more", o.workers)
	for _, out := range []struct{ flag, path string }{{"model", o.model}, {"topics-npy", o.topicsNPY}, {"theta-npy", o.thetaNPY}} {
		if out.path != "" { // better now than after an hour's work
			info, err := os.Stat(filepath.Dir(out.path))
			bad(err != nil || !info.IsDir(), "-%s %s: its folder does not exist", out.flag, out.path)
		}
	}
	o.checkInfer(bad)
	if o.minDistinct < 2 || given["vocabulary"] && !given["min-distinct"] {
		o.minDistinct = -1 // no limit
	}
	o.minTokens = max(o.minTokens, 2)
	return o, wrong.Err("factorize", stderr)
}

// input is what all K share.
type input struct {
	prepared  *cooc.Moments
	fileWords int   // words in the vocabulary file
	fileIndex []int // for each word used, its number there
	seconds   seconds
}

type seconds struct {
	Read    float64 `json:"read"`
	Curate  float64 `json:"curate"`
	Cooc    float64 `json:"cooc"`
	Rectify float64 `json:"rectify"`
	Anchors float64 `json:"anchors"`
	Recover float64 `json:"recover"`
	Topics  float64 `json:"topics,omitempty"` // of -anchor-free
	Refine  float64 `json:"refine,omitempty"`
	Metrics float64 `json:"metrics"`
	Infer   float64 `json:"infer,omitempty"`
	Total   float64 `json:"total"`
}

// result is what -json prints.
type result struct {
	Corpus struct {
		N      int   `json:"n"`
		M      int   `json:"m"`
		Tokens int64 `json:"tokens"`
	} `json:"corpus"`
	K             int             `json:"k"`
	Rectify       string          `json:"rectify"`
	RectifyMethod string          `json:"rectify_method,omitempty"`
	RectifyReason string          `json:"rectify_reason,omitempty"`
	Finder        string          `json:"finder,omitempty"`
	Recover       string          `json:"recover,omitempty"`
	AnchorFree    string          `json:"anchor_free,omitempty"`
	Weights       string          `json:"weights,omitempty"`
	Anchors       []anchorWord    `json:"anchors"`
	Topics        [][]string      `json:"topics"`
	Alpha         *prior          `json:"alpha,omitempty"`
	Hierarchy     []level         `json:"hierarchy,omitempty"`
	Metrics       *metrics.Report `json:"metrics"`
	ObjectiveMean number          `json:"objective_mean"`
	Infer         *inferred       `json:"infer,omitempty"`
	Refine        *refinement     `json:"refine,omitempty"`
	Seconds       seconds         `json:"seconds"`
	PeakRSS       int64           `json:"peak_rss_bytes,omitempty"`
}

type refinement struct {
	Method string    `json:"method"`
	Passes int       `json:"passes"`
	LogLik []float64 `json:"loglik"`
}

type anchorWord struct {
	Index      int      `json:"index"`
	Word       string   `json:"word"`
	InputIndex int      `json:"input_index"`
	Facet      []string `json:"facet,omitempty"`
}

// number is a float64 that JSON can always hold: null where it is not finite.
type number float64

func (x number) MarshalJSON() ([]byte, error) {
	if f := float64(x); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}

func factorize(ctx context.Context, o options, stdout, stderr io.Writer) error {
	var rec jsmf.Recorder
	if !o.quiet {
		rec = jsmf.NewPrinter(stderr)
	}
	if err := o.finder.read(); err != nil {
		return err
	}
	in, err := load(ctx, o, rec)
	if err != nil {
		return err
	}
	if o.estimate {
		return estimate(o, in, stdout)
	}
	for _, k := range o.topics {
		m, res, err := fit(ctx, o, in, k, rec)
		if err != nil {
			return err
		}
		if why := doubt(res.Metrics.Legality); why != "" {
			fmt.Fprintf(stderr, "factorize: warning: k=%d: %s\n", k, why)
		}
		if o.inferName != "" {
			if m, res.Infer, err = inferDocs(ctx, o, in, m, rec, &res.Seconds.Infer); err != nil {
				return fmt.Errorf("k=%d: %w", k, err)
			}
			res.Seconds.Total += res.Seconds.Infer
		}
		if o.model != "" {
			if err := m.Save(outputName(o.model, k, len(o.topics))); err != nil {
				return err
			}
		}
		if o.topicsNPY != "" {
			if err := saveTopics(outputName(o.topicsNPY, k, len(o.topics)), m, in); err != nil {
				return err
			}
		}
		if o.json {
			err = json.NewEncoder(stdout).Encode(res)
		} else {
			err = report(stdout, o, m, res)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// estimate prints what the fits would take.
func estimate(o options, in *input, stdout io.Writer) error {
	c := in.prepared.Info().Corpus
	st := jsmf.CorpusStats{Documents: c.NumDocs(), Words: c.NumWords(), Tokens: c.Tokens(), NNZ: c.NNZ()}
	for _, k := range o.topics {
		e, err := pipeline(o, k, nil).Estimate(st)
		if err != nil {
			return fmt.Errorf("k=%d: %w", k, err)
		}
		if _, err := fmt.Fprintf(stdout, "%d topics of %s\n%v\n", k, sizes(c), e); err != nil {
			return err
		}
	}
	return nil
}

// load reads the corpus, curates it, and estimates C.
func load(ctx context.Context, o options, rec jsmf.Recorder) (*input, error) {
	in := new(input)
	var raw, curated *corpus.Corpus
	err := stage(rec, "read", &in.seconds.Read, func() (_ string, err error) {
		if raw, err = corpus.ReadUCI(ctx, o.docword, o.vocab); err != nil {
			return "", err
		}
		return sizes(raw), nil
	})
	if err != nil {
		return nil, err
	}

	err = stage(rec, "curate", &in.seconds.Curate, func() (string, error) {
		cur := corpus.Curation{Words: o.words, KeepVocabulary: o.words == 0, MinDistinct: o.minDistinct, MinTokens: int64(o.minTokens)}
		if o.stop != "" {
			var err error
			if cur.StopWords, err = corpus.ReadStopWords(ctx, o.stop); err != nil {
				return "", err
			}
		}
		c, rep, err := corpus.Curate(raw, cur)
		if err != nil {
			if rep != nil {
				err = fmt.Errorf("%w\n%v", err, rep) // where they all went
			}
			return "", err
		}
		curated = c
		return sizes(c), nil
	})
	if err != nil {
		return nil, err
	}

	// Words that are in no document left would have an empty row of C.
	in.prepared, err = cooc.NewMoments(ctx, curated, cooc.Options{Weighting: o.weighting, MinTokens: o.minTokens, DropUnused: true, Workers: o.workers})
	if err != nil {
		return nil, err
	}
	used := in.prepared.Info().Corpus
	in.fileWords = raw.NumWords()
	for i := range used.NumWords() {
		j, ok := raw.Index(used.Word(i))
		if !ok {
			return nil, fmt.Errorf("word %q is not in the vocabulary file", used.Word(i))
		}
		in.fileIndex = append(in.fileIndex, j)
	}
	return in, nil
}

// pipeline returns what the flags ask for.
func pipeline(o options, k int, rec jsmf.Recorder) jsmf.Pipeline {
	p := jsmf.New(k).
		Rectify(o.rectifier).
		Anchors(o.finder.finder(o.finder.name)).
		ReplaceAnchors(o.replace).
		Recover(o.recoverer).
		AnchorFree(o.learner).
		Seed(o.seed).
		Workers(o.workers).
		Record(rec)
	if o.refine > 0 {
		p = p.Refine(refine.Passes{N: o.refine})
	}
	return p
}

func sizes(c *corpus.Corpus) string {
	return fmt.Sprintf("%d documents, %d words, %d tokens", c.NumDocs(), c.NumWords(), c.Tokens())
}

// stage runs a step of the program's own and notes its time.
func stage(rec jsmf.Recorder, name string, s *float64, f func() (string, error)) error {
	d, err := cli.Stage(rec, name, f)
	*s = d.Seconds()
	return err
}

// fit fits and measures the model for one K.
func fit(ctx context.Context, o options, in *input, k int, rec jsmf.Recorder) (*jsmf.Model, *result, error) {
	begun := time.Now()
	p := pipeline(o, k, rec)
	m, err := p.Fit(ctx, in.prepared)
	if err != nil {
		return nil, nil, fmt.Errorf("k=%d: %w", k, err)
	}
	st := m.Stats()
	res := &result{K: m.K(), Rectify: o.rectifyName, Finder: o.finder.name, Recover: o.recoverName, ObjectiveMean: number(st.Recover.MeanObjective), Anchors: []anchorWord{}, Seconds: in.seconds}
	if o.learner != nil {
		res.Finder, res.Recover, res.AnchorFree, res.ObjectiveMean = "", "", o.anchorFreeName, number(math.NaN())
	}
	if o.weighting != cooc.Unbiased {
		res.Weights = o.weightsName
	}
	res.Corpus.N, res.Corpus.M, res.Corpus.Tokens = st.Corpus.Words, st.Corpus.Documents, st.Corpus.Tokens
	if st.Rectify.Reason != "" { // the rectifier chose
		res.RectifyMethod, res.RectifyReason = st.Rectify.Method, st.Rectify.Reason
	}
	if m.Spectral() != m {
		res.Refine = &refinement{st.Refine.Method, st.Refine.Passes, st.Refine.LogLik}
	}
	groups := m.AnchorGroups()
	for t, a := range m.Anchors() {
		w := anchorWord{a, m.Word(a), in.fileIndex[a], nil}
		if groups != nil {
			for _, i := range groups[t] {
				w.Facet = append(w.Facet, m.Word(i))
			}
		}
		res.Anchors = append(res.Anchors, w)
	}
	for t := range m.K() {
		words := []string{}
		for _, w := range m.TopWords(t, topWords) {
			words = append(words, w.Word)
		}
		res.Topics = append(res.Topics, words)
	}
	err = stage(rec, "metrics", &res.Seconds.Metrics, func() (string, error) {
		var err error
		res.Metrics, err = p.Evaluate(ctx, m, in.prepared)
		return "", err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("k=%d: %w", k, err)
	}
	if o.alpha {
		if res.Alpha, err = fitAlpha(m); err != nil {
			return nil, nil, fmt.Errorf("k=%d: %w", k, err)
		}
	}
	if len(o.hierarchy) > 0 {
		if res.Hierarchy, err = levels(ctx, o, in, m, o.hierarchy, rec); err != nil {
			return nil, nil, fmt.Errorf("k=%d: %w", k, err)
		}
	}
	s := &res.Seconds
	s.Cooc = st.Cooc.Duration.Seconds()
	s.Rectify, s.Anchors, s.Recover = st.Rectify.Duration.Seconds(), st.Anchors.Duration.Seconds(), st.Recover.Duration.Seconds()
	s.Topics = st.AnchorFree.Duration.Seconds()
	s.Refine = st.Refine.Duration.Seconds()
	s.Total = s.Read + s.Curate + s.Cooc + time.Since(begun).Seconds()
	res.PeakRSS = rss.Peak()
	return m, res, nil
}

// doubt says what is wrong where the sum of A, which should be 1, is so far off
// that topics and correlations do not explain the corpus; "" where it is not.
func doubt(legality float64) string {
	if legality >= 0.5 && legality <= 2 {
		return ""
	}
	return fmt.Sprintf("A sums to %.4g and not to about 1 (legality): the model does not fit. Anchors that are in very few documents do that; try -anchor-min-df, fewer words or another -rectify", legality)
}

// outputName returns the path of an output for one of several K.
func outputName(path string, k, several int) string {
	if several < 2 {
		return path
	}
	ext := filepath.Ext(path)
	if ext == filepath.Base(path) { // as .model: a name, not an extension
		ext = ""
	}
	return fmt.Sprintf("%s_k%d%s", strings.TrimSuffix(path, ext), k, ext)
}

// report prints a result for people.
func report(w io.Writer, o options, m *jsmf.Model, r *result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "K = %d topics: %d words, %d documents, %d tokens\n", r.K, r.Corpus.N, r.Corpus.M, r.Corpus.Tokens)
	fmt.Fprintf(t, "%s\n", strings.Join(m.Provenance().Stages, ", "))
	if r.RectifyReason != "" {
		fmt.Fprintf(t, "chosen because: %s\n", r.RectifyReason)
	}
	fmt.Fprintln(t)
	head, anchors := "   \tshare\tanchor\ttop words", m.AnchorWords()
	if m.Anchors() == nil {
		head = "   \tshare\ttop words"
	}
	fmt.Fprintln(t, head)
	for k, share := range m.TopicShares() {
		fmt.Fprintf(t, "%3d\t%4.1f%%\t", k, 100*share)
		if anchors != nil {
			anchor := r.Anchors[k].Word
			if f := r.Anchors[k].Facet; f != nil {
				anchor = strings.Join(f, "+")
			}
			fmt.Fprintf(t, "%s\t", anchor)
		}
		fmt.Fprintln(t, strings.Join(r.Topics[k][:min(10, len(r.Topics[k]))], " "))
	}
	t.Flush()
	fmt.Fprintln(w)
	if r.Hierarchy != nil {
		if err := reportLevels(w, r.K, r.Hierarchy); err != nil {
			return err
		}
	}
	if r.Alpha != nil {
		if err := r.Alpha.report(w); err != nil {
			return err
		}
	}
	fmt.Fprintln(t, "metric\tmean\tstd")
	for _, x := range r.Metrics.Keyed() {
		fmt.Fprintf(t, "%s\t%.6g", x.Key, x.Mean)
		if !x.Single {
			fmt.Fprintf(t, "\t%.4g", x.Std)
		}
		fmt.Fprintln(t)
	}
	if m.Anchors() != nil {
		fmt.Fprintf(t, "mean objective\t%.6g\n", float64(r.ObjectiveMean))
	}
	if r.Refine != nil {
		h := r.Refine.LogLik
		fmt.Fprintf(t, "log-likelihood a token before refinement\t%.6g\n", h[0])
		fmt.Fprintf(t, "log-likelihood a token after it\t%.6g\n", h[len(h)-1])
	}
	s := r.Seconds
	fmt.Fprintln(t, "\nstage\tseconds")
	for _, x := range []struct {
		name string
		s    float64
	}{{"read", s.Read}, {"curate", s.Curate}, {"cooc", s.Cooc}, {"rectify", s.Rectify}, {"anchors", s.Anchors}, {"recover", s.Recover}, {"topics", s.Topics}, {"refine", s.Refine}, {"metrics", s.Metrics}, {"infer", s.Infer}, {"total", s.Total}} {
		if anchored := m.Anchors() != nil; anchored && x.name == "topics" || !anchored && (x.name == "anchors" || x.name == "recover") || x.name == "infer" && r.Infer == nil || x.name == "refine" && r.Refine == nil {
			continue
		}
		fmt.Fprintf(t, "%s\t%8.3f\n", x.name, x.s)
	}
	if i := r.Infer; i != nil {
		fmt.Fprintf(t, "\ncompositions of %d documents by %s; %d unknown tokens, %d documents without a known word", i.Documents, i.Method, i.Unknown, i.NoTokens)
		if i.AllZero > 0 {
			fmt.Fprintf(t, ", %d without a topic above the threshold", i.AllZero)
		}
		fmt.Fprintln(t)
	}
	if r.PeakRSS > 0 {
		fmt.Fprintf(t, "\npeak memory %d MB\n", r.PeakRSS>>20)
	}
	fmt.Fprintln(t)
	return t.Flush()
}
