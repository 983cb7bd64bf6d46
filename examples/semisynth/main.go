// Semisynth shows how well topics are recovered from documents that are drawn
// from known topics: the experiment of arora-2013 §5.3–5.5, Figures 2–5.
//
//	go run ./examples/semisynth                                   # small, from made-up topics
//	go run ./examples/semisynth -docword docword.kos.txt.gz -vocab vocab.kos.txt -n 2000 -k 50 -docs 5000,50000
//
// The true topics are those of a model fitted to a corpus (-docword), of a model
// file (-model), or made up. From them documents are drawn in four settings:
//
//	dirichlet   shares of topics from a symmetric Dirichlet prior (Figures 2 and 3)
//	anchors     the same, after each topic was given a word of its own, as
//	            probable as its most probable word (Figure 4)
//	rho=R       shares from a logistic-normal prior whose covariance is R between
//	            the topics of each of ten groups (Figure 5)
//
// For each number of documents, and for the true co-occurrence matrix in place of
// them ("infinite"), it finds anchors, recovers the topics by each method, matches
// them with the true ones as well as can be, and prints a line: the mean and
// standard deviation over topics of the ℓ₁ distance, from 0 to 2, and the seconds
// the recovery took. A method that fails has its error there. "uniform" is the
// distance of the true topics from the uniform distribution: what guessing gives.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
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
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "semisynth: %v\n", err)
		return 2
	}
	err = experiment(ctx, o, stdout)
	return cli.Status("semisynth", stderr, err)
}

type options struct {
	docword, vocab, stop, model string
	words, k                    int
	docs                        []int
	length                      int
	alpha, variance             float64
	settings                    []setting
	methods                     []method
	rectifier                   rectify.Rectifier
	minFraction                 float64
	seed                        uint64
	workers                     int
	csv                         bool
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

func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("semisynth", flag.ContinueOnError)
	f.SetOutput(stderr)
	var docs, settings, methods, rect, format string
	f.StringVar(&o.docword, "docword", "", "counts in UCI form of the corpus whose topics are the true ones: a `file`")
	f.StringVar(&o.vocab, "vocab", "", "its words, one a line: a `file`")
	f.StringVar(&o.stop, "stop", "", "stop words, one a line: a `file`")
	f.StringVar(&o.model, "model", "", "take the topics of this model `file` instead")
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
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	bad((o.docword == "") != (o.vocab == ""), "-docword and -vocab belong together")
	bad(o.model != "" && o.docword != "", "-model and -docword exclude each other")
	bad(o.k < 2 || o.words < 2*o.k, "-k %d, -n %d: want at least 2 topics and 2 words for each", o.k, o.words)
	for s := range strings.SplitSeq(docs, ",") {
		m, err := strconv.Atoi(strings.TrimSpace(s))
		bad(err != nil || m < 1, "-docs %q: %q is not a number of documents", docs, s)
		o.docs = append(o.docs, m)
	}
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
	return o, errors.Join(errs...)
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

// topics returns the true ones, N×K.
func topics(ctx context.Context, o options) (*mat.Dense, error) {
	switch {
	case o.model != "":
		m, err := jsmf.LoadModel(o.model)
		if err != nil {
			return nil, err
		}
		return mat.DenseCopyOf(m.Topics()), nil
	case o.docword != "":
		raw, err := corpus.ReadUCI(ctx, o.docword, o.vocab)
		if err != nil {
			return nil, err
		}
		cur := corpus.Curation{Words: o.words}
		if o.stop != "" {
			if cur.StopWords, err = corpus.ReadStopWords(ctx, o.stop); err != nil {
				return nil, err
			}
		}
		c, _, err := corpus.Curate(raw, cur)
		if err != nil {
			return nil, err
		}
		m, err := jsmf.New(o.k).Workers(o.workers).Fit(ctx, c)
		if err != nil {
			return nil, err
		}
		return mat.DenseCopyOf(m.Topics()), nil
	}
	return madeUp(o.words, o.k, o.seed), nil
}

// madeUp returns topics of words with frequencies as in language, p ∝ 1/rank, and
// with a preference for some topics that differs from word to word by factors:
// most words are in one or two topics mostly, none in one only.
func madeUp(n, k int, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 0x70b1c5))
	b := mat.NewDense(n, k, nil)
	for i := range n {
		for t := range k {
			b.Set(i, t, math.Exp(2.5*rng.NormFloat64())/float64(i+10))
		}
	}
	normalise(b)
	return b
}

// normalise divides each column by its sum.
func normalise(b *mat.Dense) {
	n, k := b.Dims()
	for t := range k {
		sum := mat.Sum(b.ColView(t))
		for i := range n {
			b.Set(i, t, b.At(i, t)/sum)
		}
	}
}

// withAnchors gives each topic a word of its own (arora-2013 §5.4).
func withAnchors(b *mat.Dense) *mat.Dense {
	n, k := b.Dims()
	out := mat.NewDense(n+k, k, nil)
	out.Slice(0, n, 0, k).(*mat.Dense).Copy(b)
	for t := range k {
		out.Set(n+t, t, mat.Max(b.ColView(t)))
	}
	normalise(out)
	return out
}

// groups is how many groups of topics are correlated among themselves.
const groups = 10

func prior(o options, s setting, b *mat.Dense) (corpus.TopicPrior, error) {
	_, k := b.Dims()
	if !s.normal {
		return corpus.SymmetricDirichlet(k, o.alpha), nil
	}
	if k < groups {
		return nil, fmt.Errorf("%s: %d topics do not make %d groups", s.name, k, groups)
	}
	cov := mat.NewSymDense(k, nil)
	for i := range k {
		cov.SetSym(i, i, o.variance)
		for j := range i {
			if i*groups/k == j*groups/k {
				cov.SetSym(i, j, s.rho)
			}
		}
	}
	return corpus.LogisticNormal{Covariance: cov}, nil
}

// momentDraws is how many compositions stand for all of a logistic-normal
// prior, whose moments have no formula.
const momentDraws = 200000

// moments returns E[wwᵀ].
func moments(p corpus.TopicPrior, k int, seed uint64) (*mat.SymDense, error) {
	sample, err := p.Sampler(k)
	if err != nil {
		return nil, err
	}
	if d, ok := p.(corpus.Dirichlet); ok {
		sum := 0.0
		for _, v := range d.Alpha {
			sum += v
		}
		a := mat.NewSymDense(k, nil)
		for i, v := range d.Alpha {
			for j := i; j < k; j++ {
				a.SetSym(i, j, v*d.Alpha[j]/(sum*(sum+1)))
			}
			a.SetSym(i, i, v*(v+1)/(sum*(sum+1)))
		}
		return a, nil
	}
	rng := rand.New(rand.NewPCG(seed, 0x303e275))
	a := mat.NewSymDense(k, nil)
	block := mat.NewDense(1000, k, nil)
	for range momentDraws / 1000 {
		for i := range 1000 {
			sample(block.RawRowView(i), rng)
		}
		var part mat.SymDense
		part.SymOuterK(1.0/momentDraws, block.T())
		a.AddSym(a, &part)
	}
	return a, nil
}

// product returns BABᵀ.
func product(b *mat.Dense, a *mat.SymDense) (cooc.Matrix, error) {
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		return nil, errors.New("the moments of the prior are singular")
	}
	var l mat.TriDense
	chol.LTo(&l)
	var y mat.Dense
	y.Mul(b, &l)
	return cooc.NewLowRankSparse(&y, 0, nil)
}

func uniform(b *mat.Dense) *mat.Dense {
	n, k := b.Dims()
	u := mat.NewDense(n, k, nil)
	for i := range n {
		for t := range k {
			u.Set(i, t, 1/float64(n))
		}
	}
	return u
}

// distances returns minus the ℓ₁ distance of each column of a from each of b.
func distances(a, b *mat.Dense) *mat.Dense {
	n, k := a.Dims()
	d := mat.NewDense(k, k, nil)
	for i := range n {
		x, y := a.RawRowView(i), b.RawRowView(i)
		for t, v := range x {
			row := d.RawRowView(t)
			for l, w := range y {
				row[l] -= math.Abs(v - w)
			}
		}
	}
	return d
}

// errorsL1 returns mean and standard deviation over topics of the ℓ₁ distance;
// column match[t] of got is to be column t of want, t itself where match is nil.
func errorsL1(got, want *mat.Dense, match []int) (mean, std float64) {
	n, k := want.Dims()
	d := make([]float64, k)
	for t := range k {
		l := t
		if match != nil {
			l = match[t]
		}
		for i := range n {
			d[t] += math.Abs(got.At(i, l) - want.At(i, t))
		}
		mean += d[t] / float64(k)
	}
	for _, v := range d {
		std += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(std / float64(k-1))
}

// table prints rows as they come.
type table struct {
	w   io.Writer
	csv *csv.Writer
	err error
}

var header = []string{"setting", "documents", "method", "l1 mean", "l1 std", "seconds", "note"}

func newTable(w io.Writer, asCSV bool) *table {
	t := &table{w: w}
	if asCSV {
		t.csv = csv.NewWriter(w)
		t.err = t.csv.Write(header)
		return t
	}
	_, t.err = fmt.Fprintf(w, "| %s |\n|---|---|---|---|---|---|---|\n", strings.Join(header, " | "))
	return t
}

func (t *table) row(setting, docs, method string, mean, std, seconds float64, note string) error {
	number := func(format string, v float64) string {
		if math.IsNaN(v) {
			return ""
		}
		return fmt.Sprintf(format, v)
	}
	cells := []string{setting, docs, method, number("%.4f", mean), number("%.4f", std), number("%.3f", seconds), note}
	switch {
	case t.err != nil:
	case t.csv != nil:
		t.err = t.csv.Write(cells)
		t.csv.Flush()
		t.err = errors.Join(t.err, t.csv.Error())
	default:
		_, t.err = fmt.Fprintf(t.w, "| %s |\n", strings.Join(cells, " | "))
	}
	return t.err
}
