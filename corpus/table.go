package corpus

import (
	"slices"

	"github.com/jsmf-go/spectral/internal/bag"
)

// table collects entries whose documents come in any order.
type table struct {
	rows
	doc  []int32 // nil as long as the entries are in order; else their documents
	hint int64   // how many entries to expect, not to be trusted
}

// put adds an entry. n ≥ 1. It never fails.
func (t *table) put(doc, word, n int32) error {
	if t.doc == nil {
		// Until finish, indptr holds where each document begins. A huge leap
		// is left to finish, which knows whether to believe it.
		if last := len(t.indptr) - 1; int(doc) >= last && int(doc)-last <= 1<<16 {
			for len(t.indptr) <= int(doc) {
				t.indptr = append(t.indptr, len(t.words))
			}
		} else {
			t.doc = make([]int32, 0, len(t.words)+len(t.words)/4+16)
			for m := range t.indptr {
				end := len(t.words)
				if m < last {
					end = t.indptr[m+1]
				}
				for range end - t.indptr[m] {
					t.doc = append(t.doc, int32(m))
				}
			}
		}
	}
	if t.doc != nil {
		t.doc = append(t.doc, doc)
	}
	if len(t.words) == cap(t.words) {
		// What has been read vouches for three times as much.
		n := max(1024, int(min(t.hint, 4*int64(len(t.words))))-len(t.words))
		t.words, t.counts = slices.Grow(t.words, n), slices.Grow(t.counts, n)
	}
	t.add(word, n)
	return nil
}

// finish makes proper rows of the given number of documents. If the sum of
// duplicates exceeds MaxCount it returns document, word and sum, else −1.
func (t *table) finish(docs int) (int, int32, float64) {
	if t.doc != nil { // counting sort, stable
		ptr := make([]int, docs+1)
		for _, d := range t.doc {
			ptr[d+1]++
		}
		for m := range docs {
			ptr[m+1] += ptr[m]
		}
		at := slices.Clone(ptr[:docs])
		words, counts := make([]int32, len(t.words)), make([]int32, len(t.words))
		for i, d := range t.doc {
			words[at[d]], counts[at[d]] = t.words[i], t.counts[i]
			at[d]++
		}
		t.indptr, t.words, t.counts, t.doc = ptr, words, counts, nil
	}
	for len(t.indptr) <= docs {
		t.indptr = append(t.indptr, len(t.words))
	}
	lo, out := 0, 0
	for m := range docs {
		hi := t.indptr[m+1]
		n, w, sum := bag.Merge(t.words[lo:hi], t.counts[lo:hi], &t.pairs)
		if w >= 0 {
			return m, w, sum
		}
		if out != lo {
			copy(t.words[out:], t.words[lo:lo+n])
			copy(t.counts[out:], t.counts[lo:lo+n])
		}
		lo, out = hi, out+n
		t.indptr[m+1] = out
	}
	t.words, t.counts = t.words[:out], t.counts[:out]
	return -1, 0, 0
}
