package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// shown are the measures of the figures, in their order.
var shown = []struct {
	key, title string
	log        bool
}{
	{"recovery", "Recovery", true},
	{"approximation", "Approximation", true},
	{"dominancy", "Dominancy", false},
	{"specificity", "Specificity", false},
	{"dissimilarity", "Dissimilarity", false},
	{"coherence", "Coherence", false},
	{"sparsity", "Sparsity", false},
	{"legality", "Legality", true},
	{"entropy", "Entropy", false},
	{"npmi", "NPMI", false},
}

// numbersOf returns the numbers in a column, ascending.
func numbersOf(rows []row, column string) []float64 {
	var out []float64
	for _, s := range values(rows, column) {
		if v, err := strconv.ParseFloat(s, 64); err == nil {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// kind is a line of a figure: its name and the rows that it is of.
type kind struct {
	name string
	rows []row
}

// panels makes a panel for each measure that has a number.
func panels(title string, kinds []kind, x, xLabel string, logX bool, ticks []float64, measures ...string) []panel {
	var out []panel
	for _, m := range shown {
		if len(measures) > 0 && !slices.Contains(measures, m.key) {
			continue
		}
		p := panel{title: m.title, x: xLabel, logX: logX, logY: m.log, ticks: ticks}
		if title != "" {
			p.title = title + ": " + m.title
		}
		some := false
		for _, k := range kinds {
			l := series(k.name, k.rows, x, m.key)
			some = some || len(l.xy) > 0
			p.lines = append(p.lines, l)
		}
		if some {
			out = append(out, p)
		}
	}
	return out
}

var iterations = experiment{
	name: "iterations", title: "Iterations of AP and DR",
	repeats: []string{"lee-2020 Figure 2"},
	what:    "AP and DR are stopped after some iterations, and a model is fitted to what they have made of C by then (ActiveSet).",
	groups:  []*group{iterationsGroup},
	plan:    planIterations,
	figures: func(l *lab, t *tables) []figure {
		rows := t.rows["iterations"]
		f := figure{"iterations", "Measures against the iterations of the rectification (lee-2020 Figure 2)", 6, nil}
		for _, c := range values(rows, "corpus") {
			for _, k := range values(rows, "k") {
				var kinds []kind
				for _, m := range []string{"AP", "DR"} {
					kinds = append(kinds, kind{m, where(rows, "corpus", c, "k", k, "method", m)})
				}
				f.panels = append(f.panels, panels(c+", K="+k, kinds, "iterations", "iterations", true, []float64{1, 2, 5, 15, 50, 150},
					"recovery", "approximation", "dominancy", "specificity", "dissimilarity", "sparsity")...)
			}
		}
		return []figure{f}
	},
	claims: []claim{
		{"lee-2020 Figure 2", "15 iterations of AP: Approximation and Specificity within 5 % of those after 150", settled("AP", 15, 0.05)},
		{"lee-2020 Figure 2", "20 iterations of AP: the same", settled("AP", 20, 0.05)},
		{"lee-2020 Figure 2", "5 iterations of AP suffice: within 20 %", settled("AP", 5, 0.20)},
		{"lee-2020 Figure 2", "15 iterations of DR: within 5 % of those after 150", settled("DR", 15, 0.05)},
		{"lee-2020 Figure 2", "5 iterations of DR suffice: within 20 %", settled("DR", 5, 0.20)},
	},
}

// settled counts the corpora, K and two measures for which the measure after some
// iterations is within a part of that after the most.
func settled(method string, iterations int, part float64) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := where(t.rows["iterations"], "method", method)
		for _, m := range []string{"approximation", "specificity"} {
			y, o := compareRows(where(rows, "iterations", iterations), where(rows, "iterations", steps[len(steps)-1]), []string{"corpus", "k"}, m, closeTo(part))
			yes, of = yes+y, of+o
		}
		return yes, of
	}
}

var pruning = experiment{
	name: "pruning", title: "Pruning the vocabulary",
	repeats: []string{"lee-2020 Figure 1"},
	what: "Words in more than a share of the documents are removed, then the best by tf·ln(M/df) kept; AP, 15 iterations, with ActiveSet (the paper: ADMM). " +
		"The vocabulary has the same size for all cut-offs as far as there are words.",
	groups: []*group{pruningGroup},
	plan:   planPruning,
	figures: func(l *lab, t *tables) []figure {
		rows := t.rows["pruning"]
		f := figure{"pruning", "Measures against K by cut-off of the document frequency (lee-2020 Figure 1)", 5, nil}
		for _, c := range values(rows, "corpus") {
			var kinds []kind
			for _, s := range values(rows, "cutoff") {
				kinds = append(kinds, kind{"at most " + percent(s) + " of the documents", where(rows, "corpus", c, "cutoff", s)})
			}
			f.panels = append(f.panels, panels(c, kinds, "k", "K", true, numbersOf(rows, "k"), prunedMeasures...)...)
		}
		return []figure{f}
	},
	tables: func(l *lab, t *tables) []table {
		rows := t.rows["pruning"]
		x := table{caption: "Words kept:", head: []string{"corpus"}}
		for _, s := range values(rows, "cutoff") {
			x.head = append(x.head, "at most "+percent(s))
		}
		for _, c := range values(rows, "corpus") {
			line := []string{c}
			for _, s := range values(rows, "cutoff") {
				n := ""
				for _, r := range where(rows, "corpus", c, "cutoff", s) {
					n = r["words"]
				}
				line = append(line, n)
			}
			x.rows = append(x.rows, line)
		}
		return []table{x}
	},
	claims: []claim{
		{"lee-2020 Figure 1", "10 % is too much: Approximation is worse than with 50 %", cut("0.1", "approximation", greater)},
		{"lee-2020 Figure 1", "10 % is too much: the curves against K turn more often than with 50 %", func(t *tables) (yes, of int) {
			rows := t.rows["pruning"]
			for _, c := range values(rows, "corpus") {
				for _, m := range prunedMeasures {
					a, b := turns(where(rows, "corpus", c, "cutoff", "0.1"), m), turns(where(rows, "corpus", c, "cutoff", "0.5"), m)
					of++
					if a > b {
						yes++
					}
				}
			}
			return yes, of
		}},
		{"lee-2020 Figure 1", "90 % saves too many words: topics are less different from each other than with 50 %", cut("0.9", "dissimilarity", less)},
	},
}

// prunedMeasures are those of the figure.
var prunedMeasures = []string{"recovery", "approximation", "specificity", "dissimilarity", "coherence"}

// cut compares a cut-off with that of one half.
func cut(share, measure string, by func(a, b float64) bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["pruning"]
		return compareRows(where(rows, "cutoff", share), where(rows, "cutoff", "0.5"), []string{"corpus", "k"}, measure, by)
	}
}

// turns counts how often a measure goes from rising to falling with K, or back.
func turns(rows []row, measure string) int {
	xy, n := series("", rows, "k", measure).xy, 0
	for i := 2; i < len(xy); i++ {
		if (xy[i].Y-xy[i-1].Y)*(xy[i-1].Y-xy[i-2].Y) < 0 {
			n++
		}
	}
	return n
}

func percent(share string) string {
	v, _ := strconv.ParseFloat(share, 64)
	return fmt.Sprintf("%g %%", 100*v)
}

var convergence = experiment{
	name: "convergence", title: "Convergence of AP",
	repeats: []string{"lee-2018 Figure A.4"},
	what: "The change ‖C_t − C_{t−1}‖_F of each iteration, the share of entries clipped to zero, and how far the matrix, after some iterations and divided by its sum, " +
		"is from rank K, as a part of its norm.",
	groups: []*group{convergenceGroup},
	plan:   planConvergence,
	figures: func(l *lab, t *tables) []figure {
		rows := t.rows["convergence"]
		f := figure{"convergence", "Convergence of AP (lee-2018 Figure A.4)", 3, nil}
		for _, x := range []struct{ key, title string }{{"change", "Change, Frobenius norm"}, {"rank_residual", "Distance from rank K, relative"}, {"clipped", "Share of entries clipped"}} {
			p := panel{title: x.title, x: "iteration", logY: true}
			if x.key == "rank_residual" {
				p.logX, p.ticks = true, []float64{1, 2, 5, 15, 50, 150}
			}
			for _, c := range values(rows, "corpus") {
				for _, k := range values(rows, "k") {
					p.lines = append(p.lines, series(c+", K = "+k, where(rows, "corpus", c, "k", k), "iteration", x.key))
				}
			}
			f.panels = append(f.panels, p)
		}
		return []figure{f}
	},
	tables: func(l *lab, t *tables) []table {
		rows := t.rows["convergence"]
		x := table{caption: "Ratio of a change to the one before, from the 10th iteration on (linear convergence: below 1; lee-2018 §2.5 has at most 0.9794 for NYTimes):",
			head: []string{"corpus", "K", "mean", "largest", "last change"}}
		for _, c := range values(rows, "corpus") {
			for _, k := range values(rows, "k") {
				r := where(rows, "corpus", c, "k", k)
				if len(r) < 11 {
					continue
				}
				largest := 0.0
				for i := 10; i < len(r); i++ {
					largest = max(largest, r[i].num("change")/r[i-1].num("change"))
				}
				last := r[len(r)-1].num("change")
				mean := math.Pow(last/r[9].num("change"), 1/float64(len(r)-10))
				x.rows = append(x.rows, []string{c, k, fmt.Sprintf("%.4f", mean), fmt.Sprintf("%.4f", largest), fmt.Sprintf("%.2e", last)})
			}
		}
		return []table{x}
	},
	claims: []claim{{"lee-2018 Figure A.4", "every change after the 10th iteration is smaller than the one before", func(t *tables) (yes, of int) {
		rows := t.rows["convergence"]
		for _, c := range values(rows, "corpus") {
			for _, k := range values(rows, "k") {
				r := where(rows, "corpus", c, "k", k)
				for i := 10; i < len(r); i++ {
					of++
					if r[i].num("change") < r[i-1].num("change") {
						yes++
					}
				}
			}
		}
		return yes, of
	}}},
}

var runtimes = experiment{
	name: "time", title: "Time",
	repeats: []string{"lee-2020 Figure 6", "dong-2019 Figure 4.1", "arora-2013 Figure 1"},
	what: "In " + cpuIs() + ". Against K: rectification, anchors, recovery by ActiveSet and passes, on the corpora. " +
		fmt.Sprintf("Against documents: everything from the counts on, of documents of %d tokens drawn from known topics; L2 is arora-2013's, without rectification, also with C formed as there. ", timeTokens) +
		fmt.Sprintf("Against documents, Gibbs sampling's is that of at most %d sweeps, scaled up to -gibbs-sweeps.", timeSweeps),
	groups: []*group{timeGroup, curvesGroup},
	plan:   planTime,
	figures: func(l *lab, t *tables) []figure {
		rows := t.rows["curves"]
		f := figure{"time", "Seconds against K and against the number of documents (lee-2020 Figure 6, dong-2019 Figure 4.1, arora-2013 Figure 1)", 3, nil}
		for _, c := range values(rows, "corpus") {
			p := panel{title: c + ", N = " + strconv.Itoa(l.words), x: "K", y: "seconds", logX: true, logY: true, ticks: numbersOf(rows, "k")}
			for _, k := range curveKinds(rows, c, "ActiveSet", methodNames...) {
				p.lines = append(p.lines, series(k.name, k.rows, "k", "seconds"))
			}
			f.panels = append(f.panels, p)
		}
		if rows := t.rows["time"]; len(rows) > 0 {
			p := panel{title: "drawn documents, K = " + rows[0]["k"] + ", N = " + rows[0]["words"], x: "documents", y: "seconds", logX: true, logY: true}
			for _, m := range values(rows, "method") {
				p.lines = append(p.lines, series(m, where(rows, "method", m), "documents", "seconds"))
			}
			f.panels = append(f.panels, p)
		}
		return []figure{f}
	},
	claims: []claim{
		{"dong-2019 Figure 4.1", "ENN takes less time than AP", faster("ENN", "AP", 1)},
		{"dong-2019 Figure 4.1", "LR takes less time than AP", faster("LR", "AP", 1)},
		{"dong-2019 Figure 4.1", "150 iterations of AP take more than 10 times as long as ENN", func(t *tables) (yes, of int) {
			return compareRows(where(t.rows["iterations"], "method", "AP", "iterations", 150), curveRows(t, "ENN", "ActiveSet"), []string{"corpus", "k"}, "seconds_rectify",
				func(a, b float64) bool { return a > 10*b })
		}},
		{"lee-2020 Figure 6", "AP+ADMM is 40 times as fast as Gibbs sampling", fasterADMM(40)},
		{"lee-2020 Figure 6", "on NIPS online variational inference takes less time than AP+ADMM", func(t *tables) (yes, of int) {
			nips := where(tensorRows(t, oviName), "corpus", "nips17")
			return compareRows(nips, tensorRows(t, apADMM), []string{"corpus", "k"}, "seconds", less)
		}},
		{"here", "AP+ADMM is 10 times as fast as Gibbs sampling", fasterADMM(10)},
		{"here", "AP+ActiveSet is 40 times as fast as Gibbs sampling", faster("AP", gibbs, 40)},
		{"arora-2013 Figure 1", "L2 takes less time than Gibbs sampling", func(t *tables) (yes, of int) {
			rows := t.rows["time"]
			return compareRows(where(rows, "method", "L2"), where(rows, "method", gibbs), []string{"corpus", "documents"}, "seconds", less)
		}},
		{"arora-2013 Figure 1", "Gibbs sampling is linear in the documents (an exponent of 0.9 to 1.1)", exponent(gibbs, "seconds", 0.9, 1.1)},
		{"arora-2013 Figure 1", "L2 on C as formed hardly grows with them (33 to 50 seconds in the paper: an exponent of 0.2 at most)", exponent(formedL2, "seconds_fit", -0.2, 0.2)},
		{"here", "and L2 that multiplies by the counts, too", exponent("L2", "seconds_fit", -0.2, 0.2)},
		{"lee-2020 §4", "recovery by ADMM (the paper's settings) takes less time than by ActiveSet", func(t *tables) (yes, of int) {
			return compareRows(curveRows(t, "AP", "ADMM"), curveRows(t, "AP", "ActiveSet"), []string{"corpus", "k"}, "seconds_recover", less)
		}},
	},
}

// faster says that a method takes less than a part of another's time.
func faster(a, b string, times float64) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		way := "ActiveSet"
		if b == gibbs {
			way = ""
		}
		return compareRows(curveRows(t, a, "ActiveSet"), curveRows(t, b, way), []string{"corpus", "k"}, "seconds", func(a, b float64) bool { return a*times < b })
	}
}

// fasterADMM says that AP with ADMM, the method of lee-2020, takes less than a part of the time of
// Gibbs sampling.
func fasterADMM(times float64) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		return compareRows(tensorRows(t, apADMM), tensorRows(t, gibbs), []string{"corpus", "k"}, "seconds", func(a, b float64) bool { return a*times < b })
	}
}

// exponent says between what the slope of the logarithm of a time against that of
// the number of documents is, from the fewest to the most.
func exponent(method, time string, from, to float64) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := where(t.rows["time"], "method", method)
		if len(rows) < 2 {
			return 0, 0
		}
		a, b := rows[0], rows[len(rows)-1]
		e := math.Log(b.num(time)/a.num(time)) / math.Log(b.num("documents")/a.num("documents"))
		if e >= from && e <= to {
			yes = 1
		}
		return yes, 1
	}
}
