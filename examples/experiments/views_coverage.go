package main

import (
	"fmt"
	"strings"
)

var coverage = experiment{
	name: "coverage", title: "Intervals of effects and the truth",
	what: fmt.Sprintf("Corpora of %d documents over %d words are drawn from %d known topics, with a column of %d levels and a column of numbers, which move the expected proportions by up to %.2f and ±%.2f. "+
		"A model of as many topics is fitted to each, and a study (package jsmf/effects, %d warm replicates) gives intervals of 95 %% for the shares of the topics, the difference of each level from the average, and the slope. "+
		"Copies of both columns in a random order are terms, too, whose effects are null. “MAP proportions” is what one would do without the package, for comparison: the proportions that the model finds for the documents, regressed "+
		"on the same columns, with percentiles of %d Bayesian bootstraps, the topics held fixed. “Separated” topics have nine tenths of their probability on fifty words of their own; “overlapping” ones a half on their own and the next topic's, and the other half in common.",
		coverageDocs, coverageWords, coverageTopics, coverageLevels, 0.06, 0.06, coverageWarm, coverageWarm),
	groups: []*group{coverageGroup},
	plan:   planCoverage,
	tables: func(_ *lab, t *tables) []table {
		var out []table
		for _, method := range []string{byEffects, byMAP} {
			rows := where(t.rows["coverage"], "method", method)
			x := table{
				caption: fmt.Sprintf("By %s: how many of the intervals hold the truth, in percent, and in brackets the bias (the root of its mean square over topics and levels) and the mean width, both times 100:", method),
				head:    []string{"topics", "tokens", "share", "difference", "slope"},
			}
			null := []string{"permuted difference", "permuted slope"}
			x.head = append(x.head, "permuted columns that seem to matter, in percent")
			for _, topics := range values(rows, "topics") {
				for _, tokens := range values(rows, "tokens") {
					line := []string{topics, tokens}
					for _, m := range coverageMeasures[:3] {
						for _, r := range where(rows, "topics", topics, "tokens", tokens, "measure", m) {
							line = append(line, fmt.Sprintf("%.1f (%.2f; %.1f)", 100*r.num("covered"), 100*r.num("bias"), 100*r.num("width")))
						}
					}
					var seem []string
					for _, m := range null {
						for _, r := range where(rows, "topics", topics, "tokens", tokens, "measure", m) {
							seem = append(seem, fmt.Sprintf("%s %.1f", strings.TrimPrefix(m, "permuted "), 100*(1-r.num("covered"))))
						}
					}
					x.rows = append(x.rows, append(line, strings.Join(seem, ", ")))
				}
			}
			out = append(out, x)
		}
		return out
	},
	claims: []claim{
		{"here", "intervals of 95 % hold the truth in at least 90 % of the cases, by topics, tokens and shares, differences or slopes", coverageHolds(func(r row) bool { return r.num("covered") >= 0.9 }, coverageMeasures[:3])},
		{"here", "a permuted column seems to matter in 8 % of the cases at most, by topics, tokens and differences or slopes", coverageHolds(func(r row) bool { return r.num("covered") >= 0.92 }, coverageMeasures[3:])},
	},
}

// coverageHolds counts the rows of the package's method of which something is so.
func coverageHolds(so func(r row) bool, measures []string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		for _, m := range measures {
			y, o := count(where(t.rows["coverage"], "method", byEffects, "measure", m), so)
			yes, of = yes+y, of+o
		}
		return yes, of
	}
}
