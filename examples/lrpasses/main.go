// Lrpasses shows how the passes of rectify.LR over the documents improve its
// result, and how much of its random start is left in it.
//
//	go run ./examples/lrpasses -docword docword.kos.txt.gz -vocab vocab.kos.txt -n 5000 -k 25
//
// For each number of passes it fits one model per seed (jsmf.Published) and prints, for the
// measures of package metrics, the mean over the seeds and below it the
// standard deviation in percent of the mean (absolute where the mean is 0).
// The first rows are references: alternating projection, and ENN from exact
// eigenpairs. The other columns are
//
//	residual  the largest ‖Cu − λu‖ of the K start pairs, over the least λ kept
//	clipped   start pairs whose λ was not positive
//	anchors   how many of the K anchors are those of the reference ENN
//	seconds   the rectification alone
//
// The exit status is 0, 1 for an error, 2 for wrong usage, and 130 when interrupted
// by Ctrl-C.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

func main() { cli.Main(run) }

type options struct {
	corpus                 cli.UCI
	words, k               int
	from, passes, seeds    int
	oversample, iterations int
	tol                    float64
	workers                int
	noAP                   bool
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("lrpasses", args, stderr, parseFlags, func(o options) error { return table(ctx, o, stdout) })
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("lrpasses", flag.ContinueOnError)
	f.SetOutput(stderr)
	o.corpus.Flags(f)
	f.IntVar(&o.words, "n", 5000, "keep the `N` best words by tf·ln⌊M/df⌋")
	f.IntVar(&o.k, "k", 25, "the number of topics `K`")
	f.IntVar(&o.from, "from", 1, "from this many passes")
	f.IntVar(&o.passes, "passes", 10, "to this many")
	f.IntVar(&o.seeds, "seeds", 10, "how many seeds, from 1")
	f.IntVar(&o.oversample, "oversample", 0, "vectors beyond K; 0: LR's default")
	f.IntVar(&o.iterations, "iterations", 0, "`T` iterations of ENN, fewer with -tol; 0: its default")
	f.Float64Var(&o.tol, "tol", 0, "the tolerance of ENN; 0: its default")
	f.IntVar(&o.workers, "workers", 0, "how many goroutines work at once; 0: GOMAXPROCS")
	f.BoolVar(&o.noAP, "no-ap", false, "without the row of alternating projection")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var wrong cli.Wrong
	bad := wrong.If
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	o.corpus.Require(&wrong)
	bad(o.words < 2, "-n %d: want at least 2", o.words)
	bad(o.k < 2, "-k %d: want at least 2", o.k)
	bad(o.from < 1, "-from %d: want at least 1", o.from)
	bad(o.passes < o.from, "-passes %d: want at least -from, %d", o.passes, o.from)
	bad(o.seeds < 2, "-seeds %d: want at least 2", o.seeds)
	bad(o.oversample < 0 || o.iterations < 0 || !(o.tol >= 0) || o.workers < 0, "-oversample, -iterations, -tol, -workers: want 0 or more")
	return o, wrong.Err("lrpasses", stderr)
}

// measures are the columns.
var measures = []struct {
	name string
	of   func(r *metrics.Report) float64
}{
	{"Recovery", func(r *metrics.Report) float64 { return r.Recovery.Mean }},
	{"Approximation", func(r *metrics.Report) float64 { return r.Approximation }},
	{"Specificity", func(r *metrics.Report) float64 { return r.Specificity.Mean }},
	{"Dissimilarity", func(r *metrics.Report) float64 { return r.Dissimilarity.Mean }},
	{"Dominancy", func(r *metrics.Report) float64 { return r.Dominancy.Mean }},
	{"Entropy", func(r *metrics.Report) float64 { return r.Entropy.Mean }},
	{"Sparsity", func(r *metrics.Report) float64 { return r.Sparsity.Mean }},
	{"Coherence", func(r *metrics.Report) float64 { return r.Coherence.Mean }},
}

// fitted is what one fit gave.
type fitted struct {
	values  []float64
	anchors []int
	seconds float64
}

func fit(ctx context.Context, o options, d *cooc.Moments, r rectify.Rectifier) (*fitted, error) {
	p := jsmf.Published(o.k).Rectify(r).Workers(o.workers)
	m, err := p.Fit(ctx, d)
	if err != nil {
		return nil, err
	}
	rep, err := p.Evaluate(ctx, m, d)
	if err != nil {
		return nil, err
	}
	out := &fitted{anchors: m.Anchors(), seconds: m.Stats().Rectify.Duration.Seconds()}
	for _, x := range measures {
		out.values = append(out.values, x.of(rep))
	}
	return out, nil
}

// noted is an LR that keeps what its Result said of the start.
type noted struct {
	rectify.LR
	residual float64
	clipped  int
}

func (r *noted) Rectify(ctx context.Context, c cooc.Operator, k int, opt rectify.Options) (*rectify.Result, error) {
	res, err := r.LR.Rectify(ctx, c, k, opt)
	if err == nil {
		r.residual, r.clipped = res.StartResidual, res.Clipped
	}
	return res, err
}

func table(ctx context.Context, o options, w io.Writer) error {
	curated, err := o.corpus.Load(ctx, corpus.Curation{Words: o.words})
	if err != nil {
		return err
	}
	d, _, err := cli.Count(ctx, nil, curated, cooc.Options{Workers: o.workers})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s; K = %d, %d seeds\n\n", cli.Sizes(d.Info().Corpus), o.k, o.seeds)

	t := rows{tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	t.head()
	enn := rectify.ENN{Iterations: o.iterations, Tol: o.tol}
	ref, err := fit(ctx, o, d, enn)
	if err != nil {
		return err
	}
	if !o.noAP {
		ap, err := fit(ctx, o, d, rectify.AP{})
		if err != nil {
			return err
		}
		t.row("AP", ap.values, "%.6g", fmt.Sprintf("\t\t%d\t%.2f", shared(ap.anchors, ref.anchors), ap.seconds))
	}
	t.row("ENN", ref.values, "%.6g", fmt.Sprintf("\t\t%d\t%.2f", o.k, ref.seconds))

	largest := math.NaN() // at the default
	for passes := o.from; passes <= o.passes; passes++ {
		spread, err := t.passes(ctx, o, d, passes, ref.anchors)
		if err != nil {
			return err
		}
		if passes == 8 && o.oversample == 0 {
			largest = slices.Max(spread)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if !math.IsNaN(largest) {
		fmt.Fprintf(w, "\nAt the default of 8 passes the largest standard deviation is %.4f %% of its mean.\n", largest)
	}
	return nil
}

// rows prints the table.
type rows struct{ *tabwriter.Writer }

func (t rows) head() {
	fmt.Fprint(t, "\t")
	for _, x := range measures {
		fmt.Fprintf(t, "%s\t", x.name)
	}
	fmt.Fprint(t, "residual\tclipped\tanchors\tseconds\t\n")
}

func (t rows) row(name string, values []float64, format, more string) {
	fmt.Fprintf(t, "%s\t", name)
	for _, v := range values {
		fmt.Fprintf(t, format+"\t", v)
	}
	fmt.Fprintf(t, "%s\t\n", more)
}

// passes fits by LR with every seed, prints the two rows of that, and returns the
// second: the standard deviations.
func (t rows) passes(ctx context.Context, o options, d *cooc.Moments, passes int, anchors []int) (spread []float64, err error) {
	var fits []*fitted
	var residual, clipped, same, seconds float64
	for seed := range o.seeds {
		r := &noted{LR: rectify.LR{Passes: passes, Oversample: o.oversample, Seed: uint64(seed + 1), ENN: rectify.ENN{Iterations: o.iterations, Tol: o.tol}}}
		x, err := fit(ctx, o, d, r)
		if err != nil {
			return nil, fmt.Errorf("%d passes, seed %d: %w", passes, seed+1, err)
		}
		fits = append(fits, x)
		n := float64(o.seeds)
		residual = max(residual, r.residual)
		clipped += float64(r.clipped) / n
		same += float64(shared(x.anchors, anchors)) / n
		seconds += x.seconds / n
	}
	mean, spread := moments(fits)
	t.row(fmt.Sprintf("%d", passes), mean, "%.6g", fmt.Sprintf("%.1e\t%.3g\t%.4g\t%.2f", residual, clipped, same, seconds))
	t.row("± %", spread, "%.4f", strings.Repeat("\t", 3))
	return spread, nil
}

// moments returns, for each measure, the mean over the fits and the sample
// standard deviation in percent of it.
func moments(fits []*fitted) (mean, spread []float64) {
	n := float64(len(fits))
	for j := range measures {
		m, q := 0.0, 0.0
		for _, f := range fits {
			m += f.values[j] / n
		}
		for _, f := range fits {
			q += (f.values[j] - m) * (f.values[j] - m)
		}
		s := math.Sqrt(q / (n - 1))
		if m != 0 {
			s *= 100 / math.Abs(m)
		}
		mean, spread = append(mean, m), append(spread, s)
	}
	return mean, spread
}

// shared returns how many numbers two lists have in common.
func shared(a, b []int) int {
	n := 0
	for _, x := range a {
		if slices.Contains(b, x) {
			n++
		}
	}
	return n
}
