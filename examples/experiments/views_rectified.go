package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

var rectified = experiment{
	name: "rectified", title: "Before and after rectification",
	repeats: []string{"lee-2018 Figure 2.1", "lee-2018 Figure 2.4", "lee-2018 Table 2.2"},
	what: fmt.Sprintf("Models with and without AP, anchors by QR. Figures and table have K = %d, as in the paper; the counts have K up to %d. %s is arora-2013: B by L2, A by least squares from all of C; %s takes A from the anchors alone, "+
		"as AP does. Figure 2.1 is the plane of the first two principal components of C̄, original or rectified, with a part of the words, all vertices among them. AP has %d iterations, as in the paper; Gibbs has -gibbs-sweeps.", pictured, maxRectified, baseline, probabilistic, longAP),
	groups:  []*group{rectifiedGroup, correlationsGroup, rectifiedTopicsGroup, pointsGroup},
	plan:    planRectified,
	figures: rectifiedFigures,
	tables: func(l *lab, t *tables) []table {
		rows := t.rows["rectified-topics"]
		x := table{caption: fmt.Sprintf("Topics, K = %d, and how many of their words are among the %d most frequent of the corpus (lee-2018 Table 2.2):", pictured, topWords), head: []string{"corpus", "method", "top words", "frequent"}}
		for _, r := range rows {
			x.rows = append(x.rows, []string{r["corpus"], r["method"], r["words"], r["frequent"]})
		}
		return []table{x}
	},
	claims: []claim{
		{"lee-2018 Figure 2.1", "anchors found after AP cover more of the plane of C̄ than Baseline's: a hull of more area", covers("area_original")},
		{"lee-2018 Figure 2.1", "and more of the plane of the rectified C̄", covers("area_rectified")},
		{"lee-2018 Figure 2.1", "their hull holds more of the words, in the plane of C̄", covers("inside_original")},
		{"lee-2018 Figure 2.1", "their hull holds more of the words, in the plane of the rectified C̄", covers("inside_rectified")},
		{"lee-2018 Figure 2.4", "A of arora-2013 has negative entries", aIs(baseline, func(r row) bool { return r.num("least") < 0 })},
		{"lee-2018 Figure 2.4", "A of the anchors alone, without rectification, has no negative entries", aIs(probabilistic, func(r row) bool { return r.num("least") > -rounding })},
		{"lee-2018 Figure 2.4", "it has next to nothing off its diagonal (less than a tenth)", aIs(probabilistic, func(r row) bool { return r.num("off_diagonal") < 0.1 })},
		{"lee-2018 Figure 2.4", "it does not sum to one (by more than 10 %)", aIs(probabilistic, func(r row) bool { return math.Abs(r.num("sum")-1) > 0.1 })},
		{"lee-2018 Figure 2.4", "after AP A has no negative entries", aIs("AP", func(r row) bool { return r.num("least") > -rounding })},
		{"lee-2018 Figure 2.4", "after AP it sums to one (within 5 %)", aIs("AP", func(r row) bool { return math.Abs(r.num("sum")-1) < 0.05 })},
		{"lee-2018 Figure 2.4", "after AP topics interact: a larger part of A is off the diagonal than before", func(t *tables) (yes, of int) {
			rows := t.rows["rectified"]
			return compareRows(where(rows, "method", "AP"), where(rows, "method", probabilistic), []string{"corpus", "k"}, "off_diagonal", greater)
		}},
		{"lee-2018 Table 2.2", "Baseline repeats itself: two of its topics share more than half of their 7 words", pairsShare(baseline, func(n int) bool { return n > tableWords/2 })},
		{"lee-2018 Table 2.2", "AP does not: two of its topics share at most half", pairsShare("AP", func(n int) bool { return n <= tableWords/2 })},
		{"lee-2018 Table 2.2", "the words of Baseline's topics are the most frequent of the corpus: 5 of 7 among the first 20", func(t *tables) (yes, of int) {
			return count(where(t.rows["rectified-topics"], "method", baseline), func(r row) bool { return r.num("frequent") >= 5 })
		}},
		{"lee-2018 Table 2.2", "AP finds the themes of Gibbs: each topic shares 3 of 7 words with one of Gibbs (all five do in the paper)", likeGibbs("AP")},
	},
}

// rounding is what an entry of A that should be zero may have.
const rounding = 1e-12

// covers compares the anchors found after AP with Baseline's.
func covers(measure string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["rectified"]
		return compareRows(where(rows, "method", "AP"), where(rows, "method", baseline), []string{"corpus", "k"}, measure, greater)
	}
}

// aIs counts the models of a way whose A is so.
func aIs(way string, so func(r row) bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) { return count(where(t.rows["rectified"], "method", way), so) }
}

// shared is how many of its words a topic shares with another.
func shared(a, b row) int {
	return inBoth(strings.Fields(a["words"]), strings.Fields(b["words"]))
}

// pairsShare counts the pairs of topics of a method by how many words they share.
func pairsShare(method string, so func(n int) bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		for _, c := range values(t.rows["rectified-topics"], "corpus") {
			rows := where(t.rows["rectified-topics"], "corpus", c, "method", method)
			for i, r := range rows {
				for _, s := range rows[:i] {
					of++
					if so(shared(r, s)) {
						yes++
					}
				}
			}
		}
		return yes, of
	}
}

// likeGibbs counts the topics of a method that share three words with one of Gibbs.
func likeGibbs(method string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["rectified-topics"]
		if len(where(rows, "method", gibbs)) == 0 {
			return 0, 0
		}
		return count(where(rows, "method", method), func(r row) bool {
			return slices.ContainsFunc(where(rows, "corpus", r["corpus"], "method", gibbs), func(g row) bool { return shared(r, g) >= 3 })
		})
	}
}

func rectifiedFigures(l *lab, t *tables) []figure {
	planes := figure{"rectified-planes", "", 3, nil}
	for _, x := range []struct{ space, way string }{{"original", baseline}, {"original", "AP"}, {"rectified", "AP"}} {
		rows := where(t.rows["points"], "picture", x.space)
		if len(rows) == 0 {
			continue
		}
		c := rows[0]["corpus"]
		planes.caption = fmt.Sprintf("%s: words in the plane of two principal components, the hull of all words (dotted) and that of %d anchors: Baseline's in the original space, those found after AP in it, and in the rectified space (lee-2018 Figure 2.1)", c, pictured)
		planes.panels = append(planes.panels, panel{title: fmt.Sprintf("%s, %s: anchors of %s", c, x.space, x.way),
			cloud: planeCloud(rows, func(mark string) bool { return slices.Contains(strings.Split(mark, "+"), x.way) })})
	}
	out := []figure{planes}
	rows := t.rows["rectified-a"]
	f := figure{"rectified-a", "A by topics, which are named by their anchors; blue is positive, red negative, the darkest the largest in absolute value: arora-2013's, that of the anchors alone, and that after AP (lee-2018 Figure 2.4)", len(rectifiedWays), nil}
	for _, c := range values(rows, "corpus") {
		for _, way := range rectifiedWays {
			if r := where(rows, "corpus", c, "method", way); len(r) > 0 && r[0]["error"] == "" {
				f.panels = append(f.panels, panel{title: c + ": " + way, heat: correlationsHeat(r)})
			}
		}
	}
	return append(out, f)
}

// correlationsHeat is a panel of Figure 2.4.
func correlationsHeat(rows []row) *heat {
	h := &heat{rows: values(rows, "topic"), cols: values(rows, "other")}
	for _, topic := range h.rows {
		var line []float64
		for _, r := range where(rows, "topic", topic) {
			v, _ := strconv.ParseFloat(r["a"], 64)
			line = append(line, v)
			h.darkest = max(h.darkest, math.Abs(v))
		}
		h.values = append(h.values, line)
	}
	return h
}
