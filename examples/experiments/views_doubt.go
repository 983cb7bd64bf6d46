package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

var doubt = experiment{
	name: "doubt", title: "Intervals and the truth",
	what: fmt.Sprintf("Corpora as those of *planted*, and intervals of 95 %% as jsmf.Bootstrap and package jsmf/effects make them (%d warm and 8 drawn replicates): of the shares of topics, the correlations of all pairs, the differences of a group from the average, "+
		"and slopes over time. Bursty words repeat an earlier word of the document with probability %.1f; the drawn replicates have to find that out. Copies of both columns in a random order are terms, too, whose effects are null. The truth is that of the prior. "+
		"Numbers without an interval, because the model says that nothing can be told of them, do not count among those that hold or miss the truth. "+
		"The width with the true topics known is that over %d Bayesian bootstraps of the documents, of proportions as package effects has them, and for correlations of the moments of pairs of tokens.", doubtWarm, burstyPart, doubtKnown),
	groups: []*group{doubtGroup},
	plan:   planDoubt,
	tables: func(_ *lab, t *tables) []table {
		x := table{
			caption: "How many of the intervals hold the truth, in percent, with the standard error over corpora. In brackets the numbers without an interval, in percent; the median of half the width, times 100, and how many times that is the one with the true topics known; " +
				"the root of the mean square error of the values, times 100, and how many times as wide as with the true topics known an interval must be to hold normal errors of this size as often as is asked for:",
			head: slices.Concat(doubtColumns, []string{"corpora", doubtShare, doubtCorrelation, doubtDifference, doubtSlope, "permuted columns that seem to matter, in percent"}),
		}
		y := table{
			caption: "What models say of themselves: the part of correlations, and of differences, that is found in documents drawn from them, and the part of the tokens that repeat others:",
			head:    slices.Concat(doubtColumns, []string{doubtCorrelation, doubtDifference, "repeat"}),
		}
		for _, of := range doubtKinds(t.rows["doubt"]) {
			var line []string
			for _, c := range doubtColumns {
				line = append(line, of[0][c])
			}
			said := slices.Clone(line)
			line = append(line, fmt.Sprint(len(values(of, "draw"))))
			for _, what := range []string{doubtShare, doubtCorrelation, doubtDifference, doubtSlope} {
				rows := where(of, "what", what)
				line = append(line, fmt.Sprintf("%s (%.0f; %.1f, %.1f ×; %.1f, %.1f ×)", percentOf(rows, "held"), 100*(1-meanOf(rows, "told")), 100*meanOf(rows, "width"), doubtWidth(rows), 100*doubtError(rows), doubtNeeds(what, rows)))
			}
			x.rows = append(x.rows, append(line, percentOf(where(of, "what", doubtPermuted), "clear")))
			for _, what := range []string{doubtCorrelation, doubtDifference} {
				said = append(said, withError(where(of, "what", what), "found"))
			}
			y.rows = append(y.rows, append(said, withError(where(of, "what", doubtShare), "repeat")))
		}
		return []table{x, y}
	},
	claims: []claim{
		{"here", "intervals of differences and slopes hold the truth in 92 % of the cases or more", doubtHolds("held", doubtEffects, math.Inf(1), doubtDifference, doubtSlope)},
		{"here", "intervals of shares and correlations hold it in 90 % or more", doubtHolds("held", doubtTopics, math.Inf(1), doubtShare, doubtCorrelation)},
		{"here", "permuted columns seem to matter in 6 % or less", doubtHolds("clear", 0, 0.06, doubtPermuted)},
		{"here", "four of five numbers have an interval", doubtHolds("told", 0.8, 1, doubtShare, doubtCorrelation, doubtDifference, doubtSlope)},
		{"here", "intervals of differences and slopes are at most twice as wide as with the true topics known", doubtWide(doubtDifference, doubtSlope)},
		{"here", "intervals of correlations are", doubtWide(doubtCorrelation)},
		{"here", "intervals of shares are", doubtWide(doubtShare)},
		{"here", "where intervals of shares are wider, shares are so far off that intervals must be, if errors are normal", doubtNeedWide},
	},
}

// doubtEffects and doubtTopics are how often intervals must hold differences and slopes, and shares and
// correlations.
const doubtEffects, doubtTopics = 0.92, 0.9

// doubtColumns are the columns that tell the corpora of doubt apart.
var doubtColumns = []string{"topics", "prior", "words", "k", "documents", "tokens"}

// doubtKinds returns the rows of each kind of corpora.
func doubtKinds(rows []row) (out [][]row) {
	at := map[string]int{}
	for _, r := range rows {
		key := ""
		for _, c := range doubtColumns {
			key += r[c] + "\x00"
		}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key], out = i, append(out, nil)
		}
		out[i] = append(out[i], r)
	}
	return out
}

// percentOf shows the mean of a share over rows with its standard error.
func percentOf(rows []row, column string) string {
	mean, square, n := 0.0, 0.0, 0.0
	for _, r := range rows {
		if v := 100 * r.num(column); !math.IsNaN(v) {
			mean, square, n = mean+v, square+v*v, n+1
		}
	}
	mean /= n
	if n < 2 {
		return fmt.Sprintf("%.1f", mean)
	}
	return fmt.Sprintf("%.1f ± %.1f", mean, math.Sqrt(max(square/n-mean*mean, 0)/(n-1)))
}

// doubtHolds counts the kinds of corpora and numbers for which the mean of a column is between two
// numbers.
func doubtHolds(column string, low, high float64, what ...string) func(t *tables) (yes, of int) {
	return doubtCount(func(_ string, rows []row) float64 { return meanOf(rows, column) }, low, high, what...)
}

// doubtWide counts those with intervals at most twice as wide as with the true topics known.
func doubtWide(what ...string) func(t *tables) (yes, of int) {
	return doubtCount(func(_ string, rows []row) float64 { return doubtWidth(rows) }, 0, 2, what...)
}

// doubtNeedWide counts, of the kinds with wider intervals of shares, those whose errors need them.
func doubtNeedWide(t *tables) (yes, of int) {
	need := func(what string, rows []row) float64 {
		if !(doubtWidth(rows) > 2) {
			return math.NaN()
		}
		return doubtNeeds(what, rows)
	}
	return doubtCount(need, 2, math.Inf(1), doubtShare)(t)
}

// doubtWidth returns how many times as wide intervals are as with the true topics known.
func doubtWidth(rows []row) float64 { return meanOf(rows, "width") / meanOf(rows, "known") }

// doubtNeeds returns how many times as wide they must be to hold normal errors of the size that values have.
func doubtNeeds(what string, rows []row) float64 {
	level := doubtEffects
	if what == doubtShare || what == doubtCorrelation {
		level = doubtTopics
	}
	return distuv.UnitNormal.Quantile((1+level)/2) * doubtError(rows) / meanOf(rows, "known")
}

// doubtError returns the root of the mean square error of the values.
func doubtError(rows []row) float64 {
	sum, n := 0.0, 0.0
	for _, r := range rows {
		if v := r.num("rms"); !math.IsNaN(v) {
			sum, n = sum+v*v, n+1
		}
	}
	return math.Sqrt(sum / n)
}

// doubtCount counts the kinds of corpora and numbers of which a value is between two numbers.
func doubtCount(value func(what string, rows []row) float64, low, high float64, what ...string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		for _, rows := range doubtKinds(t.rows["doubt"]) {
			for _, w := range what {
				if v := value(w, where(rows, "what", w)); !math.IsNaN(v) {
					of++
					if v >= low && v <= high {
						yes++
					}
				}
			}
		}
		return yes, of
	}
}
