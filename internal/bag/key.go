package bag

import (
	"cmp"
	"slices"
	"strconv"

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
