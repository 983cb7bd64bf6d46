package text

import (
	"maps"
	"slices"
	"strings"
)

// wordTable numbers words from 0, as they come.
type wordTable struct {
	list   []wordCount
	number map[string]int32
}

// wordCount is a word and what is counted of it: its occurrences n in all and here in the
// document last, the sum over documents of the squares of their occurrences, and the sum
// over occurrences of the length of their document.
type wordCount struct {
	word                            string
	n, last, here, squares, lengths int64
}

// find returns the number of a word, −1 if the table lacks it.
func (t *wordTable) find(word string) int32 {
	if id, ok := t.number[word]; ok {
		return id
	}
	return -1
}

// add returns the number of a word, which it adds if the table lacks it.
func (t *wordTable) add(word string) int32 {
	if id, ok := t.number[word]; ok {
		return id
	}
	word = strings.Clone(word) // it may be a piece of a whole document
	t.list = append(t.list, wordCount{word: word})
	if t.number == nil {
		t.number = map[string]int32{}
	}
	id := int32(len(t.list)) - 1
	t.number[word] = id
	return id
}

// forget forgets the rarest words, at least half of all, and returns how often the most
// frequent of these was counted. The numbers of the others change.
func (t *wordTable) forget() int64 {
	counts := make([]int64, len(t.list))
	for i, c := range t.list {
		counts[i] = c.n
	}
	least := median(counts)
	t.list = slices.DeleteFunc(t.list, func(c wordCount) bool { return c.n <= least })
	t.renumber()
	return least
}

// renumber gives the words of the list their places as numbers.
func (t *wordTable) renumber() {
	t.number = make(map[string]int32, len(t.list))
	for i, c := range t.list {
		t.number[c.word] = int32(i)
	}
}

// pair is two words and what is between them, in 28 bits, 28 bits and 8 bits.
type pair uint64

func pairKey(x int32, between uint8, y int32) pair {
	return pair(x)<<36 | pair(between)<<28 | pair(y)
}

func (p pair) parts() (x int32, between uint8, y int32) {
	return int32(p >> 36), uint8(p >> 28), int32(p & (1<<28 - 1))
}

// pairTable counts pairs, at most limit of them: when it is full it forgets the rarest half.
type pairTable struct {
	count  map[pair]int64
	limit  int
	missed int64 // no count is too low by more than this
}

func newPairTable(limit int) pairTable { return pairTable{count: map[pair]int64{}, limit: limit} }

// add counts a pair once more.
func (t *pairTable) add(p pair) {
	if len(t.count) >= t.limit && t.count[p] == 0 {
		least := median(slices.Collect(maps.Values(t.count)))
		t.missed += least
		maps.DeleteFunc(t.count, func(_ pair, n int64) bool { return n <= least })
	}
	t.count[p]++
}

// median sorts counts and returns the middle one.
func median(counts []int64) int64 {
	slices.Sort(counts)
	return counts[(len(counts)-1)/2]
}
