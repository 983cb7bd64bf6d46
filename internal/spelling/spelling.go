// Package spelling finds words that are spelt like others.
package spelling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Quoted returns words in quotes, each with those of the vocabulary that are Near.
func Quoted(words, vocab []string) []string {
	near := make([][]string, len(words))
	for i, w := range words {
		near[i] = Near(w, vocab)
	}
	return With(words, near)
}

// With returns words in quotes, each with those that are near to it.
func With(words []string, near [][]string) []string {
	out := quoted(words)
	for i := range min(len(words), len(near)) {
		if len(near[i]) > 0 {
			out[i] += " (near: " + strings.Join(quoted(near[i]), ", ") + ")"
		}
	}
	return out
}

func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%.60q", w)
	}
	return out
}

// Near returns up to three words of the vocabulary that can be made of word by
// few changes, a third of its letters at most: the nearest first, ties in the
// order of the vocabulary. Case does not count.
func Near(word string, vocab []string) []string {
	type match struct {
		word string
		dist int
	}
	a := []rune(strings.ToLower(word))
	limit := max(1, min(len(a)/3, 3))
	var found []match
	for _, w := range vocab {
		if d := edits(a, []rune(strings.ToLower(w)), limit); d <= limit {
			found = append(found, match{w, d})
		}
	}
	slices.SortStableFunc(found, func(x, y match) int { return cmp.Compare(x.dist, y.dist) })
	var words []string
	for _, m := range found {
		if !slices.Contains(words, m.word) && len(words) < 3 {
			words = append(words, m.word)
		}
	}
	return words
}

// edits is the number of letters that must be inserted, deleted, replaced, or exchanged
// with their neighbour to turn a into b, or some number above limit.
func edits(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
