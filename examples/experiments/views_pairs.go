package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

var pairs = experiment{
	name: "pairs", title: "Pairs of topics",
	repeats: []string{"arora-2013 Table 1"},
	what: fmt.Sprintf("For each topic by L2 the Gibbs topic that is nearest by ℓ₁ distance (0 to 2), on the first corpus, with and without rectification; the paper has NYTimes and 100 topics. "+
		"Anchors, bold, by FastAnchorWords among words in %g %% of the documents.", 100*heldMinDocs),
	groups: []*group{pairsGroup},
	plan:   planPairs,
	tables: func(l *lab, t *tables) []table {
		var out []table
		rows := t.rows["pairs"]
		for _, m := range values(rows, "method") {
			of := where(rows, "method", m)
			if of[0]["error"] != "" {
				continue
			}
			slices.SortStableFunc(of, func(a, b row) int { return cmp.Compare(a.num("l1"), b.num("l1")) })
			x := table{caption: fmt.Sprintf("%s+L2 beside Gibbs sampling, %s, K = %s:", m, of[0]["corpus"], of[0]["k"]), head: []string{"", "ℓ₁", "L2", "its anchor", "Gibbs"}}
			for _, at := range []struct {
				name string
				row  row
			}{{"closest", of[0]}, {"median", of[len(of)/2]}, {"farthest", of[len(of)-1]}} {
				r := at.row
				words := strings.Fields(r["words"])
				if i := slices.Index(words, r["anchor"]); i >= 0 {
					words[i] = "**" + words[i] + "**"
				}
				x.rows = append(x.rows, []string{at.name, fmt.Sprintf("%.2f", r.num("l1")), strings.Join(words, " "), "**" + r["anchor"] + "**", r["gibbs_words"]})
			}
			out = append(out, x)
		}
		return out
	},
	claims: []claim{
		{"arora-2013 Table 1", "where the top words of a pair differ, those of L2 are more specific: in fewer documents", rarer(baseline)},
		{"here", "the same after AP", rarer("AP")},
		{"here", "with AP the pairs are nearer to each other: the closest, the next, and so on", func(t *tables) (yes, of int) {
			a, b := numbersOf(where(t.rows["pairs"], "method", "AP"), "l1"), numbersOf(where(t.rows["pairs"], "method", baseline), "l1")
			for i := range min(len(a), len(b)) {
				of++
				if a[i] < b[i] {
					yes++
				}
			}
			return yes, of
		}},
	},
}

// rarer counts the pairs in which the words that only L2 has are in fewer
// documents than those that only Gibbs sampling has.
func rarer(method string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		for _, r := range where(t.rows["pairs"], "method", method) {
			if r["documents"] == "" {
				continue // the same words
			}
			of++
			if r.num("documents") < r.num("gibbs_documents") {
				yes++
			}
		}
		return yes, of
	}
}
