package main

import (
	"fmt"

	"gonum.org/v1/gonum/stat"
)

var vocabulary = experiment{
	name: "vocabulary", title: "Low-rank rectification and larger vocabularies",
	repeats: []string{"dong-2019 Figure 4.1", "dong-2019 Figure 4.2", "dong-2019 Figure 4.3"},
	what: fmt.Sprintf("LR (8 passes, then 50 iterations of ENN with |I| = 10K + 1000) and ActiveSet, with the n best words of the first of -corpora, and of the first %d documents of -big; "+
		"the paper has four corpora. n is a multiple of a quarter of -n. BaseRecovery is Recovery over the words of the smallest vocabulary. AnchorQuality is the mean rank of an anchor in the other topics; "+
		"words that are equally probable share the mean of their ranks, for an exact solver leaves thousands at 0. Since a rank grows with the number of words, it is also given as a part of n. LAW is anchors and recovery. ", vocabularyDocs) +
		fmt.Sprintf("Below, the words that tell the vocabularies apart, of %d topics: the most probable of those that are lost when the vocabulary shrinks from the next size to this one, by the model of -n words, "+
			"and of those that are gained when it grows from the size before, by the model of this size, its topics matched to those of -n words. ", vocabularyTopics) +
		fmt.Sprintf("LR is also run with %d seeds, with -n words.", lrSeeds),
	groups: []*group{vocabularyGroup, gainedGroup, seedsGroup},
	plan:   planVocabulary,
	figures: func(l *lab, t *tables) []figure {
		rows := t.rows["vocabulary"]
		f := figure{"vocabulary", "Measures of LR against the size of the vocabulary (dong-2019 Figure 4.2)", 4, nil}
		for _, c := range values(rows, "corpus") {
			for _, x := range []struct {
				key, title string
				log        bool
			}{
				{"base_recovery", "BaseRecovery", false}, {"approximation", "Approximation", true}, {"anchor_rank", "AnchorQuality", false}, {"anchor_place", "AnchorQuality / n", false},
				{"sparsity", "Sparsity", false}, {"specificity", "Specificity", false}, {"seconds_rectify", "LR, CPU seconds", false}, {"seconds_law", "LAW, CPU seconds", false},
			} {
				p := panel{title: c + ": " + x.title, x: "words", logY: x.log, ticks: numbersOf(rows, "n")}
				for _, k := range values(rows, "k") {
					p.lines = append(p.lines, series("K = "+k, where(rows, "corpus", c, "k", k), "n", x.key))
				}
				f.panels = append(f.panels, p)
			}
		}
		return []figure{f}
	},
	tables: func(l *lab, t *tables) []table {
		rows := t.rows["vocabulary-words"]
		var out []table
		for _, c := range values(rows, "corpus") {
			of := where(rows, "corpus", c)
			x := table{caption: c + ": words lost (−) and gained (+) by the size of the vocabulary, a topic a line (dong-2019 Figure 4.3):"}
			for _, n := range values(of, "n") {
				sign := map[string]string{"lost": " −", "gained": " +"}[where(of, "n", n)[0]["change"]]
				x.head = append(x.head, n+sign)
			}
			for _, topic := range values(of, "topic") {
				var line []string
				for _, r := range where(of, "topic", topic) {
					line = append(line, r["words"])
				}
				x.rows = append(x.rows, line)
			}
			out = append(out, x)
		}
		return out
	},
	claims: []claim{
		{"dong-2019 Figure 4.1", "LR varies little with its random vectors: Recovery, Approximation, Dominancy, Specificity and Dissimilarity by less than 1 % (standard deviation)", steady(0.01)},
		perSize("a larger vocabulary has better anchors (AnchorQuality grows), from each size to the next", "anchor_rank", greater),
		perSize("Sparsity grows, from each size to the next", "sparsity", greater),
		perSize("the topics are more specific, from each size to the next", "specificity", greater),
		perSize("BaseRecovery falls, from each size to the next", "base_recovery", less),
		perSize("Approximation falls, from each size to the next", "approximation", less),
		{"dong-2019 Figure 4.2", "the time of LR, anchors and recovery grows no faster than the vocabulary, against the smallest", func(t *tables) (yes, of int) {
			return bySize(t, true, func(small, large row) bool {
				return large.num("seconds")/small.num("seconds") <= large.num("n")/small.num("n")
			})
		}},
		{"dong-2019 Figure 4.3", "from the smallest vocabulary to the largest, from each to the next, the words lost or gained are more a topic's own: the mean probability of the topic given such a word grows", func(t *tables) (yes, of int) {
			rows := t.rows["vocabulary-words"]
			for _, c := range values(rows, "corpus") {
				for _, topic := range values(rows, "topic") {
					var last row
					for _, r := range where(rows, "corpus", c, "topic", topic) {
						if r["change"] == "" {
							continue
						}
						if last != nil {
							of++
							if r.num("own") > last.num("own") {
								yes++
							}
						}
						last = r
					}
				}
			}
			return yes, of
		}},
		{"dong-2019 Figure 4.3", "words gained are more a topic's own than words lost, in the mean over a topic's", func(t *tables) (yes, of int) {
			rows := t.rows["vocabulary-words"]
			for _, c := range values(rows, "corpus") {
				for _, topic := range values(rows, "topic") {
					r := where(rows, "corpus", c, "topic", topic)
					of++
					if meanOf(where(r, "change", "gained"), "own") > meanOf(where(r, "change", "lost"), "own") {
						yes++
					}
				}
			}
			return yes, of
		}},
	},
}

// steady counts the corpora, K and five measures that differ by less than a part of
// their mean from seed to seed.
func steady(part float64) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["vocabulary-seeds"]
		for _, c := range values(rows, "corpus") {
			for _, k := range values(rows, "k") {
				for _, m := range []string{"recovery", "approximation", "dominancy", "specificity", "dissimilarity"} {
					var v []float64
					for _, r := range where(rows, "corpus", c, "k", k) {
						v = append(v, r.num(m))
					}
					if len(v) < 2 {
						continue
					}
					mean, deviation := stat.MeanStdDev(v, nil)
					of++
					if deviation < part*mean {
						yes++
					}
				}
			}
		}
		return yes, of
	}
}

// bySize counts the corpora, K and sizes of the vocabulary for which something holds
// of the size before, or of the first, and this one.
func bySize(t *tables, first bool, holds func(small, large row) bool) (yes, of int) {
	rows := t.rows["vocabulary"]
	for _, c := range values(rows, "corpus") {
		for _, k := range values(rows, "k") {
			var small row
			for _, r := range where(rows, "corpus", c, "k", k, "error", "") {
				if small != nil {
					of++
					if holds(small, r) {
						yes++
					}
				}
				if small == nil || !first {
					small = r
				}
			}
		}
	}
	return yes, of
}

// perSize says that a measure gets better from each size of the vocabulary to the next.
func perSize(text, measure string, by func(a, b float64) bool) claim {
	return claim{"dong-2019 Figure 4.2", text, func(t *tables) (yes, of int) {
		return bySize(t, false, func(small, large row) bool { return by(large.num(measure), small.num(measure)) })
	}}
}
