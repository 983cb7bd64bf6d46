// Package sheet writes the cells of comma-separated values that people open in a
// spreadsheet.
package sheet

import (
	"math"
	"strconv"
	"strings"
)

// Text returns s as a cell that no spreadsheet takes for a formula: text that begins with
// =, +, -, @, a tab or a carriage return gets an apostrophe before it.
func Text(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// Number returns x with all its digits, and an empty cell if it is not finite.
func Number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
