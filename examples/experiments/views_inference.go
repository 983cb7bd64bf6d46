package main

import (
	"fmt"
	"slices"
	"strconv"
)

// inferenceMeasures are those of lee-2018 §4.4, in the order of its figures.
var inferenceMeasures = []struct {
	key, title string
	better     func(a, b float64) bool
}{
	{"precision", "Precision", greater}, {"recall", "Recall", greater}, {"f1", "F1", greater},
	{"l1", "L1 error", less}, {"linf", "L∞ error", less}, {"kl", "KL divergence", less}, {"hellinger", "Hellinger", less},
	{"prior_distance", "Prior distance", less}, {"non_support", "Mass off support", less},
}

// The measures of Figures 4.3 and 4.4, of Table 4.1, and those where recall alone is
// no merit.
var (
	figureMeasures = []string{"precision", "recall", "f1", "l1", "linf", "kl", "hellinger"}
	tableMeasures  = []string{"precision", "recall", "f1", "l1", "linf", "hellinger", "prior_distance", "non_support"}
	overall        = []string{"f1", "l1", "linf", "kl", "hellinger"}
)

var inference = experiment{
	name: "inference", title: "The topics of single documents",
	repeats: []string{"lee-2018 Figure 4.3", "lee-2018 Figure 4.4", "lee-2018 Table 4.1"},
	what: fmt.Sprintf("Topics B and correlations A are those of AP on nine tenths of a corpus; methods that infer the compositions of documents get them as they are. "+
		"SS (semi-synthetic, Figure 4.3): %[1]d documents drawn with the prior Dirichlet(5/K). SR (semi-real, Figure 4.4): %[1]d drawn with a logistic-normal prior, which has the moments of the compositions that "+
		"MAP infers in the corpus; the thesis has it from a correlated topic model by sampling. Drawn documents are as long as those of the corpus on average, and A is the prior's own E[wwᵀ]. "+
		"FR (real, Table 4.1): Gibbs sampling with the topics fixed, %[2]d + %[3]d sweeps, is the truth, on %[4]d of the documents that the model was fitted to and on the tenth that it was not; A is the model's, and "+
		"PADD learns from all documents that the model was fitted to. The Dirichlet prior of Gibbs, MAP and Variational (mean-field variational Bayes) is the true one of SS, and elsewhere has the moments of A. "+
		"Reductions: every K is at least twice the one before, Gibbs of SS and SR has %[5]d + %[6]d sweeps, one collection a case is drawn. kos stands in for the thesis' political blogs; there is no NYTimes.",
		inferenceUsual.Docs, inferenceUsual.Truth.BurnIn, inferenceUsual.Truth.Sweeps, inferenceUsual.Real, inferenceUsual.Gibbs.BurnIn, inferenceUsual.Gibbs.Sweeps),
	groups:  []*group{inferenceGroup},
	plan:    planInference,
	figures: inferenceFigures,
	tables: func(l *lab, t *tables) []table {
		return []table{realTable(t), causeTable(t), shortTable(t), paceTable(t)}
	},
	claims: inferenceClaims,
}

// inferenceRows are the rows of a setting as in lee-2018.
func inferenceRows(t *tables, setting string) []row {
	return where(t.rows["inference"], "setting", setting, "variant", "")
}

func inferenceFigures(_ *lab, t *tables) []figure {
	var out []figure
	for _, x := range []struct{ name, setting, caption string }{
		{"inference-ss", semiSynthetic, "Inference on semi-synthetic documents, with little correlation (lee-2018 Figure 4.3)"},
		{"inference-sr", semiReal, "Inference on semi-real documents, with correlated topics (lee-2018 Figure 4.4)"},
	} {
		rows := inferenceRows(t, x.setting)
		f := figure{x.name, x.caption, 4, nil}
		for _, c := range values(rows, "corpus") {
			for _, m := range inferenceMeasures[:8] {
				p := panel{title: c + ": " + m.title, x: "K", logX: true, ticks: numbersOf(rows, "k"), logY: m.key == "prior_distance"}
				for _, method := range []string{random, spi, tli, padd, mapCVB, meanField, gibbs} {
					p.lines = append(p.lines, series(method, where(rows, "corpus", c, "method", method), "k", m.key))
				}
				f.panels = append(f.panels, p)
			}
		}
		out = append(out, f)
	}
	return out
}

// overK returns the means over the K, for each corpus, setting, part and method.
func overK(rows []row, measures []string) []row {
	var out []row
	for _, c := range values(rows, "corpus") {
		for _, setting := range values(rows, "setting") {
			for _, part := range values(rows, "part") {
				for _, m := range values(rows, "method") {
					of := where(rows, "corpus", c, "setting", setting, "part", part, "method", m)
					if len(of) == 0 {
						continue
					}
					r := row{"corpus": c, "setting": setting, "part": part, "method": m}
					for _, key := range measures {
						r.set(key, meanOf(of, key))
					}
					out = append(out, r)
				}
			}
		}
	}
	return out
}

// realTable is Table 4.1.
func realTable(t *tables) table {
	rows := overK(inferenceRows(t, fullyReal), tableMeasures)
	x := table{caption: "Real documents, those that the model was fitted to / others, means over all K (lee-2018 Table 4.1):", head: []string{"corpus", "method"}}
	for _, m := range inferenceMeasures {
		if slices.Contains(tableMeasures, m.key) {
			x.head = append(x.head, m.title)
		}
	}
	for _, c := range values(rows, "corpus") {
		for _, method := range values(rows, "method") {
			a, b := where(rows, "corpus", c, "method", method, "part", training), where(rows, "corpus", c, "method", method, "part", unseen)
			if len(a) != 1 || len(b) != 1 || method == truthItself {
				continue
			}
			cells := []string{c, method}
			for _, m := range inferenceMeasures {
				if slices.Contains(tableMeasures, m.key) {
					cells = append(cells, fmt.Sprintf("%.3g / %.3g", a[0].num(m.key), b[0].num(m.key)))
				}
			}
			x.rows = append(x.rows, cells)
		}
	}
	return x
}

// causeTable shows where errors come from.
func causeTable(t *tables) table {
	x := table{caption: "Where the errors come from: means over all K of the L1 error, and of Σw², 1 for one topic a document. “SPI of Bw” has the exact word probabilities of the true compositions, as documents without end would. " +
		"“PADD, other A” has, of drawn documents, the A of the real corpus and, of real ones, that of the sampled compositions; “PADD, stopped” ends as far from A as these are, about. Likelihood is without any prior.",
		head: []string{"corpus", "setting", "measure"}}
	shown := []string{truthItself, spi, spiExact, tli, plainSquares, padd, paddOther, paddStopped, likelihood, mapCVB, meanField, gibbs}
	x.head = append(x.head, shown...)
	var rows []row
	for _, s := range []string{semiSynthetic, semiReal, fullyReal} {
		rows = append(rows, overK(where(inferenceRows(t, s), "part", training), []string{"l1", "square", "prior_distance"})...)
	}
	for _, c := range values(rows, "corpus") {
		for _, s := range values(rows, "setting") {
			for _, m := range []struct{ key, title string }{{"l1", "L1 error"}, {"square", "Σw²"}, {"prior_distance", "distance to A"}} {
				cells := []string{c, s, m.title}
				for _, method := range shown {
					text := ""
					if r := where(rows, "corpus", c, "setting", s, "method", method); len(r) == 1 {
						text = strconv.FormatFloat(r[0].num(m.key), 'g', 3, 64)
					}
					cells = append(cells, text)
				}
				x.rows = append(x.rows, cells)
			}
		}
	}
	return x
}

// shortTable shows what the length of documents does.
func shortTable(t *tables) table {
	x := table{caption: "L1 error and F1 on semi-synthetic documents of other lengths:", head: []string{"corpus", "K", "documents of", "measure"}}
	methods := []string{spi, tli, plainSquares, padd, likelihood, mapCVB}
	x.head = append(x.head, methods...)
	rows := where(t.rows["inference"], "setting", semiSynthetic)
	for _, c := range values(rows, "corpus") {
		for _, k := range values(rows, "k") {
			for _, v := range values(rows, "variant") {
				if v == "" {
					continue
				}
				for _, m := range []struct{ key, title string }{{"l1", "L1 error"}, {"f1", "F1"}} {
					cells := []string{c, k, v, m.title}
					for _, method := range methods {
						text := ""
						if r := where(rows, "corpus", c, "k", k, "variant", v, "method", method); len(r) == 1 {
							text = strconv.FormatFloat(r[0].num(m.key), 'g', 3, 64)
						}
						cells = append(cells, text)
					}
					if slices.ContainsFunc(cells[4:], func(s string) bool { return s != "" }) {
						x.rows = append(x.rows, cells)
					}
				}
			}
		}
	}
	return x
}

// paceTable shows seconds for the largest K of SS.
func paceTable(t *tables) table {
	rows := inferenceRows(t, semiSynthetic)
	x := table{caption: "Seconds to prepare a method, with what PADD learns, and thousandths of a second a document (SS, the largest K; Gibbs sampling by 1,200 sweeps):", head: []string{"corpus", "K", "method", "prepare", "a document"}}
	ks := numbersOf(rows, "k")
	if len(ks) == 0 {
		return x
	}
	for _, r := range where(rows, "k", int(ks[len(ks)-1])) {
		if !slices.Contains([]string{random, truthItself, spiExact}, r["method"]) && r["error"] == "" {
			x.rows = append(x.rows, []string{r["corpus"], r["k"], r["method"], fmt.Sprintf("%.2g", r.num("seconds_prepare")), fmt.Sprintf("%.2g", 1000*documentSeconds(r))})
		}
	}
	return x
}
