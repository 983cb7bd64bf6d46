package bag

import "fmt"

// RangeError reports a document or a word by a number that does not exist; lo
// and hi are the smallest and the largest that do.
func RangeError(what string, value, lo, hi int64) error {
	if hi < lo {
		return fmt.Errorf("%s %d: there are none", what, value)
	}
	return fmt.Errorf("%s %d is not in [%d, %d]", what, value, lo, hi)
}

// CountError reports a count that is negative, not integral or above MaxCount,
// by itself or as a sum of duplicates. doc and word may be empty.
func CountError(doc, word string, count float64) error {
	s := ""
	if word != "" {
		s += fmt.Sprintf(" of word %q", word)
	}
	if doc != "" {
		s += fmt.Sprintf(" in document %s", doc)
	}
	return fmt.Errorf("count %.17g%s is not an integer from 1 to %d", count, s, MaxCount)
}
