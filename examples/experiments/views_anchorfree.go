package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

var anchorFree = experiment{
	name: "anchorfree", title: "With and without anchors",
	repeats: []string{"fu-2018 Table 1", "fu-2018 Table 4", "fu-2018 Table 5", "fu-2018 Table 6", "fu-2018 Table 7", "fu-2018 Table 8", "fu-2018 Table 9",
		"fu-2018 Table 10", "fu-2018 Table 11", "fu-2018 Table 12", "fu-2018 Table 13", "fu-2018 Table 14", "fu-2018 Table 15", "fu-2018 Table 16", "fu-2018 Figure 4"},
	what: "tf-idf weights and no rectification, as in the paper; anchors by each finder and RecoverL2, or no anchors. SPA is on C̄, the rows of C divided by their sums (fu-2018 §2), and is pivoted QR; “SPA on C” leaves " +
		"the rows as they are and is no method of the paper. XRAY does not divide either (§2); where it does, it finds SNPA's anchors. PDS is named with its tolerance, which the paper does not give; 1e-7 is the library's default. " +
		"Gibbs sampling stands for LDA and has counts. Coh is the coherence of 20 top words, over unordered pairs (about half of the paper's, over all); " +
		"SimCount counts top words that topics share; ClustAcc is the accuracy of k-means with the correlation metric on the topics' weights in the documents' vectors, by least squares over the simplex. " +
		"Draws of classes: all sets of 3, 4 and 5 of the classes of a news corpus, where the paper has 50 draws of 3 to 25 from each of three; it stands in for TDT2, Reuters-21578 with its classes, and RCV1. " +
		fmt.Sprintf("Many topics: nips17 stands in for TDT2; Reuters-21578 is the paper's corpus in another form, without classes. Gibbs sampling has at most %d sweeps there. Not all methods go to 200, for the time they take. "+
			"Times are of fitting, from the moments on; the lengths of their rows are found before.", manySweeps),
	groups:  []*group{freeGroup, manyGroup, storyGroup},
	plan:    planFree,
	figures: freeFigures,
	tables: func(l *lab, t *tables) []table {
		out := freeTables(freeRows(t), true)
		rows := t.rows["anchorfree-many"]
		for _, c := range values(rows, "corpus") {
			for _, n := range values(rows, "words") {
				out = append(out, freeTables(where(rows, "corpus", c, "words", n), true)...)
			}
		}
		stories := table{caption: "Five topics (fu-2018 Table 1); own words are those of the 20 that no other topic has among its own:", head: []string{"method", "own words", "top words"}}
		for _, r := range t.rows["anchorfree-words"] {
			stories.rows = append(stories.rows, []string{r["method"], r["own"], r["words"]})
		}
		return append(out, stories)
	},
	claims: slices.Concat(drawClaims, manyClaims, timeClaims),
}

// freeRows are the rows of draws of classes with tf-idf weights, and those of Gibbs
// sampling.
func freeRows(t *tables) []row {
	rows := t.rows["anchorfree"]
	return append(where(rows, "weights", asTFIDF.name), where(rows, "method", gibbs)...)
}

// freeTables are tables of the measures, and of the times if asked for: methods
// against numbers of topics.
func freeTables(rows []row, times bool) []table {
	var out []table
	for _, x := range []struct{ key, name, format string }{{"coherence", "Coh", "%.1f"}, {"simcount", "SimCount", "%.1f"}, {"clustacc", "ClustAcc", "%.3f"}, {"seconds", "Seconds", "%.3f"}} {
		if math.IsNaN(meanOf(rows, x.key)) || x.key == "seconds" && !times {
			continue
		}
		methods := values(rows, "method")
		of := rows[0]["corpus"]
		if n := rows[0]["words"]; n != "" {
			of += ", " + n + " words"
		}
		tb := table{caption: fmt.Sprintf("**%s** (%s):", x.name, of), head: append([]string{"F", "draws"}, methods...)}
		for _, k := range values(rows, "k") {
			at := where(rows, "k", k)
			line := []string{k, strconv.Itoa(max(1, len(values(at, "classes"))))}
			for _, m := range methods {
				cell := "–"
				if v := meanOf(where(at, "method", m), x.key); !math.IsNaN(v) {
					cell = fmt.Sprintf(x.format, v)
				}
				line = append(line, cell)
			}
			tb.rows = append(tb.rows, line)
		}
		out = append(out, tb)
	}
	return out
}

func freeFigures(l *lab, t *tables) []figure {
	rows := t.rows["anchorfree-many"]
	many := figure{"anchorfree-many", "Many topics with and without anchors (fu-2018 Tables 13 to 16)", 3, nil}
	times := figure{"anchorfree-time", "Seconds against the number of topics F (fu-2018 Figure 4): draws of classes, and many topics", 3, nil}
	draws := freeRows(t)
	p := panel{title: "draws of classes", x: "F", y: "seconds", logY: true, ticks: numbersOf(draws, "k")}
	for _, m := range values(draws, "method") {
		of := where(draws, "method", m)
		var means []row
		for _, k := range values(of, "k") {
			means = append(means, make(row).set("k", k).set("seconds", meanOf(where(of, "k", k), "seconds")))
		}
		p.lines = append(p.lines, series(m, means, "k", "seconds"))
	}
	if len(draws) > 0 {
		times.panels = append(times.panels, p)
	}
	for _, c := range values(rows, "corpus") {
		for _, n := range values(rows, "words") {
			of := where(rows, "corpus", c, "words", n)
			for _, x := range []struct {
				key, title string
				log        bool
			}{{"coherence", "Coh", false}, {"simcount", "SimCount", true}, {"npmi", "NPMI", false}, {"seconds", "seconds", true}} {
				p := panel{title: c + ", N = " + n + ": " + x.title, x: "F", logX: true, logY: x.log, ticks: numbersOf(of, "k")}
				for _, m := range values(of, "method") {
					p.lines = append(p.lines, series(m, where(of, "method", m), "k", x.key))
				}
				if x.key != "seconds" {
					many.panels = append(many.panels, p)
				} else if n == strconv.Itoa(l.words) {
					times.panels = append(times.panels, p)
				}
			}
		}
	}
	return []figure{many, times}
}

// atMost says that a number is not above another.
func atMost(a, b float64) bool { return a <= b }

// higher says that a number is at least 30 % higher than another, as fu-2018 §6.4 has it.
func higher(a, b float64) bool { return a >= 1.3*b }

// farAhead says that a coherence, which is negative, is at least 40 % nearer to zero.
func farAhead(a, b float64) bool { return a >= 0.6*b }

// anchored are the methods of the paper that need anchors.
func anchored() []string {
	var out []string
	for _, f := range finders {
		out = append(out, f.name)
	}
	return out
}

// bestOf counts the rows of a method whose measure is better, as by tells, than that of
// all others in the rows that agree in the key.
func bestOf(of func(t *tables) []row, key []string, measure string, by func(a, b float64) bool, method string, others ...string) func(t *tables) (yes, n int) {
	return func(t *tables) (yes, n int) {
		rows := of(t)
		for _, r := range where(rows, "method", method) {
			same := rows
			for _, k := range key {
				same = where(same, k, r[k])
			}
			ok, some := true, false
			for _, m := range others {
				for _, o := range where(same, "method", m) {
					if v := o.num(measure); !math.IsNaN(v) {
						some = true
						ok = ok && by(r.num(measure), v)
					}
				}
			}
			if some && !math.IsNaN(r.num(measure)) {
				n++
				if ok {
					yes++
				}
			}
		}
		return yes, n
	}
}

// drawBest is bestOf for draws of classes.
func drawBest(measure string, by func(a, b float64) bool, method string, others ...string) func(t *tables) (yes, n int) {
	return bestOf(freeRows, []string{"corpus", "classes"}, measure, by, method, others...)
}

// both adds up the cases of two claims.
func both(a, b func(t *tables) (yes, of int)) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		y, o := a(t)
		yes, of = b(t)
		return yes + y, of + o
	}
}

var drawClaims = []claim{
	{"fu-2018 Table 1", "every topic of AnchorFree has more words of its own than any of FastAnchor", func(t *tables) (yes, of int) {
		rows := t.rows["anchorfree-words"]
		for _, r := range where(rows, "method", freeLP) {
			of++
			yes++
			for _, o := range where(rows, "method", fastAnchor) {
				if o.num("own") >= r.num("own") {
					yes--
					break
				}
			}
		}
		return yes, of
	}},
	{"fu-2018 Table 4", "LP and PDS each have a better Coh than every method with anchors, by draws",
		both(drawBest("coherence", greater, freeLP, anchored()...), drawBest("coherence", greater, pds, anchored()...))},
	{"fu-2018 Table 4", "… and than LDA", both(drawBest("coherence", greater, freeLP, gibbs), drawBest("coherence", greater, pds, gibbs))},
	{"fu-2018 Table 5", "LP and PDS each share no more top words (SimCount) than every method with anchors, by draws",
		both(drawBest("simcount", atMost, freeLP, anchored()...), drawBest("simcount", atMost, pds, anchored()...))},
	{"fu-2018 Table 5", "… and than LDA", both(drawBest("simcount", atMost, freeLP, gibbs), drawBest("simcount", atMost, pds, gibbs))},
	{"fu-2018 Table 6", "LP and PDS each have a better ClustAcc than every method with anchors, by draws",
		both(drawBest("clustacc", greater, freeLP, anchored()...), drawBest("clustacc", greater, pds, anchored()...))},
	{"fu-2018 Table 6", "… and than LDA", both(drawBest("clustacc", greater, freeLP, gibbs), drawBest("clustacc", greater, pds, gibbs))},
	{"fu-2018 Table 6", "LP and PDS each have a ClustAcc at least 30 % higher than every method with anchors, in the mean of the draws, by F",
		both(meanBest("clustacc", higher, freeLP), meanBest("clustacc", higher, pds))},
	{"fu-2018 Table 6", "LP and PDS agree in ClustAcc to 0.02, by draws", func(t *tables) (yes, of int) {
		rows := freeRows(t)
		return compareRows(where(rows, "method", freeLP), where(rows, "method", pds), []string{"corpus", "classes"}, "clustacc",
			func(a, b float64) bool { return math.Abs(a-b) <= 0.02 })
	}},
	{"fu-2018 Table 7", "XRAY has the best Coh of the methods with anchors, by draws (Reuters-21578)", drawBest("coherence", greater, xray, fastAnchor, spa, snpa)},
	{"fu-2018 Table 7", "XRAY has a better Coh than AnchorFree and LDA, too, by draws (Reuters-21578)", drawBest("coherence", greater, xray, freeLP, gibbs)},
	{"fu-2018 Table 8", "AnchorFree shares fewer top words than SPA, SNPA and FastAnchor, by draws (Reuters-21578)", drawBest("simcount", less, freeLP, fastAnchor, spa, snpa)},
	{"fu-2018 Table 8", "LDA shares fewer still, by draws (Reuters-21578)", drawBest("simcount", less, gibbs, freeLP)},
	{"fu-2018 Table 9", "AnchorFree has a better ClustAcc than every other method, LDA too, by draws (Reuters-21578)", drawBest("clustacc", greater, freeLP, append(anchored(), gibbs)...)},
	{"fu-2018 Table 10", "AnchorFree and XRAY have a better Coh than FastAnchor, SPA and SNPA, by draws (RCV1)",
		both(drawBest("coherence", greater, freeLP, fastAnchor, spa, snpa), drawBest("coherence", greater, xray, fastAnchor, spa, snpa))},
	{"fu-2018 Table 11", "PDS shares no more top words than LP, and LP than the methods with anchors, by draws (RCV1)",
		both(drawBest("simcount", atMost, pds, freeLP), drawBest("simcount", atMost, freeLP, anchored()...))},
	{"fu-2018 Table 12", "AnchorFree has a better ClustAcc than every method with anchors, by draws (RCV1)",
		both(drawBest("clustacc", greater, freeLP, anchored()...), drawBest("clustacc", greater, pds, anchored()...))},
}

// reutersCorpus is the name of Reuters-21578 in the data folder.
const reutersCorpus = "reuters21578-split"

// manyOf returns the rows of many topics with the most words: of Reuters-21578, or of
// the stand-in for TDT2.
func manyOf(reuters bool) func(t *tables) []row {
	return func(t *tables) []row {
		var out []row
		rows := t.rows["anchorfree-many"]
		most := 0.0
		for _, r := range rows {
			most = max(most, r.num("words"))
		}
		for _, r := range rows {
			if (r["corpus"] == reutersCorpus) == reuters && r.num("words") == most {
				out = append(out, r)
			}
		}
		return out
	}
}

// manyBest is bestOf for PDS with many topics.
func manyBest(reuters bool, measure string, by func(a, b float64) bool, others ...string) func(t *tables) (yes, n int) {
	return bestOf(manyOf(reuters), []string{"corpus", "k"}, measure, by, pds, others...)
}

var manyClaims = []claim{
	{"fu-2018 Table 13", "PDS has a better Coh than every method with anchors, by F", manyBest(false, "coherence", greater, anchored()...)},
	{"fu-2018 Table 13", "it is far ahead: 40 % nearer to zero (the paper: 48 to 71 %)", manyBest(false, "coherence", farAhead, anchored()...)},
	{"fu-2018 Table 13", "PDS has a better Coh than LDA, by F", manyBest(false, "coherence", greater, gibbs)},
	{"fu-2018 Table 14", "PDS shares fewer top words than every method with anchors, by F of 30 and more", func(t *tables) (yes, of int) {
		many := func(t *tables) []row { return fromK(manyOf(false)(t), 30) }
		return bestOf(many, []string{"corpus", "k"}, "simcount", less, pds, anchored()...)(t)
	}},
	{"fu-2018 Table 14", "LDA shares fewer top words than PDS, by F", manyBest(false, "simcount", greater, gibbs)},
	{"fu-2018 Table 15", "PDS has a better Coh than every method with anchors, by F", manyBest(true, "coherence", greater, anchored()...)},
	{"fu-2018 Table 15", "it is far ahead: 40 % nearer to zero (the paper: 44 to 59 %)", manyBest(true, "coherence", farAhead, anchored()...)},
	{"fu-2018 Table 15", "PDS has a better Coh than LDA, by F", manyBest(true, "coherence", greater, gibbs)},
	{"fu-2018 Table 16", "PDS shares fewer top words than every method with anchors, by F", manyBest(true, "simcount", less, anchored()...)},
	{"fu-2018 Table 16", "LDA shares fewer top words than PDS, by F", manyBest(true, "simcount", greater, gibbs)},
}

// timed are the rows with times: the means of the draws, and many topics with the most words.
func timed(t *tables) []row {
	return slices.Concat(manyOf(false)(t), manyOf(true)(t), drawMeans(t, "seconds"))
}

// drawMeans are the means of a measure over the draws, for each number of classes.
func drawMeans(t *tables, measure string) []row {
	var out []row
	draws := freeRows(t)
	for _, c := range values(draws, "corpus") {
		for _, k := range values(draws, "k") {
			for _, m := range values(draws, "method") {
				of := where(draws, "corpus", c, "k", k, "method", m)
				out = append(out, row{"corpus": c, "method": m, "words": "all"}.set("k", k).set(measure, meanOf(of, measure)))
			}
		}
	}
	return out
}

// meanBest is bestOf for these means and the methods with anchors.
func meanBest(measure string, by func(a, b float64) bool, method string) func(t *tables) (yes, n int) {
	return bestOf(func(t *tables) []row { return drawMeans(t, measure) }, []string{"corpus", "k"}, measure, by, method, anchored()...)
}

// timeBest is bestOf for seconds.
func timeBest(method string, by func(a, b float64) bool, others ...string) func(t *tables) (yes, n int) {
	return bestOf(timed, []string{"corpus", "words", "k"}, "seconds", by, method, others...)
}

var timeClaims = []claim{
	{"fu-2018 Figure 4", "SPA is the fastest of the methods with anchors, by corpus and F", timeBest(spa, less, fastAnchor, snpa, xray)},
	{"fu-2018 Figure 4", "LP is the slowest of all, by corpus and F", timeBest(freeLP, greater, append(anchored(), pds)...)},
	{"fu-2018 Figure 4", "PDS is faster than FastAnchor, SNPA and XRAY, by corpus and F", timeBest(pds, less, fastAnchor, snpa, xray)},
	{"fu-2018 Figure 4", "PDS is faster than LP, by corpus and F", timeBest(pds, less, freeLP)},
}
