package corpus

import "github.com/jsmf-go/spectral/internal/bag"

// rows puts together the documents' words and counts, one document after the
// other.
type rows struct {
	indptr        []int
	words, counts []int32
	pairs         []uint64
}

// add appends a pair to the document in hand. n ≥ 1.
func (r *rows) add(w, n int32) { r.words, r.counts = append(r.words, w), append(r.counts, n) }

// end finishes the document in hand: words ascending, duplicates added up. If a
// sum exceeds MaxCount it returns the word and the sum, and the document is not
// finished; otherwise −1.
func (r *rows) end() (int32, float64) {
	lo := r.indptr[len(r.indptr)-1]
	n, w, sum := bag.Merge(r.words[lo:], r.counts[lo:], &r.pairs)
	if w >= 0 {
		return w, sum
	}
	r.words, r.counts = r.words[:lo+n], r.counts[:lo+n]
	r.indptr = append(r.indptr, lo+n)
	return -1, 0
}

// renumber gives word w the number to[w].
func (r *rows) renumber(to []int32) {
	for i, w := range r.words {
		r.words[i] = to[w]
	}
	for m := range len(r.indptr) - 1 {
		lo, hi := r.indptr[m], r.indptr[m+1]
		bag.Merge(r.words[lo:hi], r.counts[lo:hi], &r.pairs) // distinct words: sorts only
	}
}
