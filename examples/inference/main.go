// Inference compares the methods that find the topics of single documents: the
// experiments of lee-2018, chapter 4 (Figures 4.3 and 4.4, Table 4.1), on a corpus
// in UCI form.
//
//	go run ./examples/inference -docword docword.kos.txt.gz -vocab vocab.kos.txt -n 5000 -k 5,25,50,100
//
// For each K a model is fitted to a training part of the corpus. Then:
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
// Three rows tell where errors come from. "SPI of Bw" is SPI of the exact word probabilities
// of the true w, what longer and longer documents lead to: the bias that no length mends.
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
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("inference", args, stderr, parseFlags, func(o options) error { return compare(ctx, o, stdout, stderr) })
}

type options struct {
	docword, vocab, stop string
	words, minDF         int
	topics               []int
	settings             []string
	docs, length         int
	alphaSum, unseen     float64
	burnIn, sweeps       int
	noTLI                bool
	seed                 uint64
	workers              int
	csv, quiet           bool
}

var allSettings = []string{"SS", "SR", "FR"}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("inference", flag.ContinueOnError)
	f.SetOutput(stderr)
	var ks, settings string
	f.StringVar(&o.docword, "docword", "", "counts in UCI form, plain or gzipped: a `file` (required)")
	f.StringVar(&o.vocab, "vocab", "", "the words, one a line: a `file` (required)")
	f.StringVar(&o.stop, "stop", "", "stop words, one a line: a `file`")
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
	bad(o.docword == "", "-docword is missing")
	bad(o.vocab == "", "-vocab is missing")
	bad(o.words < 2, "-n %d: want at least 2", o.words)
	for s := range strings.SplitSeq(ks, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(s))
		bad(err != nil || k < 2, "-k %q: %q is not a number of at least 2", ks, s)
		o.topics = append(o.topics, k)
	}
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
	var rec jsmf.Recorder
	note := func(format string, args ...any) {}
	if !o.quiet {
		rec = jsmf.NewPrinter(stderr)
		note = func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	}
	raw, err := corpus.ReadUCI(ctx, o.docword, o.vocab)
	if err != nil {
		return err
	}
	cur := corpus.Curation{Words: o.words}
	if o.stop != "" {
		if cur.StopWords, err = corpus.ReadStopWords(ctx, o.stop); err != nil {
			return err
		}
	}
	c, _, err := corpus.Curate(raw, cur)
	if err != nil {
		return err
	}
	train, unseen, err := c.Split(o.unseen, o.seed)
	if err != nil {
		return err
	}
	p, err := cooc.NewMoments(ctx, train, cooc.Options{DropUnused: true, Workers: o.workers})
	if err != nil {
		return err
	}
	train = p.Info().Corpus // less the shortest documents, and the words of these alone
	if unseen, _, err = unseen.Reindex(train.Vocabulary()); err != nil {
		return err
	}
	t := &table{w: stdout, csv: o.csv}
	t.head()
	for _, k := range o.topics {
		m, err := jsmf.New(k).Anchors(anchor.QR{MinDocs: o.minDF}).Workers(o.workers).Record(rec).Fit(ctx, p)
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

// experiment is one setting for one K.
type experiment struct {
	name        string
	k           int
	topics      infer.Topics
	docs        [2]*corpus.Corpus // learned from, and not
	truth       [2]*mat.Dense
	otherA      *mat.Dense // for PADD with its own prior
	gibbsIsTrue bool       // FR
}

// topicsOf returns the model as package infer takes it.
func topicsOf(m *jsmf.Model) infer.Topics {
	return infer.Topics{B: mat.DenseCopyOf(m.Topics()), A: mat.DenseCopyOf(m.Correlations()), Breve: mat.DenseCopyOf(m.WordTopics()), Alpha: m.Alpha()}
}

func prepare(ctx context.Context, o options, setting string, m *jsmf.Model, train, unseen *corpus.Corpus, note func(string, ...any)) (*experiment, error) {
	e := &experiment{name: setting, k: m.K(), topics: topicsOf(m)}
	gibbs := infer.Gibbs{BurnIn: o.burnIn, Sweeps: o.sweeps, Seed: o.seed}
	if setting == "FR" {
		e.docs, e.gibbsIsTrue = [2]*corpus.Corpus{train, unseen}, true
		inf, err := gibbs.Prepare(ctx, e.topics, infer.Options{Workers: o.workers})
		if err != nil {
			return nil, err
		}
		for i, c := range e.docs {
			note("FR, K=%d: %v on %d documents", e.k, gibbs, c.NumDocs())
			b, err := inf.Infer(ctx, c, infer.Options{Workers: o.workers})
			if err != nil {
				return nil, err
			}
			e.truth[i] = b.W
		}
		e.otherA = moment(e.truth[0])
		return e, nil
	}
	lengths := []int{o.length}
	if o.length == 0 {
		lengths = make([]int, train.NumDocs())
		for d := range lengths {
			lengths[d] = int(train.DocLen(d))
		}
	}
	alpha := slices.Repeat([]float64{o.alphaSum / float64(e.k)}, e.k)
	gen := corpus.Generator{Topics: e.topics.B, Prior: corpus.Dirichlet{Alpha: alpha}, Lengths: lengths, Docs: 2 * o.docs, Seed: o.seed, Workers: o.workers}
	if setting == "SR" {
		inf, err := infer.MAP{}.Prepare(ctx, e.topics, infer.Options{Workers: o.workers})
		if err != nil {
			return nil, err
		}
		b, err := inf.Infer(ctx, train, infer.Options{Workers: o.workers})
		if err != nil {
			return nil, err
		}
		prior, err := corpus.FitLogisticNormal(b.W, 0)
		if err != nil {
			return nil, err
		}
		gen.Prior = prior
	}
	all, w, err := gen.Generate(ctx)
	if err != nil {
		return nil, err
	}
	for i := range e.docs {
		part := make([]int, o.docs)
		for d := range part {
			part[d] = i*o.docs + d
		}
		if e.docs[i], err = all.Select(part, nil); err != nil {
			return nil, err
		}
		e.truth[i] = mat.DenseCopyOf(w.Slice(i*o.docs, (i+1)*o.docs, 0, e.k))
	}
	e.otherA, e.topics.A = e.topics.A, moment(e.truth[0])
	e.topics.Breve = nil // by Bayes' rule with the shares of A
	if setting == "SS" {
		e.topics.Alpha = alpha
	}
	return e, nil
}

// moment returns WᵀW for compositions with a row a document.
func moment(w *mat.Dense) *mat.Dense {
	var a mat.Dense
	a.Mul(w.T(), w)
	return &a
}

func (e *experiment) run(ctx context.Context, o options, t *table, note func(string, ...any)) error {
	if err := e.bounds(o, t); err != nil {
		return err
	}
	methods := []infer.Method{infer.SPI{}, infer.TLI{}, infer.LeastSquares{}, infer.PADD{}, infer.PADD{Prior: e.otherA}, infer.MAP{EM: true}, infer.MAP{}}
	if e.gibbsIsTrue {
		methods = append(methods, infer.PADD{Tol: 0.3})
	} else {
		if err := e.spiBias(ctx, o, t); err != nil {
			return err
		}
		methods = append(methods, infer.Gibbs{BurnIn: o.burnIn, Sweeps: o.sweeps, Seed: o.seed})
	}
	for _, m := range methods {
		tp := e.topics
		name := m.String()
		begun := time.Now()
		switch x := m.(type) {
		case infer.TLI:
			if o.noTLI {
				continue
			}
		case infer.PADD:
			l, err := x.Learn(ctx, tp, e.docs[0], infer.Options{Workers: o.workers})
			if err != nil {
				return err
			}
			note("%s, K=%d: PADD: ‖A − WWᵀ/M‖ %.4g → %.4g, %v in %d steps", e.name, e.k, l.Residuals[0], l.Residual, l.Status, len(l.Residuals))
			tp.Dual = l.Dual
		}
		inf, err := m.Prepare(ctx, tp, infer.Options{Workers: o.workers})
		var bad *infer.TopicsError
		if _, ok := m.(infer.TLI); ok && errors.As(err, &bad) { // B has no left inverse
			note("%s, K=%d: %v", e.name, e.k, err)
			continue
		}
		if err != nil {
			return err
		}
		prep := time.Since(begun)
		var got [2]*infer.Batch
		begun = time.Now()
		for i, c := range e.docs {
			if got[i], err = inf.Infer(ctx, c, infer.Options{Workers: 1}); err != nil {
				return err
			}
		}
		each := time.Since(begun).Seconds() / float64(e.docs[0].NumDocs()+e.docs[1].NumDocs())
		note("%s, K=%d: %s: %.3g ms a document", e.name, e.k, name, 1e3*each)
		if err := e.report(t, name, [2]*mat.Dense{got[0].W, got[1].W}, 1e3*each, prep.Seconds()); err != nil {
			return err
		}
	}
	return nil
}

// spiBias measures SPI of the exact word probabilities Bw of the true compositions.
func (e *experiment) spiBias(ctx context.Context, o options, t *table) error {
	inf, err := infer.SPI{}.Prepare(ctx, e.topics, infer.Options{Workers: o.workers})
	if err != nil {
		return err
	}
	words, _ := e.topics.B.Dims()
	ids := make([]int32, words)
	for i := range ids {
		ids[i] = int32(i)
	}
	var out [2]*mat.Dense
	for i, w := range e.truth {
		m, _ := w.Dims()
		out[i] = mat.NewDense(m, e.k, nil)
		p := mat.NewVecDense(words, nil)
		for d := range m {
			if err := ctx.Err(); err != nil {
				return err
			}
			p.MulVec(e.topics.B, w.RowView(d))
			if _, err := inf.InferWeightsTo(out[i].RawRowView(d), ids, p.RawVector().Data); err != nil {
				return err
			}
		}
	}
	return e.report(t, "SPI of Bw", out, math.NaN(), math.NaN())
}

// bounds measures compositions drawn from the uniform distribution over the simplex,
// and the true ones.
func (e *experiment) bounds(o options, t *table) error {
	rng := rand.New(rand.NewPCG(o.seed, 0x5eed))
	var w [2]*mat.Dense
	for i := range w {
		m, _ := e.truth[i].Dims()
		w[i] = mat.NewDense(m, e.k, nil)
		for d := range m {
			row, sum := w[i].RawRowView(d), 0.0
			for k := range row {
				row[k] = rng.ExpFloat64()
				sum += row[k]
			}
			for k := range row {
				row[k] /= sum
			}
		}
	}
	if err := e.report(t, "random", w, math.NaN(), math.NaN()); err != nil {
		return err
	}
	return e.report(t, "truth", e.truth, math.NaN(), math.NaN())
}

func (e *experiment) report(t *table, method string, w [2]*mat.Dense, ms, prep float64) error {
	var r [2]*metrics.CompositionReport
	for i := range r {
		var err error
		if r[i], err = metrics.Compositions(e.truth[i], w[i], e.topics.A); err != nil {
			return err
		}
	}
	t.row(e.name, e.k, method, r, w, ms, prep)
	return nil
}

// squares returns the mean over the documents of Σw².
func squares(w *mat.Dense) float64 {
	m, _ := w.Dims()
	s := 0.0
	for d := range m {
		for _, x := range w.RawRowView(d) {
			s += x * x
		}
	}
	return s / float64(m)
}

// table prints rows as they come.
type table struct {
	w   io.Writer
	csv bool
	err error
}

var columns = []struct {
	name string
	of   func(r *metrics.CompositionReport, w *mat.Dense) float64
}{
	{"precision", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.Precision.Mean }},
	{"recall", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.Recall.Mean }},
	{"F1", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.F1.Mean }},
	{"ℓ₁", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.L1.Mean }},
	{"ℓ∞", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.LInf.Mean }},
	{"Hellinger", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.Hellinger.Mean }},
	{"KL", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.KL.Mean }},
	{"non-supp", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.NonSupport.Mean }},
	{"Σw²", func(_ *metrics.CompositionReport, w *mat.Dense) float64 { return squares(w) }},
	{"prior-dist", func(r *metrics.CompositionReport, _ *mat.Dense) float64 { return r.PriorDistance }},
	{"zero", func(r *metrics.CompositionReport, _ *mat.Dense) float64 {
		return 100 * float64(r.L1.Undefined) / float64(len(r.L1.Values))
	}},
}

func (t *table) line(cells []string) {
	if t.err != nil {
		return
	}
	if t.csv {
		_, t.err = fmt.Fprintln(t.w, strings.Join(cells, ","))
		return
	}
	_, t.err = fmt.Fprintln(t.w, "| "+strings.Join(cells, " | ")+" |")
}

func (t *table) head() {
	cells := []string{"setting", "K", "method"}
	for _, c := range columns {
		if t.csv {
			cells = append(cells, c.name, c.name+" unseen")
		} else {
			cells = append(cells, c.name)
		}
	}
	t.line(append(cells, "ms", "prep"))
	if !t.csv {
		t.line(slices.Repeat([]string{"---"}, len(columns)+5))
	}
}

func (t *table) row(setting string, k int, method string, r [2]*metrics.CompositionReport, w [2]*mat.Dense, ms, prep float64) {
	if t.csv {
		method = strings.ReplaceAll(method, ",", ";")
	}
	cells := []string{setting, strconv.Itoa(k), method}
	number := func(x float64) string {
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	for _, c := range columns {
		a, b := number(c.of(r[0], w[0])), number(c.of(r[1], w[1]))
		if t.csv {
			cells = append(cells, a, b)
		} else {
			cells = append(cells, a+" / "+b)
		}
	}
	t.line(append(cells, number(ms), number(prep)))
}
