package main

import "math"

// sameTrials pairs rows of the same number of documents, of tokens and of the trial, and
// of the same prior unless one of the two has another.
func sameTrials(a, b []row) [][2]row {
	var out [][2]row
	for _, x := range a {
		for _, y := range where(b, "documents", x["documents"], "tokens", x["tokens"], "trial", x["trial"]) {
			out = append(out, [2]row{x, y})
		}
	}
	return out
}

// distanceOf is the distance of the topics to the true ones; that of a method that fails
// is infinite.
func distanceOf(r row) float64 {
	if r["error"] != "" {
		return math.Inf(1)
	}
	return r.num("b_l1")
}

// duel compares two methods on the same documents, in each part of a figure.
func duel(number, a, b string, docs func(all []string) []string, value func(r row) float64, better func(a, b float64) bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		return each(parts(t, number), func(rows []row) (yes, of int) {
			return each(docs(values(finite(rows), "documents")), func(d string) (yes, of int) {
				return tally(sameTrials(where(rows, "method", a, "documents", d), where(rows, "method", b, "documents", d)), value, better)
			})
		})
	}
}

func allDocs(all []string) []string    { return all }
func fewestDocs(all []string) []string { return all[:min(1, len(all))] }
func maxDocs(all []string) []string    { return all[max(0, len(all)-1):] }

// grows compares each number of documents with the one before, by trials.
func grows(number string, methods []string, value func(r row) float64, better func(more, fewer float64) bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		return each(parts(t, number), func(rows []row) (yes, of int) {
			return each(methods, func(m string) (yes, of int) {
				rows := finite(where(rows, "method", m))
				docs := values(rows, "documents")
				for i := 1; i < len(docs); i++ {
					more := where(rows, "documents", docs[i])
					for _, r := range where(rows, "documents", docs[i-1]) {
						for _, x := range where(more, "trial", r["trial"]) {
							y, o := tally([][2]row{{x, r}}, value, better)
							yes, of = yes+y, of+o
						}
					}
				}
				return yes, of
			})
		})
	}
}

// atInfinity counts the parts of a figure in which a method's distance on the true C is
// within the limits.
func atInfinity(number string, methods []string, least, most float64) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		return each(methods, func(m string) (yes, of int) {
			for _, r := range figureRows(t, number, "method", m, "documents", infinite) {
				of++
				if d := distanceOf(r); d >= least && d <= most {
					yes++
				}
			}
			return yes, of
		})
	}
}

// against compares the methods in two sets of rows, by trials.
func against(methods []string, a, b func(t *tables) []row, better func(a, b float64) bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		return each(methods, func(m string) (yes, of int) {
			return tally(sameTrials(finite(where(a(t), "method", m)), finite(where(b(t), "method", m))), distanceOf, better)
		})
	}
}

// inFigure returns the rows of a figure of arora-2013.
func inFigure(number string) func(t *tables) []row {
	return func(t *tables) []row { return figureRows(t, number) }
}

// nearZero is the most that counts as zero for a method that is exact, and nearlyZero for
// one that stops before.
const nearZero, nearlyZero = 1e-6, 0.01

func syntheticClaims() []claim {
	three := []string{"L2", "KL", gibbs}
	twice := func(a, b float64) bool { return a > 2*b }
	f := func(n string) string { return "arora-2013 Figure " + n }
	out := []claim{
		{f("2"), "on finite data Recover (inverse) performs poorly: its error is larger than that of L2, or it fails", duel("2", "inverse", "L2", allDocs, distanceOf, greater)},
		{f("2"), "on infinite data Recover (inverse) does not: its error is less than with the most documents", func(t *tables) (yes, of int) {
			rows := figureRows(t, "2", "method", "inverse")
			docs := values(finite(rows), "documents")
			if len(docs) == 0 {
				return 0, 0
			}
			for _, r := range where(rows, "documents", infinite) {
				for _, x := range where(rows, "documents", docs[len(docs)-1]) {
					y, o := tally([][2]row{{r, x}}, distanceOf, less)
					yes, of = yes+y, of+o
				}
			}
			return yes, of
		}},
		{f("2"), "Gibbs sampling has a lower error than L2 with the fewest documents", duel("2", gibbs, "L2", fewestDocs, distanceOf, less)},
		{f("2"), "Gibbs sampling has a lower error than KL with the fewest documents", duel("2", gibbs, "KL", fewestDocs, distanceOf, less)},
		{f("2"), "L2 and KL have lower errors with more documents", grows("2", []string{"L2", "KL"}, distanceOf, less)},
		{f("2"), "errors of L2 and KL vary less between topics with more documents", grows("2", []string{"L2", "KL"}, column("b_std"), less)},
		{f("3"), "Recover (inverse) does poorly for the fewest documents: it fails, or its error is twice that of L2", duel("3", "inverse", "L2", fewestDocs, distanceOf, twice)},
		{f("3"), "L2 has lower errors with more documents", grows("3", []string{"L2"}, distanceOf, less)},
		{f("3"), "L2 is worse than Gibbs sampling with the fewest documents", duel("3", "L2", gibbs, fewestDocs, distanceOf, greater)},
		{f("3"), "with 32,000 documents (the paper: 40,000) L2 is comparable with Gibbs sampling (10 %) or better", duel("3", "L2", gibbs, maxDocs, distanceOf, func(a, b float64) bool { return a < 1.1*b })},
		{f("3"), "with 32,000 documents the error of L2 varies less between topics than that of Gibbs sampling", duel("3", "L2", gibbs, maxDocs, column("b_std"), less)},
		{f("3"), "Recover (inverse) does not reach zero with infinite data", atInfinity("3", []string{"inverse"}, nearZero, math.Inf(1))},
		{f("4"), "with anchors and infinite data the error of Recover (inverse) is zero", atInfinity("4", []string{"inverse"}, 0, nearZero)},
		{f("4"), "with anchors and infinite data the errors of L2, by the paper's solver, and KL are close to zero, but not zero", atInfinity("4", []string{"L2+ExpGrad", "KL"}, nearZero, nearlyZero)},
		{"here", "with anchors and infinite data the error of L2 is zero when it is solved exactly", atInfinity("4", []string{"L2"}, 0, nearZero)},
		{f("5"), "Recover (inverse) is much worse than on the documents of Figure 2: it fails where it did not there, or its error is twice as large", against([]string{"inverse"}, inFigure("5"), func(t *tables) []row { return where(figureRows(t, "2"), "error", "") }, twice)},
		{f("5"), "L2, KL and Gibbs sampling are worse than on the documents of Figure 2", against(three, inFigure("5"), inFigure("2"), greater)},
		{f("5"), "Gibbs sampling is more robust than L2: its error is lower", duel("5", gibbs, "L2", allDocs, distanceOf, less)},
		{f("5"), "the error of L2 is larger with ρ = 0.1 than with ρ = 0.05", against([]string{"L2"}, inFigure("12"), inFigure("11"), greater)},
		{f("5"), "the errors of KL and Gibbs sampling are larger with ρ = 0.1 than with ρ = 0.05", against([]string{"KL", gibbs}, inFigure("12"), inFigure("11"), greater)},
		{f("5"), "the error of L2 is larger with ρ = 0.1 than with ρ = 0", against([]string{"L2"}, inFigure("12"), uncorrelated, greater)},
		{f("5"), "the mean error of L2 with 8,000 documents is larger with each ρ than with the one before", rhoGrows},
		{f("5"), "L2, KL and Gibbs sampling have lower errors with more documents", grows("5", three, distanceOf, less)},
		{f("5"), "with infinite data the errors are those of the documents of Figure 2 (within 5 %)", func(t *tables) (yes, of int) {
			return each([]string{"inverse", "L2", "KL"}, func(m string) (yes, of int) {
				return tally(sameTrials(figureRows(t, "5", "method", m, "documents", infinite), figureRows(t, "2", "method", m, "documents", infinite)), distanceOf,
					func(a, b float64) bool { return math.Abs(a-b) <= 0.05*b })
			})
		}},
		{f("13"), "Recover (inverse) fails or finds some held-out documents impossible, for the fewest documents", func(t *tables) (yes, of int) {
			rows := finite(figureRows(t, "13", "method", "inverse"))
			for _, d := range fewestDocs(values(rows, "documents")) {
				for _, r := range where(rows, "documents", d) {
					if r["error"] != "" || r.num("impossible") > 0 {
						yes++
					}
					if r["error"] != "" || !math.IsNaN(r.num("impossible")) {
						of++
					}
				}
			}
			return yes, of
		}},
		{f("13"), "L2 finds none impossible", duel("13", "L2", "L2", allDocs, column("impossible"), func(a, _ float64) bool { return a == 0 })},
	}
	for _, x := range syntheticFigures {
		n := x.measures
		out = append(out,
			claim{f(n), "as on real documents, Gibbs sampling has a better held-out probability than L2", duel(n, gibbs, "L2", allDocs, column("held_out"), greater)},
			claim{f(n), "as on real documents, Gibbs sampling has a better held-out probability than KL", duel(n, gibbs, "KL", allDocs, column("held_out"), greater)},
			claim{f(n), "as on real documents, L2 has a better coherence than Gibbs sampling", duel(n, "L2", gibbs, allDocs, column("coherence"), greater)},
			claim{f(n), "as on real documents, KL has a better coherence than Gibbs sampling", duel(n, "KL", gibbs, allDocs, column("coherence"), greater)},
			claim{f(n), "as on real documents, Gibbs sampling has more unique words than L2", duel(n, gibbs, "L2", allDocs, column("dissimilarity"), greater)})
	}
	return out
}

// rhoGrows compares the mean error of each ρ with that of the one before.
func rhoGrows(t *tables) (yes, of int) {
	for _, d := range doses(t) {
		for i := 1; i < len(d.xy); i++ {
			of++
			if d.xy[i].Y > d.xy[i-1].Y {
				yes++
			}
		}
	}
	return yes, of
}
