package main

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/assign"
)

var lists = experiment{
	name: "lists", title: "Five topics in words",
	repeats: []string{"lee-2018 Table 3.1", "lee-2020 Figure 6"},
	what: "Five topics of the first corpus by AP with ADMM (JSMF-5), by the same with 25 topics and five above them (JSMF-25:5), by Gibbs sampling (the sweeps of curves), and by online variational inference and tensor decomposition with the settings of the section on tensors. " +
		"Seven words of the top 20, as in the thesis, which does not say how it chose: here the seven whose probability is the largest multiple of that in the corpus. “Trimmed” is without the documents of which one word is more than half. Topics are in the order of Gibbs-5's, matched by common top words. " +
		"Of lee-2020 Figure 6 this is the part on topics; its times are in the section on time.",
	groups: []*group{listsGroup},
	plan:   planLists,
	claims: []claim{
		{"lee-2018 Table 3.1", "topics of JSMF-5 share half or more of 20 top words with their match of Gibbs-5", sharesHalf},
		{"lee-2018 Table 3.1", "the topics of JSMF-25:5 share fewer words with Gibbs-5 than those of JSMF-5, in sum", func(t *tables) (yes, of int) {
			one, two := common(t, jsmfOne), common(t, jsmfTwo)
			if one == nil || two == nil {
				return 0, 0
			}
			return oneIf(total(two) < total(one)), 1
		}},
		{"lee-2018 Table 3.1", "learning theory and probabilistic models are different topics of JSMF-25:5, and one of JSMF-5 and of Gibbs-5", func(t *tables) (yes, of int) {
			for _, m := range []string{jsmfTwo, jsmfOne, gibbsFive} {
				if r := listRows(t, m); len(r) > 0 {
					yes += oneIf((most(r, "theory") != most(r, "probability")) == (m == jsmfTwo))
					of++
				}
			}
			return yes, of
		}},
		{"lee-2020 Figure 6", "topics of AP+ADMM share half or more of 20 top words with their match of Gibbs", sharesHalf},
		{"lee-2020 Figure 6", "OVI repeats “neuron” and “cell” in different topics", func(t *tables) (yes, of int) {
			for _, w := range []string{"neuron", "cell"} {
				if r := listRows(t, oviName); len(r) > 0 {
					yes += oneIf(holding20(r, w) > 1)
					of++
				}
			}
			return yes, of
		}},
		{"lee-2020 Figure 6", "“neuron” and “layer” are top words of a topic of Tensor", func(t *tables) (yes, of int) {
			for _, w := range []string{"neuron", "layer"} {
				r := listRows(t, tensorName)
				yes, of = yes+holding20(r, w), of+len(r)
			}
			return yes, of
		}},
		{"lee-2020 Figure 6", "topics of OVI and of Tensor have fewer words of their own than those of AP+ADMM and of Gibbs", func(t *tables) (yes, of int) {
			for _, worse := range []string{oviName, tensorName} {
				for _, better := range []string{jsmfOne, gibbsFive} {
					a, b := listRows(t, worse), listRows(t, better)
					if len(a) > 0 && len(b) > 0 {
						yes += oneIf(own(a) < own(b))
						of++
					}
				}
			}
			return yes, of
		}},
	},
	tables: listTables,
}

// oneIf is 1 for what holds.
func oneIf(holds bool) int { return map[bool]int{true: 1}[holds] }

func total(x []int) (sum int) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// listRows are the topics of a method, none if it failed.
func listRows(t *tables, method string) []row {
	return where(t.rows["lists"], "method", method, "error", "")
}

// most returns the topic that has most of something.
func most(rows []row, measure string) string { return rows[heaviest(rows, measure)]["topic"] }

// holding20 counts the topics that have a word among their top 20.
func holding20(rows []row, word string) int {
	n := 0
	for _, r := range rows {
		n += oneIf(slices.Contains(strings.Fields(r["top"]), word))
	}
	return n
}

// own counts the top words that no other topic has.
func own(rows []row) int {
	in := make(map[string]int)
	for _, r := range rows {
		for _, w := range strings.Fields(r["top"]) {
			in[w]++
		}
	}
	n := 0
	for _, topics := range in {
		n += oneIf(topics == 1)
	}
	return n
}

// matched returns for each topic of Gibbs-5 that of the method with which it shares
// most top words, one to one, and how many these are.
func matched(t *tables, method string) (of, shared []int) {
	a, b := listRows(t, gibbsFive), listRows(t, method)
	if len(a) == 0 || len(b) == 0 {
		return nil, nil
	}
	gain := mat.NewDense(len(a), len(b), nil)
	for i, x := range a {
		for j, y := range b {
			gain.Set(i, j, float64(inBoth(strings.Fields(x["top"]), strings.Fields(y["top"]))))
		}
	}
	of, err := assign.Best(gain)
	if err != nil {
		panic(err) // counts are finite
	}
	for i, j := range of {
		shared = append(shared, int(gain.At(i, j)))
	}
	return of, shared
}

// common returns how many top words the topics of a method share with their matches.
func common(t *tables, method string) []int {
	_, shared := matched(t, method)
	return shared
}

// sharesHalf counts the topics of JSMF-5, which is AP+ADMM, near those of Gibbs.
func sharesHalf(t *tables) (yes, of int) {
	for _, n := range common(t, jsmfOne) {
		yes, of = yes+oneIf(n >= 10), of+1
	}
	return yes, of
}

func listTables(_ *lab, t *tables) []table {
	x := table{caption: "Seven words of each topic, and how many of its 20 top words it shares with its match of Gibbs-5:", head: []string{"method", "topic", "words", "shared"}}
	y := table{caption: "Of 20 top words, those that no other topic has; topics with a word; the topics with most of the theory and of the probability words of Table 3.1, by p(topic | word):",
		head: []string{"method", "own words", "neuron", "cell", "layer", "theory", "probability"}}
	for _, m := range listMethods {
		r := listRows(t, m)
		of, shared := matched(t, m)
		for i, j := range of {
			x.rows = append(x.rows, []string{m, fmt.Sprint(i), r[j]["words"], fmt.Sprint(shared[i])})
		}
		if len(of) == 0 {
			continue
		}
		line := []string{m, fmt.Sprintf("%.1f", float64(own(r))/float64(len(r)))}
		for _, w := range []string{"neuron", "cell", "layer"} {
			line = append(line, fmt.Sprint(holding20(r, w)))
		}
		for _, measure := range []string{"theory", "probability"} {
			place := slices.IndexFunc(of, func(j int) bool { return r[j]["topic"] == most(r, measure) })
			line = append(line, fmt.Sprint(place))
		}
		y.rows = append(y.rows, line)
	}
	return []table{x, y}
}
