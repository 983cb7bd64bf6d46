package main

import (
	"fmt"
	"math"
)

var judged = experiment{
	name: "judged", title: "Topics and classes, adjusted for chance",
	what: fmt.Sprintf("The largest topic of each document against its class, with as many topics as classes and %d and %d times as many: adjusted mutual information, adjusted Rand index, purity, which grows with the number of topics, and harmonic purity (metrics.Agree). "+
		"New is the library's default, NMF of tf-idf weights, k-means of these with the correlation metric and ten restarts, Gibbs sampling of latent Dirichlet allocation. k-means and Gibbs sampling are means of %d draws. "+
		"Topics of the default are ordered as a reader finds them, sound ones first and each kind by NPMI, and compared by Spearman's rank correlation with their purity, the share of the documents with most of a topic that have their most frequent class.", judgedTimes[1], judgedTimes[2], judgedDraws),
	groups: []*group{judgedGroup, judgedTopics},
	plan:   planJudged,
	tables: func(_ *lab, t *tables) []table {
		rows := t.rows["judged"]
		x := table{caption: "Agreement with the classes:", head: []string{"corpus", "topics", "method", "AMI", "ARI", "purity", "harmonic purity"}}
		for _, k := range values(rows, "k") {
			for _, m := range values(rows, "method") {
				of := where(rows, "k", k, "method", m)
				if len(of) == 0 {
					continue
				}
				line := []string{of[0]["corpus"], k, m}
				for _, measure := range []string{"ami", "ari", "purity", "harmonic"} {
					line = append(line, fmt.Sprintf("%.3f", meanOf(of, measure)))
				}
				x.rows = append(x.rows, line)
			}
		}
		topics := t.rows["judged-topics"]
		y := table{caption: "Rank correlation of the purity of topics with:", head: []string{"corpus", "topics", "their order", "NPMI", "exclusivity", "share", "mean purity of sound topics", "of the others"}}
		for _, k := range values(topics, "k") {
			of := where(topics, "k", k)
			y.rows = append(y.rows, append([]string{of[0]["corpus"], k}, orderOf(of)...))
		}
		return []table{x, y}
	},
	claims: []claim{
		{"here", "the default's AMI is above that of NMF, of k-means and of Gibbs sampling, by numbers of topics", judgedBest("ami")},
		{"here", "its ARI is, too", judgedBest("ari")},
	},
}

// orderOf returns the correlations of a table's row.
func orderOf(topics []row) (out []string) {
	var purity, order, sound, others []float64
	by := make(map[string][]float64)
	for _, r := range topics {
		p := r.num("purity")
		if math.IsNaN(p) { // the largest topic of no document
			continue
		}
		purity = append(purity, p)
		rank := r.num("npmi")
		if r["verdict"] == "sound" {
			rank += 2 // NPMI is in [−1, 1]
			sound = append(sound, p)
		} else {
			others = append(others, p)
		}
		order = append(order, rank)
		for _, m := range []string{"npmi", "exclusivity", "share"} {
			by[m] = append(by[m], r.num(m))
		}
	}
	for _, x := range [][]float64{order, by["npmi"], by["exclusivity"], by["share"]} {
		out = append(out, fmt.Sprintf("%.2f", rankCorrelation(x, purity)))
	}
	for _, x := range [][]float64{sound, others} {
		s := ""
		if len(x) > 0 {
			s = fmt.Sprintf("%.2f (%d)", mean(x), len(x))
		}
		out = append(out, s)
	}
	return out
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// judgedBest counts where the default is above another method.
func judgedBest(measure string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["judged"]
		for _, k := range values(rows, "k") {
			ours := meanOf(where(rows, "k", k, "method", byDefault), measure)
			for _, m := range values(rows, "method") {
				if theirs := where(rows, "k", k, "method", m); m != byDefault && len(theirs) > 0 {
					of++
					if ours > meanOf(theirs, measure) {
						yes++
					}
				}
			}
		}
		return yes, of
	}
}

var reranked = experiment{
	name: "reranked", title: "The same rule for the words of all topics",
	what: "The library does not list the most probable words of a topic but those that its reading rule ranks first (refine.Result.Reading). Here the topics of NMF and of Gibbs sampling are listed by the same rule, from their topics and proportions. " +
		"NPMI of 20 words in the documents, a mean over topics. The corpora are taken with all their words: those of the panel have no stop words.",
	groups: []*group{rerankedGroup},
	plan:   planReranked,
	tables: func(_ *lab, t *tables) []table {
		rows := t.rows["reranked"]
		x := table{caption: "NPMI of the most probable words, and of the words by the rule:", head: []string{"corpus", "K"}}
		methods := values(rows, "method")
		for _, m := range methods {
			x.head = append(x.head, m, m+", by the rule")
		}
		for _, c := range values(rows, "corpus") {
			for _, k := range values(where(rows, "corpus", c), "k") {
				line := []string{c, k}
				for _, m := range methods {
					a, b := "", ""
					for _, r := range where(rows, "corpus", c, "k", k, "method", m) {
						a, b = fmt.Sprintf("%.3f", r.num("probable")), fmt.Sprintf("%.3f", r.num("reading"))
					}
					line = append(line, a, b)
				}
				x.rows = append(x.rows, line)
			}
		}
		return []table{x}
	},
	claims: []claim{
		{"here", "the rule makes the words of NMF and of Gibbs sampling cohere more", func(t *tables) (yes, of int) {
			for _, r := range t.rows["reranked"] {
				if r["method"] != byDefault {
					of++
					if r.num("reading") > r.num("probable") {
						yes++
					}
				}
			}
			return yes, of
		}},
		{"here", "the default's topics cohere more than those of NMF, both by the rule", rerankedBest(nmf)},
		{"here", "and more than those of Gibbs sampling", rerankedBest(gibbs)},
	},
}

func rerankedBest(method string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["reranked"]
		return compareRows(where(rows, "method", byDefault), where(rows, "method", method), []string{"corpus", "k"}, "reading", greater)
	}
}
