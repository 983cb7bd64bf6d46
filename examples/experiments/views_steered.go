package main

import (
	"fmt"
	"slices"
	"strconv"
)

var steered = experiment{
	name: "steered", title: "Topics that are asked for by words",
	what: fmt.Sprintf("Each class of labelled documents is asked for by %d words: its name and the words of highest χ², in one document of %d. The others go to the largest topic of a class. "+
		"Seeds have the strength in brackets; in seeded LDA, by %d sweeps of collapsed Gibbs sampling, so many prior counts for each use. Without seeds each topic is of the class that most of it lies in.", steeredSeeds, steeredOneOf, steeredSweeps),
	groups: []*group{steeredGroup},
	plan:   planSteered,
	tables: func(_ *lab, t *tables) (out []table) {
		rows := t.rows["steered"]
		for _, name := range values(rows, "corpus") {
			classes := values(where(rows, "corpus", name), "class")
			x := table{
				caption: fmt.Sprintf("F₁ of each class of %s, the part of the documents that is right, the log-likelihood of a token of all documents, and the CPU time of the fit and of finding the topics of documents:", name),
				head:    slices.Concat([]string{"K", "method"}, classes, []string{"right", "log-likelihood", "seconds"}),
			}
			for _, k := range values(where(rows, "corpus", name), "k") {
				for _, method := range values(where(rows, "corpus", name, "k", k), "method") {
					for _, strength := range values(where(rows, "corpus", name, "k", k, "method", method), "strength") {
						line := []string{k, strengthOf(method, strength)}
						of := where(rows, "corpus", name, "k", k, "method", method, "strength", strength)
						for _, class := range classes {
							line = append(line, fmt.Sprintf("%.3f", where(of, "class", class)[0].num("f1")))
						}
						loglik := ""
						if v := of[0].num("loglik"); v != 0 {
							loglik = fmt.Sprintf("%.4f", v)
						}
						x.rows = append(x.rows, append(line, fmt.Sprintf("%.3f", of[0].num("accuracy")), loglik, fmt.Sprintf("%.1f", of[0].num("fit"))))
					}
				}
			}
			out = append(out, x)
		}
		return out
	},
	claims: []claim{
		{"here", "seeds of strength 0.05 give a class an F₁ not below that of seeded LDA at 0.1, by classes", steeredWins(func(seeds, lda row) bool { return seeds.num("f1") >= lda.num("f1") })},
		{"here", "the same to .01", steeredWins(func(seeds, lda row) bool { return seeds.num("f1") >= lda.num("f1")-0.01 })},
	},
}

// steeredWins counts the classes of which something holds of the default strength and of seeded LDA.
func steeredWins(wins func(seeds, lda row) bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["steered"]
		for _, r := range where(rows, "method", seedsMethod, "strength", strconv.FormatFloat(0.05, 'g', -1, 64)) {
			if lda := where(rows, "corpus", r["corpus"], "k", r["k"], "class", r["class"], "method", seededLDA, "strength", "0.1"); len(lda) > 0 {
				of++
				if wins(r, lda[0]) {
					yes++
				}
			}
		}
		return yes, of
	}
}
