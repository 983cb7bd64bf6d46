package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var genres = experiment{
	name: "genres", title: "Topics and genres",
	repeats: []string{"lee-2018 Figure 3.3", "lee-2018 Figure 3.4", "lee-2020 Figure 5"},
	what: "The correlated topic model by variational EM (CTM; it ends when the bound grows by less than a thousandth) and AP with ADMM, with the papers' 150 iterations: after 15 A of the thinned corpus does not sum to 1. The papers have playlists of songs with genres; bbc stands in, its words for songs and its five classes for genres. " +
		fmt.Sprintf("A word belongs to the classes in the parts of its tokens, and a topic in the mean of its 20 top words, as the songs in the pictures. bbc thinned keeps a sixth of the tokens of each document by chance, some 20, as short as a playlist. CTM is fitted from %d starts, where the papers have one, and once to a hundred-thousandth.", ctmStarts),
	groups:  []*group{genresGroup},
	plan:    planGenres,
	figures: genreFigures,
	claims: slices.Concat(genreClaims("lee-2018 Figure 3.3", 15), genreClaims("lee-2020 Figure 5", 15), []claim{
		{"lee-2018 Figure 3.4", "five topics of CTM have no class with half of the top words", genreShares(ctmName, 5, false)},
		{"lee-2018 Figure 3.4", "five topics of AP+ADMM have one", genreShares(apADMM, 5, true)},
	}),
	tables: genreTables,
}

// genreClaims are those of the figure that both papers have.
func genreClaims(label string, k int) []claim {
	return []claim{
		{label, "the classes of AP+ADMM's topics are farther from those of the corpus than CTM's, on average, by starts of CTM", func(t *tables) (yes, of int) {
			return byStart(t, k, func(ours, ctm []row) bool { return meanOf(ours, "distance") > meanOf(ctm, "distance") })
		}},
		{label, "topics of CTM have no class with half of the top words", genreShares(ctmName, k, false)},
		{label, "topics of AP+ADMM have one", genreShares(apADMM, k, true)},
		{label, "the most probable topic of CTM is more probable than that of AP+ADMM, by starts", func(t *tables) (yes, of int) {
			return byStart(t, k, func(ours, ctm []row) bool { return ctm[0].num("probability") > ours[0].num("probability") })
		}},
		{label, "the most probable topic of CTM is the nearest to the classes of the corpus, by starts", func(t *tables) (yes, of int) {
			return byStart(t, k, func(_, ctm []row) bool {
				return !slices.ContainsFunc(ctm, func(r row) bool { return r.num("distance") < ctm[0].num("distance") })
			})
		}},
	}
}

// byStart counts the starts of CTM on each corpus for which something holds. Topics
// come in the order of their probability.
func byStart(t *tables, k int, holds func(ours, ctm []row) bool) (yes, of int) {
	rows := where(t.rows["genres"], "k", k, "error", "")
	for _, c := range values(rows, "corpus") {
		ours := where(rows, "corpus", c, "method", apADMM)
		ctm := where(rows, "corpus", c, "method", ctmName)
		for _, s := range values(ctm, "start") {
			if len(ours) == 0 {
				continue
			}
			of++
			if holds(ours, where(ctm, "start", s)) {
				yes++
			}
		}
	}
	return yes, of
}

// genreShares counts the topics in which a class has half of the top words, or none.
func genreShares(method string, k int, half bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		for _, r := range where(t.rows["genres"], "method", method, "k", k, "error", "") {
			of++
			if (r.num("share") >= 0.5) == half {
				yes++
			}
		}
		return yes, of
	}
}

// genreFigures draws the classes of 15 topics of both methods, CTM's from its first
// start.
func genreFigures(_ *lab, t *tables) []figure {
	var out []figure
	rows := where(t.rows["genres"], "k", 15, "start", 0, "error", "")
	for i, c := range values(rows, "corpus") {
		f := figure{fmt.Sprintf("genres-%d", i+1),
			c + ": classes of the top words of 15 topics (lee-2018 Figure 3.3, lee-2020 Figure 5). The first row is the corpus; then topics, the most probable first, with p(topic) beside", 2, nil}
		for _, m := range []string{apADMM, ctmName} {
			if h := genreHeat(where(rows, "corpus", c, "method", m)); h != nil {
				f.panels = append(f.panels, panel{title: m, heat: h})
			}
		}
		out = append(out, f)
	}
	return out
}

func genreHeat(rows []row) *heat {
	if len(rows) == 0 {
		return nil
	}
	names, whole := readProfile(rows[0]["whole"])
	h := &heat{cols: names, rows: []string{"corpus"}, values: [][]float64{whole}, darkest: 1}
	for _, r := range rows {
		_, shares := readProfile(r["classes"])
		h.rows = append(h.rows, fmt.Sprintf("%s %.2f", firstWord(r["words"]), r.num("probability")))
		h.values = append(h.values, shares)
	}
	return h
}

// readProfile reads what profile writes.
func readProfile(s string) (names []string, shares []float64) {
	for _, f := range strings.Fields(s) {
		name, number, _ := strings.Cut(f, "=")
		v, _ := strconv.ParseFloat(number, 64)
		names, shares = append(names, name), append(shares, v)
	}
	return names, shares
}

func genreTables(_ *lab, t *tables) []table {
	x := table{caption: "Means over the topics (and starts): the distance of a topic's classes from the corpus', the part of the class with most of its top words, topics in which that is half, and the probability of the most probable topic:",
		head: []string{"corpus", "K", "method", "distance", "largest class", "half or more", "largest p(topic)", "CPU seconds"}}
	rows := where(t.rows["genres"], "error", "")
	for _, c := range values(rows, "corpus") {
		for _, k := range values(rows, "k") {
			for _, m := range values(rows, "method") {
				r := where(rows, "corpus", c, "k", k, "method", m)
				var first []row
				half := 0
				for _, s := range values(r, "start") {
					first = append(first, where(r, "start", s)[0])
				}
				for _, x := range r {
					if x.num("share") >= 0.5 {
						half++
					}
				}
				x.rows = append(x.rows, []string{c, k, m, fmt.Sprintf("%.3f", meanOf(r, "distance")), fmt.Sprintf("%.3f", meanOf(r, "share")),
					fmt.Sprintf("%d of %d", half, len(r)), fmt.Sprintf("%.3f", meanOf(first, "probability")), fmt.Sprintf("%.1f", meanOf(first, "seconds"))})
			}
		}
	}
	y := table{caption: "The two most probable of 15 topics, and the two of which the classes are nearest to those of the corpus (CTM's first start):",
		head: []string{"corpus", "method", "", "p(topic)", "distance", "top words"}}
	for _, c := range values(rows, "corpus") {
		for _, m := range values(rows, "method") {
			r := where(rows, "corpus", c, "k", 15, "method", m, "start", 0)
			near := slices.Clone(r)
			slices.SortStableFunc(near, func(a, b row) int { return cmp.Compare(a.num("distance"), b.num("distance")) })
			for _, of := range []struct {
				what string
				rows []row
			}{{"probable", r}, {"near", near}} {
				for _, v := range of.rows[:min(2, len(of.rows))] {
					y.rows = append(y.rows, []string{c, m, of.what, fmt.Sprintf("%.3f", v.num("probability")), fmt.Sprintf("%.3f", v.num("distance")),
						strings.Join(strings.Fields(v["words"])[:min(10, len(strings.Fields(v["words"])))], " ")})
				}
			}
		}
	}
	return []table{x, y}
}
