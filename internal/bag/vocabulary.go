package bag

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Index returns the number of each word. A word that is in vocab twice is an
// error.
func Index(vocab []string) (map[string]int32, error) {
	if len(vocab) > math.MaxInt32 {
		return nil, fmt.Errorf("%d words are more than %d", len(vocab), math.MaxInt32)
	}
	index := make(map[string]int32, len(vocab))
	for i, w := range vocab {
		if j, ok := index[w]; ok {
			return nil, fmt.Errorf("words %d and %d of the vocabulary are both %q", j, i, w)
		}
		index[w] = int32(i)
	}
	return index, nil
}

// Unique returns the vocabulary with a mark on the second, third, … place of a
// word that is in it several times, so that all are different; without such
// a word, vocab itself.
func Unique(vocab []string) []string {
	seen := make(map[string]int, len(vocab))
	out := vocab
	for i, w := range vocab {
		n := seen[w]
		seen[w]++
		if n > 0 {
			if &out[0] == &vocab[0] {
				out = slices.Clone(vocab)
			}
			out[i] = fmt.Sprintf("%s\x00%d", w, n+1)
		}
	}
	return out
}

// Match returns for each word of a vocabulary its number in another, Unknown for
// none. Where a word is in both several times, its first place is matched with the
// first there, the second with the second, and so on, and surplus ones with the last: equal
// vocabularies are matched row by row.
func Match(from, to []string) []int32 {
	out := make([]int32, len(from))
	if slices.Equal(from, to) {
		for i := range out {
			out[i] = int32(i)
		}
		return out
	}
	place := make(map[string]int32, len(to)) // to be taken next
	next := make([]int32, len(to))           // the place of the same word after it
	for i := len(to) - 1; i >= 0; i-- {
		j, ok := place[to[i]]
		if !ok {
			j = int32(i)
		}
		next[i], place[to[i]] = j, int32(i)
	}
	for i, w := range from {
		j, ok := place[w]
		if !ok {
			out[i] = Unknown
			continue
		}
		out[i], place[w] = j, next[j]
	}
	return out
}

// CompareWords orders whole numbers by value, before all other words, and
// those by their bytes.
func CompareWords(a, b string) int {
	x, y := digits(a), digits(b)
	switch {
	case x && y:
		p, q := strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		if len(p) != len(q) {
			return len(p) - len(q)
		}
		if c := strings.Compare(p, q); c != 0 {
			return c
		}
	case x:
		return -1
	case y:
		return 1
	}
	return strings.Compare(a, b)
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
