package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

var planted = experiment{
	name: "planted", title: "Planted correlations, topics and effects",
	what: fmt.Sprintf("Documents are drawn from known topics, and models are compared with these. The frequencies of words follow Zipf's law. A “separated” topic has nine tenths of its probability on words of its own, a “half overlapping” one four tenths, "+
		"and a half on words that it shares with one of two others; a tenth is on all words alike. Topics with the name of a corpus are learned from it by Gibbs sampling. Lengths are log-normal, with the tokens of the table on average and a standard "+
		"deviation of %.1f of the logarithm. Proportions are logistic-normal, with a standard deviation of %.1f of the logits, of which pairs have the correlation %.1f and pairs of these pairs %.1f, or Dirichlet with Σα = %d; the topics' shares differ. "+
		"A group of two and a time move all logits. The slope is that of the least-squares line through the correlations of all pairs of topics, estimated by A against those of the prior: 1 is right, 0 says nothing. "+
		"The moment, for comparison, takes the topics of the model and the counts of words, and no prior: SᵀCS, S = DB(BᵀDB)⁻¹, without negative eigenvalues. Effects are those of package jsmf/effects, as the slope of the line through 0 "+
		"against effects on the true proportions of the documents.", plantedSpread, plantedLogitSD, plantedWithin, plantedBetween, plantedSum),
	groups: []*group{plantedGroup},
	plan:   planPlanted,
	tables: func(_ *lab, t *tables) []table {
		var out []table
		rows := t.rows["planted"]
		for _, prior := range values(rows, "prior") {
			of := where(rows, "prior", prior)
			fits := slices.DeleteFunc(slices.Clone(of), func(r row) bool { return r["method"] == givenTopics })
			out = append(out,
				plantedTable(prior+" proportions: the slope of the correlations by A, with its standard error, and in brackets the distance ℓ₁ of the topics:", fits, func(rows []row) string {
					return fmt.Sprintf("%s (%.2f)", withError(rows, "slope"), meanOf(rows, "b_l1"))
				}),
				plantedTable(prior+" proportions: the slope by the moment:", of, func(rows []row) string { return withError(rows, "moment_slope") }),
				plantedTable(prior+" proportions: the root of the mean square error of the correlations by A:", fits, func(rows []row) string { return withError(rows, "rmse") }),
				plantedTable(prior+" proportions: effects, the difference of the groups and the slope over time:", fits, func(rows []row) string {
					return fmt.Sprintf("%s, %s", withError(rows, "difference"), withError(rows, "trend"))
				}),
				plantedTable(prior+" proportions: seconds of the fit ("+cpuIs()+"):", fits, func(rows []row) string { return fmt.Sprintf("%.1f", meanOf(rows, "seconds")) }))
		}
		return out
	},
	claims: []claim{
		{"here", "New: the slope is at least 0.85 with 8,000 documents of 100 tokens and separated topics", plantedHolds("slope", 0.85, math.Inf(1), "method", "New", "topics", separated, "documents", 8000, "tokens", 100)},
		{"here", "New: the slope is at least 0.75 with 8,000 documents of 100 tokens and learned topics", plantedLearnedHolds("slope", 0.75, math.Inf(1), "method", "New", "documents", 8000, "tokens", 100)},
		{"here", "Published: the slope is at least 0.65 with ten separated or half overlapping topics", plantedHolds("slope", 0.65, math.Inf(1), "method", "Published", "k", 10)},
		{"here", "New: differences are within 4 % with 8,000 documents", plantedHolds("difference", 0.96, 1.04, "method", "New", "documents", 8000)},
		{"here", "New: slopes over time are within 4 % with 8,000 documents", plantedHolds("trend", 0.96, 1.04, "method", "New", "documents", 8000)},
	},
}

// plantedCorpora are the columns that tell corpora of planted apart, except for the prior.
var plantedCorpora = []string{"topics", "k", "documents", "tokens"}

// plantedTable is a table with a line for each kind of corpora and a column for each method.
func plantedTable(caption string, rows []row, show func(rows []row) string) table {
	methods := values(rows, "method")
	x := table{caption: caption, head: slices.Concat(plantedCorpora, methods)}
	for _, of := range plantedKinds(rows) {
		var line []string
		for _, c := range plantedCorpora {
			line = append(line, of[0][c])
		}
		for _, m := range methods {
			cell := ""
			if fits := where(of, "method", m); len(fits) > 0 {
				cell = show(fits)
			}
			line = append(line, cell)
		}
		x.rows = append(x.rows, line)
	}
	return x
}

// plantedKinds groups the rows by the kind of their corpora.
func plantedKinds(rows []row) (out [][]row) {
	place := make(map[string]int)
	for _, r := range rows {
		key := ""
		for _, c := range plantedCorpora {
			key += r[c] + "\t"
		}
		at, ok := place[key]
		if !ok {
			at, place[key] = len(out), len(out)
			out = append(out, nil)
		}
		out[at] = append(out[at], r)
	}
	return out
}

// withError is the mean of a column, with its standard error where there are several numbers.
func withError(rows []row, column string) string {
	var v []float64
	for _, r := range rows {
		if x := r.num(column); !math.IsNaN(x) {
			v = append(v, x)
		}
	}
	if len(v) < 2 {
		return fmt.Sprintf("%.2f", meanOf(rows, column))
	}
	return fmt.Sprintf("%.2f ± %.2f", stat.Mean(v, nil), stat.StdErr(stat.StdDev(v, nil), float64(len(v))))
}

// plantedHolds counts the kinds of corpora with logistic-normal proportions, of those with the
// given values, for which the mean of a column is between two numbers.
func plantedHolds(column string, least, most float64, pairs ...any) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		for _, rows := range plantedKinds(where(t.rows["planted"], append(pairs, "prior", correlatedLogits)...)) {
			of++
			if v := meanOf(rows, column); v >= least && v <= most {
				yes++
			}
		}
		return yes, of
	}
}

// plantedLearnedHolds does so for topics that are learned from corpora.
func plantedLearnedHolds(column string, least, most float64, pairs ...any) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		return each(values(t.rows["planted"], "topics"), func(topics string) (yes, of int) {
			if topics == separated || topics == overlapping {
				return 0, 0
			}
			return plantedHolds(column, least, most, append([]any{"topics", topics}, pairs...)...)(t)
		})
	}
}
