package metrics

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

// TopLists returns the n most probable words of each topic, most probable first,
// ties by lowest number. Words of probability 0 are left out, so that a list may
// be shorter. b is N×K; n is 20 for 0. O(NK log n).
func TopLists(b *mat.Dense, n int) ([][]int, error) {
	_, n, err := topicsAndTop(b, n)
	if err != nil {
		return nil, err
	}
	lists := topWords(b, n)
	for k := range lists {
		if i := slices.IndexFunc(lists[k], func(w int) bool { return b.At(w, k) == 0 }); i >= 0 {
			lists[k] = lists[k][:i]
		}
	}
	return lists, nil
}

// TopUnion returns the words, ascending, that [Evaluate] needs pair counts of: the n most
// probable of each topic. Unlike [TopLists] it keeps words of probability 0. b is N×K; n is
// 20 for 0.
func TopUnion(b mat.Matrix, n int) []int {
	n, err := topN(n)
	if err != nil {
		return nil
	}
	all := slices.Concat(topWords(b, n)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// topWords returns the n most probable words of each topic, ties by lowest number;
// all N words for n > N. NaN comes last.
func topWords(b mat.Matrix, n int) [][]int {
	rows, cols := b.Dims()
	return vec.TopRows(rows, cols, n, b.At)
}

// tops returns the n top words of every topic, including those of probability 0,
// and nil for an empty topic.
func (t *topics) tops(n int) [][]int {
	lists := topWords(t.b, n)
	for k, empty := range t.empty {
		if empty {
			lists[k] = nil
		}
	}
	return lists
}

// SimCount is the similarity count of fu-2018 (§6.2, after arora-2013): the number of words that two lists
// share, summed over pairs of lists. Fewer is better. A list holds words or numbers of words, none twice; the
// paper has 20 words.
func SimCount[W comparable](lists [][]W) (int, error) {
	in, err := occurrences(lists)
	total := 0
	for _, n := range in {
		total += n * (n - 1) / 2
	}
	return total, err
}

// Diversity is the topic diversity of Dieng, Ruiz and Blei 2020: the number of different words
// divided by the number of words of all lists, in (0, 1]: 1 if no word is in two lists. The
// paper has 25 words a topic. Lists as for [SimCount]; NaN if all are empty.
func Diversity[W comparable](lists [][]W) (float64, error) {
	in, err := occurrences(lists)
	if err != nil {
		return 0, err
	}
	all := 0
	for _, l := range lists {
		all += len(l)
	}
	return float64(len(in)) / float64(all), nil
}

// occurrences checks lists and returns in how many of them each word is.
func occurrences[W comparable](lists [][]W) (map[W]int, error) {
	if err := checkLists(lists); err != nil {
		return nil, err
	}
	in := make(map[W]int)
	for _, l := range lists {
		for _, w := range l {
			in[w]++
		}
	}
	return in, nil
}

func checkLists[W comparable](lists [][]W) error {
	if len(lists) == 0 {
		return fmt.Errorf("metrics: no lists of words")
	}
	for k, l := range lists {
		at := make(map[W]int, len(l))
		for i, w := range l {
			if j, ok := at[w]; ok {
				return fmt.Errorf("metrics: the list of topic %d has the word %v twice, at %d and %d", k, w, j, i)
			}
			at[w] = i
		}
	}
	return nil
}
