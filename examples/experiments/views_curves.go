package main

import (
	"fmt"
	"math"
)

// curveKinds are the methods of a corpus with one way of recovery.
func curveKinds(rows []row, corpus, way string, methods ...string) []kind {
	var out []kind
	for _, m := range methods {
		w := way
		if m == gibbs {
			w = ""
		}
		if r := where(rows, "corpus", corpus, "method", m, "recover", w); len(r) > 0 {
			out = append(out, kind{m, r})
		}
	}
	return out
}

func curvesFigures(l *lab, t *tables) []figure {
	rows := t.rows["curves"]
	ticks := numbersOf(rows, "k")
	var out []figure
	for _, c := range values(rows, "corpus") {
		out = append(out,
			figure{"curves-exact-" + c, fmt.Sprintf("%s: exact rectifications and the yardsticks, with ActiveSet (lee-2018 Figures 2.5 and A.1, lee-2020 Figure 3)", c), 5,
				panels("", curveKinds(rows, c, "ActiveSet", baseline, "DC", "AP", "DR", passes, gibbs), "k", "K", true, ticks)},
			figure{"curves-lowrank-" + c, fmt.Sprintf("%s: low-rank rectifications beside AP, with ActiveSet (dong-2019 Figure 4.1)", c), 5,
				panels("", curveKinds(rows, c, "ActiveSet", baseline, "AP", "ENN", "PALM", "LR"), "k", "K", true, ticks)},
		)
		var ways []kind
		for _, w := range recovererNames {
			if r := where(rows, "corpus", c, "method", "AP", "recover", w); len(r) > 0 {
				ways = append(ways, kind{"AP+" + w, r})
			}
		}
		ways = append(ways, curveKinds(rows, c, "", gibbs)...)
		out = append(out, figure{"curves-recover-" + c, fmt.Sprintf("%s: ways of recovery after AP (lee-2020 Figure 4)", c), 5, panels("", ways, "k", "K", true, ticks)})
	}
	return out
}

var curves = experiment{
	name: "curves", title: "Measures against K",
	repeats: []string{"lee-2018 Figure 2.5", "lee-2018 Figure A.1", "lee-2020 Figure 2", "lee-2020 Figure 3", "lee-2020 Figure 4", "dong-2019 Figure 4.1"},
	what: "Each method fits each corpus with each K, with ActiveSet; after AP also with ADMM and ExpGrad. DC and Gibbs up to -most-slow topics. " +
		"All measures are against the original C. Baseline is no rectification. " +
		"ADMM and ExpGrad have the papers' settings (γ = 3, step 50, 500 sweeps at most), ENN 50 iterations, PALM 100, DC 10 halvings, AP and DR 15 iterations. " +
		"AP+passes refines AP's topics by passes over the documents (refine.Passes{}), at most 60. Gibbs is a collapsed sampler (Σα = 5, β = 0.01, the papers' 1,000 sweeps if nothing else is asked for) of the program's own; it has no anchors and so no Recovery.",
	groups:  []*group{curvesGroup},
	plan:    planCurves,
	figures: curvesFigures,
	claims: []claim{
		better("AP recovers better than Baseline", "lee-2018 Figure 2.5", "AP", baseline, "recovery", less),
		better("AP recovers better than DC", "lee-2018 Figure 2.5", "AP", "DC", "recovery", less),
		better("AP approximates C better than Baseline", "lee-2018 Figure 2.5", "AP", baseline, "approximation", less),
		better("AP's topics are more specific than Baseline's", "lee-2018 Figure 2.5", "AP", baseline, "specificity", greater),
		better("AP's topics are more different from each other than Baseline's", "lee-2018 Figure 2.5", "AP", baseline, "dissimilarity", greater),
		better("DC approximates C better than Baseline", "lee-2018 Figure 2.5", "DC", baseline, "approximation", less),
		nearer("AP's specificity is nearer to Gibbs' than Baseline's is", "lee-2018 Figure 2.5", "AP", baseline, "specificity"),
		nearer("AP's dissimilarity is nearer to Gibbs' than Baseline's is", "lee-2018 Figure 2.5", "AP", baseline, "dissimilarity"),
		nearer("AP's coherence is nearer to Gibbs' than Baseline's is", "lee-2018 Figure 2.5", "AP", baseline, "coherence"),
		nearer("AP's dominancy is nearer to Gibbs' than Baseline's is", "lee-2018 Figure 2.5", "AP", baseline, "dominancy"),
		{"lee-2018 Figure A.1", "A of AP is nearer to a joint distribution (Legality to 1, as a ratio) than Baseline's", legalityNearer("AP")},
		{"lee-2018 Figure A.1", "that of DC is, too", legalityNearer("DC")},
		{"lee-2018 Figure A.1", "the two marginals of A agree better after AP than for Baseline (Validity nearer to 0)", validityNearer("AP")},
		{"lee-2018 Figure A.1", "after DC, too", validityNearer("DC")},
		within("ENN agrees with AP: Approximation within 5 %", "dong-2019 Figure 4.1", "ENN", "AP", "approximation", 0.05),
		within("ENN agrees with AP: Specificity within 5 %", "dong-2019 Figure 4.1", "ENN", "AP", "specificity", 0.05),
		within("ENN agrees with AP: Recovery within 5 %", "dong-2019 Figure 4.1", "ENN", "AP", "recovery", 0.05),
		within("ENN agrees with AP: Dominancy within 5 %", "dong-2019 Figure 4.1", "ENN", "AP", "dominancy", 0.05),
		within("ENN agrees with AP: Dissimilarity within 5 %", "dong-2019 Figure 4.1", "ENN", "AP", "dissimilarity", 0.05),
		within("LR agrees with ENN: Approximation within 1 %", "dong-2019 Figure 4.1", "LR", "ENN", "approximation", 0.01),
		within("LR agrees with ENN: Specificity within 1 %", "dong-2019 Figure 4.1", "LR", "ENN", "specificity", 0.01),
		within("PALM agrees with AP: Specificity within 10 %", "dong-2019 Figure 4.1", "PALM", "AP", "specificity", 0.10),
		within("PALM agrees with AP: Approximation within 10 %", "dong-2019 Figure 4.1", "PALM", "AP", "approximation", 0.10),
		within("DR agrees with AP: Specificity within 5 %", "lee-2020 Figure 2", "DR", "AP", "specificity", 0.05),
		{"lee-2020 Figure 4", "AP+ADMM is more specific than AP+ExpGrad", ways("ADMM", "ExpGrad", "specificity", greater)},
		{"lee-2020 Figure 4", "AP+ActiveSet is more specific than AP+ExpGrad", ways("ActiveSet", "ExpGrad", "specificity", greater)},
		{"lee-2020 Figure 4", "AP+ADMM is sparser than AP+ExpGrad", ways("ADMM", "ExpGrad", "sparsity", greater)},
		{"lee-2020 Figure 4", "AP+ActiveSet is sparser than AP+ExpGrad", ways("ActiveSet", "ExpGrad", "sparsity", greater)},
		{"lee-2020 Figure 4", "AP+ADMM is nearer to Gibbs than AP+ExpGrad in Specificity and Sparsity", nearerWay(apADMM)},
		{"lee-2020 Figure 4", "AP+ActiveSet is nearer to Gibbs than AP+ExpGrad in Specificity and Sparsity", nearerWay(apActiveSet)},
	},
}

// legalityNearer says that the sum of A is nearer to 1 than Baseline's, as a ratio.
func legalityNearer(method string) func(t *tables) (yes, of int) {
	return better("", "", method, baseline, "legality", func(a, b float64) bool { return math.Abs(math.Log(a)) < math.Abs(math.Log(b)) }).holds
}

// validityNearer says that Validity is nearer to 0 than Baseline's.
func validityNearer(method string) func(t *tables) (yes, of int) {
	return better("", "", method, baseline, "validity", func(a, b float64) bool { return math.Abs(a) < math.Abs(b) }).holds
}

// nearerWay compares a way of recovery after AP with ExpGrad, by the distance to Gibbs.
func nearerWay(way string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		return each([]string{"specificity", "sparsity"}, func(m string) (yes, of int) { return nearerBy(t, way, apExpGrad, m) })
	}
}

// curveRows are the rows of a method and a way of recovery.
func curveRows(t *tables, method, way string) []row {
	return where(t.rows["curves"], "method", method, "recover", way)
}

// better says that one method's measure is better than the other's, by ActiveSet.
func better(text, source, a, b, measure string, by func(a, b float64) bool) claim {
	return claim{source, text, func(t *tables) (yes, of int) {
		return compareRows(curveRows(t, a, "ActiveSet"), curveRows(t, b, "ActiveSet"), []string{"corpus", "k"}, measure, by)
	}}
}

// within says that two methods differ by no more than a part of the second.
func within(text, source, a, b, measure string, part float64) claim {
	return better(text, source, a, b, measure, closeTo(part))
}

// nearer says that one method is nearer to Gibbs sampling than the other.
func nearer(text, source, a, b, measure string) claim {
	return claim{source, text, func(t *tables) (yes, of int) {
		return nearerRows(curveRows(t, gibbs, ""), curveRows(t, a, "ActiveSet"), curveRows(t, b, "ActiveSet"), measure)
	}}
}

// nearerRows counts the corpora and K for which the measure of the rows a is nearer to
// that of the target than that of b is.
func nearerRows(target, a, b []row, measure string) (yes, of int) {
	for _, r := range target {
		at := r.num(measure)
		y, o := compareRows(where(a, "corpus", r["corpus"], "k", r["k"]), b, []string{"corpus", "k"}, measure,
			func(x, y float64) bool { return math.Abs(x-at) < math.Abs(y-at) })
		yes, of = yes+y, of+o
	}
	return yes, of
}

// ways compares two ways of recovery after AP.
func ways(a, b, measure string, by func(a, b float64) bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		return compareRows(curveRows(t, "AP", a), curveRows(t, "AP", b), []string{"corpus", "k"}, measure, by)
	}
}
