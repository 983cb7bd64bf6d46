// Package holdout chooses the tokens that neither passes over documents learn from until the
// end, nor the spectral solution they start with: half of the tokens of one document in
// twenty. Bits of a document's key (bag.Key) choose it, wherever the document is.
package holdout

const (
	oneOf = 20   // documents has hidden tokens
	least = 2000 // tokens, without which none is hidden
)

// HeldOut reports whether a document with this key (bag.Key) has hidden tokens.
func HeldOut(key uint64) bool { return key>>32%oneOf == 0 }

// Sampled reports whether a document with this key is in a sample of one of n. Samples do not
// depend on which documents have hidden tokens.
func Sampled(key uint64, n int64) bool { return key>>1&(1<<30-1)%uint64(n) == 0 }

// Half returns the half of the documents that one with this key is in, 0 or 1. Halves and quarters do
// not depend on which documents have hidden tokens or are sampled.
func Half(key uint64) int { return int(key & 1) }

// Quarter returns the quarter that it is in: q is a quarter of half q%2.
func Quarter(key uint64) int { return int(key&1 | key>>30&2) }

// Thinned reports whether a document with this key is in a sample of one of 2^thin, which holds
// those of a larger thin. It does not depend on the other choices.
func Thinned(key uint64, thin int) bool { return key>>(64-thin) == 0 }

// Enough reports whether this many hidden tokens are enough for a score. If not, no token is hidden.
func Enough(tokens int64) bool { return tokens >= least }

// Hidden returns how many of the tokens of a document are hidden.
func Hidden(tokens int64) int64 { return tokens / 2 }

// Split calls each for the words of a document, with how many of their tokens are
// visible and how many hidden: every other one in the order of the words, from the second
// on.
func Split(counts []int32, each func(i int, visible, hidden int64)) {
	before := int64(0)
	for i, x := range counts {
		x := int64(x)
		hidden := (before+x)/2 - before/2
		before += x
		each(i, x-hidden, hidden)
	}
}
