package main

import (
	"fmt"
)

// admm shows cells of curves.
var admm = experiment{
	name: "admm", title: "Recovery by ADMM and by exponentiated gradient",
	repeats: []string{"lee-2018 Figure 3.2"},
	what: "AP (15 iterations, the paper 150), then the topics by ADMM (γ = 3, λ = 1.9) or ExpGrad (a fixed step of 50), 500 sweeps at most, on the corpora and cells of curves; the paper has NIPS, NYTimes, Movies and Songs. " +
		"Baseline is no rectification, with ActiveSet; Gibbs as in curves.",
	groups: []*group{curvesGroup},
	plan:   planCurves,
	figures: func(l *lab, t *tables) []figure {
		rows := t.rows["curves"]
		f := figure{"admm", "ADMM beside ExpGrad, Baseline and Gibbs sampling (lee-2018 Figure 3.2)", 7, nil}
		for _, c := range values(rows, "corpus") {
			kinds := curveKinds(rows, c, "ActiveSet", baseline, gibbs)
			for _, way := range []string{"ExpGrad", "ADMM"} {
				kinds = append(kinds, kind{"AP+" + way, where(rows, "corpus", c, "method", "AP", "recover", way)})
			}
			f.panels = append(f.panels, panels(c, kinds, "k", "K", true, numbersOf(rows, "k"),
				"recovery", "approximation", "entropy", "specificity", "dissimilarity", "coherence", "sparsity")...)
		}
		return []figure{f}
	},
	tables: func(l *lab, t *tables) []table {
		x := table{caption: "CPU seconds of the recovery:", head: []string{"corpus", "K", "ExpGrad", "ADMM", "ratio"}}
		for _, e := range curveRows(t, "AP", "ExpGrad") {
			for _, a := range where(curveRows(t, "AP", "ADMM"), "corpus", e["corpus"], "k", e["k"]) {
				s, d := e.num("seconds_recover"), a.num("seconds_recover")
				x.rows = append(x.rows, []string{e["corpus"], e["k"], fmt.Sprintf("%.2f", s), fmt.Sprintf("%.2f", d), fmt.Sprintf("%.2f", d/s)})
			}
		}
		return []table{x}
	},
	claims: []claim{
		admmBeats("Baseline is worse than ADMM: Recovery, Approximation and Entropy higher", baseline, "ActiveSet", less, "recovery", "approximation", "entropy"),
		admmBeats("Baseline is worse than ADMM: Specificity, Dissimilarity and Sparsity lower", baseline, "ActiveSet", greater, "specificity", "dissimilarity", "sparsity"),
		admmNearer("Baseline is farther from Gibbs than ADMM in Entropy, Specificity, Dissimilarity, Coherence and Sparsity", baseline, "ActiveSet"),
		admmBeats("ADMM agrees with ExpGrad on many metrics: to 10 % in Recovery, Approximation, Specificity, Dissimilarity, Coherence and Sparsity", "AP", "ExpGrad", closeTo(0.1),
			"recovery", "approximation", "specificity", "dissimilarity", "coherence", "sparsity"),
		admmBeats("ADMM's topics are more specific than ExpGrad's", "AP", "ExpGrad", greater, "specificity"),
		admmBeats("ADMM's topics are sparser than ExpGrad's", "AP", "ExpGrad", greater, "sparsity"),
		admmBeats("the entropy is lower with ADMM than with ExpGrad", "AP", "ExpGrad", less, "entropy"),
		admmBeats("ADMM has lower Recovery and Approximation errors than ExpGrad", "AP", "ExpGrad", less, "recovery", "approximation"),
		admmNearer("ADMM is nearer to Gibbs than ExpGrad in Entropy, Specificity, Dissimilarity, Coherence and Sparsity", "AP", "ExpGrad"),
		{"here", "what both minimise, the residual of the rectified rows, is lower with ADMM", func(t *tables) (yes, of int) {
			return compareRows(curveRows(t, "AP", "ADMM"), curveRows(t, "AP", "ExpGrad"), []string{"corpus", "k"}, "objective", less)
		}},
		{"lee-2018 §3.5.1", "ADMM takes longer than ExpGrad (the paper: 1.92 times)", func(t *tables) (yes, of int) {
			return compareRows(curveRows(t, "AP", "ADMM"), curveRows(t, "AP", "ExpGrad"), []string{"corpus", "k"}, "seconds_recover", greater)
		}},
	},
}

// admmBeats compares AP+ADMM with another method in some measures.
func admmBeats(text, method, way string, by func(a, b float64) bool, measures ...string) claim {
	return claim{"lee-2018 Figure 3.2", text, func(t *tables) (yes, of int) {
		for _, m := range measures {
			y, o := compareRows(curveRows(t, "AP", "ADMM"), curveRows(t, method, way), []string{"corpus", "k"}, m, by)
			yes, of = yes+y, of+o
		}
		return yes, of
	}}
}

// admmNearer says that AP+ADMM is nearer to Gibbs sampling than another method.
func admmNearer(text, method, way string) claim {
	return claim{"lee-2018 Figure 3.2", text, func(t *tables) (yes, of int) {
		for _, m := range []string{"entropy", "specificity", "dissimilarity", "coherence", "sparsity"} {
			y, o := nearerRows(curveRows(t, gibbs, ""), curveRows(t, "AP", "ADMM"), curveRows(t, method, way), m)
			yes, of = yes+y, of+o
		}
		return yes, of
	}}
}
