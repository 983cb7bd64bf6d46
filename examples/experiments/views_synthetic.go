package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/plotter"
)

// syntheticFigures are the figures of arora-2013 of documents drawn from known topics:
// one of the distances, one of the other measures, and the rows that repeat them.
var syntheticFigures = []struct {
	distances, measures string // numbers of figures
	title               string
	where               []any
}{
	{"2", "9", "long documents", []any{"tokens", syntheticTokens, "topics", asSampled, "variance", ""}},
	{"3", "13", "short documents", []any{"tokens", syntheticShort, "topics", asSampled, "variance", ""}},
	{"4", "10", "anchors added", []any{"tokens", syntheticTokens, "topics", withAnchors, "variance", ""}},
	{"5", "11", "ρ = 0.05", []any{"variance", 1, "rho", 0.05}},
	{"5", "12", "ρ = 0.1", []any{"variance", 1, "rho", 0.1}},
}

// parts returns the rows of each part of a figure of arora-2013.
func parts(t *tables, number string) [][]row {
	var out [][]row
	for _, f := range syntheticFigures {
		if f.distances == number || f.measures == number {
			out = append(out, where(t.rows["synthetic"], f.where...))
		}
	}
	return out
}

// figureRows returns the rows of a figure with the given values.
func figureRows(t *tables, number string, pairs ...any) []row {
	return where(slices.Concat(parts(t, number)...), pairs...)
}

// uncorrelated are the rows of a logistic-normal prior without correlations.
func uncorrelated(t *tables) []row { return where(t.rows["synthetic"], "variance", 1, "rho", 0) }

// finite are the rows of drawn documents.
func finite(rows []row) []row {
	var out []row
	for _, r := range rows {
		if r["documents"] != infinite {
			out = append(out, r)
		}
	}
	return out
}

var synthetic = experiment{
	name: "synthetic", title: "Documents drawn from the topics of Gibbs sampling",
	repeats: arora("2", "3", "4", "5", "9", "10", "11", "12", "13"),
	what: fmt.Sprintf("The true topics are those of Gibbs sampling on a corpus (%d sweeps), K = 50 (the paper: 100) over 1,500 words (15,000 and 2,500). Documents have %d tokens, drawn from the second corpus, which stands in for "+
		"NYTimes, or %d, from the first. Their compositions are from a symmetric Dirichlet prior with %g. Figure 4: each topic has a word of its own added, as probable as its most probable one. Figure 5: a logistic-normal prior; "+
		"topics are in groups of ten, as in the paper, and have the covariance ρ within a group. The paper does not tell the variances. They are 1 here, so that ρ is the correlation, too. "+
		"Anchors are by QR, among words in 1 %% of the documents. inverse is the paper's Recover, its topics projected on the simplex. L2 is solved exactly; L2+ExpGrad by the paper's exponentiated gradient. "+
		"KL stops at a gap of 1e-6 or 500 sweeps. Gibbs sampling has 1,000 sweeps (1,900) and averages over the second half. There are 20 trials of inverse and L2 (3 of the most documents), 1 or 2 of L2+ExpGrad, KL and Gibbs, "+
		"of Gibbs up to 2.3 million tokens; the paper has up to two million documents. Shown is the mean ℓ₁ distance of a topic, matched as well as can be; “uniform” is that of the uniform distribution. "+
		"Other measures are as in heldout, on %d more documents. A claim is counted by trials: the methods compared have the same documents.",
		syntheticSweeps, syntheticTokens, syntheticShort, semiAlpha, syntheticHeld),
	groups:  []*group{syntheticGroup},
	plan:    planSynthetic,
	figures: syntheticPlots,
	tables:  syntheticTables,
	claims:  syntheticClaims(),
}

func arora(numbers ...string) []string {
	for i, n := range numbers {
		numbers[i] = "arora-2013 Figure " + n
	}
	return numbers
}

// averages is a line of the means over trials against the number of documents. That of
// the true C stands at the right of the others.
func averages(name string, rows []row, measure string, right float64) line {
	out := line{name: name}
	for _, docs := range values(rows, "documents") {
		x, err := strconv.ParseFloat(docs, 64)
		if err != nil {
			x = right
		}
		if mean, _, n := spread(numbersIn(where(rows, "documents", docs), measure)); n > 0 {
			out.xy = append(out.xy, plotter.XY{X: x, Y: mean})
		}
	}
	slices.SortFunc(out.xy, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	return out
}

// numbersIn returns the defined numbers in a column.
func numbersIn(rows []row, column string) []float64 {
	var out []float64
	for _, r := range rows {
		if v := r.num(column); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// spread returns mean and standard error of numbers, and how many there are.
func spread(x []float64) (mean, err float64, n int) {
	mean, sd := stat.MeanStdDev(x, nil)
	return mean, stat.StdErr(sd, float64(len(x))), len(x)
}

func syntheticPlots(_ *lab, t *tables) []figure {
	rows := t.rows["synthetic"]
	docs := numbersOf(rows, "documents")
	if len(docs) == 0 {
		return nil
	}
	right := 4 * docs[len(docs)-1]
	errors := figure{"synthetic", "ℓ₁ distance to the true topics against the number of documents (arora-2013 Figures 2 to 5), and against ρ", 3, nil}
	more := figure{"synthetic-measures", "Held-out probability a token, coherence and unique words against the number of documents (arora-2013 Figures 9 to 13)", 3, nil}
	for _, f := range syntheticFigures {
		rows := where(rows, f.where...)
		if len(rows) == 0 {
			continue
		}
		p := panel{title: "Figure " + f.distances + ": " + f.title, x: "documents", y: "L1", logX: true, ticks: append(docs, right), names: map[float64]string{right: "∞"}}
		for _, m := range append(syntheticNames(), gibbs) {
			if m != "L2+ExpGrad" { // it lies on L2
				p.lines = append(p.lines, averages(m, where(rows, "method", m), "b_l1", right))
			}
		}
		if u := where(rows, "method", "uniform"); len(u) > 0 {
			p.lines = append(p.lines, line{name: "uniform", xy: plotter.XYs{{X: docs[0], Y: u[0].num("b_l1")}, {X: right, Y: u[0].num("b_l1")}}})
		}
		errors.panels = append(errors.panels, p)
		for _, x := range []struct{ key, title string }{{"held_out", "ln p of a token"}, {"coherence", "Coherence"}, {"dissimilarity", "unique words"}} {
			p := panel{title: "Figure " + f.measures + ": " + x.title, x: "documents", logX: true, ticks: docs}
			for _, m := range []string{"inverse", "L2", "KL", gibbs} {
				p.lines = append(p.lines, averages(m, where(finite(rows), "method", m), x.key, right))
			}
			more.panels = append(more.panels, p)
		}
	}
	if lines := doses(t); len(lines) > 0 {
		errors.panels = append(errors.panels, panel{title: fmt.Sprintf("%d documents, by L2", rhoDocs), x: "ρ", y: "L1", lines: lines})
	}
	return []figure{errors, more}
}

// doses are lines of the mean error of L2 against ρ, one for each variance.
func doses(t *tables) []line {
	rows := where(t.rows["synthetic"], "method", "L2", "documents", rhoDocs)
	var out []line
	for _, v := range []string{"1", "4"} {
		l := line{name: "variance " + v}
		for _, rho := range numbersOf(where(rows, "variance", v), "rho") {
			if mean, _, n := spread(numbersIn(where(rows, "variance", v, "rho", rho), "b_l1")); n > 0 {
				l.xy = append(l.xy, plotter.XY{X: rho, Y: mean})
			}
		}
		if len(l.xy) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// syntheticNames are the names of syntheticMethods.
func syntheticNames() []string {
	var out []string
	for _, m := range syntheticMethods {
		out = append(out, m.name)
	}
	return out
}

func syntheticTables(_ *lab, t *tables) []table {
	rows := t.rows["synthetic"]
	var docs []string
	for _, v := range numbersOf(rows, "documents") {
		docs = append(docs, strconv.FormatFloat(v, 'f', -1, 64))
	}
	docs = append(docs, infinite)
	means := table{caption: "ℓ₁ distance to the true topics: mean over trials ± standard error (trials; those that failed):", head: append([]string{"figure", "method"}, docs...)}
	add := func(name string, rows []row) {
		for _, m := range values(rows, "method") {
			line := []string{name, m}
			for _, d := range docs {
				line = append(line, meanError(where(rows, "method", m, "documents", d), "b_l1"))
			}
			means.rows = append(means.rows, line)
		}
	}
	for _, f := range syntheticFigures {
		add(f.distances+", "+f.title, where(rows, f.where...))
	}
	dose := table{caption: fmt.Sprintf("What a covariance ρ does to L2's ℓ₁ distance with %d documents: mean ± standard error, and the same of the difference from ρ = 0 of the same trial:", rhoDocs),
		head: []string{"variance", "ρ", "ℓ₁", "difference"}}
	for _, v := range []string{"1", "4"} {
		at := where(rows, "variance", v, "method", "L2", "documents", rhoDocs)
		for _, rho := range values(at, "rho") {
			these := where(at, "rho", rho)
			var differ []float64
			for _, p := range sameTrials(these, where(at, "rho", 0)) {
				differ = append(differ, p[0].num("b_l1")-p[1].num("b_l1"))
			}
			mean, err, _ := spread(differ)
			dose.rows = append(dose.rows, []string{v, rho, meanError(these, "b_l1"), fmt.Sprintf("%+.4f ± %.4f", mean, err)})
		}
	}
	return []table{means, dose}
}

// meanError is the mean over trials with its standard error, the number of trials and
// that of failures.
func meanError(rows []row, column string) string {
	mean, err, n := spread(numbersIn(rows, column))
	failed := len(rows) - n
	switch {
	case len(rows) == 0:
		return ""
	case n == 0:
		return fmt.Sprintf("all %d fail", failed)
	case n == 1 && failed == 0:
		return fmt.Sprintf("%.4f", mean)
	case n == 1:
		return fmt.Sprintf("%.4f (1; %d)", mean, failed)
	case failed > 0:
		return fmt.Sprintf("%.4f ± %.4f (%d; %d)", mean, err, n, failed)
	}
	return fmt.Sprintf("%.4f ± %.4f (%d)", mean, err, n)
}
