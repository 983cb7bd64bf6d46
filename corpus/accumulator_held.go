package corpus

import (
	"cmp"
	"slices"
	"strings"
)

// HeldDocument is a document that an Accumulator holds, without its words.
type HeldDocument struct {
	ID     string
	At     int64   // its time: see Accumulator.AddAt
	Values []Value // in AccumulatorOptions.Columns; nil: all are missing. They must not be written to
}

// heldDoc is a document that is held. It never changes.
type heldDoc struct {
	HeldDocument
	data []int32 // words, ascending, then their counts
}

func (d *heldDoc) pairs() (words, counts []int32) {
	n := len(d.data) / 2
	return d.data[:n], d.data[n:]
}

func (d *heldDoc) compare(at int64, id string) int {
	return cmp.Or(cmp.Compare(d.At, at), strings.Compare(d.ID, id))
}

// The bytes that a document, a word in it, a different word and a value count for, with half of
// the room that maps and slices have to grow.
const (
	docBytes   = 184
	pairBytes  = 8
	wordBytes  = 100
	valueBytes = 32
)

func (d *heldDoc) bytes() int64 {
	n := docBytes + int64(len(d.ID)) + pairBytes/2*int64(len(d.data)) + valueBytes*int64(len(d.Values))
	for _, v := range d.Values {
		n += int64(len(v.text))
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
	a.byID[d.ID] = d
	if n := len(a.docs); n == 0 || a.docs[n-1].compare(d.At, d.ID) < 0 {
		a.docs = append(a.docs, d)
		return
	}
	a.docs = slices.Insert(a.docs, a.place(d), d)
}

// place returns the place of the first document that does not come before d.
func (a *Accumulator) place(d *heldDoc) int {
	i, _ := slices.BinarySearchFunc(a.docs, d, func(x, d *heldDoc) int { return x.compare(d.At, d.ID) })
	return i
}

// forget undoes hold, except that it leaves d in a.docs. Words that no document has any more
// lose their numbers, except those of the Vocabulary.
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
	delete(a.byID, d.ID)
}

// slide removes the documents outside the windows and returns their number.
func (a *Accumulator) slide() int {
	n := len(a.docs)
	for len(a.docs) > 0 && (a.o.Window > 0 && len(a.docs) > a.o.Window ||
		a.o.MaxAge > 0 && uint64(a.docs[len(a.docs)-1].At)-uint64(a.docs[0].At) >= uint64(a.o.MaxAge)) {
		a.evict()
	}
	return n - len(a.docs)
}

// ownValues returns a copy of values, nil if all are missing.
func ownValues(values []Value) []Value {
	if !slices.ContainsFunc(values, func(v Value) bool { return v.Kind() != 0 }) {
		return nil
	}
	out := slices.Clone(values)
	for i, v := range out {
		if name, ok := v.Category(); ok {
			out[i] = CategoryOf(strings.Clone(name)) // it may be a piece of a whole text
		}
	}
	return out
}
