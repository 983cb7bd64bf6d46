// Anchorfree repeats the synthetic experiments of fu-2018 (Tables 2 and 3): how
// often the planted topics are found, by methods that need anchor words and by
// those that do not.
//
//	go run ./examples/anchorfree                  # both tables, 100 trials a column
//	go run ./examples/anchorfree -trials 5 -topics 5,10
//
// A trial draws B (1000 words, exponential entries, half of them zero) and A,
// forms C = BABᵀ, and is a success if ‖B − B̂‖_F² and ‖A − Â‖_F² are both below
// 1e-8 after matching the topics. In Table 2 no anchor words are planted; 5 topics
// often have some by chance, 10 topics seldom all. In Table 3 the first 15 topics
// have one each.
//
// The percentages are followed by each method's mean time of a trial, from C to B
// and A, and by the largest errors among the successes. A trial in which a method
// returns an error is no success; the number of these follows the table. The exit
// status is 0, 1 for an error, 2 for wrong usage, and 130 when interrupted by
// Ctrl-C.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/internal/synth"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("anchorfree", args, stderr, parseFlags, func(o options) error {
		for _, t := range o.tables {
			if err := table(ctx, o, methods(), t, stdout, stderr); err != nil {
				return err
			}
		}
		return nil
	})
}

type options struct {
	words, trials  int
	topics, tables []int
	seed           uint64
	workers        int
	quiet          bool
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("anchorfree", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.words, "words", 1000, "`N`, the number of words")
	topics := f.String("topics", "5,10,15,20,25,30", "numbers of topics, the columns: `K[,K…]`")
	f.IntVar(&o.trials, "trials", 100, "`trials` in each column")
	tables := f.String("tables", "2,3", "2 (no guaranteed anchors), 3 (at most 15 topics have one) or 2,3: the `tables`")
	f.Uint64Var(&o.seed, "seed", 0, "the seed of the first trial of each column; the others count up from it")
	f.IntVar(&o.workers, "workers", 1, "how many goroutines a method may use at once; 0: GOMAXPROCS. Only times depend on it")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress on standard error")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var wrong cli.Wrong
	bad := wrong.If
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	o.topics = wrong.Ints("topics", *topics, 2)
	for _, k := range o.topics {
		bad(k > o.words, "-topics %d: want at most -words, %d", k, o.words)
	}
	o.tables = wrong.Ints("tables", *tables, 2)
	for _, t := range o.tables {
		bad(t > 3, "-tables %d: want 2 or 3", t)
	}
	bad(o.trials < 1, "-trials %d: want at least 1", o.trials)
	bad(o.workers < 0, "-workers %d: want 0 or more", o.workers)
	return o, wrong.Err("anchorfree", stderr)
}

// method is a row of the table.
type method struct {
	name  string
	learn func(ctx context.Context, c cooc.Matrix, k, workers int) (b, a *mat.Dense, err error)
}

// methods are the rows, in their order.
func methods() []method {
	var out []method
	for _, f := range []struct {
		name   string
		finder anchor.Finder
	}{
		{"QR", anchor.QR{}},
		{"FastAnchor", anchor.Projected{}},
		{"SPA", anchor.SPA{}},
		{"SNPA", anchor.SNPA{}},
		{"XRAY", anchor.XRAY{}},
	} {
		out = append(out, method{f.name, byAnchors(f.finder)})
	}
	for _, l := range []struct {
		name    string
		learner anchorfree.Learner
	}{
		{"AnchorFree-LP", anchorfree.LP{}},
		{"AnchorFree-PDS", anchorfree.PDS{}},
	} {
		out = append(out, method{l.name, func(ctx context.Context, c cooc.Matrix, k, workers int) (b, a *mat.Dense, err error) {
			r, err := l.learner.Learn(ctx, c, k, anchorfree.Options{Workers: workers})
			if err != nil {
				return nil, nil, err
			}
			return r.B, r.A, nil
		}})
	}
	return out
}

// byAnchors finds anchors by f and solves for the topics exactly.
func byAnchors(f anchor.Finder) func(ctx context.Context, c cooc.Matrix, k, workers int) (b, a *mat.Dense, err error) {
	return func(ctx context.Context, c cooc.Matrix, k, workers int) (b, a *mat.Dense, err error) {
		rows, err := cooc.NewRows(c)
		if err != nil {
			return nil, nil, err
		}
		found, err := f.Find(ctx, rows, k, anchor.Options{Workers: workers})
		if err != nil {
			return nil, nil, err
		}
		r, err := recovery.SCLS{}.Recover(ctx, rows, found.Anchors, recovery.Options{Workers: workers})
		if err != nil {
			return nil, nil, err
		}
		return r.B, r.A, nil
	}
}

// limit is the squared error below which a trial is a success.
const limit = 1e-8

// cell is a method at one number of topics.
type cell struct {
	success, failed int
	seconds         float64
	errB, errA      float64 // the largest among the successes
	failure         error   // the first
}

// table runs and prints one of the two.
func table(ctx context.Context, o options, ms []method, number int, stdout, stderr io.Writer) error {
	cells := make([][]cell, len(ms))
	for i := range cells {
		cells[i] = make([]cell, len(o.topics))
	}
	for j, k := range o.topics {
		anchors := 0
		if number == 3 {
			anchors = min(k, 15)
		}
		begun := time.Now()
		for trial := range o.trials {
			b, a := synth.Scattered(o.words, k, anchors, o.seed+uint64(trial))
			c, err := cooc.NewDense(synth.Cooccurrence(b, a))
			if err != nil {
				return err
			}
			for i, m := range ms {
				if err := cells[i][j].try(ctx, m, c, b, a, o.workers); err != nil {
					return err
				}
			}
		}
		if !o.quiet {
			fmt.Fprintf(stderr, "table %d: K = %d: %d trials in %.1fs\n", number, k, o.trials, time.Since(begun).Seconds())
		}
	}
	what := "without guaranteed anchor words"
	if number == 3 {
		what = "at most 15 topics have an anchor word"
	}
	fmt.Fprintf(stdout, "Table %d: %s; %d words, %d trials\n\n", number, what, o.words, o.trials)
	return show(stdout, o, ms, cells)
}

// try lets a method learn B and A from C = BABᵀ.
func (x *cell) try(ctx context.Context, m method, c cooc.Matrix, b, a *mat.Dense, workers int) error {
	start := time.Now()
	gotB, gotA, err := m.learn(ctx, c, b.RawMatrix().Cols, workers)
	x.seconds += time.Since(start).Seconds()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		x.failed++
		if x.failure == nil {
			x.failure = err
		}
		return nil
	}
	errB, errA, err := synth.Errors(b, a, gotB, gotA)
	if err != nil {
		return err
	}
	if errB < limit && errA < limit {
		x.success++
		x.errB, x.errA = max(x.errB, errB), max(x.errA, errA)
	}
	return nil
}

// show prints the cells of a table, a row for each method.
func show(w io.Writer, o options, ms []method, cells [][]cell) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	block := func(title string, show func(c cell) string) {
		fmt.Fprintf(t, "%s\t", title)
		for _, k := range o.topics {
			fmt.Fprintf(t, "K=%d\t", k)
		}
		fmt.Fprintln(t)
		for i, m := range ms {
			fmt.Fprintf(t, "%s\t", m.name)
			for _, c := range cells[i] {
				fmt.Fprintf(t, "%s\t", show(c))
			}
			fmt.Fprintln(t)
		}
		fmt.Fprintln(t)
	}
	ifAny := func(c cell, v float64) string {
		if c.success == 0 {
			return "-"
		}
		return fmt.Sprintf("%.1e", v)
	}
	block("found, %", func(c cell) string { return fmt.Sprintf("%.4g", 100*float64(c.success)/float64(o.trials)) })
	block("mean time, ms", func(c cell) string { return fmt.Sprintf("%.1f", 1000*c.seconds/float64(o.trials)) })
	block("largest error of B", func(c cell) string { return ifAny(c, c.errB) })
	block("largest error of A", func(c cell) string { return ifAny(c, c.errA) })
	if err := t.Flush(); err != nil {
		return err
	}
	for i, m := range ms {
		for j, c := range cells[i] {
			if c.failed > 0 {
				fmt.Fprintf(w, "%s, K = %d: %d of %d trials ended in an error, the first: %v\n", m.name, o.topics[j], c.failed, o.trials, c.failure)
			}
		}
	}
	return nil
}
