package main

import (
	"fmt"
	"strings"
)

var hierarchy = experiment{
	name: "hierarchy", title: "Topics of topics",
	repeats: []string{"lee-2018 Figure 3.4"},
	what: "The paper has playlists of songs of known genres. Stand-ins: the classes of -classes are the genres, each of the 20 top words counts by its tokens in the classes; " +
		"and -artists, which has no genres: its topics are read by hand. AP (15 iterations, the paper 150) and ADMM with the paper's settings, the best -n-small words, no stop list for artists. " +
		"25:5 is the recursive run: 5 topics above those of the run of 25 (jsmf.Levels), its top words those of its mixture of topics. The correlated topic model is in another section.",
	groups:  []*group{hierarchyGroup},
	plan:    planHierarchy,
	figures: hierarchyFigures,
	tables: func(l *lab, t *tables) []table {
		var out []table
		for _, c := range values(t.rows["hierarchy"], "corpus") {
			rows := where(t.rows["hierarchy"], "corpus", c)
			x := table{caption: c + ": each topic above with the topics that are most likely of it, by falling share:", head: []string{"topic", "share", "top words", "topics below"}}
			for _, r := range firstOf(where(rows, "model", recursive(rows)), "topic") {
				var below []string
				for _, b := range firstOf(where(rows, "above", r["topic"]), "topic") {
					below = append(below, fmt.Sprintf("**%s** %s", b["topic"], someWords(b, 5)))
				}
				x.rows = append(x.rows, []string{r["topic"], fmt.Sprintf("%.2f", r.num("share")), someWords(r, 8), strings.Join(below, "; ")})
			}
			y := table{caption: c + ": as few topics by one run:", head: []string{"topic", "share", "top words"}}
			models := values(rows, "model")
			for _, r := range firstOf(where(rows, "model", models[0]), "topic") {
				y.rows = append(y.rows, []string{r["topic"], fmt.Sprintf("%.2f", r.num("share")), someWords(r, 8)})
			}
			out = append(out, x, y)
		}
		return out
	},
	claims: []claim{
		{"lee-2018 Figure 3.4", "a topic of the smaller run is of one genre: more than half of its 20 top words (the paper names 3 of 5)", oneGenre(0)},
		{"lee-2018 Figure 3.4", "a topic of the larger run is of one genre (the paper names 10 of 25)", oneGenre(2)},
		{"lee-2018 Figure 3.4", "topics above topics are others than those of one run: no topic of that shares more than half of the top words", func(t *tables) (yes, of int) {
			for _, c := range values(t.rows["hierarchy"], "corpus") {
				rows := where(t.rows["hierarchy"], "corpus", c)
				for _, r := range firstOf(where(rows, "model", recursive(rows)), "topic") {
					of++
					if r.num("common") <= topWords/2 {
						yes++
					}
				}
			}
			return yes, of
		}},
		{"here", "a topic has the main genre of the topic above that it is most likely of", func(t *tables) (yes, of int) {
			for _, c := range values(t.rows["hierarchy"], "corpus") {
				rows := where(t.rows["hierarchy"], "corpus", c)
				for _, r := range firstOf(rows, "above") {
					if r["above"] == "" || r["class"] == "" {
						continue
					}
					up := mainGenre(where(rows, "model", recursive(rows), "topic", r["above"]))
					for _, b := range firstOf(where(rows, "above", r["above"]), "topic") {
						of++
						if mainGenre(where(rows, "above", r["above"], "topic", b["topic"])) == up {
							yes++
						}
					}
				}
			}
			return yes, of
		}},
	},
}

// firstOf returns the first row of each value of a column.
func firstOf(rows []row, column string) []row {
	var out []row
	for _, v := range values(rows, column) {
		out = append(out, where(rows, column, v)[0])
	}
	return out
}

// recursive is the name of the recursive run: the second of the three.
func recursive(rows []row) string {
	if models := values(rows, "model"); len(models) == 3 {
		return models[1]
	}
	return "none"
}

// someWords returns the first n top words.
func someWords(r row, n int) string {
	words := strings.Fields(r["words"])
	return strings.Join(words[:min(n, len(words))], " ")
}

// mainGenre is the class of most of the top words, of the rows of a topic.
func mainGenre(rows []row) string {
	return rows[heaviest(rows, "genre")]["class"]
}

// oneGenre counts the topics of a run, by its place, of which most top words are of a
// class.
func oneGenre(run int) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		for _, c := range values(t.rows["hierarchy"], "corpus") {
			rows := where(t.rows["hierarchy"], "corpus", c)
			models := values(rows, "model")
			if len(models) != 3 || rows[0]["class"] == "" {
				continue
			}
			rows = where(rows, "model", models[run])
			for _, topic := range values(rows, "topic") {
				of++
				for _, r := range where(rows, "topic", topic) {
					if r.num("genre") > 0.5 {
						yes++
					}
				}
			}
		}
		return yes, of
	}
}

// hierarchyFigures shows the topics as bars by classes, as wide as they are probable.
func hierarchyFigures(_ *lab, t *tables) []figure {
	f := figure{"hierarchy", "Topics by the classes of their top words; the width of a bar is its share (lee-2018 Figure 3.4)", 1, nil}
	for _, c := range values(t.rows["hierarchy"], "corpus") {
		rows := where(t.rows["hierarchy"], "corpus", c)
		models := values(rows, "model")
		if len(models) != 3 || rows[0]["class"] == "" {
			continue
		}
		for i, title := range []string{models[0] + " topics of one run", models[1] + ": topics above topics", models[2] + " topics, in the order of those above them"} {
			of := where(rows, "model", models[i])
			b := &bars{names: values(of, "class")}
			for _, r := range byAbove(firstOf(of, "topic")) {
				x := bar{label: r["topic"], width: r.num("share")}
				for _, p := range where(of, "topic", r["topic"]) {
					x.parts = append(x.parts, p.num("genre"))
				}
				b.cols = append(b.cols, x)
			}
			f.panels = append(f.panels, panel{title: c + ", " + title, x: "topic", y: "share of top words", bars: b})
		}
	}
	return []figure{f}
}

// byAbove puts topics in the order of the topics above them.
func byAbove(rows []row) []row {
	var out []row
	for k := range len(rows) {
		out = append(out, where(rows, "above", k)...)
	}
	if len(out) == 0 {
		return rows
	}
	return out
}
