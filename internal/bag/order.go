package bag

import (
	"cmp"
	"slices"
)

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
