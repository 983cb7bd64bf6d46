package main

import "context"

var weights = experiment{
	name: "weights", title: "With and without anchors: counts in place of tf-idf weights",
	repeats: []string{"fu-2018 Table 17"},
	what: "The draws of classes of anchorfree again, with C from the counts without bias (arora-2013) in place of tf-idf weights, and that C rectified by AP, " +
		"which fu-2018 §6.5 speaks of and does not show (“Lee's method”). The documents' vectors are the counts.",
	groups: []*group{freeGroup},
	plan: func(_ context.Context, l *lab) ([]cell, error) {
		return planDraws(l, false, asCounts, asRectified)
	},
	tables: func(l *lab, t *tables) []table {
		var out []table
		for _, p := range []preparation{asCounts, asRectified} {
			for _, x := range freeTables(prepared(t, p), false) {
				x.caption = p.name + ": " + x.caption
				out = append(out, x)
			}
		}
		return out
	},
	claims: []claim{
		{"fu-2018 Table 17", "AnchorFree has a better ClustAcc than every method with anchors, by draws", preparedBest(asCounts)},
		{"fu-2018 Table 17", "SimCount is larger with counts than with tf-idf weights, by draws and methods", compared("simcount", greater, asCounts, asTFIDF)},
		{"fu-2018 Table 17", "ClustAcc is worse with counts than with tf-idf weights, by draws and methods", compared("clustacc", less, asCounts, asTFIDF)},
		{"fu-2018 Table 17", "AP makes ClustAcc with counts better (§6.5), by draws and methods", compared("clustacc", greater, asRectified, asCounts)},
		{"fu-2018 Table 17", "AnchorFree is still best after AP (§6.5), by draws", preparedBest(asRectified)},
	},
}

// prepared are the rows of a preparation, without Gibbs sampling, SPA on C, which is
// no method of the paper, and the second PDS.
func prepared(t *tables, p preparation) []row {
	var out []row
	for _, r := range where(t.rows["anchorfree"], "weights", p.name) {
		if m := r["method"]; m != gibbs && m != rawSPA && m != exactPDS {
			out = append(out, r)
		}
	}
	return out
}

// preparedBest says that AnchorFree-LP has the best clusters.
func preparedBest(p preparation) func(t *tables) (yes, of int) {
	return bestOf(func(t *tables) []row { return prepared(t, p) }, []string{"corpus", "classes"}, "clustacc", greater, freeLP, anchored()...)
}

// compared compares two preparations, draw by draw and method by method.
func compared(measure string, by func(a, b float64) bool, a, b preparation) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		return compareRows(prepared(t, a), prepared(t, b), []string{"corpus", "classes", "method"}, measure, by)
	}
}
