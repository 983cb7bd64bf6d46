package cli

import (
	"encoding/json"
	"flag"
	"math"
	"strconv"
	"strings"
)

// Given returns the names of the flags that the command line sets.
func Given(f *flag.FlagSet) map[string]bool {
	given := make(map[string]bool)
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return given
}

// Ints returns the whole numbers in a list such as 5,10,25, the value of a flag.
// What is not a number, or is below least, is wrong and left out.
func (w *Wrong) Ints(flag, list string, least int) []int {
	var out []int
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		switch {
		case err != nil:
			w.If(true, "-%s %q: %q is not a number", flag, list, s)
		case n < least:
			w.If(true, "-%s %d: want at least %d", flag, n, least)
		default:
			out = append(out, n)
		}
	}
	return out
}

// Number is a float64 that JSON can always hold: null where it is not finite.
type Number float64

// MarshalJSON implements json.Marshaler.
func (x Number) MarshalJSON() ([]byte, error) {
	if f := float64(x); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}
