package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

var anchorFree = experiment{
	name: "anchorfree", title: "With and without anchors",
	repeats: []string{"fu-2018 Table 4", "fu-2018 Table 5", "fu-2018 Table 6", "fu-2018 Table 13", "fu-2018 Table 14"},
	what: "tf-idf weights and no rectification, as in the paper; anchors by each finder and RecoverL2, or no anchors. Coh is the coherence of 20 top words, over unordered pairs (about half of the paper's, over all); " +
		"SimCount counts top words that topics share; ClustAcc is the accuracy of k-means with the correlation metric on the topics' weights in the documents' tf-idf vectors, by least squares over the simplex. " +
		"Means over all draws of so many classes. Below, many topics of a corpus without classes; not all methods go to 200, for the time they take.",
	groups: []*group{freeGroup, manyGroup},
	plan:   planFree,
	figures: func(l *lab, t *tables) []figure {
		rows := t.rows["anchorfree-many"]
		f := figure{"anchorfree-many", "Many topics with and without anchors (fu-2018 Tables 13 to 16)", 4, nil}
		for _, c := range values(rows, "corpus") {
			for _, x := range []struct {
				key, title string
				log        bool
			}{{"coherence", "Coh", false}, {"simcount", "SimCount", true}, {"npmi", "NPMI", false}, {"seconds", "seconds", true}} {
				p := panel{title: c + ": " + x.title, x: "F", logX: true, logY: x.log, ticks: numbersOf(rows, "k")}
				for _, m := range values(rows, "method") {
					p.lines = append(p.lines, series(m, where(rows, "corpus", c, "method", m), "k", x.key))
				}
				f.panels = append(f.panels, p)
			}
		}
		return []figure{f}
	},
	tables: func(l *lab, t *tables) []table {
		var out []table
		for _, g := range []string{"anchorfree", "anchorfree-many"} {
			rows := t.rows[g]
			for _, x := range []struct{ key, name, format string }{{"coherence", "Coh", "%.1f"}, {"simcount", "SimCount", "%.1f"}, {"clustacc", "ClustAcc", "%.3f"}} {
				if math.IsNaN(meanOf(rows, x.key)) {
					continue
				}
				methods := values(rows, "method")
				tb := table{head: append([]string{"F", "draws"}, methods...)}
				for _, c := range values(rows, "corpus") {
					tb.caption = fmt.Sprintf("**%s** (%s):", x.name, c)
					for _, k := range values(rows, "k") {
						of := where(rows, "corpus", c, "k", k)
						line := []string{k, strconv.Itoa(max(1, len(values(of, "classes"))))}
						for _, m := range methods {
							cell := "–"
							if v := meanOf(where(of, "method", m), x.key); !math.IsNaN(v) {
								cell = fmt.Sprintf(x.format, v)
							}
							line = append(line, cell)
						}
						tb.rows = append(tb.rows, line)
					}
				}
				out = append(out, tb)
			}
		}
		return out
	},
	claims: []claim{
		{"fu-2018 Table 6", "AnchorFree-LP has a better ClustAcc than every method with anchors, by draws", freeBest("AnchorFree-LP", "clustacc", greater)},
		{"fu-2018 Table 5", "AnchorFree-LP shares fewer top words (SimCount) than every method with anchors, by draws", freeBest("AnchorFree-LP", "simcount", func(a, b float64) bool { return a <= b })},
		{"fu-2018 Table 4", "AnchorFree-LP has a better Coh than every method with anchors, by draws", freeBest("AnchorFree-LP", "coherence", greater)},
		{"fu-2018 Table 6", "LP and PDS agree in ClustAcc to 0.02, by draws", func(t *tables) (yes, of int) {
			rows := t.rows["anchorfree"]
			return compareRows(where(rows, "method", "AnchorFree-LP"), where(rows, "method", "AnchorFree-PDS"), []string{"corpus", "classes"}, "clustacc",
				func(a, b float64) bool { return math.Abs(a-b) <= 0.02 })
		}},
		{"fu-2018 Table 13", "with many topics AnchorFree-LP has a better Coh than FastAnchor", func(t *tables) (yes, of int) {
			rows := t.rows["anchorfree-many"]
			return compareRows(where(rows, "method", "AnchorFree-LP"), where(rows, "method", "FastAnchor"), []string{"corpus", "k"}, "coherence", greater)
		}},
		{"fu-2018 Table 14", "with many topics AnchorFree-LP has a smaller SimCount than FastAnchor", func(t *tables) (yes, of int) {
			rows := t.rows["anchorfree-many"]
			return compareRows(where(rows, "method", "AnchorFree-LP"), where(rows, "method", "FastAnchor"), []string{"corpus", "k"}, "simcount", less)
		}},
	},
}

// freeBest counts the draws in which a method is better than all those with
// anchors.
func freeBest(method, measure string, by func(a, b float64) bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["anchorfree"]
		for _, r := range where(rows, "method", method) {
			best, any := true, false
			for _, f := range finders() {
				for _, o := range where(rows, "method", f.name, "classes", r["classes"], "corpus", r["corpus"]) {
					if v := o.num(measure); !math.IsNaN(v) {
						any = true
						best = best && by(r.num(measure), v)
					}
				}
			}
			if any && !math.IsNaN(r.num(measure)) {
				of++
				if best {
					yes++
				}
			}
		}
		return yes, of
	}
}

var clusters = experiment{
	name: "clusters", title: "Topics and classes",
	what: "The classes of fu-2018 §6 with rectified and refined topics. As many topics as there are classes; documents are clustered by their compositions (k-means with the correlation metric), and by the topic of most weight. " +
		"AnchorFree-LP has tf-idf weights and least squares, the others counts and the library's default inference, Gibbs its own compositions.",
	groups: []*group{clustersGroup},
	plan:   planClusters,
	figures: func(l *lab, t *tables) []figure {
		rows := t.rows["clusters"]
		f := figure{"clusters", "Mean weight of each topic in the documents of each class; rows are topics, in the order of the classes they are of", 3, nil}
		for _, m := range values(rows, "method") {
			r := where(rows, "method", m)
			h := heatOf(r)
			if h != nil {
				f.panels = append(f.panels, panel{title: m, heat: h})
			}
		}
		return []figure{f}
	},
	tables: func(l *lab, t *tables) []table {
		rows := t.rows["clusters"]
		x := table{caption: "Accuracy of the clusters, their normalised mutual information with the classes, and the accuracy of the topic of most weight:",
			head: []string{"method", "ClustAcc", "NMI", "main topic"}}
		y := table{caption: "Topics, in the order of the heat maps:", head: []string{"method", "class of most weight", "top words"}}
		for _, m := range values(rows, "method") {
			r := where(rows, "method", m)
			if r[0]["error"] != "" {
				x.rows = append(x.rows, []string{m, r[0]["error"], "", ""})
				continue
			}
			x.rows = append(x.rows, []string{m, fmt.Sprintf("%.3f", r[0].num("clustacc")), fmt.Sprintf("%.3f", r[0].num("nmi")), fmt.Sprintf("%.3f", r[0].num("main_topic"))})
			for _, topic := range topicOrder(r) {
				of := where(r, "topic", topic)
				y.rows = append(y.rows, []string{m, of[heaviest(of)]["class"], of[0]["words"]})
			}
		}
		return []table{x, y}
	},
}

// heaviest returns the place of the row of most weight.
func heaviest(rows []row) int {
	at := 0
	for i, r := range rows {
		if r.num("weight") > rows[at].num("weight") {
			at = i
		}
	}
	return at
}

// topicOrder returns the topics in the order of the classes they have most weight
// in, so that the heat map of good topics is heavy on its diagonal.
func topicOrder(rows []row) []string {
	topics := values(rows, "topic")
	slices.SortStableFunc(topics, func(a, b string) int {
		return heaviest(where(rows, "topic", a)) - heaviest(where(rows, "topic", b))
	})
	return topics
}

// heatOf returns topics × classes, nil where there is nothing.
func heatOf(rows []row) *heat {
	if len(rows) == 0 || rows[0]["error"] != "" {
		return nil
	}
	h := &heat{cols: values(rows, "class"), darkest: 1}
	for _, topic := range topicOrder(rows) {
		of := where(rows, "topic", topic)
		var w []float64
		for _, c := range h.cols {
			w = append(w, where(of, "class", c)[0].num("weight"))
		}
		h.rows = append(h.rows, firstWord(of[0]["words"]))
		h.values = append(h.values, w)
	}
	return h
}

func firstWord(s string) string {
	for i, r := range s {
		if r == ' ' {
			return s[:i]
		}
	}
	return s
}
