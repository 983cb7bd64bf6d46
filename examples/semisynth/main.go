// Semisynth shows how well topics are recovered from documents that are drawn
// from known topics: the experiment of arora-2013 §5.3–5.5, Figures 2–5.
//
//	go run ./examples/semisynth                                   # small, from made-up topics
//	go run ./examples/semisynth -docword docword.kos.txt.gz -vocab vocab.kos.txt -n 2000 -k 50 -docs 5000,50000
//
// The true topics are those of a model fitted to a corpus by jsmf.Published (-docword),
// of a model file (-model), or made up. From them documents are drawn in four settings:
//
//	dirichlet   shares of topics from a symmetric Dirichlet prior (Figures 2 and 3)
//	anchors     the same, after each topic was given a word of its own, as
//	            probable as its most probable word (Figure 4)
//	rho=R       shares from a logistic-normal prior whose covariance is R between
//	            the topics of each of ten groups (Figure 5)
//
// For each number of documents, and for the true co-occurrence matrix in their
// place ("infinite"), it finds anchors, recovers the topics by each method, and
// matches them optimally with the true ones. A line holds the mean and standard
// deviation over topics of the ℓ₁ distance, from 0 to 2, the seconds of the
// recovery, and the error of a method that fails. "uniform" is the distance of the
// true topics from the uniform distribution, that is, of a guess.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/internal/assign"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("semisynth", args, stderr, parseFlags, func(o options) error { return experiment(ctx, o, stdout) })
}

type options struct {
	corpus          cli.UCI
	model           string
	words, k        int
	docs            []int
	length          int
	alpha, variance float64
	settings        []setting
	methods         []method
	rectifier       rectify.Rectifier
	minFraction     float64
	seed            uint64
	workers         int
	csv             bool
}

// setting is a way to draw documents.
type setting struct {
	name    string
	anchors bool    // a word of its own for each topic
	rho     float64 // logistic-normal, where logistic
	normal  bool
}

type method struct {
	name string
	r    recovery.Recoverer
}

// all methods, by name; the inverse is projected, as arora-2013 §3 says.
var allMethods = []method{
	{"inverse", recovery.Inverse{Project: true}},
	{"l2", recovery.L2()},
	{"kl", recovery.KL{}},
	{"activeset", recovery.SCLS{}},
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("semisynth", flag.ContinueOnError)
	f.SetOutput(stderr)
	var docs, settings, methods, rect, format string
	o.corpus.Flags(f)
	f.StringVar(&o.model, "model", "", "take the true topics from this model `file`, not from a corpus")
	f.IntVar(&o.words, "n", 500, "words: of the corpus the `N` best, or those made up")
	f.IntVar(&o.k, "k", 20, "topics `K`")
	f.StringVar(&docs, "docs", "500,2000,10000", "numbers of documents: `M[,M…]`")
	f.IntVar(&o.length, "length", 100, "tokens a document `L`; arora-2013 has 300 and 70")
	f.Float64Var(&o.alpha, "alpha", 0.03, "the parameter `A` of the Dirichlet prior, for each topic")
	f.Float64Var(&o.variance, "variance", 4, "the variances `V` of the logistic-normal prior; arora-2013 does not tell its own")
	f.StringVar(&settings, "settings", "dirichlet,anchors,rho=0.05,rho=0.1", "how documents are drawn: a `list`")
	f.StringVar(&methods, "methods", "inverse,l2,kl,activeset", "a `list` of methods")
	f.StringVar(&rect, "rectify", "none", "none, as arora-2013, or ap: the `method`")
	f.Float64Var(&o.minFraction, "anchor-min-fraction", 0.01, "anchors must be in this `part` of the documents, of finite ones")
	f.Uint64Var(&o.seed, "seed", 1, "the seed of all that is drawn")
	f.IntVar(&o.workers, "workers", 0, "how many goroutines work at once; 0: GOMAXPROCS")
	f.StringVar(&format, "format", "md", "md, a Markdown table, or csv: the `format`")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var wrong cli.Wrong
	bad := wrong.If
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	bad((o.corpus.Docword == "") != (o.corpus.Vocab == ""), "-docword and -vocab belong together")
	bad(o.model != "" && o.corpus.Docword != "", "-model and -docword exclude each other")
	bad(o.k < 2 || o.words < 2*o.k, "-k %d, -n %d: want at least 2 topics and 2 words for each", o.k, o.words)
	o.docs = wrong.Ints("docs", docs, 1)
	bad(o.length < 2, "-length %d: want at least 2", o.length)
	bad(!(o.alpha > 0) || math.IsInf(o.alpha, 0), "-alpha %g: want > 0", o.alpha)
	bad(!(o.variance > 0) || math.IsInf(o.variance, 0), "-variance %g: want > 0", o.variance)
	for s := range strings.SplitSeq(settings, ",") {
		x := setting{name: strings.TrimSpace(s)}
		switch r, ok := strings.CutPrefix(x.name, "rho="); {
		case x.name == "anchors":
			x.anchors = true
		case ok:
			x.normal = true
			x.rho, err = strconv.ParseFloat(r, 64)
			bad(err != nil || !(x.rho >= 0 && x.rho <= o.variance), "-settings: %q: want a number from 0 to the variance", s)
		default:
			bad(x.name != "dirichlet", "-settings: %q: want dirichlet, anchors or rho=R", s)
		}
		o.settings = append(o.settings, x)
	}
	for s := range strings.SplitSeq(methods, ",") {
		i := slices.IndexFunc(allMethods, func(m method) bool { return m.name == strings.TrimSpace(s) })
		if i < 0 {
			bad(true, "-methods: %q: want inverse, l2, kl or activeset", s)
			continue
		}
		o.methods = append(o.methods, allMethods[i])
	}
	switch rect {
	case "none":
		o.rectifier = rectify.None{}
	case "ap":
		o.rectifier = rectify.AP{}
	default:
		bad(true, "-rectify %q: want none or ap", rect)
	}
	bad(!(o.minFraction >= 0 && o.minFraction <= 1), "-anchor-min-fraction %g: want 0 to 1", o.minFraction)
	bad(format != "md" && format != "csv", "-format %q: want md or csv", format)
	o.csv = format == "csv"
	return o, wrong.Err("semisynth", stderr)
}

// experiment prints the table.
func experiment(ctx context.Context, o options, w io.Writer) error {
	base, err := topics(ctx, o)
	if err != nil {
		return err
	}
	t := newTable(w, o.csv)
	for _, s := range o.settings {
		b := base
		if s.anchors {
			b = withAnchors(base)
		}
		prior, err := prior(o, s, b)
		if err != nil {
			return err
		}
		mean, std := errorsL1(uniform(b), b, nil)
		if err := t.row(s.name, "", "uniform", mean, std, 0, ""); err != nil {
			return err
		}
		for _, docs := range append(slices.Clone(o.docs), 0) {
			if err := size(ctx, o, t, s, b, prior, docs); err != nil {
				return fmt.Errorf("%s, %d documents: %w", s.name, docs, err)
			}
		}
	}
	return nil
}

// size draws documents, 0 for infinitely many, and tries all methods on them.
func size(ctx context.Context, o options, t *table, s setting, b *mat.Dense, prior corpus.TopicPrior, docs int) error {
	_, k := b.Dims()
	find := anchor.QR{}
	opt := anchor.Options{Workers: o.workers}
	var c cooc.Matrix
	name := "infinite"
	if docs == 0 {
		a, err := moments(prior, k, o.seed)
		if err != nil {
			return err
		}
		if c, err = product(b, a); err != nil {
			return err
		}
	} else {
		name = strconv.Itoa(docs)
		g := corpus.Generator{Topics: b, Prior: prior, Docs: docs, Lengths: []int{o.length}, Seed: o.seed, Workers: o.workers}
		drawn, _, err := g.Generate(ctx)
		if err != nil {
			return err
		}
		m, err := cooc.NewMoments(ctx, drawn, cooc.Options{MinTokens: 2})
		if err != nil {
			return err
		}
		c = m
		find.MinDocFraction = o.minFraction
		opt.DocFrequencies, opt.Docs = drawn.DocFrequencies(), docs
	}
	fail := func(method string, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return t.row(s.name, name, method, math.NaN(), math.NaN(), 0, err.Error())
	}
	rect, err := o.rectifier.Rectify(ctx, c, k, rectify.Options{Workers: o.workers})
	if err != nil {
		return fail(o.rectifier.String(), err)
	}
	rows, err := cooc.NewRows(rect.C)
	if err != nil {
		return fail("rows", err)
	}
	found, err := find.Find(ctx, rows, k, opt)
	if err != nil {
		return fail(find.String(), err)
	}
	for _, m := range o.methods {
		begun := time.Now()
		res, err := m.r.Recover(ctx, rows, found.Anchors, recovery.Options{Workers: o.workers})
		if err != nil {
			if err := fail(m.name, err); err != nil {
				return err
			}
			continue
		}
		seconds := time.Since(begun).Seconds()
		match, err := assign.Best(distances(b, res.B))
		if err != nil {
			return err
		}
		mean, std := errorsL1(res.B, b, match)
		note := ""
		if res.Limited > 0 {
			note = fmt.Sprintf("%d words at the iteration limit", res.Limited)
		}
		if err := t.row(s.name, name, m.name, mean, std, seconds, note); err != nil {
			return err
		}
	}
	return nil
}
