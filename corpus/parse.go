package corpus

import (
	"errors"
	"strconv"
)

var errHeader = errors.New("the header promises far more documents or words than there are entries")

// tooMany reports whether a file has too few entries for n documents or words. It keeps a
// damaged header, or a single huge number, from taking all memory.
func tooMany(n, entries int64) bool { return n > 1<<16 && (n-1<<16)/64 > entries }

// field takes an integer off the front of a line, with the space around it. If there is none
// it returns false and what is left after the space.
func field(b []byte) (int64, []byte, bool) {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	n, k := parseInt(b[i:])
	b = b[i+k:]
	if k == 0 {
		return 0, b, false
	}
	if len(b) > 0 && b[0] != ' ' && b[0] != '\t' {
		return 0, b, false
	}
	i = 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return n, b[i:], true
}

// parseInt reads a decimal integer with an optional minus sign from the front of b, of k bytes,
// 0 for none. Numbers of more than 18 digits come out as ±10¹⁸, beyond every limit here.
func parseInt(b []byte) (n int64, k int) {
	i := 0
	neg := len(b) > 0 && b[0] == '-'
	if neg {
		i = 1
	}
	start := i
	for i < len(b) {
		d := b[i] - '0'
		if d > 9 {
			break
		}
		if n < 1e17 {
			n = 10*n + int64(d)
		} else {
			n = 1e18
		}
		i++
	}
	if i == start {
		return 0, 0
	}
	if neg {
		n = -n
	}
	return n, i
}

// clip shortens what an error quotes.
func clip(b []byte) string {
	if len(b) > 40 {
		return string(b[:40]) + "…"
	}
	return string(b)
}

// nameOf returns what document m is called.
func nameOf(ids []string, m int) string {
	if ids != nil && ids[m] != "" {
		return ids[m]
	}
	return strconv.Itoa(m + 1)
}

// wordName returns what word w is called, in files that count from first.
func wordName(vocab []string, w int32, first int) string {
	if vocab != nil {
		return vocab[w]
	}
	return strconv.Itoa(int(w) + first)
}
