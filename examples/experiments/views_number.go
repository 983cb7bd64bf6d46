package main

import (
	"fmt"
	"math"
	"strings"
)

var number = experiment{
	name: "number", title: "How many topics",
	what: fmt.Sprintf("What jsmf.Grid recommends for %d documents of %d tokens on average, with Dirichlet proportions and equal shares of topics, with the most frequent topic %d times as frequent as the rarest, and with logistic-normal proportions and topics of different shares as in *planted*; for real corpora; and for %d documents of %d words each, as they are and with the words dealt anew to the documents. "+
		"Each corpus is divided into thirds in %d ways. Numbers in brackets are those that cannot be told apart from the recommendation. The time of a sweep is CPU time and has that of its model in it.", numberDocs, numberTokens, numberUnequal, shortDocs, shortTokens, numberOfSplits),
	groups: []*group{numberGroup},
	plan:   planNumber,
	tables: func(_ *lab, t *tables) []table {
		x := table{
			caption: "The number recommended with each division, how many of its topics come back when other documents are held out, the number that predicts best, and the longest time of a sweep as a multiple of that of its model:",
			head:    []string{"corpus", "topics planted", "prior", "recommended", "come back", "predicts best", "time"},
		}
		for _, of := range numberKinds(t) {
			planted := ""
			if k := of[0]["k"]; k != "0" {
				planted = k
			}
			var found, back, best []string
			times := 0.0
			for _, r := range of {
				s := "no topics"
				if r.num("found") > 0 {
					s = fmt.Sprintf("%s (%s to %s)", r["found"], r["low"], r["high"])
					back = append(back, fmt.Sprintf("%.0f", r.num("back")))
					times = max(times, r.num("sweep")/r.num("fit"))
				}
				found, best = append(found, s), append(best, r["best"])
			}
			longest := ""
			if times > 0 {
				longest = fmt.Sprintf("%.0f", times)
			}
			x.rows = append(x.rows, []string{of[0]["corpus"], planted, of[0]["prior"], strings.Join(found, ", "), strings.Join(back, ", "), strings.Join(best, ", "), longest})
		}
		return []table{x}
	},
	claims: []claim{
		{"here", "the number planted is found to a quarter, by divisions", numberHolds(drawnFrom, func(r row) bool { return math.Abs(r.num("found")/r.num("k")-1) <= 0.25 })},
		{"here", "the range holds the number planted", numberHolds(drawnFrom, func(r row) bool { return r.num("low") <= r.num("k") && r.num("high") >= r.num("k") })},
		{"here", "the range of one division holds what another recommends, by pairs", func(t *tables) (yes, of int) {
			for _, rows := range numberKinds(t) {
				for i, r := range rows {
					for j, other := range rows {
						if i != j {
							of++
							if found := other.num("found"); r.num("low") <= found && found <= r.num("high") {
								yes++
							}
						}
					}
				}
			}
			return yes, of
		}},
		{"here", "a sweep takes at most 20 times as long as its model", numberHolds(func(r row) bool { return r.num("found") > 0 }, func(r row) bool { return r.num("sweep") <= 20*r.num("fit") })},
	},
}

// numberKinds returns the rows of each corpus.
func numberKinds(t *tables) (out [][]row) {
	rows := t.rows["number"]
	for _, name := range values(rows, "corpus") {
		for _, k := range values(where(rows, "corpus", name), "k") {
			for _, prior := range values(where(rows, "corpus", name, "k", k), "prior") {
				out = append(out, where(rows, "corpus", name, "k", k, "prior", prior))
			}
		}
	}
	return out
}

// drawnFrom reports whether the documents are drawn from topics.
func drawnFrom(r row) bool { return r.num("k") > 0 }

// numberHolds counts the corpora of which, by divisions, something holds.
func numberHolds(of, holds func(row) bool) func(t *tables) (yes, all int) {
	return func(t *tables) (yes, all int) {
		for _, r := range t.rows["number"] {
			if of(r) {
				all++
				if holds(r) {
					yes++
				}
			}
		}
		return yes, all
	}
}
