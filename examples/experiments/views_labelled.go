package main

import (
	"fmt"
	"slices"
)

var labelledView = experiment{
	name: "labelled", title: "Labels that some documents have",
	what: fmt.Sprintf("One document of some keeps its label. Model.Labels learns from these, of the topics and words of a model of all documents without labels, and tells the labels of the others; beside it, "+
		"a plain linear classifier of words by tf-idf, and the label of the largest Σ θ_k·p(label | topic k). Averages of %d draws.", labelledDraws),
	groups: []*group{labelledGroup},
	plan:   planLabelled,
	tables: func(_ *lab, t *tables) (out []table) {
		rows := t.rows["labelled"]
		for _, name := range values(rows, "corpus") {
			x := table{caption: fmt.Sprintf("The part of the other documents of %s whose label is right, by how many have one:", name), head: []string{"method", "K"}}
			of := where(rows, "corpus", name)
			parts := values(of, "oneof")
			for _, part := range parts {
				x.head = append(x.head, "1 in "+part)
			}
			for _, method := range values(of, "method") {
				for _, k := range values(where(of, "method", method), "k") {
					line := []string{method, k}
					for _, part := range parts {
						line = append(line, fmt.Sprintf("%.3f", where(of, "method", method, "k", k, "oneof", part)[0].num("accuracy")))
					}
					x.rows = append(x.rows, line)
				}
			}
			slices.SortStableFunc(x.rows, func(a, b []string) int { return len(a[1]) - len(b[1]) })
			out = append(out, x)
		}
		return out
	},
	claims: []claim{
		{"here", "labels by topics and words are right in no fewer documents than those by words, to .005", func(t *tables) (yes, of int) {
			rows := t.rows["labelled"]
			for _, r := range where(rows, "method", labelsMethod) {
				of++
				if r.num("accuracy") >= where(rows, "method", wordsMethod, "corpus", r["corpus"], "oneof", r["oneof"])[0].num("accuracy")-0.005 {
					yes++
				}
			}
			return yes, of
		}},
	},
}
