package main

import (
	"fmt"
	"math"
	"strings"
)

var number = experiment{
	name: "number", title: "How many topics",
	what: fmt.Sprintf("What jsmf.Grid recommends for %d documents of %d tokens on average, with equal shares of topics and with the most frequent topic %d times as frequent as the rarest; for real corpora; and for %d documents of %d words each, as they are and with the words dealt anew to the documents. "+
		"Each corpus is divided into thirds in %d ways. A number in brackets is the range that cannot be told apart from the recommendation.", numberDocs, numberTokens, numberUnequal, shortDocs, shortTokens, numberOfSplits),
	groups: []*group{numberGroup},
	plan:   planNumber,
	tables: func(_ *lab, t *tables) []table {
		x := table{
			caption: "The number recommended with each division, how many of its topics come back when other documents are held out, the number that predicts best, and the time of the sweep as a multiple of that of its model:",
			head:    []string{"corpus", "topics planted", "shares", "recommended", "come back", "predicts best", "time"},
		}
		for _, of := range numberKinds(t) {
			planted, shares := "", ""
			if k := of[0]["k"]; k != "0" {
				planted, shares = k, "1:"+of[0]["shares"]
			}
			var found, back, best []string
			times := 0.0
			for _, r := range of {
				s := "no topics"
				if r.num("found") > 0 {
					s = fmt.Sprintf("%s (%s to %s)", r["found"], r["low"], r["high"])
					back = append(back, fmt.Sprintf("%.0f", r.num("back")))
					times += r.num("sweep") / r.num("fit") / float64(len(of))
				}
				found, best = append(found, s), append(best, r["best"])
			}
			x.rows = append(x.rows, []string{of[0]["corpus"], planted, shares, strings.Join(found, ", "), strings.Join(back, ", "), strings.Join(best, ", "), fmt.Sprintf("%.0f", times)})
		}
		return []table{x}
	},
	claims: []claim{
		{"here", "the number planted is found to a quarter, by divisions", numberHolds(func(r row) bool { return math.Abs(r.num("found")/r.num("k")-1) <= 0.25 })},
		{"here", "the number planted is within a quarter of the range", numberHolds(func(r row) bool { return r.num("low") <= 1.25*r.num("k") && r.num("high") >= 0.75*r.num("k") })},
	},
}

// numberKinds returns the rows of each corpus.
func numberKinds(t *tables) (out [][]row) {
	rows := t.rows["number"]
	for _, name := range values(rows, "corpus") {
		for _, k := range values(where(rows, "corpus", name), "k") {
			for _, shares := range values(where(rows, "corpus", name, "k", k), "shares") {
				out = append(out, where(rows, "corpus", name, "k", k, "shares", shares))
			}
		}
	}
	return out
}

// numberHolds counts the planted corpora for which something holds.
func numberHolds(holds func(row) bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		for _, r := range t.rows["number"] {
			if r.num("k") > 0 {
				of++
				if holds(r) {
					yes++
				}
			}
		}
		return yes, of
	}
}
