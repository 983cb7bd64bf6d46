package cooc

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/corpus"
)

// heldDoc is a document that is held. It never changes.
type heldDoc struct {
	id     string
	at     int64
	data   []int32        // words, ascending, then their counts
	values []corpus.Value // of the columns; nil: all are missing
}

func (d *heldDoc) pairs() (words, counts []int32) {
	n := len(d.data) / 2
	return d.data[:n], d.data[n:]
}

func (d *heldDoc) compare(at int64, id string) int {
	return cmp.Or(cmp.Compare(d.at, at), strings.Compare(d.id, id))
}

// The bytes that a document, a distinct word of a document and a different word count
// for. Maps and slices grow by doubling; half of the room to grow is counted.
const (
	docBytes  = 184
	pairBytes = 8
	wordBytes = 100

	valueBytes = 32
)

func (d *heldDoc) bytes() int64 {
	n := docBytes + int64(len(d.id)) + 4*int64(len(d.data)) + valueBytes*int64(len(d.values))
	for _, v := range d.values {
		name, _ := v.Category()
		n += int64(len(name))
	}
	return n
}

// evict removes the first document.
func (a *Accumulator) evict() {
	a.forget(a.docs[0])
	a.docs[0], a.docs = nil, a.docs[1:]
	a.evicted++
}

// hold puts a document in its place.
func (a *Accumulator) hold(d *heldDoc) {
	words, counts := d.pairs()
	for i, w := range words {
		a.df[w]++
		a.tokens += int64(counts[i])
	}
	a.nnz += len(words)
	a.bytes += d.bytes()
	a.byID[d.id] = d
	if n := len(a.docs); n == 0 || a.docs[n-1].compare(d.at, d.id) < 0 {
		a.docs = append(a.docs, d)
		return
	}
	a.docs = slices.Insert(a.docs, a.place(d), d)
}

// place returns the place of the first document that does not come before d.
func (a *Accumulator) place(d *heldDoc) int {
	i, _ := slices.BinarySearchFunc(a.docs, d, func(x, d *heldDoc) int { return x.compare(d.at, d.id) })
	return i
}

// forget undoes hold, but leaves d in a.docs. Words that no document has any more lose
// their numbers, except those of the fixed Vocabulary.
func (a *Accumulator) forget(d *heldDoc) {
	words, counts := d.pairs()
	for i, w := range words {
		a.df[w]--
		a.tokens -= int64(counts[i])
		if a.df[w] == 0 && int(w) >= len(a.o.Vocabulary) {
			a.bytes -= wordBytes + int64(len(a.words[w]))
			delete(a.index, a.words[w])
			a.words[w] = ""
			a.free = append(a.free, w)
		}
	}
	a.nnz -= len(words)
	a.bytes -= d.bytes()
	delete(a.byID, d.id)
}

// slide removes the documents outside the windows and returns their number.
func (a *Accumulator) slide() int {
	n := len(a.docs)
	for len(a.docs) > 0 && (a.o.Window > 0 && len(a.docs) > a.o.Window ||
		a.o.MaxAge > 0 && uint64(a.docs[len(a.docs)-1].at)-uint64(a.docs[0].at) >= uint64(a.o.MaxAge)) {
		a.evict()
	}
	return n - len(a.docs)
}

// Backdate makes the documents whose times are before the given one older by the time
// by, at least 0: for time that has passed between them and the later documents and that
// their times do not show. It returns the number of documents that left the windows. A
// time that cannot be expressed is an error, and nothing has changed then.
func (a *Accumulator) Backdate(before, by int64) (evicted int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ready()
	if by < 0 {
		return 0, fmt.Errorf("cooc: accumulator: documents cannot become older by %d", by)
	}
	if len(a.docs) > 0 && a.docs[0].at < math.MinInt64+by {
		return 0, fmt.Errorf("cooc: accumulator: document %q: there is no time %d before %d", a.docs[0].id, by, a.docs[0].at)
	}
	for i, d := range a.docs { // their order stays
		if d.at >= before {
			break
		}
		older := *d // snapshots hold d
		older.at -= by
		a.docs[i], a.byID[d.id] = &older, &older
	}
	return a.slide(), nil
}
