package main

import (
	"fmt"
	"math"
)

var score = experiment{
	name: "score", title: "Topics from elsewhere",
	what: "All topics are restricted to the words of the corpus as curated and measured alike, from their probabilities and their 20 top words (or as many as the shortest list has), " +
		"in whole documents. Below them the library's own of as many topics.",
	groups: []*group{scoreGroup},
	plan:   planScore,
	tables: func(l *lab, t *tables) []table {
		rows := t.rows["score"]
		x := table{head: append([]string{"corpus", "topics", "K"}, scoreGroup.measures...)}
		for _, r := range rows {
			line := []string{r["corpus"], r["topics"], r["k"]}
			if r["error"] != "" {
				line = append(line, r["error"])
			}
			for len(line) < len(x.head) {
				v := r.num(x.head[len(line)])
				if math.IsNaN(v) {
					line = append(line, "–")
				} else {
					line = append(line, fmt.Sprintf("%.3g", v))
				}
			}
			x.rows = append(x.rows, line)
		}
		return []table{x}
	},
}
