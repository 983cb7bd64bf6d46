package main

import (
	"fmt"
	"math"
)

// semiKinds are the methods on drawn documents.
func semiKinds(rows []row, corpus, docs string) []kind {
	var out []kind
	for _, m := range values(rows, "method") {
		out = append(out, kind{m, where(rows, "corpus", corpus, "documents", docs, "method", m)})
	}
	return out
}

var semi = experiment{
	name: "semi", title: "Documents drawn from known topics: measures",
	repeats: []string{"lee-2018 Figure A.2"},
	what: fmt.Sprintf("The true topics are those of AP on the corpus, each with an anchor of its own; documents of %d tokens have compositions from a symmetric Dirichlet prior with %g. "+
		"Models are fitted to these documents, by Gibbs sampling to at most %d of them.", semiTokens, semiAlpha, semiGibbs),
	groups: []*group{semiGroup},
	plan:   planSemi,
	figures: func(l *lab, t *tables) []figure {
		rows := t.rows["semi"]
		docs := values(rows, "documents")
		f := figure{"semi", "Measures on " + docs[0] + " drawn documents (lee-2018 Figure A.2)", 5, nil}
		for _, c := range values(rows, "corpus") {
			f.panels = append(f.panels, panels(c, semiKinds(rows, c, docs[0]), "k", "K", true, numbersOf(rows, "k"))...)
		}
		return []figure{f}
	},
	claims: []claim{
		{"lee-2018 Figure A.2", "AP and Gibbs are comparable: Specificity within 10 %", drawnNear("specificity")},
		{"lee-2018 Figure A.2", "AP and Gibbs are comparable: Coherence within 10 %", drawnNear("coherence")},
		{"lee-2018 Figure A.2", "AP and Gibbs are comparable: Dissimilarity within 10 %", drawnNear("dissimilarity")},
		{"lee-2018 Figure A.2", "AP and Baseline differ less than on the documents themselves: Specificity", drawnLess("specificity")},
		{"lee-2018 Figure A.2", "AP and Baseline differ less than on the documents themselves: Dissimilarity", drawnLess("dissimilarity")},
		{"lee-2018 Figure A.2", "AP and Baseline differ less than on the documents themselves: Dominancy", drawnLess("dominancy")},
	},
}

var gaps = experiment{
	name: "gaps", title: "Documents drawn from known topics: distances",
	repeats: []string{"lee-2018 Figure A.3"},
	what: "The same models compared with the truth, topics matched as well as can be: the mean ℓ₁ distance of a topic (0 to 2), the Frobenius distance of A, the share of topics of which a word of their own, in no other topic, " +
		"is among the anchors, the distance of the compositions by least squares, and that of A from the compositions' own second moments.",
	groups: []*group{semiGroup},
	plan:   planSemi,
	figures: func(l *lab, t *tables) []figure {
		rows := t.rows["semi"]
		f := figure{"gaps", "Distances to the true parameters by number of documents M (lee-2018 Figure A.3)", 5, nil}
		for _, c := range values(rows, "corpus") {
			for _, docs := range values(rows, "documents") {
				for _, x := range []struct {
					key, title string
				}{{"b_l1", "topics, L1"}, {"a_frobenius", "A"}, {"anchors_found", "anchors"}, {"w_l2", "compositions"}, {"a_from_w", "A − WWᵀ/M"}} {
					p := panel{title: c + " M=" + docs + ": " + x.title, x: "K", logX: true, ticks: numbersOf(rows, "k"), logY: x.key == "a_frobenius" || x.key == "a_from_w"}
					for _, k := range semiKinds(rows, c, docs) {
						p.lines = append(p.lines, series(k.name, k.rows, "k", x.key))
					}
					f.panels = append(f.panels, p)
				}
			}
		}
		return []figure{f}
	},
	claims: []claim{
		{"lee-2018 Figure A.3", "AP learns better topics than Baseline", gap("b_l1", less)},
		{"lee-2018 Figure A.3", "AP learns a better A than Baseline", gap("a_frobenius", less)},
		{"lee-2018 Figure A.3", "AP finds the anchors of more topics than Baseline", gap("anchors_found", greater)},
		{"lee-2018 Figure A.3", "with more documents AP's topics are nearer to the truth", moreDocs("AP", "b_l1")},
		{"lee-2018 Figure A.3", "with more documents the topics of Baseline come nearer to the truth", moreDocs(baseline, "b_l1")},
		{"lee-2018 Figure A.3", "with more documents the difference of AP and Baseline is smaller", func(t *tables) (yes, of int) {
			rows := t.rows["semi"]
			docs := values(rows, "documents")
			for _, c := range values(rows, "corpus") {
				for _, k := range values(rows, "k") {
					var d []float64
					for _, m := range []string{docs[0], docs[len(docs)-1]} {
						a, b := where(rows, "corpus", c, "k", k, "documents", m, "method", "AP"), where(rows, "corpus", c, "k", k, "documents", m, "method", baseline)
						if len(a) == 1 && len(b) == 1 {
							d = append(d, math.Abs(b[0].num("b_l1")-a[0].num("b_l1")))
						}
					}
					if len(d) == 2 && len(docs) > 1 && !math.IsNaN(d[0]+d[1]) {
						of++
						if d[1] < d[0] {
							yes++
						}
					}
				}
			}
			return yes, of
		}},
	},
}

// gap compares AP with Baseline on drawn documents.
func gap(measure string, by func(a, b float64) bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["semi"]
		return compareRows(where(rows, "method", "AP"), where(rows, "method", baseline), []string{"corpus", "documents", "k"}, measure, by)
	}
}

// moreDocs compares the most documents with the fewest.
func moreDocs(method, measure string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := where(t.rows["semi"], "method", method)
		docs := values(rows, "documents")
		if len(docs) < 2 {
			return 0, 0
		}
		return compareRows(where(rows, "documents", docs[len(docs)-1]), where(rows, "documents", docs[0]), []string{"corpus", "k"}, measure, less)
	}
}

// drawnNear counts the drawn documents on which AP measures as Gibbs sampling does.
func drawnNear(measure string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["semi"]
		return compareRows(where(rows, "method", "AP"), where(rows, "method", gibbs), []string{"corpus", "documents", "k"}, measure, closeTo(0.1))
	}
}

// drawnLess counts the drawn documents on which AP and Baseline differ less in a
// measure than on the documents of the corpus.
func drawnLess(measure string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["semi"]
		for _, r := range where(rows, "method", "AP") {
			drawn := where(rows, "method", baseline, "corpus", r["corpus"], "documents", r["documents"], "k", r["k"])
			a, b := where(curveRows(t, "AP", "ActiveSet"), "corpus", r["corpus"], "k", r["k"]), where(curveRows(t, baseline, "ActiveSet"), "corpus", r["corpus"], "k", r["k"])
			if len(drawn) == 0 || len(a) == 0 || len(b) == 0 {
				continue
			}
			here, there := math.Abs(r.num(measure)-drawn[0].num(measure)), math.Abs(a[0].num(measure)-b[0].num(measure))
			if math.IsNaN(here) || math.IsNaN(there) {
				continue
			}
			of++
			if here < there {
				yes++
			}
		}
		return yes, of
	}
}
