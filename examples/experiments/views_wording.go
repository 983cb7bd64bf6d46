package main

import "fmt"

var wording = experiment{
	name: "wording", title: "Words that groups use more",
	what: fmt.Sprintf("Documents of %d to %d tokens in two groups, drawn from %d topics, and a model of as many: Study.Wording of the group, at the level 0.95. Groups are dealt out to documents at random (%s), "+
		"have half of the topics %d times as often each (%s), use a word of each topic %d times as often, of which the first group has %d uses (%s; with 100 documents fewer), or both. "+
		"Words are independent, or a part of %g repeats an earlier one of the document (%s). By documents are the words before replicates are looked at, by replicates those that are left after 20 warm and 3 drawn ones.",
		40, 120, wordingTopics, permutedGroups, wordingRatio, sharesDiffer, wordingRatio, wordingUses, wordsDiffer, wordingRepeat, bursty),
	groups: []*group{wordingGroup},
	plan:   planWording,
	tables: func(_ *lab, t *tables) []table {
		x := table{
			caption: "Topics, those with words that are judged and those with words that were not planted, planted words that are found, and intervals of these that hold the ratio:",
			head:    []string{"documents", "groups differ in", "words", "by", "topics", "judged", "wrong", "planted", "found", "intervals", "held"},
		}
		rows := t.rows["wording"]
		for _, docs := range values(rows, "documents") {
			for _, groups := range values(rows, "groups") {
				for _, words := range values(rows, "words") {
					for _, by := range values(rows, "by") {
						of := where(rows, "documents", docs, "groups", groups, "words", words, "by", by)
						if len(of) == 0 {
							continue
						}
						line := []string{docs, groups, words, by}
						for _, name := range []string{"topics", "judged", "wrong", "planted", "found", "intervals", "held"} {
							line = append(line, fmt.Sprint(wordingSum(of, name)))
						}
						x.rows = append(x.rows, line)
					}
				}
			}
		}
		return []table{x}
	},
	claims: []claim{
		{"here", "a planted word is found: 8000 documents, independent words, groups with the same shares", wordingCounts("found", "planted", "groups", wordsDiffer, "words", independent)},
		{"here", "no word is found in a topic, 8000 documents: groups are permuted", wordingNone(permutedGroups)},
		{"here", "no word is found in a topic, 8000 documents: only shares differ", wordingNone(sharesDiffer)},
		{"here", "intervals of planted words hold the ratio", wordingCounts("held", "intervals")},
	},
}

func wordingSum(rows []row, name string) (sum int) {
	for _, r := range rows {
		sum += int(r.num(name))
	}
	return sum
}

// wordingCounts counts one measure of another.
func wordingCounts(what, of string, pairs ...any) func(t *tables) (yes, all int) {
	return func(t *tables) (yes, all int) {
		rows := where(where(t.rows["wording"], "documents", 8000), pairs...)
		return wordingSum(rows, what), wordingSum(rows, of)
	}
}

// wordingNone counts the topics without words.
func wordingNone(groups string) func(t *tables) (yes, all int) {
	return func(t *tables) (yes, all int) {
		rows := where(t.rows["wording"], "documents", 8000, "groups", groups)
		all = wordingSum(rows, "topics")
		return all - wordingSum(rows, "wrong"), all
	}
}
