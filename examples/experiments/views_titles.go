package main

import "fmt"

var titles = experiment{
	name: "titles", title: "Documents of a few words",
	what: fmt.Sprintf("Not in the papers: AP (15 iterations), ENN and LR (50) on the titles of -titles, the first 3,000 and 10,000 of them and all; the fewer, the emptier is C. "+
		"Anchors are any words, as in the papers, or words of at least %g %% of the documents (anchor.QR{MinDocFraction}). Distance is ‖C* − C‖ of the rectified matrix, as a part of ‖C‖; Approximation is of the model.", 100*commonAnchor),
	groups: []*group{titlesGroup},
	plan:   planTitles,
	tables: func(l *lab, t *tables) []table {
		rows := t.rows["titles"]
		x := table{head: []string{"titles", "K", "method", "distance"},
			caption: "Any words as anchors, then common ones; ΣA should be 1; zeros are the anchors s with C*_ss = 0, documents those of the median anchor:"}
		for range 2 {
			x.head = append(x.head, "Approximation", "ΣA", "zeros", "documents")
		}
		for _, r := range where(rows, "anchors", "any") {
			line := []string{r["documents"], r["k"], r["method"], fmt.Sprintf("%.3f", r.num("distance"))}
			for _, anchors := range []string{"any", "common"} {
				for _, o := range where(rows, "documents", r["documents"], "k", r["k"], "method", r["method"], "anchors", anchors) {
					line = append(line, fmt.Sprintf("%.5f", o.num("approximation")), fmt.Sprintf("%.2f", o.num("legality")), o["zeros"], o["anchor_docs"])
				}
			}
			x.rows = append(x.rows, line)
		}
		return []table{x}
	},
	claims: []claim{
		titlesAgree("the rectified matrices of ENN and LR are as far from C as that of AP, to 2 %", "any", "distance", closeTo(0.02)),
		titlesAgree("the models of ENN and LR are no farther from C than that of AP, any words being anchors", "any", "approximation", func(a, b float64) bool { return a <= 1.01*b }),
		titlesAgree("and as far to 5 %", "any", "approximation", closeTo(0.05)),
		titlesAgree("with common anchors as far to 5 %", "common", "approximation", closeTo(0.05)),
	},
}

// titlesAgree compares a measure of ENN and LR with that of AP.
func titlesAgree(text, anchors, measure string, by func(a, b float64) bool) claim {
	return claim{"here", text, func(t *tables) (yes, of int) {
		rows := where(t.rows["titles"], "anchors", anchors)
		for _, m := range titlesMethods[1:] {
			y, o := compareRows(where(rows, "method", m), where(rows, "method", titlesMethods[0]), []string{"documents", "k"}, measure, by)
			yes, of = yes+y, of+o
		}
		return yes, of
	}}
}
