package main

import (
	"fmt"
	"strconv"
)

var scattered = experiment{
	name: "scattered", title: "Made topics, with anchors and without",
	repeats: []string{"fu-2018 Table 2", "fu-2018 Table 3", "fu-2018 Figure 2", "fu-2018 Figure 3"},
	what: fmt.Sprintf("B of %d words with independent exponential entries, half of them zero, A = UUᵀ/F + I, and C = BABᵀ as it is (fu-2018 §5); %d trials, where the paper has 100. A trial is a success if both "+
		"‖B − B̂‖² and ‖A − Â‖² are below %.0e after topics are matched. “15 anchors” are those of as many topics, or of all if there are fewer. Anchors are followed by exact least squares; “%s” is SPA followed by the program of arora-2013. "+
		"Times are of everything from C on, medians, in %s.", scatteredWords, scatteredTrials, scatteredLimit, expGradSPA, cpuIs()),
	groups: []*group{scatteredGroup},
	plan:   planScattered,
	figures: func(l *lab, t *tables) []figure {
		times := figure{"scattered-time", "Seconds on made topics (fu-2018 Figure 2)", 2, nil}
		errs := figure{"scattered-errors", "Squared errors on made topics (fu-2018 Figure 3), medians", 2, nil}
		for _, anchors := range values(t.rows["scattered"], "anchors") {
			rows := where(t.rows["scattered"], "anchors", anchors)
			for _, x := range []struct {
				f          *figure
				key, title string
				methods    []string
			}{{&times, "seconds", "seconds", values(rows, "method")}, {&errs, "err_b", "error of B", []string{freeLP, pds, exactPDS}}, {&errs, "err_a", "error of A", []string{freeLP, pds, exactPDS}}} {
				p := panel{title: scatteredTitle(anchors) + ": " + x.title, x: "F", logY: true, ticks: numbersOf(rows, "k")}
				for _, m := range x.methods {
					p.lines = append(p.lines, series(m, where(rows, "method", m), "k", x.key))
				}
				x.f.panels = append(x.f.panels, p)
			}
		}
		return []figure{times, errs}
	},
	tables: func(l *lab, t *tables) []table {
		var out []table
		for i, anchors := range values(t.rows["scattered"], "anchors") {
			rows := where(t.rows["scattered"], "anchors", anchors)
			for _, x := range []struct {
				key, name, format string
				times             float64
			}{{"found", fmt.Sprintf("Successes in percent, fu-2018 Table %d", 2+i), "%.0f", 100}, {"seconds", "Milliseconds", "%.1f", 1000}} {
				tb := table{caption: fmt.Sprintf("%s (%s):", x.name, scatteredTitle(anchors)), head: append([]string{"F"}, values(rows, "k")...)}
				for _, m := range values(rows, "method") {
					line := []string{m}
					for _, r := range where(rows, "method", m) {
						line = append(line, fmt.Sprintf(x.format, x.times*r.num(x.key)))
					}
					tb.rows = append(tb.rows, line)
				}
				out = append(out, tb)
			}
		}
		return out
	},
	claims: []claim{
		{"fu-2018 Table 2", "LP and PDS recover in all trials, by F", founds(0, all, freeLP, exactPDS)},
		{"fu-2018 Table 2", "methods with anchors recover in all trials with F = 5, and in 5 % at most with F of 10 and more", founds(0, func(k int, found float64) bool {
			return k == 5 && found == 1 || k > 5 && found <= 0.05
		}, anchored()...)},
		{"fu-2018 Table 3", "LP and PDS recover in all trials, by F", founds(15, all, freeLP, exactPDS)},
		{"fu-2018 Table 3", "methods with anchors recover in all trials up to F = 15, and in none beyond", founds(15, func(k int, found float64) bool {
			return k <= 15 && found == 1 || k > 15 && found == 0
		}, anchored()...)},
		{"fu-2018 Figure 2", "PDS is faster than every other method, by table and F", scatteredBest("seconds", less, exactPDS, append(anchored(), freeLP)...)},
		{"fu-2018 Figure 2", "PDS is faster than SPA, by table and F", scatteredBest("seconds", less, exactPDS, spa)},
		{"fu-2018 Figure 2", "LP is the slowest, by table and F", scatteredBest("seconds", greater, freeLP, append(anchored(), exactPDS)...)},
		{"fu-2018 Figure 2", "a method with anchors is faster at the first F without enough of them (10, 20) than at the F before", fasterWithout},
		{"fu-2018 Figure 3", "LP's errors of B are smaller than those of PDS, by table and F", scatteredBest("err_b", less, freeLP, exactPDS)},
		{"fu-2018 Figure 3", "LP's errors of A are smaller than those of PDS, by table and F", scatteredBest("err_a", less, freeLP, exactPDS)},
	},
}

func scatteredTitle(anchors string) string {
	if anchors == "0" {
		return "no anchors"
	}
	return anchors + " anchors"
}

func all(_ int, found float64) bool { return found == 1 }

// founds counts the F and methods of which the share of successes is as said.
func founds(anchors int, as func(k int, found float64) bool, methods ...string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		for _, m := range methods {
			for _, r := range where(t.rows["scattered"], "anchors", anchors, "method", m) {
				of++
				if as(int(r.num("k")), r.num("found")) {
					yes++
				}
			}
		}
		return yes, of
	}
}

// scatteredBest is bestOf for made topics.
func scatteredBest(measure string, by func(a, b float64) bool, method string, others ...string) func(t *tables) (yes, of int) {
	return bestOf(func(t *tables) []row { return t.rows["scattered"] }, []string{"anchors", "k"}, measure, by, method, others...)
}

// fasterWithout compares the first number of topics for which anchors are lacking
// with the one before.
func fasterWithout(t *tables) (yes, of int) {
	for anchors, first := range map[int]int{0: 10, 15: 20} {
		rows := where(t.rows["scattered"], "anchors", anchors)
		for _, m := range anchored() {
			a, b := where(rows, "method", m, "k", strconv.Itoa(first)), where(rows, "method", m, "k", strconv.Itoa(first-5))
			if len(a) == 1 && len(b) == 1 {
				of++
				if a[0].num("seconds") < b[0].num("seconds") {
					yes++
				}
			}
		}
	}
	return yes, of
}
