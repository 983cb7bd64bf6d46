package bag

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jsmf-go/spectral/internal/splitmix"
)

// Key returns a number made from the id of a document or, if it has none, from its number
// in the corpus, counted from 1. The bits are as good as random.
func Key[T string | []byte](id T, number int) uint64 {
	if len(id) == 0 {
		var digits [20]byte
		return Key(strconv.AppendInt(digits[:0], int64(number), 10), 0)
	}
	// FNV-1a with the last steps of SplitMix64, for FNV leaves the high bits of short strings
	// alike.
	x := uint64(14695981039346656037)
	for i := range len(id) {
		x = (x ^ uint64(id[i])) * 1099511628211
	}
	return splitmix.Finish(x)
}

// ByID returns the order that sorts n documents by their ids, the short ones first, so that
// those that are numbers are in their order; nil if they are sorted. Documents with the same
// id, such as none, stay where they are.
func ByID(n int, id func(i int) string) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	by := func(a, b int) int {
		x, y := id(a), id(b)
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	}
	if slices.IsSortedFunc(order, by) {
		return nil
	}
	slices.SortStableFunc(order, by)
	return order
}

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
