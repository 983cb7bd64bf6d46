package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

var hulls = experiment{
	name: "hulls", title: "Anchors by low-dimensional hulls",
	repeats: []string{"lee-2018 Figure 1.1", "lee-2018 Figure 1.2", "lee-2018 Figure 1.3", "lee-2018 Figure 1.4", "lee-2018 Figure 1.5", "lee-2018 Figure 1.6",
		"lee-2018 Figure 1.7", "lee-2018 Figure 1.8", "lee-2018 Figure 1.9", "lee-2018 Table 1.2", "lee-2018 Table 1.3"},
	what: fmt.Sprintf("Anchors are the vertices of the hull of the rows of C embedded in three dimensions by t-SNE or by principal components (PCA), those farthest from the mean first, or are found by the greedy search in a sparse random projection "+
		"of C̄ to 1,000 dimensions (%s), as in the paper; also without a projection (%s), and by embeddings of the rows of C̄. Topics are recovered by L2, without rectification, from the first K. At most %d documents of a corpus, words with at least %d tokens and at most the -n best of these, "+
		"anchors in at least %d documents; a twentieth of the documents is held out and scored left to right with α = %g and %d particles, the first %d tokens of them. imdb-large (film reviews) stands in for Yelp, kos for the political blogs, "+
		"reuters21578-split (short agency reports) for the New York Times; nips17 has long documents, as that has. Topics by t-SNE and PCA go as far as there are vertices.",
		greedy, unprojected, hullDocs, hullCount, hullMinDocs, hullAlpha, hullParticle, hullScored),
	groups:  []*group{hullsGroup, hullTopicsGroup, hullShapesGroup, pointsGroup},
	plan:    planHulls,
	figures: hullFigures,
	tables: func(l *lab, t *tables) []table {
		return []table{shapesTable(t), firstAnchors(t), closestTopics(l, t)}
	},
	claims: []claim{
		{"lee-2018 Figure 1.1", "the hull of t-SNE in the plane has some 20 vertices (the paper: 21; here: 14 to 28)", func(t *tables) (yes, of int) {
			return count(where(t.rows["hulls-shapes"], "method", tSNE, "dims", 2), func(r row) bool { return r.num("vertices") >= 14 && r.num("vertices") <= 28 })
		}},
		{"lee-2018 Figure 1.2", "in the plane words crowd more by PCA than by t-SNE", hullShapes(pca, 2, tSNE, 2, "crowding", less)},
		{"lee-2018 Figure 1.2", "so that the hull of PCA has fewer vertices than that of t-SNE, in space (the paper: 49, 32 and 47 to 69, 77 and 107)", hullShapes(pca, 3, tSNE, 3, "vertices", less)},
		{"lee-2018 Figure 1.3", "the hull of t-SNE has more than twice as many vertices in space as in the plane (the paper: 69 to 21)", hullShapes(tSNE, 3, tSNE, 2, "vertices", func(a, b float64) bool { return a > 2*b })},
		{"lee-2018 Figure 1.4", "Recovery is similar: that of t-SNE within 25 % of that of Greedy", hullBoth(tSNE, greedy, "recovery", closeTo(0.25))},
		{"lee-2018 Figure 1.4", "that of t-SNE is slightly better than that of Greedy", hullBoth(tSNE, greedy, "recovery", less)},
		{"lee-2018 Figure 1.4", "Recovery falls from one K to the next, by any method", hullFalls("recovery", hullWays[:3]...)},
		{"lee-2018 Figure 1.4", "without random projection the greedy search recovers worse than with it, up to K = 15", func(t *tables) (yes, of int) {
			rows := slices.DeleteFunc(slices.Clone(t.rows["hulls"]), func(r row) bool { return r.num("k") > 15 })
			return compareRows(where(rows, "method", unprojected), where(rows, "method", greedy), []string{"corpus", "k"}, "recovery", greater)
		}},
		{"lee-2018 Figure 1.5", "the entropy of topics given a word is lower by t-SNE than by Greedy", hullBoth(tSNE, greedy, "entropy", less)},
		{"lee-2018 Figure 1.5", "the entropy of topics given a word is lower by PCA than by Greedy", hullBoth(pca, greedy, "entropy", less)},
		{"lee-2018 Figure 1.5", "the entropy of Greedy falls from one K to the next", hullFalls("entropy", greedy)},
		{"lee-2018 Figure 1.6", "Greedy topics are more like the corpus than those of t-SNE: less specific", hullBoth(greedy, tSNE, "specificity", less)},
		{"lee-2018 Figure 1.6", "Greedy topics are more like the corpus than those of PCA: less specific", hullBoth(greedy, pca, "specificity", less)},
		{"lee-2018 Figure 1.6", "Greedy topics are more like each other than those of t-SNE: a smaller distance (1.9)", hullBoth(greedy, tSNE, "distance", less)},
		{"lee-2018 Figure 1.6", "Greedy topics are more like each other than those of PCA: a smaller distance (1.9)", hullBoth(greedy, pca, "distance", less)},
		{"lee-2018 Figure 1.7", "Greedy topics are more coherent than those of t-SNE", hullBoth(greedy, tSNE, "coherence", greater)},
		{"lee-2018 Figure 1.7", "Greedy topics are more coherent than those of PCA", hullBoth(greedy, pca, "coherence", greater)},
		{"lee-2018 Figure 1.7", "at the cost of repetitive topics: fewer of them than of t-SNE's have a first word of their own", hullBoth(greedy, tSNE, "tops", less)},
		{"lee-2018 Figure 1.8", "anchors are more probable in topics of t-SNE than of Greedy: a lower soft rank", hullBoth(tSNE, greedy, "soft_rank", less)},
		{"lee-2018 Figure 1.8", "anchors are more probable in topics of PCA than of Greedy: a lower soft rank", hullBoth(pca, greedy, "soft_rank", less)},
		{"lee-2018 Figure 1.9", "t-SNE has a better held-out probability than Greedy", hullBoth(tSNE, greedy, "held_out", greater)},
		{"lee-2018 Figure 1.9", "t-SNE has a better held-out probability than PCA", hullBoth(tSNE, pca, "held_out", greater)},
		{"lee-2018 Table 1.2", "the first 12 anchors of t-SNE are more general than those of Greedy: in more documents, by the median", moreGeneral(tSNE, greedy)},
		{"lee-2018 Table 1.2", "the first 12 anchors of PCA are more general than those of Greedy: in more documents, by the median", moreGeneral(pca, greedy)},
		{"lee-2018 Table 1.3", "the anchor is the first word of a topic of t-SNE (the paper: in 12 of 12 printed)", func(t *tables) (yes, of int) {
			return count(where(t.rows["hulls-topics"], "method", tSNE), func(r row) bool { return r.num("hard_rank") == 0 })
		}},
		{"lee-2018 Table 1.3", "the anchor of the nearest Greedy topic has a worse rank than that of the t-SNE topic", nearestGreedy("hard_rank")},
		{"lee-2018 Table 1.3", "the nearest Greedy topic was found later than the t-SNE topic", nearestGreedy("topic")},
		{"here", "topics of t-SNE have more words of their own among their first 20 (Dissimilarity) than those of Greedy", hullBoth(tSNE, greedy, "dissimilarity", greater)},
		{"here", "of t-SNE and Greedy the one that recovers better has the better held-out probability", func(t *tables) (yes, of int) {
			rows := t.rows["hulls"]
			for _, r := range where(rows, "method", tSNE) {
				for _, g := range where(rows, "method", greedy, "corpus", r["corpus"], "k", r["k"]) {
					of++
					if (r.num("recovery") < g.num("recovery")) == (r.num("held_out") > g.num("held_out")) {
						yes++
					}
				}
			}
			return yes, of
		}},
		{"here", "embeddings of C̄ in place of C have less probable anchors: a higher soft rank, t-SNE", hullBoth(normalisedTSNE, tSNE, "soft_rank", greater)},
		{"here", "the same, PCA", hullBoth(normalisedPCA, pca, "soft_rank", greater)},
		{"lee-2018 §1.4", "most anchors of t-SNE are found again from four of five starts", func(t *tables) (yes, of int) {
			rows := where(t.rows["hulls-shapes"], "method", tSNE, "dims", 3)
			for _, c := range values(rows, "corpus") {
				of++
				if r := where(rows, "corpus", c); r[0].num("again") > meanOf(r, "vertices")/2 {
					yes++
				}
			}
			return yes, of
		}},
	},
}

// hullBoth compares two ways to anchors over corpora and K.
func hullBoth(a, b, measure string, by func(a, b float64) bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["hulls"]
		return compareRows(where(rows, "method", a), where(rows, "method", b), []string{"corpus", "k"}, measure, by)
	}
}

// hullFalls counts in how many cases a measure is lower for the next larger K.
func hullFalls(measure string, ways ...string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		for _, c := range values(t.rows["hulls"], "corpus") {
			for _, way := range ways {
				rows := where(t.rows["hulls"], "corpus", c, "method", way)
				for i := 1; i < len(rows); i++ {
					of++
					if rows[i].num(measure) < rows[i-1].num(measure) {
						yes++
					}
				}
			}
		}
		return yes, of
	}
}

// hullShapes compares two embeddings, of the first start.
func hullShapes(a string, dimsA int, b string, dimsB int, measure string, by func(a, b float64) bool) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := where(t.rows["hulls-shapes"], "trial", 1)
		return compareRows(where(rows, "method", a, "dims", dimsA), where(rows, "method", b, "dims", dimsB), []string{"corpus"}, measure, by)
	}
}

// tabled is how many anchors are in Table 1.2.
const tabled = 12

// medianDocuments is in how many documents the first anchors of a way are.
func medianDocuments(rows []row, way string) float64 {
	var n []float64
	for _, r := range where(rows, "method", way) {
		if len(n) < tabled {
			n = append(n, r.num("documents"))
		}
	}
	return median(n)
}

// moreGeneral counts the corpora in which the first anchors of a are in more documents
// than those of b.
func moreGeneral(a, b string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["hulls-topics"]
		for _, c := range values(rows, "corpus") {
			of++
			if r := where(rows, "corpus", c); medianDocuments(r, a) > medianDocuments(r, b) {
				yes++
			}
		}
		return yes, of
	}
}

// nearestGreedy counts the topics of t-SNE whose measure is less than that of the
// nearest Greedy topic.
func nearestGreedy(measure string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := t.rows["hulls-topics"]
		for _, r := range where(rows, "method", tSNE) {
			for _, g := range where(rows, "corpus", r["corpus"], "method", greedy, "topic", r["closest_Greedy"]) {
				of++
				if r.num(measure) < g.num(measure) {
					yes++
				}
			}
		}
		return yes, of
	}
}

func hullFigures(l *lab, t *tables) []figure {
	var out []figure
	points := t.rows["points"]
	pictures := figure{"hulls-points", "", 2, nil}
	for _, x := range hullPictures {
		rows := where(points, "picture", x.name())
		if len(rows) == 0 {
			continue
		}
		c := rows[0]["corpus"]
		pictures.caption = c + ": words as points, embedded by t-SNE in the plane, by PCA in the plane and by t-SNE in space, which is seen from one side with the front of its hull; anchors are the vertices (lee-2018 Figures 1.1, 1.2 and 1.3)"
		p := panel{title: c + ": " + x.name()}
		if x.dims == 3 {
			p.cloud = spaceCloud(rows)
		} else {
			p.cloud = planeCloud(rows, func(mark string) bool { return mark != "" })
		}
		pictures.panels = append(pictures.panels, p)
	}
	out = append(out, pictures)
	rows := t.rows["hulls"]
	corpora := values(rows, "corpus")
	f := figure{"hulls", "Measures against K by way to anchors: Recovery, entropy, Specificity and distance (1.9), Coherence, soft rank and held-out probability (lee-2018 Figures 1.4 to 1.9)", len(corpora), nil}
	for _, x := range []struct{ key, title string }{
		{"recovery", "Recovery"}, {"entropy", "entropy"}, {"specificity", "Specificity"}, {"distance", "distance (1.9)"},
		{"coherence", "Coherence"}, {"soft_rank", "soft rank"}, {"held_out", "ln p of a token"},
	} {
		for _, c := range corpora {
			p := panel{title: short(c) + ": " + x.title, x: "K", logX: true, ticks: numbersOf(rows, "k")}
			for _, way := range hullWays {
				p.lines = append(p.lines, series(way, where(rows, "corpus", c, "method", way), "k", x.key))
			}
			f.panels = append(f.panels, p)
		}
	}
	return append(out, f)
}

// short is the name of a corpus without what follows a dash.
func short(corpus string) string {
	name, _, _ := strings.Cut(corpus, "-")
	return name
}

// shapesTable says how many vertices the hulls have.
func shapesTable(t *tables) table {
	rows := t.rows["hulls-shapes"]
	x := table{caption: fmt.Sprintf("Vertices of the hulls, by t-SNE in space from %d starts, and how many of its anchors at least %d starts have (the paper: 43 of 59 to 69, 56 of 80 to 95, 51 of 83 to 107):", hullTrials, hullTrials-1),
		head: []string{"corpus", "PCA, plane", "PCA, space", "t-SNE, plane", "t-SNE, space", "again", normalisedPCA, normalisedTSNE}}
	for _, c := range values(rows, "corpus") {
		of := where(rows, "corpus", c)
		vertices := func(way string, dims int) string {
			n := numbersOf(where(of, "method", way, "dims", dims), "vertices")
			switch {
			case len(n) == 0:
				return ""
			case n[0] == n[len(n)-1]:
				return fmt.Sprint(n[0])
			}
			return fmt.Sprintf("%g to %g", n[0], n[len(n)-1])
		}
		again := ""
		for _, r := range where(of, "method", tSNE, "dims", 3) {
			again = r["again"]
		}
		x.rows = append(x.rows, []string{c, vertices(pca, 2), vertices(pca, 3), vertices(tSNE, 2), vertices(tSNE, 3), again, vertices(normalisedPCA, 3), vertices(normalisedTSNE, 3)})
	}
	return x
}

// firstAnchors is Table 1.2.
func firstAnchors(t *tables) table {
	rows := t.rows["hulls-topics"]
	x := table{caption: fmt.Sprintf("The first %d anchors, and in how many documents their median is (lee-2018 Table 1.2):", tabled), head: []string{"corpus", "method", "anchors", "documents"}}
	for _, c := range values(rows, "corpus") {
		of := where(rows, "corpus", c)
		for _, way := range values(of, "method") {
			var words []string
			for _, r := range where(of, "method", way) {
				if len(words) < tabled {
					words = append(words, r["anchor"])
				}
			}
			x.rows = append(x.rows, []string{c, way, strings.Join(words, " "), fmt.Sprint(medianDocuments(of, way))})
		}
	}
	return x
}

// closestTopics is Table 1.3: four topics of t-SNE drawn at random, and the nearest of
// the others.
func closestTopics(l *lab, t *tables) table {
	rows := t.rows["hulls-topics"]
	x := table{caption: "Four topics of t-SNE, drawn, and the nearest of the others: their number in the order of the anchors, the rank of the anchor (0: the first word) and their words, the anchor in bold (lee-2018 Table 1.3):",
		head: []string{"corpus", "method", "#", "rank", "top words"}}
	rng := rand.New(rand.NewPCG(l.seed, 1))
	for _, c := range values(rows, "corpus") {
		of := where(rows, "corpus", c)
		drawn := where(of, "method", tSNE)
		rng.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
		drawn = drawn[:min(4, len(drawn))]
		slices.SortFunc(drawn, func(a, b row) int { return cmp.Compare(a.num("topic"), b.num("topic")) })
		for _, r := range drawn {
			for _, y := range slices.Concat([]row{r}, where(of, "method", pca, "topic", r["closest_PCA"]), where(of, "method", greedy, "topic", r["closest_Greedy"])) {
				words := strings.Fields(y["words"])
				for i, w := range words {
					if w == y["anchor"] {
						words[i] = "**" + w + "**"
					}
				}
				rank, _ := strconv.ParseFloat(y["hard_rank"], 64)
				x.rows = append(x.rows, []string{c, y["method"], y["topic"], fmt.Sprint(rank), strings.Join(words, " ")})
			}
		}
	}
	return x
}
