// Package holdout chooses the tokens that passes over documents do not learn from until
// the end, and that the spectral solution they start with must not have seen either: half
// of the tokens of one document in twenty. Bits of a document's key (bag.Key) choose it, so
// that it does not matter where the document stands.
package holdout

const (
	oneOf = 20   // documents is watched
	least = 2000 // tokens, without which none is hidden
)

// Watches tells whether a document with this key (bag.Key) has hidden tokens.
func Watches(key uint64) bool { return key>>32%oneOf == 0 }

// Sampled tells whether a document with this key is in a sample of one of n. Samples have
// nothing to do with what is watched.
func Sampled(key uint64, n int64) bool { return key>>1&(1<<30-1)%uint64(n) == 0 }

// Enough tells whether so many hidden tokens say anything. If not, no token is hidden.
func Enough(tokens int64) bool { return tokens >= least }

// Hidden returns how many tokens are hidden of a document with so many.
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
