package main

import (
	"fmt"
	"slices"
	"strings"
)

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
				y.rows = append(y.rows, []string{m, of[heaviest(of, "weight")]["class"], of[0]["words"]})
			}
		}
		return []table{x, y}
	},
}

// topicOrder returns the topics in the order of the classes they have most weight
// in, so that the heat map of good topics is heavy on its diagonal.
func topicOrder(rows []row) []string {
	topics := values(rows, "topic")
	slices.SortStableFunc(topics, func(a, b string) int {
		return heaviest(where(rows, "topic", a), "weight") - heaviest(where(rows, "topic", b), "weight")
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
	word, _, _ := strings.Cut(s, " ")
	return word
}
